// How many pairs the symmetry e-process needs: a cheap deterministic approximation of its median,
// held against simulation in the tests.
#pragma once

namespace policies {

// Pairs until a centre at `distance` from a bound is told from it at e = 2 / level (one side of an
// interval), on normal noise of s.d. `noise`. At most kPairsWithoutEnd.
double pairs_to_separate(double distance, double noise, double level);

inline constexpr double kPairsWithoutEnd = 1e6;

}  // namespace policies
