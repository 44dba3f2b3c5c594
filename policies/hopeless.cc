#include "policies/hopeless.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/pairs.h"
#include "policies/phrase.h"

namespace policies {
namespace {

constexpr int kFewestPairs = 2;
constexpr int kOwnNoisePairs = 4;  // from so many on the pairs' own noise counts, if it is more
constexpr int kLateShare = 4;      // of the cap: late is from a quarter of it on
constexpr double kFarTooMany = 4;  // times the cap

}  // namespace

std::optional<Judgement> judge_hopeless(const hypotheses::Evidence& evidence, double noise,
                                        const EvidenceRule& rule, const PriceOfGoingOn& price) {
  if (evidence.pairs < kFewestPairs || !(noise > 0) || rule.give_up <= 0) return {};
  const double spread = evidence.pairs >= kOwnNoisePairs ? std::max(noise, evidence.noise) : noise;
  const double pairs = evidence.pairs, cap = rule.max_pairs;
  const double needed = std::log1p(rule.min_gain);
  const double distance = std::fabs(needed - evidence.effect);
  const double to_exclude = std::min(pairs_to_separate(distance, spread, rule.alpha), cap);
  if ((to_exclude - pairs) * price.pair_s <= price.ample_s) return {};
  const double best = evidence.effect + rule.give_up * spread / std::sqrt(pairs);
  if (best < needed) {
    return Judgement{
        hypotheses::Verdict::refuted,
        fmt::format(
            "not worth more pairs: {} after {} pairs at {} noise, at best {}, gain +{} needed",
            gain_text(evidence.effect, evidence.unit), evidence.pairs, percent_text(spread),
            gain_text(best, evidence.unit), percent_text(rule.min_gain))};
  }
  const double to_tell = std::pow(rule.give_up * spread / std::max(distance, 1e-12), 2);
  if (pairs * kLateShare >= cap && to_tell > kFarTooMany * cap) {
    return Judgement{
        hypotheses::Verdict::inconclusive,
        fmt::format("too near the gain of {} that is needed: {} after {} pairs; telling them apart "
                    "takes some {} pairs, the cap is {}",
                    percent_text(rule.min_gain), gain_text(evidence.effect, evidence.unit),
                    evidence.pairs, count_text(std::ceil(to_tell)), rule.max_pairs)};
  }
  return {};
}

}  // namespace policies
