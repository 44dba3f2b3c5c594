// The daemon's log: one line an entry, to stderr or to a file. Callers format the text and keep
// secrets out of it; nothing is redacted here.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace base {

enum class LogLevel { debug, info, warning, error };

struct LogOptions {
  LogLevel level = LogLevel::info;
  std::string file;  // appended to; empty = stderr
};

// Without it, entries from `info` up go to stderr. May be called again; safe beside running
// threads.
Status start_log(const LogOptions& options);

void log_debug(std::string_view text);
void log_info(std::string_view text);
void log_warning(std::string_view text);
void log_error(std::string_view text);

}  // namespace base
