// How many pairs the symmetry e-process needs: a cheap deterministic approximation of its median,
// held against simulation in the tests.
#pragma once

#include "hypotheses/words.h"
#include "policies/policy.h"

namespace policies {

// Pairs until a centre at `distance` from a bound is told from it at e = 2 / level (one side of an
// interval), on normal noise of s.d. `noise`. At most kPairsWithoutEnd.
double pairs_to_separate(double distance, double noise, double level);

inline constexpr double kPairsWithoutEnd = 1e6;

// Both bounds inside +-d take so many times the pairs of one (the later of two equal waits).
inline constexpr double kPairsBothSides = 1.5;

// Pairs until a guard is supported when the change does nothing to its metric.
double expected_guard_pairs(double margin, hypotheses::Better better, double noise,
                            const EvidenceRule& rule);

}  // namespace policies
