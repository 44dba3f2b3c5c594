#include <cmath>
#include <limits>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/routing/routing.h"

namespace kernels::routing {
namespace {

std::vector<double> gates_of(const Rule& rule, const float* logits) {
  std::vector<double> gates(rule.experts);
  double all = 0;
  for (int e = 0; e < rule.experts; ++e) all += std::exp(double(logits[e]));
  for (int e = 0; e < rule.experts; ++e) {
    gates[e] = rule.gating == Gating::softmax ? std::exp(double(logits[e])) / all
                                              : 1 / (1 + std::exp(-double(logits[e])));
  }
  return gates;
}

// Whether `ids` are different experts, best first, and none better was left out; what rounding to
// fp32 cannot tell apart may come in any order.
bool are_best(std::span<const std::int32_t> ids, const std::vector<double>& scores) {
  std::vector<bool> chosen(scores.size());
  double last = std::numeric_limits<double>::infinity();
  for (std::int32_t id : ids) {
    if (id < 0 || id >= int(scores.size()) || chosen[id] || scores[id] > last + 1e-6) return false;
    chosen[id] = true;
    last = scores[id];
  }
  for (std::size_t e = 0; e < scores.size(); ++e) {
    if (!chosen[e] && scores[e] > last + 1e-6) return false;
  }
  return true;
}

std::vector<double> weights_of(const Rule& rule, std::span<const std::int32_t> ids,
                               const std::vector<double>& gates) {
  double sum = 0;
  for (int e : ids) sum += gates[e];
  std::vector<double> weights;
  for (int e : ids) {
    const double divisor = rule.normalise ? std::fmax(sum, 6.103515625e-5) : 1;
    weights.push_back(gates[e] / divisor * rule.scale);
  }
  return weights;
}

void run(Check& check, const Rule& rule, bool biased, int tokens) {
  const std::string where = std::to_string(rule.used) + " of " + std::to_string(rule.experts);
  const Floats logits = normals(check.random, std::size_t(tokens) * rule.experts);
  const Floats bias = normals(check.random, rule.experts, 0.3f);
  const float* given_bias = biased ? bias.data() : nullptr;
  std::vector<std::int32_t> ids(std::size_t(tokens) * rule.used, -1);
  Floats weights = poison(ids.size());
  Floats scratch = poison(std::size_t(2) * rule.experts);
  route(rule, logits.data(), given_bias, {0, tokens}, ids.data(), weights.data(), scratch.data());
  for (int t = 0; t < tokens; ++t) {
    const std::size_t at = std::size_t(t) * rule.used;
    const auto some = std::span<const std::int32_t>(ids).subspan(at, rule.used);
    const std::vector<double> gates = gates_of(rule, logits.data() + std::size_t(t) * rule.experts);
    std::vector<double> scores = gates;
    for (int e = 0; e < rule.experts; ++e) scores[e] += biased ? bias[e] : 0;
    const bool best = are_best(some, scores);
    check.holds(where + " ids", best);
    if (!best) return;
    check.near(where + " weights", std::span<const float>(weights).subspan(at, rule.used),
               weights_of(rule, some, gates));
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

}  // namespace
}  // namespace kernels::routing

const kernels::EngineOp kernels::kRouting = {"routing", routing::check, routing::bench};
