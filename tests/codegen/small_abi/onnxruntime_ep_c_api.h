#if defined(__DOXYGEN__)
#include "onnxruntime_c_api.h"
#endif
#ifdef __cplusplus
extern "C" {
#endif
ORT_RUNTIME_CLASS(Ep);

/** \since Version 1.22. */
struct OrtEpApi {
  ORT_API2_STATUS(UseEp, _In_ OrtEp* ep);
  ORT_CLASS_RELEASE(Ep);
};

/** \brief What a plugin fills in.
 * \since Version 1.22.
 */
struct OrtEp {
  uint32_t ort_version_supported;
  /** \since Version 1.22. */
  ORT_API_T(const char*, GetName, _In_ const OrtEp* this_ptr);
  /** \since Version 1.24. */
  ORT_API2_STATUS(Newer, _In_ OrtEp* this_ptr);
};
#ifdef __cplusplus
}
#endif
