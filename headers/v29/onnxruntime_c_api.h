/*
 * Declarations of the ONNX Runtime C API, used under its licence:
 *
 * MIT License
 *
 * Copyright (c) Microsoft Corporation
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy
 * of this software and associated documentation files (the "Software"), to deal
 * in the Software without restriction, including without limitation the rights
 * to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
 * copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all
 * copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
 * IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
 * FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE
 * AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
 * LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE
 * SOFTWARE.
 */

/* Names, types, order, annotations, values and versions of onnxruntime_c_api.h at API version 29.
 * Written by `python -m codegen pin`; PIN.toml says from what. Not for compilers: annotations are left undefined. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include "onnxruntime_error_code.h"

#define ORT_API_VERSION 29

typedef enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 = 4,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32 = 12,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64 = 13,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 = 14,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128 = 15,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN = 17,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ = 18,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2 = 19,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ = 20,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4 = 21,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4 = 22,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 = 23,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 = 24,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 = 25,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0 = 26,
} ONNXTensorElementDataType;

typedef enum ONNXType {
  ONNX_TYPE_UNKNOWN = 0,
  ONNX_TYPE_TENSOR = 1,
  ONNX_TYPE_SEQUENCE = 2,
  ONNX_TYPE_MAP = 3,
  ONNX_TYPE_OPAQUE = 4,
  ONNX_TYPE_SPARSETENSOR = 5,
  ONNX_TYPE_OPTIONAL = 6,
} ONNXType;

typedef enum OrtSparseFormat {
  ORT_SPARSE_UNDEFINED = 0,
  ORT_SPARSE_COO = 1,
  ORT_SPARSE_CSRC = 2,
  ORT_SPARSE_BLOCK_SPARSE = 4,
} OrtSparseFormat;

enum OrtSparseIndicesFormat {
  ORT_SPARSE_COO_INDICES = 0,
  ORT_SPARSE_CSR_INNER_INDICES = 1,
  ORT_SPARSE_CSR_OUTER_INDICES = 2,
  ORT_SPARSE_BLOCK_SPARSE_INDICES = 3,
};

typedef enum OrtLoggingLevel {
  ORT_LOGGING_LEVEL_VERBOSE = 0,
  ORT_LOGGING_LEVEL_INFO = 1,
  ORT_LOGGING_LEVEL_WARNING = 2,
  ORT_LOGGING_LEVEL_ERROR = 3,
  ORT_LOGGING_LEVEL_FATAL = 4,
} OrtLoggingLevel;

typedef enum OrtOpAttrType {
  ORT_OP_ATTR_UNDEFINED = 0,
  ORT_OP_ATTR_INT = 1,
  ORT_OP_ATTR_INTS = 2,
  ORT_OP_ATTR_FLOAT = 3,
  ORT_OP_ATTR_FLOATS = 4,
  ORT_OP_ATTR_STRING = 5,
  ORT_OP_ATTR_STRINGS = 6,
  ORT_OP_ATTR_GRAPH = 7,
  ORT_OP_ATTR_TENSOR = 8,
} OrtOpAttrType;

typedef enum GraphOptimizationLevel {
  ORT_DISABLE_ALL = 0,
  ORT_ENABLE_BASIC = 1,
  ORT_ENABLE_EXTENDED = 2,
  ORT_ENABLE_LAYOUT = 3,
  ORT_ENABLE_ALL = 99,
} GraphOptimizationLevel;

typedef enum ExecutionMode {
  ORT_SEQUENTIAL = 0,
  ORT_PARALLEL = 1,
} ExecutionMode;

typedef enum OrtLanguageProjection {
  ORT_PROJECTION_C = 0,
  ORT_PROJECTION_CPLUSPLUS = 1,
  ORT_PROJECTION_CSHARP = 2,
  ORT_PROJECTION_PYTHON = 3,
  ORT_PROJECTION_JAVA = 4,
  ORT_PROJECTION_WINML = 5,
  ORT_PROJECTION_NODEJS = 6,
} OrtLanguageProjection;

typedef enum OrtAllocatorType {
  OrtInvalidAllocator = -1,
  OrtDeviceAllocator = 0,
  OrtArenaAllocator = 1,
  OrtReadOnlyAllocator = 2,
} OrtAllocatorType;

typedef enum OrtMemType {
  OrtMemTypeCPUInput = -2,
  OrtMemTypeCPUOutput = -1,
  OrtMemTypeCPU = -1,
  OrtMemTypeDefault = 0,
} OrtMemType;

typedef enum OrtDeviceMemoryType {
  OrtDeviceMemoryType_DEFAULT = 0,
  OrtDeviceMemoryType_HOST_ACCESSIBLE = 5,
} OrtDeviceMemoryType;

typedef enum OrtMemoryInfoDeviceType {
  OrtMemoryInfoDeviceType_CPU = 0,
  OrtMemoryInfoDeviceType_GPU = 1,
  OrtMemoryInfoDeviceType_FPGA = 2,
  OrtMemoryInfoDeviceType_NPU = 3,
} OrtMemoryInfoDeviceType;

typedef enum OrtHardwareDeviceType {
  OrtHardwareDeviceType_CPU = 0,
  OrtHardwareDeviceType_GPU = 1,
  OrtHardwareDeviceType_NPU = 2,
} OrtHardwareDeviceType;

typedef enum OrtExecutionProviderDevicePolicy {
  OrtExecutionProviderDevicePolicy_DEFAULT = 0,
  OrtExecutionProviderDevicePolicy_PREFER_CPU = 1,
  OrtExecutionProviderDevicePolicy_PREFER_NPU = 2,
  OrtExecutionProviderDevicePolicy_PREFER_GPU = 3,
  OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE = 4,
  OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY = 5,
  OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER = 6,
} OrtExecutionProviderDevicePolicy;

typedef enum OrtDeviceEpIncompatibilityReason {
  OrtDeviceEpIncompatibility_NONE = 0,
  OrtDeviceEpIncompatibility_DRIVER_INCOMPATIBLE = 1,
  OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE = 2,
  OrtDeviceEpIncompatibility_MISSING_DEPENDENCY = 4,
  OrtDeviceEpIncompatibility_UNKNOWN = (-2147483647 - 1),
} OrtDeviceEpIncompatibilityReason;

typedef enum OrtCudnnConvAlgoSearch {
  OrtCudnnConvAlgoSearchExhaustive = 0,
  OrtCudnnConvAlgoSearchHeuristic = 1,
  OrtCudnnConvAlgoSearchDefault = 2,
} OrtCudnnConvAlgoSearch;

/* since 24 */
typedef enum OrtExternalMemoryHandleType {
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE = 0,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP = 1,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_WIN32 = 2,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD = 3,
} OrtExternalMemoryHandleType;

/* since 24 */
typedef enum OrtExternalSemaphoreType {
  ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE = 0,
  ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_WIN32 = 1,
  ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD = 2,
} OrtExternalSemaphoreType;

/* since 25 */
typedef enum OrtGraphicsApi {
  ORT_GRAPHICS_API_NONE = 0,
  ORT_GRAPHICS_API_D3D12 = 1,
  ORT_GRAPHICS_API_VULKAN = 2,
} OrtGraphicsApi;

typedef enum OrtCompiledModelCompatibility {
  OrtCompiledModelCompatibility_EP_NOT_APPLICABLE = 0,
  OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL = 1,
  OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION = 2,
  OrtCompiledModelCompatibility_EP_UNSUPPORTED = 3,
} OrtCompiledModelCompatibility;

typedef enum OrtCustomOpInputOutputCharacteristic {
  INPUT_OUTPUT_REQUIRED = 0,
  INPUT_OUTPUT_OPTIONAL = 1,
  INPUT_OUTPUT_VARIADIC = 2,
} OrtCustomOpInputOutputCharacteristic;

typedef enum OrtCompileApiFlags {
  OrtCompileApiFlags_NONE = 0,
  OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED = 1,
  OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS = 2,
} OrtCompileApiFlags;

struct OrtEnv;
typedef struct OrtEnv OrtEnv;
struct OrtStatus;
typedef struct OrtStatus OrtStatus;
struct OrtMemoryInfo;
typedef struct OrtMemoryInfo OrtMemoryInfo;
struct OrtIoBinding;
typedef struct OrtIoBinding OrtIoBinding;
struct OrtSession;
typedef struct OrtSession OrtSession;
struct OrtValue;
typedef struct OrtValue OrtValue;
struct OrtRunOptions;
typedef struct OrtRunOptions OrtRunOptions;
struct OrtTypeInfo;
typedef struct OrtTypeInfo OrtTypeInfo;
struct OrtTensorTypeAndShapeInfo;
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
struct OrtMapTypeInfo;
typedef struct OrtMapTypeInfo OrtMapTypeInfo;
struct OrtSequenceTypeInfo;
typedef struct OrtSequenceTypeInfo OrtSequenceTypeInfo;
struct OrtOptionalTypeInfo;
typedef struct OrtOptionalTypeInfo OrtOptionalTypeInfo;
struct OrtSessionOptions;
typedef struct OrtSessionOptions OrtSessionOptions;
struct OrtCustomOpDomain;
typedef struct OrtCustomOpDomain OrtCustomOpDomain;
struct OrtModelMetadata;
typedef struct OrtModelMetadata OrtModelMetadata;
struct OrtThreadPoolParams;
typedef struct OrtThreadPoolParams OrtThreadPoolParams;
struct OrtThreadingOptions;
typedef struct OrtThreadingOptions OrtThreadingOptions;
struct OrtArenaCfg;
typedef struct OrtArenaCfg OrtArenaCfg;
struct OrtPrepackedWeightsContainer;
typedef struct OrtPrepackedWeightsContainer OrtPrepackedWeightsContainer;
struct OrtTensorRTProviderOptionsV2;
typedef struct OrtTensorRTProviderOptionsV2 OrtTensorRTProviderOptionsV2;
struct OrtNvTensorRtRtxProviderOptions;
typedef struct OrtNvTensorRtRtxProviderOptions OrtNvTensorRtRtxProviderOptions;
struct OrtCUDAProviderOptionsV2;
typedef struct OrtCUDAProviderOptionsV2 OrtCUDAProviderOptionsV2;
struct OrtCANNProviderOptions;
typedef struct OrtCANNProviderOptions OrtCANNProviderOptions;
struct OrtDnnlProviderOptions;
typedef struct OrtDnnlProviderOptions OrtDnnlProviderOptions;
struct OrtOp;
typedef struct OrtOp OrtOp;
struct OrtOpAttr;
typedef struct OrtOpAttr OrtOpAttr;
struct OrtLogger;
typedef struct OrtLogger OrtLogger;
struct OrtShapeInferContext;
typedef struct OrtShapeInferContext OrtShapeInferContext;
struct OrtLoraAdapter;
typedef struct OrtLoraAdapter OrtLoraAdapter;
struct OrtValueInfo;
typedef struct OrtValueInfo OrtValueInfo;
struct OrtNode;
typedef struct OrtNode OrtNode;
struct OrtGraph;
typedef struct OrtGraph OrtGraph;
struct OrtModel;
typedef struct OrtModel OrtModel;
struct OrtModelCompilationOptions;
typedef struct OrtModelCompilationOptions OrtModelCompilationOptions;
struct OrtHardwareDevice;
typedef struct OrtHardwareDevice OrtHardwareDevice;
struct OrtEpDevice;
typedef struct OrtEpDevice OrtEpDevice;
struct OrtKeyValuePairs;
typedef struct OrtKeyValuePairs OrtKeyValuePairs;
struct OrtSyncStream;
typedef struct OrtSyncStream OrtSyncStream;
struct OrtExternalInitializerInfo;
typedef struct OrtExternalInitializerInfo OrtExternalInitializerInfo;
struct OrtExternalResourceImporter;
typedef struct OrtExternalResourceImporter OrtExternalResourceImporter;
struct OrtExternalMemoryHandle;
typedef struct OrtExternalMemoryHandle OrtExternalMemoryHandle;
struct OrtExternalSemaphoreHandle;
typedef struct OrtExternalSemaphoreHandle OrtExternalSemaphoreHandle;
struct OrtDeviceEpIncompatibilityDetails;
typedef struct OrtDeviceEpIncompatibilityDetails OrtDeviceEpIncompatibilityDetails;
struct OrtEpAssignedSubgraph;
typedef struct OrtEpAssignedSubgraph OrtEpAssignedSubgraph;
struct OrtEpAssignedNode;
typedef struct OrtEpAssignedNode OrtEpAssignedNode;
struct OrtAllocator;
typedef struct OrtAllocator OrtAllocator;
struct OrtKernelInfo;
typedef struct OrtKernelInfo OrtKernelInfo;
struct OrtKernelContext;
typedef struct OrtKernelContext OrtKernelContext;
struct OrtCustomOp;
typedef struct OrtCustomOp OrtCustomOp;
struct OrtCUDAProviderOptions;
typedef struct OrtCUDAProviderOptions OrtCUDAProviderOptions;
struct OrtROCMProviderOptions;
typedef struct OrtROCMProviderOptions OrtROCMProviderOptions;
struct OrtTensorRTProviderOptions;
typedef struct OrtTensorRTProviderOptions OrtTensorRTProviderOptions;
struct OrtMIGraphXProviderOptions;
typedef struct OrtMIGraphXProviderOptions OrtMIGraphXProviderOptions;
struct OrtOpenVINOProviderOptions;
typedef struct OrtOpenVINOProviderOptions OrtOpenVINOProviderOptions;
struct OrtApi;
typedef struct OrtApi OrtApi;
struct OrtTrainingApi;
typedef struct OrtTrainingApi OrtTrainingApi;
struct OrtModelEditorApi;
typedef struct OrtModelEditorApi OrtModelEditorApi;
struct OrtCompileApi;
typedef struct OrtCompileApi OrtCompileApi;
struct OrtInteropApi;
typedef struct OrtInteropApi OrtInteropApi;
struct OrtEpApi;
typedef struct OrtEpApi OrtEpApi;
struct OrtApiBase;
typedef struct OrtApiBase OrtApiBase;
struct OrtThreadPoolCallbacksConfig;
typedef struct OrtThreadPoolCallbacksConfig OrtThreadPoolCallbacksConfig;
struct OrtExternalMemoryDescriptor;
typedef struct OrtExternalMemoryDescriptor OrtExternalMemoryDescriptor;
struct OrtExternalSemaphoreDescriptor;
typedef struct OrtExternalSemaphoreDescriptor OrtExternalSemaphoreDescriptor;
struct OrtGraphicsInteropConfig;
typedef struct OrtGraphicsInteropConfig OrtGraphicsInteropConfig;
struct OrtExternalTensorDescriptor;
typedef struct OrtExternalTensorDescriptor OrtExternalTensorDescriptor;
struct OrtEnvCreationOptions;
typedef struct OrtEnvCreationOptions OrtEnvCreationOptions;

