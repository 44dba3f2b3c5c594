#include "orchestrator/simulator/simulate.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include "base/files.h"

namespace orchestrator {

namespace {

bool breaks(const Life& life, const std::string& invariant) {
  return std::any_of(life.broken.begin(), life.broken.end(),
                     [&](const Violation& v) { return v.invariant == invariant; });
}

// From the last fault on, or from the last start where none struck.
std::vector<std::string> last_part(std::vector<std::string> trace) {
  auto is_fault = [](const std::string& line) { return line.starts_with("FAULT"); };
  auto last = std::find_if(trace.rbegin(), trace.rend(), is_fault);
  constexpr std::size_t kLines = 60;
  std::size_t begin = last == trace.rend() ? 0 : static_cast<std::size_t>(trace.rend() - last) - 1;
  if (trace.size() - begin > kLines) begin = trace.size() - kLines;
  trace.erase(trace.begin(), trace.begin() + static_cast<std::ptrdiff_t>(begin));
  return trace;
}

Failure explain(const Plan& plan, const Violation& violation, LifeOptions options) {
  Plan least = shrink(plan, violation.invariant, options);
  options.trace = true;
  Life life = live(least, options);
  Failure failure{plan.seed, violation, {}, last_part(std::move(life.trace))};
  for (const Violation& found : life.broken) {
    if (found.invariant == violation.invariant) failure.violation = found;
  }
  for (const Fault& fault : least.faults) failure.faults.push_back(to_text(fault));
  return failure;
}

class Seeds {
 public:
  explicit Seeds(const SimulateOptions& options) : options_(options), next_(options.first) {}

  // One worker: seeds until there are no more.
  void work() {
    base::TempDir folder(memory_folder());
    LifeOptions options{false, folder / "life"};
    while (true) {
      std::uint64_t seed = next_.fetch_add(1);
      if (seed > options_.last || seed < options_.first) return;
      one_seed(seed, options);
    }
  }

  Simulated result() {
    std::sort(sum_.failures.begin(), sum_.failures.end(),
              [](const Failure& a, const Failure& b) { return a.seed < b.seed; });
    return std::move(sum_);
  }

 private:
  void one_seed(std::uint64_t seed, const LifeOptions& options) {
    Plan plan = draw_plan(seed, options_.nights);
    Life life = live(plan, options);
    bool sound = count(plan, life, options);
    constexpr FaultKind kCrashes[] = {FaultKind::crash_before_commit, FaultKind::crash_after_commit,
                                      FaultKind::crash_when_begun};
    for (int at = 1; options_.exhaustive && sound && at <= life.commits; ++at) {
      for (FaultKind crash : kCrashes) {
        Plan crashing = plan;
        crashing.faults.push_back({crash, at, 0});
        sound = sound && count(crashing, live(crashing, options), options);
      }
    }
    std::lock_guard lock(mutex_);
    ++sum_.seeds;
  }

  bool count(const Plan& plan, const Life& life, const LifeOptions& options) {
    std::optional<Failure> failure;
    if (!life.broken.empty()) failure = explain(plan, life.broken.front(), options);
    std::lock_guard lock(mutex_);
    ++sum_.lives;
    sum_.commits += life.commits;
    sum_.restarts += life.restarts;
    sum_.faults += life.faults;
    sum_.nights += life.nights;
    sum_.experiments += life.experiments;
    sum_.landed += life.landed;
    sum_.hash += life.hash;
    if (failure) sum_.failures.push_back(std::move(*failure));
    return life.broken.empty();
  }

  const SimulateOptions options_;
  std::atomic<std::uint64_t> next_;
  std::mutex mutex_;
  Simulated sum_;  // guarded by mutex_
};

}  // namespace

Plan shrink(Plan plan, const std::string& invariant, const LifeOptions& options) {
  for (std::size_t i = plan.faults.size(); i-- > 0;) {
    Plan without = plan;
    without.faults.erase(without.faults.begin() + static_cast<std::ptrdiff_t>(i));
    if (breaks(live(without, options), invariant)) plan = std::move(without);
  }
  for (int nights = 1; nights < plan.nights; ++nights) {
    Plan fewer = plan;
    fewer.nights = nights;
    if (breaks(live(fewer, options), invariant)) return fewer;
  }
  return plan;
}

Simulated simulate(const SimulateOptions& options) {
  Seeds seeds(options);
  {
    int threads = options.threads > 0 ? options.threads
                                      : static_cast<int>(std::thread::hardware_concurrency());
    std::vector<std::jthread> workers;
    for (int i = 1; i < threads; ++i) workers.emplace_back([&] { seeds.work(); });
    seeds.work();
  }
  return seeds.result();
}

}  // namespace orchestrator
