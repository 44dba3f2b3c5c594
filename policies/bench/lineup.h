// Who plays: Nightshift, and the competitors with the settings that tuning found.
#pragma once

#include "policies/bench/tune.h"

namespace policies::bench {

Strategy nightshift_as_shipped();
std::vector<Tunable> competitors();
std::vector<Strategy> published();  // with the settings that their authors ship
std::vector<Strategy> ablations();  // Nightshift without one idea each

// What any strategy pays that may not accept without evidence: not a competitor, a floor.
Strategy lower_bound();

}  // namespace policies::bench
