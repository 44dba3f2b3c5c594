// How often the rules are wrong, at 20,000 trials a rate and looking after every pair.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "policies/evidence.h"
#include "policies/failures.h"
#include "policies/noise_models.h"
#include "policies/rate_tables.h"
#include "policies/robust.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

using hypotheses::Verdict;

constexpr int kHypotheses = 8;  // in a campaign of nothing but nothing

// Trials with noise measured first by the rule's A/A pairs, as a night does.
template <class Try>
std::map<Verdict, int> count_verdicts(const Subject& subject, int trials,
                                      const RateOptions& options, base::Rng& rng,
                                      std::vector<double>* pairs, const Try& attempt) {
  const Machine machine = subject.machine();
  std::map<Verdict, int> counts;
  for (int i = 0; i < trials; ++i) {
    const double scale = measure_noise(machine, options.policy.evidence, rng);
    const Trial trial = attempt(machine, scale);
    ++counts[trial.verdict];
    if (pairs != nullptr) pairs->push_back(trial.pairs);
  }
  return counts;
}

std::string name_of(const Subject& subject) {
  return subject.recorded == 0 ? subject.name
                               : fmt::format("{} ({} pairs)", subject.name, subject.recorded);
}

}  // namespace

Table verdict_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  Table table;
  table.text = fmt::format(
      "What is answered when the candidate changes nothing, {} trials each. \"Supported\" is the "
      "error; in brackets its upper 95% bound.\n\n"
      "| noise | s.d. of a pair | supported | no-difference | refuted | inconclusive | pairs: "
      "mean, median, p90 |\n|---|---|---|---|---|---|---|\n",
      options.trials);
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "verdicts", subject.name);
    std::vector<double> pairs;
    auto counts = count_verdicts(subject, options.trials, options, rng, &pairs,
                                 [&](const auto& machine, double s) {
                                   return try_gain(machine, 0, options.policy.evidence, s, rng);
                                 });
    double mean = 0;
    for (double n : pairs) mean += n / static_cast<double>(pairs.size());
    const auto share = [&](Verdict verdict) {
      return percent2(static_cast<double>(counts[verdict]) / options.trials);
    };
    table.text +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {:.1f}, {:g}, {:g} |\n", name_of(subject),
                    percent2(subject.noise), rate_text(counts[Verdict::supported], options.trials),
                    share(Verdict::no_difference), share(Verdict::refuted),
                    share(Verdict::inconclusive), mean, median(pairs), quantile(pairs, 0.9));
    table.holds &=
        upper_bound(counts[Verdict::supported], options.trials) <= options.policy.evidence.alpha;
  }
  return table;
}

Table edge_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  const EvidenceRule& rule = options.policy.evidence;
  const int trials = std::max(1, options.trials / 4);
  Table table;
  table.text = fmt::format(
      "The other errors where they are most likely, at the very edge of what would make the answer "
      "right; {} trials each. Each rate is one side of the interval, so at most {}.\n\n"
      "| noise | \"no-difference\" at a loss of just {} | \"refuted\" at a gain of just {} | guard "
      "\"supported\" at a loss of just its margin of {} |\n|---|---|---|---|\n",
      trials, percent2(rule.alpha / 2), percent2(rule.no_difference), percent2(rule.min_gain),
      percent2(rule.guard_margin));
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "edges", subject.name);
    const auto count = [&](Verdict verdict, const auto& attempt) {
      return count_verdicts(subject, trials, options, rng, nullptr, attempt)[verdict];
    };
    const int same = count(Verdict::no_difference, [&](const auto& machine, double s) {
      return try_gain(machine, -std::log1p(rule.no_difference), rule, s, rng);
    });
    const int refuted = count(Verdict::refuted, [&](const auto& machine, double s) {
      return try_gain(machine, std::log1p(rule.min_gain), rule, s, rng);
    });
    const int held = count(Verdict::supported, [&](const auto& machine, double s) {
      return try_guard(machine, worst_allowed(rule.guard_margin, hypotheses::Better::lower), rule,
                       s, rule.guard_margin, rng);
    });
    table.text += fmt::format("| {} | {} | {} | {} |\n", name_of(subject), rate_text(same, trials),
                              rate_text(refuted, trials), rate_text(held, trials));
    for (int wrong : {same, refuted, held}) {
      table.holds &= upper_bound(wrong, trials) <= rule.alpha;
    }
  }
  return table;
}

Table coverage_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  constexpr int kLooks[] = {10, 40, 200};
  const double alpha = options.policy.evidence.alpha;
  Table table;
  table.text = fmt::format(
      "How often the {} interval misses a true effect of 5% at any of the looks so far (after "
      "every "
      "pair), {} trials each; in brackets the upper 95% bound.\n\n| noise",
      percent2(1 - alpha), options.trials);
  for (int looks : kLooks) table.text += fmt::format(" | {} looks", looks);
  table.text += " |\n|---|---|---|---|\n";
  const double effect = std::log1p(0.05);
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "coverage", subject.name);
    const Machine machine = subject.machine();
    std::map<int, int> missed;
    for (int i = 0; i < options.trials; ++i) {
      const Bets bets = bets_for(measure_noise(machine, options.policy.evidence, rng));
      RunningE above(effect, bets), below(-effect, bets);
      int first_miss = kLooks[2] + 1;
      for (int look = 1; look <= kLooks[2]; ++look) {
        const double x = next_log_ratio(machine, effect, rng);
        above.add(x);
        below.add(-x);
        if (std::max(above.value(), below.value()) < 2 / alpha) continue;
        first_miss = look;
        break;
      }
      for (int looks : kLooks) missed[looks] += first_miss <= looks ? 1 : 0;
    }
    table.text += "| " + name_of(subject);
    for (int looks : kLooks) table.text += " | " + rate_text(missed[looks], options.trials);
    table.text += " |\n";
    table.holds &= upper_bound(missed[kLooks[2]], options.trials) <= alpha;
  }
  return table;
}

Table campaign_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  Table table;
  table.text = fmt::format(
      "Campaigns of {} hypotheses that all change nothing: how many have at least one that is "
      "supported *and* confirmed; {} campaigns each.\n\n"
      "| noise | false merges a campaign | campaigns with one (upper 95% bound) |\n|---|---|---|\n",
      kHypotheses, options.campaigns);
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "campaigns", subject.name);
    const Machine machine = subject.machine();
    int merges = 0, spoiled = 0;
    for (int i = 0; i < options.campaigns; ++i) {
      const int merged = false_merges(machine, kHypotheses, options.policy.evidence,
                                      options.policy.merge.fdr, rng);
      merges += merged;
      spoiled += merged > 0 ? 1 : 0;
    }
    table.text += fmt::format("| {} | {:.4f} | {} |\n", name_of(subject),
                              merges / static_cast<double>(options.campaigns),
                              rate_text(spoiled, options.campaigns));
    table.holds &= upper_bound(spoiled, options.campaigns) <= options.policy.merge.fdr;
  }
  return table;
}

}  // namespace policies
