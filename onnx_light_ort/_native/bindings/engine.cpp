// The submodule onnx_light_ort._native.engine: values, plans, executors.
#include "engine.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "control_flow.h"
#include "errors.h"
#include "executor.h"
#include "gil.h"
#include "kernel_handle.h"
#include "kernel_step.h"
#include "model_skeleton.h"
#include "node_description.h"
#include "numpy_value.h"
#include "onnx_light_ort/kernels/kernel_registry.h"
#include "python_kernel.h"
#include "wire_format.h"

namespace onnx_light_ort::bindings {
namespace {

using engine::DataType;
using engine::Executor;
using engine::MemoryBudget;
using engine::Plan;
using engine::PlanBuilder;
using engine::Value;

/// Bound as engine.RunControl: lets another thread end a run.
struct RunControl {
  std::atomic<bool> terminate{false};
};

/// The GIL as the lock around the engine.
class GilLock final : public engine::OuterLock {
 public:
  void release() override { saved_ = PyEval_SaveThread(); }
  void acquire() override {
    park_if_unwound([&] { PyEval_RestoreThread(saved_); });
    drop_pending_references();
  }

 private:
  PyThreadState* saved_ = nullptr;
};

/// A kernel of the native library, made with everything that it borrows.
KernelHandle create_native_kernel(const kernels::KernelEntry& entry, std::shared_ptr<NodeDescription> description) {
  struct Owned {
    std::shared_ptr<NodeDescription> description;  // outlives the kernel
    std::unique_ptr<kernels::Kernel> kernel;
  };
  auto owned = std::make_shared<Owned>();
  owned->kernel = entry.factory(description->node);
  owned->description = std::move(description);
  kernels::Kernel* kernel = owned->kernel.get();
  return {std::shared_ptr<kernels::Kernel>(std::move(owned), kernel), "native"};
}

/// An Executor with the Python objects that make a run cheap.
class PythonExecutor {
 public:
  PythonExecutor(std::shared_ptr<const Plan> plan, int num_threads, std::shared_ptr<MemoryBudget> budget)
      : executor_(std::move(plan), num_threads, std::move(budget)) {
    for (const engine::InputSpec& input : executor_.plan().inputs) {
      input_names_.push_back(nb::steal<nb::str>(PyUnicode_InternFromString(input.name.c_str())));
    }
    const auto& outputs = executor_.plan().outputs;
    for (size_t i = 0; i < outputs.size(); ++i) output_index_[outputs[i].name.c_str()] = i;
  }

  nb::list run(nb::handle output_names, const nb::dict& feed, const RunControl* control, nb::handle profile,
               nb::handle begin) {
    if (is_retired_) end_with_process();
    const Running running(running_);
    Executor::Lease frame(executor_);
    fill_inputs(*frame, feed);
    const std::vector<size_t> wanted = wanted_outputs(output_names);
    // Whatever runs bytecode gives the GIL up at times, and asks for it again.
    if (!begin.is_none()) park_if_unwound([&] { begin(); });

    std::vector<engine::StepTiming> timings;
    GilLock lock;
    engine::RunState state(executor_.pool(), frame, &lock, profile.is_none() ? nullptr : &timings,
                           control == nullptr ? nullptr : &control->terminate);
    if (state.timings != nullptr) state.began_ns = now_ns();
    {
      // Whatever the run does, Python goes on under the GIL.
      struct Enter {
        engine::RunState& state;
        ~Enter() { state.enter_lock(); }
      } enter{state};
      park_if_unwound([&] { frame->run(state); });  // Python kernels ask for it
    }
    if (state.timings != nullptr) append_timings(timings, nb::borrow<nb::list>(profile));

    nb::list outputs;
    for (size_t index : wanted) {
      outputs.append(publish(executor_.plan().outputs[index], *frame));
    }
    return outputs;
  }

