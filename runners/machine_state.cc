#include "runners/machine_state.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
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

double steal_s(const std::vector<int>& cores) {
  return steal_ticks(text_of("/proc/stat"), cores) / ticks_per_second();
}

double current_mhz(int core) {
  std::string khz =
      text_of(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", core));
  if (double value = std::strtod(khz.c_str(), nullptr); value > 0) return value / 1000;
  return mhz_of(text_of("/proc/cpuinfo"), core);
}

}  // namespace

double steal_ticks(const std::string& proc_stat, const std::vector<int>& cores) {
  double sum = 0;
  std::istringstream lines(proc_stat);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    bool ours = std::any_of(cores.begin(), cores.end(),
                            [&](int core) { return name == fmt::format("cpu{}", core); });
    // cpuN user nice system idle iowait irq softirq steal
    double value = 0;
    for (int column = 0; ours && column < 8; ++column) {
      if (!(words >> value)) value = 0;
    }
    if (ours) sum += value;
  }
  return sum;
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

MachineWatch::MachineWatch(std::vector<int> cores)
    : cores_(std::move(cores)),
      load_(std::strtod(text_of("/proc/loadavg").c_str(), nullptr)),
      steal_s_(steal_s(cores_)) {}

hypotheses::MachineState MachineWatch::finish() const {
  hypotheses::MachineState state;
  static const std::string name = machine_name();
  state.machine = name;
  state.load = load_;
  state.mhz = cores_.empty() ? 0 : current_mhz(cores_.front());
  state.steal_s = std::max(0.0, steal_s(cores_) - steal_s_);
  return state;
}

}  // namespace runners
