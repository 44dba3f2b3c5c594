// Rules that the mutation check breaks, one at a time, to show that an invariant of the simulator
// catches each (docs/simulation.md). In the product broken() is a constant false and leaves nothing
// behind; only `breakable_loop`, a library of that test, is compiled so that a rule can be broken.
#pragma once

namespace orchestrator {

enum class Rule {
  all_answers_count,
  approval_is_of_this_commit,
  base_is_asked_too,
  budget_is_asked,
  cheapest_first,
  completion_counts_once,
  confirmed_at_its_level,
  confirmed_on_fresh_pairs,
  correct_is_asked,
  evidence_decides,
  failed_run_is_no_value,
  failed_runs_cost,
  giving_up_knows_the_noise,
  landing_needs_approval,
  levels_are_shared_out,
  machine_failure_is_invalid,
  merge_is_measured_anew,
  night_ends,
  one_night_at_a_time,
  patience_ends,
  paused_starts_nothing,
  pending_survives_restart,
  protected_paths_hold,
  recorded_before_done,
  rejected_stays_rejected,
  tokens_count,
  work_in_flight_counts,
};

#ifdef NIGHTSHIFT_BREAKABLE_RULES
bool broken(Rule rule);
#else
constexpr bool broken(Rule) { return false; }
#endif

}  // namespace orchestrator