  /// Lets no other run begin; true where none is under way.
  bool retire() {
    is_retired_ = true;
    return running_ == 0;
  }

  std::vector<std::string> output_names() const {
    std::vector<std::string> names;
    for (const engine::OutputSpec& output : executor_.plan().outputs) names.push_back(output.name);
    return names;
  }
  size_t step_count() const { return executor_.plan().steps.size(); }
  int num_threads() { return executor_.pool().num_threads(); }
  std::shared_ptr<MemoryBudget> budget() const { return executor_.budget(); }

 private:
  /// Counts a run while it is under way; the GIL guards the counter.
  struct Running {
    explicit Running(int& counter) : counter(++counter) {}
    ~Running() { --counter; }
    int& counter;
  };

  [[noreturn]] static void end_with_process() {
    if (gettid() == getpid()) {
      kernels::fail(kernels::ErrorKind::kInternal,
                    "the session was closed, since the program ends: run it before the functions of atexit are called");
    }
    PyEval_SaveThread();
    park_thread();
  }

  static nb::object publish(const engine::OutputSpec& output, engine::Frame& frame) {
    try {
      return publish_value(frame.slot(output.value));
    } catch (const nb::python_error& error) {
      // numpy has limits of its own on ranks and extents.
      kernels::invalid_argument("output '" + output.name + "' cannot become an array: " + error.what());
    }
  }

  static int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

  void fill_inputs(engine::Frame& frame, const nb::dict& feed) const {
    const std::vector<engine::InputSpec>& specs = executor_.plan().inputs;
    for (size_t i = 0; i < specs.size(); ++i) {
      PyObject* fed = PyDict_GetItemWithError(feed.ptr(), input_names_[i].ptr());
      if (fed == nullptr) {
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        kernels::invalid_argument("input '" + specs[i].name + "' is missing from the feed");
      }
      Value& slot = frame.slot(specs[i].value);
      try {
        slot = value_from_object(fed, specs[i].reads_strides);
      } catch (const kernels::Error& error) {
        throw kernels::Error(error.kind(), "input '" + specs[i].name + "': " + error.what());
      }
      engine::check_input(specs[i], slot);
    }
    if (feed.size() > specs.size()) fail_unknown_input(feed);
  }

  [[noreturn]] void fail_unknown_input(const nb::dict& feed) const {
    std::string known;
    for (const engine::InputSpec& spec : executor_.plan().inputs)
      known += (known.empty() ? "'" : ", '") + spec.name + "'";
    for (auto [name, value] : feed) {
      bool found = false;
      for (const nb::str& input : input_names_) found = found || input.equal(name);
      if (!found) {
        kernels::invalid_argument("the model has no input " + std::string(nb::repr(name).c_str()) +
                                  "; its inputs are " + (known.empty() ? "none" : known));
      }
    }
    kernels::invalid_argument("the feed names an input twice");
  }

  std::vector<size_t> wanted_outputs(nb::handle names) const {
    const size_t count = executor_.plan().outputs.size();
    std::vector<size_t> wanted;
    if (names.is_none() || nb::len(names) == 0) {
      wanted.resize(count);
      for (size_t i = 0; i < count; ++i) wanted[i] = i;
      return wanted;
    }
    for (nb::handle name : names) {
      PyObject* index = PyDict_GetItemWithError(output_index_.ptr(), name.ptr());
      if (index == nullptr) {
        if (PyErr_Occurred() != nullptr) throw nb::python_error();
        std::string known;
        for (const auto& output : executor_.plan().outputs) known += (known.empty() ? "'" : ", '") + output.name + "'";
        kernels::invalid_argument("the model has no output " + std::string(nb::repr(name).c_str()) +
                                  "; its outputs are " + known);
      }
      wanted.push_back(PyLong_AsSize_t(index));
    }
    return wanted;
  }

