// Robust summaries of a few numbers.
#pragma once

#include <vector>

namespace policies {

double median(std::vector<double> x);  // 0 for none

// Hodges-Lehmann: the median of all means of two (each with itself too), the estimate that belongs
// to signed-rank statistics: as good as the mean on normal noise, unmoved by an outlier. Above 300
// values the plain median. 0 for none.
double hodges_lehmann(const std::vector<double>& x);

}  // namespace policies
