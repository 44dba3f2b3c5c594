#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>

#include "policies/evidence.h"
#include "policies/noise_models.h"
#include "policies/rate_tables.h"
#include "policies/recording.h"

namespace policies {
namespace {

constexpr double kSyntheticNoise = 0.03;

Subject subject_of(std::string name, std::function<Machine()> machine) {
  Subject subject{std::move(name), std::move(machine), 0, 0};
  base::Rng rng(1);
  const Machine sample = subject.machine();
  std::vector<double> x;
  for (int i = 0; i < 4000; ++i) x.push_back(next_log_ratio(sample, 0, rng));
  subject.noise = noise_of(x);
  return subject;
}

}  // namespace

std::vector<Subject> synthetic_subjects() {
  constexpr double s = kSyntheticNoise;
  return {
      subject_of("normal", [] { return independent_noise(draw_normal, s); }),
      subject_of("outliers: 1 run in 20 is 20 times as wide",
                 [] { return independent_noise(draw_outliers, s); }),
      subject_of("Student's t, 2 degrees of freedom",
                 [] { return independent_noise(draw_student2, s); }),
      subject_of("random walk, second run 2% faster", [] { return drifting_noise(s, 0.02); }),
      subject_of("AR(1), correlation 0.9", [] { return autocorrelated_noise(s, 0.9); }),
      subject_of("AR(1), correlation -0.5", [] { return autocorrelated_noise(s, -0.5); }),
      subject_of("a neighbour comes and goes", [] { return switching_noise(s); }),
  };
}

Subject recorded_subject(std::string name, const std::string& text, int block, std::string& error) {
  auto recording = parse_recording(text, name);
  if (!recording) {
    error = recording.error().text();
    return {};
  }
  Subject subject;
  subject.name = std::move(name);
  subject.recorded = static_cast<int>(recording->pairs.size());
  std::vector<double> x;
  for (const TwoRuns& pair : recording->pairs) x.push_back(std::log(pair.second / pair.first));
  subject.noise = noise_of(x);
  subject.machine = [recording = std::move(*recording), block] { return replay(recording, block); };
  return subject;
}

base::Rng stream(const RateOptions& options, std::string_view table, std::string_view subject) {
  return base::Rng(base::seed_from(options.seed, std::string(table) + "/" + std::string(subject)));
}

double upper_bound(int successes, int trials) {
  if (successes >= trials) return 1;
  return boost::math::binomial_distribution<>::find_upper_bound_on_p(trials, successes, 0.05);
}

std::string percent2(double share) { return fmt::format("{:.2f}%", 100 * share); }

std::string rate_text(int successes, int trials) {
  return fmt::format("{:.2f}% ({:.2f}%)", 100.0 * successes / trials,
                     100 * upper_bound(successes, trials));
}

double quantile(std::vector<double> x, double q) {
  if (x.empty()) return 0;
  std::sort(x.begin(), x.end());
  return x[std::min(x.size() - 1, static_cast<std::size_t>(q * static_cast<double>(x.size())))];
}

}  // namespace policies
