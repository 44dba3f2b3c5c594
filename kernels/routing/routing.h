// Which experts a token goes to, and with what weight.
#pragma once

#include "kernels/tensor.h"

namespace kernels::routing {

enum class Gating { softmax, sigmoid };

struct Rule {
  Gating gating = Gating::softmax;
  int experts = 1;
  int used = 1;           // the top k
  bool normalise = true;  // weights of a token sum to one, before the scale
  float scale = 1;
};

// logits [tokens, experts] -> ids, weights [tokens, used], best first, ties to the smaller id.
// Chosen by gate + bias, weighed by the gate alone (DeepSeek-V3); bias [experts], or null. The sum
// that normalises is at least 6.1e-5, llama.cpp's limit. scratch [2 * experts]. A logit that is not
// a number is never chosen before one that is.
void route(const Rule& rule, const float* logits, const float* bias, Range tokens,
           std::int32_t* ids, float* weights, float* scratch);

}  // namespace kernels::routing
