#include "serving/bench/arrivals.h"

namespace serving::bench {

std::vector<double> draw_arrivals(const ArrivalOptions& options, std::size_t count,
                                  std::mt19937_64& random) {
  std::vector<double> times_s(count, 0.0);
  if (options.rate_per_s <= 0 || count == 0) return times_s;
  std::gamma_distribution<double> gap_s(options.burstiness,
                                        1 / (options.rate_per_s * options.burstiness));
  double sum_s = 0;
  for (double& time_s : times_s) time_s = sum_s += gap_s(random);
  const double stretch = static_cast<double>(count) / options.rate_per_s / sum_s;
  for (double& time_s : times_s) time_s *= stretch;
  return times_s;
}

}  // namespace serving::bench
