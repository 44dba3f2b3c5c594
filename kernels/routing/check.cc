#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/routing/routing.h"

namespace kernels::routing {
namespace {

struct Route {
  std::vector<std::int32_t> ids;
  std::vector<double> weights;
};

// By sorting all experts, in double. Gates that nearly tie are the caller's to avoid.
Route oracle(const Rule& rule, const float* logits, const float* bias) {
  std::vector<double> gates(rule.experts);
  double all = 0;
  for (int e = 0; e < rule.experts; ++e) all += std::exp(double(logits[e]));
  for (int e = 0; e < rule.experts; ++e) {
    gates[e] = rule.gating == Gating::softmax ? std::exp(double(logits[e])) / all
                                              : 1 / (1 + std::exp(-double(logits[e])));
  }
  Route route;
  route.ids.resize(rule.experts);
  std::iota(route.ids.begin(), route.ids.end(), 0);
  const auto score = [&](int e) { return gates[e] + (bias ? bias[e] : 0); };
  std::ranges::stable_sort(route.ids, [&](int a, int b) { return score(a) > score(b); });
  route.ids.resize(rule.used);
  double sum = 0;
  for (int e : route.ids) sum += gates[e];
  for (int e : route.ids) {
    const double divisor = rule.normalise ? std::fmax(sum, 6.103515625e-5) : 1;
    route.weights.push_back(gates[e] / divisor * rule.scale);
  }
  return route;
}

void run(Check& check, const Rule& rule, bool biased, int tokens, float spread = 1) {
  const std::string where = std::to_string(rule.used) + " of " + std::to_string(rule.experts);
  Floats logits = normals(check.random, std::size_t(tokens) * rule.experts, spread);
  const Floats bias = normals(check.random, rule.experts, 0.3f);
  const float* given_bias = biased ? bias.data() : nullptr;
  std::vector<std::int32_t> ids(std::size_t(tokens) * rule.used, -1);
  Floats weights = poison(ids.size());
  Floats scratch = poison(std::size_t(2) * rule.experts);
  route(rule, logits.data(), given_bias, {0, tokens}, ids.data(), weights.data(), scratch.data());
  for (int t = 0; t < tokens; ++t) {
    const std::size_t at = std::size_t(t) * rule.used;
    const Route want = oracle(rule, logits.data() + std::size_t(t) * rule.experts, given_bias);
    check.holds(where + " ids",
                std::ranges::equal(want.ids, std::span(ids).subspan(at, rule.used)));
    check.near(where + " weights", std::span<const float>(weights).subspan(at, rule.used),
               want.weights);
  }
}

void check_ties_and_nans(Check& check) {
  const Rule rule{Gating::sigmoid, 5, 3, true, 2};
  const float logits[5] = {0.5f, std::nanf(""), 0.5f, 0.5f, -1};
  std::int32_t ids[3];
  float weights[3];
  float scratch[10];
  route(rule, logits, nullptr, {0, 1}, ids, weights, scratch);
  check.holds("ties to the smaller id", ids[0] == 0 && ids[1] == 2 && ids[2] == 3);
  const float third = 2.0f / 3;
  check.near("equal weights", weights, std::vector<double>(3, third));
}

}  // namespace

void check(Check& check) {
  for (Gating gating : {Gating::softmax, Gating::sigmoid}) {
    for (bool biased : {false, true}) {
      for (bool normalise : {false, true}) {
        run(check, {gating, 8, 2, normalise, 2.446f}, biased, 5);
        run(check, {gating, 288, 8, normalise, 1}, biased, 2);
        const int experts = check.random.between(1, 70);
        run(check, {gating, experts, check.random.between(1, experts), normalise, 1}, biased, 3);
      }
    }
  }
  check_ties_and_nans(check);
}

void bench(const LabOptions& options) {
  const Rule rule{Gating::sigmoid, 288, 8, true, 1};
  const int tokens = options.batch;
  Random random(options.seed);
  const Floats logits = normals(random, std::size_t(tokens) * rule.experts);
  const Floats bias = normals(random, rule.experts);
  const double gates = double(logits.size());
  register_timed("routing", {gates * (1 + rule.used), gates * 4 + 8.0 * tokens * rule.used},
                 [=, ids = std::vector<std::int32_t>(std::size_t(tokens) * rule.used),
                  weights = Floats(std::size_t(tokens) * rule.used),
                  scratch = Floats(std::size_t(2) * rule.experts)]() mutable {
                   route(rule, logits.data(), bias.data(), {0, tokens}, ids.data(), weights.data(),
                         scratch.data());
                 });
}

}  // namespace kernels::routing
