#include "plugin_partitions.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "delete_without_gil.h"
#include "execution_provider.h"
#include "gil.h"
#include "graph_view.h"
#include "kernel_handle.h"
#include "node_compute_info.h"

namespace onnx_light_ort::bindings {
namespace {

namespace nb = nanobind;
using namespace nb::literals;
using abi::CompiledPartition;
using abi::EpCompilation;

/// (view, name, node id) of each partition.
std::vector<std::shared_ptr<CompiledPartition>> compile(EpCompilation& self, const nb::sequence& partitions) {
  std::vector<abi::PartitionView> views;
  for (nb::handle item : partitions) {
    views.push_back(
        {nb::cast<const GraphView&>(item[0]).graph(), nb::cast<std::string>(item[1]), nb::cast<size_t>(item[2])});
  }
  GilReleased released;  // The plugin may wait for a thread of its own that needs it.
  return self.compile(views);
}

}  // namespace

void bind_plugin_partitions(nb::module_& m) {
  nb::class_<CompiledPartition>(m, "CompiledPartition", "A partition that a plugin EP compiled for one session.")
      .def("create_state", &CompiledPartition::create_state, nb::call_guard<GilReleased>(),
           "Lets the EP get ready to run.")
      .def("release", &CompiledPartition::release, nb::call_guard<GilReleased>(),
           "Releases the EP's state, once. Waits for runs that are under way.")
      .def_prop_ro(
          "kernel", [](const std::shared_ptr<CompiledPartition>& self) { return KernelHandle{self, self->name()}; },
          "Runs the partition; fails without a state.");

  nb::class_<EpCompilation>(m, "EpCompilation", "All that one plugin EP compiles for one session.")
      .def(nb::new_([](const EpHandle& ep) {
             return std::shared_ptr<EpCompilation>(new EpCompilation(ep.ep()), DeleteWithoutGil());
           }),
           "ep"_a)
      .def("compile", &compile, "partitions"_a,
           "Calls OrtEp::Compile. partitions: (view of the partition's graph, name, id of the fused node) of each; the "
           "views need not outlive the call. Returns the CompiledPartition of each.");
}

}  // namespace onnx_light_ort::bindings
