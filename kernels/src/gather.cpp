// Gather along an axis, GatherElements and GatherND. Negative indices count from the end; others out of range are
// errors, as in ORT.
#include <cstring>

#include "dims.h"
#include "index_tensor.h"
#include "native_kernels.h"
#include "onnx_light_ort/kernels/dense_copy.h"
#include "registration.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {
namespace {

class GatherKernel final : public Kernel {
 public:
  explicit GatherKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", 0)) {}

  void compute(RunContext& context) override {
    TensorView data = context.required_input(0);
    const TensorView& indices = context.required_input(1);
    const size_t axis = normalized_axis("Gather", axis_, data.rank);
    Dims dims(data.dims, axis);
    for (size_t d = 0; d < indices.rank; ++d) dims.push_back(indices.dims[d]);
    for (size_t d = axis + 1; d < data.rank; ++d) dims.push_back(data.dims[d]);
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const int64_t extent = data.dims[axis];
    const int64_t count = indices.element_count;
    const size_t block = static_cast<size_t>(product(data.dims, axis + 1, data.rank)) * byte_width(data.dtype);
    const int64_t outer = product(data.dims, 0, axis);
    // Bytes from one block to the next, and from one row of blocks to the next.
    auto block_pitch = static_cast<int64_t>(block);
    int64_t outer_pitch = extent * block_pitch;
    if (!data.is_dense()) {
      if (axis <= 1 && is_dense_after(data, axis)) {
        const auto width = static_cast<int64_t>(byte_width(data.dtype));
        block_pitch = data.strides[axis] * width;
        outer_pitch = axis == 1 ? data.strides[0] * width : 0;
      } else {
        data = dense(context, data);
      }
    }
    context.parallel_for(outer * count, std::max<int64_t>(1, int64_t{65536} / static_cast<int64_t>(block)),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                             const int64_t index = index_at(indices, i % count, extent, "Gather");
                             copy_block(y.as<char>() + static_cast<size_t>(i) * block,
                                        data.as<char>() + i / count * outer_pitch + index * block_pitch, block);
                           }
                         });
  }

  bool reads_strides(size_t input) const noexcept override { return input == 0; }

 private:
  // Whether the elements of a view with strides that agree up to `axis` lie side by side in row-major order.
  static bool is_dense_after(const TensorView& data, size_t axis) {
    const Dims expected = dense_strides(data.dims, data.rank);
    for (size_t d = axis + 1; d < data.rank; ++d) {
      if (data.dims[d] != 1 && data.strides[d] != expected[d]) return false;
    }
    return true;
  }

  // A constant size spares the call for single elements.
  static void copy_block(char* to, const char* from, size_t bytes) {
    if (bytes == 4) {
      std::memcpy(to, from, 4);
    } else if (bytes == 8) {
      std::memcpy(to, from, 8);
    } else {
      std::memcpy(to, from, bytes);
    }
  }

  int64_t axis_;
};

std::unique_ptr<Kernel> make_gather(const Node& node) { return std::make_unique<GatherKernel>(node); }

class GatherElementsKernel final : public Kernel {
 public:
  explicit GatherElementsKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", 0)) {}

  void compute(RunContext& context) override {
    const TensorView& data = context.required_input(0);
    const TensorView& indices = context.required_input(1);
    const size_t axis = normalized_axis("GatherElements", axis_, data.rank);
    bool fits = indices.rank == data.rank;
    for (size_t d = 0; fits && d < data.rank; ++d) fits = d == axis || indices.dims[d] <= data.dims[d];
    if (!fits) {
      invalid_argument("GatherElements: indices of shape " + to_string(indices) + " do not fit data of shape " +
                       to_string(data));
    }
    const TensorView& y = context.output(0, indices.dims, indices.rank);
    const size_t width = byte_width(data.dtype);
    context.parallel_for(y.element_count, 8192, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t rest = i;
        int64_t from = 0;
        int64_t stride = 1;
        for (size_t d = data.rank; d-- > 0;) {
          const int64_t own = rest % indices.dims[d];
          from += (d == axis ? index_at(indices, i, data.dims[d], "GatherElements") : own) * stride;
          rest /= indices.dims[d];
          stride *= data.dims[d];
        }
        std::memcpy(y.as<char>() + static_cast<size_t>(i) * width, data.as<char>() + static_cast<size_t>(from) * width,
                    width);
      }
    });
  }

 private:
  int64_t axis_;
};

std::unique_ptr<Kernel> make_gather_elements(const Node& node) { return std::make_unique<GatherElementsKernel>(node); }

// The last dimension of the indices names positions in data after the batch dimensions.
class GatherNdKernel final : public Kernel {
 public:
  explicit GatherNdKernel(const Node& node) : batch_dims_(node.attribute_or<int64_t>("batch_dims", 0)) {}

  void compute(RunContext& context) override {
    const TensorView& data = context.required_input(0);
    const TensorView& indices = context.required_input(1);
    const auto batch_rank = static_cast<size_t>(batch_dims_);
    bool fits = batch_dims_ >= 0 && indices.rank > batch_rank && data.rank > batch_rank;
    for (size_t d = 0; fits && d < batch_rank; ++d) fits = data.dims[d] == indices.dims[d];
    const int64_t depth = fits ? indices.dims[indices.rank - 1] : 0;
    fits = fits && batch_rank + static_cast<size_t>(depth) <= data.rank;
    if (!fits) {
      invalid_argument("GatherND: indices of shape " + to_string(indices) + " do not fit data of shape " +
                       to_string(data) + " with batch_dims " + std::to_string(batch_dims_));
    }
    const size_t first_kept = batch_rank + static_cast<size_t>(depth);
    Dims dims(indices.dims, indices.rank - 1);
    for (size_t d = first_kept; d < data.rank; ++d) dims.push_back(data.dims[d]);
    const TensorView& y = context.output(0, dims.data(), dims.size());
    if (y.element_count == 0) return;
    const size_t block = static_cast<size_t>(product(data.dims, first_kept, data.rank)) * byte_width(data.dtype);
    const int64_t rows = product(indices.dims, 0, indices.rank - 1);
    const int64_t rows_per_batch = rows / product(data.dims, 0, batch_rank);
    context.parallel_for(rows, std::max<int64_t>(1, int64_t{65536} / static_cast<int64_t>(block)),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t row = begin; row < end; ++row) {
                             int64_t from = row / rows_per_batch;
                             for (int64_t i = 0; i < depth; ++i) {
                               const int64_t extent = data.dims[batch_rank + static_cast<size_t>(i)];
                               from = from * extent + index_at(indices, row * depth + i, extent, "GatherND");
                             }
                             std::memcpy(y.as<char>() + static_cast<size_t>(row) * block,
                                         data.as<char>() + static_cast<size_t>(from) * block, block);
                           }
                         });
  }

 private:
  int64_t batch_dims_;
};

std::unique_ptr<Kernel> make_gather_nd(const Node& node) { return std::make_unique<GatherNdKernel>(node); }

}  // namespace

void register_gather(KernelRegistry& registry) {
  add_kernel(registry, "Gather", 1, 13, {{"T", kByteTypes}, {"Tind", kIndexTypes}}, &make_gather);
  add_kernel(registry, "GatherElements", 11, 13, {{"T", kByteTypes}, {"Tind", kIndexTypes}}, &make_gather_elements);
  add_kernel(registry, "GatherND", 11, 13, {{"T", kByteTypes}}, &make_gather_nd);
}

}  // namespace onnx_light_ort::kernels
