// Dropout. In inference nothing is dropped. In training the draws for a seed are those of numpy's RandomState: 53 bits
// of two outputs of the Mersenne Twister (M. Matsumoto and T. Nishimura, 1998), which onnx.reference takes as well;
// without a seed they differ from run to run.
#include <random>

#include "converted_tensor.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

class DropoutKernel final : public Kernel {
 public:
  explicit DropoutKernel(const Node& node)
      : has_seed_(node.attribute("seed") != nullptr), seed_(node.attribute_or<int64_t>("seed", 0)) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView* ratio = context.input(1);
    const TensorView* training = context.input(2);
    const bool trains = training != nullptr && training->element_count > 0 && *training->as<uint8_t>() != 0;
    const double dropped = ratio != nullptr && ratio->element_count > 0 ? elements_as<double>(*ratio)[0] : 0.5;
    if (trains && !(dropped >= 0 && dropped < 1)) {
      invalid_argument("Dropout: ratio is " + std::to_string(dropped) + ", expected one from 0 to below 1");
    }
    const bool wants_mask = context.output_count() > 1 && context.output_wanted(1);
    if (!trains || dropped == 0) {
      if (wants_mask) std::fill_n(context.output(1, x.dims, x.rank).as<uint8_t>(), x.element_count, uint8_t{1});
      context.forward_input(0, 0, x.dims, x.rank);
      return;
    }
    const TensorView& y = context.output(0, x.dims, x.rank);
    uint8_t* mask = wants_mask ? context.output(1, x.dims, x.rank).as<uint8_t>() : nullptr;
    const TensorView wide = scratch_like(context, x, DataType::kDouble);
    convert_tensor(context, x, wide);
    std::mt19937 generator(has_seed_ ? static_cast<uint32_t>(seed_) : std::random_device()());
    const double scale = 1 / (1 - dropped);
    for (int64_t i = 0; i < x.element_count; ++i) {
      const auto high = static_cast<double>(generator() >> 5);
      const auto low = static_cast<double>(generator() >> 6);
      const bool kept = (high * 0x1p26 + low) * 0x1p-53 >= dropped;
      wide.as<double>()[i] = kept ? wide.as<double>()[i] * scale : 0;
      if (mask != nullptr) mask[i] = kept ? 1 : 0;
    }
    convert_tensor(context, wide, y);
  }

 private:
  bool has_seed_;
  int64_t seed_;
};

std::unique_ptr<Kernel> make_dropout(const Node& node) {
  if (has_output(node, 1) && node.output_types[1] != DataType::kBool) decline(node, "the mask is not of type bool");
  return std::make_unique<DropoutKernel>(node);
}

}  // namespace

void register_dropout(KernelRegistry& registry) {
  const TypeList types = kFloatTypes + TypeList{DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                                                DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ};
  constexpr bool kForwards = true;  // without an input that asks for training
  add_kernel(registry, "Dropout", 7, 7, {{"T", kFloatTypes}}, &make_dropout, kForwards);
  add_kernel(registry, "Dropout", 10, 10, {{"T", kFloatTypes}, {"T1", kBoolType}}, &make_dropout, kForwards);
  add_kernel(registry, "Dropout", 12, 22, {{"T", types}, {"T1", types}, {"T2", kBoolType}}, &make_dropout);
}

}  // namespace onnx_light_ort::kernels
