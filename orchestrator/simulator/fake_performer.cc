#include "orchestrator/simulator/fake_performer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/rng.h"

namespace orchestrator {

using base::ErrorCode;
using hypotheses::CommitId;
using hypotheses::Question;
using hypotheses::Run;
using hypotheses::RunOutcome;
using hypotheses::Side;

namespace {

constexpr const char* kMachine = "fake (1 core)";

const CommitId& commit_of(const AttemptOrder& order, Side side) {
  return side == Side::base ? order.experiment.base : order.experiment.candidate;
}

EffectFailed failed(ErrorCode code, std::string message) {
  return {base::Error{code, std::move(message), {}}};
}

// Box-Muller.
double normal(base::Rng& rng) {
  double u = 1 - rng.uniform(), v = rng.uniform();
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

}  // namespace

void FakePerformer::perform(Order order, Post post) {
  if (given) given(order);
  if (const auto* stop = std::get_if<StopOrder>(&order.what)) {
    std::erase_if(queue_, [&](const Item& item) {
      const auto* attempt = std::get_if<AttemptOrder>(&item.order.what);
      return attempt != nullptr && attempt->experiment.id == stop->experiment;
    });
  }
  queue_.push_back({std::move(order), std::move(post)});
}

std::optional<int> FakePerformer::step(std::size_t which) {
  if (queue_.empty()) return {};
  Item item = std::move(queue_.at(which));
  queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(which));
  Fate what = fate ? fate(item.order) : Fate::arrives;
  auto answered = answer ? answer(item.order) : std::nullopt;
  Completed completed{item.order.id, answered ? std::move(*answered) : carry_out(item.order)};
  if (what == Fate::late) late_.emplace_back(completed, item.post);
  if (what == Fate::late || what == Fate::lost) return 0;
  int times = what == Fate::arrives_twice ? 2 : 1;
  for (int i = 0; i < times; ++i) item.post(completed);
  return times;
}

int FakePerformer::deliver_late() {
  auto late = std::move(late_);
  late_.clear();
  for (auto& [completed, post] : late) post(std::move(completed));
  return static_cast<int>(late.size());
}

Completion FakePerformer::carry_out(const Order& order) {
  if (std::holds_alternative<OpenNightOrder>(order.what)) {
    return NightOpened{target_.tip(), target_.world().manifest, target_.tree(target_.tip()).knobs};
  }
  if (const auto* make = std::get_if<CandidateOrder>(&order.what)) return make_candidate(*make);
  if (const auto* attempt = std::get_if<AttemptOrder>(&order.what)) return run_attempt(*attempt);
  if (std::holds_alternative<StopOrder>(order.what)) return StopDone{};
  if (const auto* prepare = std::get_if<MergeOrder>(&order.what)) {
    CommitId base = target_.tip();
    auto outcome = target_.merge(base, prepare->merge.candidate);
    if (auto* paths = std::get_if<1>(&outcome)) return MergeConflict{*paths};
    return MergeReady{base, std::get<CommitId>(outcome)};
  }
  if (const auto* land = std::get_if<LandOrder>(&order.what)) {
    if (target_.land(land->merge.base, land->merge.merged)) {
      return Landed{"refs/heads/" + land->base_branch, ""};
    }
    return BaseMoved{target_.tip()};
  }
  if (std::holds_alternative<FetchOrder>(order.what)) return TargetRead{};
  const auto& ask = std::get<PlannerOrder>(order.what);
  return planner ? planner(ask) : PlannerAnswered{{}, 0, {}, "no endpoint"};
}

Completion FakePerformer::make_candidate(const CandidateOrder& order) {
  const auto& hypothesis = order.hypothesis;
  const auto& change = hypothesis.change;
  if (change.empty()) return CandidateReady{hypothesis.base, "", {}};
  FakeTree tree = target_.tree(hypothesis.base);
  if (!change.branch.empty()) {
    CommitId pushed = target_.branch(change.branch);
    if (!pushed) return failed(ErrorCode::not_found, "there is no branch " + change.branch);
    tree = target_.tree(pushed);
  }
  for (const auto& setting : change.knobs) {
    if (order.manifest->knobs.count(setting.knob) == 0) {
      return failed(ErrorCode::bad_input, "the manifest has no knob " + setting.knob);
    }
    tree.knobs[setting.knob] = setting.value;
  }
  for (const auto& edit : change.edits) {
    auto edited = apply_edits(edit.path, tree.files[edit.path], {edit});
    if (!edited) return EffectFailed{edited.error()};
    tree.files[edit.path] = *edited;
  }
  auto paths = differences(target_.tree(hypothesis.base), tree);
  for (const std::string& path : paths) {
    if (order.manifest->is_protected(path)) {
      return failed(ErrorCode::refused, "edits protected paths (" + path + ")");
    }
  }
  if (!change.branch.empty()) {
    return CandidateReady{target_.branch(change.branch), change.branch, std::move(paths)};
  }
  CommitId commit = target_.commit(std::move(tree), {hypothesis.base});
  return CandidateReady{commit, "night/" + hypothesis.id.text(), std::move(paths)};
}

// As the lab does: builds where they are stale, nothing launched when one fails.
Completion FakePerformer::run_attempt(const AttemptOrder& order) {
  AttemptDone done;
  for (Side side : order.sides) {
    std::string stamp = commit_of(order, side).hex;
    if (order.experiment.fresh_build) stamp += order.experiment.merge.text();
    if (target_.is_built(stamp)) continue;
    done.runs.push_back(build(order, side));
    if (done.runs.back().outcome != RunOutcome::ok) return done;
    target_.keep_build(stamp);
  }
  if (order.experiment.question == Question::builds) {
    if (done.runs.empty()) {
      done.runs.emplace_back();
      done.runs.back().side = order.sides.front();
      done.runs.back().outcome = RunOutcome::ok;
    }
    done.runs.back().measured = true;
    return done;
  }
  int position = 0;
  for (Side side : order.sides) done.runs.push_back(launch(order, side, position++));
  return done;
}

Run FakePerformer::build(const AttemptOrder& order, Side side) {
  const auto& world = target_.world();
  Run run;
  run.side = side;
  run.measured = false;
  run.started = clock_.now();
  run.outcome = world.build ? world.build(target_.tree(commit_of(order, side))) : RunOutcome::ok;
  if (run.outcome != RunOutcome::ok) run.detail = "src/toy.cc:3: error: expected ';'";
  run.wall_s = world.build_s;
  run.machine.machine = kMachine;
  clock_.advance_s(run.wall_s);
  return run;
}

base::Rng FakePerformer::rng_of(const AttemptOrder& order, std::string_view name) const {
  return base::Rng(
      base::seed_from(target_.world().seed ^ order.experiment.seed,
                      fmt::format("{} {} {}", order.experiment.id.text(), order.attempt, name)));
}

// A walk over the runs of the experiment, the same whenever it is asked for.
double FakePerformer::drift_at(const AttemptOrder& order, int position) const {
  const auto& world = target_.world();
  if (world.drift == 0) return 0;
  base::Rng rng(base::seed_from(world.seed ^ order.experiment.seed, "drift"));
  double level = 0;
  for (int i = 0; i <= 2 * order.attempt + position; ++i) level += world.drift * normal(rng);
  return level;
}

Run FakePerformer::launch(const AttemptOrder& order, Side side, int position) {
  const auto& world = target_.world();
  const FakeTree& tree = target_.tree(commit_of(order, side));
  Run run;
  run.side = side;
  run.position = position;
  run.outcome = RunOutcome::ok;
  run.started = clock_.now();
  run.wall_s = world.run_s;
  run.machine.machine = kMachine;
  if (world.disturbed > 0 &&
      rng_of(order, std::string("disturbed ") + std::string(to_text(side))).uniform() <
          world.disturbed) {
    run.machine.disturbed = "other processes took 30% of its cores";
  }
  if (order.experiment.question == Question::correct) {
    if (world.check) run.outcome = world.check(tree);
    if (run.outcome != RunOutcome::ok) run.detail = "toy: first mismatch at [3]";
  } else if (is_timeline(*order.manifest, order.experiment)) {
    run.timeline = world.timeline;
    if (!run.timeline) {
      run.outcome = RunOutcome::bad_output;
      run.detail = "its stdout is no Chrome trace";
    }
  } else {
    base::Rng rng = rng_of(order, to_text(side));
    const double drift = drift_at(order, position);
    auto measure = [&](const hypotheses::MetricKey& key) {
      double noise = world.draw ? world.draw(rng) : normal(rng);
      double value = world.value(tree, key) * std::exp(world.noise * noise + drift);
      run.observations.push_back({key, value, "ns"});
    };
    // Also a run that failed half way may have printed numbers.
    const auto& probe = order.manifest->probes.at(order.experiment.probe);
    measure(order.experiment.key);
    for (const auto& [name, metric] : probe.metrics) {
      if (name != order.experiment.key.metric) measure({name, order.experiment.key.conditions});
    }
    if (world.mishap) run.outcome = world.mishap(tree, rng);
    if (run.outcome != RunOutcome::ok) run.detail = "killed";
  }
  clock_.advance_s(run.wall_s);
  return run;
}

}  // namespace orchestrator
