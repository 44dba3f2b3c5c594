#include "policies/bench/lab.h"

#include <algorithm>
#include <cmath>

#include "policies/noise_models.h"
#include "policies/robust.h"

namespace policies::bench {
namespace {

using hypotheses::Layer;

constexpr int kBlock = 10;           // pairs that are replayed as they were recorded
constexpr double kFailsEarly = 0.6;  // of a build's time, when it fails

// The recording with every run's distance from the median multiplied: the shape stays (bursts,
// drift, tails), the size changes.
Recording scaled(const Recording& recording, double factor) {
  std::vector<double> logs;
  for (const TwoRuns& pair : recording.pairs) {
    logs.insert(logs.end(), {std::log(pair.first), std::log(pair.second)});
  }
  const double centre = median(logs);
  Recording made = recording;
  const auto scale = [&](double& run) { run = std::exp(factor * (std::log(run) - centre)); };
  for (TwoRuns& pair : made.pairs) {
    scale(pair.first);
    scale(pair.second);
  }
  return made;
}

// How a layer's metric sees the effects; luck belongs to the first build alone.
double effect_at(const Case& subject, Layer layer, BuildOf build, double jitter) {
  const bool first = build == BuildOf::first;
  if (layer == Layer::engine) {
    const bool own = subject.lineage.layer == Layer::engine;
    return subject.goal + (first ? subject.goal_luck : own ? jitter : 0);
  }
  const bool own = subject.lineage.layer == layer;
  const double luck = first ? subject.own_luck : jitter;
  return own ? subject.own + luck : subject.component + subject.part * luck;
}

}  // namespace

Lab::Lab(const World& world, const Recordings& recordings, std::uint64_t seed)
    : world_(world), rng_(base::seed_from(seed, "lab")) {
  const double factor = world.options.noise_factor;
  for (int campaign = 0; campaign < world.options.campaigns; ++campaign) {
    const Recording& recorded = recording_of(recordings, campaign);
    const auto machine = [&](double calm) {
      return replay(scaled(recorded, factor / calm), kBlock);
    };
    noise_.push_back(
        {machine(1), machine(kComponentCalm), machine(kEngineCalm), machine(kGuardCalm)});
  }
}

bool Lab::build(const Case& subject) {
  spent_s_ += subject.builds ? subject.build_s : kFailsEarly * subject.build_s;
  return subject.builds;
}

bool Lab::check(const Case& subject) {
  spent_s_ += world_.prices.check_s;
  return subject.correct;
}

void Lab::build_fresh(const Case& subject) {
  spent_s_ += world_.prices.cold_build_s * subject.build_s / kBuild_s;
  if (bases_built_.insert(subject.campaign).second) spent_s_ += world_.prices.cold_build_s;
  fresh_jitter_ = kLayoutJitter * draw_normal(rng_);
}

PairOfRuns Lab::pair(const Case& subject, Layer layer, BuildOf build) {
  return run(subject.campaign, layer, effect_at(subject, layer, build, fresh_jitter_),
             subject.guard);
}

PairOfRuns Lab::pair_of_base(int campaign, Layer layer) { return run(campaign, layer, 0, 0); }

PairOfRuns Lab::run(int campaign, Layer layer, double effect, double guard) {
  spent_s_ += 2 * world_.prices.run_s(layer);
  Noise& noise = noise_[static_cast<std::size_t>(campaign)];
  const bool base_first = rng_.coin();
  const auto measured = [&](const Machine& machine, double gain) {
    const TwoRuns runs = machine(rng_);
    const double base = base_first ? runs.first : runs.second;
    const double candidate = base_first ? runs.second : runs.first;
    return PairValues{base, candidate * std::exp(-gain)};
  };
  if (layer == Layer::kernel) return {measured(noise.kernel, effect), {}};
  if (layer == Layer::component) return {measured(noise.component, effect), {}};
  return {measured(noise.engine, effect), measured(noise.guard, guard)};
}

}  // namespace policies::bench
