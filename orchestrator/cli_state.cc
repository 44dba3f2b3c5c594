// Commands about the state folder as a whole: copies of it, and the history in open formats. Both
// work beside a daemon and without one.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "hypotheses/json.h"
#include "orchestrator/cli.h"
#include "orchestrator/connection.h"
#include "orchestrator/exports.h"

namespace orchestrator {

namespace fs = std::filesystem;
using base::ErrorCode;
using nlohmann::json;

Exit backup_command(const Context& context, const std::string& file) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  if (auto done = reader->backup_to(file); !done) return complain(context, done.error());
  std::error_code error;
  const fs::path absolute = fs::absolute(file, error);
  const auto bytes = fs::file_size(absolute, error);
  if (context.json) {
    std::cout << hypotheses::dump({{"file", absolute.string()}, {"bytes", bytes}}) << std::endl;
    return Exit::ok;
  }
  const fs::path database = fs::absolute(context.state, error) / store::kDatabaseFile;
  std::cout
      << fmt::format(
             "{} holds the whole record ({:.1f} MiB, checked)\nTo restore it, stop the daemon, "
             "then: rm -f {}-wal {}-shm && cp {} {}",
             absolute.string(), static_cast<double>(bytes) / (1 << 20), database.string(),
             database.string(), absolute.string(), database.string())
      << std::endl;
  return Exit::ok;
}

namespace {

// An export never mixes with what is there already.
base::Status prepare(const fs::path& folder) {
  NS_TRY(base::ensure_folder(folder));
  std::error_code error;
  if (fs::is_empty(folder, error) && !error) return {};
  return base::fail(ErrorCode::conflict,
                    "expected an empty or new folder for the export, found files in it; choose "
                    "another",
                    folder.string());
}

base::Result<std::int64_t> to_stdout(const store::Reader& reader, const std::string& format) {
  if (format == "jsonl") return write_facts(reader, std::cout);
  if (format == "bmf") return write_newest_bmf(reader, std::cout);
  return base::fail(ErrorCode::bad_input,
                    "csv is several tables; name a folder for them with --into");
}

base::Result<std::vector<Exported>> into_folder(const store::Reader& reader,
                                                const std::string& format, const fs::path& folder) {
  NS_TRY(prepare(folder));
  if (format == "jsonl") return export_json_lines(reader, folder);
  if (format == "bmf") return export_bmf(reader, folder);
  return export_csv(reader, folder);
}

}  // namespace

Exit export_command(const Context& context, const ExportArguments& arguments) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  if (arguments.into.empty()) {
    auto written = to_stdout(*reader, arguments.format);
    if (!written) return complain(context, written.error());
    std::cout.flush();
    return std::cout ? Exit::ok
                     : complain(context, {ErrorCode::io, "the output could not be written", ""});
  }
  auto files = into_folder(*reader, arguments.format, arguments.into);
  if (!files) return complain(context, files.error());
  json list = json::array();
  for (const Exported& file : *files) {
    list.push_back({{"file", file.file.string()}, {"items", file.items}});
    if (!context.json) std::cout << fmt::format("{:>10}  {}\n", file.items, file.file.string());
  }
  if (context.json) std::cout << hypotheses::dump({{"files", list}});
  if (!context.json && files->empty()) std::cout << "nothing was measured yet";
  std::cout << std::endl;
  return Exit::ok;
}

}  // namespace orchestrator
