// Types without arithmetic of their own, for kernels that are written for what carries them (carried_element.h): inputs
// are widened, outputs rounded once at the end.
#pragma once

#include <memory>

#include "carried_element.h"
#include "onnx_light_ort/kernels/kernel.h"
#include "onnx_light_ort/kernels/kernel_registry.h"

namespace onnx_light_ort::kernels {

/// A kernel for `node` made by `factory` for the same node with carrier(type) in the place of each type: one of the
/// types that C++ computes with, by default the one that holds the values exactly.
std::unique_ptr<Kernel> make_widened_kernel(const Node& node, KernelFactory factory,
                                            DataType (*carrier)(DataType) noexcept = &carrier_of);

/// True when an input or output is a 16-bit float.
bool has_half(const Node& node);

/// `type`, or double where it is another floating point type.
DataType as_double(DataType type) noexcept;

/// True when some inputs or outputs are of double and others of another floating point type.
bool mixes_double(const Node& node);

/// True when an input or output is of a type of which several elements share a byte.
bool has_sub_byte(const Node& node);

/// The factory to register: `factory` itself, or its widened form where the node has 16-bit floats.
template <KernelFactory factory>
std::unique_ptr<Kernel> with_half(const Node& node) {
  return has_half(node) ? make_widened_kernel(node, factory) : factory(node);
}

/// The same for operators whose inputs and outputs may have several floating point types, and kernels that know one.
template <KernelFactory factory>
std::unique_ptr<Kernel> with_one_float(const Node& node) {
  return mixes_double(node) ? make_widened_kernel(node, factory, &as_double) : with_half<factory>(node);
}

/// The same for kernels that move whole bytes, where the node has elements that share one.
template <KernelFactory factory>
std::unique_ptr<Kernel> with_sub_byte(const Node& node) {
  return has_sub_byte(node) ? make_widened_kernel(node, factory) : factory(node);
}

}  // namespace onnx_light_ort::kernels
