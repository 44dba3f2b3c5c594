// What a kind of run was seen to take, blended with what was believed before anything was seen.
#pragma once

#include <vector>

namespace policies {

// A prior counts as so many observations: one odd run does not rule, the third is believed.
inline constexpr int kPriorWeight = 2;

// The median of `seen` and of kPriorWeight copies of the prior.
double blended(std::vector<double> seen, double prior);

struct Costs {
  std::vector<double> latest_s;  // at most kRemembered, the newest last

  static constexpr std::size_t kRemembered = 15;

  bool known() const { return !latest_s.empty(); }
  void add(double seconds);
  double typical_s(double prior_s) const { return blended(latest_s, prior_s); }
};

}  // namespace policies
