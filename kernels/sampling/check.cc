#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/sampling/sampling.h"

namespace kernels::sampling {
namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

// The cumulated distribution in the order that sampling.h promises, by a full sort, in double.
struct Distribution {
  std::vector<int> tokens;
  std::vector<double> below;  // probability before each token, and 1 at the end
};

Distribution oracle(const Floats& logits, const Options& options) {
  Distribution out;
  for (int i = 0; i < int(logits.size()); ++i) {
    if (logits[i] > kImpossible) out.tokens.push_back(i);
  }
  const double top = logits[greedy(logits)];
  const auto weight = [&](int i) { return std::exp((logits[i] - top) / options.temperature); };
  const bool cut = options.top_k > 0 && options.top_k < int(logits.size());
  if (cut || options.top_p < 1) {
    std::ranges::stable_sort(out.tokens, [&](int a, int b) { return logits[a] > logits[b]; });
  }
  if (cut && options.top_k < int(out.tokens.size())) out.tokens.resize(options.top_k);
  double total = 0;
  for (int i : out.tokens) total += weight(i);
  double kept = 0;
  std::size_t n = 0;
  while (n < out.tokens.size() && (n == 0 || options.top_p >= 1 || kept < options.top_p * total)) {
    kept += weight(out.tokens[n++]);
  }
  out.tokens.resize(n);
  double below = 0;
  for (int i : out.tokens) {
    out.below.push_back(below / kept);
    below += weight(i);
  }
  out.below.push_back(1);
  return out;
}

// Every token's own middle must give that token; tokens too unlikely for fp32 to place are passed
// over.
void run(Check& check, const Floats& logits, const Options& options) {
  const std::string where = "T " + std::to_string(options.temperature) + " k " +
                            std::to_string(options.top_k) + " p " + std::to_string(options.top_p);
  const Distribution want = oracle(logits, options);
  std::vector<Candidate> scratch(logits.size());
  for (std::size_t i = 0; i < want.tokens.size(); ++i) {
    if (want.below[i + 1] - want.below[i] < 1e-5) continue;
    const double middle = (want.below[i] + want.below[i + 1]) / 2;
    const std::int32_t got = sample(logits, options, middle, scratch);
    check.holds(where, got == want.tokens[i]);
  }
  for (double edge : {0.0, std::nextafter(1.0, 0.0)}) {
    const std::int32_t got = sample(logits, options, edge, scratch);
    check.holds(where + " edge", std::ranges::count(want.tokens, got) == 1);
  }
}

void check_logprobs(Check& check, const Floats& logits) {
  double total = 0;
  for (float logit : logits) total += std::exp(double(logit));
  const double log_sum = log_sum_exp(logits);
  check.holds("log_sum_exp",
              std::fabs(log_sum - std::log(total)) < 1e-6 * std::fabs(log_sum) + 1e-6);
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return logits[a] > logits[b]; });
  std::vector<Candidate> best(7);
  top_logprobs(logits, log_sum, best);
  for (std::size_t i = 0; i < best.size(); ++i) {
    const bool there = i < order.size() && logits[order[i]] > kImpossible;
    check.holds("top_logprobs ids", best[i].token == (there ? order[i] : -1));
    if (!there) continue;
    const double want = logits[order[i]] - std::log(total);
    check.holds("top_logprobs values", std::fabs(best[i].value - want) < 1e-5);
  }
}

void check_edges(Check& check) {
  std::vector<Candidate> scratch(5);
  const Floats nothing(5, kImpossible);
  check.holds("nothing possible", sample(nothing, {}, 0.5, scratch) == -1);
  const Floats odd = {std::nanf(""), kImpossible, 1, std::nanf(""), 1};
  check.holds("greedy ties", greedy(odd) == 2);
  for (double u : {0.0, 0.4, 0.6, 0.999}) {
    check.holds("never a NaN", sample(odd, {1, 0, 1}, u, scratch) == (u < 0.5 ? 2 : 4));
    check.holds("greedy", sample(odd, {0, 0, 1}, u, scratch) == 2);
    check.holds("infinite", sample({{0, -kImpossible, 2}}, {1, 0, 1}, u, scratch) == 1);
    check.holds("cold", sample({{0, 3, 2}}, {1e-30f, 0, 1}, u, scratch) == 1);
  }
}

void check(Check& check) {
  for (int size : {1, 2, 37, 300, 1500, check.random.between(1, 400)}) {
    Floats logits = normals(check.random, size, 2);
    for (int i = 0; i < size / 8; ++i) logits[check.random.between(0, size - 1)] = kImpossible;
    if (greedy(logits) < 0) logits[0] = 0;
    for (float temperature : {1.0f, 0.6f, 2.0f}) {
      run(check, logits, {temperature, 0, 1});
      run(check, logits, {temperature, 5, 1});
      run(check, logits, {temperature, 0, 0.8f});
      run(check, logits, {temperature, check.random.between(1, size), 0.5f});
      run(check, logits, {temperature, 0, 0.995f});
    }
    check_logprobs(check, logits);
  }
  check_edges(check);
}

void bench(const LabOptions& options) {
  constexpr int kVocabulary = 32000;
  Random random(options.seed);
  const Floats logits = normals(random, kVocabulary, 3);
  const struct {
    const char* name;
    Options options;
  } cases[] = {{"sampling/greedy", {0, 0, 1}},
               {"sampling/temperature", {1, 0, 1}},
               {"sampling/top_k_top_p", {1, 40, 0.9f}},
               {"sampling/top_p", {1, 0, 0.9f}}};
  for (const auto& c : cases) {
    register_timed(c.name, {0, kVocabulary * (c.options.temperature > 0 ? 20.0 : 4.0)},
                   [=, scratch = std::vector<Candidate>(kVocabulary)]() mutable {
                     sample(logits, c.options, 0.7, scratch);
                   });
  }
}

}  // namespace
}  // namespace kernels::sampling

const kernels::EngineOp kernels::kSampling = {"sampling", sampling::check, sampling::bench};