  static void append_timings(const std::vector<engine::StepTiming>& timings, nb::list profile) {
    const size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id()) % 1000000;
    for (const engine::StepTiming& timing : timings) {
      profile.append(nb::make_tuple(timing.step->name(), timing.step->kind(),
                                    static_cast<double>(timing.start_ns) / 1e3,
                                    static_cast<double>(timing.duration_ns) / 1e3, thread));
    }
  }

  Executor executor_;
  std::vector<nb::str> input_names_;
  nb::dict output_index_;
  int running_ = 0;
  bool is_retired_ = false;
};

void bind_value(nb::module_& m) {
  nb::class_<Value>(m, "Value",
                    "A tensor, or an object that only Python kernels understand. Shares memory with what it was made "
                    "from where layouts allow.")
      .def_static(
          "from_object", [](nb::handle object) { return value_from_object(object); }, nb::arg("object"),
          "An array (shared where it is contiguous and aligned), a scalar, or any other object.")
      .def(
          "to_object", [](const Value& value) { return object_from_value(value); },
          "The array over this tensor's memory (copied for strings and sub-byte types), or the object.")
      .def_prop_ro("is_tensor", &Value::is_tensor)
      .def_prop_ro(
          "data_type", [](const Value& value) { return value.is_tensor() ? static_cast<int>(value.view().dtype) : 0; },
          "ONNX TensorProto.DataType number; 0 for what is no tensor.")
      .def_prop_ro("shape",
                   [](const Value& value) {
                     return value.is_tensor()
                                ? std::vector<int64_t>(value.view().dims, value.view().dims + value.view().rank)
                                : std::vector<int64_t>();
                   })
      .def_prop_ro("byte_size", &Value::byte_size)
      .def_prop_ro("data_pointer", [](const Value& value) {
        return value.is_tensor() ? reinterpret_cast<uintptr_t>(value.view().data) : 0;
      });
}

void bind_kernels(nb::module_& m) {
  nb::class_<KernelHandle>(m, "Kernel", "A C++ kernel of one resolved node.")
      .def_ro("description", &KernelHandle::description, "Where the kernel comes from.");

  nb::class_<kernels::KernelEntry>(m, "NativeKernelEntry", "A registration of the native kernel library.")
      .def_ro("domain", &kernels::KernelEntry::domain)
      .def_ro("op_type", &kernels::KernelEntry::op_type)
      .def_ro("since_version", &kernels::KernelEntry::since_version)
      .def_ro("end_version", &kernels::KernelEntry::end_version)
      .def_prop_ro(
          "type_constraints",
          [](const kernels::KernelEntry& entry) {
            nb::dict constraints;
            for (const auto& [name, types] : entry.type_constraints) {
              nb::list numbers;
              for (DataType type : types) numbers.append(static_cast<int>(type));
              constraints[name.c_str()] = numbers;
            }
            return constraints;
          },
          "Allowed element types (ONNX numbers) for each type parameter of the operator's schema.")
      .def(
          "create",
          [](const kernels::KernelEntry& entry, const std::string& name, const std::string& domain,
             const std::string& op_type, int since_version, const std::vector<int>& input_types,
             const std::vector<int>& output_types, const nb::dict& attributes, const nb::sequence& constant_inputs) {
            return create_native_kernel(entry,
                                        describe_node(name, domain, op_type, since_version, data_types(input_types),
                                                      data_types(output_types), attributes, constant_inputs));
          },
          nb::arg("name"), nb::arg("domain"), nb::arg("op_type"), nb::arg("since_version"), nb::arg("input_types"),
          nb::arg("output_types"), nb::arg("attributes"), nb::arg("constant_inputs"),
          "Creates the kernel of one node. Raises the 'not_implemented' exception, with the reason, where the kernel "
          "declines this node's attributes.");

  m.def(
      "native_kernels",
      [] {
        nb::list entries;
        for (const kernels::KernelEntry& entry : kernels::native_kernels().entries()) {
          entries.append(nb::cast(&entry, nb::rv_policy::reference));
        }
        return entries;
      },
      "All registrations of the native kernel library.");
}

/// None where the bytes are no protobuf message.
nb::object split_model(nb::handle model, const nb::bytes& nonce) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(model.ptr(), &buffer, PyBUF_SIMPLE) != 0) throw nb::python_error();
  const std::unique_ptr<Py_buffer, decltype(&PyBuffer_Release)> release(&buffer, &PyBuffer_Release);
  try {
    const engine::ModelSkeleton skeleton = engine::split_model(
        {static_cast<const char*>(buffer.buf), static_cast<size_t>(buffer.len)}, {nonce.c_str(), nonce.size()});
    return nb::make_tuple(nb::bytes(skeleton.bytes.data(), skeleton.bytes.size()), skeleton.spans);
  } catch (const engine::MalformedMessage&) {
    return nb::none();
  }
}

