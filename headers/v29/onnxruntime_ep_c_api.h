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

/* Names, types, order, annotations, values and versions of onnxruntime_ep_c_api.h at API version 29.
 * Written by `python -m codegen pin`; PIN.toml says from what. Not for compilers: annotations are left undefined. */
#pragma once

/* since 25 */
typedef enum OrtProfilingEventCategory {
  OrtProfilingEventCategory_SESSION = 0,
  OrtProfilingEventCategory_NODE = 1,
  OrtProfilingEventCategory_KERNEL = 2,
  OrtProfilingEventCategory_API = 3,
} OrtProfilingEventCategory;

/* since 26 */
typedef enum OrtResourceCountKind {
  OrtResourceCountKind_None = 0,
  OrtResourceCountKind_TotalBytes = 1,
} OrtResourceCountKind;

/* since 23 */
typedef enum OrtEpDataLayout {
  OrtEpDataLayout_NCHW = 0,
  OrtEpDataLayout_NHWC = 1,
  OrtEpDataLayout_Default = 0,
} OrtEpDataLayout;

/* since 26 */
typedef enum OrtGraphCaptureNodeAssignmentPolicy {
  OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP = 0,
  OrtGraphCaptureNodeAssignmentPolicy_ALLOW_CPU_FOR_SHAPES = 1,
} OrtGraphCaptureNodeAssignmentPolicy;

/* since 29 */
typedef enum OrtWeightlessSupport {
  OrtWeightlessSupport_NONE = 0,
  OrtWeightlessSupport_EXTERNAL_ONLY = 1,
  OrtWeightlessSupport_ALL = 2,
} OrtWeightlessSupport;

struct OrtEp;
typedef struct OrtEp OrtEp;
struct OrtEpFactory;
typedef struct OrtEpFactory OrtEpFactory;
struct OrtEpGraphSupportInfo;
typedef struct OrtEpGraphSupportInfo OrtEpGraphSupportInfo;
struct OrtMemoryDevice;
typedef struct OrtMemoryDevice OrtMemoryDevice;
struct OrtNodeComputeContext;
typedef struct OrtNodeComputeContext OrtNodeComputeContext;
struct OrtDataTransferImpl;
typedef struct OrtDataTransferImpl OrtDataTransferImpl;
struct OrtSyncNotificationImpl;
typedef struct OrtSyncNotificationImpl OrtSyncNotificationImpl;
struct OrtSyncStreamImpl;
typedef struct OrtSyncStreamImpl OrtSyncStreamImpl;
struct OrtExternalResourceImporterImpl;
typedef struct OrtExternalResourceImporterImpl OrtExternalResourceImporterImpl;
struct OrtOpSchema;
typedef struct OrtOpSchema OrtOpSchema;
struct OrtOpSchemaTypeConstraint;
typedef struct OrtOpSchemaTypeConstraint OrtOpSchemaTypeConstraint;
struct OrtProfilingEventsContainer;
typedef struct OrtProfilingEventsContainer OrtProfilingEventsContainer;
struct OrtProfilingEvent;
typedef struct OrtProfilingEvent OrtProfilingEvent;
struct OrtKernelRegistry;
typedef struct OrtKernelRegistry OrtKernelRegistry;
struct OrtKernelDefBuilder;
typedef struct OrtKernelDefBuilder OrtKernelDefBuilder;
struct OrtKernelDef;
typedef struct OrtKernelDef OrtKernelDef;
struct OrtDataType;
typedef struct OrtDataType OrtDataType;
struct OrtSharedPrePackedWeightCache;
typedef struct OrtSharedPrePackedWeightCache OrtSharedPrePackedWeightCache;
struct OrtEpProfilerImpl;
typedef struct OrtEpProfilerImpl OrtEpProfilerImpl;
struct OrtNodeFusionOptions;
typedef struct OrtNodeFusionOptions OrtNodeFusionOptions;
struct OrtNodeComputeInfo;
typedef struct OrtNodeComputeInfo OrtNodeComputeInfo;
struct OrtKernelImpl;
typedef struct OrtKernelImpl OrtKernelImpl;
struct OrtLoopKernelHelper;
typedef struct OrtLoopKernelHelper OrtLoopKernelHelper;
struct OrtScanKernelHelper;
typedef struct OrtScanKernelHelper OrtScanKernelHelper;
struct OrtResourceCount;
typedef struct OrtResourceCount OrtResourceCount;

