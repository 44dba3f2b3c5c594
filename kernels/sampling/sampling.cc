#include "kernels/sampling/sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/simd.h"

namespace kernels::sampling {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();

bool possible(float logit) { return logit > kLowest; }  // false for a NaN too

// Larger values first, then smaller ids.
bool better(const Candidate& a, const Candidate& b) {
  return a.value != b.value ? a.value > b.value : a.token < b.token;
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

// In several chains, so that an addition need not wait for the one before; the order is fixed.
double sum(std::span<const Candidate> candidates) {
  constexpr std::size_t kChains = 8;
  double chains[kChains] = {};
  std::size_t i = 0;
  for (; i + kChains <= candidates.size(); i += kChains) {
    for (std::size_t c = 0; c < kChains; ++c) chains[c] += candidates[i + c].value;
  }
  for (; i < candidates.size(); ++i) chains[0] += candidates[i].value;
  double total = 0;
  for (double chain : chains) total += chain;
  return total;
}

// The best `count`, best first.
std::span<Candidate> take_best(std::span<Candidate> all, std::size_t count) {
  std::partial_sort(all.begin(), all.begin() + std::ptrdiff_t(count), all.end(), better);
  return all.first(count);
}

// The fewest of the best that reach `mass`, best first. Mostly a few suffice, and sorting all would
// take longer than the rest of sampling: sorts ever larger pieces until one reaches it.
std::span<Candidate> take_mass(std::span<Candidate> all, double mass) {
  const auto at = [&](std::size_t i) { return all.begin() + std::ptrdiff_t(i); };
  double reached = 0;
  std::size_t n = 0;
  for (std::size_t piece = 128; n < all.size(); piece *= 8) {
    const std::size_t end = std::min(n + piece, all.size());
    if (n == 0) {
      std::partial_sort(at(0), at(end), all.end(), better);
    } else {
      std::nth_element(at(n), at(end), all.end(), better);
      std::sort(at(n), at(end), better);
    }
    while (n < end) {
      reached += all[n++].value;
      if (reached >= mass) return all.first(n);
    }
  }
  return all;  // rounding fell short of the mass
}

float largest(std::span<const float> logits) {
  Vector top = set(kLowest);
  const int size = int(logits.size());
  const auto larger = [](Vector v, Vector top) { return hn::IfThenElse(hn::Gt(v, top), v, top); };
  int i = 0;
  for (; i + kLanes <= size; i += kLanes) top = larger(load(logits.data() + i), top);
  float result = hn::GetLane(hn::MaxOfLanes(kF, top));
  for (; i < size; ++i) result = logits[i] > result ? logits[i] : result;
  return result;
}

}  // namespace

std::int32_t greedy(std::span<const float> logits) {
  const float top = largest(logits);
  if (top == kLowest) return -1;
  return std::int32_t(std::find(logits.begin(), logits.end(), top) - logits.begin());
}

std::int32_t sample(std::span<const float> logits, const Options& options, double uniform,
                    std::span<Candidate> scratch) {
  const std::int32_t best = greedy(logits);
  if (best < 0 || options.temperature <= 0) return best;
  if (logits[best] == -kLowest) return best;  // infinitely likelier than the others
  std::span<Candidate> kept = scratch.first(logits.size());
  each_weight(logits, logits[best], options.temperature, [&](int i, float weight) {
    kept[i] = {i, weight};
  });
  if (options.top_k > 0 && std::size_t(options.top_k) < kept.size()) {
    kept = take_best(kept, std::size_t(options.top_k));
  }
  if (options.top_p < 1) kept = take_mass(kept, double(options.top_p) * sum(kept));
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
  const auto end = [&] { return best.begin() + std::ptrdiff_t(size); };
  for (std::size_t i = 0; i < logits.size() && !best.empty(); ++i) {
    const Candidate c{std::int32_t(i), logits[i]};
    if (!possible(c.value)) continue;
    if (size < best.size()) {
      best[size++] = c;
    } else if (better(c, best.front())) {
      std::pop_heap(best.begin(), end(), better);
      best.back() = c;
    } else {
      continue;
    }
    std::push_heap(best.begin(), end(), better);
  }
  std::sort_heap(best.begin(), end(), better);
  for (std::size_t i = 0; i < best.size(); ++i) {
    best[i] = i < size ? Candidate{best[i].token, float(best[i].value - log_sum)} : Candidate{};
  }
}

}  // namespace kernels::sampling
