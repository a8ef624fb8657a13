// A small ABI in the manner of ORT's headers: what the generator must understand, in two screens.
#pragma once
#ifdef __cplusplus
extern "C" {
#endif
typedef enum OrtErrorCode {
  ORT_OK,
  ORT_FAIL,
  ORT_INVALID_ARGUMENT,
  ORT_NO_SUCHFILE,
  ORT_NO_MODEL,
  ORT_ENGINE_ERROR,
  ORT_RUNTIME_EXCEPTION,
  ORT_INVALID_PROTOBUF,
  ORT_MODEL_LOADED,
  ORT_NOT_IMPLEMENTED,
} OrtErrorCode;
#ifdef __cplusplus
}
#endif
