#include "policies/robust.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

namespace policies {

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  const std::size_t middle = x.size() / 2;
  std::nth_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(middle), x.end());
  const double upper = x[middle];
  if (x.size() % 2 == 1) return upper;
  const double lower =
      *std::max_element(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(middle));
  return lower + (upper - lower) / 2;
}

double robust_spread(const std::vector<double>& x) {
  if (x.size() < 2) return 0;
  const double centre = median(x);
  std::vector<double> distances;
  distances.reserve(x.size());
  for (double value : x) distances.push_back(std::fabs(value - centre));
  return 1.4826 * median(std::move(distances));
}

double hodges_lehmann(const std::vector<double>& x) {
  constexpr std::size_t kMost = 300;  // 45,150 means
  if (x.size() > kMost) return median(x);
  std::vector<double> means;
  means.reserve(x.size() * (x.size() + 1) / 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i; j < x.size(); ++j) means.push_back(x[i] / 2 + x[j] / 2);
  }
  return median(std::move(means));
}

Ranks ranks_of(const std::vector<double>& x) {
  std::vector<std::size_t> order(x.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return x[a] < x[b]; });
  Ranks ranks;
  ranks.of.resize(x.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin + 1;
    while (end < order.size() && x[order[end]] == x[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + 1 + end) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks.of[order[i]] = shared;
    const double ties = static_cast<double>(end - begin);
    ranks.tie_term += ties * ties * ties - ties;
    begin = end;
  }
  return ranks;
}

RunSummary summarise_run(const std::vector<double>& iterations) {
  constexpr std::size_t kEnough = 4;
  constexpr double kSpreads = 3, kLeastShare = 0.005;
  std::vector<double> x;
  for (double value : iterations) {
    if (std::isfinite(value)) x.push_back(value);
  }
  const std::size_t half = x.size() / 2;
  std::size_t warm_up = 0;
  if (x.size() >= kEnough) {
    const std::vector<double> later(x.begin() + static_cast<std::ptrdiff_t>(half), x.end());
    const double centre = median(later);
    const double near = std::max(kSpreads * robust_spread(later), kLeastShare * std::fabs(centre));
    while (warm_up < half && std::fabs(x[warm_up] - centre) > near) ++warm_up;
  }
  x.erase(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(warm_up));
  RunSummary summary;
  summary.value = median(x);
  summary.spread = robust_spread(x);
  summary.warm_up = static_cast<int>(warm_up);
  summary.counted = static_cast<int>(x.size());
  return summary;
}

}  // namespace policies
