// What the loop's tests share: a toy target and a campaign on it, worked on by a shell and a fake
// performer that can be crashed and started again on the same state folder.
#pragma once

#include <catch2/catch.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "orchestrator/shell.h"
#include "orchestrator/simulator/fake_performer.h"
#include "orchestrator/simulator/fake_target.h"
#include "orchestrator/simulator/invariants.h"
#include "orchestrator/simulator/toy_world.h"

namespace orchestrator {

inline constexpr const char* kToyPolicy = "merge: {on_kernel_evidence: true}\n";

hypotheses::Prediction prediction(const std::string& text);

// Stands for the death of the process.
struct Crash {};

// The process dies in, or right after, its n-th commit.
class CrashAt final : public store::CommitObserver {
 public:
  enum class Point { before, after };
  CrashAt(std::int64_t nth, Point point) : nth_(nth), point_(point) {}
  base::Status before_commit(std::int64_t nth, const store::Commit&) override {
    at(nth, Point::before);
    return {};
  }
  void after_commit(std::int64_t nth, const store::Commit&) override { at(nth, Point::after); }

 private:
  void at(std::int64_t nth, Point point) const {
    if (nth == nth_ && point == point_) throw Crash{};
  }
  std::int64_t nth_;
  Point point_;
};

// Shows each commit to the invariants, then to whoever else looks.
class Watch final : public store::CommitObserver {
 public:
  explicit Watch(Invariants& invariants) : invariants_(invariants) {}
  base::Status before_commit(std::int64_t nth, const store::Commit& commit) override {
    return next != nullptr ? next->before_commit(nth, commit) : base::Status{};
  }
  void after_commit(std::int64_t nth, const store::Commit& commit) override {
    invariants_.committed(commit);
    if (next != nullptr) next->after_commit(nth, commit);
  }
  store::CommitObserver* next = nullptr;

 private:
  Invariants& invariants_;
};

class TestLoop {
 public:
  explicit TestLoop(FakeWorld world);

  // A new process: shell and performer on what the folder holds.
  void start(store::CommitObserver* observer = nullptr);

  // The process is gone; what was queued is never done.
  void crash();

  // Commands; `give` fails the test when one is refused, `refused` when it is not.
  web::Reply give(web::Command command);
  base::Error refused(web::Command command);

  // A campaign whose first night begins at once.
  hypotheses::CampaignId campaign(std::string policy = kToyPolicy, std::uint64_t seed = 1,
                                  std::string schedule = "", bool start_now = true);

  // Lets things happen until `wanted`. False when nothing happens any more.
  bool run(const std::function<bool(const State&)>& wanted);
  void run_to_end();  // until nothing happens; then nothing may be left half-done

  void move_clock_to(int hour, int minute);  // the next time that it is this late, in UTC

  const State& state() const { return shell->state(); }
  const hypotheses::MergeRequest& merge(std::int64_t id = 1) const {
    return state().merges.at({id});
  }

  // Everything recorded, an event a line.
  std::vector<std::string> events() const;
  int count(const std::string& text) const;  // events whose line holds this

  // "change -> verdict" of all hypotheses, and the states of merges.
  std::vector<std::string> verdicts() const;

  base::TempDir folder;
  base::ManualClock clock{{1'770'000'000'000}};
  FakeTarget target;
  Invariants invariants{target};
  Watch watch{invariants};
  std::unique_ptr<FakePerformer> performer;
  std::unique_ptr<Shell> shell;
  std::function<void(const State&)> on_commit;
  // Of the next start().
  std::int64_t snapshot_every = 10'000;
  std::string program = "this test";
};

// Fails the test with all that is broken.
void expect_sound(const TestLoop& loop);

}  // namespace orchestrator
