#include "policies/change_points.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

#include "base/rng.h"
#include "policies/robust.h"

namespace policies {
namespace {

constexpr std::size_t kMostNights = 400;
constexpr int kPermutations = 999;
constexpr int kEnoughExceeding = 25;  // then the p-value is known well enough to say no

// What is left of a series without its gaps.
struct Series {
  std::vector<double> x;            // logarithms
  std::vector<double> noise;        // of each
  std::vector<std::size_t> places;  // in the series that was given
};

Series without_gaps(const std::vector<NightValue>& given) {
  Series series;
  const std::size_t begin = given.size() > kMostNights ? given.size() - kMostNights : 0;
  for (std::size_t i = begin; i < given.size(); ++i) {
    if (!std::isfinite(given[i].value) || given[i].value <= 0) continue;
    series.x.push_back(std::log(given[i].value));
    series.noise.push_back(std::isfinite(given[i].noise) ? std::max(0.0, given[i].noise) : 0);
    series.places.push_back(i);
  }
  return series;
}

std::vector<double> part(const std::vector<double>& x, std::size_t begin, std::size_t end) {
  return {x.begin() + static_cast<std::ptrdiff_t>(begin),
          x.begin() + static_cast<std::ptrdiff_t>(end)};
}

// A stretch [begin, end) of a segment against the rest of it.
struct Arc {
  std::size_t begin = 0, end = 0;
  double z = 0;
};

// Van der Waerden's scores, which are as deaf to outliers as the ranks they are made of, and see a
// change of the last few nights better. They sum to 0.
std::vector<double> normal_scores(const std::vector<double>& x) {
  const boost::math::normal_distribution<> normal;
  std::vector<double> scores = ranks_of(x).of;
  for (double& score : scores) {
    score = quantile(normal, score / (static_cast<double>(x.size()) + 1));
  }
  return scores;
}

// The arc that differs most, by the permutation variance of sums of scores that sum to 0. It begins
// anywhere, or (a step) at 0; it and what is left on either side have `least` nights or none.
Arc best_arc(const std::vector<double>& scores, std::size_t least, bool anywhere) {
  const std::size_t n = scores.size();
  std::vector<double> sums(n + 1, 0.0);
  double squares = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sums[i + 1] = sums[i] + scores[i];
    squares += scores[i] * scores[i];
  }
  Arc best;
  if (!(squares > 0)) return best;
  std::vector<double> per_z(n, 0.0);  // 1 / s.d. of a sum, by its length
  const double count = static_cast<double>(n);
  for (std::size_t k = 1; k < n; ++k) {
    const double length = static_cast<double>(k);
    per_z[k] = 1 / std::sqrt(length * (count - length) / (count * (count - 1)) * squares);
  }
  for (std::size_t begin = 0; begin == 0 || (anywhere && begin + 2 * least <= n);
       begin = std::max(begin + 1, least)) {
    for (std::size_t end = begin + least; end + least <= n; ++end) {
      const double z = std::fabs(sums[end] - sums[begin]) * per_z[end - begin];
      if (z > best.z) best = {begin, end, z};
    }
  }
  return best;
}

// Mean size of differences between nights `lag` apart, each at most 3 times their median: what a
// few steps and outliers add is bounded.
double mean_difference(const std::vector<double>& x, std::size_t lag) {
  std::vector<double> sizes;
  for (std::size_t i = lag; i < x.size(); ++i) sizes.push_back(std::fabs(x[i] - x[i - lag]));
  const double most = 3 * median(sizes);
  double sum = 0;
  for (double size : sizes) sum += std::min(size, most);
  return sum / static_cast<double>(std::max<std::size_t>(sizes.size(), 1));
}

// Correlation r from night to night, at least 0. In AR(1) the variance of differences two nights
// apart is 1 + r times that of neighbours. Steps and slopes hardly touch either.
double correlation_of(const std::vector<double>& x) {
  const double near = mean_difference(x, 1), far = mean_difference(x, 2);
  if (!(near > 0)) return 0;
  return std::clamp(far * far / (near * near) - 1, 0.0, 0.9);
}

// The same from what the levels of an arc and of the rest leave: less noisy, but changes that are
// not found yet look like correlation. Corrected for its bias in short series (Kendall 1954).
double left_correlation(std::vector<double> x, const Arc& arc) {
  std::vector<double> inside, outside;
  const auto is_inside = [&](std::size_t i) { return i >= arc.begin && i < arc.end; };
  for (std::size_t i = 0; i < x.size(); ++i) (is_inside(i) ? inside : outside).push_back(x[i]);
  const double of_inside = median(inside), of_outside = median(outside);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= is_inside(i) ? of_inside : of_outside;
  const double most = 3 * robust_spread(x);
  double squares = 0, products = 0, last = 0;
  for (double value : x) {
    const double clipped = std::clamp(value, -most, most);
    squares += clipped * clipped;
    products += clipped * last;
    last = clipped;
  }
  if (!(squares > 0)) return 0;
  const double r = products / squares;
  return std::clamp(r + (2 + 4 * r) / static_cast<double>(x.size()), 0.0, 0.9);
}

// Median of all differences between the two parts: Hodges and Lehmann's shift.
double shift_between(const std::vector<double>& before, const std::vector<double>& after) {
  constexpr std::size_t kMost = 40'000;
  if (before.size() * after.size() > kMost) return median(after) - median(before);
  std::vector<double> differences;
  for (double a : before) {
    for (double b : after) differences.push_back(b - a);
  }
  return median(std::move(differences));
}

// Segments of a series: boundaries from 0 to its length, and how sure each inner one is.
struct Boundary {
  std::size_t at = 0;
  double confidence = 0;
};

class Search {
 public:
  Search(const Series& series, const ChangePointRule& rule)
      : series_(series), rule_(rule), rng_(rule.seed) {
    correlation_ = correlation_of(series.x);
  }

