// RotaryEmbedding: pairs of elements of each head turned by an angle that depends on the position.
#include "dims.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

class RotaryEmbeddingKernel final : public Kernel {
 public:
  explicit RotaryEmbeddingKernel(const Node& node)
      : heads_(node.attribute_or<int64_t>("num_heads", 0)),
        rotated_(node.attribute_or<int64_t>("rotary_embedding_dim", 0)),
        interleaved_(node.attribute_or<int64_t>("interleaved", 0) != 0) {}

  void compute(RunContext& context) override {
    const TensorView& x = context.required_input(0);
    const TensorView& cosines = context.required_input(1);
    const TensorView& sines = context.required_input(2);
    const TensorView* positions = context.input(3);
    // [batch, heads, steps, width], or [batch, steps, heads * width].
    const bool by_head = x.rank == 4;
    if (!by_head && (x.rank != 3 || heads_ <= 0 || x.dims[2] % heads_ != 0)) {
      invalid_argument("RotaryEmbedding: the input has shape " + to_string(x) + " for num_heads " +
                       std::to_string(heads_));
    }
    const int64_t heads = by_head ? x.dims[1] : heads_;
    const int64_t steps = x.dims[by_head ? 2 : 1];
    const int64_t width = by_head ? x.dims[3] : x.dims[2] / heads_;
    const int64_t rotated = rotated_ == 0 ? width : rotated_;
    const int64_t half = rotated / 2;
    const size_t cache_rank = positions != nullptr ? 2 : 3;
    bool fits = rotated % 2 == 0 && rotated <= width && same_dims(cosines, sines) && cosines.rank == cache_rank &&
                cosines.dims[cache_rank - 1] == half;
    if (positions == nullptr) {
      fits = fits && cosines.dims[0] == x.dims[0] && cosines.dims[1] == steps;
    } else {
      fits = fits && positions->element_count == x.dims[0] * steps;
    }
    if (!fits) {
      invalid_argument("RotaryEmbedding: caches of shapes " + to_string(cosines) + " and " + to_string(sines) +
                       " do not fit an input of shape " + to_string(x) + " with " + std::to_string(rotated) +
                       " rotated elements");
    }
    const TensorView& y = context.output(0, x.dims, x.rank);
    if (y.element_count == 0) return;
    context.parallel_for(x.element_count / width, std::max<int64_t>(1, 8192 / width), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t batch = line / (heads * steps);
        const int64_t step = by_head ? line % steps : line / heads % steps;
        int64_t angle = batch * steps + step;
        if (positions != nullptr) {
          angle = positions->as<int64_t>()[angle];
          if (angle < 0 || angle >= cosines.dims[0]) {
            invalid_argument("RotaryEmbedding: position " + std::to_string(angle) + " is outside caches of shape " +
                             to_string(cosines));
          }
        }
        turn(x.as<float>() + line * width, cosines.as<float>() + angle * half, sines.as<float>() + angle * half, half,
             width, y.as<float>() + line * width);
      }
    });
  }

 private:
  void turn(const float* x, const float* cosine, const float* sine, int64_t half, int64_t width, float* y) const {
    const int64_t stride = interleaved_ ? 2 : 1;
    const int64_t second = interleaved_ ? 1 : half;
    for (int64_t i = 0; i < half; ++i) {
      const float a = x[i * stride];
      const float b = x[i * stride + second];
      y[i * stride] = cosine[i] * a - sine[i] * b;
      y[i * stride + second] = sine[i] * a + cosine[i] * b;
    }
    std::copy(x + 2 * half, x + width, y + 2 * half);
  }

  int64_t heads_;
  int64_t rotated_;
  bool interleaved_;
};

std::unique_ptr<Kernel> make_rotary_embedding(const Node& node) {
  return std::make_unique<RotaryEmbeddingKernel>(node);
}

}  // namespace

void register_rotary_embedding(KernelRegistry& registry) {
  const TypeList types = {DataType::kFloat, DataType::kFloat16, DataType::kBFloat16};
  add_kernel(registry, "RotaryEmbedding", 23, 23, {{"T", types}, {"M", kInt64Type}},
             &with_half<&make_rotary_embedding>);
}

}  // namespace onnx_light_ort::kernels
