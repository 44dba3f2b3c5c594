#include "orchestrator/simulator/setting.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <memory>

#include "policies/noise_models.h"

namespace orchestrator {

using hypotheses::MetricKey;
using hypotheses::RunOutcome;

namespace {

// Two checks and two benchmarks of the kernel, and an engine in which the kernel is a part.
constexpr const char* kManifest = R"(version: 1
name: simulated
base: main
goal: {{metric: {goal}}}
protected: [nightshift.yaml, "bench/**"]
{guards}build: ["make {{build}}"]
knobs:
{knobs}probes:
  sim.check:
    answers: correctness
    layer: kernel
    covers: ["src/**", "knob:sim.*"]
    run: "{{build}}/check --seed {{seed}}"
    format: nightshift
    timeout: 30s
  sim.compare:
    answers: correctness
    layer: {compare}
    covers: ["src/**", "knob:sim.*"]
    run: "{{build}}/compare --seed {{seed}}"
    format: nightshift
    timeout: 60s
  sim.bench:
    answers: speed
    layer: kernel
    covers: ["src/**", "knob:sim.*"]
    run: "{{build}}/bench {{batch}}"
    conditions: {{batch: [1, 8]}}
    format: nightshift
    timeout: 30s
    metrics:
      sim.time: {{better: lower, unit: ns, exact: {exact}}}
  sim.serve:
    answers: serving
    layer: engine
    covers: ["src/**", "knob:sim.*"]
    run: "{{build}}/serve"
    format: nightshift
    timeout: 60s
    metrics:
      sim.rate: {{better: higher, unit: 1/s, exact: {exact}}}
      sim.wait: {{better: lower, unit: ms, exact: {exact}}}
)";
constexpr const char* kTimeline = R"(  sim.trace:
    answers: timeline
    layer: engine
    covers: ["**"]
    run: "{build}/trace"
    format: chrome-trace
    timeout: 10s
    shows: sim.rate
    spans: {"kernel*": ["src/**", "knob:sim.*"]}
)";

constexpr double kShare = 0.4;  // of the engine's time that the kernel takes

// What one value of a knob does.
struct Truth {
  double log_ratio = 0;  // of the kernel's time
  double wait = 0;       // log-ratio of what a request waits longer in the engine
  bool builds = true, correct = true, flaky = false;
};
using Truths = std::map<std::string, Truth>;  // by "knob=value"

Truth draw_truth(base::Rng& rng) {
  Truth truth;
  double what = rng.uniform();
  if (what < 0.06) truth.builds = false;
  if (what > 0.06 && what < 0.14) truth.correct = false;
  if (what > 0.14 && what < 0.20) truth.flaky = true;
  if (what > 0.20 && what < 0.23) truth.log_ratio = std::log(0.05);  // too good to be true
  if (what > 0.35) truth.log_ratio = 0.5 * (rng.uniform() - 0.6);
  if (rng.uniform() < 0.15) truth.wait = 0.2;
  return truth;
}

bool holds(const FakeTree& tree, const char* word) {
  auto source = tree.files.find("src/sim.cc");
  return source != tree.files.end() && source->second.find(word) != std::string::npos;
}

template <class Visit>
void each_truth(const Truths& truths, const FakeTree& tree, Visit visit) {
  for (const auto& [knob, value] : tree.knobs) {
    auto found = truths.find(knob + "=" + value);
    if (found != truths.end()) visit(found->second);
  }
}

double value_of(const Truths& truths, const FakeTree& tree, const MetricKey& key) {
  double log_ratio = holds(tree, "fast") ? -0.3 : 0;
  each_truth(truths, tree, [&](const Truth& truth) { log_ratio += truth.log_ratio; });
  const double engine = 1 - kShare + kShare * std::exp(log_ratio);
  if (key.metric == "sim.rate") return 50 / engine;
  if (key.metric == "sim.wait") {
    double wait = 0;
    each_truth(truths, tree, [&](const Truth& truth) { wait += truth.wait; });
    return 20 * engine * std::exp(wait);
  }
  auto batch = key.conditions.find("batch");
  return (batch != key.conditions.end() && batch->second == "8" ? 700 : 100) * std::exp(log_ratio);
}

