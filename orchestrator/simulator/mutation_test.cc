// Who watches the watchmen: each rule of the loop is broken once, and the invariant that is named
// for it must say so; with no rule broken the same seeds break none.
#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <iostream>
#include <mutex>
#include <optional>
#include <thread>

#include "base/files.h"
#include "base/log.h"
#include "orchestrator/broken_rule.h"
#include "orchestrator/simulator/simulate.h"

namespace orchestrator {
namespace {

thread_local std::optional<Rule> rule_broken;

struct Mutant {
  Rule rule;
  const char* name;
  const char* invariant;  // that must catch it
};

constexpr const char* kBudget = "budget-not-exceeded";
constexpr const char* kEvidence = "no-verdict-below-its-evidence";
constexpr const char* kBlame = "invalid-never-refuted";
constexpr const char* kLevel = "confirmation-level";
constexpr const char* kUnapproved = "no-unapproved-merge";
constexpr const char* kUntested = "no-untested-merge";
constexpr const char* kPlanner = "planner-spend-bounded";

constexpr Mutant kMutants[] = {
    {Rule::all_answers_count, "a verdict passes over an answer that refutes", kEvidence},
    {Rule::approval_is_of_this_commit, "an approval of another commit is taken", kUnapproved},
    {Rule::base_is_asked_too, "what the base fails as well refutes the candidate", kBlame},
    {Rule::budget_is_asked, "experiments begin without a look at the budget", kBudget},
    {Rule::cheapest_first, "the costliest probe is taken", "no-costlier-before-cheaper"},
    {Rule::completion_counts_once, "a completion is counted twice", "nothing-runs-twice"},
    {Rule::confirmed_at_its_level, "a merge is confirmed like an exploration", kLevel},
    {Rule::confirmed_on_fresh_pairs, "a merge is confirmed by the pairs that found it", kLevel},
    {Rule::correct_is_asked, "nobody asks whether it is correct",
     "builds-before-correct-before-speed"},
    {Rule::evidence_decides, "whatever looks better is supported", kEvidence},
    {Rule::failed_run_is_no_value, "the number of a failed run is a value", kEvidence},
    {Rule::failed_runs_cost, "failed runs cost nothing", kBudget},
    {Rule::giving_up_knows_the_noise, "what falls short for a moment is given up", kEvidence},
    {Rule::landing_needs_approval, "a confirmed merge lands by itself", kUnapproved},
    {Rule::levels_are_shared_out, "each claim gets all of the false discoveries", kLevel},
    {Rule::machine_failure_is_invalid, "a machine that fails refutes the candidate", kBlame},
    {Rule::merge_is_measured_anew, "after the base moved the old answers count", kUntested},
    {Rule::night_ends, "a night that is done does not end", "queue-drains"},
    {Rule::one_night_at_a_time, "a second night of a campaign begins", "one-night-at-a-time"},
    {Rule::patience_ends, "an LLM without ideas is asked on and on", kPlanner},
    {Rule::paused_starts_nothing, "a paused campaign goes on", "paused-starts-nothing"},
    {Rule::pending_survives_restart, "a restart forgets what was pending",
     "nothing-recorded-is-lost"},
    {Rule::protected_paths_hold, "a proposal may edit its benchmark", "protected-paths"},
    {Rule::recorded_before_done, "effects are begun before they are recorded",
     "recorded-before-done"},
    {Rule::rejected_stays_rejected, "a merge that was rejected comes back", "legal-transitions"},
    {Rule::tokens_count, "tokens are not counted", kPlanner},
    {Rule::work_in_flight_counts, "the budget forgets work in flight", kBudget},
};

constexpr std::uint64_t kSeedsAtMost = 600;

struct Caught {
  std::uint64_t seed = 0;  // 0: nowhere
  std::vector<Violation> broken;
};

// The first seed in which anything breaks.
Caught hunt(const std::filesystem::path& folder) {
  for (std::uint64_t seed = 1; seed <= kSeedsAtMost; ++seed) {
    Life life = live(draw_plan(seed, 1), {false, folder});
    if (!life.broken.empty()) return {seed, life.broken};
  }
  return {};
}

}  // namespace

bool broken(Rule rule) { return rule_broken == rule; }

TEST_CASE("each broken rule is caught by the invariant that names it") {
  REQUIRE(base::start_log({base::LogLevel::error, "/dev/null"}));
  std::vector<Caught> caught(std::size(kMutants));
  std::atomic<std::size_t> next = 0;
  auto work = [&] {
    base::TempDir folder(memory_folder());
    for (std::size_t i = next++; i < std::size(kMutants); i = next++) {
      rule_broken = kMutants[i].rule;
      caught[i] = hunt(folder / "life");
    }
    rule_broken.reset();
  };
  {
    std::jthread other(work);
    work();
  }
  std::uint64_t last = 1;
  for (std::size_t i = 0; i < std::size(kMutants); ++i) {
    const Mutant& mutant = kMutants[i];
    CAPTURE(mutant.name);
    std::string found;
    bool named = false;
    for (const Violation& violation : caught[i].broken) {
      found += "\n  " + violation.text();
      named |= violation.invariant == mutant.invariant;
    }
    std::cout << mutant.name << ": " << (named ? mutant.invariant : "NOT CAUGHT") << ", seed "
              << caught[i].seed << "\n";
    INFO("seed " << caught[i].seed << ":" << found);
    CHECK(named);
    last = std::max(last, caught[i].seed);
  }
  INFO("no rule broken, seeds 1.." << last);
  CHECK(simulate({1, last, 1, false, 2}).failures.empty());
}

TEST_CASE("a failing seed is told with the faults that it needs, always the same") {
  REQUIRE(base::start_log({base::LogLevel::error, "/dev/null"}));
  rule_broken = Rule::approval_is_of_this_commit;
  base::TempDir folder(memory_folder());
  std::uint64_t seed = hunt(folder / "life").seed;
  REQUIRE(seed != 0);
  Simulated once = simulate({seed, seed, 1, false, 1}), again = simulate({seed, seed, 1, false, 1});
  REQUIRE(once.failures.size() == 1);
  REQUIRE(again.failures.size() == 1);
  const Failure& failure = once.failures.front();
  CHECK(failure.violation.invariant == kUnapproved);
  REQUIRE(failure.faults.size() == 1);  // the approval of another commit alone
  CHECK(failure.faults.front().find("approval of another commit") == 0);
  REQUIRE_FALSE(failure.trace.empty());
  CHECK(failure.trace.front().find("FAULT approval of another commit") == 0);
  CHECK(std::any_of(failure.trace.begin(), failure.trace.end(), [](const std::string& line) {
    return line.find("merge-approved") != std::string::npos;
  }));
  CHECK(failure.trace == again.failures.front().trace);
  rule_broken.reset();
}

}  // namespace orchestrator
