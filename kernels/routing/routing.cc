#include "kernels/routing/routing.h"

#include <algorithm>
#include <limits>

#include "kernels/elementwise/elementwise.h"
#include "kernels/simd.h"

namespace kernels::routing {
namespace {

constexpr float kSmallestSum = 6.103515625e-5f;  // the smallest normal f16

void softmax(const float* logits, int size, float* gates) {
  const float top = *std::max_element(logits, logits + size);
  map(
      std::size_t(size), gates, [=](Vector v) { return exp(hn::Sub(v, set(top))); }, logits);
  float sum = 0;
  for (int e = 0; e < size; ++e) sum += gates[e];
  map(
      std::size_t(size), gates, [=](Vector v) { return hn::Div(v, set(sum)); },
      static_cast<const float*>(gates));
}

void route_token(const Rule& rule, const float* logits, const float* bias, std::int32_t* ids,
                 float* weights, float* scratch) {
  constexpr float kNever = -std::numeric_limits<float>::infinity();
  float* gates = scratch;
  float* scores = scratch + rule.experts;
  if (rule.gating == Gating::softmax) {
    softmax(logits, rule.experts, gates);
  } else {
    elementwise::sigmoid(logits, std::size_t(rule.experts), gates);
  }
  for (int e = 0; e < rule.experts; ++e) {
    const float score = bias ? gates[e] + bias[e] : gates[e];
    scores[e] = score == score ? score : -std::numeric_limits<float>::max();
  }
  float sum = 0;
  for (int i = 0; i < rule.used; ++i) {
    const auto best = std::max_element(scores, scores + rule.experts);  // the first of equals
    ids[i] = std::int32_t(best - scores);
    weights[i] = gates[ids[i]];
    sum += weights[i];
    *best = kNever;
  }
  const float factor = rule.normalise ? rule.scale / std::max(sum, kSmallestSum) : rule.scale;
  for (int i = 0; i < rule.used; ++i) weights[i] *= factor;
}

}  // namespace

void route(const Rule& rule, const float* logits, const float* bias, Range tokens,
           std::int32_t* ids, float* weights, float* scratch) {
  for (int t = tokens.begin; t < tokens.end; ++t) {
    const std::size_t at = std::size_t(t) * rule.used;
    route_token(rule, logits + std::size_t(t) * rule.experts, bias, ids + at, weights + at,
                scratch);
  }
}

}  // namespace kernels::routing
