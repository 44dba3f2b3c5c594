// How soon the rules see an effect, beside the fixed-n tests that others use.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "policies/classic_tests.h"
#include "policies/evidence.h"
#include "policies/pairs.h"
#include "policies/rate_tables.h"
#include "policies/robust.h"
#include "policies/symmetry.h"

namespace policies {
namespace {

using hypotheses::Verdict;

constexpr int kSizes[] = {10, 20, 40};
constexpr int kMostPairs = 40;
constexpr int kFirstPeek = 5;    // rank tests say nothing before
constexpr double kLevel = 0.05;  // two-sided, of the fixed-n tests

constexpr const char* kFixedTests[] = {"paired t", "Welch t", "signed rank", "Mann-Whitney"};
constexpr std::size_t kTestCount = std::size(kFixedTests);

// The logarithms of one experiment's runs, in the order of its pairs.
struct Runs {
  std::vector<double> base, candidate;  // of times: smaller is better
  std::vector<double> gains() const {
    std::vector<double> x;
    for (std::size_t i = 0; i < base.size(); ++i) x.push_back(base[i] - candidate[i]);
    return x;
  }
  Runs first(std::size_t n) const {
    const auto end = static_cast<std::ptrdiff_t>(n);
    return {{base.begin(), base.begin() + end}, {candidate.begin(), candidate.begin() + end}};
  }
};

Runs draw_runs(const Machine& machine, double effect, base::Rng& rng) {
  Runs runs;
  for (int i = 0; i < kMostPairs; ++i) {
    const TwoRuns pair = machine(rng);
    const bool base_first = rng.coin();
    runs.base.push_back(std::log(base_first ? pair.first : pair.second));
    runs.candidate.push_back(std::log(base_first ? pair.second : pair.first) - effect);
  }
  return runs;
}

// "Better" by a test at the two-sided level.
bool says_better(std::size_t test, const Runs& runs) {
  const std::vector<double> x = runs.gains();
  const bool paired = test == 0 || test == 2;
  double p = 1, direction = 0;
  if (test == 0) p = paired_t_test(x);
  if (test == 1) p = welch_t_test(runs.base, runs.candidate);
  if (test == 2) p = signed_rank_test(x);
  if (test == 3) p = mann_whitney_test(runs.base, runs.candidate);
  if (p >= kLevel) return false;
  if (paired) {
    direction = test == 0 ? 0 : hodges_lehmann(x);
    if (test == 0)
      for (double value : x) direction += value;
  } else if (test == 1) {
    for (double value : x) direction += value;
  } else {
    direction = median(runs.base) - median(runs.candidate);
  }
  return direction > 0;
}

// Pairs until the interval is above 0 (`band` 0) or inside +-band, measured noise and all; `most`
// + 1 when that does not happen.
int pairs_until(const Machine& machine, double effect, double band, int most,
                const RateOptions& options, base::Rng& rng) {
  const EvidenceRule& rule = options.policy.evidence;
  const Bets bets = bets_for(measure_noise(machine, rule, rng));
  RunningE above(-band, bets), below(-band, bets);
  for (int n = 1; n <= most; ++n) {
    const double x = next_log_ratio(machine, effect, rng);
    above.add(x);
    if (band > 0) below.add(-x);
    const bool is_below = band == 0 || below.value() >= 2 / rule.alpha;
    if (is_below && above.value() >= 2 / rule.alpha) return n;
  }
  return most + 1;
}

std::vector<double> many_pairs_until(const Subject& subject, double effect, double band, int most,
                                     const RateOptions& options, base::Rng& rng) {
  const Machine machine = subject.machine();
  std::vector<double> pairs;
  for (int i = 0; i < options.power_trials; ++i) {
    pairs.push_back(pairs_until(machine, effect, band, most, options, rng));
  }
  return pairs;
}

std::string shown(double pairs, int most) {
  return pairs > most ? fmt::format("over {}", most) : fmt::format("{:g}", pairs);
}

}  // namespace

Table classic_error_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  Table table;
  table.text = fmt::format(
      "Fixed-n tests on the same noise, no effect, {} trials each: how often they call the "
      "candidate "
      "better at a two-sided 5% (2.5% would be right). Used once at n = 40 pairs / looked at after "
      "every pair from {} to 40.\n\n| noise",
      options.power_trials, kFirstPeek);
  for (const char* test : kFixedTests) table.text += fmt::format(" | {}", test);
  table.text += " |\n|---|---|---|---|---|\n";
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "classic", subject.name);
    const Machine machine = subject.machine();
    int once[kTestCount] = {}, peeking[kTestCount] = {};
    for (int i = 0; i < options.power_trials; ++i) {
      const Runs runs = draw_runs(machine, 0, rng);
      for (std::size_t test = 0; test < kTestCount; ++test) {
        once[test] += says_better(test, runs) ? 1 : 0;
        for (std::size_t n = kFirstPeek; n <= kMostPairs; ++n) {
          if (!says_better(test, runs.first(n))) continue;
          ++peeking[test];
          break;
        }
      }
    }
    table.text += "| " + subject.name;
    for (std::size_t test = 0; test < kTestCount; ++test) {
      table.text += fmt::format(" | {:.1f}% / {:.1f}%", 100.0 * once[test] / options.power_trials,
                                100.0 * peeking[test] / options.power_trials);
    }
    table.text += " |\n";
  }
  return table;
}

