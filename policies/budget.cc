#include "policies/budget.h"

#include <fmt/format.h>

namespace policies {

double remaining_machine_s(const hypotheses::Budget& budget, const Spend& spend) {
  if (budget.machine_s <= 0) return kNoLimit;
  return budget.machine_s - spend.machine_s - spend.in_flight_s;
}

// In this order: the night's deadline, the number of experiments, the machine-seconds. An
// experiment that is expected to end after the deadline does not start.
std::optional<std::string> over_budget(const hypotheses::Budget& budget, const Spend& spend,
                                       double estimate_s, base::Instant started,
                                       base::Instant now) {
  if (budget.wall_s > 0) {
    const double left_s = budget.wall_s - now.seconds_since(started);
    if (left_s <= 0) {
      return fmt::format("the night's {:.0f} s are over", budget.wall_s);
    }
    if (estimate_s > left_s) {
      return fmt::format("it needs about {:.0f} s; {:.0f} s of the night's {:.0f} s are left",
                         estimate_s, left_s, budget.wall_s);
    }
  }
  if (budget.experiments > 0 && spend.experiments >= budget.experiments) {
    return fmt::format("{} of {} experiments were started", spend.experiments, budget.experiments);
  }
  if (const double left_s = remaining_machine_s(budget, spend);
      estimate_s > left_s || left_s <= 0) {
    return fmt::format(
        "it needs about {:.0f} machine-seconds; of {:.0f}, {:.0f} are spent and {:.0f} in flight",
        estimate_s, budget.machine_s, spend.machine_s, spend.in_flight_s);
  }
  return {};
}

}  // namespace policies
