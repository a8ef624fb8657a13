#include "broadcast.h"

namespace onnx_light_ort::kernels {

Dims broadcast_dims(const char* op, const TensorView* const* operands, size_t count) {
  size_t rank = 0;
  for (size_t i = 0; i < count; ++i) rank = std::max(rank, operands[i]->rank);
  Dims out(rank, 1);
  for (size_t i = 0; i < count; ++i) {
    const TensorView& operand = *operands[i];
    const size_t skipped = rank - operand.rank;
    for (size_t d = 0; d < operand.rank; ++d) {
      int64_t& extent = out[skipped + d];
      if (operand.dims[d] == extent || operand.dims[d] == 1) continue;
      if (extent != 1) {
        std::string shapes;
        for (size_t j = 0; j < count; ++j) shapes += (j ? " and " : "") + to_string(*operands[j]);
        invalid_argument(std::string(op) + ": shapes " + shapes + " do not broadcast");
      }
      extent = operand.dims[d];
    }
  }
  return out;
}

}  // namespace onnx_light_ort::kernels
