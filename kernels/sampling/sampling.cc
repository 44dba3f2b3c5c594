#include "kernels/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd.h"

namespace kernels::sampling {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

bool possible(float logit) { return logit > kLowest; }  // false for a NaN too

// Orders a heap whose front is the best: larger value first, then the smaller id.
bool worse(const Candidate& a, const Candidate& b) {
  return a.value != b.value ? a.value < b.value : a.token > b.token;
}

// Calls take(i, exp((logit - top) / temperature)) for all tokens in order; impossible ones get 0.
template <class Take>
void each_weight(std::span<const float> logits, float top, float temperature, const Take& take) {
  alignas(64) float weights[kLanes];
  const int size = int(logits.size());
  for (int i = 0; i < size; i += kLanes) {
    const int some = std::min(kLanes, size - i);
    const float* from = logits.data() + i;
    const Vector logit = some == kLanes ? load(from) : load_tail(from, some);
    const Vector above = hn::Div(hn::Sub(logit, set(top)), set(temperature));
    const Vector weight = hn::Exp(kF, above);
    store(hn::IfThenElseZero(hn::Gt(logit, set(kLowest)), weight), weights);
    for (int lane = 0; lane < some; ++lane) take(i + lane, weights[lane]);
  }
}

// The first candidate at which the cumulated weight passes uniform * total; rounding may leave
// none, then the last with a weight.
std::int32_t pick(std::span<const Candidate> candidates, double total, double uniform) {
  double passed = 0;
  std::int32_t last = -1;
  for (const Candidate& c : candidates) {
    if (c.value <= 0) continue;
    last = c.token;
    passed += c.value;
    if (passed > uniform * total) break;
  }
  return last;
}

double sum(std::span<const Candidate> candidates) {
  double total = 0;
  for (const Candidate& c : candidates) total += c.value;
  return total;
}

// Moves the best candidates, sorted, to the back of `all` while keep(count, their weight) holds;
// gives them best first (reversed in place).
template <class Keep>
std::span<Candidate> take_best(std::span<Candidate> all, const Keep& keep) {
  std::make_heap(all.begin(), all.end(), worse);
  auto end = all.end();
  double weight = 0;
  while (end != all.begin() && keep(std::size_t(all.end() - end), weight)) {
    std::pop_heap(all.begin(), end, worse);
    --end;
    weight += end->value;
  }
  std::reverse(end, all.end());
  return {end, all.end()};
}

}  // namespace

std::int32_t greedy(std::span<const float> logits) {
  std::int32_t best = -1;
  float value = kLowest;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (!(logits[i] > value)) continue;
    value = logits[i];
    best = std::int32_t(i);
  }
  return best;
}

std::int32_t sample(std::span<const float> logits, const Options& options, double uniform,
                    std::span<Candidate> scratch) {
  const std::int32_t best = greedy(logits);
  if (best < 0 || options.temperature <= 0) return best;
  std::span<Candidate> kept = scratch.first(logits.size());
  each_weight(logits, logits[best], options.temperature, [&](int i, float weight) {
    kept[i] = {i, weight};
  });
  const bool cut_k = options.top_k > 0 && std::size_t(options.top_k) < kept.size();
  if (cut_k) {
    kept = take_best(kept, [&](std::size_t n, double) { return n < std::size_t(options.top_k); });
  }
  if (options.top_p < 1) {
    const double mass = double(options.top_p) * sum(kept);
    kept = take_best(kept, [&](std::size_t n, double weight) { return n == 0 || weight < mass; });
  }
  return pick(kept, sum(kept), uniform);
}

double log_sum_exp(std::span<const float> logits) {
  const std::int32_t best = greedy(logits);
  if (best < 0) return -std::numeric_limits<double>::infinity();
  double total = 0;
  each_weight(logits, logits[best], 1, [&](int, float weight) { total += weight; });
  return double(logits[best]) + std::log(total);
}

void top_logprobs(std::span<const float> logits, double log_sum, std::span<Candidate> best) {
  std::size_t size = 0;  // of a heap whose front is the worst that is kept
  const auto better = [](const Candidate& a, const Candidate& b) { return worse(b, a); };
  for (std::size_t i = 0; i < logits.size() && !best.empty(); ++i) {
    const Candidate c{std::int32_t(i), logits[i]};
    if (!possible(c.value)) continue;
    if (size == best.size()) {
      if (!worse(best[0], c)) continue;
      std::pop_heap(best.begin(), best.end(), better);
      best[size - 1] = c;
    } else {
      best[size++] = c;
    }
    std::push_heap(best.begin(), best.begin() + std::ptrdiff_t(size), better);
  }
  std::sort_heap(best.begin(), best.begin() + std::ptrdiff_t(size), better);
  for (std::size_t i = 0; i < best.size(); ++i) {
    best[i] = i < size ? Candidate{best[i].token, float(best[i].value - log_sum)} : Candidate{};
  }
}

}  // namespace kernels::sampling
