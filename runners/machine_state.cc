#include "runners/machine_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <sstream>

#include "base/files.h"
#include "runners/core_leases.h"

namespace runners {
namespace {

std::string text_of(const std::string& path) { return base::read_file(path).value_or(""); }

// The part behind ':' of the first line that starts with `name`, from `text` on.
std::string field(const std::string& text, std::string_view name) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto colon = line.find(':');
    if (!line.starts_with(name) || colon == std::string::npos) continue;
    return line.substr(std::min(colon + 2, line.size()));
  }
  return "";
}

double ticks_per_second() {
  long ticks = ::sysconf(_SC_CLK_TCK);
  return ticks > 0 ? static_cast<double>(ticks) : 100;
}

double in_seconds(double ticks) { return ticks / ticks_per_second(); }

// A number that stands alone in a file of the kernel's.
std::optional<std::int64_t> number_in(const std::filesystem::path& path) {
  const std::string text = text_of(path);
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (end == text.c_str()) return {};
  return value;
}

std::string cpu_folder(int core) { return fmt::format("/sys/devices/system/cpu/cpu{}", core); }

std::optional<std::int64_t> throttles(const std::vector<int>& cores) {
  std::optional<std::int64_t> sum;
  for (int core : cores) {
    auto count = number_in(cpu_folder(core) + "/thermal_throttle/core_throttle_count");
    if (count) sum = sum.value_or(0) + *count;
  }
  return sum;
}

std::optional<double> hottest_c() {
  constexpr int kZones = 32;
  std::optional<double> hottest;
  for (int zone = 0; zone < kZones; ++zone) {
    auto milli = number_in(fmt::format("/sys/class/thermal/thermal_zone{}/temp", zone));
    if (milli) hottest = std::max(hottest.value_or(-273), static_cast<double>(*milli) / 1000);
  }
  return hottest;
}

std::optional<std::int64_t> available_bytes() {
  const std::string kib = field(text_of("/proc/meminfo"), "MemAvailable");
  const auto value = std::strtoll(kib.c_str(), nullptr, 10);
  if (value <= 0) return {};
  return value * 1024;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string system_text(const std::vector<int>& cores) {
  std::string text = "Linux " + first_line(text_of("/proc/sys/kernel/osrelease"));
  if (cores.empty()) return text;
  const auto governor =
      first_line(text_of(cpu_folder(cores.front()) + "/cpufreq/scaling_governor"));
  return governor.empty() ? text : text + ", governor " + governor;
}

// Sums columns of the cores' lines in the text of /proc/stat, from 0.
double sum_ticks(const std::string& proc_stat, const std::vector<int>& cores,
                 std::initializer_list<int> columns) {
  double sum = 0;
  std::istringstream lines(proc_stat);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    bool ours = std::any_of(cores.begin(), cores.end(),
                            [&](int core) { return name == fmt::format("cpu{}", core); });
    double value = 0;
    for (int column = 0; ours && column < 8 && words >> value; ++column) {
      if (std::find(columns.begin(), columns.end(), column) != columns.end()) sum += value;
    }
  }
  return sum;
}

double current_mhz(int core) {
  std::string khz = text_of(cpu_folder(core) + "/cpufreq/scaling_cur_freq");
  if (double value = std::strtod(khz.c_str(), nullptr); value > 0) return value / 1000;
  return mhz_of(text_of("/proc/cpuinfo"), core);
}

}  // namespace

// cpuN user nice system idle iowait irq softirq steal
double steal_ticks(const std::string& proc_stat, const std::vector<int>& cores) {
  return sum_ticks(proc_stat, cores, {7});
}

double busy_ticks(const std::string& proc_stat, const std::vector<int>& cores) {
  return sum_ticks(proc_stat, cores, {0, 1, 2, 5, 6});
}

double mhz_of(const std::string& cpuinfo, int core) {
  int current = -1;
  std::istringstream lines(cpuinfo);
  for (std::string line; std::getline(lines, line);) {
    auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const char* value = line.c_str() + colon + 1;
    if (line.starts_with("processor")) current = std::atoi(value);
    if (current == core && line.starts_with("cpu MHz")) return std::strtod(value, nullptr);
  }
  return 0;
}

