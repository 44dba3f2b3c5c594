// Robust summaries of a few numbers.
#pragma once

#include <vector>

namespace policies {

double median(std::vector<double> x);  // 0 for none

// 1.4826 times the median distance from the median: the s.d. of normal values, unmoved by up to
// half of them. 0 for fewer than two.
double robust_spread(const std::vector<double>& x);

// Hodges-Lehmann: the median of all means of two (each with itself too), the estimate that belongs
// to signed-rank statistics: as good as the mean on normal noise, unmoved by an outlier. Above 300
// values the plain median. 0 for none.
double hodges_lehmann(const std::vector<double>& x);

// Ranks from 1, equal values share their mean rank.
struct Ranks {
  std::vector<double> of;  // by the values' own order
  double tie_term = 0;     // sum of t^3 - t over groups of t equal values
};
Ranks ranks_of(const std::vector<double>& x);

// One number for a run that measured itself several times, in the order of its iterations.
struct RunSummary {
  double value = 0;   // median of the iterations that count
  double spread = 0;  // their robust spread; no error of the value, since they are not independent
  int warm_up = 0;    // iterations at the start that were dropped
  int counted = 0;    // the others; iterations that are not finite count nowhere
};

// What comes first is warm-up as long as it lies farther than 3 robust spreads (at least 0.5% of
// the value) from the median of the second half; at most half of the iterations. Fewer than four
// are all kept: too few to know what is warm. The rule looks at one run alone, so it treats base
// and candidate alike, and the exchange of the two sides under "no difference" stays valid.
RunSummary summarise_run(const std::vector<double>& iterations);

}  // namespace policies
