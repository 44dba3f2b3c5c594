// The rank tests that competitors decide by. Normal approximations with a continuity correction,
// which is what they use themselves.
#pragma once

#include <vector>

namespace policies::bench {

// Two-sided p-values. Mann and Whitney 1947: two samples, corrected for ties.
double mann_whitney_p(const std::vector<double>& a, const std::vector<double>& b);

// Wilcoxon 1945: signed ranks of paired differences; zeros do not count.
double signed_rank_p(const std::vector<double>& differences);

// Two-sided p-value that a shift of `magnitude` interquartile ranges exceeds with a probability of
// 1% in samples of n on normal noise: above it Pinpoint calls two samples the same. 1 = never.
double same_above_p(double magnitude, int n);

}  // namespace policies::bench
