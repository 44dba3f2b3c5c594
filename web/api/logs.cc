#include "web/api/logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace web {

namespace {

constexpr std::size_t kNames = 50;

// Both sides of a pair share a folder; a run shows its own side's files.
bool belongs(const hypotheses::Run& run, const std::string& name) {
  if (!name.ends_with(".out") && !name.ends_with(".err")) return false;
  return !run.measured || name.starts_with("build-") ||
         name.starts_with(std::string(hypotheses::to_text(run.side)) + ".");
}

}  // namespace

std::vector<std::string> log_names(const store::Artifacts& artifacts, const hypotheses::Run& run) {
  std::vector<std::string> names;
  if (run.artifacts.empty()) return names;
  const auto folder = artifacts.path_of(run.artifacts);
  if (!folder) return names;
  std::error_code error;
  for (std::filesystem::directory_iterator file(*folder, error), end; !error && file != end;
       file.increment(error)) {
    std::string name = file->path().filename().string();
    if (names.size() < kNames && belongs(run, name) && file->is_regular_file(error)) {
      names.push_back(std::move(name));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

base::Result<Response> log_text(const store::Artifacts& artifacts, const hypotheses::Run& run,
                                const std::string& name) {
  // Artifacts refuses "..", links and the like; a slash would reach another run's folder.
  if (run.artifacts.empty() || name.find('/') != std::string::npos || !belongs(run, name)) {
    return base::fail(base::ErrorCode::not_found,
                      fmt::format("{} left no file \"{}\"", run.id.text(), name));
  }
  NS_ASSIGN(excerpt, artifacts.read(run.artifacts + "/" + name, -kLogBytes, kLogBytes));
  Response response;
  if (excerpt.offset > 0) {
    response.body =
        fmt::format("[the last {} of {} bytes]\n", excerpt.bytes.size(), excerpt.file_bytes);
  }
  response.body += excerpt.bytes;
  return response;
}

}  // namespace web
