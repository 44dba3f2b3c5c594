// Synthetic machines for tests and tables: noise of known shape, where a recording has what it has.
#pragma once

#include "base/rng.h"
#include "policies/trial.h"

namespace policies {

// One draw of unit scale.
using Draw = double (*)(base::Rng&);
double draw_normal(base::Rng& rng);
double draw_student2(base::Rng& rng);  // Student's t with 2 degrees of freedom: no variance
double draw_outliers(base::Rng& rng);  // normal, but 20 times as wide in one run of twenty

// Runs that do not depend on each other; `noise` is the s.d. of their log-ratio when draws are
// normal.
Machine independent_noise(Draw draw, double noise);

// A clock that wanders by half a noise from run to run, and a second run that is always faster by
// `second_gain`, since the first left its caches warm.
Machine drifting_noise(double noise, double second_gain);

// Runs that remember the last one: log-times are AR(1) with this correlation from run to run.
Machine autocorrelated_noise(double noise, double correlation);

// A neighbour comes and goes (on average after 20 runs): while it is there, runs take 1.3 times as
// long and are three times as noisy.
Machine switching_noise(double noise);

}  // namespace policies
