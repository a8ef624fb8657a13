#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "onnxruntime_error_code.h"

#define ORT_API_VERSION 29

#ifdef __cplusplus
extern "C" {
#endif
#ifndef _MSC_VER
#define _In_
#define _In_opt_
#define _Out_
#define _Outptr_
#define _Frees_ptr_opt_
#define _Check_return_
#define _Ret_maybenull_
#define _In_reads_(X)
#else
#include <specstrings.h>
#endif
#ifdef _WIN32
#define ORT_API_CALL __stdcall
#else
#define ORT_API_CALL
#endif
#ifdef __cplusplus
#if ((__cplusplus >= 201103L) || (_MSC_VER >= 1900))
#define NO_EXCEPTION noexcept
#else
#define NO_EXCEPTION throw()
#endif
#else
#define NO_EXCEPTION
#endif
#define ORT_API_T(RETURN_TYPE, NAME, ...) RETURN_TYPE(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION
#define ORT_API2_STATUS(NAME, ...) \
  _Check_return_ _Ret_maybenull_ OrtStatusPtr(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION
#define ORT_CLASS_RELEASE(X) void(ORT_API_CALL * Release##X)(_Frees_ptr_opt_ Ort##X * input)
#define ORT_RUNTIME_CLASS(X) \
  struct Ort##X;             \
  typedef struct Ort##X Ort##X

ORT_RUNTIME_CLASS(Status);
ORT_RUNTIME_CLASS(Value);
ORT_RUNTIME_CLASS(Session);
typedef OrtStatus* OrtStatusPtr;

struct OrtApi;
typedef struct OrtApi OrtApi;
struct OrtTrainingApi;
typedef struct OrtTrainingApi OrtTrainingApi;
struct OrtEpApi;
typedef struct OrtEpApi OrtEpApi;

struct OrtApiBase {
  const OrtApi*(ORT_API_CALL* GetApi)(uint32_t version)NO_EXCEPTION;
  const char*(ORT_API_CALL* GetVersionString)(void)NO_EXCEPTION;
};
typedef struct OrtApiBase OrtApiBase;

struct OrtApi {
  OrtStatus*(ORT_API_CALL* CreateStatus)(OrtErrorCode code, _In_ const char* msg)NO_EXCEPTION;
  OrtErrorCode(ORT_API_CALL* GetErrorCode)(_In_ const OrtStatus* status) NO_EXCEPTION;
  const char*(ORT_API_CALL* GetErrorMessage)(_In_ const OrtStatus* status)NO_EXCEPTION;
  ORT_CLASS_RELEASE(Status);
  const char*(ORT_API_CALL* GetBuildInfoString)(void);
  /// Throws what the number says.
  ORT_API2_STATUS(Throw, int what);
  ORT_API2_STATUS(Count, _In_ const OrtValue* value, _In_opt_ const char* name, _In_reads_(size) const int64_t* sizes,
                  size_t size, _Out_ size_t* out);
  ORT_API2_STATUS(Later, _In_ const OrtValue* value, _Outptr_ OrtValue** out);
  ORT_CLASS_RELEASE(Value);
  ORT_CLASS_RELEASE(Session);
  int(ORT_API_CALL* Number)(_In_ const OrtValue* value, int number) NO_EXCEPTION;
  ORT_API_T(int, Missing, _In_ const OrtValue* value);
  const OrtTrainingApi*(ORT_API_CALL* GetTrainingApi)(uint32_t version)NO_EXCEPTION;
  const OrtEpApi*(ORT_API_CALL* GetEpApi)(void);
};
#ifdef __cplusplus
}
#endif
#include "onnxruntime_ep_c_api.h"