void bind_plan(nb::module_& m) {
  nb::class_<Plan>(m, "Plan", "A frozen plan. Made by PlanBuilder.build().")
      .def_prop_ro("step_count", [](const Plan& plan) { return plan.steps.size(); })
      .def_prop_ro("value_count", &Plan::value_count)
      .def_prop_ro(
          "releases",
          [](const Plan& plan) {
            nb::list rows;
            for (const engine::PlannedStep& planned : plan.steps) {
              nb::list names;
              for (int32_t value : planned.release) names.append(plan.value_names[static_cast<size_t>(value)]);
              rows.append(nb::make_tuple(planned.step->name(), names));
            }
            return rows;
          },
          "For each step, in order: its name and the names of the values that are freed after it.");

  using Indices = std::vector<int32_t>;
  using Types = std::vector<int>;
  using Dims = std::vector<std::vector<int64_t>>;
  nb::class_<PlanBuilder>(m, "PlanBuilder", "Fills a plan in the order in which its steps are to run.")
      .def(nb::init<>())
      .def("add_value", &PlanBuilder::add_value, nb::arg("name"), "A new value; returns its index.")
      .def(
          "add_input",
          [](PlanBuilder& builder, int32_t value, std::string name, int data_type,
             std::optional<std::vector<std::optional<int64_t>>> shape) {
            engine::InputSpec spec;
            spec.name = std::move(name);
            spec.value = value;
            spec.dtype = static_cast<DataType>(data_type);
            spec.has_shape = shape.has_value();
            if (shape) {
              for (const auto& dim : *shape) spec.dims.push_back(dim.value_or(engine::kFreeDim));
            }
            builder.add_input(std::move(spec));
          },
          nb::arg("value"), nb::arg("name"), nb::arg("data_type"), nb::arg("shape").none(),
          "Declares a fed value. data_type 0: unchecked. shape None: any rank; None in it: any extent.")
      .def(
          "add_constant",
          [](PlanBuilder& builder, int32_t value, nb::handle content) {
            builder.add_constant(value, value_from_object(content));
          },
          nb::arg("value"), nb::arg("content"), "Keeps the array alive; copies it only where layouts differ.")
      .def(
          "add_capture",
          [](PlanBuilder& builder, int32_t inner, int32_t outer, int data_type) {
            builder.add_capture(inner, outer, static_cast<DataType>(data_type));
          },
          nb::arg("inner"), nb::arg("outer"), nb::arg("data_type"),
          "In the plan of a subgraph: value `inner` is value `outer` of the plan around it.")
      .def(
          "add_kernel_step",
          [](PlanBuilder& builder, std::string name, std::string kind, const KernelHandle& kernel, Indices inputs,
             Indices outputs, const Types& output_types, std::vector<bool> dispensable) {
            for (int32_t input : inputs) {
              if (input != engine::kAbsent && builder.type_of(input) == DataType::kUndefined) {
                kernels::invalid_argument("node '" + name + "': a C++ kernel cannot read '" + builder.name_of(input) +
                                          "', which is not known to be a tensor");
              }
            }
            const std::vector<DataType> types = data_types(output_types);
            builder.add_step(std::make_unique<engine::KernelStep>(std::move(name), std::move(kind), kernel.kernel,
                                                                  kernel.description, std::move(inputs),
                                                                  std::move(outputs), types, std::move(dispensable)),
                             types);
          },
          nb::arg("name"), nb::arg("kind"), nb::arg("kernel"), nb::arg("inputs"), nb::arg("outputs"),
          nb::arg("output_types"), nb::arg("dispensable") = nb::list(),
          "A C++ kernel. kind: the operator, for errors and profiles. -1: absent. dispensable: for each output whether "
          "the kernel may leave it unmade though it is read; none at all: no output.")
      .def(
          "add_python_step",
          [](PlanBuilder& builder, std::string name, std::string kind, nb::object function, Indices inputs,
             Indices outputs, const Types& output_types) {
            const std::vector<DataType> types = data_types(output_types);
            auto kernel = std::make_unique<PythonKernel>(
                std::move(function),
                engine::node_label(name, kind, outputs, [&](int32_t value) { return builder.name_of(value); }));
            builder.add_step(std::make_unique<engine::OpaqueStep>(std::move(name), std::move(kind), std::move(kernel),
                                                                  std::move(inputs), std::move(outputs), types),
                             types);
          },
          nb::arg("name"), nb::arg("kind"), nb::arg("function"), nb::arg("inputs"), nb::arg("outputs"),
          nb::arg("output_types"), "A Python callable. An output of type 0 may be any object.")
      .def(
          "add_if_step",
          [](PlanBuilder& builder, std::string name, int32_t condition, std::shared_ptr<const Plan> then_branch,
             std::shared_ptr<const Plan> else_branch, Indices outputs, const Types& output_types) {
            builder.add_step(std::make_unique<engine::IfStep>(std::move(name), condition, std::move(then_branch),
                                                              std::move(else_branch), std::move(outputs)),
                             data_types(output_types));
          },
          nb::arg("name"), nb::arg("condition"), nb::arg("then_branch"), nb::arg("else_branch"), nb::arg("outputs"),
          nb::arg("output_types"))
      .def(
          "add_loop_step",
          [](PlanBuilder& builder, std::string name, int32_t trip_count, int32_t condition, Indices initial_values,
             std::shared_ptr<const Plan> body, Indices outputs, const Types& output_types, Dims scan_output_dims) {
            Indices inputs{trip_count, condition};
            inputs.insert(inputs.end(), initial_values.begin(), initial_values.end());
            const std::vector<DataType> types = data_types(output_types);
            builder.add_step(std::make_unique<engine::LoopStep>(std::move(name), std::move(inputs), std::move(body),
                                                                std::move(outputs), types, std::move(scan_output_dims)),
                             types);
          },
          nb::arg("name"), nb::arg("trip_count"), nb::arg("condition"), nb::arg("initial_values"), nb::arg("body"),
          nb::arg("outputs"), nb::arg("output_types"), nb::arg("scan_output_dims") = Dims(),
          "scan_output_dims: dimensions of one iteration's element of each scan output, -1 where unknown.")
      .def(
          "add_scan_step",
          [](PlanBuilder& builder, std::string name, Indices initial_states, const Indices& scan_inputs,
             std::shared_ptr<const Plan> body, Indices outputs, const Types& output_types,
             std::vector<int64_t> input_axes, std::vector<int64_t> output_axes,
             const std::vector<int64_t>& input_directions, const std::vector<int64_t>& output_directions,
             Dims scan_output_dims) {
            engine::ScanAxes axes;
            axes.input_axes = std::move(input_axes);
            axes.output_axes = std::move(output_axes);
            for (int64_t direction : input_directions) axes.input_reversed.push_back(direction != 0);
            for (int64_t direction : output_directions) axes.output_reversed.push_back(direction != 0);
            Indices inputs = std::move(initial_states);
            inputs.insert(inputs.end(), scan_inputs.begin(), scan_inputs.end());
            const std::vector<DataType> types = data_types(output_types);
            builder.add_step(std::make_unique<engine::ScanStep>(std::move(name), std::move(inputs), scan_inputs.size(),
                                                                std::move(body), std::move(outputs), types,
                                                                std::move(axes), std::move(scan_output_dims)),
                             types);
          },
          nb::arg("name"), nb::arg("initial_states"), nb::arg("scan_inputs"), nb::arg("body"), nb::arg("outputs"),
          nb::arg("output_types"), nb::arg("input_axes") = std::vector<int64_t>(),
          nb::arg("output_axes") = std::vector<int64_t>(), nb::arg("input_directions") = std::vector<int64_t>(),
          nb::arg("output_directions") = std::vector<int64_t>(), nb::arg("scan_output_dims") = Dims())
      .def("add_output", &PlanBuilder::add_output, nb::arg("value"), nb::arg("name"))
      .def("build", &PlanBuilder::build, "Ends the building; the builder is empty afterwards.");
}

