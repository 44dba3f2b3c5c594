// Pairs that the rules need on noise of known shape, to compare with what others need.
#pragma once

#include "base/rng.h"

namespace policies {

// Prints a table: shapes of noise by true effects in units of its s.d., at a two-sided alpha of 5%.
void print_model_rates(int trials, base::Rng rng);

}  // namespace policies
