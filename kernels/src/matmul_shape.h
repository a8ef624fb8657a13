// The shapes of a matrix product by numpy's rules: vectors, matrices, and batches of these that broadcast.
#pragma once

#include <string>

#include "broadcast.h"

namespace onnx_light_ort::kernels {

/// The product as matrices: a batch of [m, k] x [k, n], with the batch dimensions of each side.
struct MatMulShape {
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  Dims batch;  ///< What the batch dimensions broadcast to.
  Dims out;

  MatMulShape(const char* op, const TensorView& a, const TensorView& b) {
    if (a.rank == 0 || b.rank == 0) invalid_argument(std::string(op) + ": an operand is a scalar");
    if (a.rank > 1) m = a.dims[a.rank - 2];
    k = a.dims[a.rank - 1];
    if (b.rank > 1) n = b.dims[b.rank - 1];
    if (k != b.dims[b.rank > 1 ? b.rank - 2 : 0]) {
      invalid_argument(std::string(op) + ": shapes " + to_string(a) + " and " + to_string(b) + " do not agree");
    }
    TensorView batch_a = a;
    TensorView batch_b = b;
    batch_a.rank = a.rank > 2 ? a.rank - 2 : 0;
    batch_b.rank = b.rank > 2 ? b.rank - 2 : 0;
    const TensorView* operands[] = {&batch_a, &batch_b};
    batch = broadcast_dims(op, operands, 2);
    out = batch;
    if (a.rank > 1) out.push_back(m);
    if (b.rank > 1) out.push_back(n);
  }

  int64_t batch_count() const { return product(batch.data(), 0, batch.size()); }

  /// Where in the operand the matrix begins that belongs to the index-th of the batch, in elements.
  int64_t offset_of(const TensorView& operand, int64_t index) const {
    if (operand.rank <= 2) return 0;
    const size_t own_rank = operand.rank - 2;
    int64_t offset = 0;
    int64_t stride = operand.dims[own_rank] * operand.dims[own_rank + 1];
    for (size_t from_back = 0; from_back < own_rank; ++from_back) {
      const size_t d = own_rank - 1 - from_back;
      const int64_t extent = batch[batch.size() - 1 - from_back];
      if (operand.dims[d] != 1) offset += index % extent * (operand.is_dense() ? stride : operand.strides[d]);
      stride *= operand.dims[d];
      index /= extent;
    }
    return offset;
  }
};

}  // namespace onnx_light_ort::kernels