  std::vector<Boundary> boundaries() {
    split(0, series_.x.size());
    std::sort(found_.begin(), found_.end(),
              [](const Boundary& a, const Boundary& b) { return a.at < b.at; });
    drop_small();
    return found_;
  }

  double shift(std::size_t k) const {
    return shift_between(part(series_.x, begin_of(k), found_[k].at),
                         part(series_.x, found_[k].at, end_of(k)));
  }
  std::size_t begin_of(std::size_t k) const { return k == 0 ? 0 : found_[k - 1].at; }
  std::size_t end_of(std::size_t k) const {
    return k + 1 < found_.size() ? found_[k + 1].at : series_.x.size();
  }

 private:
  // A step, or else an excursion that came and went, which no single step describes; half of the
  // level is for either.
  void split(std::size_t begin, std::size_t end) {
    const auto least = static_cast<std::size_t>(std::max(rule_.least_nights, 1));
    if (end - begin < 2 * least) return;
    const std::vector<double> x = part(series_.x, begin, end);
    const std::vector<double> scores = normal_scores(x);
    for (bool anywhere : {false, true}) {
      const Arc best = best_arc(scores, least, anywhere);
      if (best.end == 0) continue;
      const double r = std::min(correlation_, left_correlation(x, best));
      const double z = best.z * std::sqrt((1 - r) / (1 + r));
      const double p = p_value(scores, z, least, anywhere);
      if (p > rule_.level / 2) continue;
      if (best.begin > 0) {
        found_.push_back({begin + best.begin, 1 - p});
        split(begin, begin + best.begin);
      }
      found_.push_back({begin + best.end, 1 - p});
      split(begin + best.begin, begin + best.end);
      split(begin + best.end, end);
      return;
    }
  }

  double p_value(std::vector<double> scores, double z, std::size_t least, bool anywhere) {
    int exceeding = 0;
    for (int i = 1; i <= kPermutations; ++i) {
      rng_.shuffle(scores);
      if (best_arc(scores, least, anywhere).z >= z && ++exceeding >= kEnoughExceeding) {
        return static_cast<double>(exceeding) / i;
      }
    }
    return (exceeding + 1.0) / (kPermutations + 1.0);
  }

