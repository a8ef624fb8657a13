// Log records of plugins and of the host, on their way to Python's logging.
//
// A plugin logs from any thread, also while a thread that holds the GIL waits for it, and after the interpreter has
// gone. So logging never takes the GIL: it puts a record into a queue under a short lock, and a thread of Python's
// takes the records out and hands them to Python's logging. While nobody takes records (before delivery is opened and
// after it is closed at exit) they go to stderr.
#pragma once

#include <onnx_light_ort/ort_abi.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

struct OrtLogger {
  std::string name;                       ///< Of the Python logger that gets the records.
  std::atomic<OrtLoggingLevel> severity;  ///< Records below it are dropped.
};

namespace onnx_light_ort::abi {

struct LogRecord {
  OrtLoggingLevel severity;
  double created;  ///< Seconds since the epoch.
  std::string logger;
  std::string message;
  std::string file;
  std::string function;
  int line;
  uint64_t thread;  ///< As threading.get_ident() numbers threads.
};

/// Of the process. Sessions have loggers of their own.
OrtLogger& default_logger() noexcept;

/// Where in the source a record comes from; the host's own records have no place.
struct LogSource {
  std::string_view file;
  int line = 0;
  std::string_view function;
};

/// From any thread, with or without the GIL.
void log(const OrtLogger& logger, OrtLoggingLevel severity, std::string_view message, const LogSource& source = {});

/// From now on records are queued for take_log_records.
void open_log_delivery();

/// From now on records go to stderr. What is queued can still be taken.
void close_log_delivery() noexcept;

/// Returns when there are records to take or delivery is closed. Call it without the GIL.
void wait_for_log_records();

/// What is queued, oldest first; nothing remains.
std::vector<LogRecord> take_log_records();

/// In a child after fork: another thread of the parent may have held the queue's lock, so the child gets a new queue.
void replace_log_queue_after_fork();

}  // namespace onnx_light_ort::abi
