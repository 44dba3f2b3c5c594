// Rates over a campaign: false discoveries, failures that only one side has.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/evidence.h"
#include "policies/failures.h"
#include "policies/noise_models.h"
#include "policies/rate_tables.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

constexpr int kTests = 40;  // confirmations of a campaign
constexpr double kRealShare = 0.2;
constexpr double kNoise = 0.03, kRealEffect = 2 * kNoise;

// How the hypotheses of a campaign hang together.
enum class Together {
  independent,
  one_noise,  // all are measured against the same runs in the same order: their noise is the same
  chained,    // the same noise, and a hypothesis is real only if the last one was not confirmed
};

struct Found {
  int real = 0, false_ones = 0, of_real = 0;
  double false_share() const {
    return static_cast<double>(false_ones) / std::max(1, real + false_ones);
  }
};

bool is_confirmed(double effect, double level, int most_pairs, base::Rng& rng) {
  const Machine machine = independent_noise(draw_normal, kNoise);
  RunningE e(0, bets_for(kNoise));
  for (int i = 0; i < most_pairs; ++i) {
    e.add(next_log_ratio(machine, effect, rng));
    if (e.value() >= 1 / level) return true;
  }
  return false;
}

// Every hypothesis goes straight to confirmation: nothing was sorted out by exploring first.
Found run_campaign(Together together, bool controlled, double fdr, int most_pairs, base::Rng& rng) {
  const std::uint64_t shared = rng.next();
  Found found;
  bool last_confirmed = false;
  for (int t = 1; t <= kTests; ++t) {
    const bool drawn = rng.uniform() < kRealShare;
    const bool real = together == Together::chained ? !last_confirmed && drawn : drawn;
    const double level = controlled ? merge_level(fdr, t, found.real + found.false_ones) : fdr;
    base::Rng noise(together == Together::independent ? rng.next() : shared);
    last_confirmed = is_confirmed(real ? kRealEffect : 0, level, most_pairs, noise);
    found.of_real += real ? 1 : 0;
    if (last_confirmed) ++(real ? found.real : found.false_ones);
  }
  return found;
}

struct ShareOfFalse {
  double mean = 0, upper = 0, power = 0;
};

ShareOfFalse measure(Together together, bool controlled, const RateOptions& options,
                     base::Rng& rng) {
  double sum = 0, squares = 0, real = 0, of_real = 0;
  for (int i = 0; i < options.campaigns; ++i) {
    const Found found = run_campaign(together, controlled, options.policy.merge.fdr,
                                     options.policy.evidence.max_pairs, rng);
    sum += found.false_share();
    squares += found.false_share() * found.false_share();
    real += found.real;
    of_real += found.of_real;
  }
  const double n = options.campaigns;
  ShareOfFalse share;
  share.mean = sum / n;
  share.upper = share.mean + 1.645 * std::sqrt((squares / n - share.mean * share.mean) / n);
  share.power = real / of_real;
  return share;
}

// What becomes of a candidate with a gain that five pairs would show, on a probe that fails.
struct Fates {
  int refuted = 0, invalid = 0, supported = 0, second_failure = 0;
};

Fates try_failures(double base_rate, double candidate_rate, bool is_merge,
                   const RateOptions& options, base::Rng& rng) {
  constexpr int kPairsForTheGain = 8;
  Fates fates;
  for (int i = 0; i < options.trials; ++i) {
    Attempts attempts;
    bool second = false, decided = false;
    for (int n = 1; n <= options.policy.evidence.max_pairs && !decided; ++n) {
      const bool base = rng.uniform() < base_rate, candidate = rng.uniform() < candidate_rate;
      ++(base ? (candidate ? attempts.both_failed : attempts.base_failed)
              : (candidate ? attempts.candidate_failed : attempts.both_ran));
      const int base_failed = attempts.base_failed + attempts.both_failed;
      second |= attempts.candidate_failed == 2 && base_failed < 2;
      if (const auto judgement = judge_failures(attempts, options.policy.evidence.alpha)) {
        ++(judgement->verdict == hypotheses::Verdict::invalid ? fates.invalid : fates.refuted);
        decided = true;
      } else if (attempts.both_ran >= kPairsForTheGain) {
        const bool in_the_way = !failures_in_the_way(attempts, is_merge).empty();
        fates.supported += in_the_way ? 0 : 1;
        decided = is_merge || !in_the_way;
      }
    }
    fates.second_failure += second ? 1 : 0;
  }
  return fates;
}

}  // namespace

