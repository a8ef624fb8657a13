#include "logger.h"

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <utility>

#include "error.h"
#include "slots.h"

namespace onnx_light_ort::abi {
namespace {

/// Bounded, because a plugin may log faster than Python's logging writes: what does not fit is counted and reported.
class LogQueue {
 public:
  /// False, with the record as it was, when nobody takes records.
  bool push(LogRecord&& record) {
    {
      const std::lock_guard lock(mutex_);
      if (!open_) return false;
      if (records_.size() == kCapacity) {
        ++dropped_;
        return true;
      }
      records_.push_back(std::move(record));
    }
    arrived_.notify_one();
    return true;
  }

  void set_open(bool open) {
    {
      const std::lock_guard lock(mutex_);
      open_ = open;
    }
    arrived_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return !records_.empty() || !open_; });
  }

  std::vector<LogRecord> take() {
    std::vector<LogRecord> taken;
    const std::lock_guard lock(mutex_);
    taken.swap(records_);
    if (dropped_ != 0) {
      taken.push_back({ORT_LOGGING_LEVEL_WARNING, taken.back().created, default_logger().name,
                       std::to_string(dropped_) + " log records came too fast and were dropped", "", "", 0,
                       taken.back().thread});
      dropped_ = 0;
    }
    return taken;
  }

 private:
  static constexpr size_t kCapacity = 10000;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<LogRecord> records_;
  size_t dropped_ = 0;
  bool open_ = false;
};

// Never destroyed: threads of plugins may log while the process ends.
std::atomic<LogQueue*>& queue_slot() {
  static std::atomic<LogQueue*> slot{new LogQueue};
  return slot;
}

LogQueue& queue() { return *queue_slot().load(std::memory_order_acquire); }

const char* severity_name(OrtLoggingLevel severity) {
  switch (severity) {
    case ORT_LOGGING_LEVEL_VERBOSE:
      return "VERBOSE";
    case ORT_LOGGING_LEVEL_INFO:
      return "INFO";
    case ORT_LOGGING_LEVEL_WARNING:
      return "WARNING";
    case ORT_LOGGING_LEVEL_ERROR:
      return "ERROR";
    case ORT_LOGGING_LEVEL_FATAL:
      return "FATAL";
  }
  return "UNKNOWN";
}

}  // namespace

OrtLogger& default_logger() noexcept {
  static auto* const logger = new OrtLogger{"onnx_light_ort", ORT_LOGGING_LEVEL_WARNING};
  return *logger;
}

void log(const OrtLogger& logger, OrtLoggingLevel severity, std::string_view message, const LogSource& source) {
  if (severity < logger.severity.load(std::memory_order_relaxed)) return;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  LogRecord record{severity,
                   std::chrono::duration<double>(now).count(),
                   logger.name,
                   std::string(message),
                   std::string(source.file),
                   std::string(source.function),
                   source.line,
                   static_cast<uint64_t>(pthread_self())};
  if (queue().push(std::move(record))) return;  // Moved from only where it was queued.
  std::fputs((record.logger + " [" + severity_name(severity) + "] " + record.message + "\n").c_str(), stderr);
}

void open_log_delivery() { queue().set_open(true); }

void close_log_delivery() noexcept { queue().set_open(false); }

void wait_for_log_records() { queue().wait(); }

std::vector<LogRecord> take_log_records() { return queue().take(); }

void replace_log_queue_after_fork() { queue_slot().store(new LogQueue, std::memory_order_release); }

void OrtApiSlots::Logger_LogMessage(const OrtLogger* logger, OrtLoggingLevel log_severity_level, const char* message,
                                    const ORTCHAR_T* file_path, int line_number, const char* func_name) {
  const auto text = [](const char* given) { return given == nullptr ? std::string_view() : std::string_view(given); };
  log(*logger, log_severity_level, text(message), {text(file_path), line_number, text(func_name)});
}

void OrtApiSlots::Logger_GetLoggingSeverityLevel(const OrtLogger* logger, OrtLoggingLevel* out) {
  *out = logger->severity.load(std::memory_order_relaxed);
}

}  // namespace onnx_light_ort::abi
