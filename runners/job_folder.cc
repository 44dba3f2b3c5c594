#include "runners/job_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/fd.h"
#include "base/os_error.h"
#include "hypotheses/json.h"

namespace runners {
namespace fs = std::filesystem;
using base::ErrorCode;
using nlohmann::json;
namespace {

constexpr const char* kReportFile = "report.json";
constexpr const char* kKeyFile = "job";  // written first: whose folder this is
constexpr std::size_t kNameLimit = 200;

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// One folder or file name: no '/', not hidden, not "..".
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kNameLimit && name[0] != '.' && name[0] != '-' &&
         std::all_of(name.begin(), name.end(), is_name_char);
}

bool is_key(std::string_view key) {
  for (;;) {
    auto slash = key.find('/');
    if (!is_plain_name(key.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    key.remove_prefix(slash + 1);
  }
}

constexpr std::pair<Ending, std::string_view> kEndingWords[] = {
    {Ending::exited, "exited"},
    {Ending::signalled, "signalled"},
    {Ending::timed_out, "timed-out"},
    {Ending::not_started, "not-started"},
    {Ending::cancelled, "cancelled"}};

std::string_view ending_word(Ending ending) {
  for (const auto& [entry, word] : kEndingWords) {
    if (entry == ending) return word;
  }
  return "?";
}

Ending ending_from(const std::string& text) {
  for (const auto& [entry, word] : kEndingWords) {
    if (word == text) return entry;
  }
  throw std::runtime_error("unknown ending " + text);
}

// File names only, so that the artifact store may be moved.
json to_json(const LaunchReport& launch) {
  return {{"name", launch.name},
          {"ending", ending_word(launch.ending)},
          {"exit_code", launch.exit_code},
          {"signal", launch.signal},
          {"detail", launch.detail},
          {"started_ms", launch.started.ms},
          {"wall_s", launch.wall_s},
          {"cpu_s", launch.cpu_s},
          {"peak_bytes", launch.peak_bytes},
          {"out", launch.out.filename().string()},
          {"err", launch.err.filename().string()},
          {"output_cut", launch.output_cut},
          {"machine", hypotheses::to_json(launch.machine)}};
}

LaunchReport launch_from(const json& value, const fs::path& folder) {
  LaunchReport launch;
  launch.name = value.at("name");
  launch.ending = ending_from(value.at("ending"));
  launch.exit_code = value.at("exit_code");
  launch.signal = value.at("signal");
  launch.detail = value.at("detail");
  launch.started.ms = value.at("started_ms");
  launch.wall_s = value.at("wall_s");
  launch.cpu_s = value.at("cpu_s");
  launch.peak_bytes = value.at("peak_bytes");
  launch.out = folder / fs::path(value.at("out").get<std::string>()).filename();
  launch.err = folder / fs::path(value.at("err").get<std::string>()).filename();
  launch.output_cut = value.at("output_cut");
  auto machine = hypotheses::machine_state_from_json(value.at("machine"));
  if (!machine) throw std::runtime_error(machine.error().text());
  launch.machine = std::move(*machine);
  return launch;
}

std::optional<JobReport> report_from(const std::string& text, const Job& job) try {
  json value = json::parse(text);
  JobReport report;
  report.key = value.at("key");
  report.wall_s = value.at("wall_s");
  report.adopted = true;
  for (const auto& launch : value.at("launches")) {
    report.launches.push_back(launch_from(launch, job.artifacts));
  }
  return report;
} catch (const std::exception&) {
  return {};  // damaged: as good as absent, the job runs anew
}

base::Status sync_file(const fs::path& path) {
  base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && errno == ENOENT) return {};
  if (!fd || ::fsync(fd.get()) != 0) return base::os_fail(errno, "sync", path);
  return {};
}

base::Error foreign_folder(const Job& job, std::string_view owner) {
  return {
      ErrorCode::conflict,
      fmt::format("the folder for the artifacts of {} holds {}; nothing in it was touched: move "
                  "it away or choose another artifact store",
                  job.key, owner),
      job.artifacts};
}

}  // namespace

LaunchReport cancelled_launch(const Job& job, const Launch& launch) {
  LaunchReport report;
  report.name = launch.name;
  report.ending = Ending::cancelled;
  report.out = out_file(job, launch);
  report.err = err_file(job, launch);
  return report;
}

fs::path scratch_folder(const Job& job, const Launch& launch) {
  return job.artifacts / (launch.name + ".scratch");
}
fs::path out_file(const Job& job, const Launch& launch) {
  return job.artifacts / (launch.name + ".out");
}
fs::path err_file(const Job& job, const Launch& launch) {
  return job.artifacts / (launch.name + ".err");
}

base::Status check_job(const Job& job) {
  auto bad = [&](std::string message) {
    return base::fail(ErrorCode::bad_input, std::move(message), job.key);
  };
  if (!is_key(job.key)) {
    return bad(
        "a job's key must be names of letters, digits, '.', '_' and '-' with '/' between them, "
        "none "
        "starting with '.' or '-'");
  }
  if (!job.artifacts.is_absolute()) return bad("the artifact folder must be an absolute path");
  if (job.cores < 1) return bad(fmt::format("a job needs at least 1 core, not {}", job.cores));
  std::set<std::string> names;
  for (const auto& launch : job.launches) {
    if (!is_plain_name(launch.name)) {
      return bad(fmt::format("a launch's name must be letters, digits, '.', '_' and '-': '{}'",
                             launch.name));
    }
    if (!names.insert(launch.name).second) {
      return bad(fmt::format("two launches are called '{}'", launch.name));
    }
    if (launch.argv.empty() || launch.argv[0].empty()) {
      return bad(fmt::format("launch '{}' has no command", launch.name));
    }
    if (!launch.tree.is_absolute() || (!launch.build.empty() && !launch.build.is_absolute())) {
      return bad(fmt::format("the tree and build folder of launch '{}' must be absolute paths",
                             launch.name));
    }
    for (const auto& [name, value] : launch.env) {
      if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
          value.find('\0') != std::string::npos) {
        return bad(fmt::format("launch '{}' has a malformed environment variable", launch.name));
      }
    }
    for (const auto& argument : launch.argv) {
      if (argument.find('\0') != std::string::npos) {
        return bad(fmt::format("an argument of launch '{}' holds a zero byte", launch.name));
      }
    }
  }
  return {};
}

