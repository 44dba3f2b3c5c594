// When evidence is enough to answer (DESIGN 6): the three judges of evidence.h.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/evidence.h"
#include "policies/pairs.h"
#include "policies/phrase.h"

namespace policies {
namespace {

using hypotheses::Evidence;
using hypotheses::Verdict;

// Without noise: an exact counter that repeats.
bool is_known(const Evidence& evidence, bool exact) {
  return exact && evidence.pairs > 0 && evidence.low == evidence.high;
}

// Whether so few pairs may decide at all: one of an exact counter, else the policy's minimum.
bool enough_pairs(const Evidence& evidence, const EvidenceRule& rule, bool exact) {
  return evidence.pairs >= (is_known(evidence, exact) ? 1 : std::max(rule.min_pairs, 1));
}

// What was measured, and that a counter was not what its manifest declares.
std::string measured_as(const Evidence& evidence, const EvidenceRule& rule, bool exact) {
  std::string text = measured_text(evidence, rule.alpha);
  if (exact && evidence.pairs > 0 && !is_known(evidence, exact)) {
    text += " (declared exact, but it does not repeat: judged as noise)";
  }
  return text;
}

// A flagged result is not believed, so it decides nothing about the candidate.
std::optional<Judgement> judge_flag(const Evidence& evidence, const EvidenceRule& rule,
                                    bool exact) {
  if (evidence.flag.empty() || !enough_pairs(evidence, rule, exact)) return {};
  return Judgement{Verdict::invalid,
                   fmt::format("flagged: {} is {}, which is not believed until a person has looked "
                               "(a skipped computation, a cached answer, a broken clock?)",
                               measured_as(evidence, rule, exact), evidence.flag)};
}

std::optional<Judgement> judge_cap(const Evidence& evidence, const EvidenceRule& rule, bool exact,
                                   int attempts, std::string_view wanted) {
  if (attempts < rule.max_pairs) return {};
  if (evidence.pairs == 0) {
    return Judgement{
        Verdict::inconclusive,
        fmt::format("none of {} attempts gave a pair of positive, finite values", attempts)};
  }
  return Judgement{Verdict::inconclusive,
                   fmt::format("{}: not settled whether {} at the cap of {} attempts",
                               measured_as(evidence, rule, exact), wanted, rule.max_pairs)};
}

}  // namespace

bool worth_naming(const Evidence& evidence, const EvidenceRule& rule, int attempts) {
  const double band = std::log1p(rule.no_difference);
  if (band <= 0 || evidence.effect < -band || attempts >= rule.max_pairs) return false;
  constexpr double kLeastNoise = 1e-9;
  const double to_exclude =
      pairs_to_separate(band, std::max(evidence.noise, kLeastNoise), rule.alpha);
  return to_exclude * kPairsBothSides <= rule.max_pairs &&
         evidence.pairs < rule.naming_effort * to_exclude;
}

double worst_allowed(double margin, hypotheses::Better better) {
  return better == hypotheses::Better::lower ? -std::log1p(margin)
                                             : std::log1p(-std::min(margin, 0.999999));
}

std::optional<Judgement> judge_gain(const Evidence& evidence, const EvidenceRule& rule, bool exact,
                                    int attempts) {
  if (auto flagged = judge_flag(evidence, rule, exact)) return flagged;
  const double delta = std::log1p(rule.no_difference);
  const double needed = std::log1p(rule.min_gain);
  const std::string needs = fmt::format("needs +{}", percent_text(rule.min_gain));
  if (enough_pairs(evidence, rule, exact)) {
    const std::string measured = measured_as(evidence, rule, exact);
    if (evidence.low >= -delta && evidence.high <= delta) {
      return Judgement{Verdict::no_difference, fmt::format("{}, which is within +-{}", measured,
                                                           percent_text(rule.no_difference))};
    }
    if (evidence.low > 0 && evidence.effect >= needed) {
      return Judgement{Verdict::supported, fmt::format("{}, {}", measured, needs)};
    }
    if (evidence.high < 0) {
      return Judgement{Verdict::refuted, fmt::format("{}: no gain, {}", measured, needs)};
    }
    if (evidence.high < needed &&
        (is_known(evidence, exact) || !worth_naming(evidence, rule, attempts))) {
      return Judgement{Verdict::refuted, fmt::format("{}: surely too little, {}", measured, needs)};
    }
  }
  return judge_cap(evidence, rule, exact, attempts,
                   fmt::format("it gains the {} needed", percent_text(rule.min_gain)));
}

std::optional<Judgement> judge_guard(const Evidence& evidence, double margin,
                                     const EvidenceRule& rule, bool exact, int attempts) {
  if (auto flagged = judge_flag(evidence, rule, exact)) return flagged;
  const double worst = worst_allowed(margin, evidence.better);
  const std::string limit = fmt::format("{} worse", percent_text(margin));
  if (enough_pairs(evidence, rule, exact)) {
    const std::string measured = measured_as(evidence, rule, exact);
    if (evidence.low > worst) {
      return Judgement{Verdict::supported,
                       fmt::format("{}: surely not {} or more", measured, limit)};
    }
    if (evidence.high < worst) {
      return Judgement{Verdict::refuted, fmt::format("{}: more than {}", measured, limit)};
    }
  }
  return judge_cap(evidence, rule, exact, attempts, "it stays within " + limit);
}

std::optional<Judgement> judge_confirmation(const Evidence& evidence, double level,
                                            const EvidenceRule& rule, bool exact, int attempts) {
  if (auto flagged = judge_flag(evidence, rule, exact)) return flagged;
  const double needed = std::log1p(rule.min_gain);
  const double needed_e = level > 0 ? std::min(1 / level, kLargestE) : kLargestE;
  const std::string needs =
      fmt::format("e-value {} of {} needed, gain +{} needed", count_text(evidence.e_better),
                  count_text(needed_e), percent_text(rule.min_gain));
  if (enough_pairs(evidence, rule, exact)) {
    const std::string measured = measured_as(evidence, rule, exact);
    if (evidence.e_better >= needed_e && evidence.effect >= needed) {
      return Judgement{Verdict::supported, fmt::format("confirmed: {}; {}", measured, needs)};
    }
    if (evidence.high < needed) {
      return Judgement{Verdict::refuted, fmt::format("not confirmed: {}; {}", measured, needs)};
    }
  }
  return judge_cap(evidence, rule, exact, attempts,
                   fmt::format("the gain is real (e-value {} of {} needed)",
                               count_text(evidence.e_better), count_text(needed_e)));
}

}  // namespace policies
