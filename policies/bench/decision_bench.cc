// decision_bench: what deciding costs and how often it errs, for Nightshift and for others, in a
// world of hypotheses whose truth is known (docs/statistics.md, "The labelled benchmark").
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "policies/bench/lineup.h"
#include "policies/bench/report.h"

namespace policies::bench {
namespace {

struct Options {
  std::uint64_t seed = 1;
  int worlds = 5;
  std::string recordings = RECORDINGS_DIR;
  bool json = false, ablations = false, grid = false, tune = false;
};

// Worlds that no reported table uses.
const std::vector<std::uint64_t> kTuningSeeds = {101, 102, 103, 104, 105, 106, 107, 108, 109, 110};
constexpr int kRestarts = 3;

std::vector<std::uint64_t> reported_seeds(const Options& options) {
  std::vector<std::uint64_t> seeds;
  for (int i = 0; i < options.worlds; ++i) {
    seeds.push_back(options.seed + static_cast<std::uint64_t>(i));
  }
  return seeds;
}

// Nightshift first.
std::vector<Result> play_lineup(const WorldOptions& world, const Recordings& recordings,
                                const std::vector<std::uint64_t>& seeds) {
  std::vector<Result> results = {play_all(nightshift_as_shipped(), world, recordings, seeds)};
  results.back().competes = false;
  for (const Tunable& each : competitors()) {
    results.push_back(play_all(each.make(each.tuned), world, recordings, seeds));
  }
  for (const Strategy& each : published()) {
    results.push_back(play_all(each, world, recordings, seeds));
  }
  results.push_back(play_all(lower_bound(), world, recordings, seeds));
  results.back().competes = false;
  return results;
}

void print_ratio(const std::vector<Result>& results) {
  const Result* best = best_competitor(results);
  if (best == nullptr) {
    fmt::print("\nNo competitor is comparable.\n");
    return;
  }
  const Score ours = results.front().total(), theirs = best->total();
  fmt::print("\nRatio to the best comparable competitor ({}): {:.2f}; by seed", best->name,
             ours.s_per_right() / theirs.s_per_right());
  for (std::size_t i = 0; i < best->by_seed.size(); ++i) {
    fmt::print(" {:.2f}",
               results.front().by_seed[i].s_per_right() / best->by_seed[i].s_per_right());
  }
  fmt::print("\n");
}

void print_lineup(const Options& options, const Recordings& recordings) {
  const auto seeds = reported_seeds(options);
  const std::vector<Result> results = play_lineup({}, recordings, seeds);
  if (options.json) {
    fmt::print("{}\n", json(results, seeds));
    return;
  }
  const Score any = results.front().total();
  fmt::print("seeds {} to {}: {} hypotheses, {} resolvable, {} of them good\n\n{}", seeds.front(),
             seeds.back(), any.cases, any.resolvable, any.good, table(results));
  print_ratio(results);
  fmt::print("\nSettings:\n");
  for (const Result& result : results) fmt::print("- {}: {}\n", result.name, result.settings);
}

void print_ablations(const Options& options, const Recordings& recordings) {
  const auto seeds = reported_seeds(options);
  std::vector<Result> results = {play_all(nightshift_as_shipped(), {}, recordings, seeds)};
  for (const Strategy& each : ablations()) {
    results.push_back(play_all(each, {}, recordings, seeds));
  }
  fmt::print("{}", table(results));
}

// The settings stay as they were tuned on the plain world.
void print_grid(const Options& options, const Recordings& recordings) {
  const auto seeds = reported_seeds(options);
  fmt::print(
      "| noise | share shown | boast | Nightshift: s per correct | false accepts | missed | "
      "best comparable | its s per correct | ratio |\n|---|---|---|---|---|---|---|---|---|\n");
  const auto row = [&](const WorldOptions& world) {
    const std::vector<Result> results = play_lineup(world, recordings, seeds);
    const Score ours = results.front().total();
    const Result* best = best_competitor(results);
    fmt::print("| x{:g} | x{:g} | x{:g} | {:.0f} | {:.1f}% | {:.1f}% | {} | {} | {} |\n",
               world.noise_factor, world.share_factor, world.boast, ours.s_per_right(),
               100 * ours.false_accept_rate(), 100 * ours.missed_rate(),
               best == nullptr ? "none" : best->name,
               best == nullptr ? "" : fmt::format("{:.0f}", best->total().s_per_right()),
               best == nullptr
                   ? ""
                   : fmt::format("{:.2f}", ours.s_per_right() / best->total().s_per_right()));
    std::fflush(stdout);
  };
  for (double noise : {0.5, 1.0, 2.0}) row({.noise_factor = noise});
  for (double share : {0.5, 2.0}) row({.share_factor = share});
  row({.boast = 3});
}

void print_tuning(const Recordings& recordings) {
  const Limits limits;
  for (const Tunable& each : competitors()) {
    const Tuned tuned = tune(each, limits, {}, recordings, kTuningSeeds, kRestarts);
    fmt::print("{}:", each.name);
    for (std::size_t i = 0; i < each.dials.size(); ++i) {
      fmt::print(" {} {:g},", each.dials[i].name, tuned.values[i]);
    }
    fmt::print(" {:.0f} s per correct verdict\n", tuned.score.s_per_right());
    std::fflush(stdout);
  }
}

base::Status run(const Options& options) {
  NS_ASSIGN(recordings, read_recordings(options.recordings));
  if (options.tune) {
    print_tuning(recordings);
  } else if (options.ablations) {
    print_ablations(options, recordings);
  } else if (options.grid) {
    print_grid(options, recordings);
  } else {
    print_lineup(options, recordings);
  }
  return {};
}

}  // namespace
}  // namespace policies::bench

int main(int argc, char** argv) {
  policies::bench::Options options;
  CLI::App app{"Machine-seconds per correct verdict, in a world whose truth is known"};
  app.add_option("--seed", options.seed, "of the first world");
  app.add_option("--worlds", options.worlds)->check(CLI::Range(1, 1000));
  app.add_option("--recordings", options.recordings, "folder with what record_noise wrote");
  app.add_flag("--json", options.json);
  app.add_flag("--ablations", options.ablations, "Nightshift without one idea each");
  app.add_flag("--grid", options.grid, "noise, shares and predictions that are off");
  app.add_flag("--tune", options.tune, "search the competitors' settings, on other worlds");
  CLI11_PARSE(app, argc, argv);
  if (const auto done = policies::bench::run(options); !done) {
    fmt::print(stderr, "{}\n", done.error().text());
    return 2;
  }
  return 0;
}
