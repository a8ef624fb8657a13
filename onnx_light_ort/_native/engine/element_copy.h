// Cutting tensors into elements along an axis, and stacking elements along one.
#pragma once

#include <cstdint>
#include <vector>

#include "frame_allocator.h"
#include "value.h"

namespace onnx_light_ort::engine {

/// A tensor with room for its elements. Throws kernels::Error as Value::tensor and the allocator do.
Value allocate_tensor(FrameAllocator& allocator, DataType dtype, const std::vector<int64_t>& dims);

/// Element `index` of `source` along `axis`, without that axis. Shares memory along axis 0.
Value take_element(FrameAllocator& allocator, const Value& source, size_t axis, int64_t index);

/// Tensors of one type and shape, stacked along a new axis. `elements` is not empty.
Value stack_elements(FrameAllocator& allocator, const std::vector<Value>& elements, size_t axis);

}  // namespace onnx_light_ort::engine
