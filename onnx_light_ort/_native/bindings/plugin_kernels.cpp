#include "plugin_kernels.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <climits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "delete_without_gil.h"
#include "ep_kernel.h"
#include "execution_provider.h"
#include "foreign_text.h"
#include "gil.h"
#include "kernel_handle.h"
#include "node_info.h"
#include "run_options.h"

namespace onnx_light_ort::bindings {
namespace {

namespace nb = nanobind;
using namespace nb::literals;

std::optional<EpKernels> kernels_of(const EpHandle& handle) {
  const std::shared_ptr<abi::Ep> ep = handle.ep();
  GilReleased released;
  auto kernels = abi::read_kernel_registry(*ep);
  if (kernels == nullptr) return std::nullopt;
  return EpKernels{std::move(kernels)};
}

nb::dict type_constraints(const OrtKernelDef& definition) {
  nb::dict result;
  for (const auto& [parameter, types] : definition.type_constraints) {
    nb::list numbers;
    for (const OrtDataType* type : types) numbers.append(type == nullptr ? 0 : static_cast<int>(type->element_type));
    result[foreign_text(parameter)] = numbers;
  }
  return result;
}

std::map<size_t, int> memory_types(const OrtKernelDef::MemoryTypes& types) {
  std::map<size_t, int> numbers;
  for (const auto& [index, type] : types) numbers.emplace(index, static_cast<int>(type));
  return numbers;
}

/// Positions, "ai.onnx" written as "". There is no index of what is asked for a few times.
std::vector<size_t> places_of(const EpKernels& self, const std::string& domain, const std::string& op_type) {
  std::vector<size_t> places;
  for (size_t i = 0; i < self.kernels->size(); ++i) {
    const OrtKernelDef& definition = *(*self.kernels)[i].definition;
    if (definition.op_type != op_type) continue;
    if (definition.domain == domain || (domain.empty() && definition.domain == "ai.onnx")) places.push_back(i);
  }
  return places;
}

bool is_regular(const OrtKernelDef& definition, const std::string& provider) {
  const auto known = [](const auto& entry) {
    return entry.second >= OrtMemTypeCPUInput && entry.second <= OrtMemTypeDefault;
  };
  const auto whole = [](const auto& entry) {
    return std::find(entry.second.begin(), entry.second.end(), nullptr) == entry.second.end();
  };
  const auto all = [](const auto& entries, const auto& holds) {
    return std::all_of(entries.begin(), entries.end(), holds);
  };
  return !definition.op_type.empty() && definition.provider == provider && all(definition.type_constraints, whole) &&
         all(definition.input_memory_types, known) && all(definition.output_memory_types, known);
}

/// A provider may have hundreds of definitions, of which a session looks at few.
std::vector<size_t> irregular_places(const EpKernels& self, const std::string& provider) {
  std::vector<size_t> places;
  for (size_t i = 0; i < self.kernels->size(); ++i) {
    if (!is_regular(*(*self.kernels)[i].definition, provider)) places.push_back(i);
  }
  return places;
}

KernelHandle create_kernel(const EpKernels& self, size_t place, const EpHandle& handle, const std::string& name,
                           int since_version, const nb::list& inputs, const nb::list& outputs,
                           const nb::dict& attributes, const nb::sequence& constant_inputs) {
  const OrtKernelRegistry::Kernel& kernel = self.kernels->at(place);
  const std::shared_ptr<const abi::Ep> ep = handle.ep();
  const std::string domain = kernel.definition->domain == "ai.onnx" ? "" : kernel.definition->domain;
  auto info = node_info(name, domain, kernel.definition->op_type, since_version, inputs, outputs, attributes,
                        constant_inputs, ep->services(), ep->get());
  GilReleased released;  // The plugin may wait for a thread of its own that needs it.
  std::shared_ptr<abi::EpKernel> made(new abi::EpKernel(ep, kernel, std::move(info)), DeleteWithoutGil());
  return {std::move(made), "execution provider '" + ep->name() + "'"};
}

std::shared_ptr<OrtRunOptions> make_run_options(int log_severity, int log_verbosity, const std::string& tag,
                                                const std::map<std::string, std::string>& entries) {
  auto options = std::make_shared<OrtRunOptions>();
  options->log_severity = log_severity;
  options->log_verbosity = log_verbosity;
  options->tag = tag;
  for (const auto& [key, value] : entries) abi::set_config_entry(options->config_entries, key, value);
  return options;
}

/// (domain, operator, first version, last version or None, memory types by input) of each
OperatorDefinitions operator_definitions(
    const std::string& provider,
    const std::vector<std::tuple<std::string, std::string, int, std::optional<int>, std::map<size_t, int>>>&
        operators) {
  OperatorDefinitions made;
  for (const auto& [domain, op_type, first, last, memory] : operators) {
    OrtKernelDef definition;
    definition.op_type = op_type;
    definition.domain = domain;
    definition.provider = provider;
    definition.start_version = first;
    definition.end_version = last.value_or(INT_MAX);
    for (const auto& [input, type] : memory) definition.input_memory_types[input] = static_cast<OrtMemType>(type);
    made.definitions.push_back(std::move(definition));
  }
  return made;
}

}  // namespace

abi::KernelLookup::Match matching_by(nb::handle match, const EpKernels* kernels, const OperatorDefinitions& operators) {
  return [=, &operators](const abi::OperatorRecord& op, const abi::ArgumentTypes& inputs,
                         const abi::ArgumentTypes& outputs) -> const OrtKernelDef* {
    GilAcquired acquired;
    try {
      const auto place = nb::cast<std::optional<size_t>>(match(op.position, inputs, outputs));
      if (!place) return nullptr;
      const size_t count = kernels == nullptr ? 0 : kernels->kernels->size();
      return *place < count ? (*kernels->kernels)[*place].definition.get() : &operators.definitions.at(*place - count);
    } catch (const nb::python_error& error) {  // It must not be alive when the GIL is gone.
      throw abi::Error(ORT_RUNTIME_EXCEPTION, nb::cast<std::string>(nb::str(error.value())));
    }
  };
}

void bind_plugin_kernels(nb::module_& m) {
  using Kernel = OrtKernelRegistry::Kernel;
  nb::class_<Kernel>(m, "KernelDefinition", "What one kernel of a provider serves.")
      .def_prop_ro("op_type", [](const Kernel& self) { return foreign_text(self.definition->op_type); })
      .def_prop_ro("domain", [](const Kernel& self) { return foreign_text(self.definition->domain); })
      .def_prop_ro("provider", [](const Kernel& self) { return foreign_text(self.definition->provider); })
      .def_prop_ro("start_version", [](const Kernel& self) { return self.definition->start_version; })
      .def_prop_ro(
          "end_version",
          [](const Kernel& self) {
            return self.definition->end_version == INT_MAX ? std::nullopt
                                                           : std::optional<int>(self.definition->end_version);
          },
          "The last since-version; None: it is open, and only the first one is served.")
      .def_prop_ro(
          "type_constraints", [](const Kernel& self) { return type_constraints(*self.definition); },
          "ONNX element types by type parameter; 0 is a type that was left out.")
      .def_prop_ro(
          "input_memory_types", [](const Kernel& self) { return memory_types(self.definition->input_memory_types); },
          "OrtMemType by input.")
      .def_prop_ro(
          "output_memory_types", [](const Kernel& self) { return memory_types(self.definition->output_memory_types); },
          "OrtMemType by output.")
      .def_prop_ro(
          "aliases", [](const Kernel& self) { return self.definition->aliases; },
          "(input, output) pairs: the output begins with the input's content.")
      .def_prop_ro(
          "mutable_aliases", [](const Kernel& self) { return self.definition->mutable_aliases; },
          "(input, output) pairs: the output may take the input's buffer.");

  nb::class_<EpKernels>(m, "EpKernels", "The kernels that a provider registered.")
      .def(
          "definition", [](const EpKernels& self, size_t place) { return self.kernels->at(place); }, "place"_a)
      .def("__len__", [](const EpKernels& self) { return self.kernels->size(); })
      .def("places", &places_of, "domain"_a, "op_type"_a, "Positions of the definitions for an operator.")
      .def("irregular_places", &irregular_places, "provider"_a,
           "Positions of definitions that name no operator, another provider, a null type or no known memory type.")
      .def("create_kernel", &create_kernel, "place"_a, "ep"_a, "name"_a, "since_version"_a, "inputs"_a, "outputs"_a,
           "attributes"_a, "constant_inputs"_a,
           "Makes the kernel of one node by the definition at that place. The others as for CustomOp.create_kernel().");
  m.def("kernels_of", &kernels_of, "ep"_a, "What the provider's kernel registry holds; None where it has none.");

  nb::class_<OperatorDefinitions>(m, "OperatorDefinitions",
                                  "What a provider reads of the operators that its factory brings, where it looks "
                                  "their kernels up. operators: (domain, operator, first version, last version or "
                                  "None, memory types by input).")
      .def(nb::new_(&operator_definitions), "provider"_a, "operators"_a)
      .def("__len__", [](const OperatorDefinitions& self) { return self.definitions.size(); });

  nb::class_<OrtRunOptions>(m, "RunOptions", "How one run is done, for plugins.")
      .def(nb::new_(&make_run_options), "log_severity"_a = -1, "log_verbosity"_a = 0, "tag"_a = "",
           "entries"_a = std::map<std::string, std::string>());
}

}  // namespace onnx_light_ort::bindings
