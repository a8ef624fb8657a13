#include "streamed_output.h"

#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace onnx_light_ort::kernels {

void stream_copy(void* to_data, const void* from_data, size_t bytes) noexcept {
#if defined(__x86_64__)
  char* to = static_cast<char*>(to_data);
  const char* from = static_cast<const char*>(from_data);
  const size_t head = std::min(bytes, (16 - reinterpret_cast<uintptr_t>(to) % 16) % 16);
  std::memcpy(to, from, head);
  size_t i = head;
  for (; i + 64 <= bytes; i += 64) {
    for (size_t part = 0; part < 64; part += 16) {
      const __m128i value = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i + part));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + part), value);
    }
  }
  std::memcpy(to + i, from + i, bytes - i);
#else
  std::memcpy(to_data, from_data, bytes);
#endif
}

void finish_streaming() noexcept {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

}  // namespace onnx_light_ort::kernels