/* since 24 */
struct OrtExternalMemoryHandle {
  /* since 24 */
  uint32_t version;
  /* since 24 */
  const OrtEpDevice* ep_device;
  /* since 24 */
  OrtExternalMemoryDescriptor descriptor;
  /* since 24 */
  void (*Release)(_In_ OrtExternalMemoryHandle* handle);
};

/* since 24 */
struct OrtExternalSemaphoreHandle {
  /* since 24 */
  uint32_t version;
  /* since 24 */
  const OrtEpDevice* ep_device;
  /* since 24 */
  OrtExternalSemaphoreDescriptor descriptor;
  /* since 24 */
  void (*Release)(_In_ OrtExternalSemaphoreHandle* handle);
};

/* since 23 */
struct OrtDataTransferImpl {
  /* since 23 */
  uint32_t ort_version_supported;
  /* since 23 */
  void (*Release)(_In_ OrtDataTransferImpl* this_ptr);
  /* since 23 */
  bool (*CanCopy)(_In_ const OrtDataTransferImpl* this_ptr, _In_ const OrtMemoryDevice* src_memory_device, _In_ const OrtMemoryDevice* dst_memory_device);
  /* since 23 */
  OrtStatusPtr (*CopyTensors)(_In_ OrtDataTransferImpl* this_ptr, _In_reads_(num_tensors) const OrtValue** src_tensors, _In_reads_(num_tensors) OrtValue** dst_tensors, _In_reads_(num_tensors) OrtSyncStream** streams, _In_ size_t num_tensors);
};

/* since 23 */
struct OrtSyncNotificationImpl {
  /* since 23 */
  uint32_t ort_version_supported;
  /* since 23 */
  void (*Release)(_In_ OrtSyncNotificationImpl* this_ptr);
  /* since 23 */
  OrtStatusPtr (*Activate)(_In_ OrtSyncNotificationImpl* this_ptr);
  /* since 23 */
  OrtStatusPtr (*WaitOnDevice)(_In_ OrtSyncNotificationImpl* this_ptr, _In_ OrtSyncStream* consumer_stream);
  /* since 23 */
  OrtStatusPtr (*WaitOnHost)(_In_ OrtSyncNotificationImpl* this_ptr);
};

/* since 23 */
struct OrtSyncStreamImpl {
  /* since 23 */
  uint32_t ort_version_supported;
  /* since 23 */
  void (*Release)(_In_ OrtSyncStreamImpl* this_ptr);
  /* since 23 */
  void* (*GetHandle)(_In_ OrtSyncStreamImpl* this_ptr);
  /* since 23 */
  OrtStatusPtr (*CreateNotification)(_In_ OrtSyncStreamImpl* this_ptr, _Outptr_ OrtSyncNotificationImpl** notification);
  /* since 23 */
  OrtStatusPtr (*Flush)(_In_ OrtSyncStreamImpl* this_ptr);
  /* since 23 */
  OrtStatusPtr (*OnSessionRunEnd)(_In_ OrtSyncStreamImpl* this_ptr);
};