Table discovery_table(const RateOptions& options) {
  Table table;
  table.text = fmt::format(
      "False discoveries among {} confirmations of which {} are real (2 s.d. of a pair, {} pairs "
      "at "
      "most), {} campaigns each: mean share (upper 95% bound), and how many of the real ones are "
      "confirmed. e-LOND holds the share below {} whatever the dependence; every one at that level "
      "by itself does not.\n\n"
      "| hypotheses | e-LOND | real ones confirmed | each by itself | real ones confirmed |\n"
      "|---|---|---|---|---|\n",
      kTests, percent2(kRealShare), options.policy.evidence.max_pairs, options.campaigns,
      percent2(options.policy.merge.fdr));
  struct Row {
    const char* name;
    Together together;
  };
  for (const Row& row :
       {Row{"independent", Together::independent}, Row{"all share one noise", Together::one_noise},
        Row{"one noise, and real only after a failure", Together::chained}}) {
    base::Rng rng = stream(options, "discoveries", row.name);
    const ShareOfFalse with = measure(row.together, true, options, rng);
    const ShareOfFalse without = measure(row.together, false, options, rng);
    table.text += fmt::format("| {} | {} ({}) | {:.0f}% | {} ({}) | {:.0f}% |\n", row.name,
                              percent2(with.mean), percent2(with.upper), 100 * with.power,
                              percent2(without.mean), percent2(without.upper), 100 * without.power);
    table.holds &= with.upper <= options.policy.merge.fdr;
  }
  return table;
}

Table failure_table(const RateOptions& options) {
  Table table;
  table.text = fmt::format(
      "Runs that fail by chance (crash, time limit), on a candidate whose gain eight good pairs "
      "show; {} trials each, at most {} attempts. \"Two failures\" is the naive rule: refuted at "
      "the "
      "second failure where the base ran.\n\n"
      "| a run fails: base, candidate | refuted | invalid | supported | two failures: refuted | as "
      "a "
      "merge: supported |\n|---|---|---|---|---|---|\n",
      options.trials, options.policy.evidence.max_pairs);
  struct Row {
    double base, candidate;
  };
  const double n = options.trials;
  for (const Row& row : {Row{0, 0},
                         {0.01, 0.01},
                         {0.05, 0.05},
                         {0.1, 0.1},
                         {0.2, 0.2},
                         {0.5, 0.5},
                         {0, 0.02},
                         {0, 0.1},
                         {0, 0.3},
                         {0, 0.6},
                         {0, 1}}) {
    base::Rng rng = stream(options, "failures", fmt::format("{}", row.candidate));
    const Fates fates = try_failures(row.base, row.candidate, false, options, rng);
    const Fates merge = try_failures(row.base, row.candidate, true, options, rng);
    table.text += fmt::format("| {:g}%, {:g}% | {} | {} | {} | {} | {} |\n", 100 * row.base,
                              100 * row.candidate, percent2(fates.refuted / n),
                              percent2(fates.invalid / n), percent2(fates.supported / n),
                              percent2(fates.second_failure / n), percent2(merge.supported / n));
    if (row.base == row.candidate && row.base <= 0.1) {
      table.holds &= upper_bound(fates.refuted, options.trials) <= options.policy.evidence.alpha;
    }
  }
  return table;
}

}  // namespace policies
