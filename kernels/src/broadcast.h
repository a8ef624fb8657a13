// Multidirectional broadcasting of up to three tensors (numpy's rules), reduced to runs of contiguous elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "dims.h"
#include "onnx_light_ort/kernels/run_context.h"
#include "strided_copy.h"

namespace onnx_light_ort::kernels {

/// Dimensions that the operands broadcast to. Throws Error where they do not agree.
Dims broadcast_dims(const char* op, const TensorView* const* operands, size_t count);

/// Output elements [position, position + n), and where operand i has its own: side by side from `from[i]` on, or one
/// for all of them where `single[i]`.
template <size_t N>
struct BroadcastRun {
  std::array<const char*, N> from;
  std::array<bool, N> single;
  int64_t position;
  int64_t n;
};

/// Loop nest over the output of a broadcast, adjacent dimensions merged where every operand allows it.
template <size_t N>
class BroadcastPlan {
 public:
  static constexpr size_t kMaxRank = 24;

  /// `out` must be what the operands broadcast to. Throws Error(kNotImplemented) beyond kMaxRank merged dimensions.
  BroadcastPlan(const Dims& out, const std::array<const TensorView*, N>& operands) {
    for (const TensorView* operand : operands) strided_ = strided_ || !operand->is_dense();
    std::array<int64_t, N> dense{};  // stride that the operand's next dimension would have
    dense.fill(1);
    for (size_t from_back = 0; from_back < out.size(); ++from_back) {
      const int64_t extent = out[out.size() - 1 - from_back];
      std::array<int64_t, N> strides{};
      for (size_t i = 0; i < N; ++i) {
        const TensorView& operand = *operands[i];
        const int64_t own = from_back < operand.rank ? operand.dims[operand.rank - 1 - from_back] : 1;
        strides[i] = own == 1 ? 0 : operand.is_dense() ? dense[i] : operand.strides[operand.rank - 1 - from_back];
        dense[i] *= own;
      }
      if (extent != 1) append(extent, strides);
    }
    if (rank_ == 0) append(1, {});
  }

  /// Stride of operand i within a run: 1 or 0 where the operand is dense.
  int64_t inner_stride(size_t i) const noexcept { return strides_[0][i]; }
  int64_t inner_extent() const noexcept { return extents_[0]; }

  /// Calls run(offsets, out_offset, n) for runs that cover output elements [begin, end); offsets are in elements.
  template <class Run>
  void for_each_run(int64_t begin, int64_t end, Run&& run) const {
    std::array<int64_t, kMaxRank> index{};
    std::array<int64_t, N> offsets{};
    int64_t rest = begin;
    for (size_t d = 0; d < rank_; ++d) {
      index[d] = rest % extents_[d];
      rest /= extents_[d];
      for (size_t i = 0; i < N; ++i) offsets[i] += index[d] * strides_[d][i];
    }
    for (int64_t position = begin; position < end;) {
      const int64_t n = std::min(extents_[0] - index[0], end - position);
      run(offsets, position, n);
      position += n;
      index[0] += n;
      for (size_t i = 0; i < N; ++i) offsets[i] += n * strides_[0][i];
      for (size_t d = 0; d + 1 < rank_ && index[d] == extents_[d]; ++d) {
        for (size_t i = 0; i < N; ++i) offsets[i] += strides_[d + 1][i] - extents_[d] * strides_[d][i];
        index[d] = 0;
        ++index[d + 1];
      }
    }
  }

  /// Calls run(BroadcastRun) on the context's threads for runs that cover the output, which is not empty. `data` and
  /// `widths` (bytes of an element) are the operands'. Operands whose elements lie apart are brought together a tile at
  /// a time; of a plan for one operand no run is `single`.
  template <class Run>
  void for_each_dense_run(RunContext& context, const std::array<const void*, N>& data,
                          const std::array<size_t, N>& widths, int64_t grain, Run&& run) const {
    const auto at = [&](size_t i, int64_t offset) {
      return static_cast<const char*>(data[i]) + offset * static_cast<int64_t>(widths[i]);
    };
    bool apart = strided_ && extents_[0] < kShortRun;
    for (size_t i = 0; i < N; ++i) apart = apart || is_apart(i);
    if (!apart) {
      BroadcastRun<N> shape{};
      for (size_t i = 0; i < N; ++i) shape.single[i] = inner_stride(i) == 0;
      context.parallel_for(element_count(), grain, [&](int64_t begin, int64_t end) {
        BroadcastRun<N> one = shape;
        for_each_run(begin, end, [&](const std::array<int64_t, N>& offsets, int64_t position, int64_t n) {
          for (size_t i = 0; i < N; ++i) one.from[i] = at(i, offsets[i]);
          one.position = position;
          one.n = n;
          run(one);
        });
      });
      return;
    }
    const Tiles tiles = cut(*std::max_element(widths.begin(), widths.end()));
    context.parallel_for(
        tiles.count, std::max<int64_t>(1, grain / (tiles.rows * tiles.columns)), [&](int64_t begin, int64_t end) {
          alignas(64) char together[N][kTileBytes];
          for (int64_t index = begin; index < end; ++index) {
            const Tile tile = locate(tiles, index);
            BroadcastRun<N> one{};
            std::array<int64_t, N> row_bytes{};
            for (size_t i = 0; i < N; ++i) {
              const int64_t inner = inner_stride(i);
              const int64_t down = tile.rows > 1 ? strides_[tiles.along][i] : 0;
              const auto width = static_cast<int64_t>(widths[i]);
              one.from[i] = at(i, tile.offsets[i]);
              one.single[i] = inner == 0 && (N > 1 && (down == 0 || !tiles.whole));
              row_bytes[i] = down * width;
              if (one.single[i] || (inner == 1 && (!tiles.whole || down == tile.columns))) continue;
              // Rows that are all the same are brought once.
              const bool once = down == 0 && !tiles.whole;
              copy_tile(together[i], one.from[i], once ? 1 : tile.rows, down, tile.columns, inner, widths[i]);
              one.from[i] = together[i];
              row_bytes[i] = once ? 0 : tile.columns * width;
            }
            one.position = tile.position;
            one.n = tiles.whole ? tile.rows * tile.columns : tile.columns;
            for (int64_t r = 0; r < (tiles.whole ? 1 : tile.rows); ++r) {
              run(one);
              one.position += tile.down;
              for (size_t i = 0; i < N; ++i) one.from[i] += row_bytes[i];
            }
          }
        });
  }

