// Which vector instructions this process may use. The library is built for the x86-64 baseline; hot loops are compiled
// again for newer levels through target attributes, and a kernel picks its loop once, when it is created.
#pragma once

namespace onnx_light_ort::kernels {

enum class CpuLevel { kBaseline = 0, kAvx2 = 1, kAvx512 = 2 };

/// The best level of this CPU, lowered by the environment variable ONNX_LIGHT_ORT_CPU (baseline, avx2 or avx512) where
/// it is set. Read once.
CpuLevel cpu_level() noexcept;

// clang-format off
#if defined(__x86_64__)
#define ONNX_LIGHT_TARGET_AVX2 __attribute__((target("avx2,fma,f16c,bmi,bmi2")))
#define ONNX_LIGHT_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi,bmi2,prefer-vector-width=512")))
#else
#define ONNX_LIGHT_TARGET_AVX2
#define ONNX_LIGHT_TARGET_AVX512
#endif
// clang-format on

/// `Body`, an always_inline function, compiled for the baseline and for AVX2; best() is the one for this CPU.
template <auto Body>
struct Versions;

template <class... Args, void (*Body)(Args...)>
struct Versions<Body> {
  static void baseline(Args... args) { Body(args...); }
  ONNX_LIGHT_TARGET_AVX2 static void avx2(Args... args) { Body(args...); }
  static auto best() noexcept { return cpu_level() >= CpuLevel::kAvx2 ? &avx2 : &baseline; }
};

/// The same and for AVX-512, for loops that compute long enough between load and store.
template <auto Body>
struct CostlyVersions;

template <class... Args, void (*Body)(Args...)>
struct CostlyVersions<Body> {
  ONNX_LIGHT_TARGET_AVX512 static void avx512(Args... args) { Body(args...); }
  static auto best() noexcept { return cpu_level() >= CpuLevel::kAvx512 ? &avx512 : Versions<Body>::best(); }
};

}  // namespace onnx_light_ort::kernels
