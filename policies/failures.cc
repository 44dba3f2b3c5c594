#include "policies/failures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/symmetry.h"

namespace policies {

double failure_e_value(const Attempts& attempts) {
  const double against = attempts.candidate_failed, in_favour = attempts.base_failed;
  double e = 0;
  for (std::size_t k = 0; k < std::size(kStakes); ++k) {
    e += kStakeWeights[k] *
         std::exp(against * std::log1p(kStakes[k]) + in_favour * std::log1p(-kStakes[k]));
  }
  return std::min(e, kLargestE);
}

std::optional<Judgement> judge_failures(const Attempts& attempts, double alpha) {
  using hypotheses::Verdict;
  const int all = attempts.all();
  const int base_failed = attempts.base_failed + attempts.both_failed;
  if (base_failed >= 2 && 10 * base_failed > all) {
    return Judgement{
        Verdict::invalid,
        fmt::format("the probe fails on the base: in {} of {} attempts", base_failed, all)};
  }
  if (attempts.candidate_failed >= 2 && attempts.candidate_failed == all) {
    return Judgement{
        Verdict::refuted,
        fmt::format("the candidate failed in all {} attempts, in which the base ran", all)};
  }
  const double e = failure_e_value(attempts);
  if (e >= 1 / alpha) {
    return Judgement{Verdict::refuted,
                     fmt::format("the candidate failed alone in {} of {} attempts, the base alone "
                                 "in {} (e-value {:.0f} against failing alike)",
                                 attempts.candidate_failed, all, attempts.base_failed, e)};
  }
  return {};
}

std::string failures_in_the_way(const Attempts& attempts, bool is_merge) {
  const int excess = attempts.candidate_failed - attempts.base_failed;
  if (excess < (is_merge ? 1 : 2)) return "";
  return failures_text(attempts) +
         (is_merge ? ": nothing is merged that failed where the base ran"
                   : ": not supported until it is clear whether it fails more often");
}

std::string failures_text(const Attempts& attempts) {
  if (attempts.candidate_failed == 0) return "";
  return fmt::format("{} of {} attempts failed on the candidate alone", attempts.candidate_failed,
                     attempts.all());
}

}  // namespace policies
