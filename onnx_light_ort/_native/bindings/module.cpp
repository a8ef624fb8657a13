// The extension module onnx_light_ort._native.
#include <nanobind/nanobind.h>

#include "abi.h"
#include "custom_ops.h"
#include "engine.h"
#include "execution_provider.h"
#include "graph_view.h"
#include "library.h"
#include "numpy_value.h"
#include "plugin_kernels.h"
#include "plugin_partitions.h"

NB_MODULE(_native, m) {
  using namespace onnx_light_ort::bindings;
  m.doc() = "C++ half of onnx-light-ort.";
  // A session that is alive when the interpreter exits is no leak worth telling users about.
  nanobind::set_leak_warnings(false);
  import_numpy();
  nanobind::module_ engine = m.def_submodule("engine", "Values, plans and executors. No name of a foreign ABI.");
  bind_engine(engine);
  nanobind::module_ abi = m.def_submodule("abi", "The ABI host's objects, for onnx_light_ort.host.");
  bind_custom_ops(abi);
  bind_abi(abi);
  bind_graph_view(abi);
  bind_plugin_partitions(abi);
  bind_library(abi);
  bind_plugin_kernels(abi);
  bind_execution_provider(abi);
}
