// Where did the mainline change? Offline detection on a series of nightly medians.
//
// The statistic is the greatest standardized sum of normal scores over all splits of a stretch
// (Pettitt 1979 with van der Waerden's scores), else over all arcs of it (Olshen et al. 2004); its
// p-value is by permutation, and each part is searched again (binary segmentation). Ranks make it
// deaf to outliers and to the shape of the noise. Nights that resemble the night before would fool
// a permutation, so the statistic is first divided by the square root of the variance inflation (1
// + r) / (1 - r), r the correlation from night to night. Steps all in one direction that a straight
// line describes better are reported as one drift.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace policies {

struct NightValue {
  double value =
      0;  // median of the night, in the metric's unit; not positive or not finite = a gap
  double noise = 0;  // s.d. of its logarithm; 0 = unknown
};

struct ChangePointRule {
  double level = 0.01;        // chance of a change in a series without any
  double least_shift = 0.01;  // log-ratio below which a change is not worth a mark
  int least_nights = 3;       // on either side of a change
  std::uint64_t seed = 1;     // of the permutations
};

struct ChangePoint {
  std::size_t index = 0;  // in the series: the first night of the new level, or of the drift
  bool is_drift = false;  // a slope from here on, not a step
  double shift = 0;       // log(after / before); of a drift over all its nights
  double confidence = 0;  // 1 - p, at most 0.999
};

// In the order of their nights. A shift that is less than twice the standard error which the
// nights' own noise implies is not reported. Looks at the last 400 nights at most.
std::vector<ChangePoint> change_points(const std::vector<NightValue>& given,
                                       const ChangePointRule& rule);

}  // namespace policies
