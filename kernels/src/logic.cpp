// And, Or, Xor, Not. A bool is true by any nonzero byte, and is written as 0 or 1.
#include "elementwise.h"
#include "native_kernels.h"
#include "registration.h"

namespace onnx_light_ort::kernels {
namespace {

struct AndOp {
  [[gnu::always_inline]] static bool apply(uint8_t a, uint8_t b) { return (a != 0) & (b != 0); }
};

struct OrOp {
  [[gnu::always_inline]] static bool apply(uint8_t a, uint8_t b) { return (a | b) != 0; }
};

struct XorOp {
  [[gnu::always_inline]] static bool apply(uint8_t a, uint8_t b) { return (a != 0) != (b != 0); }
};

struct NotOp {
  [[gnu::always_inline]] static bool apply(uint8_t x, const UnaryParameters&) { return x == 0; }
};

template <class Op>
std::unique_ptr<Kernel> make_logic(const Node&) {
  return make_binary_kernel("logic", binary_loops<Op, uint8_t, bool>(), DataType::kBool, DataType::kBool, kCheapGrain);
}

std::unique_ptr<Kernel> make_not(const Node&) {
  return make_unary_kernel(unary_loop<NotOp, uint8_t, bool>(), DataType::kBool, {}, kCheapGrain);
}

}  // namespace

void register_logic(KernelRegistry& registry) {
  add_kernel(registry, "And", 7, 7, {{"T", kBoolType}}, &make_logic<AndOp>);
  add_kernel(registry, "Or", 7, 7, {{"T", kBoolType}}, &make_logic<OrOp>);
  add_kernel(registry, "Xor", 7, 7, {{"T", kBoolType}}, &make_logic<XorOp>);
  add_kernel(registry, "Not", 1, 1, {{"T", kBoolType}}, &make_not);
}

}  // namespace onnx_light_ort::kernels