typedef OrtStatus* OrtStatusPtr;

typedef void (*OrtExperimentalFnPtr)(void);

struct OrtAllocator {
  /* since 1 */
  uint32_t version;
  /* since 1 */
  void* (*Alloc)(OrtAllocator* this_, size_t size);
  /* since 1 */
  void (*Free)(OrtAllocator* this_, void* p);
  /* since 1 */
  const OrtMemoryInfo* (*Info)(const OrtAllocator* this_);
  /* since 18 */
  void* (*Reserve)(OrtAllocator* this_, size_t size);
  /* since 23 */
  OrtStatusPtr (*GetStats)(_In_ const OrtAllocator* this_, _Outptr_ OrtKeyValuePairs** out);
  /* since 23 */
  void* (*AllocOnStream)(OrtAllocator* this_, size_t size, OrtSyncStream* stream);
  /* since 25 */
  OrtStatusPtr (*Shrink)(_In_ OrtAllocator* this_);
};

typedef void (*OrtLoggingFunction)(void* param, OrtLoggingLevel severity, const char* category, const char* logid, const char* code_location, const char* message);

typedef OrtStatus* (*EpSelectionDelegate)(_In_ const OrtEpDevice** ep_devices, _In_ size_t num_devices, _In_ const OrtKeyValuePairs* model_metadata, _In_opt_ const OrtKeyValuePairs* runtime_metadata, _Inout_ const OrtEpDevice** selected, _In_ size_t max_selected, _Out_ size_t* num_selected, _In_ void* state);

typedef OrtStatus* (*OrtWriteBufferFunc)(_In_ void* state, _In_ const void* buffer, _In_ size_t buffer_num_bytes);

typedef OrtStatus* (*OrtGetInitializerLocationFunc)(_In_ void* state, _In_ const char* initializer_name, _In_ const OrtValue* initializer_value, _In_opt_ const OrtExternalInitializerInfo* external_info, _Outptr_result_maybenull_ OrtExternalInitializerInfo** new_external_info);

struct OrtCUDAProviderOptions {
  int device_id;
  OrtCudnnConvAlgoSearch cudnn_conv_algo_search;
  size_t gpu_mem_limit;
  int arena_extend_strategy;
  int do_copy_in_default_stream;
  int has_user_compute_stream;
  void* user_compute_stream;
  OrtArenaCfg* default_memory_arena_cfg;
  int tunable_op_enable;
  int tunable_op_tuning_enable;
  int tunable_op_max_tuning_duration_ms;
};

struct OrtROCMProviderOptions {
  int device_id;
  int miopen_conv_exhaustive_search;
  size_t gpu_mem_limit;
  int arena_extend_strategy;
  int do_copy_in_default_stream;
  int has_user_compute_stream;
  void* user_compute_stream;
  OrtArenaCfg* default_memory_arena_cfg;
  int enable_hip_graph;
  int tunable_op_enable;
  int tunable_op_tuning_enable;
  int tunable_op_max_tuning_duration_ms;
};

struct OrtTensorRTProviderOptions {
  int device_id;
  int has_user_compute_stream;
  void* user_compute_stream;
  int trt_max_partition_iterations;
  int trt_min_subgraph_size;
  size_t trt_max_workspace_size;
  int trt_fp16_enable;
  int trt_int8_enable;
  const char* trt_int8_calibration_table_name;
  int trt_int8_use_native_calibration_table;
  int trt_dla_enable;
  int trt_dla_core;
  int trt_dump_subgraphs;
  int trt_engine_cache_enable;
  const char* trt_engine_cache_path;
  int trt_engine_decryption_enable;
  const char* trt_engine_decryption_lib_path;
  int trt_force_sequential_engine_build;
};

struct OrtMIGraphXProviderOptions {
  int device_id;
  int migraphx_fp16_enable;
  int migraphx_fp8_enable;
  int migraphx_int8_enable;
  int migraphx_use_native_calibration_table;
  const char* migraphx_int8_calibration_table_name;
  int migraphx_save_compiled_model;
  const char* migraphx_save_model_path;
  int migraphx_load_compiled_model;
  const char* migraphx_load_model_path;
  bool migraphx_exhaustive_tune;
  size_t migraphx_mem_limit;
  int migraphx_arena_extend_strategy;
};

struct OrtOpenVINOProviderOptions {
  const char* device_type;
  unsigned char enable_npu_fast_compile;
  const char* device_id;
  size_t num_of_threads;
  const char* cache_dir;
  void* context;
  unsigned char enable_opencl_throttling;
  unsigned char enable_dynamic_shapes;
};

struct OrtApiBase {
  /* since 1 */
  const OrtApi* (*GetApi)(uint32_t version);
  /* since 1 */
  const char* (*GetVersionString)(void);
};

typedef void (*OrtThreadWorkerFn)(void* ort_worker_fn_param);

struct OrtCustomHandleType {
  char __place_holder;
};

typedef const struct OrtCustomHandleType* OrtCustomThreadHandle;

typedef OrtCustomThreadHandle (*OrtCustomCreateThreadFn)(void* ort_custom_thread_creation_options, OrtThreadWorkerFn ort_thread_worker_fn, void* ort_worker_fn_param);

typedef void (*OrtCustomJoinThreadFn)(OrtCustomThreadHandle ort_custom_thread_handle);

typedef void* (*OrtThreadPoolWorkEnqueueFn)(_In_opt_ void* user_context);

typedef void (*OrtThreadPoolWorkStartFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);

typedef void (*OrtThreadPoolWorkStopFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);

typedef void (*OrtThreadPoolWorkAbandonFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);

/* since 25 */
struct OrtThreadPoolCallbacksConfig {
  /* since 25 */
  uint32_t version;
  /* since 25 */
  OrtThreadPoolWorkEnqueueFn on_enqueue;
  /* since 25 */
  OrtThreadPoolWorkStartFn on_start_work;
  /* since 25 */
  OrtThreadPoolWorkStopFn on_stop_work;
  /* since 25 */
  OrtThreadPoolWorkAbandonFn on_abandon;
  /* since 25 */
  void* user_context;
};

typedef OrtStatus* (*RegisterCustomOpsFn)(OrtSessionOptions* options, const OrtApiBase* api);

typedef void (*RunAsyncCallbackFn)(void* user_data, OrtValue** outputs, size_t num_outputs, OrtStatusPtr status);

/* since 24 */
struct OrtExternalMemoryDescriptor {
  /* since 24 */
  uint32_t version;
  /* since 24 */
  OrtExternalMemoryHandleType handle_type;
  /* since 24 */
  void* native_handle;
  /* since 24 */
  size_t size_bytes;
  /* since 24 */
  size_t offset_bytes;
};

/* since 24 */
struct OrtExternalSemaphoreDescriptor {
  /* since 24 */
  uint32_t version;
  /* since 24 */
  OrtExternalSemaphoreType type;
  /* since 24 */
  void* native_handle;
};

/* since 25 */
struct OrtGraphicsInteropConfig {
  /* since 25 */
  uint32_t version;
  /* since 25 */
  OrtGraphicsApi graphics_api;
  /* since 25 */
  void* command_queue;
  /* since 25 */
  const OrtKeyValuePairs* additional_options;
};

/* since 24 */
struct OrtExternalTensorDescriptor {
  /* since 24 */
  uint32_t version;
  /* since 24 */
  ONNXTensorElementDataType element_type;
  /* since 24 */
  const int64_t* shape;
  /* since 24 */
  size_t rank;
  /* since 24 */
  size_t offset_bytes;
};

/* since 24 */
struct OrtEnvCreationOptions {
  /* since 24 */
  uint32_t version;
  /* since 24 */
  int32_t logging_severity_level;
  /* since 24 */
  const char* log_id;
  /* since 24 */
  OrtLoggingFunction custom_logging_function;
  /* since 24 */
  void* custom_logging_param;
  /* since 24 */
  const OrtThreadingOptions* threading_options;
  /* since 24 */
  const OrtKeyValuePairs* config_entries;
};