std::string machine_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  std::string model = field(text_of("/proc/cpuinfo"), "model name");
  auto cores = CorePool::usable_cores().size();
  return fmt::format("{} ({}, {} {})", host, model.empty() ? "unknown processor" : model, cores,
                     cores == 1 ? "core" : "cores");
}

std::string disturbance(const hypotheses::MachineState& state, double wall_s, std::size_t cores) {
  constexpr double kShare = 0.1, kShortest_s = 0.5;
  const double all_s = wall_s * static_cast<double>(cores);
  if (wall_s < kShortest_s || cores == 0) return "";
  if (state.others_s.value_or(0) > kShare * all_s) {
    return fmt::format("other processes took {:.0f}% of its cores", 100 * *state.others_s / all_s);
  }
  if (state.steal_s > kShare * all_s) {
    return fmt::format("other tenants took {:.0f}% of its cores", 100 * state.steal_s / all_s);
  }
  if (state.throttled.value_or(0) > 0) return "its cores were throttled for heat";
  return "";
}

std::string compiler_of(const std::filesystem::path& build) {
  const std::string cache = text_of(build / "CMakeCache.txt");
  if (cache.empty()) return "";
  auto value = [&](const char* name) {
    std::istringstream lines(cache);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with(std::string(name) + ":")) continue;
      return line.substr(std::min(line.find('=') + 1, line.size()));
    }
    return std::string();
  };
  const std::string type = value("CMAKE_BUILD_TYPE");
  std::string upper = type;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string text = std::filesystem::path(value("CMAKE_CXX_COMPILER")).filename();
  const auto detected = std::filesystem::path("CMakeFiles") / value("CMAKE_CACHE_MAJOR_VERSION");
  const std::string version_folder = detected.string() + "." + value("CMAKE_CACHE_MINOR_VERSION") +
                                     "." + value("CMAKE_CACHE_PATCH_VERSION");
  const std::string found = text_of(build / version_folder / "CMakeCXXCompiler.cmake");
  const std::string mark = "set(CMAKE_CXX_COMPILER_VERSION \"";
  if (auto at = found.find(mark); at != std::string::npos) {
    at += mark.size();
    text += " " + found.substr(at, found.find('"', at) - at);
  }
  for (const std::string& part :
       {type, value("CMAKE_CXX_FLAGS"), value(("CMAKE_CXX_FLAGS_" + upper).c_str())}) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

MachineWatch::MachineWatch(std::vector<int> cores)
    : cores_(std::move(cores)),
      load_(std::strtod(text_of("/proc/loadavg").c_str(), nullptr)),
      throttled_(throttles(cores_)),
      free_bytes_(available_bytes()) {
  const std::string stat = text_of("/proc/stat");
  steal_s_ = in_seconds(steal_ticks(stat, cores_));
  busy_s_ = in_seconds(busy_ticks(stat, cores_));
}

hypotheses::MachineState MachineWatch::finish(double wall_s, double cpu_s) const {
  hypotheses::MachineState state;
  static const std::string name = machine_name();
  const std::string stat = text_of("/proc/stat");
  state.machine = name;
  state.load = load_;
  state.mhz = cores_.empty() ? 0 : current_mhz(cores_.front());
  state.steal_s = std::max(0.0, in_seconds(steal_ticks(stat, cores_)) - steal_s_);
  state.system = system_text(cores_);
  state.temperature_c = hottest_c();
  state.free_bytes = free_bytes_;
  const auto throttled = throttles(cores_);
  if (throttled && throttled_) state.throttled = *throttled - *throttled_;
  if (cpu_s > 0 && !cores_.empty()) {
    const double busy_s = in_seconds(busy_ticks(stat, cores_)) - busy_s_;
    state.others_s = std::max(0.0, busy_s - cpu_s);
  }
  state.disturbed = disturbance(state, wall_s, cores_.size());
  return state;
}

}  // namespace runners
