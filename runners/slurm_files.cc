#include "runners/slurm_files.h"

#include <nlohmann/json.hpp>

#include "base/files.h"

namespace runners {
namespace fs = std::filesystem;
using base::ErrorCode;
using nlohmann::json;
namespace {

constexpr const char* kTicketFile = "slurm.json";
constexpr const char* kAttemptPrefix = "slurm-";
constexpr std::int64_t kSmall_bytes = 1 << 20;

std::string dump(const json& value) {
  return value.dump(1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> texts(const std::vector<fs::path>& paths) {
  return {paths.begin(), paths.end()};
}

std::vector<fs::path> paths(const json& list) {
  auto all = list.get<std::vector<std::string>>();
  return {all.begin(), all.end()};
}

json launch_json(const Launch& launch) {
  const Limits& limits = launch.limits;
  return {{"name", launch.name},
          {"argv", launch.argv},
          {"tree", launch.tree.string()},
          {"build", launch.build.string()},
          {"env", launch.env},
          {"readable", texts(launch.readable)},
          {"writable", texts(launch.writable)},
          {"timeout_s", limits.timeout_s},
          {"output_bytes", limits.output_bytes},
          {"memory_bytes", limits.memory_bytes},
          {"file_bytes", limits.file_bytes},
          {"disk_bytes", limits.disk_bytes},
          {"processes", limits.processes}};
}

Launch launch_of(const json& value) {
  Launch launch;
  launch.name = value.at("name");
  launch.argv = value.at("argv").get<std::vector<std::string>>();
  launch.tree = value.at("tree").get<std::string>();
  launch.build = value.at("build").get<std::string>();
  launch.env = value.at("env").get<std::map<std::string, std::string>>();
  launch.readable = paths(value.at("readable"));
  launch.writable = paths(value.at("writable"));
  launch.limits.timeout_s = value.at("timeout_s");
  launch.limits.output_bytes = value.at("output_bytes");
  launch.limits.memory_bytes = value.at("memory_bytes");
  launch.limits.file_bytes = value.at("file_bytes");
  launch.limits.disk_bytes = value.at("disk_bytes");
  launch.limits.processes = value.at("processes");
  return launch;
}

}  // namespace

std::optional<SlurmTicket> read_ticket(const fs::path& artifacts) {
  auto text = base::read_file(artifacts / kTicketFile, kSmall_bytes);
  if (!text) return {};
  json value = json::parse(*text, nullptr, false);
  if (!value.is_object()) return {};
  SlurmTicket ticket{value.value("attempt", ""), value.value("name", ""), value.value("id", "")};
  if (ticket.attempt.empty() || ticket.name.empty()) return {};
  return ticket;
}

base::Status write_ticket(const fs::path& artifacts, const SlurmTicket& ticket) {
  json value = {{"attempt", ticket.attempt}, {"name", ticket.name}, {"id", ticket.id}};
  return base::write_file_atomically(artifacts / kTicketFile, dump(value));
}

base::Status remove_ticket(const fs::path& artifacts) {
  return base::remove_tree(artifacts / kTicketFile);
}

fs::path attempt_folder(const fs::path& artifacts, const std::string& attempt) {
  return artifacts / (kAttemptPrefix + attempt);
}
fs::path finished_file(const fs::path& attempt) { return attempt / "finished"; }
fs::path stopped_file(const fs::path& attempt) { return attempt / "stopped"; }
fs::path log_file(const fs::path& attempt) { return attempt / "slurm.log"; }
fs::path spec_file(const fs::path& attempt) { return attempt / "spec.json"; }

base::Status remove_attempts(const fs::path& artifacts, const std::string& but) {
  std::vector<fs::path> old;
  std::error_code error;
  for (fs::directory_iterator it(artifacts, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    // A job whose key continues ours may be called slurm-something too; it has no spec.
    if (name.starts_with(kAttemptPrefix) && fs::exists(spec_file(it->path())) &&
        (but.empty() || name != kAttemptPrefix + but)) {
      old.push_back(it->path());
    }
  }
  for (const fs::path& path : old) NS_TRY(base::remove_tree(path));
  return {};
}

base::Status write_spec(const SlurmSpec& spec) {
  json launches = json::array();
  for (const Launch& launch : spec.job.launches) launches.push_back(launch_json(launch));
  json value = {{"key", spec.job.key},
                {"build", spec.job.purpose == Purpose::build},
                {"cores", spec.job.cores},
                {"gpus", spec.job.gpus},
                {"stop_at_failure", spec.job.stop_at_failure},
                {"launches", launches},
                {"sandbox", static_cast<int>(spec.sandbox)},
                {"attempt", spec.attempt},
                {"artifacts", spec.artifacts.string()}};
  // A value that is no UTF-8 must arrive as it is or not at all.
  std::string text;
  try {
    text = value.dump(1);
  } catch (const json::exception&) {
    return base::fail(ErrorCode::bad_input,
                      "a command, path or variable of the job is no UTF-8, which a job on Slurm "
                      "needs",
                      spec.job.key);
  }
  return base::write_file_atomically(spec_file(spec.job.artifacts), text);
}

base::Result<SlurmSpec> read_spec(const fs::path& file) {
  NS_ASSIGN(text, base::read_file(file));
  try {
    json value = json::parse(text);
    SlurmSpec spec;
    spec.job.key = value.at("key");
    spec.job.purpose = value.at("build").get<bool>() ? Purpose::build : Purpose::measure;
    spec.job.cores = value.at("cores");
    spec.job.gpus = value.at("gpus");
    spec.job.stop_at_failure = value.at("stop_at_failure");
    for (const json& launch : value.at("launches")) spec.job.launches.push_back(launch_of(launch));
    spec.job.artifacts = file.parent_path();
    spec.sandbox = static_cast<SandboxRule>(value.at("sandbox").get<int>());
    spec.attempt = value.at("attempt");
    spec.artifacts = value.at("artifacts").get<std::string>();
    return spec;
  } catch (const std::exception& error) {
    return base::fail(
        ErrorCode::corrupt,
        std::string("expected what a daemon of this version wrote for a node: ") + error.what(),
        file.string());
  }
}

base::Status write_error(const fs::path& attempt, const base::Error& error) {
  json value = {{"code", static_cast<int>(error.code)},
                {"message", error.message},
                {"context", error.context}};
  return base::write_file_atomically(attempt / "error.json", dump(value));
}

std::optional<base::Error> read_error(const fs::path& attempt) {
  auto text = base::read_file(attempt / "error.json", kSmall_bytes);
  if (!text) return {};
  json value = json::parse(*text, nullptr, false);
  if (!value.is_object()) return {};
  return base::Error{static_cast<ErrorCode>(value.value("code", 0)), value.value("message", ""),
                     value.value("context", "")};
}

}  // namespace runners
