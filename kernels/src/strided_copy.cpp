#include "strided_copy.h"

#include <cstdlib>
#include <cstring>

#include "element_type.h"
#include "onnx_light_ort/kernels/dense_copy.h"

namespace onnx_light_ort::kernels {
namespace {

constexpr int64_t kGrainBytes = 1 << 16;

// Loop nest over the output, innermost dimension first, neighbours merged where the source allows it.
struct Nest {
  Dims extents;
  Dims strides;

  Nest(const Dims& dims, const Dims& source) {
    for (size_t d = dims.size(); d-- > 0;) {
      if (dims[d] == 1) continue;
      const size_t last = extents.size();
      if (last > 0 && source[d] == strides[last - 1] * extents[last - 1]) {
        extents[last - 1] *= dims[d];
      } else {
        extents.push_back(dims[d]);
        strides.push_back(source[d]);
      }
    }
    if (extents.size() == 0) {
      extents.push_back(1);
      strides.push_back(1);
    }
  }

  // Source offset of the index-th combination of dimensions [first, rank), `skip` left out.
  int64_t offset(int64_t index, size_t first, size_t skip, const Dims& of) const {
    int64_t sum = 0;
    for (size_t d = first; d < extents.size(); ++d) {
      if (d == skip) continue;
      sum += index % extents[d] * of[d];
      index /= extents[d];
    }
    return sum;
  }
};

template <class T>
void copy_run(T* to, const T* from, int64_t n, int64_t stride) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  } else if (stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

template <class T>
void copy(RunContext& context, T* to, const T* from, const Nest& nest, int64_t total) {
  const Dims& extents = nest.extents;
  const Dims& strides = nest.strides;
  const int64_t run = extents[0];
  const int64_t run_grain = kGrainBytes / static_cast<int64_t>(sizeof(T));
  if (extents.size() == 1) {
    context.parallel_for(run, run_grain, [&](int64_t begin, int64_t end) {
      copy_run(to + begin, from + begin * strides[0], end - begin, strides[0]);
    });
    return;
  }
  // Fast path of transposition: where the source is contiguous along another dimension, tiles of both dimensions keep
  // reads and writes in the cache.
  size_t along = 0;
  for (size_t d = 1; d < extents.size() && along == 0; ++d) along = strides[d] == 1 && strides[0] > 1 ? d : 0;
  if (along != 0) {
    Dims out_strides(extents.size());
    int64_t dense = 1;
    for (size_t d = 0; d < extents.size(); ++d) {
      out_strides[d] = dense;
      dense *= extents[d];
    }
    constexpr int64_t kTile = sizeof(T) >= 8 ? 8 : 16;
    const int64_t tiles = (extents[along] + kTile - 1) / kTile;
    const int64_t outer = total / run / extents[along];
    context.parallel_for(outer * tiles, std::max<int64_t>(1, run_grain / (run * kTile)),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) {
                             const int64_t row = i % tiles * kTile;
                             const int64_t rows = std::min(kTile, extents[along] - row);
                             const T* source = from + nest.offset(i / tiles, 1, along, strides) + row;
                             T* target = to + nest.offset(i / tiles, 1, along, out_strides) + row * out_strides[along];
                             for (int64_t column = 0; column < run; column += kTile) {
                               const int64_t columns = std::min(kTile, run - column);
                               for (int64_t r = 0; r < rows; ++r) {
                                 T* line = target + r * out_strides[along] + column;
                                 const T* first = source + r + column * strides[0];
                                 for (int64_t c = 0; c < columns; ++c) line[c] = first[c * strides[0]];
                               }
                             }
                           }
                         });
    return;
  }
  context.parallel_for(total / run, std::max<int64_t>(1, run_grain / run), [&](int64_t begin, int64_t end) {
    Dims index(extents.size(), 0);
    int64_t rest = begin;
    int64_t offset = 0;
    for (size_t d = 1; d < extents.size(); ++d) {
      index[d] = rest % extents[d];
      offset += index[d] * strides[d];
      rest /= extents[d];
    }
    for (int64_t i = begin; i < end; ++i) {
      copy_run(to + i * run, from + offset, run, strides[0]);
      for (size_t d = 1; d < extents.size(); ++d) {
        offset += strides[d];
        if (++index[d] < extents[d]) break;
        offset -= extents[d] * strides[d];
        index[d] = 0;
      }
    }
  });
}

}  // namespace

void strided_copy(RunContext& context, void* to, const Dims& dims, const void* from, const Dims& strides,
                  size_t width) {
  const int64_t total = product(dims.data(), 0, dims.size());
  if (total == 0) return;
  const Nest nest(dims, strides);
  dispatch_width(width, [&](auto tag) {
    using T = typename decltype(tag)::type;
    copy(context, static_cast<T*>(to), static_cast<const T*>(from), nest, total);
  });
}

void copy_tile(void* to, const void* from, int64_t rows, int64_t row_stride, int64_t columns, int64_t column_stride,
               size_t width) {
  dispatch_width(width, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* target = static_cast<T*>(to);
    const T* source = static_cast<const T*>(from);
    if (std::abs(column_stride) <= std::abs(row_stride)) {
      for (int64_t r = 0; r < rows; ++r)
        copy_run(target + r * columns, source + r * row_stride, columns, column_stride);
      return;
    }
    // Few columns at a time, so that their cache lines are still there for the next row.
    constexpr int64_t kFew = 8;
    int64_t column = 0;
    for (; column + kFew <= columns; column += kFew) {
      for (int64_t r = 0; r < rows; ++r) {
        T* line = target + r * columns + column;
        const T* first = source + r * row_stride + column * column_stride;
        for (int64_t c = 0; c < kFew; ++c) line[c] = first[c * column_stride];
      }
    }
    for (; column < columns; ++column) {
      for (int64_t r = 0; r < rows; ++r) target[r * columns + column] = source[r * row_stride + column * column_stride];
    }
  });
}

Dims dense_strides(const int64_t* dims, size_t rank) {
  Dims strides(rank);
  int64_t stride = 1;
  for (size_t d = rank; d-- > 0;) {
    strides[d] = stride;
    stride *= dims[d];
  }
  return strides;
}

Dims strides_of(const TensorView& view) {
  return view.is_dense() ? dense_strides(view.dims, view.rank) : Dims(view.strides, view.rank);
}

void copy_dense(RunContext& context, const TensorView& from, void* to) {
  strided_copy(context, to, Dims(from), from.data, strides_of(from), byte_width(from.dtype));
}

TensorView dense(RunContext& context, const TensorView& view) {
  if (view.is_dense()) return view;
  TensorView copy = view;
  copy.strides = nullptr;
  copy.data = context.scratch(checked_byte_size(view.dtype, view.element_count).value());
  copy_dense(context, view, copy.data);
  return copy;
}

}  // namespace onnx_light_ort::kernels
