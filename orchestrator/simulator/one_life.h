// The inside of a simulated life, in two sources: the process and the world around it.
#pragma once

#include <fmt/format.h>

#include <map>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/rng.h"
#include "orchestrator/shell.h"
#include "orchestrator/simulator/fake_performer.h"
#include "orchestrator/simulator/setting.h"
#include "orchestrator/simulator/simulation.h"

namespace orchestrator {

struct Crash {};  // thrown: stands for the death of the process

// Everything of the state that the log has to bring back, less what may be forgotten.
std::string text_of(const State& state);

// Faults whose place is a commit; all others are placed by turn.
bool counts_commits(FaultKind kind);

class Simulation final : public store::CommitObserver {
 public:
  Simulation(const Plan& plan, const LifeOptions& options)
      : plan_(plan),
        options_(options),
        setting_(draw_setting(plan.seed)),
        target_(setting_.world),
        struck_(plan.faults.size(), false) {}

  Life run();

  // store::CommitObserver: where the process may die, and the disk fail.
  base::Status before_commit(std::int64_t nth, const store::Commit& commit) override;
  void after_commit(std::int64_t nth, const store::Commit& commit) override;

 private:
  // The process: simulation.cc.
  void start();  // a new process on what the folder holds
  void check_snapshot();
  void compare(const std::string& expected, const std::string& what);
  void die();
  void equip(FakePerformer& performer);

  // The world: happenings.cc. Between two events at most one thing happens, so that every order of
  // things can come about.
  bool turn();
  void strike();
  void strike(const Fault& fault);
  void interfere(const Fault& fault);
  bool can_strike(const Fault& fault) const;
  void push_to_base(int what);
  void happen();
  bool person_acts();  // when nothing else happens
  bool next_night(hypotheses::CampaignId id, const SeenCampaign& campaign);
  void ask(web::Command command, const std::string& told);
  const SeenMerge* newest_merge() const;
  Fate fate_of(const Order& order);
  std::optional<Completion> failure_of(const Order& order);
  base::Rng luck(const char* of) const {
    return base::Rng(base::seed_from(plan_.seed, fmt::format("{} {}", of, turn_)));
  }
  void tell(const std::string& line) {
    if (options_.trace) life_.trace.push_back(line.substr(0, kLongestLine));
  }

  static constexpr std::size_t kLongestLine = 220;

  const Plan plan_;
  const LifeOptions options_;
  const Setting setting_;
  base::ManualClock clock_{{1'770'000'000'000}};
  FakeTarget target_;
  Invariants invariants_{target_};
  std::unique_ptr<FakePerformer> performer_;
  std::unique_ptr<Shell> shell_;
  Life life_;

  std::vector<bool> struck_;  // by fault
  int commit_ = 0;            // that were tried
  int turn_ = 0;
  int idle_ = 0;
  bool over_ = false;
  bool dies_when_begun_ = false;
  std::optional<Fate> next_fate_;
  bool machine_fails_ = false, git_fails_ = false;
  int late_until_ = 0;                                  // the turn in which what is late arrives
  std::optional<std::string> settled_;                  // the state at the end of a process
  std::map<hypotheses::CampaignId, int> nights_asked_;  // by the person
  std::map<hypotheses::MergeRequestId, int> looked_at_;
};

}  // namespace orchestrator
