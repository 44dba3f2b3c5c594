#include "serving/engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace serving {
namespace {

std::uint64_t scramble(std::uint64_t z) {  // SplitMix64's finaliser (Steele et al. 2014)
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace

Status check_sampling(const Sampling& sampling) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature)) {
    return fail(ErrorCode::bad_input, "temperature must be 0 or more");
  }
  if (!(sampling.top_p > 0 && sampling.top_p <= 1)) {
    return fail(ErrorCode::bad_input, "top_p must be above 0 and at most 1");
  }
  if (sampling.top_k < 0) return fail(ErrorCode::bad_input, "top_k must be 0 (all) or more");
  return {};
}

double uniform(std::uint64_t seed, std::uint64_t index) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  const std::uint64_t bits = scramble(scramble(seed + kGolden) + (index + 1) * kGolden);
  return static_cast<double>(bits >> 11) * 0x1p-53;
}

std::optional<Choice> Sampler::choose(std::span<const float> logits, const Sampling& sampling,
                                      std::uint64_t index, const std::vector<bool>* allowed) {
  std::span<const float> row = logits;
  if (allowed != nullptr) {
    allowed_logits_.assign(logits.begin(), logits.end());
    for (std::size_t i = 0; i < logits.size(); ++i) {
      if (!(*allowed)[i]) allowed_logits_[i] = -std::numeric_limits<float>::infinity();
    }
    row = allowed_logits_;
  }
  candidates_.resize(logits.size());
  Choice choice;
  choice.token = kernels::sampling::sample(
      row, {.temperature = sampling.temperature, .top_k = sampling.top_k, .top_p = sampling.top_p},
      uniform(sampling.seed, index), candidates_);
  if (choice.token < 0) return {};
  if (sampling.top_logprobs >= 0) report(logits, sampling.top_logprobs, choice);
  return choice;
}

void Sampler::report(std::span<const float> logits, int top, Choice& choice) {
  const double log_sum = kernels::sampling::log_sum_exp(logits);
  choice.logprob = static_cast<float>(logits[static_cast<std::size_t>(choice.token)] - log_sum);
  const auto best =
      std::span(candidates_).first(std::min(logits.size(), static_cast<std::size_t>(top)));
  kernels::sampling::top_logprobs(logits, log_sum, best);
  for (const auto& candidate : best) {
    if (candidate.token >= 0) choice.top.push_back({candidate.token, candidate.value});
  }
}

}  // namespace serving
