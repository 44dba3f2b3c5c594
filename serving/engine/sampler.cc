#include "serving/engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>

namespace serving {
namespace {

std::uint64_t scramble(std::uint64_t z) {  // SplitMix64's finaliser (Steele et al. 2014)
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

bool may_come(float logit, std::size_t token, const std::vector<bool>* allowed) {
  return std::isfinite(logit) && (allowed == nullptr || (*allowed)[token]);
}

// -1: none may come.
Token likeliest(std::span<const float> logits, const std::vector<bool>* allowed) {
  float best = -std::numeric_limits<float>::infinity();
  Token token = -1;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > best) || !may_come(logits[i], i, allowed)) continue;
    best = logits[i];
    token = static_cast<Token>(i);
  }
  return token;
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
  Choice choice;
  if (sampling.temperature == 0) {
    choice.token = likeliest(logits, allowed);
    if (choice.token < 0) return {};
  } else {
    gather(logits, allowed);
    if (candidates_.empty()) return {};
    if (sampling.top_k > 0) keep_top_k(sampling.top_k);
    weigh(sampling.temperature);
    if (sampling.top_p < 1) keep_top_p(sampling.top_p);
    choice.token = draw(uniform(sampling.seed, index));
  }
  if (sampling.top_logprobs >= 0) report(logits, sampling.top_logprobs, choice);
  return choice;
}

bool Sampler::is_likelier(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

void Sampler::gather(std::span<const float> logits, const std::vector<bool>* allowed) {
  candidates_.clear();
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!may_come(logits[i], i, allowed)) continue;
    candidates_.push_back({static_cast<Token>(i), logits[i], 0});
  }
}

void Sampler::keep_top_k(int k) {
  const auto most = static_cast<std::size_t>(k);
  if (most >= candidates_.size()) return;
  std::ranges::nth_element(candidates_, candidates_.begin() + k, is_likelier);
  candidates_.resize(most);
}

void Sampler::weigh(float temperature) {
  const float best = std::ranges::min_element(candidates_, is_likelier)->logit;
  for (Candidate& candidate : candidates_) {
    candidate.weight = std::exp(static_cast<double>(candidate.logit - best) / temperature);
  }
}

// Sorts only as many as are needed, in growing pieces: mostly a few tokens have all the
// probability.
void Sampler::keep_top_p(double p) {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  std::size_t kept = 0, sorted = 0;
  for (double sum = 0; kept < candidates_.size() && sum < p * total; ++kept) {
    if (kept == sorted) {
      sorted = std::min(candidates_.size(), std::max<std::size_t>(64, 4 * sorted));
      const auto begin = candidates_.begin() + static_cast<std::ptrdiff_t>(kept);
      const auto end = candidates_.begin() + static_cast<std::ptrdiff_t>(sorted);
      std::partial_sort(begin, end, candidates_.end(), is_likelier);
    }
    sum += candidates_[kept].weight;
  }
  candidates_.resize(kept);
}

Token Sampler::draw(double uniform) const {
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  double left = uniform * total;
  for (const Candidate& candidate : candidates_) {
    left -= candidate.weight;
    if (left < 0) return candidate.token;
  }
  // Rounding may leave a little; the last that can come at all stands for it.
  const auto last = std::find_if(candidates_.rbegin(), candidates_.rend(),
                                 [](const Candidate& candidate) { return candidate.weight > 0; });
  return last->token;
}

// Of the model's own distribution: no temperature, no cuts, nothing forbidden.
void Sampler::report(std::span<const float> logits, int top, Choice& choice) {
  gather(logits, nullptr);
  weigh(1);
  double total = 0;
  for (const Candidate& candidate : candidates_) total += candidate.weight;
  const auto count = std::min(candidates_.size(), static_cast<std::size_t>(top));
  const auto end =
      candidates_.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(1, count));
  std::partial_sort(candidates_.begin(), end, candidates_.end(), is_likelier);
  const double normaliser = candidates_.front().logit + std::log(total);
  const auto logprob = [&](float logit) { return static_cast<float>(logit - normaliser); };
  choice.logprob = logprob(logits[static_cast<std::size_t>(choice.token)]);
  for (std::size_t i = 0; i < count; ++i) {
    choice.top.push_back({candidates_[i].token, logprob(candidates_[i].logit)});
  }
}

}  // namespace serving