 private:
  static constexpr size_t kTileBytes = 16384;  // of one operand, so that all stay in the first-level cache
  static constexpr int64_t kTileColumns = 64;  // few pages at a time, and several cache lines of each
  static constexpr int64_t kShortRun = 64;     // does not repay a call

  /// The output cut into tiles of the innermost dimension and one other.
  struct Tiles {
    size_t along = 0;    // the other dimension; 0: none
    bool whole = false;  // rows of a tile are neighbours in the output, and short: one run for all
    int64_t rows = 1;
    int64_t columns = 1;
    int64_t row_tiles = 1;
    int64_t column_tiles = 1;
    int64_t count = 1;
  };

  struct Tile {
    int64_t rows;
    int64_t columns;
    int64_t position = 0;  // in the output
    int64_t down = 0;      // from one row to the next in the output
    std::array<int64_t, N> offsets{};
  };

  int64_t element_count() const noexcept {
    int64_t count = 1;
    for (size_t d = 0; d < rank_; ++d) count *= extents_[d];
    return count;
  }

  // Whether a run of operand i has to be brought together.
  bool is_apart(size_t i) const noexcept { return inner_stride(i) != 1 && (N == 1 || inner_stride(i) != 0); }

  Tiles cut(size_t largest_width) const noexcept {
    Tiles tiles;
    tiles.whole = rank_ > 1 && extents_[0] < kShortRun;
    if (tiles.whole) {
      tiles.along = 1;
    } else {
      // Down the dimension along which an operand that is apart has its elements closest to each other.
      size_t operand = 0;
      while (operand + 1 < N && !is_apart(operand)) ++operand;
      int64_t closest = std::abs(inner_stride(operand));
      for (size_t d = 1; d < rank_; ++d) {
        const int64_t stride = std::abs(strides_[d][operand]);
        if (stride == 0 || stride >= closest) continue;
        closest = stride;
        tiles.along = d;
      }
    }
    const auto elements = static_cast<int64_t>(kTileBytes / largest_width);
    tiles.columns = std::min(extents_[0], tiles.along != 0 ? kTileColumns : elements);
    tiles.column_tiles = (extents_[0] + tiles.columns - 1) / tiles.columns;
    if (tiles.along != 0) {
      tiles.rows = std::min(extents_[tiles.along], elements / tiles.columns);
      tiles.row_tiles = (extents_[tiles.along] + tiles.rows - 1) / tiles.rows;
    }
    tiles.count = tiles.column_tiles * tiles.row_tiles;
    for (size_t d = 1; d < rank_; ++d) tiles.count *= d == tiles.along ? 1 : extents_[d];
    return tiles;
  }

  Tile locate(const Tiles& tiles, int64_t index) const noexcept {
    Tile tile;
    const int64_t column = index % tiles.column_tiles * tiles.columns;
    index /= tiles.column_tiles;
    const int64_t row = index % tiles.row_tiles * tiles.rows;
    index /= tiles.row_tiles;
    tile.columns = std::min(tiles.columns, extents_[0] - column);
    tile.rows = tiles.along == 0 ? 1 : std::min(tiles.rows, extents_[tiles.along] - row);
    int64_t out_stride = 1;
    for (size_t d = 0; d < rank_; ++d) {
      int64_t at = d == 0 ? column : row;
      if (d != 0 && d == tiles.along) tile.down = out_stride;
      if (d != 0 && d != tiles.along) {
        at = index % extents_[d];
        index /= extents_[d];
      }
      tile.position += at * out_stride;
      for (size_t i = 0; i < N; ++i) tile.offsets[i] += at * strides_[d][i];
      out_stride *= extents_[d];
    }
    return tile;
  }

  void append(int64_t extent, const std::array<int64_t, N>& strides) {
    if (rank_ > 0) {
      bool mergeable = true;
      for (size_t i = 0; i < N; ++i) {
        mergeable = mergeable && strides[i] == strides_[rank_ - 1][i] * extents_[rank_ - 1];
      }
      if (mergeable) {
        extents_[rank_ - 1] *= extent;
        return;
      }
    }
    if (rank_ == kMaxRank) fail(ErrorKind::kNotImplemented, "broadcast over too many dimensions");
    extents_[rank_] = extent;
    strides_[rank_++] = strides;
  }

  // Innermost first.
  std::array<int64_t, kMaxRank> extents_;
  std::array<std::array<int64_t, N>, kMaxRank> strides_;
  size_t rank_ = 0;
  bool strided_ = false;
};

}  // namespace onnx_light_ort::kernels