std::string knobs_text(base::Rng& rng, Setting& setting, Truths& truths) {
  std::string text;
  int knobs = 1 + static_cast<int>(rng.below(3));
  for (int i = 0; i < knobs; ++i) {
    std::string name = fmt::format("sim.k{}", i), choices;
    int values = 2 + static_cast<int>(rng.below(3));
    for (int value = 0; value < values; ++value) {
      choices += fmt::format("{}{}", value == 0 ? "" : ", ", value);
      if (value > 0) truths[fmt::format("{}={}", name, value)] = draw_truth(rng);
    }
    text += fmt::format("  {}: {{file: knobs.yaml, key: k{}, when: build, choices: [{}]}}\n", name,
                        i, choices);
    setting.world.first.knobs[name] = "0";
  }
  return text;
}

const char* draw_guards(base::Rng& rng) {
  constexpr const char* kGuards[] = {"guards: {sim.rate: 5%}\n",
                                     "guards: {sim.wait: 5%}\n",
                                     "guards: {sim.rate: 5%, sim.wait: 3%}\n",
                                     "",
                                     "",
                                     ""};
  return kGuards[rng.below(std::size(kGuards))];
}

void draw_world(base::Rng& rng, Setting& setting) {
  FakeWorld& world = setting.world;
  auto truths = std::make_shared<Truths>();
  bool exact = rng.uniform() < 0.4;
  std::string knobs = knobs_text(rng, setting, *truths);
  world.manifest = fmt::format(
      kManifest,
      fmt::arg("goal", rng.uniform() < 0.7 ? "sim.time, conditions: {batch: 1}" : "sim.rate"),
      fmt::arg("guards", draw_guards(rng)), fmt::arg("knobs", knobs),
      fmt::arg("compare", rng.coin() ? "kernel" : "component"), fmt::arg("exact", exact));
  if (rng.uniform() < 0.3) {
    world.manifest += kTimeline;
    if (rng.coin()) world.timeline = hypotheses::Timeline{{{{"kernel*"}, kShare}}, 0.1, {}};
  }
  world.first.files = {{"src/sim.cc", "int sim() { return 1; }\n"}, {"bench/sim.cc", "timer\n"}};
  for (const char* name : {"fast", "wrong", "broken"}) {
    world.branches[std::string("try/") + name] = world.first;
    world.branches[std::string("try/") + name].files["src/sim.cc"] =
        fmt::format("int {}() {{ return 1; }}\n", name);
  }
  world.branches["try/cheat"] = world.first;
  world.branches["try/cheat"].files["bench/sim.cc"] = "no timer\n";

  world.value = [truths](const FakeTree& tree, const MetricKey& key) {
    return value_of(*truths, tree, key);
  };
  world.build = [truths](const FakeTree& tree) {
    bool builds = !holds(tree, "broken");
    each_truth(*truths, tree, [&](const Truth& truth) { builds &= truth.builds; });
    return builds ? RunOutcome::ok : RunOutcome::build_failed;
  };
  world.check = [truths](const FakeTree& tree) {
    bool correct = !holds(tree, "wrong");
    each_truth(*truths, tree, [&](const Truth& truth) { correct &= truth.correct; });
    return correct ? RunOutcome::ok : RunOutcome::failed_check;
  };
  double mishaps = rng.uniform() < 0.3 ? 0.05 : 0;
  world.mishap = [truths, mishaps](const FakeTree& tree, base::Rng& launch) {
    double p = mishaps;
    each_truth(*truths, tree, [&](const Truth& truth) { p += truth.flaky ? 0.4 : 0; });
    if (launch.uniform() >= p) return RunOutcome::ok;
    constexpr RunOutcome kWays[] = {RunOutcome::timeout, RunOutcome::crashed,
                                    RunOutcome::could_not_run, RunOutcome::bad_output};
    return kWays[launch.below(std::size(kWays))];
  };
  if (rng.uniform() < 0.3) world.disturbed = 0.2;
  if (rng.uniform() < 0.4) world.run_s = 4;  // dearer than a build: worth giving up
  if (exact) return;
  world.noise = 0.005 + 0.03 * rng.uniform();
  constexpr policies::Draw kDraws[] = {policies::draw_normal, policies::draw_student2,
                                       policies::draw_outliers};
  world.draw = kDraws[rng.below(std::size(kDraws))];
  if (rng.uniform() < 0.3) world.drift = 0.5 * world.noise;
}

