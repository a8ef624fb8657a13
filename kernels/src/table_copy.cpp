#include "table_copy.h"

#include <algorithm>
#include <cstring>

#include "element_type.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {
namespace {

template <class T>
void copy(RunContext& context, const TensorView& to, const TensorView& from,
          const std::vector<std::vector<int64_t>>& tables, const void* fill_data) {
  T fill{};
  if (fill_data != nullptr) std::memcpy(&fill, fill_data, sizeof fill);
  const size_t rank = to.rank;
  if (rank == 0) {
    *to.as<T>() = *from.as<T>();
    return;
  }
  const Dims strides = strides_of(from);
  const int64_t step = strides[rank - 1];
  const std::vector<int64_t>& last = tables[rank - 1];
  const auto run = static_cast<int64_t>(last.size());
  // The longest stretch of the last dimension that is contiguous in the source is copied as a whole.
  int64_t stretch = 0;
  int64_t stretch_end = 0;
  for (int64_t i = 0, begin = 0; step == 1 && i < run; ++i) {
    const auto at = static_cast<size_t>(i);
    if (last[at] < 0 || (i > begin && last[at] != last[at - 1] + 1)) begin = last[at] < 0 ? i + 1 : i;
    if (i + 1 - begin > stretch_end - stretch) {
      stretch = begin;
      stretch_end = i + 1;
    }
  }
  const int64_t rows = to.element_count / run;
  context.parallel_for(rows, std::max<int64_t>(1, 16384 / run), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      int64_t rest = row;
      int64_t offset = 0;
      bool inside = true;
      for (size_t d = rank - 1; d-- > 0;) {
        const int64_t index = tables[d][static_cast<size_t>(rest % to.dims[d])];
        rest /= to.dims[d];
        inside = inside && index >= 0;
        offset += index * strides[d];
      }
      T* target = to.as<T>() + row * run;
      if (!inside) {
        std::fill_n(target, run, fill);
        continue;
      }
      const T* source = from.as<T>() + offset;
      const auto pick = [&](int64_t i) {
        const int64_t index = last[static_cast<size_t>(i)];
        target[i] = index < 0 ? fill : source[index * step];
      };
      for (int64_t i = 0; i < stretch; ++i) pick(i);
      if (stretch_end > stretch) {
        std::memcpy(target + stretch, source + last[static_cast<size_t>(stretch)],
                    static_cast<size_t>(stretch_end - stretch) * sizeof(T));
      }
      for (int64_t i = stretch_end; i < run; ++i) pick(i);
    }
  });
}

}  // namespace

void table_copy(RunContext& context, const TensorView& to, const TensorView& from,
                const std::vector<std::vector<int64_t>>& tables, const void* fill, size_t width) {
  if (to.element_count == 0) return;
  dispatch_width(width, [&](auto tag) { copy<typename decltype(tag)::type>(context, to, from, tables, fill); });
}

}  // namespace onnx_light_ort::kernels