/* since 24 */
struct OrtExternalResourceImporterImpl {
  /* since 24 */
  uint32_t ort_version_supported;
  /* since 24 */
  bool (*CanImportMemory)(_In_ const OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalMemoryHandleType handle_type);
  /* since 24 */
  OrtStatusPtr (*ImportMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ const OrtExternalMemoryDescriptor* desc, _Outptr_ OrtExternalMemoryHandle** out_handle);
  /* since 24 */
  void (*ReleaseMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalMemoryHandle* handle);
  /* since 24 */
  OrtStatusPtr (*CreateTensorFromMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ const OrtExternalMemoryHandle* mem_handle, _In_ const OrtExternalTensorDescriptor* tensor_desc, _Outptr_ OrtValue** out_tensor);
  /* since 24 */
  bool (*CanImportSemaphore)(_In_ const OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreType type);
  /* since 24 */
  OrtStatusPtr (*ImportSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ const OrtExternalSemaphoreDescriptor* desc, _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  /* since 24 */
  void (*ReleaseSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreHandle* handle);
  /* since 24 */
  OrtStatusPtr (*WaitSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream, _In_ uint64_t value);
  /* since 24 */
  OrtStatusPtr (*SignalSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr, _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream, _In_ uint64_t value);
  /* since 24 */
  void (*Release)(_In_ OrtExternalResourceImporterImpl* this_ptr);
};

/* since 25 */
struct OrtEpProfilerImpl {
  /* since 25 */
  uint32_t ort_version_supported;
  /* since 25 */
  void (*Release)(_In_ OrtEpProfilerImpl* this_ptr);
  /* since 25 */
  OrtStatusPtr (*StartProfiling)(_In_ OrtEpProfilerImpl* this_ptr, _In_ int64_t ep_profiling_start_offset_ns);
  /* since 25 */
  OrtStatusPtr (*StartEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id);
  /* since 25 */
  OrtStatusPtr (*StopEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id, _In_ const OrtProfilingEvent* ort_event);
  /* since 25 */
  OrtStatusPtr (*EndProfiling)(_In_ OrtEpProfilerImpl* this_ptr, _In_ OrtProfilingEventsContainer* events_container);
};

/* since 23 */
struct OrtNodeFusionOptions {
  /* since 23 */
  uint32_t ort_version_supported;
  /* since 23 */
  bool drop_constant_initializers;
};

/* since 23 */
struct OrtNodeComputeInfo {
  /* since 23 */
  uint32_t ort_version_supported;
  /* since 23 */
  OrtStatus* (*CreateState)(_In_ OrtNodeComputeInfo* this_ptr, _In_ OrtNodeComputeContext* compute_context, _Outptr_ void** compute_state);
  /* since 23 */
  OrtStatus* (*Compute)(_In_ OrtNodeComputeInfo* this_ptr, _In_ void* compute_state, _In_ OrtKernelContext* kernel_context);
  /* since 23 */
  void (*ReleaseState)(_In_ OrtNodeComputeInfo* this_ptr, _Frees_ptr_opt_ void* compute_state);
};

/* since 24 */
struct OrtKernelImpl {
  /* since 24 */
  uint32_t ort_version_supported;
  /* since 24 */
  uint32_t flags;
  /* since 24 */
  OrtStatusPtr (*Compute)(_In_ OrtKernelImpl* this_ptr, _In_ OrtKernelContext* context);
  /* since 24 */
  void (*Release)(_In_ OrtKernelImpl* this_ptr);
  /* since 24 */
  OrtStatusPtr (*PrePackWeight)(_In_ OrtKernelImpl* this_ptr, _In_ const OrtValue* tensor, _In_ int input_index, _Inout_ OrtAllocator* allocator, _In_opt_ OrtSharedPrePackedWeightCache* prepacked_weight_cache, _Out_ bool* is_packed);
  /* since 24 */
  OrtStatusPtr (*SetSharedPrePackedWeight)(_In_ OrtKernelImpl* this_ptr, _In_reads_(num_buffers) const void* const* buffer_data_ptrs, _In_reads_(num_buffers) const size_t* buffer_data_sizes, _In_ size_t num_buffers, _In_ int input_index);
};

/* since 24 */
typedef OrtStatus* (*OrtKernelCreateFunc)(_In_ void* kernel_create_func_state, _In_ const OrtKernelInfo* info, _Outptr_result_maybenull_ OrtKernelImpl** kernel_out);

/* since 24 */
struct OrtLoopKernelHelper {
  /* since 24 */
  uint32_t ort_version_supported;
  /* since 24 */
  void (*Release)(_In_ OrtLoopKernelHelper* this_ptr);
  /* since 24 */
  OrtStatusPtr (*ConcatOutput)(_In_ OrtLoopKernelHelper* this_ptr, _In_opt_ void* stream_handle, _In_reads_(num_per_iteration_outputs) const OrtValue* const* per_iteration_outputs, _In_ size_t num_per_iteration_outputs, _Out_writes_bytes_all_(output_size_in_bytes) void* output, _In_ size_t output_size_in_bytes);
};

/* since 24 */
struct OrtScanKernelHelper {
  /* since 24 */
  uint32_t ort_version_supported;
  /* since 24 */
  void (*Release)(_In_ OrtScanKernelHelper* this_ptr);
  /* since 24 */
  OrtStatusPtr (*Transpose)(_In_ OrtScanKernelHelper* this_ptr, _In_reads_(num_permutation_elems) const size_t* permutation, _In_ size_t num_permutation_elems, _In_ const OrtValue* input, _In_opt_ OrtSyncStream* stream, _Inout_ OrtValue* output);
};

/* since 26 */
struct OrtResourceCount {
  uint32_t kind;
  uint32_t reserved;
  union {
    uint64_t total_bytes;
    uint64_t reserved_words[6];
  } value;
};

/* since 22 */
struct OrtEpApi {
  /* since 22 */
  OrtStatusPtr (*CreateEpDevice)(_In_ OrtEpFactory* ep_factory, _In_ const OrtHardwareDevice* hardware_device, _In_opt_ const OrtKeyValuePairs* ep_metadata, _In_opt_ const OrtKeyValuePairs* ep_options, _Out_ OrtEpDevice** ep_device);
  /* since 22 */
  void (*ReleaseEpDevice)(_Frees_ptr_opt_ OrtEpDevice* input);
  /* since 23 */
  OrtStatusPtr (*EpGraphSupportInfo_AddNodesToFuse)(_In_ OrtEpGraphSupportInfo* graph_support_info, _In_reads_(num_nodes) const OrtNode* const* nodes, _In_ size_t num_nodes, _In_opt_ const OrtNodeFusionOptions* node_fusion_options);
  /* since 23 */
  OrtStatusPtr (*EpGraphSupportInfo_AddSingleNode)(_In_ OrtEpGraphSupportInfo* graph_support_info, _In_ const OrtNode* node);
  /* since 23 */
  const char* (*NodeComputeContext_NodeName)(_In_ const OrtNodeComputeContext* context);
  /* since 23 */
  OrtStatusPtr (*EpDevice_AddAllocatorInfo)(_In_ OrtEpDevice* ep_device, _In_ const OrtMemoryInfo* allocator_memory_info);
  /* since 23 */
  const OrtMemoryDevice* (*MemoryInfo_GetMemoryDevice)(_In_ const OrtMemoryInfo* memory_info);
  /* since 23 */
  const OrtMemoryDevice* (*Value_GetMemoryDevice)(_In_ const OrtValue* value);
  /* since 23 */
  bool (*MemoryDevice_AreEqual)(_In_ const OrtMemoryDevice* a, _In_ const OrtMemoryDevice* b);
  /* since 23 */
  OrtMemoryInfoDeviceType (*MemoryDevice_GetDeviceType)(_In_ const OrtMemoryDevice* memory_device);
  /* since 23 */
  OrtDeviceMemoryType (*MemoryDevice_GetMemoryType)(_In_ const OrtMemoryDevice* memory_device);
  /* since 23 */
  uint32_t (*MemoryDevice_GetVendorId)(_In_ const OrtMemoryDevice* memory_device);
  /* since 23 */
  uint32_t (*MemoryDevice_GetDeviceId)(_In_ const OrtMemoryDevice* memory_device);
  /* since 23 */
  const OrtSyncStreamImpl* (*SyncStream_GetImpl)(_In_ const OrtSyncStream* stream);
  /* since 23 */
  uint64_t (*SyncStream_GetSyncId)(_In_ const OrtSyncStream* stream);
  /* since 23 */
  uint64_t (*GetSyncIdForLastWaitOnSyncStream)(_In_ const OrtSyncStream* producer_stream, _In_ const OrtSyncStream* consumer_stream);
  /* since 24 */
  OrtStatusPtr (*CreateHardwareDevice)(_In_ OrtHardwareDeviceType type, _In_ uint32_t vendor_id, _In_ uint32_t device_id, _In_ const char* vendor_name, _In_opt_ const OrtKeyValuePairs* metadata, _Out_ OrtHardwareDevice** hardware_device);
  /* since 24 */
  void (*ReleaseHardwareDevice)(_Frees_ptr_opt_ OrtHardwareDevice* input);
  /* since 24 */
  OrtStatusPtr (*CreateKernelRegistry)(_Outptr_ OrtKernelRegistry** kernel_registry);
  /* since 24 */
  void (*ReleaseKernelRegistry)(_Frees_ptr_opt_ OrtKernelRegistry* input);
  /* since 24 */
  OrtStatusPtr (*KernelRegistry_AddKernel)(_In_ OrtKernelRegistry* kernel_registry, _In_ const OrtKernelDef* kernel_def, _In_ OrtKernelCreateFunc kernel_create_func, _In_ void* kernel_create_func_state);
  /* since 24 */
  OrtStatusPtr (*CreateKernelDefBuilder)(_Outptr_ OrtKernelDefBuilder** kernel_def_builder_out);
  /* since 24 */
  void (*ReleaseKernelDefBuilder)(_Frees_ptr_opt_ OrtKernelDefBuilder* input);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_SetOperatorType)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* op_type);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_SetDomain)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* domain);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_SetSinceVersion)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ int since_version_start, _In_ int since_version_end);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_SetExecutionProvider)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* ep_name);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_SetInputMemType)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ size_t input_index, _In_ OrtMemType mem_type);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_SetOutputMemType)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ size_t output_index, _In_ OrtMemType mem_type);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_AddTypeConstraint)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* arg_name, _In_reads_(num_types) const OrtDataType* const* types, _In_ size_t num_types);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_AddInputOutputAliases)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_reads_(num_io_indices) const int* input_indices, _In_reads_(num_io_indices) const int* output_indices, _In_ size_t num_io_indices);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_AddInputOutputMutableAliases)(_In_ OrtKernelDefBuilder* kernel_def_builder, _In_reads_(num_io_indices) const int* input_indices, _In_reads_(num_io_indices) const int* output_indices, _In_ size_t num_io_indices);
  /* since 24 */
  OrtStatusPtr (*KernelDefBuilder_Build)(_In_ OrtKernelDefBuilder* kernel_def_builder, _Outptr_ OrtKernelDef** kernel_def_out);
  /* since 24 */
  void (*ReleaseKernelDef)(_Frees_ptr_opt_ OrtKernelDef* input);
  /* since 24 */
  const char* (*KernelDef_GetOperatorType)(_In_ const OrtKernelDef* kernel_def);
  /* since 24 */
  const char* (*KernelDef_GetDomain)(_In_ const OrtKernelDef* kernel_def);
  /* since 24 */
  OrtStatusPtr (*KernelDef_GetSinceVersion)(_In_ const OrtKernelDef* kernel_def, _Out_ int* start_version, _Out_ int* end_version);
  /* since 24 */
  const char* (*KernelDef_GetExecutionProvider)(_In_ const OrtKernelDef* kernel_def);
  /* since 24 */
  OrtStatusPtr (*KernelDef_GetInputMemType)(_In_ const OrtKernelDef* kernel_def, _In_ size_t input_index, _Out_ OrtMemType* mem_type);
  /* since 24 */
  OrtStatusPtr (*KernelDef_GetOutputMemType)(_In_ const OrtKernelDef* kernel_def, _In_ size_t output_index, _Out_ OrtMemType* mem_type);
  /* since 24 */
  OrtStatusPtr (*GetTensorDataType)(_In_ ONNXTensorElementDataType elem_type, _Outptr_ const OrtDataType** out);
  /* since 24 */
  OrtStatusPtr (*EpGraphSupportInfo_LookUpKernel)(_In_ OrtEpGraphSupportInfo* graph_support_info, _In_ const OrtNode* node, _Outptr_result_maybenull_ const OrtKernelDef** out_kernel_def);
  /* since 24 */
  OrtStatusPtr (*SharedPrePackedWeightCache_StoreWeightData)(_In_ OrtSharedPrePackedWeightCache* prepacked_weight_cache, _In_reads_(num_buffers) void** buffer_data_ptrs, _In_reads_(num_buffers) size_t* buffer_data_sizes, _In_ size_t num_buffers);
  /* since 24 */
  OrtStatusPtr (*KernelInfo_GetEp)(_In_ const OrtKernelInfo* info, _Outptr_ const OrtEp** ep);
  /* since 24 */
  OrtStatusPtr (*DeviceEpIncompatibilityDetails_SetDetails)(_Inout_ OrtDeviceEpIncompatibilityDetails* details, _In_ uint32_t reasons_bitmask, _In_ int32_t error_code, _In_opt_z_ const char* notes);
  /* since 24 */
  OrtStatusPtr (*CreateIfKernel)(_In_ const OrtKernelInfo* kernel_info, _Outptr_ OrtKernelImpl** kernel_out);
  /* since 24 */
  OrtStatusPtr (*CreateLoopKernel)(_In_ const OrtKernelInfo* kernel_info, _In_ OrtLoopKernelHelper* helper, _Outptr_ OrtKernelImpl** kernel_out);
  /* since 24 */
  OrtStatusPtr (*CreateScanKernel)(_In_ const OrtKernelInfo* kernel_info, _In_ OrtScanKernelHelper* helper, _Outptr_ OrtKernelImpl** kernel_out);
  /* since 24 */
  void (*ReleaseKernelImpl)(_Frees_ptr_opt_ OrtKernelImpl* input);
  /* since 24 */
  OrtStatusPtr (*GetEnvConfigEntries)(_Outptr_ OrtKeyValuePairs** config_entries);
  /* since 25 */
  OrtStatusPtr (*GetOpSchema)(_In_ const char* name, _In_ int max_inclusive_version, _In_ const char* domain, _Outptr_result_maybenull_ OrtOpSchema** out_schema);
  /* since 25 */
  void (*ReleaseOpSchema)(_Frees_ptr_opt_ OrtOpSchema* input);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetSinceVersion)(_In_ const OrtOpSchema* schema, _Out_ int* out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetNumInputs)(_In_ const OrtOpSchema* schema, _Out_ size_t* out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetInputName)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetInputTypeConstraint)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetNumOutputs)(_In_ const OrtOpSchema* schema, _Out_ size_t* out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetOutputName)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetOutputTypeConstraint)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetTypeConstraintCount)(_In_ const OrtOpSchema* schema, _Out_ size_t* out);
  /* since 25 */
  OrtStatusPtr (*OpSchema_GetTypeConstraint)(_In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const OrtOpSchemaTypeConstraint** out);
  /* since 25 */
  OrtStatusPtr (*OpSchemaTypeConstraint_GetTypeParamName)(_In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const char** out);
  /* since 25 */
  OrtStatusPtr (*OpSchemaTypeConstraint_GetAllowedTypes)(_In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const char* const** out_types, _Out_ size_t* num_types);
  /* since 25 */
  OrtStatusPtr (*OpSchemaTypeConstraint_GetInputIndices)(_In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const size_t** out_indices, _Out_ size_t* count);
  /* since 25 */
  OrtStatusPtr (*OpSchemaTypeConstraint_GetOutputIndices)(_In_ const OrtOpSchemaTypeConstraint* type_constraint, _Outptr_ const size_t** out_indices, _Out_ size_t* count);
  /* since 25 */
  OrtStatusPtr (*CreateProfilingEvent)(_In_ OrtProfilingEventCategory category, _In_ int32_t process_id, _In_ int32_t thread_id, _In_ const char* event_name, _In_ int64_t timestamp_us, _In_ int64_t duration_us, _In_reads_(num_args) const char* const* arg_keys, _In_reads_(num_args) const char* const* arg_values, _In_ size_t num_args, _Outptr_ OrtProfilingEvent** out);
  /* since 25 */
  void (*ReleaseProfilingEvent)(_Frees_ptr_opt_ OrtProfilingEvent* input);
  /* since 25 */
  OrtStatusPtr (*ProfilingEvent_GetCategory)(_In_ const OrtProfilingEvent* event, _Out_ OrtProfilingEventCategory* out);
  /* since 25 */
  OrtStatusPtr (*ProfilingEvent_GetName)(_In_ const OrtProfilingEvent* event, _Outptr_ const char** out);
  /* since 25 */
  OrtStatusPtr (*ProfilingEvent_GetTimestampUs)(_In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  /* since 25 */
  OrtStatusPtr (*ProfilingEvent_GetDurationUs)(_In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  /* since 25 */
  OrtStatusPtr (*ProfilingEvent_GetArgValue)(_In_ const OrtProfilingEvent* event, _In_ const char* key, _Outptr_result_maybenull_ const char** out);
  /* since 25 */
  OrtStatusPtr (*ProfilingEventsContainer_AddEvents)(_In_ OrtProfilingEventsContainer* events_container, _In_reads_(num_events) const OrtProfilingEvent* const* events, _In_ size_t num_events);
  /* since 29 */
  OrtStatusPtr (*SessionOptionsGetWeightlessSourceModelBuffer)(_In_ const OrtSessionOptions* session_options, _Outptr_result_maybenull_ const void** source_model_data, _Out_ size_t* source_model_data_length);
};

/* since 22 */
struct OrtEp {
  /* since 22 */
  uint32_t ort_version_supported;
  /* since 22 */
  const char* (*GetName)(_In_ const OrtEp* this_ptr);
  /* since 23 */
  OrtStatusPtr (*GetCapability)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph, _Inout_ OrtEpGraphSupportInfo* graph_support_info);
  /* since 23 */
  OrtStatusPtr (*Compile)(_In_ OrtEp* this_ptr, _In_ const OrtGraph** graphs, _In_ const OrtNode** fused_nodes, _In_ size_t count, _Out_writes_all_(count) OrtNodeComputeInfo** node_compute_infos, _Out_writes_(count) OrtNode** ep_context_nodes);
  /* since 23 */
  void (*ReleaseNodeComputeInfos)(_In_ OrtEp* this_ptr, OrtNodeComputeInfo** node_compute_infos, _In_ size_t num_node_compute_infos);
  /* since 23 */
  OrtStatusPtr (*GetPreferredDataLayout)(_In_ OrtEp* this_ptr, _Out_ OrtEpDataLayout* preferred_data_layout);
  /* since 23 */
  OrtStatusPtr (*ShouldConvertDataLayoutForOp)(_In_ OrtEp* this_ptr, _In_z_ const char* domain, _In_z_ const char* op_type, _In_ OrtEpDataLayout target_data_layout, _Outptr_ int* should_convert);
  /* since 23 */
  OrtStatusPtr (*SetDynamicOptions)(_In_ OrtEp* this_ptr, _In_reads_(num_options) const char* const* option_keys, _In_reads_(num_options) const char* const* option_values, _In_ size_t num_options);
  /* since 23 */
  OrtStatusPtr (*OnRunStart)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options);
  /* since 23 */
  OrtStatusPtr (*OnRunEnd)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options, _In_ bool sync_stream);
  /* since 23 */
  OrtStatusPtr (*CreateAllocator)(_In_ OrtEp* this_ptr, _In_ const OrtMemoryInfo* memory_info, _Outptr_result_maybenull_ OrtAllocator** allocator);
  /* since 23 */
  OrtStatusPtr (*CreateSyncStreamForDevice)(_In_ OrtEp* this_ptr, _In_ const OrtMemoryDevice* memory_device, _Outptr_ OrtSyncStreamImpl** stream);
  /* since 23 */
  const char* (*GetCompiledModelCompatibilityInfo)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph);
  /* since 24 */
  OrtStatusPtr (*GetKernelRegistry)(_In_ OrtEp* this_ptr, _Outptr_result_maybenull_ const OrtKernelRegistry** kernel_registry);
  /* since 24 */
  OrtStatusPtr (*IsConcurrentRunSupported)(_In_ OrtEp* this_ptr, _Outptr_ bool* is_supported);
  /* since 25 */
  OrtStatusPtr (*Sync)(_In_ OrtEp* this_ptr);
  /* since 25 */
  OrtStatusPtr (*CreateProfiler)(_In_ OrtEp* this_ptr, _Outptr_result_maybenull_ OrtEpProfilerImpl** profiler);
  /* since 26 */
  bool (*IsGraphCaptureEnabled)(_In_ const OrtEp* this_ptr);
  /* since 26 */
  bool (*IsGraphCaptured)(_In_ const OrtEp* this_ptr, _In_ int graph_annotation_id);
  /* since 26 */
  OrtStatusPtr (*ReplayGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  /* since 26 */
  OrtGraphCaptureNodeAssignmentPolicy (*GetGraphCaptureNodeAssignmentPolicy)(_In_ const OrtEp* this_ptr);
  /* since 26 */
  OrtStatusPtr (*GetAvailableResource)(_In_ const OrtEp* this_ptr, _Out_ OrtResourceCount* available);
  /* since 27 */
  OrtStatusPtr (*OnSessionInitializationEnd)(_In_ OrtEp* this_ptr);
  /* since 27 */
  OrtStatusPtr (*GetDefaultMemoryDevice)(_In_ const OrtEp* this_ptr, _Outptr_result_maybenull_ const OrtMemoryDevice** device);
  /* since 27 */
  OrtStatusPtr (*ReleaseCapturedGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  /* since 29 */
  OrtStatusPtr (*GetWeightlessSupport)(_In_ const OrtEp* this_ptr, _Out_ OrtWeightlessSupport* support);
};

/* since 22 */
typedef OrtStatus* (*CreateEpApiFactoriesFn)(_In_ const char* registered_name, _In_ const OrtApiBase* ort_api_base, _In_ const OrtLogger* default_logger, _Inout_ OrtEpFactory** factories, _In_ size_t max_factories, _Out_ size_t* num_factories);

/* since 22 */
typedef OrtStatus* (*ReleaseEpApiFactoryFn)(_In_ OrtEpFactory* factory);

/* since 22 */
struct OrtEpFactory {
  /* since 22 */
  uint32_t ort_version_supported;
  /* since 22 */
  const char* (*GetName)(const OrtEpFactory* this_ptr);
  /* since 22 */
  const char* (*GetVendor)(const OrtEpFactory* this_ptr);
  /* since 22 */
  OrtStatusPtr (*GetSupportedDevices)(_In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices, _In_ size_t num_devices, _Inout_ OrtEpDevice** ep_devices, _In_ size_t max_ep_devices, _Out_ size_t* num_ep_devices);
  /* since 22 */
  OrtStatusPtr (*CreateEp)(_In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices, _In_reads_(num_devices) const OrtKeyValuePairs* const* ep_metadata_pairs, _In_ size_t num_devices, _In_ const OrtSessionOptions* session_options, _In_ const OrtLogger* logger, _Outptr_ OrtEp** ep);
  /* since 22 */
  void (*ReleaseEp)(OrtEpFactory* this_ptr, OrtEp* ep);
  /* since 23 */
  uint32_t (*GetVendorId)(const OrtEpFactory* this_ptr);
  /* since 23 */
  const char* (*GetVersion)(_In_ const OrtEpFactory* this_ptr);
  /* since 23 */
  OrtStatusPtr (*ValidateCompiledModelCompatibilityInfo)(_In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices, _In_ size_t num_devices, _In_ const char* compatibility_info, _Out_ OrtCompiledModelCompatibility* model_compatibility);
  /* since 23 */
  OrtStatusPtr (*CreateAllocator)(_In_ OrtEpFactory* this_ptr, _In_ const OrtMemoryInfo* memory_info, _In_opt_ const OrtKeyValuePairs* allocator_options, _Outptr_result_maybenull_ OrtAllocator** allocator);
  /* since 23 */
  void (*ReleaseAllocator)(_In_ OrtEpFactory* this_ptr, _In_ OrtAllocator* allocator);
  /* since 23 */
  OrtStatusPtr (*CreateDataTransfer)(_In_ OrtEpFactory* this_ptr, _Outptr_result_maybenull_ OrtDataTransferImpl** data_transfer);
  /* since 23 */
  bool (*IsStreamAware)(_In_ const OrtEpFactory* this_ptr);
  /* since 23 */
  OrtStatusPtr (*CreateSyncStreamForDevice)(_In_ OrtEpFactory* this_ptr, _In_ const OrtMemoryDevice* memory_device, _In_opt_ const OrtKeyValuePairs* stream_options, _Outptr_ OrtSyncStreamImpl** stream);
  /* since 24 */
  OrtStatusPtr (*GetHardwareDeviceIncompatibilityDetails)(_In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* hw, _Inout_ OrtDeviceEpIncompatibilityDetails* details);
  /* since 24 */
  OrtStatusPtr (*CreateExternalResourceImporterForDevice)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device, _Outptr_result_maybenull_ OrtExternalResourceImporterImpl** out_importer);
  /* since 24 */
  OrtStatusPtr (*GetNumCustomOpDomains)(_In_ OrtEpFactory* this_ptr, _Out_ size_t* num_domains);
  /* since 24 */
  OrtStatusPtr (*GetCustomOpDomains)(_In_ OrtEpFactory* this_ptr, _Out_writes_all_(num_domains) OrtCustomOpDomain** domains, _In_ size_t num_domains);
  /* since 25 */
  OrtStatusPtr (*InitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device, _In_ const OrtGraphicsInteropConfig* config);
  /* since 25 */
  OrtStatusPtr (*DeinitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device);
  /* since 28 */
  OrtStatusPtr (*SelectBestModelCandidate)(_In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* device, _In_reads_(num_candidates) const OrtKeyValuePairs* const* candidates, _In_ size_t num_candidates, _In_opt_ const OrtSessionOptions* session_options, _Out_ size_t* selected_index);
};
