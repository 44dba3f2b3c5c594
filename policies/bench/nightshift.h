// Nightshift's own way of deciding, on the real policy functions: what to ask next (order.h), by
// which experiment (choice.h), when that is enough (evidence.h), what the share allows (reach.h).
#pragma once

#include "policies/bench/strategy.h"

namespace policies::bench {

// What an ablation takes away.
struct NightshiftSettings {
  bool cheapest_first = true;    // false: the engine is asked at once
  bool sequential = true;        // false: always so many pairs (fixed_pairs), then one look
  bool correct_first = true;     // false: correctness is checked after the timing
  bool question_order = true;    // false: the dearest question first
  bool shares = true;            // false: no bound from the share of the goal
  bool learns = true;            // false: priors alone (no track, no shrink, no learned costs)
  bool noise_scale = true;       // false: bets without the A/A noise
  bool confirms = true;          // false: the first build's evidence is the last
  bool confirms_at_once = true;  // false: always explored on the first build before
  bool gives_up = true;          // false: only the interval refutes
  int fixed_pairs = 20;
  double guard_level = 0.2;  // one-sided: few break the guard, and those by far
  EvidenceRule rule = quick_noise();
  double fdr = 0.05;

  // The default policy, with as many A/A pairs as the demo's.
  static EvidenceRule quick_noise() {
    EvidenceRule made;
    made.noise_pairs = 4;
    return made;
  }
};
Strategy nightshift(std::string name, const NightshiftSettings& settings);

}  // namespace policies::bench
