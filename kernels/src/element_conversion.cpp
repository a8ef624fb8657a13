#include "element_conversion.h"

#include <cstring>

#include "broadcast.h"
#include "cpu_level.h"
#include "integer_conversion.h"
#include "onnx_light_ort/kernels/dense_copy.h"
#include "streamed_output.h"

namespace onnx_light_ort::kernels {
namespace {

using Loop = void (*)(const void* x, void* y, int64_t n);

constexpr int64_t kGrain = 32768;

// In and Out: bool stands for a byte that is true when it is not zero.
template <class In, class Out>
[[gnu::always_inline]] inline void convert_body(const void* x_data, void* y_data, int64_t n) {
  using Stored = std::conditional_t<std::is_same_v<In, bool>, uint8_t, In>;
  const Stored* x = static_cast<const Stored*>(x_data);
  Out* y = static_cast<Out*>(y_data);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<Out, bool>) {
      y[i] = x[i] != 0;
    } else if constexpr (std::is_same_v<In, bool>) {
      y[i] = static_cast<Out>(x[i] != 0);
    } else if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>) {
      y[i] = integer_from<Out>(x[i]);
    } else {
      y[i] = static_cast<Out>(x[i]);
    }
  }
}

// Integers of one width have the same bits, so that the unsigned target serves both signs, but for floating point.
template <class In, class Out>
Loop loop_between() {
  if constexpr (std::is_same_v<In, Out>) {
    return nullptr;
  } else if constexpr (std::is_integral_v<In> && std::is_integral_v<Out> && std::is_signed_v<Out>) {
    if constexpr (sizeof(In) == sizeof(Out) && !std::is_same_v<In, bool>) {
      return Versions<&convert_body<std::make_unsigned_t<Out>, std::make_unsigned_t<Out>>>::best();
    } else {
      return Versions<&convert_body<In, std::make_unsigned_t<Out>>>::best();
    }
  } else {
    return Versions<&convert_body<In, Out>>::best();
  }
}

Loop loop_between(DataType from, DataType to) {
  return dispatch<float, double, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
      from, [&](auto in) {
        return dispatch<float, double, bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t>(
            to, [&](auto out) { return loop_between<typename decltype(in)::type, typename decltype(out)::type>(); });
      });
}

}  // namespace

ElementConversion::ElementConversion(DataType from, DataType to, const Narrowing& narrowing)
    : from_(from), to_(to), carried_from_(carrier_of(from)), carried_to_(carrier_of(to)), narrowing_(narrowing) {
  loop_ = loop_between(carried_from_, carried_to_);
}

void ElementConversion::run(const void* x, void* y, int64_t begin, int64_t n) const {
  const auto at = [begin](auto* data, DataType type) {
    using Byte = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(data)>>, const char, char>;
    return static_cast<Byte*>(data) + static_cast<size_t>(begin) * byte_width(type);
  };
  // Fast paths: one step, without a block between.
  if (carried_from_ == from_ && carried_to_ == to_) {
    if (loop_ != nullptr) return loop_(at(x, from_), at(y, to_), n);
    if (x != y) std::memmove(at(y, to_), at(x, from_), static_cast<size_t>(n) * byte_width(to_));
    return;
  }
  if (loop_ == nullptr && carried_to_ == to_) return unpack(from_, x, begin, n, at(y, to_));
  if (loop_ == nullptr && carried_from_ == from_) return pack(to_, at(x, from_), y, begin, n, narrowing_);

  alignas(64) char source[kCarriedBlock * 8];
  alignas(64) char target[kCarriedBlock * 8];
  for (int64_t done = 0; done < n; done += kCarriedBlock) {
    const int64_t count = n - done < kCarriedBlock ? n - done : kCarriedBlock;
    const void* carried = source;
    if (carried_from_ == from_) {
      carried = at(x, from_) + static_cast<size_t>(done) * byte_width(from_);
    } else {
      unpack(from_, x, begin + done, count, source);
    }
    if (carried_to_ == to_) {
      loop_(carried, at(y, to_) + static_cast<size_t>(done) * byte_width(to_), count);
      continue;
    }
    if (loop_ != nullptr) {
      loop_(carried, target, count);
      carried = target;
    }
    pack(to_, carried, y, begin + done, count, narrowing_);
  }
}

void ElementConversion::run_all(RunContext& context, const TensorView& x, const TensorView& y) const {
  if (!x.is_dense()) {
    if (is_sub_byte(to_)) return run_all(context, dense(context, x), y);
    if (x.element_count == 0) return;
    const BroadcastPlan<1> plan(Dims(x), {&x});
    plan.for_each_dense_run(context, {x.data}, {byte_width(from_)}, kGrain, [&](const BroadcastRun<1>& part) {
      run(part.from[0], y.as<char>() + static_cast<size_t>(part.position) * byte_width(to_), 0, part.n);
    });
    return;
  }
  if (!is_sub_byte(from_) && !is_sub_byte(to_)) {
    write_elements(context, y.data, byte_width(to_), x.element_count, kGrain, x.data == y.data,
                   [&](int64_t begin, int64_t n, void* to) {
                     run(x.as<char>() + static_cast<size_t>(begin) * byte_width(from_), to, 0, n);
                   });
    return;
  }
  const int64_t blocks = (x.element_count + kCarriedBlock - 1) / kCarriedBlock;
  context.parallel_for(blocks, kGrain / kCarriedBlock, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * kCarriedBlock;
    run(x.data, y.data, first, std::min(end * kCarriedBlock, x.element_count) - first);
  });
}

}  // namespace onnx_light_ort::kernels
