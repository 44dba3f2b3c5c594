// What the daemon adds to an experiment, as numbers: `overhead_bench [--json]`. Runs real nights on
// a toy target (real git, SQLite, sandboxed processes) and reads their record:
//  - overhead: from the experiment's first fact to its last, less the lifetimes of its processes;
//  - dispatch: from the fact that a launch was decided on to the launch.
// Experiments that switch a workspace or build are left out.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "orchestrator/night/run_night.h"
#include "store/reader.h"

namespace orchestrator {
namespace {

constexpr int kNights = 6;

struct Figures {
  std::vector<double> overhead_ms, dispatch_ms;
};

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double greatest(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

struct Seen {
  base::Instant started;
  double wall_s = 0;
  bool builds = false;
  std::optional<base::Instant> first_launch;
};

void read_night(const std::filesystem::path& state, Figures& figures) {
  auto reader = store::Reader::open(state);
  if (!reader) return;
  auto events = reader->events_after(0, 1'000'000);
  if (!events) return;
  std::map<hypotheses::ExperimentId, Seen> seen;
  for (const store::Event& event : *events) {
    if (const auto* fact = std::get_if<hypotheses::ExperimentStarted>(&event.fact)) {
      seen[fact->experiment.id].started = event.at;
      seen[fact->experiment.id].builds = fact->experiment.question == hypotheses::Question::builds;
    } else if (const auto* run = std::get_if<hypotheses::RunRecorded>(&event.fact)) {
      Seen& experiment = seen[run->run.experiment];
      experiment.wall_s += run->run.wall_s;
      experiment.builds |= !run->run.measured;
      if (!experiment.first_launch) experiment.first_launch = run->run.started;
    } else if (const auto* done = std::get_if<hypotheses::ExperimentFinished>(&event.fact)) {
      const Seen& experiment = seen[done->experiment];
      if (experiment.builds || !experiment.first_launch) continue;
      figures.overhead_ms.push_back(
          1000 * (event.at.seconds_since(experiment.started) - experiment.wall_s));
      figures.dispatch_ms.push_back(1000 *
                                    experiment.first_launch->seconds_since(experiment.started));
    }
  }
}

int run(bool as_json) {
  Figures figures;
  for (int i = 0; i < kNights; ++i) {
    ToyNight night;
    if (!night.start() || !night.create("max_hypotheses: 3\n") || !night.run_to_end()) {
      std::cerr << "the toy night did not come to its end\n";
      return 1;
    }
    night.daemon.reset();
    read_night(night.state(), figures);
  }
  nlohmann::json json = {{"experiments", figures.overhead_ms.size()},
                         {"overhead_ms_median", median_of(figures.overhead_ms)},
                         {"overhead_ms_max", greatest(figures.overhead_ms)},
                         {"dispatch_ms_median", median_of(figures.dispatch_ms)},
                         {"dispatch_ms_max", greatest(figures.dispatch_ms)}};
  if (as_json) {
    std::cout << json.dump(2) << "\n";
    return 0;
  }
  for (const auto& [name, value] : json.items()) fmt::print("{:<22} {}\n", name, value.dump());
  return 0;
}

}  // namespace
}  // namespace orchestrator

int main(int argc, char** argv) {
  return orchestrator::run(argc > 1 && std::string_view(argv[1]) == "--json");
}
