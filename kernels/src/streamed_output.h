// Writing an output that is larger than the caches past them: stores that go straight to memory save reading each line
// first, which for an operator that only moves its data is a good part of all traffic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "onnx_light_ort/kernels/run_context.h"

namespace onnx_light_ort::kernels {

/// Outputs from this size on are streamed.
inline constexpr size_t kStreamedBytes = size_t{24} << 20;

/// Copies bytes to memory that is not read soon. Visible to other threads after finish_streaming().
void stream_copy(void* to, const void* from, size_t bytes) noexcept;
void finish_streaming() noexcept;

/// fill(i, n, to) makes elements [i, i + n), of `width` bytes, at `to`; called for blocks of [begin, end), whose place
/// in the output `out` is then streamed to. Blocks begin at begin plus multiples of 512.
template <class Fill>
void stream_blocks(void* out, size_t width, int64_t begin, int64_t end, Fill&& fill) {
  constexpr int64_t kBlock = 512;
  alignas(64) char block[kBlock * 16];
  for (int64_t i = begin; i < end; i += kBlock) {
    const int64_t n = std::min(kBlock, end - i);
    fill(i, n, block);
    stream_copy(static_cast<char*>(out) + static_cast<size_t>(i) * width, block, static_cast<size_t>(n) * width);
  }
  finish_streaming();
}

/// Calls write(i, n, to) from the context's threads, for disjoint runs of elements that cover [0, count); `to` is where
/// element i goes. An output that is large and does not lie over an input (`in_place`) is streamed.
template <class Write>
void write_elements(RunContext& context, void* out, size_t width, int64_t count, int64_t grain, bool in_place,
                    Write&& write) {
  const bool streamed = !in_place && static_cast<size_t>(count) >= kStreamedBytes / width;
  context.parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if (streamed) {
      stream_blocks(out, width, begin, end, write);
    } else {
      write(begin, end - begin, static_cast<char*>(out) + static_cast<size_t>(begin) * width);
    }
  });
}

}  // namespace onnx_light_ort::kernels
