#include "cpu_level.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace onnx_light_ort::kernels {
namespace {

CpuLevel detect() noexcept {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const auto has = [](auto... supported) { return (supported && ...); };
  const bool avx2 = has(__builtin_cpu_supports("avx2"), __builtin_cpu_supports("fma"), __builtin_cpu_supports("f16c"),
                        __builtin_cpu_supports("bmi2"));
  const bool avx512 = has(__builtin_cpu_supports("avx512f"), __builtin_cpu_supports("avx512bw"),
                          __builtin_cpu_supports("avx512dq"), __builtin_cpu_supports("avx512vl"));
  return avx2 ? (avx512 ? CpuLevel::kAvx512 : CpuLevel::kAvx2) : CpuLevel::kBaseline;
#else
  return CpuLevel::kBaseline;
#endif
}

CpuLevel limited(CpuLevel detected) noexcept {
  const char* limit = std::getenv("ONNX_LIGHT_ORT_CPU");
  if (limit == nullptr) return detected;
  const std::string_view name = limit;
  if (name == "baseline") return CpuLevel::kBaseline;
  if (name == "avx2") return std::min(detected, CpuLevel::kAvx2);
  return detected;
}

}  // namespace

CpuLevel cpu_level() noexcept {
  static const CpuLevel level = limited(detect());
  return level;
}

}  // namespace onnx_light_ort::kernels
