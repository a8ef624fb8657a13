// Scatter, ScatterElements, ScatterND and TensorScatter: a copy of the data, written over in places. Updates that meet
// are combined in their order.
#include <cstring>

#include "dims.h"
#include "index_tensor.h"
#include "native_kernels.h"
#include "registration.h"
#include "widened_kernel.h"

namespace onnx_light_ort::kernels {
namespace {

// n neighbouring elements of an update into the output.
using Combine = void (*)(char* to, const char* from, int64_t n);

template <class T>
void replace(char* to, const char* from, int64_t n) {
  if (n == 1) {
    std::memcpy(to, from, sizeof(T));
  } else {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  }
}

// Unsigned where the sign does not matter, so that sums wrap around.
struct Sum {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  }
};

struct Product {
  template <class T>
  static T apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

struct Larger {
  template <class T>
  static T apply(T a, T b) {
    return a > b || a != a ? a : b;
  }
};

struct Smaller {
  template <class T>
  static T apply(T a, T b) {
    return a < b || a != a ? a : b;
  }
};

template <class Op, class T>
void combine(char* to_bytes, const char* from_bytes, int64_t n) {
  T* to = reinterpret_cast<T*>(to_bytes);
  const T* from = reinterpret_cast<const T*>(from_bytes);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kIsHalf<T>) {
      from_float(Op::template apply<float>(to_float(to[i]), to_float(from[i])), to[i]);
    } else {
      to[i] = Op::template apply<T>(to[i], from[i]);
    }
  }
}

template <class Op>
Combine combine_of(DataType type) {
  return dispatch<float, double, Float16, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                  uint64_t>(type, [](auto tag) -> Combine { return &combine<Op, typename decltype(tag)::type>; });
}

Combine combine_of(const Node& node) {
  const DataType type = input_type(node, 0);
  const auto reduction = node.attribute_or<std::string>("reduction", "none");
  if (reduction == "none") {
    return dispatch_width(byte_width(type), [](auto tag) -> Combine { return &replace<typename decltype(tag)::type>; });
  }
  if (reduction == "add") return combine_of<Sum>(type);
  if (reduction == "mul") return combine_of<Product>(type);
  if (reduction == "max") return combine_of<Larger>(type);
  if (reduction == "min") return combine_of<Smaller>(type);
  invalid_argument(node.op_type + ": reduction is '" + reduction + "', expected none, add, mul, max or min");
}

// The output, with the data in it.
const TensorView& copy_of_data(RunContext& context, const TensorView& data) {
  const TensorView& y = context.output_reusing_input(0, 0, data.dims, data.rank);
  if (y.data == data.data) return y;
  const auto bytes = static_cast<int64_t>(checked_byte_size(data.dtype, data.element_count).value());
  context.parallel_for(bytes, 1 << 18, [&](int64_t begin, int64_t end) {
    std::memcpy(y.as<char>() + begin, data.as<char>() + begin, static_cast<size_t>(end - begin));
  });
  return y;
}

class ScatterElementsKernel final : public Kernel {
 public:
  explicit ScatterElementsKernel(const Node& node)
      : op_(node.op_type), axis_(node.attribute_or<int64_t>("axis", 0)), combine_(combine_of(node)) {}

  void compute(RunContext& context) override {
    const TensorView& data = context.required_input(0);
    const TensorView& indices = context.required_input(1);
    const TensorView& updates = context.required_input(2);
    const size_t axis = normalized_axis(op_.c_str(), axis_, data.rank);
    bool fits = indices.rank == data.rank && same_dims(indices, updates);
    for (size_t d = 0; fits && d < data.rank; ++d) fits = d == axis || indices.dims[d] <= data.dims[d];
    if (!fits) {
      invalid_argument(op_ + ": indices of shape " + to_string(indices) + " and updates of shape " +
                       to_string(updates) + " do not fit data of shape " + to_string(data));
    }
    const TensorView& y = copy_of_data(context, data);
    const auto width = static_cast<int64_t>(byte_width(data.dtype));
    Dims index(data.rank, 0);
    const Dims strides = dense(data);
    for (int64_t i = 0; i < indices.element_count; ++i) {
      int64_t at = index_at(indices, i, data.dims[axis], op_.c_str()) * strides[axis];
      for (size_t d = 0; d < data.rank; ++d) at += d == axis ? 0 : index[d] * strides[d];
      combine_(y.as<char>() + at * width, updates.as<char>() + i * width, 1);
      for (size_t d = data.rank; d-- > 0;) {
        if (++index[d] < indices.dims[d]) break;
        index[d] = 0;
      }
    }
  }

 private:
  static Dims dense(const TensorView& view) {
    Dims strides(view.rank);
    int64_t stride = 1;
    for (size_t d = view.rank; d-- > 0;) {
      strides[d] = stride;
      stride *= view.dims[d];
    }
    return strides;
  }

  std::string op_;
  int64_t axis_;
  Combine combine_;
};

class ScatterNdKernel final : public Kernel {
 public:
  explicit ScatterNdKernel(const Node& node) : combine_(combine_of(node)) {}

