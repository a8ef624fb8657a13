// Custom ops, for the Python half that resolves and plans their nodes.
#include "custom_ops.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <climits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "custom_op.h"
#include "custom_op_kernel.h"
#include "delete_without_gil.h"
#include "element_type.h"
#include "foreign_text.h"
#include "gil.h"
#include "kernel_handle.h"
#include "node_description.h"
#include "node_info.h"
#include "served_tables.h"
#include "session_options.h"
#include "session_services.h"

namespace onnx_light_ort::bindings {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using abi::CustomOp;
using abi::SessionServices;

std::shared_ptr<SessionServices> make_services(const OrtSessionOptions& options,
                                               std::shared_ptr<engine::MemoryBudget> budget,
                                               const std::string& log_name, int log_severity) {
  return std::shared_ptr<SessionServices>(new SessionServices{
      abi::served_api(),
      options.config_entries(),
      std::move(budget),
      {log_name, static_cast<OrtLoggingLevel>(log_severity)},
  });
}

nb::object to_python(const OrtTensorTypeAndShapeInfo* info) {
  if (info == nullptr) return nb::none();
  const int data_type = static_cast<int>(abi::from_abi(info->element_type));
  if (!info->has_shape()) return nb::make_tuple(data_type, nb::none());
  nb::list dims;
  for (size_t i = 0; i < info->rank(); ++i) {
    if (info->dims()[i] >= 0 && info->symbol(i).empty()) {
      dims.append(info->dims()[i]);
    } else if (!info->symbol(i).empty()) {
      dims.append(info->symbol(i));
    } else {
      dims.append(nb::none());
    }
  }
  return nb::make_tuple(data_type, dims);
}

KernelHandle create_kernel(const std::shared_ptr<const CustomOp>& op,
                           const std::shared_ptr<const SessionServices>& services, const std::string& name,
                           int since_version, const nb::list& inputs, const nb::list& outputs,
                           const nb::dict& attributes, const nb::sequence& constant_inputs) {
  auto info =
      node_info(name, op->domain, op->name, since_version, inputs, outputs, attributes, constant_inputs, services);
  GilReleased released;  // The plugin may wait for a thread of its own that needs it.
  std::shared_ptr<kernels::Kernel> kernel(new abi::CustomOpKernel(op, std::move(info)), DeleteWithoutGil());
  return {std::move(kernel), op->signature};
}

nb::tuple infer(const CustomOp& op, const std::string& name, int since_version, const nb::list& inputs,
                size_t output_count, const nb::dict& attributes) {
  Arguments read(inputs);
  const auto description = describe_node(name, op.domain, op.name, since_version, std::move(read.types), {}, attributes,
                                         nb::cast<nb::sequence>(nb::list()));
  std::vector<std::unique_ptr<OrtTensorTypeAndShapeInfo>> infos;
  for (const abi::ArgumentInfo& info : read.infos) {
    infos.push_back(info.type == nullptr ? type_and_shape(0, nb::none())
                                         : std::make_unique<OrtTensorTypeAndShapeInfo>(*info.type->tensor));
  }
  abi::InferredOutputs inferred;
  {
    GilReleased released;
    inferred = abi::infer_outputs(op, description->node, std::move(infos), output_count);
  }
  nb::list outputs;
  for (const auto& output : inferred.outputs) outputs.append(to_python(output.get()));
  return nb::make_tuple(outputs, inferred.failure.empty() ? nb::none() : nb::object(foreign_text(inferred.failure)));
}

using FormalArguments = std::vector<std::tuple<int, int, int>>;

FormalArguments describe(const std::vector<CustomOp::Argument>& arguments) {
  FormalArguments rows;
  for (const CustomOp::Argument& argument : arguments) {
    rows.emplace_back(static_cast<int>(argument.type), static_cast<int>(argument.characteristic),
                      static_cast<int>(argument.memory_type));
  }
  return rows;
}

std::vector<std::pair<size_t, size_t>> describe(const std::vector<CustomOp::SharedBuffer>& pairs) {
  std::vector<std::pair<size_t, size_t>> rows;
  for (const auto& [input, output] : pairs) rows.emplace_back(input, output);
  return rows;
}

}  // namespace

void bind_custom_ops(nb::module_& m) {
  nb::class_<SessionServices>(m, "SessionServices", "What plugins get from one session.")
      .def(nb::new_(&make_services), "options"_a, "budget"_a, "log_name"_a, "log_severity"_a,
           "Copies the configuration entries of `options`. What a plugin allocates is charged to `budget`.");

  nb::class_<CustomOp>(m, "CustomOp",
                       "A custom op that its library described. Keeps the library loaded. Types are ONNX numbers, 0 "
                       "for any.")
      .def_prop_ro("domain", [](const CustomOp& op) { return foreign_text(op.domain); })
      .def_prop_ro("name", [](const CustomOp& op) { return foreign_text(op.name); })
      .def_ro("provider", &CustomOp::provider,
              "The execution provider that brings it; empty for a library of custom ops.")
      .def_ro("only_for_provider", &CustomOp::only_for_provider, "It runs on that provider, not on the CPU.")
      .def_ro("other_provider", &CustomOp::other_provider,
              "The execution provider that it is for; None for the CPU or the one that brings it.")
      .def_prop_ro(
          "inputs", [](const CustomOp& op) { return describe(op.inputs); },
          "(element type, OrtCustomOpInputOutputCharacteristic, OrtMemType) of each declared input.")
      .def_prop_ro(
          "outputs", [](const CustomOp& op) { return describe(op.outputs); }, "As inputs.")
      .def_prop_ro(
          "variadic_input",
          [](const CustomOp& op) { return std::pair(op.variadic_input.min_arity, op.variadic_input.homogeneous); },
          "(least number of arguments, whether all have one type), if the last input is variadic.")
      .def_prop_ro(
          "variadic_output",
          [](const CustomOp& op) { return std::pair(op.variadic_output.min_arity, op.variadic_output.homogeneous); },
          "As variadic_input.")
      .def_ro("start_version", &CustomOp::start_version)
      .def_prop_ro(
          "end_version",
          [](const CustomOp& op) {
            return op.end_version == INT_MAX ? std::nullopt : std::optional<int>(op.end_version);
          },
          "The last version; None: no end.")
      .def_prop_ro(
          "may_share", [](const CustomOp& op) { return describe(op.may_share); },
          "(input, output) pairs: the output may take the input's buffer.")
      .def_prop_ro(
          "must_share", [](const CustomOp& op) { return describe(op.must_share); },
          "(input, output) pairs: the output begins with the input's content.")
      .def_prop_ro("infers_shapes", [](const CustomOp& op) { return op.infer_shapes != nullptr; })
      .def_prop_ro(
          "signature", [](const CustomOp& op) { return foreign_text(op.signature); }, "For messages.")
      .def(
          "infer", &infer, "name"_a, "since_version"_a, "inputs"_a, "output_count"_a, "attributes"_a,
          "Calls the op's shape inference. inputs: (name, element type, dimensions or None), or None where left out; a "
          "dimension is an int, a symbol's name, or None. Returns the outputs, each (element type, dimensions or None) "
          "or None where nothing was said, and the failure that the op reported, or None. Raises Error when it throws.")
      .def("create_kernel", &create_kernel, "services"_a, "name"_a, "since_version"_a, "inputs"_a, "outputs"_a,
           "attributes"_a, "constant_inputs"_a,
           "Makes the kernel of one node. inputs and outputs as for infer(); attributes and constant_inputs as for "
           "NativeKernelEntry.create().");
}

}  // namespace onnx_light_ort::bindings
