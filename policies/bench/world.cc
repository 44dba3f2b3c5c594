#include "policies/bench/world.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "base/files.h"
#include "policies/evidence.h"
#include "policies/noise_models.h"
#include "policies/reach.h"

namespace policies::bench {
namespace {

using hypotheses::Layer;
using hypotheses::Origin;

// Where the time of the engine goes: what a trace of a serving engine looks like. The kernels of a
// component sum to less than it, since it also waits.
struct Part {
  const char* component;
  double component_share;
  double share;  // of the engine
};
constexpr Part kKernels[] = {
    {"attention", 0.34, 0.17}, {"attention", 0.34, 0.08}, {"attention", 0.34, 0.03},
    {"attention", 0.34, 0.02}, {"experts", 0.30, 0.15},   {"experts", 0.30, 0.06},
    {"experts", 0.30, 0.04},   {"experts", 0.30, 0.015},  {"dense", 0.14, 0.09},
    {"dense", 0.14, 0.02},     {"exchange", 0.10, 0.06},  {"exchange", 0.10, 0.02},
    {"sampling", 0.05, 0.025}, {"sampling", 0.05, 0.008},
};
constexpr Part kComponents[] = {{"attention", 0.34, 0.34},
                                {"experts", 0.30, 0.30},
                                {"dense", 0.14, 0.14},
                                {"exchange", 0.10, 0.10},
                                {"sampling", 0.05, 0.05}};

// How claims about a layer turn out: changes nothing, is slower, else is faster; sizes lognormal.
struct Fate {
  double nothing, slower;
  double slower_median, faster_median, spread;
};
constexpr Fate kOfKernel = {0.30, 0.28, 0.06, 0.12, 0.9};
constexpr Fate kOfComponent = {0.35, 0.30, 0.04, 0.06, 0.8};
constexpr Fate kOfEngine = {0.45, 0.33, 0.03, 0.04, 0.7};

constexpr double kBuildFails = 0.12, kIsWrong = 0.12;
// Of local gains: hidden behind other work; slower in the engine (caches, clocks, contention).
constexpr double kOffCriticalPath = 0.12, kSlowerInEngine = 0.10;
constexpr double kBreaksGuard = 0.06;
constexpr double kIsLucky = 0.10;     // of those that change nothing
constexpr double kShareError = 0.15;  // s.d. of the log of what a trace shows
constexpr double kGreatest = 1.1;     // 3x

double uniform(base::Rng& rng, double low, double high) {
  return low + (high - low) * rng.uniform();
}

double lognormal(base::Rng& rng, double median, double spread) {
  return median * std::exp(spread * draw_normal(rng));
}

// People and planners look more at what takes more time, but not in proportion.
template <std::size_t N>
const Part& pick(const Part (&parts)[N], base::Rng& rng) {
  double total = 0;
  for (const Part& part : parts) total += std::sqrt(part.share);
  double left = total * rng.uniform();
  for (const Part& part : parts) {
    left -= std::sqrt(part.share);
    if (left < 0) return part;
  }
  return parts[N - 1];
}

double local_effect(const Fate& fate, base::Rng& rng) {
  const double u = rng.uniform();
  if (u < fate.nothing) return 0;
  const bool slower = u < fate.nothing + fate.slower;
  const double size = lognormal(rng, slower ? fate.slower_median : fate.faster_median, fate.spread);
  return slower ? -std::min(size, kGreatest) : std::min(size, kGreatest);
}

// What is left of a gain at a metric of which the subject is the share.
double carried(double own, double share) { return -diluted(-own, share); }

// Planners exaggerate: what is promised is the truth times a lognormal factor with the median 1.6;
// where there is no gain they promise what they usually promise.
double promised(double own, const Fate& fate, double boast, base::Rng& rng) {
  const double size = own > 0.005 ? own : lognormal(rng, fate.faster_median, fate.spread);
  return std::min(kGreatest, boast * size * lognormal(rng, 1.6, 0.5));
}

void set_truth(Case& made, double share, base::Rng& rng) {
  const Layer layer = made.lineage.layer;
  made.component = layer == Layer::kernel ? carried(made.own, made.part) : made.own;
  made.goal = layer == Layer::engine ? made.own : carried(made.own, share);
  if (layer == Layer::engine) made.component = 0;
  if (made.own > 0 && layer != Layer::engine) {
    const double u = rng.uniform();
    if (u < kOffCriticalPath) {
      made.goal = 0;
    } else if (u < kOffCriticalPath + kSlowerInEngine) {
      made.goal = -uniform(rng, 0.01, 0.06);
    }
  }
  if (rng.uniform() < kBreaksGuard) {
    made.guard = -uniform(rng, 0.08, 0.30);
  } else {
    made.guard = 0.5 * made.goal;
  }
  if (made.own == 0 && rng.uniform() < kIsLucky) {
    made.own_luck = uniform(rng, 0.03, 0.12);
    made.goal_luck = layer == Layer::engine || rng.coin() ? uniform(rng, 0.02, 0.06)
                                                          : carried(made.own_luck, share);
  }
  made.own_luck += kLayoutJitter * draw_normal(rng);
}

// Pairs that an oracle needs to tell `effect` from `bound`.
double oracle_pairs(double effect, double bound, double noise) {
  constexpr double kQuantiles = 1.645 + 1.282;  // one in twenty, one in ten
  const double in_noise = std::fabs(effect - bound) / noise;
  return in_noise > 0 ? std::pow(kQuantiles / in_noise, 2) : 1e9;
}

void set_label(Case& made, double noise) {
  const double min_gain = std::log1p(kMinGain), worst = -std::log1p(kGuardMargin);
  made.worth_accepting = made.builds && made.correct && made.goal >= min_gain && made.guard > worst;
  if (!made.builds || !made.correct) return;
  const bool by_goal = oracle_pairs(made.goal, min_gain, noise / kEngineCalm) <= kMostPairs;
  const bool by_guard = oracle_pairs(made.guard, worst, noise / kGuardCalm) <= kMostPairs;
  // A bad one is resolved by whichever reason can be seen, a good one needs both.
  made.resolvable = made.worth_accepting
                        ? by_goal && by_guard
                        : (made.goal < min_gain && by_goal) || (made.guard <= worst && by_guard);
}

Case make_case(const WorldOptions& options, int campaign, double noise, base::Rng& rng) {
  Case made;
  made.campaign = campaign;
  const double u = rng.uniform();
  const Layer layer = u < 0.6 ? Layer::kernel : u < 0.82 ? Layer::component : Layer::engine;
  const Origin origins[] = {Origin::llm, Origin::llm, Origin::builtin, Origin::person};
  const char* skeletons[] = {"", "tiling", "fusion", "overlap"};
  made.lineage = {layer, origins[rng.below(4)], skeletons[rng.below(4)]};
  const Part part = layer == Layer::kernel      ? pick(kKernels, rng)
                    : layer == Layer::component ? pick(kComponents, rng)
                                                : Part{"engine", 1, 1};
  const Fate& fate = layer == Layer::kernel      ? kOfKernel
                     : layer == Layer::component ? kOfComponent
                                                 : kOfEngine;
  made.part = part.share / part.component_share;
  made.shown_share =
      layer == Layer::engine
          ? 1
          : std::clamp(options.share_factor * part.share * std::exp(kShareError * draw_normal(rng)),
                       0.0, 1.0);
  made.builds = rng.uniform() >= kBuildFails;
  made.correct = rng.uniform() >= kIsWrong / (1 - kBuildFails);
  made.own = local_effect(fate, rng);
  made.predicted = promised(made.own, fate, options.boast, rng);
  set_truth(made, part.share, rng);
  made.build_s = lognormal(rng, kBuild_s, 0.4);
  set_label(made, noise);
  return made;
}

}  // namespace

double Prices::run_s(Layer layer) const {
  return layer == Layer::kernel      ? kernel_run_s
         : layer == Layer::component ? component_run_s
                                     : engine_run_s;
}

base::Result<Recordings> read_recordings(const std::string& folder) {
  Recordings recordings;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".csv") continue;
    NS_ASSIGN(text, base::read_file(entry.path().string()));
    NS_ASSIGN(recording, parse_recording(text, entry.path().string()));
    recordings.emplace(entry.path().stem().string(), std::move(recording));
  }
  if (recordings.empty()) {
    return base::fail(base::ErrorCode::bad_input, "expected recordings (*.csv), found none",
                      folder);
  }
  return recordings;
}

const Recording& recording_of(const Recordings& recordings, int campaign) {
  auto chosen = recordings.begin();
  std::advance(chosen, campaign % static_cast<int>(recordings.size()));
  return chosen->second;
}

double noise_of(const Recording& recording) {
  std::vector<double> log_ratios;
  for (const TwoRuns& pair : recording.pairs) {
    log_ratios.push_back(std::log(pair.second / pair.first));
  }
  return policies::noise_of(log_ratios);
}

World make_world(const WorldOptions& options, const Recordings& recordings, std::uint64_t seed) {
  World world;
  world.options = options;
  base::Rng rng(base::seed_from(seed, "world"));
  for (int campaign = 0; campaign < options.campaigns; ++campaign) {
    const double noise = options.noise_factor * noise_of(recording_of(recordings, campaign));
    for (int i = 0; i < options.hypotheses; ++i) {
      world.cases.push_back(make_case(options, campaign, noise, rng));
    }
  }
  return world;
}

}  // namespace policies::bench
