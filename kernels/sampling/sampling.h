// The next token from a row of logits. A logit of -infinity is never chosen; so is a NaN.
#pragma once

#include <span>

#include "kernels/tensor.h"

namespace kernels::sampling {

struct Options {
  float temperature = 1;  // 0: greedy
  int top_k = 0;          // 0: all
  float top_p = 1;        // the smallest set of best tokens whose probability reaches it
};

struct Candidate {
  std::int32_t token = -1;
  float value = 0;
};

// The largest logit, ties to the smaller id; -1 where none is above -infinity.
std::int32_t greedy(std::span<const float> logits);

// Temperature, then top-k, then top-p of what is left; `uniform` in [0, 1) picks from the cumulated
// probabilities, in order of the ids where nothing is cut, best first where something is. -1 as
// above. scratch [logits].
std::int32_t sample(std::span<const float> logits, const Options& options, double uniform,
                    std::span<Candidate> scratch);

// log of the sum of exp(logits): logprob of a token = its logit - this. Taken before temperature
// and cuts.
double log_sum_exp(std::span<const float> logits);

// The best `best.size()` tokens with natural log-probabilities, best first, ties to the smaller id;
// slots beyond the possible tokens get token -1.
void top_logprobs(std::span<const float> logits, double log_sum, std::span<Candidate> best);

}  // namespace kernels::sampling
