// Fixed-n tests that others decide with, for comparison (docs/statistics.md). Each gives a
// two-sided p-value, right for one look at a number of runs that was fixed beforehand and for no
// other use. Wilcoxon's and Mann and Whitney's are by the normal approximation with midranks, the
// variance corrected for ties, and the correction for continuity. 1 where there is nothing to test
// (fewer than two values, or no spread at all and equal means); 0 for no spread and unequal means.
#pragma once

#include <vector>

namespace policies {

// Student's paired t-test: are the differences centred on 0?
double paired_t_test(const std::vector<double>& differences);

// Welch 1947: two samples of unequal variance, unpaired.
double welch_t_test(const std::vector<double>& a, const std::vector<double>& b);

// Wilcoxon 1945, paired; differences of 0 are dropped.
double signed_rank_test(const std::vector<double>& differences);

// Mann and Whitney 1947, unpaired.
double mann_whitney_test(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace policies