struct OrtApi {
  /* since 1 */
  OrtStatus* (*CreateStatus)(OrtErrorCode code, _In_ const char* msg);
  /* since 1 */
  OrtErrorCode (*GetErrorCode)(_In_ const OrtStatus* status);
  /* since 1 */
  const char* (*GetErrorMessage)(_In_ const OrtStatus* status);
  /* since 1 */
  OrtStatusPtr (*CreateEnv)(OrtLoggingLevel log_severity_level, _In_ const char* logid, _Outptr_ OrtEnv** out);
  /* since 1 */
  OrtStatusPtr (*CreateEnvWithCustomLogger)(_In_ OrtLoggingFunction logging_function, _In_opt_ void* logger_param, _In_ OrtLoggingLevel log_severity_level, _In_ const char* logid, _Outptr_ OrtEnv** out);
  /* since 1 */
  OrtStatusPtr (*EnableTelemetryEvents)(_In_ const OrtEnv* env);
  /* since 1 */
  OrtStatusPtr (*DisableTelemetryEvents)(_In_ const OrtEnv* env);
  /* since 1 */
  OrtStatusPtr (*CreateSession)(_In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /* since 1 */
  OrtStatusPtr (*CreateSessionFromArray)(_In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /* since 1 */
  OrtStatusPtr (*Run)(_Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options, _In_reads_(input_len) const char* const* input_names, _In_reads_(input_len) const OrtValue* const* inputs, size_t input_len, _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len, _Inout_updates_all_(output_names_len) OrtValue** outputs);
  /* since 1 */
  OrtStatusPtr (*CreateSessionOptions)(_Outptr_ OrtSessionOptions** options);
  /* since 1 */
  OrtStatusPtr (*SetOptimizedModelFilePath)(_Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* optimized_model_filepath);
  /* since 1 */
  OrtStatusPtr (*CloneSessionOptions)(_In_ const OrtSessionOptions* in_options, _Outptr_ OrtSessionOptions** out_options);
  /* since 1 */
  OrtStatusPtr (*SetSessionExecutionMode)(_Inout_ OrtSessionOptions* options, ExecutionMode execution_mode);
  /* since 1 */
  OrtStatusPtr (*EnableProfiling)(_Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* profile_file_prefix);
  /* since 1 */
  OrtStatusPtr (*DisableProfiling)(_Inout_ OrtSessionOptions* options);
  /* since 1 */
  OrtStatusPtr (*EnableMemPattern)(_Inout_ OrtSessionOptions* options);
  /* since 1 */
  OrtStatusPtr (*DisableMemPattern)(_Inout_ OrtSessionOptions* options);
  /* since 1 */
  OrtStatusPtr (*EnableCpuMemArena)(_Inout_ OrtSessionOptions* options);
  /* since 1 */
  OrtStatusPtr (*DisableCpuMemArena)(_Inout_ OrtSessionOptions* options);
  /* since 1 */
  OrtStatusPtr (*SetSessionLogId)(_Inout_ OrtSessionOptions* options, const char* logid);
  /* since 1 */
  OrtStatusPtr (*SetSessionLogVerbosityLevel)(_Inout_ OrtSessionOptions* options, int session_log_verbosity_level);
  /* since 1 */
  OrtStatusPtr (*SetSessionLogSeverityLevel)(_Inout_ OrtSessionOptions* options, int session_log_severity_level);
  /* since 1 */
  OrtStatusPtr (*SetSessionGraphOptimizationLevel)(_Inout_ OrtSessionOptions* options, GraphOptimizationLevel graph_optimization_level);
  /* since 1 */
  OrtStatusPtr (*SetIntraOpNumThreads)(_Inout_ OrtSessionOptions* options, int intra_op_num_threads);
  /* since 1 */
  OrtStatusPtr (*SetInterOpNumThreads)(_Inout_ OrtSessionOptions* options, int inter_op_num_threads);
  /* since 1 */
  OrtStatusPtr (*CreateCustomOpDomain)(_In_ const char* domain, _Outptr_ OrtCustomOpDomain** out);
  /* since 1 */
  OrtStatusPtr (*CustomOpDomain_Add)(_Inout_ OrtCustomOpDomain* custom_op_domain, _In_ const OrtCustomOp* op);
  /* since 1 */
  OrtStatusPtr (*AddCustomOpDomain)(_Inout_ OrtSessionOptions* options, _In_ OrtCustomOpDomain* custom_op_domain);
  /* since 1 */
  OrtStatusPtr (*RegisterCustomOpsLibrary)(_Inout_ OrtSessionOptions* options, _In_ const char* library_path, _Outptr_ void** library_handle);
  /* since 1 */
  OrtStatusPtr (*SessionGetInputCount)(_In_ const OrtSession* session, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*SessionGetOutputCount)(_In_ const OrtSession* session, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*SessionGetOverridableInitializerCount)(_In_ const OrtSession* session, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*SessionGetInputTypeInfo)(_In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info);
  /* since 1 */
  OrtStatusPtr (*SessionGetOutputTypeInfo)(_In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info);
  /* since 1 */
  OrtStatusPtr (*SessionGetOverridableInitializerTypeInfo)(_In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info);
  /* since 1 */
  OrtStatusPtr (*SessionGetInputName)(_In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 1 */
  OrtStatusPtr (*SessionGetOutputName)(_In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 1 */
  OrtStatusPtr (*SessionGetOverridableInitializerName)(_In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 1 */
  OrtStatusPtr (*CreateRunOptions)(_Outptr_ OrtRunOptions** out);
  /* since 1 */
  OrtStatusPtr (*RunOptionsSetRunLogVerbosityLevel)(_Inout_ OrtRunOptions* options, int log_verbosity_level);
  /* since 1 */
  OrtStatusPtr (*RunOptionsSetRunLogSeverityLevel)(_Inout_ OrtRunOptions* options, int log_severity_level);
  /* since 1 */
  OrtStatusPtr (*RunOptionsSetRunTag)(_Inout_ OrtRunOptions* options, _In_ const char* run_tag);
  /* since 1 */
  OrtStatusPtr (*RunOptionsGetRunLogVerbosityLevel)(_In_ const OrtRunOptions* options, _Out_ int* log_verbosity_level);
  /* since 1 */
  OrtStatusPtr (*RunOptionsGetRunLogSeverityLevel)(_In_ const OrtRunOptions* options, _Out_ int* log_severity_level);
  /* since 1 */
  OrtStatusPtr (*RunOptionsGetRunTag)(_In_ const OrtRunOptions* options, _Out_ const char** run_tag);
  /* since 1 */
  OrtStatusPtr (*RunOptionsSetTerminate)(_Inout_ OrtRunOptions* options);
  /* since 1 */
  OrtStatusPtr (*RunOptionsUnsetTerminate)(_Inout_ OrtRunOptions* options);
  /* since 1 */
  OrtStatusPtr (*CreateTensorAsOrtValue)(_Inout_ OrtAllocator* allocator, _In_ const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /* since 1 */
  OrtStatusPtr (*CreateTensorWithDataAsOrtValue)(_In_ const OrtMemoryInfo* info, _Inout_ void* p_data, size_t p_data_len, _In_ const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /* since 1 */
  OrtStatusPtr (*IsTensor)(_In_ const OrtValue* value, _Out_ int* out);
  /* since 1 */
  OrtStatusPtr (*GetTensorMutableData)(_In_ OrtValue* value, _Outptr_ void** out);
  /* since 1 */
  OrtStatusPtr (*FillStringTensor)(_Inout_ OrtValue* value, _In_ const char* const* s, size_t s_len);
  /* since 1 */
  OrtStatusPtr (*GetStringTensorDataLength)(_In_ const OrtValue* value, _Out_ size_t* len);
  /* since 1 */
  OrtStatusPtr (*GetStringTensorContent)(_In_ const OrtValue* value, _Out_writes_bytes_all_(s_len) void* s, size_t s_len, _Out_writes_all_(offsets_len) size_t* offsets, size_t offsets_len);
  /* since 1 */
  OrtStatusPtr (*CastTypeInfoToTensorInfo)(_In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtTensorTypeAndShapeInfo** out);
  /* since 1 */
  OrtStatusPtr (*GetOnnxTypeFromTypeInfo)(_In_ const OrtTypeInfo* type_info, _Out_ ONNXType* out);
  /* since 1 */
  OrtStatusPtr (*CreateTensorTypeAndShapeInfo)(_Outptr_ OrtTensorTypeAndShapeInfo** out);
  /* since 1 */
  OrtStatusPtr (*SetTensorElementType)(_Inout_ OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType type);
  /* since 1 */
  OrtStatusPtr (*SetDimensions)(OrtTensorTypeAndShapeInfo* info, _In_ const int64_t* dim_values, size_t dim_count);
  /* since 1 */
  OrtStatusPtr (*GetTensorElementType)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ ONNXTensorElementDataType* out);
  /* since 1 */
  OrtStatusPtr (*GetDimensionsCount)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*GetDimensions)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ int64_t* dim_values, size_t dim_values_length);
  /* since 1 */
  OrtStatusPtr (*GetSymbolicDimensions)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_writes_all_(dim_params_length) const char* dim_params[], size_t dim_params_length);
  /* since 1 */
  OrtStatusPtr (*GetTensorShapeElementCount)(_In_ const OrtTensorTypeAndShapeInfo* info, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*GetTensorTypeAndShape)(_In_ const OrtValue* value, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /* since 1 */
  OrtStatusPtr (*GetTypeInfo)(_In_ const OrtValue* value, _Outptr_result_maybenull_ OrtTypeInfo** out);
  /* since 1 */
  OrtStatusPtr (*GetValueType)(_In_ const OrtValue* value, _Out_ ONNXType* out);
  /* since 1 */
  OrtStatusPtr (*CreateMemoryInfo)(_In_ const char* name, OrtAllocatorType type, int id, OrtMemType mem_type, _Outptr_ OrtMemoryInfo** out);
  /* since 1 */
  OrtStatusPtr (*CreateCpuMemoryInfo)(OrtAllocatorType type, OrtMemType mem_type, _Outptr_ OrtMemoryInfo** out);
  /* since 1 */
  OrtStatusPtr (*CompareMemoryInfo)(_In_ const OrtMemoryInfo* info1, _In_ const OrtMemoryInfo* info2, _Out_ int* out);
  /* since 1 */
  OrtStatusPtr (*MemoryInfoGetName)(_In_ const OrtMemoryInfo* ptr, _Out_ const char** out);
  /* since 1 */
  OrtStatusPtr (*MemoryInfoGetId)(_In_ const OrtMemoryInfo* ptr, _Out_ int* out);
  /* since 1 */
  OrtStatusPtr (*MemoryInfoGetMemType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtMemType* out);
  /* since 1 */
  OrtStatusPtr (*MemoryInfoGetType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtAllocatorType* out);
  /* since 1 */
  OrtStatusPtr (*AllocatorAlloc)(_Inout_ OrtAllocator* ort_allocator, size_t size, _Outptr_ void** out);
  /* since 1 */
  OrtStatusPtr (*AllocatorFree)(_Inout_ OrtAllocator* ort_allocator, void* p);
  /* since 1 */
  OrtStatusPtr (*AllocatorGetInfo)(_In_ const OrtAllocator* ort_allocator, _Outptr_ const OrtMemoryInfo** out);
  /* since 1 */
  OrtStatusPtr (*GetAllocatorWithDefaultOptions)(_Outptr_ OrtAllocator** out);
  /* since 1 */
  OrtStatusPtr (*AddFreeDimensionOverride)(_Inout_ OrtSessionOptions* options, _In_ const char* dim_denotation, _In_ int64_t dim_value);
  /* since 1 */
  OrtStatusPtr (*GetValue)(_In_ const OrtValue* value, int index, _Inout_ OrtAllocator* allocator, _Outptr_ OrtValue** out);
  /* since 1 */
  OrtStatusPtr (*GetValueCount)(_In_ const OrtValue* value, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*CreateValue)(_In_reads_(num_values) const OrtValue* const* in, size_t num_values, ONNXType value_type, _Outptr_ OrtValue** out);
  /* since 1 */
  OrtStatusPtr (*CreateOpaqueValue)(_In_z_ const char* domain_name, _In_z_ const char* type_name, _In_ const void* data_container, size_t data_container_size, _Outptr_ OrtValue** out);
  /* since 1 */
  OrtStatusPtr (*GetOpaqueValue)(_In_ const char* domain_name, _In_ const char* type_name, _In_ const OrtValue* in, _Out_ void* data_container, size_t data_container_size);
  /* since 1 */
  OrtStatusPtr (*KernelInfoGetAttribute_float)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ float* out);
  /* since 1 */
  OrtStatusPtr (*KernelInfoGetAttribute_int64)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ int64_t* out);
  /* since 1 */
  OrtStatusPtr (*KernelInfoGetAttribute_string)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ char* out, _Inout_ size_t* size);
  /* since 1 */
  OrtStatusPtr (*KernelContext_GetInputCount)(_In_ const OrtKernelContext* context, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*KernelContext_GetOutputCount)(_In_ const OrtKernelContext* context, _Out_ size_t* out);
  /* since 1 */
  OrtStatusPtr (*KernelContext_GetInput)(_In_ const OrtKernelContext* context, _In_ size_t index, _Out_ const OrtValue** out);
  /* since 1 */
  OrtStatusPtr (*KernelContext_GetOutput)(_Inout_ OrtKernelContext* context, _In_ size_t index, _In_ const int64_t* dim_values, size_t dim_count, _Outptr_ OrtValue** out);
  /* since 1 */
  void (*ReleaseEnv)(_Frees_ptr_opt_ OrtEnv* input);
  /* since 1 */
  void (*ReleaseStatus)(_Frees_ptr_opt_ OrtStatus* input);
  /* since 1 */
  void (*ReleaseMemoryInfo)(_Frees_ptr_opt_ OrtMemoryInfo* input);
  /* since 1 */
  void (*ReleaseSession)(_Frees_ptr_opt_ OrtSession* input);
  /* since 1 */
  void (*ReleaseValue)(_Frees_ptr_opt_ OrtValue* input);
  /* since 1 */
  void (*ReleaseRunOptions)(_Frees_ptr_opt_ OrtRunOptions* input);
  /* since 1 */
  void (*ReleaseTypeInfo)(_Frees_ptr_opt_ OrtTypeInfo* input);
  /* since 1 */
  void (*ReleaseTensorTypeAndShapeInfo)(_Frees_ptr_opt_ OrtTensorTypeAndShapeInfo* input);
  /* since 1 */
  void (*ReleaseSessionOptions)(_Frees_ptr_opt_ OrtSessionOptions* input);
  /* since 1 */
  void (*ReleaseCustomOpDomain)(_Frees_ptr_opt_ OrtCustomOpDomain* input);
  /* since 2 */
  OrtStatusPtr (*GetDenotationFromTypeInfo)(_In_ const OrtTypeInfo* type_info, _Out_ const char** const denotation, _Out_ size_t* len);
  /* since 2 */
  OrtStatusPtr (*CastTypeInfoToMapTypeInfo)(_In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtMapTypeInfo** out);
  /* since 2 */
  OrtStatusPtr (*CastTypeInfoToSequenceTypeInfo)(_In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtSequenceTypeInfo** out);
  /* since 2 */
  OrtStatusPtr (*GetMapKeyType)(_In_ const OrtMapTypeInfo* map_type_info, _Out_ ONNXTensorElementDataType* out);
  /* since 2 */
  OrtStatusPtr (*GetMapValueType)(_In_ const OrtMapTypeInfo* map_type_info, _Outptr_ OrtTypeInfo** type_info);
  /* since 2 */
  OrtStatusPtr (*GetSequenceElementType)(_In_ const OrtSequenceTypeInfo* sequence_type_info, _Outptr_ OrtTypeInfo** type_info);
  /* since 2 */
  void (*ReleaseMapTypeInfo)(_Frees_ptr_opt_ OrtMapTypeInfo* input);
  /* since 2 */
  void (*ReleaseSequenceTypeInfo)(_Frees_ptr_opt_ OrtSequenceTypeInfo* input);
  /* since 2 */
  OrtStatusPtr (*SessionEndProfiling)(_In_ OrtSession* session, _Inout_ OrtAllocator* allocator, _Outptr_ char** out);
  /* since 2 */
  OrtStatusPtr (*SessionGetModelMetadata)(_In_ const OrtSession* session, _Outptr_ OrtModelMetadata** out);
  /* since 2 */
  OrtStatusPtr (*ModelMetadataGetProducerName)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 2 */
  OrtStatusPtr (*ModelMetadataGetGraphName)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 2 */
  OrtStatusPtr (*ModelMetadataGetDomain)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 2 */
  OrtStatusPtr (*ModelMetadataGetDescription)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 2 */
  OrtStatusPtr (*ModelMetadataLookupCustomMetadataMap)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _In_ const char* key, _Outptr_result_maybenull_ char** value);
  /* since 2 */
  OrtStatusPtr (*ModelMetadataGetVersion)(_In_ const OrtModelMetadata* model_metadata, _Out_ int64_t* value);
  /* since 2 */
  void (*ReleaseModelMetadata)(_Frees_ptr_opt_ OrtModelMetadata* input);
  /* since 3 */
  OrtStatusPtr (*CreateEnvWithGlobalThreadPools)(OrtLoggingLevel log_severity_level, _In_ const char* logid, _In_ const OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out);
  /* since 3 */
  OrtStatusPtr (*DisablePerSessionThreads)(_Inout_ OrtSessionOptions* options);
  /* since 3 */
  OrtStatusPtr (*CreateThreadingOptions)(_Outptr_ OrtThreadingOptions** out);
  /* since 3 */
  void (*ReleaseThreadingOptions)(_Frees_ptr_opt_ OrtThreadingOptions* input);
  /* since 3 */
  OrtStatusPtr (*ModelMetadataGetCustomMetadataMapKeys)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_result_buffer_maybenull_(*num_keys) char*** keys, _Out_ int64_t* num_keys);
  /* since 3 */
  OrtStatusPtr (*AddFreeDimensionOverrideByName)(_Inout_ OrtSessionOptions* options, _In_ const char* dim_name, _In_ int64_t dim_value);
  /* since 4 */
  OrtStatusPtr (*GetAvailableProviders)(_Outptr_ char*** out_ptr, _Out_ int* provider_length);
  /* since 4 */
  OrtStatusPtr (*ReleaseAvailableProviders)(_In_ char** ptr, _In_ int providers_length);
  /* since 5 */
  OrtStatusPtr (*GetStringTensorElementLength)(_In_ const OrtValue* value, size_t index, _Out_ size_t* out);
  /* since 5 */
  OrtStatusPtr (*GetStringTensorElement)(_In_ const OrtValue* value, size_t s_len, size_t index, _Out_writes_bytes_all_(s_len) void* s);
  /* since 5 */
  OrtStatusPtr (*FillStringTensorElement)(_Inout_ OrtValue* value, _In_ const char* s, size_t index);
  /* since 5 */
  OrtStatusPtr (*AddSessionConfigEntry)(_Inout_ OrtSessionOptions* options, _In_z_ const char* config_key, _In_z_ const char* config_value);
  /* since 5 */
  OrtStatusPtr (*CreateAllocator)(_In_ const OrtSession* session, _In_ const OrtMemoryInfo* mem_info, _Outptr_ OrtAllocator** out);
  /* since 5 */
  void (*ReleaseAllocator)(_Frees_ptr_opt_ OrtAllocator* input);
  /* since 5 */
  OrtStatusPtr (*RunWithBinding)(_Inout_ OrtSession* session, _In_ const OrtRunOptions* run_options, _In_ const OrtIoBinding* binding_ptr);
  /* since 5 */
  OrtStatusPtr (*CreateIoBinding)(_Inout_ OrtSession* session, _Outptr_ OrtIoBinding** out);
  /* since 5 */
  void (*ReleaseIoBinding)(_Frees_ptr_opt_ OrtIoBinding* input);
  /* since 5 */
  OrtStatusPtr (*BindInput)(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtValue* val_ptr);
  /* since 5 */
  OrtStatusPtr (*BindOutput)(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtValue* val_ptr);
  /* since 5 */
  OrtStatusPtr (*BindOutputToDevice)(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtMemoryInfo* mem_info_ptr);
  /* since 5 */
  OrtStatusPtr (*GetBoundOutputNames)(_In_ const OrtIoBinding* binding_ptr, _In_ OrtAllocator* allocator, _Out_ char** buffer, _Out_writes_all_(count) size_t** lengths, _Out_ size_t* count);
  /* since 5 */
  OrtStatusPtr (*GetBoundOutputValues)(_In_ const OrtIoBinding* binding_ptr, _In_ OrtAllocator* allocator, _Out_writes_all_(output_count) OrtValue*** output, _Out_ size_t* output_count);
  /* since 5 */
  void (*ClearBoundInputs)(_Inout_ OrtIoBinding* binding_ptr);
  /* since 5 */
  void (*ClearBoundOutputs)(_Inout_ OrtIoBinding* binding_ptr);
  /* since 5 */
  OrtStatusPtr (*TensorAt)(_Inout_ OrtValue* value, const int64_t* location_values, size_t location_values_count, _Outptr_ void** out);
  /* since 5 */
  OrtStatusPtr (*CreateAndRegisterAllocator)(_Inout_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info, _In_ const OrtArenaCfg* arena_cfg);
  /* since 5 */
  OrtStatusPtr (*SetLanguageProjection)(_In_ const OrtEnv* ort_env, _In_ OrtLanguageProjection projection);
  /* since 5 */
  OrtStatusPtr (*SessionGetProfilingStartTimeNs)(_In_ const OrtSession* session, _Outptr_ uint64_t* out);
  /* since 5 */
  OrtStatusPtr (*SetGlobalIntraOpNumThreads)(_Inout_ OrtThreadingOptions* tp_options, int intra_op_num_threads);
  /* since 5 */
  OrtStatusPtr (*SetGlobalInterOpNumThreads)(_Inout_ OrtThreadingOptions* tp_options, int inter_op_num_threads);
  /* since 5 */
  OrtStatusPtr (*SetGlobalSpinControl)(_Inout_ OrtThreadingOptions* tp_options, int allow_spinning);
  /* since 6 */
  OrtStatusPtr (*AddInitializer)(_Inout_ OrtSessionOptions* options, _In_z_ const char* name, _In_ const OrtValue* val);
  /* since 6 */
  OrtStatusPtr (*CreateEnvWithCustomLoggerAndGlobalThreadPools)(OrtLoggingFunction logging_function, _In_opt_ void* logger_param, OrtLoggingLevel log_severity_level, _In_ const char* logid, _In_ const OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out);
  /* since 6 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_CUDA)(_In_ OrtSessionOptions* options, _In_ const OrtCUDAProviderOptions* cuda_options);
  /* since 6 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_ROCM)(_In_ OrtSessionOptions* options, _In_ const OrtROCMProviderOptions* rocm_options);
  /* since 6 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_OpenVINO)(_In_ OrtSessionOptions* options, _In_ const OrtOpenVINOProviderOptions* provider_options);
  /* since 6 */
  OrtStatusPtr (*SetGlobalDenormalAsZero)(_Inout_ OrtThreadingOptions* tp_options);
  /* since 6 */
  OrtStatusPtr (*CreateArenaCfg)(_In_ size_t max_mem, int arena_extend_strategy, int initial_chunk_size_bytes, int max_dead_bytes_per_chunk, _Outptr_ OrtArenaCfg** out);
  /* since 6 */
  void (*ReleaseArenaCfg)(_Frees_ptr_opt_ OrtArenaCfg* input);
  /* since 7 */
  OrtStatusPtr (*ModelMetadataGetGraphDescription)(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /* since 7 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_TensorRT)(_In_ OrtSessionOptions* options, _In_ const OrtTensorRTProviderOptions* tensorrt_options);
  /* since 7 */
  OrtStatusPtr (*SetCurrentGpuDeviceId)(_In_ int device_id);
  /* since 7 */
  OrtStatusPtr (*GetCurrentGpuDeviceId)(_In_ int* device_id);
  /* since 8 */
  OrtStatusPtr (*KernelInfoGetAttributeArray_float)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ float* out, _Inout_ size_t* size);
  /* since 8 */
  OrtStatusPtr (*KernelInfoGetAttributeArray_int64)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ int64_t* out, _Inout_ size_t* size);
  /* since 8 */
  OrtStatusPtr (*CreateArenaCfgV2)(_In_reads_(num_keys) const char* const* arena_config_keys, _In_reads_(num_keys) const size_t* arena_config_values, _In_ size_t num_keys, _Outptr_ OrtArenaCfg** out);
  /* since 8 */
  OrtStatusPtr (*AddRunConfigEntry)(_Inout_ OrtRunOptions* options, _In_z_ const char* config_key, _In_z_ const char* config_value);
  /* since 8 */
  OrtStatusPtr (*CreatePrepackedWeightsContainer)(_Outptr_ OrtPrepackedWeightsContainer** out);
  /* since 8 */
  void (*ReleasePrepackedWeightsContainer)(_Frees_ptr_opt_ OrtPrepackedWeightsContainer* input);
  /* since 8 */
  OrtStatusPtr (*CreateSessionWithPrepackedWeightsContainer)(_In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options, _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out);
  /* since 8 */
  OrtStatusPtr (*CreateSessionFromArrayWithPrepackedWeightsContainer)(_In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options, _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out);
  /* since 9 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_TensorRT_V2)(_In_ OrtSessionOptions* options, _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options);
  /* since 9 */
  OrtStatusPtr (*CreateTensorRTProviderOptions)(_Outptr_ OrtTensorRTProviderOptionsV2** out);
  /* since 9 */
  OrtStatusPtr (*UpdateTensorRTProviderOptions)(_Inout_ OrtTensorRTProviderOptionsV2* tensorrt_options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 9 */
  OrtStatusPtr (*GetTensorRTProviderOptionsAsString)(_In_ const OrtTensorRTProviderOptionsV2* tensorrt_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  /* since 9 */
  void (*ReleaseTensorRTProviderOptions)(_Frees_ptr_opt_ OrtTensorRTProviderOptionsV2* input);
  /* since 9 */
  OrtStatusPtr (*EnableOrtCustomOps)(_Inout_ OrtSessionOptions* options);
  /* since 9 */
  OrtStatusPtr (*RegisterAllocator)(_Inout_ OrtEnv* env, _In_ OrtAllocator* allocator);
  /* since 9 */
  OrtStatusPtr (*UnregisterAllocator)(_Inout_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info);
  /* since 9 */
  OrtStatusPtr (*IsSparseTensor)(_In_ const OrtValue* value, _Out_ int* out);
  /* since 9 */
  OrtStatusPtr (*CreateSparseTensorAsOrtValue)(_Inout_ OrtAllocator* allocator, _In_ const int64_t* dense_shape, size_t dense_shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /* since 9 */
  OrtStatusPtr (*FillSparseTensorCoo)(_Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape, size_t values_shape_len, _In_ const void* values, _In_ const int64_t* indices_data, size_t indices_num);
  /* since 9 */
  OrtStatusPtr (*FillSparseTensorCsr)(_Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape, size_t values_shape_len, _In_ const void* values, _In_ const int64_t* inner_indices_data, size_t inner_indices_num, _In_ const int64_t* outer_indices_data, size_t outer_indices_num);
  /* since 9 */
  OrtStatusPtr (*FillSparseTensorBlockSparse)(_Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape, size_t values_shape_len, _In_ const void* values, _In_ const int64_t* indices_shape_data, size_t indices_shape_len, _In_ const int32_t* indices_data);
  /* since 9 */
  OrtStatusPtr (*CreateSparseTensorWithValuesAsOrtValue)(_In_ const OrtMemoryInfo* info, _Inout_ void* p_data, _In_ const int64_t* dense_shape, size_t dense_shape_len, _In_ const int64_t* values_shape, size_t values_shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /* since 9 */
  OrtStatusPtr (*UseCooIndices)(_Inout_ OrtValue* ort_value, _Inout_ int64_t* indices_data, size_t indices_num);
  /* since 9 */
  OrtStatusPtr (*UseCsrIndices)(_Inout_ OrtValue* ort_value, _Inout_ int64_t* inner_data, size_t inner_num, _Inout_ int64_t* outer_data, size_t outer_num);
  /* since 9 */
  OrtStatusPtr (*UseBlockSparseIndices)(_Inout_ OrtValue* ort_value, const int64_t* indices_shape, size_t indices_shape_len, _Inout_ int32_t* indices_data);
  /* since 9 */
  OrtStatusPtr (*GetSparseTensorFormat)(_In_ const OrtValue* ort_value, _Out_ OrtSparseFormat* out);
  /* since 9 */
  OrtStatusPtr (*GetSparseTensorValuesTypeAndShape)(_In_ const OrtValue* ort_value, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /* since 9 */
  OrtStatusPtr (*GetSparseTensorValues)(_In_ const OrtValue* ort_value, _Outptr_ const void** out);
  /* since 9 */
  OrtStatusPtr (*GetSparseTensorIndicesTypeShape)(_In_ const OrtValue* ort_value, enum OrtSparseIndicesFormat indices_format, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /* since 9 */
  OrtStatusPtr (*GetSparseTensorIndices)(_In_ const OrtValue* ort_value, enum OrtSparseIndicesFormat indices_format, _Out_ size_t* num_indices, _Outptr_ const void** indices);
  /* since 10 */
  OrtStatusPtr (*HasValue)(_In_ const OrtValue* value, _Out_ int* out);
  /* since 10 */
  OrtStatusPtr (*KernelContext_GetGPUComputeStream)(_In_ const OrtKernelContext* context, _Outptr_ void** out);
  /* since 10 */
  OrtStatusPtr (*GetTensorMemoryInfo)(_In_ const OrtValue* value, _Out_ const OrtMemoryInfo** mem_info);
  /* since 10 */
  OrtStatusPtr (*GetExecutionProviderApi)(_In_ const char* provider_name, _In_ uint32_t version, _Outptr_ const void** provider_api);
  /* since 10 */
  OrtStatusPtr (*SessionOptionsSetCustomCreateThreadFn)(_Inout_ OrtSessionOptions* options, _In_ OrtCustomCreateThreadFn ort_custom_create_thread_fn);
  /* since 10 */
  OrtStatusPtr (*SessionOptionsSetCustomThreadCreationOptions)(_Inout_ OrtSessionOptions* options, _In_ void* ort_custom_thread_creation_options);
  /* since 10 */
  OrtStatusPtr (*SessionOptionsSetCustomJoinThreadFn)(_Inout_ OrtSessionOptions* options, _In_ OrtCustomJoinThreadFn ort_custom_join_thread_fn);
  /* since 10 */
  OrtStatusPtr (*SetGlobalCustomCreateThreadFn)(_Inout_ OrtThreadingOptions* tp_options, _In_ OrtCustomCreateThreadFn ort_custom_create_thread_fn);
  /* since 10 */
  OrtStatusPtr (*SetGlobalCustomThreadCreationOptions)(_Inout_ OrtThreadingOptions* tp_options, _In_ void* ort_custom_thread_creation_options);
  /* since 10 */
  OrtStatusPtr (*SetGlobalCustomJoinThreadFn)(_Inout_ OrtThreadingOptions* tp_options, _In_ OrtCustomJoinThreadFn ort_custom_join_thread_fn);
  /* since 10 */
  OrtStatusPtr (*SynchronizeBoundInputs)(_Inout_ OrtIoBinding* binding_ptr);
  /* since 10 */
  OrtStatusPtr (*SynchronizeBoundOutputs)(_Inout_ OrtIoBinding* binding_ptr);
  /* since 11 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_CUDA_V2)(_In_ OrtSessionOptions* options, _In_ const OrtCUDAProviderOptionsV2* cuda_options);
  /* since 11 */
  OrtStatusPtr (*CreateCUDAProviderOptions)(_Outptr_ OrtCUDAProviderOptionsV2** out);
  /* since 11 */
  OrtStatusPtr (*UpdateCUDAProviderOptions)(_Inout_ OrtCUDAProviderOptionsV2* cuda_options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 11 */
  OrtStatusPtr (*GetCUDAProviderOptionsAsString)(_In_ const OrtCUDAProviderOptionsV2* cuda_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  /* since 11 */
  void (*ReleaseCUDAProviderOptions)(_Frees_ptr_opt_ OrtCUDAProviderOptionsV2* input);
  /* since 11 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_MIGraphX)(_In_ OrtSessionOptions* options, _In_ const OrtMIGraphXProviderOptions* migraphx_options);
  /* since 12 */
  OrtStatusPtr (*AddExternalInitializers)(_In_ OrtSessionOptions* options, _In_reads_(num_initializers) const char* const* initializer_names, _In_reads_(num_initializers) const OrtValue* const* initializers, size_t num_initializers);
  /* since 12 */
  OrtStatusPtr (*CreateOpAttr)(_In_ const char* name, _In_ const void* data, _In_ int len, _In_ OrtOpAttrType type, _Outptr_ OrtOpAttr** op_attr);
  /* since 12 */
  void (*ReleaseOpAttr)(_Frees_ptr_opt_ OrtOpAttr* input);
  /* since 12 */
  OrtStatusPtr (*CreateOp)(_In_ const OrtKernelInfo* info, _In_z_ const char* op_name, _In_z_ const char* domain, int version, _In_reads_(type_constraint_count) const char** type_constraint_names, _In_reads_(type_constraint_count) const ONNXTensorElementDataType* type_constraint_values, int type_constraint_count, _In_reads_(attr_count) const OrtOpAttr* const* attr_values, int attr_count, int input_count, int output_count, _Outptr_ OrtOp** ort_op);
  /* since 12 */
  OrtStatusPtr (*InvokeOp)(_In_ const OrtKernelContext* context, _In_ const OrtOp* ort_op, _In_ const OrtValue* const* input_values, _In_ int input_count, _Inout_ OrtValue* const* output_values, _In_ int output_count);
  /* since 12 */
  void (*ReleaseOp)(_Frees_ptr_opt_ OrtOp* input);
  /* since 12 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider)(_In_ OrtSessionOptions* options, _In_ const char* provider_name, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 12 */
  OrtStatusPtr (*CopyKernelInfo)(_In_ const OrtKernelInfo* info, _Outptr_ OrtKernelInfo** info_copy);
  /* since 12 */
  void (*ReleaseKernelInfo)(_Frees_ptr_opt_ OrtKernelInfo* input);
  /* since 13 */
  const OrtTrainingApi* (*GetTrainingApi)(uint32_t version);
  /* since 13 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_CANN)(_In_ OrtSessionOptions* options, _In_ const OrtCANNProviderOptions* cann_options);
  /* since 13 */
  OrtStatusPtr (*CreateCANNProviderOptions)(_Outptr_ OrtCANNProviderOptions** out);
  /* since 13 */
  OrtStatusPtr (*UpdateCANNProviderOptions)(_Inout_ OrtCANNProviderOptions* cann_options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 13 */
  OrtStatusPtr (*GetCANNProviderOptionsAsString)(_In_ const OrtCANNProviderOptions* cann_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  /* since 13 */
  void (*ReleaseCANNProviderOptions)(_Frees_ptr_opt_ OrtCANNProviderOptions* input);
  /* since 14 */
  void (*MemoryInfoGetDeviceType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtMemoryInfoDeviceType* out);
  /* since 14 */
  OrtStatusPtr (*UpdateEnvWithCustomLogLevel)(_In_ OrtEnv* ort_env, OrtLoggingLevel log_severity_level);
  /* since 14 */
  OrtStatusPtr (*SetGlobalIntraOpThreadAffinity)(_Inout_ OrtThreadingOptions* tp_options, const char* affinity_string);
  /* since 14 */
  OrtStatusPtr (*RegisterCustomOpsLibrary_V2)(_Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* library_name);
  /* since 14 */
  OrtStatusPtr (*RegisterCustomOpsUsingFunction)(_Inout_ OrtSessionOptions* options, _In_ const char* registration_func_name);
  /* since 14 */
  OrtStatusPtr (*KernelInfo_GetInputCount)(_In_ const OrtKernelInfo* info, _Out_ size_t* out);
  /* since 14 */
  OrtStatusPtr (*KernelInfo_GetOutputCount)(_In_ const OrtKernelInfo* info, _Out_ size_t* out);
  /* since 14 */
  OrtStatusPtr (*KernelInfo_GetInputName)(_In_ const OrtKernelInfo* info, size_t index, _Out_opt_ char* out, _Inout_ size_t* size);
  /* since 14 */
  OrtStatusPtr (*KernelInfo_GetOutputName)(_In_ const OrtKernelInfo* info, size_t index, _Out_opt_ char* out, _Inout_ size_t* size);
  /* since 14 */
  OrtStatusPtr (*KernelInfo_GetInputTypeInfo)(_In_ const OrtKernelInfo* info, size_t index, _Outptr_ OrtTypeInfo** type_info);
  /* since 14 */
  OrtStatusPtr (*KernelInfo_GetOutputTypeInfo)(_In_ const OrtKernelInfo* info, size_t index, _Outptr_ OrtTypeInfo** type_info);
  /* since 14 */
  OrtStatusPtr (*KernelInfoGetAttribute_tensor)(_In_ const OrtKernelInfo* info, _In_z_ const char* name, _Inout_ OrtAllocator* allocator, _Outptr_ OrtValue** out);
  /* since 14 */
  OrtStatusPtr (*HasSessionConfigEntry)(_In_ const OrtSessionOptions* options, _In_z_ const char* config_key, _Out_ int* out);
  /* since 14 */
  OrtStatusPtr (*GetSessionConfigEntry)(_In_ const OrtSessionOptions* options, _In_z_ const char* config_key, _Out_ char* config_value, _Inout_ size_t* size);
  /* since 15 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_Dnnl)(_In_ OrtSessionOptions* options, _In_ const OrtDnnlProviderOptions* dnnl_options);
  /* since 15 */
  OrtStatusPtr (*CreateDnnlProviderOptions)(_Outptr_ OrtDnnlProviderOptions** out);
  /* since 15 */
  OrtStatusPtr (*UpdateDnnlProviderOptions)(_Inout_ OrtDnnlProviderOptions* dnnl_options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 15 */
  OrtStatusPtr (*GetDnnlProviderOptionsAsString)(_In_ const OrtDnnlProviderOptions* dnnl_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  /* since 15 */
  void (*ReleaseDnnlProviderOptions)(_Frees_ptr_opt_ OrtDnnlProviderOptions* input);
  /* since 15 */
  OrtStatusPtr (*KernelInfo_GetNodeName)(_In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);
  /* since 15 */
  OrtStatusPtr (*KernelInfo_GetLogger)(_In_ const OrtKernelInfo* info, _Outptr_ const OrtLogger** logger);
  /* since 15 */
  OrtStatusPtr (*KernelContext_GetLogger)(_In_ const OrtKernelContext* context, _Outptr_ const OrtLogger** logger);
  /* since 15 */
  OrtStatusPtr (*Logger_LogMessage)(_In_ const OrtLogger* logger, OrtLoggingLevel log_severity_level, _In_z_ const char* message, _In_z_ const ORTCHAR_T* file_path, int line_number, _In_z_ const char* func_name);
  /* since 15 */
  OrtStatusPtr (*Logger_GetLoggingSeverityLevel)(_In_ const OrtLogger* logger, _Out_ OrtLoggingLevel* out);
  /* since 15 */
  OrtStatusPtr (*KernelInfoGetConstantInput_tensor)(_In_ const OrtKernelInfo* info, size_t index, _Out_ int* is_constant, _Outptr_ const OrtValue** out);
  /* since 15 */
  OrtStatusPtr (*CastTypeInfoToOptionalTypeInfo)(_In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtOptionalTypeInfo** out);
  /* since 15 */
  OrtStatusPtr (*GetOptionalContainedTypeInfo)(_In_ const OrtOptionalTypeInfo* optional_type_info, _Outptr_ OrtTypeInfo** out);
  /* since 15 */
  OrtStatusPtr (*GetResizedStringTensorElementBuffer)(_Inout_ OrtValue* value, _In_ size_t index, _In_ size_t length_in_bytes, _Inout_ char** buffer);
  /* since 15 */
  OrtStatusPtr (*KernelContext_GetAllocator)(_In_ const OrtKernelContext* context, _In_ const OrtMemoryInfo* mem_info, _Outptr_ OrtAllocator** out);
  /* since 15 */
  const char* (*GetBuildInfoString)(void);
  /* since 16 */
  OrtStatusPtr (*CreateROCMProviderOptions)(_Outptr_ OrtROCMProviderOptions** out);
  /* since 16 */
  OrtStatusPtr (*UpdateROCMProviderOptions)(_Inout_ OrtROCMProviderOptions* rocm_options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 16 */
  OrtStatusPtr (*GetROCMProviderOptionsAsString)(_In_ const OrtROCMProviderOptions* rocm_options, _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  /* since 16 */
  void (*ReleaseROCMProviderOptions)(_Frees_ptr_opt_ OrtROCMProviderOptions* input);
  /* since 16 */
  OrtStatusPtr (*CreateAndRegisterAllocatorV2)(_Inout_ OrtEnv* env, _In_ const char* provider_type, _In_ const OrtMemoryInfo* mem_info, _In_ const OrtArenaCfg* arena_cfg, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 16 */
  OrtStatusPtr (*RunAsync)(_Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options, _In_reads_(input_len) const char* const* input_names, _In_reads_(input_len) const OrtValue* const* input, size_t input_len, _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len, _Inout_updates_all_(output_names_len) OrtValue** output, _In_ RunAsyncCallbackFn run_async_callback, _In_opt_ void* user_data);
  /* since 16 */
  OrtStatusPtr (*UpdateTensorRTProviderOptionsWithValue)(_Inout_ OrtTensorRTProviderOptionsV2* tensorrt_options, _In_ const char* key, _In_ void* value);
  /* since 16 */
  OrtStatusPtr (*GetTensorRTProviderOptionsByName)(_In_ const OrtTensorRTProviderOptionsV2* tensorrt_options, _In_ const char* key, _Outptr_ void** ptr);
  /* since 16 */
  OrtStatusPtr (*UpdateCUDAProviderOptionsWithValue)(_Inout_ OrtCUDAProviderOptionsV2* cuda_options, _In_ const char* key, _In_ void* value);
  /* since 16 */
  OrtStatusPtr (*GetCUDAProviderOptionsByName)(_In_ const OrtCUDAProviderOptionsV2* cuda_options, _In_ const char* key, _Outptr_ void** ptr);
  /* since 16 */
  OrtStatusPtr (*KernelContext_GetResource)(_In_ const OrtKernelContext* context, _In_ int resource_version, _In_ int resource_id, _Outptr_ void** resource);
  /* since 17 */
  OrtStatusPtr (*SetUserLoggingFunction)(_Inout_ OrtSessionOptions* options, _In_ OrtLoggingFunction user_logging_function, _In_opt_ void* user_logging_param);
  /* since 17 */
  OrtStatusPtr (*ShapeInferContext_GetInputCount)(_In_ const OrtShapeInferContext* context, _Out_ size_t* out);
  /* since 17 */
  OrtStatusPtr (*ShapeInferContext_GetInputTypeShape)(_In_ const OrtShapeInferContext* context, _In_ size_t index, _Outptr_ OrtTensorTypeAndShapeInfo** info);
  /* since 17 */
  OrtStatusPtr (*ShapeInferContext_GetAttribute)(_In_ const OrtShapeInferContext* context, _In_ const char* attr_name, _Outptr_ const OrtOpAttr** attr);
  /* since 17 */
  OrtStatusPtr (*ShapeInferContext_SetOutputTypeShape)(_In_ const OrtShapeInferContext* context, _In_ size_t index, _In_ const OrtTensorTypeAndShapeInfo* info);
  /* since 17 */
  OrtStatusPtr (*SetSymbolicDimensions)(_In_ OrtTensorTypeAndShapeInfo* info, _In_ const char* dim_params[], _In_ size_t dim_params_length);
  /* since 17 */
  OrtStatusPtr (*ReadOpAttr)(_In_ const OrtOpAttr* op_attr, _In_ OrtOpAttrType type, _Inout_ void* data, _In_ size_t len, _Out_ size_t* out);
  /* since 17 */
  OrtStatusPtr (*SetDeterministicCompute)(_Inout_ OrtSessionOptions* options, bool value);
  /* since 17 */
  OrtStatusPtr (*KernelContext_ParallelFor)(_In_ const OrtKernelContext* context, _In_ void (*fn)(void*, size_t), _In_ size_t total, _In_ size_t num_batch, _In_ void* usr_data);
  /* since 17 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_OpenVINO_V2)(_In_ OrtSessionOptions* options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 18 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_VitisAI)(_In_ OrtSessionOptions* options, _In_reads_(num_keys) const char* const* provider_options_keys, _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /* since 18 */
  OrtStatusPtr (*KernelContext_GetScratchBuffer)(_In_ const OrtKernelContext* context, _In_ const OrtMemoryInfo* mem_info, _In_ size_t count_or_bytes, _Outptr_ void** out);
  /* since 18 */
  OrtStatusPtr (*KernelInfoGetAllocator)(_In_ const OrtKernelInfo* info, _In_ OrtMemType mem_type, _Outptr_ OrtAllocator** out);
  /* since 18 */
  OrtStatusPtr (*AddExternalInitializersFromFilesInMemory)(_In_ OrtSessionOptions* options, _In_reads_(num_external_initializer_files) const ORTCHAR_T* const* external_initializer_file_names, _In_reads_(num_external_initializer_files) char* const* external_initializer_file_buffer_array, _In_reads_(num_external_initializer_files) const size_t* external_initializer_file_lengths, size_t num_external_initializer_files);
  /* since 20 */
  OrtStatusPtr (*CreateLoraAdapter)(const ORTCHAR_T* adapter_file_path, _In_ OrtAllocator* allocator, _Outptr_ OrtLoraAdapter** out);
  /* since 20 */
  OrtStatusPtr (*CreateLoraAdapterFromArray)(_In_ const void* bytes, size_t num_bytes, _In_ OrtAllocator* allocator, _Outptr_ OrtLoraAdapter** out);
  /* since 20 */
  void (*ReleaseLoraAdapter)(_Frees_ptr_opt_ OrtLoraAdapter* input);
  /* since 20 */
  OrtStatusPtr (*RunOptionsAddActiveLoraAdapter)(_Inout_ OrtRunOptions* options, _In_ const OrtLoraAdapter* adapter);
  /* since 20 */
  OrtStatusPtr (*SetEpDynamicOptions)(_Inout_ OrtSession* sess, _In_reads_(kv_len) const char* const* keys, _In_reads_(kv_len) const char* const* values, _In_ size_t kv_len);
  /* since 22 */
  void (*ReleaseValueInfo)(_Frees_ptr_opt_ OrtValueInfo* input);
  /* since 22 */
  void (*ReleaseNode)(_Frees_ptr_opt_ OrtNode* input);
  /* since 22 */
  void (*ReleaseGraph)(_Frees_ptr_opt_ OrtGraph* input);
  /* since 22 */
  void (*ReleaseModel)(_Frees_ptr_opt_ OrtModel* input);
  /* since 22 */
  OrtStatusPtr (*GetValueInfoName)(_In_ const OrtValueInfo* value_info, _Out_ const char** name);
  /* since 22 */
  OrtStatusPtr (*GetValueInfoTypeInfo)(_In_ const OrtValueInfo* value_info, _Outptr_ const OrtTypeInfo** type_info);
  /* since 22 */
  const OrtModelEditorApi* (*GetModelEditorApi)(void);
  /* since 22 */
  OrtStatusPtr (*CreateTensorWithDataAndDeleterAsOrtValue)(_In_ OrtAllocator* deleter, _In_ void* p_data, size_t p_data_len, _In_ const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /* since 22 */
  OrtStatusPtr (*SessionOptionsSetLoadCancellationFlag)(_Inout_ OrtSessionOptions* options, _In_ bool cancel);
  /* since 22 */
  const OrtCompileApi* (*GetCompileApi)(void);
  /* since 22 */
  void (*CreateKeyValuePairs)(_Outptr_ OrtKeyValuePairs** out);
  /* since 22 */
  void (*AddKeyValuePair)(_In_ OrtKeyValuePairs* kvps, _In_ const char* key, _In_ const char* value);
  /* since 22 */
  const char* (*GetKeyValue)(_In_ const OrtKeyValuePairs* kvps, _In_ const char* key);
  /* since 22 */
  void (*GetKeyValuePairs)(_In_ const OrtKeyValuePairs* kvps, _Outptr_ const char* const** keys, _Outptr_ const char* const** values, _Out_ size_t* num_entries);
  /* since 22 */
  void (*RemoveKeyValuePair)(_In_ OrtKeyValuePairs* kvps, _In_ const char* key);
  /* since 22 */
  void (*ReleaseKeyValuePairs)(_Frees_ptr_opt_ OrtKeyValuePairs* input);
  /* since 22 */
  OrtStatusPtr (*RegisterExecutionProviderLibrary)(_In_ OrtEnv* env, _In_ const char* registration_name, _In_ const ORTCHAR_T* path);
  /* since 22 */
  OrtStatusPtr (*UnregisterExecutionProviderLibrary)(_In_ OrtEnv* env, _In_ const char* registration_name);
  /* since 22 */
  OrtStatusPtr (*GetEpDevices)(_In_ const OrtEnv* env, _Outptr_ const OrtEpDevice* const** ep_devices, _Out_ size_t* num_ep_devices);
  /* since 22 */
  OrtStatusPtr (*SessionOptionsAppendExecutionProvider_V2)(_In_ OrtSessionOptions* session_options, _In_ OrtEnv* env, _In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices, _In_ size_t num_ep_devices, _In_reads_(num_op_options) const char* const* ep_option_keys, _In_reads_(num_op_options) const char* const* ep_option_vals, size_t num_ep_options);
  /* since 22 */
  OrtStatusPtr (*SessionOptionsSetEpSelectionPolicy)(_In_ OrtSessionOptions* session_options, _In_ OrtExecutionProviderDevicePolicy policy);
  /* since 22 */
  OrtStatusPtr (*SessionOptionsSetEpSelectionPolicyDelegate)(_In_ OrtSessionOptions* session_options, _In_ EpSelectionDelegate delegate, _In_opt_ void* delegate_state);
  /* since 22 */
  OrtHardwareDeviceType (*HardwareDevice_Type)(_In_ const OrtHardwareDevice* device);
  /* since 22 */
  uint32_t (*HardwareDevice_VendorId)(_In_ const OrtHardwareDevice* device);
  /* since 22 */
  const char* (*HardwareDevice_Vendor)(_In_ const OrtHardwareDevice* device);
  /* since 22 */
  uint32_t (*HardwareDevice_DeviceId)(_In_ const OrtHardwareDevice* device);
  /* since 22 */
  const OrtKeyValuePairs* (*HardwareDevice_Metadata)(_In_ const OrtHardwareDevice* device);
  /* since 22 */
  const char* (*EpDevice_EpName)(_In_ const OrtEpDevice* ep_device);
  /* since 22 */
  const char* (*EpDevice_EpVendor)(_In_ const OrtEpDevice* ep_device);
  /* since 22 */
  const OrtKeyValuePairs* (*EpDevice_EpMetadata)(_In_ const OrtEpDevice* ep_device);
  /* since 22 */
  const OrtKeyValuePairs* (*EpDevice_EpOptions)(_In_ const OrtEpDevice* ep_device);
  /* since 22 */
  const OrtHardwareDevice* (*EpDevice_Device)(_In_ const OrtEpDevice* ep_device);
  /* since 22 */
  const OrtEpApi* (*GetEpApi)(void);
  /* since 23 */
  OrtStatusPtr (*GetTensorSizeInBytes)(_In_ const OrtValue* ort_value, _Out_ size_t* size);
  /* since 23 */
  OrtStatusPtr (*AllocatorGetStats)(_In_ const OrtAllocator* ort_allocator, _Outptr_ OrtKeyValuePairs** out);
  /* since 23 */
  OrtStatusPtr (*CreateMemoryInfo_V2)(_In_ const char* name, _In_ OrtMemoryInfoDeviceType device_type, _In_ uint32_t vendor_id, _In_ int32_t device_id, _In_ OrtDeviceMemoryType mem_type, _In_ size_t alignment, OrtAllocatorType allocator_type, _Outptr_ OrtMemoryInfo** out);
  /* since 23 */
  OrtDeviceMemoryType (*MemoryInfoGetDeviceMemType)(_In_ const OrtMemoryInfo* ptr);
  /* since 23 */
  uint32_t (*MemoryInfoGetVendorId)(_In_ const OrtMemoryInfo* ptr);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_GetValueProducer)(_In_ const OrtValueInfo* value_info, _Outptr_ const OrtNode** producer_node, _Out_opt_ size_t* producer_output_index);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_GetValueNumConsumers)(_In_ const OrtValueInfo* value_info, _Out_ size_t* num_consumers);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_GetValueConsumers)(_In_ const OrtValueInfo* value_info, _Out_writes_all_(num_consumers) const OrtNode** nodes, _Out_writes_all_(num_consumers) int64_t* input_indices, _In_ size_t num_consumers);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_GetInitializerValue)(_In_ const OrtValueInfo* value_info, _Outptr_ const OrtValue** initializer_value);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_GetExternalInitializerInfo)(_In_ const OrtValueInfo* value_info, _Outptr_result_maybenull_ OrtExternalInitializerInfo** info);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_IsRequiredGraphInput)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_required_graph_input);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_IsOptionalGraphInput)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_optional_graph_input);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_IsGraphOutput)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_graph_output);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_IsConstantInitializer)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_constant_initializer);
  /* since 23 */
  OrtStatusPtr (*ValueInfo_IsFromOuterScope)(_In_ const OrtValueInfo* value_info, _Out_ bool* is_from_outer_scope);
  /* since 23 */
  OrtStatusPtr (*Graph_GetName)(_In_ const OrtGraph* graph, _Outptr_ const char** graph_name);
  /* since 23 */
  OrtStatusPtr (*Graph_GetModelPath)(_In_ const OrtGraph* graph, _Outptr_ const ORTCHAR_T** model_path);
  /* since 23 */
  OrtStatusPtr (*Graph_GetOnnxIRVersion)(_In_ const OrtGraph* graph, _Out_ int64_t* onnx_ir_version);
  /* since 23 */
  OrtStatusPtr (*Graph_GetNumOperatorSets)(_In_ const OrtGraph* graph, _Out_ size_t* num_operator_sets);
  /* since 23 */
  OrtStatusPtr (*Graph_GetOperatorSets)(_In_ const OrtGraph* graph, _Out_writes_(num_operator_sets) const char** domains, _Out_writes_(num_operator_sets) int64_t* opset_versions, _In_ size_t num_operator_sets);
  /* since 23 */
  OrtStatusPtr (*Graph_GetNumInputs)(_In_ const OrtGraph* graph, _Out_ size_t* num_inputs);
  /* since 23 */
  OrtStatusPtr (*Graph_GetInputs)(_In_ const OrtGraph* graph, _Out_writes_(num_inputs) const OrtValueInfo** inputs, _In_ size_t num_inputs);
  /* since 23 */
  OrtStatusPtr (*Graph_GetNumOutputs)(_In_ const OrtGraph* graph, _Out_ size_t* num_outputs);
  /* since 23 */
  OrtStatusPtr (*Graph_GetOutputs)(_In_ const OrtGraph* graph, _Out_writes_(num_outputs) const OrtValueInfo** outputs, _In_ size_t num_outputs);
  /* since 23 */
  OrtStatusPtr (*Graph_GetNumInitializers)(_In_ const OrtGraph* graph, _Out_ size_t* num_initializers);
  /* since 23 */
  OrtStatusPtr (*Graph_GetInitializers)(_In_ const OrtGraph* graph, _Out_writes_(num_initializers) const OrtValueInfo** initializers, _In_ size_t num_initializers);
  /* since 23 */
  OrtStatusPtr (*Graph_GetNumNodes)(_In_ const OrtGraph* graph, _Out_ size_t* num_nodes);
  /* since 23 */
  OrtStatusPtr (*Graph_GetNodes)(_In_ const OrtGraph* graph, _Out_writes_(num_nodes) const OrtNode** nodes, _In_ size_t num_nodes);
  /* since 23 */
  OrtStatusPtr (*Graph_GetParentNode)(_In_ const OrtGraph* graph, _Outptr_result_maybenull_ const OrtNode** node);
  /* since 23 */
  OrtStatusPtr (*Graph_GetGraphView)(_In_ const OrtGraph* src_graph, _In_ const OrtNode** nodes, _In_ size_t num_nodes, _Outptr_ OrtGraph** dst_graph);
  /* since 23 */
  OrtStatusPtr (*Node_GetId)(_In_ const OrtNode* node, _Out_ size_t* node_id);
  /* since 23 */
  OrtStatusPtr (*Node_GetName)(_In_ const OrtNode* node, _Outptr_ const char** node_name);
  /* since 23 */
  OrtStatusPtr (*Node_GetOperatorType)(_In_ const OrtNode* node, _Outptr_ const char** operator_type);
  /* since 23 */
  OrtStatusPtr (*Node_GetDomain)(_In_ const OrtNode* node, _Outptr_ const char** domain_name);
  /* since 23 */
  OrtStatusPtr (*Node_GetSinceVersion)(_In_ const OrtNode* node, _Out_ int* since_version);
  /* since 23 */
  OrtStatusPtr (*Node_GetNumInputs)(_In_ const OrtNode* node, _Out_ size_t* num_inputs);
  /* since 23 */
  OrtStatusPtr (*Node_GetInputs)(_In_ const OrtNode* node, _Out_writes_(num_inputs) const OrtValueInfo** inputs, _In_ size_t num_inputs);
  /* since 23 */
  OrtStatusPtr (*Node_GetNumOutputs)(_In_ const OrtNode* node, _Out_ size_t* num_outputs);
  /* since 23 */
  OrtStatusPtr (*Node_GetOutputs)(_In_ const OrtNode* node, _Out_writes_(num_outputs) const OrtValueInfo** outputs, _In_ size_t num_outputs);
  /* since 23 */
  OrtStatusPtr (*Node_GetNumImplicitInputs)(_In_ const OrtNode* node, _Out_ size_t* num_implicit_inputs);
  /* since 23 */
  OrtStatusPtr (*Node_GetImplicitInputs)(_In_ const OrtNode* node, _Out_writes_(num_implicit_inputs) const OrtValueInfo** implicit_inputs, _In_ size_t num_implicit_inputs);
  /* since 23 */
  OrtStatusPtr (*Node_GetNumAttributes)(_In_ const OrtNode* node, _Out_ size_t* num_attributes);
  /* since 23 */
  OrtStatusPtr (*Node_GetAttributes)(_In_ const OrtNode* node, _Out_writes_(num_attributes) const OrtOpAttr** attributes, _In_ size_t num_attributes);
  /* since 23 */
  OrtStatusPtr (*Node_GetAttributeByName)(_In_ const OrtNode* node, _In_ const char* attribute_name, _Outptr_result_maybenull_ const OrtOpAttr** attribute);
  /* since 23 */
  OrtStatusPtr (*OpAttr_GetTensorAttributeAsOrtValue)(_In_ const OrtOpAttr* attribute, _Outptr_result_maybenull_ OrtValue** attr_tensor);
  /* since 23 */
  OrtStatusPtr (*OpAttr_GetType)(_In_ const OrtOpAttr* attribute, _Out_ OrtOpAttrType* type);
  /* since 23 */
  OrtStatusPtr (*OpAttr_GetName)(_In_ const OrtOpAttr* attribute, _Outptr_ const char** name);
  /* since 23 */
  OrtStatusPtr (*Node_GetNumSubgraphs)(_In_ const OrtNode* node, _Out_ size_t* num_subgraphs);
  /* since 23 */
  OrtStatusPtr (*Node_GetSubgraphs)(_In_ const OrtNode* node, _Out_writes_(num_subgraphs) const OrtGraph** subgraphs, _In_ size_t num_subgraphs, _Out_writes_opt_(num_subgraphs) const char** attribute_names);
  /* since 23 */
  OrtStatusPtr (*Node_GetGraph)(_In_ const OrtNode* node, _Outptr_result_maybenull_ const OrtGraph** graph);
  /* since 23 */
  OrtStatusPtr (*Node_GetEpName)(_In_ const OrtNode* node, _Outptr_result_maybenull_ const char** out);
  /* since 23 */
  void (*ReleaseExternalInitializerInfo)(_Frees_ptr_opt_ OrtExternalInitializerInfo* input);
  /* since 23 */
  const ORTCHAR_T* (*ExternalInitializerInfo_GetFilePath)(_In_ const OrtExternalInitializerInfo* info);
  /* since 23 */
  int64_t (*ExternalInitializerInfo_GetFileOffset)(_In_ const OrtExternalInitializerInfo* info);
  /* since 23 */
  size_t (*ExternalInitializerInfo_GetByteSize)(_In_ const OrtExternalInitializerInfo* info);
  /* since 23 */
  const char* (*GetRunConfigEntry)(_In_ const OrtRunOptions* options, _In_z_ const char* config_key);
  /* since 23 */
  const OrtMemoryInfo* (*EpDevice_MemoryInfo)(_In_ const OrtEpDevice* ep_device, _In_ OrtDeviceMemoryType memory_type);
  /* since 23 */
  OrtStatusPtr (*CreateSharedAllocator)(_In_ OrtEnv* env, _In_ const OrtEpDevice* ep_device, _In_ OrtDeviceMemoryType mem_type, _In_ OrtAllocatorType allocator_type, _In_opt_ const OrtKeyValuePairs* allocator_options, _Outptr_opt_ OrtAllocator** allocator);
  /* since 23 */
  OrtStatusPtr (*GetSharedAllocator)(_In_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info, _Outptr_result_maybenull_ OrtAllocator** allocator);
  /* since 23 */
  OrtStatusPtr (*ReleaseSharedAllocator)(_In_ OrtEnv* env, _In_ const OrtEpDevice* ep_device, _In_ OrtDeviceMemoryType mem_type);
  /* since 23 */
  OrtStatusPtr (*GetTensorData)(_In_ const OrtValue* value, _Outptr_ const void** out);
  /* since 23 */
  OrtStatusPtr (*GetSessionOptionsConfigEntries)(_In_ const OrtSessionOptions* options, _Outptr_ OrtKeyValuePairs** out);
  /* since 23 */
  OrtStatusPtr (*SessionGetMemoryInfoForInputs)(_In_ const OrtSession* session, _Out_writes_(num_inputs) const OrtMemoryInfo** inputs_memory_info, _In_ size_t num_inputs);
  /* since 23 */
  OrtStatusPtr (*SessionGetMemoryInfoForOutputs)(_In_ const OrtSession* session, _Out_writes_(num_outputs) const OrtMemoryInfo** outputs_memory_info, _In_ size_t num_outputs);
  /* since 23 */
  OrtStatusPtr (*SessionGetEpDeviceForInputs)(_In_ const OrtSession* session, _Out_writes_(num_inputs) const OrtEpDevice** inputs_ep_devices, _In_ size_t num_inputs);
  /* since 23 */
  OrtStatusPtr (*CreateSyncStreamForEpDevice)(_In_ const OrtEpDevice* ep_device, _In_opt_ const OrtKeyValuePairs* stream_options, _Outptr_ OrtSyncStream** stream);
  /* since 23 */
  void* (*SyncStream_GetHandle)(_In_ OrtSyncStream* stream);
  /* since 23 */
  void (*ReleaseSyncStream)(_Frees_ptr_opt_ OrtSyncStream* input);
  /* since 23 */
  OrtStatusPtr (*CopyTensors)(_In_ const OrtEnv* env, _In_reads_(num_tensors) const OrtValue* const* src_tensors, _In_reads_(num_tensors) OrtValue* const* dst_tensors, _In_opt_ OrtSyncStream* stream, _In_ size_t num_tensors);
  /* since 23 */
  OrtStatusPtr (*Graph_GetModelMetadata)(_In_ const OrtGraph* graph, _Outptr_ OrtModelMetadata** out);
  /* since 23 */
  OrtStatusPtr (*GetModelCompatibilityForEpDevices)(_In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices, _In_ size_t num_ep_devices, _In_ const char* compatibility_info, _Out_ OrtCompiledModelCompatibility* out_status);
  /* since 23 */
  OrtStatusPtr (*CreateExternalInitializerInfo)(_In_ const ORTCHAR_T* filepath, _In_ int64_t file_offset, _In_ size_t byte_size, _Outptr_ OrtExternalInitializerInfo** out);
  /* since 24 */
  bool (*TensorTypeAndShape_HasShape)(_In_ const OrtTensorTypeAndShapeInfo* info);
  /* since 24 */
  OrtStatusPtr (*KernelInfo_GetConfigEntries)(_In_ const OrtKernelInfo* info, _Outptr_ OrtKeyValuePairs** out);
  /* since 24 */
  OrtStatusPtr (*KernelInfo_GetOperatorDomain)(_In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);
  /* since 24 */
  OrtStatusPtr (*KernelInfo_GetOperatorType)(_In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);
  /* since 24 */
  OrtStatusPtr (*KernelInfo_GetOperatorSinceVersion)(_In_ const OrtKernelInfo* info, _Out_ int* since_version);
  /* since 24 */
  const OrtInteropApi* (*GetInteropApi)(void);
  /* since 24 */
  OrtStatusPtr (*SessionGetEpDeviceForOutputs)(_In_ const OrtSession* session, _Out_writes_(num_outputs) const OrtEpDevice** outputs_ep_devices, _In_ size_t num_outputs);
  /* since 24 */
  OrtStatusPtr (*GetNumHardwareDevices)(_In_ const OrtEnv* env, _Out_ size_t* num_devices);
  /* since 24 */
  OrtStatusPtr (*GetHardwareDevices)(_In_ const OrtEnv* env, _Out_writes_(num_devices) const OrtHardwareDevice** devices, _In_ size_t num_devices);
  /* since 24 */
  OrtStatusPtr (*GetHardwareDeviceEpIncompatibilityDetails)(_In_ const OrtEnv* env, _In_ const char* ep_name, _In_ const OrtHardwareDevice* hw, _Outptr_ OrtDeviceEpIncompatibilityDetails** details);
  /* since 24 */
  OrtStatusPtr (*DeviceEpIncompatibilityDetails_GetReasonsBitmask)(_In_ const OrtDeviceEpIncompatibilityDetails* details, _Out_ uint32_t* reasons_bitmask);
  /* since 24 */
  OrtStatusPtr (*DeviceEpIncompatibilityDetails_GetNotes)(_In_ const OrtDeviceEpIncompatibilityDetails* details, _Outptr_result_maybenull_ const char** notes);
  /* since 24 */
  OrtStatusPtr (*DeviceEpIncompatibilityDetails_GetErrorCode)(_In_ const OrtDeviceEpIncompatibilityDetails* details, _Out_ int32_t* error_code);
  /* since 24 */
  void (*ReleaseDeviceEpIncompatibilityDetails)(_Frees_ptr_opt_ OrtDeviceEpIncompatibilityDetails* input);
  /* since 24 */
  OrtStatusPtr (*GetCompatibilityInfoFromModel)(_In_ const ORTCHAR_T* model_path, _In_ const char* ep_type, _Inout_ OrtAllocator* allocator, _Outptr_result_maybenull_ char** compatibility_info);
  /* since 24 */
  OrtStatusPtr (*GetCompatibilityInfoFromModelBytes)(_In_reads_(model_data_length) const void* model_data, _In_ size_t model_data_length, _In_ const char* ep_type, _Inout_ OrtAllocator* allocator, _Outptr_result_maybenull_ char** compatibility_info);
  /* since 24 */
  OrtStatusPtr (*CreateEnvWithOptions)(_In_ const OrtEnvCreationOptions* options, _Outptr_ OrtEnv** out);
  /* since 24 */
  OrtStatusPtr (*Session_GetEpGraphAssignmentInfo)(_In_ const OrtSession* session, _Outptr_ const OrtEpAssignedSubgraph* const** ep_subgraphs, _Out_ size_t* num_ep_subgraphs);
  /* since 24 */
  OrtStatusPtr (*EpAssignedSubgraph_GetEpName)(_In_ const OrtEpAssignedSubgraph* ep_subgraph, _Outptr_ const char** out);
  /* since 24 */
  OrtStatusPtr (*EpAssignedSubgraph_GetNodes)(_In_ const OrtEpAssignedSubgraph* ep_subgraph, _Outptr_ const OrtEpAssignedNode* const** ep_nodes, _Out_ size_t* num_ep_nodes);
  /* since 24 */
  OrtStatusPtr (*EpAssignedNode_GetName)(_In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  /* since 24 */
  OrtStatusPtr (*EpAssignedNode_GetDomain)(_In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  /* since 24 */
  OrtStatusPtr (*EpAssignedNode_GetOperatorType)(_In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  /* since 24 */
  void (*RunOptionsSetSyncStream)(_Inout_ OrtRunOptions* options, _In_ OrtSyncStream* sync_stream);
  /* since 24 */
  OrtStatusPtr (*GetTensorElementTypeAndShapeDataReference)(_In_ const OrtValue* value, _Out_ ONNXTensorElementDataType* elem_type, _Outptr_result_maybenull_ const int64_t** shape_data, _Out_ size_t* shape_data_count);
  /* since 25 */
  OrtStatusPtr (*RunOptionsEnableProfiling)(_Inout_ OrtRunOptions* options, _In_ const ORTCHAR_T* profile_file_prefix);
  /* since 25 */
  OrtStatusPtr (*RunOptionsDisableProfiling)(_Inout_ OrtRunOptions* options);
  /* since 25 */
  OrtStatusPtr (*KernelInfoGetAttributeArray_string)(_In_ const OrtKernelInfo* info, _In_ const char* name, _Inout_ OrtAllocator* allocator, _Outptr_result_buffer_maybenull_(*size) char*** out, _Out_ size_t* size);
  /* since 25 */
  OrtStatusPtr (*SetPerSessionThreadPoolCallbacks)(_Inout_ OrtEnv* env, _In_ const OrtThreadPoolCallbacksConfig* config);
  /* since 27 */
  OrtStatusPtr (*GetMemPatternEnabled)(_In_ const OrtSessionOptions* options, _Out_ int* out);
  /* since 27 */
  OrtStatusPtr (*GetSessionExecutionMode)(_In_ const OrtSessionOptions* options, _Out_ ExecutionMode* out);
  /* since 27 */
  OrtStatusPtr (*SessionReleaseCapturedGraph)(_In_ OrtSession* session, _In_ int graph_annotation_id);
  /* since 28 */
  OrtExperimentalFnPtr (*GetExperimentalFunction)(_In_ const char* name);
  /* since 28 */
  OrtStatusPtr (*KernelContext_GetSyncStream)(_In_ const OrtKernelContext* context, _Outptr_result_maybenull_ OrtSyncStream** out);
  /* since 29 */
  OrtStatusPtr (*SessionOptionsSetWeightlessSourceModelBuffer)(_Inout_ OrtSessionOptions* options, _In_ const void* source_model_data, _In_ size_t source_model_data_length);
};

struct OrtCustomOp {
  /* since 1 */
  uint32_t version;
  /* since 1 */
  void* (*CreateKernel)(_In_ const OrtCustomOp* op, _In_ const OrtApi* api, _In_ const OrtKernelInfo* info);
  /* since 1 */
  const char* (*GetName)(_In_ const OrtCustomOp* op);
  /* since 1 */
  const char* (*GetExecutionProviderType)(_In_ const OrtCustomOp* op);
  /* since 1 */
  ONNXTensorElementDataType (*GetInputType)(_In_ const OrtCustomOp* op, _In_ size_t index);
  /* since 1 */
  size_t (*GetInputTypeCount)(_In_ const OrtCustomOp* op);
  /* since 1 */
  ONNXTensorElementDataType (*GetOutputType)(_In_ const OrtCustomOp* op, _In_ size_t index);
  /* since 1 */
  size_t (*GetOutputTypeCount)(_In_ const OrtCustomOp* op);
  /* since 1 */
  void (*KernelCompute)(_In_ void* op_kernel, _In_ OrtKernelContext* context);
  /* since 1 */
  void (*KernelDestroy)(_In_ void* op_kernel);
  /* since 8 */
  OrtCustomOpInputOutputCharacteristic (*GetInputCharacteristic)(_In_ const OrtCustomOp* op, _In_ size_t index);
  /* since 8 */
  OrtCustomOpInputOutputCharacteristic (*GetOutputCharacteristic)(_In_ const OrtCustomOp* op, _In_ size_t index);
  /* since 13 */
  OrtMemType (*GetInputMemoryType)(_In_ const OrtCustomOp* op, _In_ size_t index);
  /* since 14 */
  int (*GetVariadicInputMinArity)(_In_ const OrtCustomOp* op);
  /* since 14 */
  int (*GetVariadicInputHomogeneity)(_In_ const OrtCustomOp* op);
  /* since 14 */
  int (*GetVariadicOutputMinArity)(_In_ const OrtCustomOp* op);
  /* since 14 */
  int (*GetVariadicOutputHomogeneity)(_In_ const OrtCustomOp* op);
  /* since 16 */
  OrtStatusPtr (*CreateKernelV2)(_In_ const OrtCustomOp* op, _In_ const OrtApi* api, _In_ const OrtKernelInfo* info, _Out_ void** kernel);
  /* since 16 */
  OrtStatusPtr (*KernelComputeV2)(_In_ void* op_kernel, _In_ OrtKernelContext* context);
  /* since 17 */
  OrtStatusPtr (*InferOutputShapeFn)(_In_ const OrtCustomOp* op, _In_ OrtShapeInferContext* unnamed);
  /* since 17 */
  int (*GetStartVersion)(_In_ const OrtCustomOp* op);
  /* since 17 */
  int (*GetEndVersion)(_In_ const OrtCustomOp* op);
  /* since 18 */
  size_t (*GetMayInplace)(_Out_ int** input_index, _Out_ int** output_index);
  /* since 18 */
  void (*ReleaseMayInplace)(_Frees_ptr_opt_ int* input_index, _Frees_ptr_opt_ int* output_index);
  /* since 18 */
  size_t (*GetAliasMap)(_Out_ int** input_index, _Out_ int** output_index);
  /* since 18 */
  void (*ReleaseAliasMap)(_Frees_ptr_opt_ int* input_index, _Frees_ptr_opt_ int* output_index);
};

/* since 22 */
struct OrtModelEditorApi {
  /* since 22 */
  OrtStatusPtr (*CreateTensorTypeInfo)(_In_ const OrtTensorTypeAndShapeInfo* tensor_info, _Outptr_ OrtTypeInfo** type_info);
  /* since 22 */
  OrtStatusPtr (*CreateSparseTensorTypeInfo)(_In_ const OrtTensorTypeAndShapeInfo* tensor_info, _Outptr_ OrtTypeInfo** type_info);
  /* since 22 */
  OrtStatusPtr (*CreateMapTypeInfo)(ONNXTensorElementDataType map_key_type, _In_ const OrtTypeInfo* map_value_type, _Outptr_ OrtTypeInfo** type_info);
  /* since 22 */
  OrtStatusPtr (*CreateSequenceTypeInfo)(_In_ const OrtTypeInfo* sequence_type, _Outptr_ OrtTypeInfo** type_info);
  /* since 22 */
  OrtStatusPtr (*CreateOptionalTypeInfo)(_In_ const OrtTypeInfo* contained_type, _Outptr_ OrtTypeInfo** type_info);
  /* since 22 */
  OrtStatusPtr (*CreateValueInfo)(_In_ const char* name, _In_ const OrtTypeInfo* type_info, _Outptr_ OrtValueInfo** value_info);
  /* since 22 */
  OrtStatusPtr (*CreateNode)(_In_ const char* operator_name, _In_ const char* domain_name, _In_ const char* node_name, _In_reads_(input_names_len) const char* const* input_names, size_t input_names_len, _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len, _In_reads_(attribs_len) _In_opt_ OrtOpAttr** attributes, _In_ size_t attribs_len, _Outptr_ OrtNode** node);
  /* since 22 */
  OrtStatusPtr (*CreateGraph)(_Outptr_ OrtGraph** graph);
  /* since 22 */
  OrtStatusPtr (*SetGraphInputs)(_Inout_ OrtGraph* graph, _In_reads_(inputs_len) _Inout_ OrtValueInfo** inputs, _In_ size_t inputs_len);
  /* since 22 */
  OrtStatusPtr (*SetGraphOutputs)(_Inout_ OrtGraph* graph, _In_reads_(outputs_len) _Inout_ OrtValueInfo** outputs, _In_ size_t outputs_len);
  /* since 22 */
  OrtStatusPtr (*AddInitializerToGraph)(_Inout_ OrtGraph* graph, _In_ const char* name, _Inout_ OrtValue* tensor, bool data_is_external);
  /* since 22 */
  OrtStatusPtr (*AddNodeToGraph)(_Inout_ OrtGraph* graph, _Inout_ OrtNode* node);
  /* since 22 */
  OrtStatusPtr (*CreateModel)(_In_reads_(opset_entries_len) const char* const* domain_names, _In_reads_(opset_entries_len) const int* opset_versions, size_t opset_entries_len, _Outptr_ OrtModel** model);
  /* since 22 */
  OrtStatusPtr (*AddGraphToModel)(_Inout_ OrtModel* model, _Inout_ OrtGraph* graph);
  /* since 22 */
  OrtStatusPtr (*CreateSessionFromModel)(_In_ const OrtEnv* env, _In_ const OrtModel* model, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /* since 22 */
  OrtStatusPtr (*CreateModelEditorSession)(_In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /* since 22 */
  OrtStatusPtr (*CreateModelEditorSessionFromArray)(_In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /* since 22 */
  OrtStatusPtr (*SessionGetOpsetForDomain)(_In_ const OrtSession* session, _In_ const char* domain, _Out_ int* opset);
  /* since 22 */
  OrtStatusPtr (*ApplyModelToModelEditorSession)(_Inout_ OrtSession* session, _In_ OrtModel* model);
  /* since 22 */
  OrtStatusPtr (*FinalizeModelEditorSession)(_Inout_ OrtSession* session, _In_ const OrtSessionOptions* options, _In_opt_ OrtPrepackedWeightsContainer* prepacked_weights_container);
};

/* since 22 */
struct OrtCompileApi {
  /* since 22 */
  void (*ReleaseModelCompilationOptions)(_Frees_ptr_opt_ OrtModelCompilationOptions* input);
  /* since 22 */
  OrtStatusPtr (*CreateModelCompilationOptionsFromSessionOptions)(_In_ const OrtEnv* env, _In_ const OrtSessionOptions* session_options, _Outptr_ OrtModelCompilationOptions** out);
  /* since 22 */
  OrtStatusPtr (*ModelCompilationOptions_SetInputModelPath)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* input_model_path);
  /* since 22 */
  OrtStatusPtr (*ModelCompilationOptions_SetInputModelFromBuffer)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ const void* input_model_data, size_t input_model_data_size);
  /* since 22 */
  OrtStatusPtr (*ModelCompilationOptions_SetOutputModelPath)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* output_model_path);
  /* since 22 */
  OrtStatusPtr (*ModelCompilationOptions_SetOutputModelExternalInitializersFile)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* external_initializers_file_path, size_t external_initializers_size_threshold);
  /* since 22 */
  OrtStatusPtr (*ModelCompilationOptions_SetOutputModelBuffer)(_In_ OrtModelCompilationOptions* model_compile_options, _Inout_ OrtAllocator* allocator, _Outptr_ void** output_model_buffer_ptr, _Out_ size_t* output_model_buffer_size_ptr);
  /* since 22 */
  OrtStatusPtr (*ModelCompilationOptions_SetEpContextEmbedMode)(_In_ OrtModelCompilationOptions* model_compile_options, bool embed_ep_context_in_model);
  /* since 22 */
  OrtStatusPtr (*CompileModel)(_In_ const OrtEnv* env, _In_ const OrtModelCompilationOptions* model_options);
  /* since 23 */
  OrtStatusPtr (*ModelCompilationOptions_SetFlags)(_In_ OrtModelCompilationOptions* model_compile_options, uint32_t flags);
  /* since 23 */
  OrtStatusPtr (*ModelCompilationOptions_SetEpContextBinaryInformation)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* output_directory, _In_ const ORTCHAR_T* model_name);
  /* since 23 */
  OrtStatusPtr (*ModelCompilationOptions_SetGraphOptimizationLevel)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ GraphOptimizationLevel graph_optimization_level);
  /* since 23 */
  OrtStatusPtr (*ModelCompilationOptions_SetOutputModelWriteFunc)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ OrtWriteBufferFunc write_func, _In_ void* state);
  /* since 23 */
  OrtStatusPtr (*ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ OrtGetInitializerLocationFunc get_initializer_location_func, _In_ void* state);
  /* since 24 */
  OrtStatusPtr (*ModelCompilationOptions_SetInputModel)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ const OrtModel* model);
  /* since 29 */
  OrtStatusPtr (*ModelCompilationOptions_SetWeightlessEnabled)(_In_ OrtModelCompilationOptions* model_compile_options, _In_ bool use_weightless);
};

