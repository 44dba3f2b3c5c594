#include "policies/bench/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace policies::bench {
namespace {

constexpr double kLimit = 0.05;

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

nlohmann::json as_json(const Result& result) {
  const Score score = result.total();
  return {{"name", result.name},
          {"settings", result.settings},
          {"competes", result.competes},
          {"comparable", comparable(score)},
          {"machine_s_per_correct", score.s_per_right()},
          {"false_accept_rate", score.false_accept_rate()},
          {"false_accept_upper_bound", score.false_accept_bound()},
          {"false_discovery_rate", score.false_discovery_rate()},
          {"false_discovery_upper_bound", score.false_discovery_bound()},
          {"false_reject_rate", score.false_reject_rate()},
          {"missed_rate", score.missed_rate()},
          {"regressions_merged_rate", score.regression_rate()},
          {"inconclusive_rate", score.inconclusive_rate()},
          {"inconclusive_of_all_rate", score.inconclusive_of_all()}};
}

double ratio(const Score& of, const Score& to) { return of.s_per_right() / to.s_per_right(); }

}  // namespace

Score Result::total() const {
  Score sum;
  for (const Score& score : by_seed) sum.add(score);
  return sum;
}

Result play_all(const Strategy& strategy, const WorldOptions& options, const Recordings& recordings,
                const std::vector<std::uint64_t>& seeds) {
  Result result;
  result.name = strategy.name;
  result.settings = strategy.settings;
  for (std::uint64_t seed : seeds) {
    result.by_seed.push_back(play(strategy, options, recordings, seed));
  }
  return result;
}

bool comparable(const Score& score) {
  return score.false_accept_bound() <= kLimit && score.false_discovery_bound() <= kLimit;
}

const Result* best_competitor(const std::vector<Result>& results) {
  const Result* best = nullptr;
  for (const Result& result : results) {
    if (!result.competes || !comparable(result.total())) continue;
    if (best == nullptr || result.total().s_per_right() < best->total().s_per_right()) {
      best = &result;
    }
  }
  return best;
}

std::string table(const std::vector<Result>& results) {
  std::string text =
      "| strategy | machine-s per correct verdict | false accepts (upper 95%) | of the accepted "
      "(upper 95%) | false rejects | good ones missed | regressions merged | inconclusive: "
      "resolvable, all | comparable |\n|---|---|---|---|---|---|---|---|---|\n";
  for (const Result& result : results) {
    const Score score = result.total();
    text += fmt::format("| {} | {:.0f} | {} ({}) | {} ({}) | {} | {} | {} | {}, {} | {} |\n",
                        result.name, score.s_per_right(), percent(score.false_accept_rate()),
                        percent(score.false_accept_bound()), percent(score.false_discovery_rate()),
                        percent(score.false_discovery_bound()), percent(score.false_reject_rate()),
                        percent(score.missed_rate()), percent(score.regression_rate()),
                        percent(score.inconclusive_rate()), percent(score.inconclusive_of_all()),
                        comparable(score) ? "yes" : "no");
  }
  return text;
}

std::string json(const std::vector<Result>& results, const std::vector<std::uint64_t>& seeds) {
  nlohmann::json made;
  made["seeds"] = seeds;
  for (const Result& result : results) made["strategies"].push_back(as_json(result));
  const Result* best = best_competitor(results);
  made["best"] = best == nullptr ? nlohmann::json() : nlohmann::json(best->name);
  made["ratio_to_best"] = nullptr;
  made["ratio_by_seed"] = nlohmann::json::array();
  if (best != nullptr) {
    const Result& ours = results.front();
    made["ratio_to_best"] = ratio(ours.total(), best->total());
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      made["ratio_by_seed"].push_back(ratio(ours.by_seed[i], best->by_seed[i]));
    }
  }
  return made.dump(2);
}

}  // namespace policies::bench
