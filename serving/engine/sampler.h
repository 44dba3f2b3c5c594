// From logits to a token: the requests' side of kernels/sampling.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/sampling/sampling.h"
#include "serving/core/result.h"
#include "serving/engine/engine.h"

namespace serving {

struct Choice {
  Token token = 0;
  float logprob = 0;         // 0 where no log-probabilities are asked for
  std::vector<Logprob> top;  // best first
};

// bad_input: a value out of its range; the message names it.
Status check_sampling(const Sampling& sampling);

// Uniform in [0, 1), from a counter: the same wherever and whenever it is asked for, so a token
// depends on its seed and its place in the answer and not on the batch.
double uniform(std::uint64_t seed, std::uint64_t index);

class Sampler {
 public:
  // The token at `index` of its answer. The temperature comes first, then top_k, then top_p: the
  // fewest most likely tokens that have that much probability together. `allowed`: nullptr, or
  // false for each token that may not come. NaN and -infinity never come; nullopt where none is
  // left.
  std::optional<Choice> choose(std::span<const float> logits, const Sampling& sampling,
                               std::uint64_t index, const std::vector<bool>* allowed = nullptr);

 private:
  // Of the model's own distribution: no temperature, no cuts, nothing forbidden.
  void report(std::span<const float> logits, int top, Choice& choice);

  std::vector<kernels::sampling::Candidate> candidates_;
  std::vector<float> allowed_logits_;
};

}  // namespace serving
