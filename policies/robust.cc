#include "policies/robust.h"

#include <algorithm>
#include <cstddef>

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

}  // namespace policies