/* since 24 */
struct OrtInteropApi {
  /* since 24 */
  OrtStatusPtr (*CreateExternalResourceImporterForDevice)(_In_ const OrtEpDevice* ep_device, _Outptr_result_maybenull_ OrtExternalResourceImporter** out_importer);
  /* since 24 */
  void (*ReleaseExternalResourceImporter)(_Frees_ptr_opt_ OrtExternalResourceImporter* input);
  /* since 24 */
  OrtStatusPtr (*CanImportMemory)(_In_ const OrtExternalResourceImporter* importer, _In_ OrtExternalMemoryHandleType handle_type, _Out_ bool* out_supported);
  /* since 24 */
  OrtStatusPtr (*ImportMemory)(_In_ OrtExternalResourceImporter* importer, _In_ const OrtExternalMemoryDescriptor* desc, _Outptr_ OrtExternalMemoryHandle** out_handle);
  /* since 24 */
  void (*ReleaseExternalMemoryHandle)(_Frees_ptr_opt_ OrtExternalMemoryHandle* input);
  /* since 24 */
  OrtStatusPtr (*CreateTensorFromMemory)(_In_ OrtExternalResourceImporter* importer, _In_ const OrtExternalMemoryHandle* mem_handle, _In_ const OrtExternalTensorDescriptor* tensor_desc, _Outptr_ OrtValue** out_tensor);
  /* since 24 */
  OrtStatusPtr (*CanImportSemaphore)(_In_ const OrtExternalResourceImporter* importer, _In_ OrtExternalSemaphoreType type, _Out_ bool* out_supported);
  /* since 24 */
  OrtStatusPtr (*ImportSemaphore)(_In_ OrtExternalResourceImporter* importer, _In_ const OrtExternalSemaphoreDescriptor* desc, _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  /* since 24 */
  void (*ReleaseExternalSemaphoreHandle)(_Frees_ptr_opt_ OrtExternalSemaphoreHandle* input);
  /* since 24 */
  OrtStatusPtr (*WaitSemaphore)(_In_ OrtExternalResourceImporter* importer, _In_ OrtExternalSemaphoreHandle* semaphore_handle, _In_ OrtSyncStream* stream, _In_ uint64_t value);
  /* since 24 */
  OrtStatusPtr (*SignalSemaphore)(_In_ OrtExternalResourceImporter* importer, _In_ OrtExternalSemaphoreHandle* semaphore_handle, _In_ OrtSyncStream* stream, _In_ uint64_t value);
  /* since 25 */
  OrtStatusPtr (*InitGraphicsInteropForEpDevice)(_In_ const OrtEpDevice* ep_device, _In_ const OrtGraphicsInteropConfig* config);
  /* since 25 */
  OrtStatusPtr (*DeinitGraphicsInteropForEpDevice)(_In_ const OrtEpDevice* ep_device);
};

const OrtApiBase* OrtGetApiBase(void);

OrtStatusPtr OrtSessionOptionsAppendExecutionProvider_CUDA(_In_ OrtSessionOptions* options, int device_id);

OrtStatusPtr OrtSessionOptionsAppendExecutionProvider_ROCM(_In_ OrtSessionOptions* options, int device_id);

OrtStatusPtr OrtSessionOptionsAppendExecutionProvider_MIGraphX(_In_ OrtSessionOptions* options, int device_id);

OrtStatusPtr OrtSessionOptionsAppendExecutionProvider_Dnnl(_In_ OrtSessionOptions* options, int use_arena);

OrtStatusPtr OrtSessionOptionsAppendExecutionProvider_Tensorrt(_In_ OrtSessionOptions* options, int device_id);

#include "onnxruntime_ep_c_api.h"
