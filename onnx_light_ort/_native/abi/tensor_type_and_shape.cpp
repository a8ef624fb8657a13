#include "tensor_type_and_shape.h"

#include "element_type.h"
#include "error.h"
#include "ort_value.h"
#include "slots.h"

void OrtTensorTypeAndShapeInfo::set_dims(const int64_t* dims, size_t rank) {
  if (rank > kInlineRank) {
    auto grown = std::make_unique<int64_t[]>(rank);  // Before the old array goes: dims may point into it.
    std::copy_n(dims, rank, grown.get());
    heap_dims_ = std::move(grown);
  } else {
    std::copy_n(dims, rank, inline_dims_.data());
    heap_dims_.reset();
  }
  rank_ = rank;
  has_shape_ = true;
}

const std::string& OrtTensorTypeAndShapeInfo::symbol(size_t i) const noexcept {
  static const std::string unnamed;
  return i < symbols_.size() ? symbols_[i] : unnamed;
}

namespace onnx_light_ort::abi {
namespace {

[[noreturn]] void null_array(const char* parameter, size_t length) {
  throw Error(ORT_INVALID_ARGUMENT, std::string(parameter) + " is null with a length of " + std::to_string(length) +
                                        ": pass an array of that many elements");
}

}  // namespace

void OrtApiSlots::CreateTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo** out) {
  *out = new OrtTensorTypeAndShapeInfo;
}

void OrtApiSlots::SetTensorElementType(OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType type) {
  info->element_type = type;
}

void OrtApiSlots::SetDimensions(OrtTensorTypeAndShapeInfo* info, const int64_t* dim_values, size_t dim_count) {
  if (dim_values == nullptr && dim_count != 0) null_array("dim_values", dim_count);
  for (size_t i = 0; i < dim_count; ++i) {
    if (dim_values[i] < -1) {
      throw Error(ORT_INVALID_ARGUMENT, "dimension " + std::to_string(i) + " is " + std::to_string(dim_values[i]) +
                                            ": pass -1 for one that is not known, else its extent");
    }
  }
  // A rank never shrinks: the names given before stay, over dimensions that are not known.
  std::vector<int64_t> dims(dim_values, dim_values + dim_count);
  if (info->has_shape()) dims.resize(std::max(dim_count, info->rank()), -1);
  std::vector<std::string> symbols = info->symbols();
  if (!symbols.empty()) symbols.resize(dims.size());
  info->set_dims(dims.data(), dims.size());
  info->set_symbols(std::move(symbols));
}

void OrtApiSlots::GetTensorElementType(const OrtTensorTypeAndShapeInfo* info, ONNXTensorElementDataType* out) {
  *out = info->element_type;
}

void OrtApiSlots::GetDimensionsCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) { *out = info->rank(); }

void OrtApiSlots::GetDimensions(const OrtTensorTypeAndShapeInfo* info, int64_t* dim_values, size_t dim_values_length) {
  const size_t count = std::min(info->rank(), dim_values_length);
  if (dim_values == nullptr && count != 0) null_array("dim_values", dim_values_length);
  std::copy_n(info->dims(), count, dim_values);
}

void OrtApiSlots::GetSymbolicDimensions(const OrtTensorTypeAndShapeInfo* info, const char** dim_params,
                                        size_t dim_params_length) {
  const size_t count = std::min(info->rank(), dim_params_length);
  if (dim_params == nullptr && count != 0) null_array("dim_params", dim_params_length);
  for (size_t i = 0; i < count; ++i) dim_params[i] = info->symbol(i).c_str();
}

void OrtApiSlots::GetTensorShapeElementCount(const OrtTensorTypeAndShapeInfo* info, size_t* out) {
  if (!info->has_shape()) {
    *out = 0;
    return;
  }
  const auto count = kernels::checked_element_count(info->dims(), info->rank());
  if (!count) {
    throw Error(ORT_FAIL,
                "the shape has a dimension that is not known, or its element count overflows: ask for its dimensions");
  }
  *out = static_cast<size_t>(*count);
}

void OrtApiSlots::GetTensorTypeAndShape(const OrtValue* value, OrtTensorTypeAndShapeInfo** out) {
  const kernels::TensorView& view = tensor_of(value);
  *out = new OrtTensorTypeAndShapeInfo(to_abi(view.dtype), view.dims, view.rank);
}

void OrtApiSlots::ReleaseTensorTypeAndShapeInfo(OrtTensorTypeAndShapeInfo* input) { delete input; }

void OrtApiSlots::SetSymbolicDimensions(OrtTensorTypeAndShapeInfo* info, const char** dim_params,
                                        size_t dim_params_length) {
  if (dim_params == nullptr && dim_params_length != 0) null_array("dim_params", dim_params_length);
  const size_t rank = std::max(dim_params_length, info->rank());
  std::vector<int64_t> dims(info->dims(), info->dims() + info->rank());
  dims.resize(rank, -1);
  std::vector<std::string> symbols(rank);
  for (size_t i = 0; i < dim_params_length; ++i) {
    if (dim_params[i] != nullptr) symbols[i] = dim_params[i];
  }
  info->set_dims(dims.data(), rank);
  info->set_symbols(std::move(symbols));
}

bool OrtApiSlots::TensorTypeAndShape_HasShape(const OrtTensorTypeAndShapeInfo* info) { return info->has_shape(); }

void OrtApiSlots::GetTensorElementTypeAndShapeDataReference(const OrtValue* value, ONNXTensorElementDataType* elem_type,
                                                            const int64_t** shape_data, size_t* shape_data_count) {
  const kernels::TensorView* view = value->view;
  if (view == nullptr) throw Error(ORT_INVALID_ARGUMENT, "the value holds no tensor: pass one that IsTensor accepts");
  *elem_type = to_abi(view->dtype);
  *shape_data = view->rank == 0 ? nullptr : view->dims;
  *shape_data_count = view->rank;
}

}  // namespace onnx_light_ort::abi