Table power_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  Table table;
  table.text = fmt::format(
      "Power: how often an effect, in units of the noise s, is seen at a two-sided 5%, {} trials "
      "each. Nightshift looks after every pair, ends at the first that shows it (mean, median of "
      "pairs) and gives up at 40; the fixed-n tests always take n = 10 / 20 / 40 pairs.\n\n"
      "| noise | effect | Nightshift | pairs",
      options.power_trials);
  for (const char* test : kFixedTests) table.text += fmt::format(" | {}", test);
  table.text += " |\n|---|---|---|---|---|---|---|---|\n";
  for (const Subject& subject : subjects) {
    for (double in_noise : {0.5, 1.0, 2.0}) {
      base::Rng rng = stream(options, "power", subject.name);
      const double effect = in_noise * subject.noise;
      auto pairs = many_pairs_until(subject, effect, 0, kMostPairs, options, rng);
      int seen = 0;
      double mean = 0;
      for (double n : pairs) {
        seen += n <= kMostPairs ? 1 : 0;
        mean += std::min<double>(n, kMostPairs) / static_cast<double>(pairs.size());
      }
      int found[kTestCount][std::size(kSizes)] = {};
      const Machine machine = subject.machine();
      for (int i = 0; i < options.power_trials; ++i) {
        const Runs runs = draw_runs(machine, effect, rng);
        for (std::size_t test = 0; test < kTestCount; ++test) {
          for (std::size_t k = 0; k < std::size(kSizes); ++k) {
            const Runs some = runs.first(static_cast<std::size_t>(kSizes[k]));
            found[test][k] += says_better(test, some) ? 1 : 0;
          }
        }
      }
      table.text +=
          fmt::format("| {} | {:g}s | {:.0f}% | {:.1f}, {}", subject.name, in_noise,
                      100.0 * seen / options.power_trials, mean, shown(median(pairs), kMostPairs));
      for (const auto& of_test : found) {
        table.text += " |";
        for (std::size_t k = 0; k < std::size(kSizes); ++k) {
          table.text += fmt::format("{}{:.0f}", k == 0 ? " " : " / ",
                                    100.0 * of_test[k] / options.power_trials);
        }
        table.text += "%";
      }
      table.text += " |\n";
    }
  }
  return table;
}

// "97% 7, 9": supported, and the pairs that takes: median, p90.
Table gain_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  constexpr double kEffects[] = {0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4, 0.7};
  const int trials = std::max(1, options.power_trials / 2);
  Table table;
  table.text = fmt::format(
      "Real gains under the policy's rules: supported, and the pairs that took (median, p90); {} "
      "trials each. Losses of the same size: refuted, likewise.\n\n| noise",
      trials);
  for (double effect : kEffects) table.text += fmt::format(" | +{:g}%", 100 * effect);
  table.text += " | -2% | -5% | -20% |\n|---|---|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "gains", subject.name);
    const Machine machine = subject.machine();
    const auto cell = [&](double effect, Verdict wanted) {
      std::vector<double> pairs;
      for (int i = 0; i < trials; ++i) {
        const double scale = measure_noise(machine, options.policy.evidence, rng);
        const Trial trial = try_gain(machine, effect, options.policy.evidence, scale, rng);
        if (trial.verdict == wanted) pairs.push_back(trial.pairs);
      }
      std::string text =
          fmt::format(" | {:.0f}%", 100.0 * static_cast<double>(pairs.size()) / trials);
      if (!pairs.empty()) text += fmt::format(" {:g}, {:g}", median(pairs), quantile(pairs, 0.9));
      return text;
    };
    table.text += "| " + subject.name;
    for (double effect : kEffects) table.text += cell(std::log1p(effect), Verdict::supported);
    for (double loss : {0.02, 0.05, 0.2}) table.text += cell(-std::log1p(loss), Verdict::refuted);
    table.text += " |\n";
  }
  return table;
}

Table pairs_table(const std::vector<Subject>& subjects, const RateOptions& options) {
  constexpr int kMost = 400;
  Table table;
  table.text = fmt::format(
      "Pairs (median, p90) until the interval is above 0 for a true effect in units of the noise "
      "s, "
      "and until it is inside the band for none; {} trials each. \"Expected\" is what "
      "pairs_to_separate tells the choice of experiments, which knows normal noise only.\n\n"
      "| noise | 3s | 2s | 1s | 0.5s | none, inside ±1s | none, inside ±0.5s |\n"
      "|---|---|---|---|---|---|---|\n",
      options.power_trials);
  const double level = options.policy.evidence.alpha;
  table.text += "| *expected*";
  for (double in_noise : {3.0, 2.0, 1.0, 0.5}) {
    table.text += fmt::format(" | {:g}", pairs_to_separate(in_noise, 1, level));
  }
  for (double in_noise : {1.0, 0.5}) {
    table.text += fmt::format(" | {:g}", kPairsBothSides * pairs_to_separate(in_noise, 1, level));
  }
  table.text += " |\n";
  for (const Subject& subject : subjects) {
    base::Rng rng = stream(options, "pairs", subject.name);
    table.text += "| " + subject.name;
    const auto cell = [&](double effect, double band) {
      const auto pairs = many_pairs_until(subject, effect, band, kMost, options, rng);
      return fmt::format(" | {}, {}", shown(median(pairs), kMost),
                         shown(quantile(pairs, 0.9), kMost));
    };
    for (double in_noise : {3.0, 2.0, 1.0, 0.5}) table.text += cell(in_noise * subject.noise, 0);
    for (double in_noise : {1.0, 0.5}) table.text += cell(0, in_noise * subject.noise);
    table.text += " |\n";
  }
  return table;
}

}  // namespace policies
