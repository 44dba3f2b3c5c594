#include "orchestrator/simulator/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/files.h"
#include "hypotheses/json.h"
#include "orchestrator/settled.h"
#include "orchestrator/simulator/fake_planner.h"
#include "orchestrator/simulator/one_life.h"
#include "orchestrator/snapshot.h"

namespace orchestrator {

namespace {

// A life of a night takes some hundred commits; what takes so many does not end.
constexpr int kMostCommits = 20'000;

}  // namespace

std::string text_of(const State& state) {
  State kept = state;
  forget_settled(kept);
  std::string text = to_snapshot(kept);
  for (const auto& [id, effect] : kept.pending) text += "\n" + to_pending(effect).payload;
  return text;
}

bool counts_commits(FaultKind kind) { return kind <= FaultKind::disk_full; }

Life Simulation::run() {
  bool again = true;
  while (again) {
    try {
      start();
      // An error means that not even the start could be recorded: somebody starts it again.
      (void)shell_->run({}, [this](const State&) { return turn(); });
    } catch (const Crash&) {
    }
    again = !over_;
    if (over_ && invariants_.broken().empty()) {
      invariants_.check_end(shell_->state());
      settled_ = text_of(shell_->state());
    }
    die();
  }
  if (invariants_.broken().empty()) {
    try {
      start();  // what the folder holds at the end
    } catch (const Crash&) {
    }
    die();
  }
  life_.broken = invariants_.broken();
  const Ledger& ledger = invariants_.ledger();
  life_.hash = ledger.hash;
  life_.nights = static_cast<int>(ledger.nights.size());
  life_.experiments = static_cast<int>(ledger.experiments.size());
  for (const auto& [id, merge] : ledger.merges) {
    life_.landed += merge.state == hypotheses::MergeState::landed ? 1 : 0;
  }
  return life_;
}

void Simulation::start() {
  performer_ = std::make_unique<FakePerformer>(target_, clock_);
  equip(*performer_);
  auto store = store::Store::open(options_.folder);
  if (!store) {
    invariants_.add("nothing-recorded-is-lost", store.error().text());
    over_ = true;
    throw Crash{};
  }
  store->observe(this);
  ShellOptions options;
  options.retry_s = 0;
  options.program = "simulator";
  options.snapshot_every = setting_.snapshot_every;
  options.on_commit = [this](std::int64_t, const State& state) {
    invariants_.check(state);
    if (std::exchange(dies_when_begun_, false)) throw Crash{};
  };
  auto shell = Shell::open(std::move(*store), clock_, *performer_, options);
  if (!shell) {
    invariants_.add("nothing-recorded-is-lost", shell.error().text());
    over_ = true;
    throw Crash{};
  }
  shell_ = std::move(*shell);
  invariants_.restarted(shell_->store(), shell_->state());
  if (settled_) compare(*settled_, "the state before a restart was not the one after it");
  settled_.reset();
  check_snapshot();
  tell("--- a process starts");
}

// However the process came by its state, the whole log says the same.
void Simulation::check_snapshot() {
  State folded;
  (void)shell_->store().replay([&](const store::Event& e) { return apply(folded, e.fact); });
  folded.pending = shell_->state().pending;
  compare(text_of(folded), "the whole log comes to another state than the snapshot");
}

// Names the place of the first difference.
void Simulation::compare(const std::string& expected, const std::string& what) {
  const std::string found = text_of(shell_->state());
  if (found == expected) return;
  const auto [left, right] =
      std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
  const auto around = [](const std::string& text, std::string::const_iterator place) {
    const auto at = static_cast<std::size_t>(place - text.begin());
    return text.substr(at - std::min<std::size_t>(at, 60), 120);
  };
  invariants_.add(
      "nothing-recorded-is-lost",
      fmt::format("{}: ...{}... and ...{}...", what, around(expected, left), around(found, right)));
}

// Of what was begun some was done; nobody hears of it.
void Simulation::die() {
  ++life_.restarts;
  if (performer_) {
    performer_->fate = [](const Order&) { return Fate::lost; };
    base::Rng rng = luck("done in vain");
    while (!performer_->idle() && rng.coin()) performer_->step(rng.below(performer_->queued()));
  }
  shell_.reset();
  performer_.reset();
  late_until_ = 0;
}

void Simulation::equip(FakePerformer& performer) {
  performer.given = [this](const Order& order) { invariants_.ordered(order); };
  performer.fate = [this](const Order& order) { return fate_of(order); };
  performer.answer = [this](const Order& order) { return failure_of(order); };
  performer.planner = [this](const PlannerOrder& order) { return fake_answer(order, plan_.seed); };
}

base::Status Simulation::before_commit(std::int64_t, const store::Commit&) {
  ++commit_;
  ++life_.commits;
  if (commit_ > kMostCommits) {
    invariants_.add("queue-drains", fmt::format("no end after {} commits", kMostCommits));
    over_ = true;
    throw Crash{};
  }
  for (std::size_t i = 0; i < plan_.faults.size(); ++i) {
    const Fault& fault = plan_.faults[i];
    if (!counts_commits(fault.kind) || fault.at > commit_) continue;
    bool fails = fault.kind == FaultKind::commit_busy || fault.kind == FaultKind::disk_full;
    if (fault.at + (fails ? fault.size : 0) < commit_) continue;
    tell("FAULT " + to_text(fault));
    ++life_.faults;
    struck_[i] = true;
    if (fault.kind == FaultKind::crash_before_commit) throw Crash{};
    if (fault.kind == FaultKind::commit_busy) {
      return base::fail(base::ErrorCode::unavailable, "simulated: the database is locked");
    }
    if (fault.kind == FaultKind::disk_full) {
      return base::fail(base::ErrorCode::io, "simulated: no space left on device");
    }
  }
  return {};
}

void Simulation::after_commit(std::int64_t, const store::Commit& commit) {
  invariants_.committed(commit);
  idle_ = 0;
  if (options_.trace) {
    for (const auto& fact : commit.facts) {
      tell(fmt::format("{:>5}  {} {}", commit_, hypotheses::kind_of(fact),
                       hypotheses::dump(to_json(fact))));
    }
    for (auto id : commit.done) tell(fmt::format("{:>5}  done {}", commit_, id.text()));
    for (const auto& effect : commit.pending) {
      tell(fmt::format("{:>5}  effect {} {} {}", commit_, effect.id.text(), effect.kind,
                       effect.payload));
    }
  }
  for (const Fault& fault : plan_.faults) {
    if (fault.at != commit_) continue;
    if (fault.kind == FaultKind::crash_after_commit) throw Crash{};
    if (fault.kind == FaultKind::crash_when_begun) dies_when_begun_ = true;
  }
}

Life live(const Plan& plan, const LifeOptions& options) {
  if (auto emptied = base::remove_tree(options.folder); !emptied) {
    Life life;
    life.broken.push_back({"nothing-recorded-is-lost", emptied.error().text()});
    return life;
  }
  return Simulation(plan, options).run();
}

std::filesystem::path memory_folder() {
  std::error_code error;
  std::filesystem::path memory = "/dev/shm";
  bool usable = std::filesystem::is_directory(memory, error);
  return usable ? memory : std::filesystem::temp_directory_path();
}

}  // namespace orchestrator