  // The smallest change goes first, since its two levels become one for the others.
  void drop_small() {
    while (!found_.empty()) {
      std::size_t smallest = 0;
      double least_excess = INFINITY;
      for (std::size_t k = 0; k < found_.size(); ++k) {
        const double excess = std::fabs(shift(k)) - needed_shift(k);
        if (excess < least_excess) {
          least_excess = excess;
          smallest = k;
        }
      }
      if (least_excess >= 0) return;
      found_.erase(found_.begin() + static_cast<std::ptrdiff_t>(smallest));
    }
  }

  double needed_shift(std::size_t k) const {
    double variance = 0;  // of the difference of the two levels, by the nights' own noise
    const auto add = [&](std::size_t begin, std::size_t end) {
      const double n = static_cast<double>(end - begin);
      for (std::size_t i = begin; i < end; ++i) {
        variance += series_.noise[i] * series_.noise[i] / (n * n);
      }
    };
    add(begin_of(k), found_[k].at);
    add(found_[k].at, end_of(k));
    return std::max(rule_.least_shift, 2 * std::sqrt(variance));
  }

  const Series& series_;
  const ChangePointRule& rule_;
  base::Rng rng_;
  double correlation_ = 0;  // from night to night
  std::vector<Boundary> found_;
};

// Sum of distances from a straight line through the medians (Theil 1950, Sen 1968).
struct Line {
  double slope = 0, cost = 0;
};

Line line_through(const std::vector<double>& x) {
  std::vector<double> slopes, starts;
  for (std::size_t i = 0; i < x.size(); ++i) {
    for (std::size_t j = i + 1; j < x.size(); ++j) {
      slopes.push_back((x[j] - x[i]) / static_cast<double>(j - i));
    }
  }
  Line line;
  line.slope = median(std::move(slopes));
  for (std::size_t i = 0; i < x.size(); ++i) {
    starts.push_back(x[i] - line.slope * static_cast<double>(i));
  }
  const double start = median(starts);
  for (double value : starts) line.cost += std::fabs(value - start);
  return line;
}

double cost_of_level(const std::vector<double>& x) {
  const double level = median(x);
  double cost = 0;
  for (double value : x) cost += std::fabs(value - level);
  return cost;
}

// Schwarz' criterion for Laplace noise: the smaller describes better.
double criterion(double cost, double parameters, std::size_t n) {
  constexpr double kLeastCost = 1e-12;
  const double count = static_cast<double>(n);
  return count * std::log(cost / count + kLeastCost) + parameters * std::log(count);
}

}  // namespace

std::vector<ChangePoint> change_points(const std::vector<NightValue>& given,
                                       const ChangePointRule& rule) {
  const Series series = without_gaps(given);
  Search search(series, rule);
  const std::vector<Boundary> boundaries = search.boundaries();
  std::vector<ChangePoint> found;
  for (std::size_t first = 0; first < boundaries.size();) {
    // Steps first..last go the same way.
    std::size_t last = first;
    double steps_cost = cost_of_level(part(series.x, search.begin_of(first), boundaries[first].at));
    std::vector<ChangePoint> steps;
    for (; last < boundaries.size(); ++last) {
      const double shift = search.shift(last);
      if (!steps.empty() && (shift > 0) != (steps.front().shift > 0)) break;
      steps.push_back(
          {series.places[boundaries[last].at], false, shift, boundaries[last].confidence});
      steps_cost += cost_of_level(part(series.x, boundaries[last].at, search.end_of(last)));
    }
    const std::size_t begin = search.begin_of(first), end = search.end_of(last - 1);
    const Line line = line_through(part(series.x, begin, end));
    const std::size_t n = end - begin;
    const double parameters = 2.0 * static_cast<double>(steps.size()) + 1;
    if (criterion(line.cost, 2, n) < criterion(steps_cost, parameters, n)) {
      found.push_back({series.places[begin], true, line.slope * static_cast<double>(n - 1),
                       steps.front().confidence});
    } else {
      found.insert(found.end(), steps.begin(), steps.end());
    }
    first = last;
  }
  return found;
}

}  // namespace policies
