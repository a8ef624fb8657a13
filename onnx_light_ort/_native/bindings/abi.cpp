// The ABI host's objects, for onnx_light_ort.host.
#include "abi.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <string>

#include "error_kind.h"
#include "errors.h"
#include "foreign_text.h"
#include "gil.h"
#include "logger.h"
#include "served_tables.h"
#include "session_options.h"
#include "slot_calls.h"
#include "slot_list.h"
#include "tables.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace onnx_light_ort::bindings {
namespace {

uintptr_t api_base_address(const std::string& flavour) {
  if (flavour == "plain") return reinterpret_cast<uintptr_t>(abi::api_base<abi::Plain>());
  if (flavour == "trace") return reinterpret_cast<uintptr_t>(abi::api_base<abi::Trace>());
  if (flavour == "strict") return reinterpret_cast<uintptr_t>(abi::api_base<abi::Strict>());
  throw nb::value_error("flavour must be \"plain\", \"trace\" or \"strict\"");
}

void serve(const std::string& flavour) {
  if (flavour == "plain") return abi::serve(abi::ServedFlavour::kPlain);
  if (flavour == "trace") return abi::serve(abi::ServedFlavour::kTrace);
  if (flavour == "strict") return abi::serve(abi::ServedFlavour::kStrict);
  throw nb::value_error("flavour must be \"plain\", \"trace\" or \"strict\"");
}

template <class Table>
void add_calls(nb::dict& calls) {
  for (const abi::SlotInfo& slot : Table::kSlots) {
    const auto count = abi::slot_calls[slot.id].load(std::memory_order_relaxed);
    if (count != 0) calls[nb::str("{}::{}").format(slot.table, slot.name)] = count;
  }
}

nb::dict slot_calls() {
  nb::dict calls;
  add_calls<abi::OrtApiBaseTable>(calls);
  add_calls<abi::OrtApiTable>(calls);
  add_calls<abi::OrtModelEditorApiTable>(calls);
  add_calls<abi::OrtCompileApiTable>(calls);
  add_calls<abi::OrtInteropApiTable>(calls);
  add_calls<abi::OrtEpApiTable>(calls);
  return calls;
}

nb::list take_log_records() {
  nb::list list;
  for (const abi::LogRecord& record : abi::take_log_records()) {
    list.append(nb::make_tuple(foreign_text(record.logger), static_cast<int>(record.severity), record.created,
                               foreign_text(record.message), foreign_text(record.file), record.line,
                               foreign_text(record.function), record.thread));
  }
  return list;
}

}  // namespace

void bind_abi(nb::module_& m) {
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const abi::Error& error) {
      PyErr_SetObject(exception_class(abi::to_engine(error)), foreign_text(error.what()).ptr());
    }
  });
  m.def(
      "set_exception_classes",
      [](const nb::dict& classes) {
        for (auto [code, type] : classes) set_exception_class(nb::cast<int>(code), type);
      },
      "classes"_a, "Sets the exception class raised for each OrtErrorCode; engine errors that carry a code included.");
  m.def("api_base_address", &api_base_address, "flavour"_a = "plain",
        "The address of the OrtApiBase of a flavour, valid as long as the process.");
  m.def("serve", &serve, "flavour"_a,
        "Sets the flavour of the tables that a library gets that is entered from now on: \"plain\", \"trace\", which "
        "counts, or \"strict\".");
  m.def("slot_calls", &slot_calls, nb::sig("def slot_calls() -> dict[str, int]"),
        "How often each slot was entered through the trace tables since the process began, by \"Table::Slot\"; slots "
        "that never were are left out.");

  nb::class_<OrtSessionOptions>(m, "SessionOptions", "What plugins see of a session's options.")
      .def(nb::init<>())
      .def(nb::init<const OrtSessionOptions&>(), "other"_a)
      .def_rw("mem_pattern", &OrtSessionOptions::mem_pattern)
      .def_prop_rw(
          "execution_mode", [](const OrtSessionOptions& self) { return static_cast<int>(self.execution_mode); },
          [](OrtSessionOptions& self, int mode) { self.execution_mode = static_cast<ExecutionMode>(mode); })
      .def("add_config_entry", &OrtSessionOptions::add_config_entry, "key"_a, "value"_a)
      .def_prop_ro("config_entries",
                   [](const OrtSessionOptions& self) {
                     return std::map<std::string, std::string>(self.config_entries().begin(),
                                                               self.config_entries().end());
                   })
      .def_prop_ro(
          "custom_ops", [](const OrtSessionOptions& self) { return self.custom_ops; },
          "The ops of every registration that ended well, in order.")
      .def_prop_ro(
          "address", [](const OrtSessionOptions& self) { return reinterpret_cast<uintptr_t>(&self); },
          "Of the OrtSessionOptions, valid as long as this object.");

  nb::class_<OrtLogger>(m, "Logger", "Where plugins send log records.")
      .def_prop_rw(
          "severity", [](const OrtLogger& self) { return static_cast<int>(self.severity.load()); },
          [](OrtLogger& self, int severity) { self.severity = static_cast<OrtLoggingLevel>(severity); },
          "Records below this OrtLoggingLevel are dropped.")
      .def_prop_ro(
          "address", [](const OrtLogger& self) { return reinterpret_cast<uintptr_t>(&self); },
          "Of the OrtLogger, valid as long as this object.");
  m.def("default_logger", &abi::default_logger, nb::rv_policy::reference, "The logger of the process.");

  m.def("open_log_delivery", &abi::open_log_delivery, "From now on records are queued for take_log_records.");
  m.def("close_log_delivery", &abi::close_log_delivery, "From now on records go to stderr.");
  m.def("wait_for_log_records", &abi::wait_for_log_records, nb::call_guard<GilReleased>(),
        "Returns when there are records to take or delivery is closed.");
  m.def("take_log_records", &take_log_records,
        "What is queued, oldest first, as tuples (logger, severity, created, message, file, line, function, thread).");
  m.def("replace_log_queue_after_fork", &abi::replace_log_queue_after_fork,
        "Gives a forked child a queue of its own, in case another thread of the parent was using the old one.");
}

}  // namespace onnx_light_ort::bindings