base::Result<std::optional<JobReport>> adopt_report(const Job& job) {
  auto text = base::read_file(job.artifacts / kReportFile);
  if (!text && text.error().code == ErrorCode::not_found) return std::optional<JobReport>{};
  if (!text) return tl::unexpected<base::Error>(text.error());
  auto report = report_from(*text, job);
  if (report && report->key != job.key) {
    return tl::unexpected<base::Error>(foreign_folder(job, "the report of " + report->key));
  }
  return report;
}

base::Status prepare_folder(const Job& job) {
  NS_TRY(base::ensure_folder(job.artifacts));
  std::vector<fs::path> own = {job.artifacts / kReportFile};
  for (const auto& launch : job.launches) {
    own.insert(own.end(),
               {out_file(job, launch), err_file(job, launch), scratch_folder(job, launch)});
  }
  auto owner = base::read_file(job.artifacts / kKeyFile, 4096);
  if (owner && *owner != job.key) {
    return tl::unexpected<base::Error>(foreign_folder(job, "job " + *owner));
  }
  for (const auto& path : own) {
    std::error_code error;
    if (!owner && fs::exists(fs::symlink_status(path, error))) {
      return tl::unexpected<base::Error>(
          foreign_folder(job, path.filename().string() + " of something else"));
    }
    NS_TRY(base::remove_tree(path));
  }
  if (owner) return {};
  return base::write_file_atomically(job.artifacts / kKeyFile, job.key, base::Durability::fast);
}

base::Status write_report(const Job& job, const JobReport& report, base::Durability durability) {
  json launches = json::array();
  for (const auto& launch : report.launches) {
    if (durability == base::Durability::synced) {
      NS_TRY(sync_file(launch.out));
      NS_TRY(sync_file(launch.err));
    }
    launches.push_back(to_json(launch));
  }
  json value = {{"key", report.key}, {"wall_s", report.wall_s}, {"launches", launches}};
  return base::write_file_atomically(job.artifacts / kReportFile,
                                     value.dump(1, ' ', false, json::error_handler_t::replace),
                                     durability);
}

}  // namespace runners