template <class T, std::size_t N>
const T& one_of(base::Rng& rng, const T (&all)[N]) {
  return all[rng.below(N)];
}

std::string draw_policy(base::Rng& rng) {
  constexpr const char* kMachines[] = {"8h", "8h", "8h", "400s", "150s", "60s"};
  constexpr const char* kWalls[] = {"8h", "8h", "8h", "1h", "200s"};
  constexpr int kExperiments[] = {2000, 2000, 2000, 25, 9, 1};
  constexpr int kTokens[] = {200000, 9000, 1000};
  constexpr int kPairs[] = {10, 16, 24};
  constexpr int kNoisePairs[] = {0, 3, 6};
  std::string text = fmt::format("budget: {{machine: {}, wall: {}, experiments: {}, tokens: {}}}\n",
                                 one_of(rng, kMachines), one_of(rng, kWalls),
                                 one_of(rng, kExperiments), one_of(rng, kTokens));
  text += fmt::format("evidence: {{max_pairs: {}, noise_pairs: {}}}\n", one_of(rng, kPairs),
                      one_of(rng, kNoisePairs));
  text += fmt::format("merge: {{on_kernel_evidence: {}, max_remeasures: {}}}\n",
                      rng.uniform() < 0.9, rng.below(4));
  text += fmt::format("max_hypotheses: {}\n", 2 + rng.below(6));
  if (rng.coin()) {
    text += fmt::format(
        "planner: {{kind: llm, endpoint: \"http://llm\", model: fake, answer_tokens: 500, "
        "max_turns: {}, max_retries: {}, patience: {}}}\n",
        2 + rng.below(8), rng.below(3), 1 + rng.below(3));
  } else {
    text += fmt::format("planner: {{max_turns: {}}}\n", 3 + rng.below(10));
  }
  return text;
}

}  // namespace

Setting draw_setting(std::uint64_t seed) {
  base::Rng rng(base::seed_from(seed, "setting"));
  Setting setting;
  setting.world.seed = seed;
  draw_world(rng, setting);
  int campaigns = rng.uniform() < 0.2 ? 2 : 1;
  for (int i = 0; i < campaigns; ++i) {
    web::CreateCampaign create;
    create.campaign.target = "simulated";
    create.campaign.policy = draw_policy(rng);
    create.campaign.seed = rng.next() >> 1;
    create.campaign.time_zone = "UTC";
    if (rng.uniform() < 0.4) create.campaign.schedule = "0 3 * * *";
    create.start_now = create.campaign.schedule.empty() || rng.coin();
    setting.campaigns.push_back(std::move(create));
  }
  constexpr Habit kHabits[] = {Habit::approves, Habit::approves, Habit::approves_what_was_shown,
                               Habit::rejects, Habit::sleeps};
  setting.habit = one_of(rng, kHabits);
  constexpr std::int64_t kSnapshots[] = {1, 7, 40, 1'000'000};
  setting.snapshot_every = one_of(rng, kSnapshots);
  return setting;
}

}  // namespace orchestrator