void bind_executor(nb::module_& m) {
  nb::class_<MemoryBudget>(m, "MemoryBudget", "Bytes that the buffers of a session may hold together.")
      .def(nb::init<size_t>(), nb::arg("limit") = 0)
      .def_prop_ro("limit", &MemoryBudget::limit, "0: no limit.")
      .def_prop_ro("used", &MemoryBudget::used);

  nb::class_<RunControl>(m, "RunControl", "Lets another thread end a run after its current step.")
      .def(nb::init<>())
      .def_prop_rw(
          "terminate", [](const RunControl& control) { return control.terminate.load(); },
          [](RunControl& control, bool terminate) { control.terminate.store(terminate); });

  nb::class_<PythonExecutor>(m, "Executor", "Runs a plan, from any number of threads at once.")
      .def(nb::init<std::shared_ptr<const Plan>, int, std::shared_ptr<MemoryBudget>>(), nb::arg("plan"),
           nb::arg("intra_op_num_threads"), nb::arg("memory_budget"),
           "intra_op_num_threads: 0 for one per core, 1 for no thread beside the caller's.")
      .def("run", &PythonExecutor::run, nb::arg("output_names").none(), nb::arg("feed"),
           nb::arg("run_control").none() = nb::none(), nb::arg("profile").none() = nb::none(),
           nb::arg("begin").none() = nb::none(),
           "Runs once and returns the outputs in the order of their names (None: all). Feeds are borrowed and never "
           "written to. profile: a list to which (step, kind, start in us, duration in us, thread) is appended. begin: "
           "called once names and feed are found right.")
      .def("retire", &PythonExecutor::retire,
           "To be called where the program ends: no other run begins, and a thread that asks for one waits for that "
           "end (the main thread gets an error). Tells whether no run is under way.")
      .def_prop_ro("output_names", &PythonExecutor::output_names)
      .def_prop_ro("step_count", &PythonExecutor::step_count)
      .def_prop_ro("num_threads", &PythonExecutor::num_threads)
      .def_prop_ro("memory_budget", &PythonExecutor::budget);
}

}  // namespace

void bind_engine(nb::module_& m) {
  bind_errors(m);
  bind_value(m);
  bind_kernels(m);
  bind_plan(m);
  bind_executor(m);
  m.def("split_model", &split_model, nb::arg("model"), nb::arg("nonce"),
        "A serialized model without the raw data of its big tensors, in whose place stand the nonce and the position "
        "of a span, and the spans: where each begins and ends in the model. None where the bytes are no message.",
        nb::sig(
            "def split_model(model: bytes | memoryview, nonce: bytes) -> tuple[bytes, list[tuple[int, int]]] | None"));
}

}  // namespace onnx_light_ort::bindings
