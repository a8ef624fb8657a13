#include "model_metadata.h"

#include <cstring>
#include <string_view>

#include "allocator.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

/// A copy that the caller frees with the allocator.
char* allocate_text(OrtAllocator* allocator, std::string_view text) {
  auto* copy = static_cast<char*>(allocate_from(allocator, text.size() + 1));
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

}  // namespace

void OrtApiSlots::ModelMetadataGetProducerName(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                               char** value) {
  *value = allocate_text(allocator, model_metadata->producer_name);
}

void OrtApiSlots::ModelMetadataGetGraphName(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                            char** value) {
  *value = allocate_text(allocator, model_metadata->graph_name);
}

void OrtApiSlots::ModelMetadataGetDomain(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                         char** value) {
  *value = allocate_text(allocator, model_metadata->domain);
}

void OrtApiSlots::ModelMetadataGetDescription(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                              char** value) {
  *value = allocate_text(allocator, model_metadata->description);
}

void OrtApiSlots::ModelMetadataLookupCustomMetadataMap(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                       const char* key, char** value) {
  const auto found = model_metadata->custom.find(key);
  *value = found == model_metadata->custom.end() ? nullptr : allocate_text(allocator, found->second);
}

void OrtApiSlots::ModelMetadataGetVersion(const OrtModelMetadata* model_metadata, int64_t* value) {
  *value = model_metadata->version;
}

void OrtApiSlots::ReleaseModelMetadata(OrtModelMetadata* input) { delete input; }

void OrtApiSlots::ModelMetadataGetCustomMetadataMapKeys(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                        char*** keys, int64_t* num_keys) {
  const size_t count = model_metadata->custom.size();
  *keys = nullptr;
  *num_keys = 0;
  if (count == 0) return;
  require_free(allocator);
  auto** list = static_cast<char**>(allocate_from(allocator, count * sizeof(char*)));
  size_t made = 0;
  try {
    for (const auto& entry : model_metadata->custom) {
      list[made] = allocate_text(allocator, entry.first);
      ++made;
    }
  } catch (...) {
    while (made > 0) give_back(allocator, list[--made]);
    give_back(allocator, list);
    throw;
  }
  *keys = list;
  *num_keys = static_cast<int64_t>(count);
}

void OrtApiSlots::ModelMetadataGetGraphDescription(const OrtModelMetadata* model_metadata, OrtAllocator* allocator,
                                                   char** value) {
  *value = allocate_text(allocator, model_metadata->graph_description);
}

}  // namespace onnx_light_ort::abi