  void compute(RunContext& context) override {
    const TensorView& data = context.required_input(0);
    const TensorView& indices = context.required_input(1);
    const TensorView& updates = context.required_input(2);
    const int64_t depth = indices.rank > 0 ? indices.dims[indices.rank - 1] : -1;
    bool fits = depth >= 0 && static_cast<size_t>(depth) <= data.rank &&
                updates.rank == indices.rank - 1 + data.rank - static_cast<size_t>(depth);
    for (size_t d = 0; fits && d < updates.rank; ++d) {
      fits = updates.dims[d] ==
             (d < indices.rank - 1 ? indices.dims[d] : data.dims[d - (indices.rank - 1) + static_cast<size_t>(depth)]);
    }
    if (!fits) {
      invalid_argument("ScatterND: indices of shape " + to_string(indices) + " and updates of shape " +
                       to_string(updates) + " do not fit data of shape " + to_string(data));
    }
    const TensorView& y = copy_of_data(context, data);
    const auto width = static_cast<int64_t>(byte_width(data.dtype));
    const int64_t block = product(data.dims, static_cast<size_t>(depth), data.rank);
    const int64_t rows = product(indices.dims, 0, indices.rank - 1);
    for (int64_t row = 0; row < rows; ++row) {
      int64_t at = 0;
      for (int64_t i = 0; i < depth; ++i) {
        const int64_t extent = data.dims[i];
        at = at * extent + index_at(indices, row * depth + i, extent, "ScatterND");
      }
      combine_(y.as<char>() + at * block * width, updates.as<char>() + row * block * width, block);
    }
  }

 private:
  Combine combine_;
};

// Each batch's update along the axis from its write index on; past the end it begins again where the mode is circular.
class TensorScatterKernel final : public Kernel {
 public:
  explicit TensorScatterKernel(const Node& node) : axis_(node.attribute_or<int64_t>("axis", -2)) {
    const auto mode = node.attribute_or<std::string>("mode", "linear");
    circular_ = mode == "circular";
    if (!circular_ && mode != "linear") {
      invalid_argument("TensorScatter: mode is '" + mode + "', expected 'linear' or 'circular'");
    }
  }

  void compute(RunContext& context) override {
    const TensorView& cache = context.required_input(0);
    const TensorView& update = context.required_input(1);
    const TensorView* write = context.input(2);
    const size_t axis = normalized_axis("TensorScatter", axis_, cache.rank);
    bool fits = axis > 0 && update.rank == cache.rank && (write == nullptr || write->element_count == cache.dims[0]);
    for (size_t d = 0; fits && d < cache.rank; ++d) {
      fits = d == axis ? update.dims[d] <= cache.dims[d] : update.dims[d] == cache.dims[d];
    }
    if (!fits) {
      invalid_argument("TensorScatter: an update of shape " + to_string(update) + " does not fit a cache of shape " +
                       to_string(cache) + " along axis " + std::to_string(axis));
    }
    const TensorView& y = copy_of_data(context, cache);
    if (update.element_count == 0) return;
    const int64_t room = cache.dims[axis];
    const int64_t steps = update.dims[axis];
    const int64_t block = product(cache.dims, axis + 1, cache.rank) * static_cast<int64_t>(byte_width(cache.dtype));
    const int64_t per_batch = product(cache.dims, 1, axis);
    for (int64_t batch = 0; batch < cache.dims[0]; ++batch) {
      const int64_t first = write != nullptr ? write->as<int64_t>()[batch] : 0;
      if (first < 0 || (circular_ ? first >= room : first > room - steps)) {
        invalid_argument("TensorScatter: write index " + std::to_string(first) + " with " + std::to_string(steps) +
                         " steps leaves the cache's " + std::to_string(room));
      }
      for (int64_t i = batch * per_batch; i < (batch + 1) * per_batch; ++i) {
        const int64_t head = std::min(steps, room - first);
        const char* from = update.as<char>() + i * steps * block;
        char* to = y.as<char>() + i * room * block;
        std::memcpy(to + first * block, from, static_cast<size_t>(head * block));
        std::memcpy(to, from + head * block, static_cast<size_t>((steps - head) * block));
      }
    }
  }

 private:
  int64_t axis_;
  bool circular_ = false;
};

template <class K>
std::unique_ptr<Kernel> make(const Node& node) {
  return std::make_unique<K>(node);
}

}  // namespace

void register_scatter(KernelRegistry& registry) {
  add_kernel(registry, "Scatter", 9, 11, {{"T", kByteTypes}, {"Tind", kIndexTypes}}, &make<ScatterElementsKernel>);
  add_kernel(registry, "ScatterElements", 11, 18, {{"T", kByteTypes}, {"Tind", kIndexTypes}},
             &make<ScatterElementsKernel>);
  add_kernel(registry, "ScatterND", 11, 18, {{"T", kByteTypes}}, &make<ScatterNdKernel>);
  add_kernel(registry, "TensorScatter", 24, 24, {{"T", kByteTypes + kSubByteTypes}},
             &with_sub_byte<&make<TensorScatterKernel>>);
}

}  // namespace onnx_light_ort::kernels
