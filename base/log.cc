#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <mutex>

namespace base {
namespace {

spdlog::level::level_enum spdlog_level(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

std::shared_ptr<spdlog::logger> make_logger(spdlog::sink_ptr sink, LogLevel level) {
  auto logger = std::make_shared<spdlog::logger>("nightshift", std::move(sink));
  logger->set_level(spdlog_level(level));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-7l %v", spdlog::pattern_time_type::utc);
  logger->flush_on(spdlog::level::info);
  return logger;
}

std::mutex logger_mutex;
std::shared_ptr<spdlog::logger> current_logger;  // guarded by logger_mutex

std::shared_ptr<spdlog::logger> logger() {
  std::lock_guard lock(logger_mutex);
  if (!current_logger) {
    current_logger = make_logger(std::make_shared<spdlog::sinks::stderr_sink_mt>(), LogLevel::info);
  }
  return current_logger;
}

// A line break in foreign text must not look like an entry of its own.
void write(spdlog::level::level_enum level, std::string_view text) {
  auto log = logger();
  if (!log->should_log(level)) return;
  std::string line;
  line.reserve(text.size());
  for (char c : text) {
    line += c;
    if (c == '\n') line += "    ";
  }
  log->log(level, "{}", line);
}

}  // namespace

Status start_log(const LogOptions& options) {
  spdlog::sink_ptr sink;
  try {
    if (options.file.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file);
    }
  } catch (const spdlog::spdlog_ex& error) {
    return fail(ErrorCode::io,
                std::string("could not open the log: ") + error.what() +
                    " (choose a file that can be written)",
                options.file);
  }
  std::lock_guard lock(logger_mutex);
  current_logger = make_logger(std::move(sink), options.level);
  return {};
}

void log_debug(std::string_view text) { write(spdlog::level::debug, text); }
void log_info(std::string_view text) { write(spdlog::level::info, text); }
void log_warning(std::string_view text) { write(spdlog::level::warn, text); }
void log_error(std::string_view text) { write(spdlog::level::err, text); }

}  // namespace base
