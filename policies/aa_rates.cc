// aa_rates: how often the shipped rules call a change that changes nothing "supported", and how
// many pairs a real effect takes, on noise that a real machine gave (docs/statistics.md).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

#include "base/files.h"
#include "policies/evidence.h"
#include "policies/model_rates.h"
#include "policies/recording.h"
#include "policies/robust.h"
#include "policies/trial.h"

namespace policies {
namespace {

using hypotheses::Verdict;

struct Options {
  std::vector<std::string> files;
  std::string policy;
  std::uint64_t seed = 20261201;
  int trials = 4000;
  int campaigns = 500;
  int power_trials = 400;
  int block = 10;  // pairs that are replayed as they were recorded
};

constexpr int kHypotheses = 8;  // in a campaign
constexpr double kEffects[] = {0.01, 0.02, 0.03, 0.05, 0.1, 0.2, 0.4, 0.7};

// Upper end of the one-sided 95% Clopper-Pearson interval.
double upper_bound(int successes, int trials) {
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(trials, successes, 0.05);
}

struct Tally {
  std::map<Verdict, int> verdicts;
  std::vector<double> pairs;

  void add(const Trial& trial) {
    ++verdicts[trial.verdict];
    pairs.push_back(trial.pairs);
  }
  double share(Verdict verdict) const {
    const auto found = verdicts.find(verdict);
    return found == verdicts.end() ? 0 : found->second / static_cast<double>(pairs.size());
  }
  double ninetieth() const {
    std::vector<double> sorted = pairs;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() * 9 / 10];
  }
};

Tally tally(const Machine& machine, double effect, const EvidenceRule& rule, int trials,
            base::Rng& rng) {
  Tally counted;
  for (int i = 0; i < trials; ++i) {
    const double scale = measure_noise(machine, rule, rng);
    counted.add(try_gain(machine, effect, rule, scale, rng));
  }
  return counted;
}

double recorded_noise(const Recording& recording) {
  std::vector<double> log_ratios;
  for (const TwoRuns& pair : recording.pairs) {
    log_ratios.push_back(std::log(pair.second / pair.first));
  }
  return noise_of(log_ratios);
}

std::string percent(double share) { return fmt::format("{:.2f}%", 100 * share); }

struct Subject {
  std::string name;
  Recording recording;
};

base::Rng stream(const Options& options, const Subject& subject, std::string_view purpose) {
  return base::Rng(base::seed_from(options.seed, subject.name + "/" + std::string(purpose)));
}

// True when the bound on "supported" holds.
bool print_false_rates(const Subject& subject, const Options& options, const Policy& policy) {
  base::Rng rng = stream(options, subject, "false");
  const Machine machine = replay(subject.recording, options.block);
  const Tally none = tally(machine, 0, policy.evidence, options.trials, rng);
  const double bound =
      upper_bound(static_cast<int>(std::lround(none.share(Verdict::supported) * options.trials)),
                  options.trials);
  int merges = 0, spoiled = 0;
  for (int i = 0; i < options.campaigns; ++i) {
    const int merged = false_merges(machine, kHypotheses, policy.evidence, policy.merge.fdr, rng);
    merges += merged;
    spoiled += merged > 0 ? 1 : 0;
  }
  fmt::print("| {} | {} | {} | {} | {} | {} | {} | {} | {:g}, {:g} | {:.4f} | {} |\n", subject.name,
             subject.recording.pairs.size(), percent(recorded_noise(subject.recording)),
             percent(none.share(Verdict::supported)), percent(bound),
             percent(none.share(Verdict::refuted)), percent(none.share(Verdict::no_difference)),
             percent(none.share(Verdict::inconclusive)), median(none.pairs), none.ninetieth(),
             merges / static_cast<double>(options.campaigns),
             percent(upper_bound(spoiled, options.campaigns)));
  std::fflush(stdout);
  return bound <= policy.evidence.alpha;
}

// "97% 7, 9": supported, and the pairs that takes: median, p90.
void print_power(const Subject& subject, const Options& options, const Policy& policy) {
  base::Rng rng = stream(options, subject, "power");
  const Machine machine = replay(subject.recording, options.block);
  std::string row = "| " + subject.name;
  for (double effect : kEffects) {
    Tally found;
    int supported = 0;
    for (int i = 0; i < options.power_trials; ++i) {
      const double scale = measure_noise(machine, policy.evidence, rng);
      const Trial trial = try_gain(machine, std::log1p(effect), policy.evidence, scale, rng);
      if (trial.verdict != Verdict::supported) continue;
      ++supported;
      found.add(trial);
    }
    row += fmt::format(" | {:.0f}%", 100.0 * supported / options.power_trials);
    if (supported > 0) row += fmt::format(" {:g}, {:g}", median(found.pairs), found.ninetieth());
  }
  fmt::print("{} |\n", row);
  std::fflush(stdout);
}

base::Result<std::vector<Subject>> read_subjects(const Options& options) {
  std::vector<Subject> subjects;
  for (const std::string& file : options.files) {
    NS_ASSIGN(text, base::read_file(file));
    NS_ASSIGN(recording, parse_recording(text, file));
    subjects.push_back({std::filesystem::path(file).stem().string(), std::move(recording)});
  }
  return subjects;
}

base::Result<Policy> chosen_policy(const Options& options) {
  if (options.policy.empty()) return Policy();
  NS_ASSIGN(text, base::read_file(options.policy));
  return read_policy(text, options.policy);
}

base::Result<bool> run(const Options& options) {
  NS_ASSIGN(subjects, read_subjects(options));
  NS_ASSIGN(policy, chosen_policy(options));
  fmt::print("seed {}, {} trials, {} campaigns of {} hypotheses, blocks of {} pairs, policy {}\n\n",
             options.seed, options.trials, options.campaigns, kHypotheses, options.block,
             options.policy.empty() ? "default" : options.policy);
  fmt::print(
      "No effect (both sides the same commit):\n\n"
      "| recording | pairs recorded | noise | supported | upper 95% | refuted | no-difference "
      "| inconclusive | pairs: median, p90 | false merges a campaign | campaigns with one, "
      "upper 95% |\n|---|---|---|---|---|---|---|---|---|---|---|\n");
  bool held = true;
  for (const Subject& subject : subjects) held &= print_false_rates(subject, options, policy);
  fmt::print("\nReal gains: supported, and the pairs that took (median, p90):\n\n| recording");
  for (double effect : kEffects) fmt::print(" | +{:g}%", 100 * effect);
  fmt::print(" |\n|---|---|---|---|---|---|---|---|---|\n");
  for (const Subject& subject : subjects) print_power(subject, options, policy);
  fmt::print("\n");
  print_model_rates(options.power_trials, base::Rng(options.seed));
  return held;
}

}  // namespace
}  // namespace policies

int main(int argc, char** argv) {
  policies::Options options;
  CLI::App app{
      "Error rates of the rules on recorded noise; exit 1 when \"supported\" exceeds alpha"};
  app.add_option("recordings", options.files, "files that record_noise wrote")->required();
  app.add_option("--policy", options.policy, "policy YAML; default: the built-in one");
  app.add_option("--seed", options.seed);
  app.add_option("--trials", options.trials)->check(CLI::PositiveNumber);
  app.add_option("--campaigns", options.campaigns)->check(CLI::PositiveNumber);
  app.add_option("--power-trials", options.power_trials)->check(CLI::PositiveNumber);
  app.add_option("--block", options.block, "pairs")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  const auto held = policies::run(options);
  if (!held) {
    fmt::print(stderr, "{}\n", held.error().text());
    return 2;
  }
  return *held ? 0 : 1;
}
