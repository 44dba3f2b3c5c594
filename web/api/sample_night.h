// A whole night as facts, for tests and for looking at the pages: wins, losses, a hostile claim, a
// merge that waits.
#pragma once

#include <string>
#include <vector>

#include "hypotheses/facts.h"
#include "store/store.h"

namespace web::sample {

// What a hostile planner could write; it must never come out as markup.
inline constexpr const char* kHostileClaim =
    "<script>alert(1)</script> \"quoted\" & 'single' <img src=x onerror=alert(2)>";

inline const std::string kBase(40, 'a');
inline const std::string kCandidate(40, 'b');
inline const std::string kMerged(40, 'c');

// Campaigns C-1 and C-2 (paused), night N-1 (ended) and N-2 (running).
// N-1: H-1 supported (E-1 builds, E-2 correct, E-3 own metric with 12 pairs), H-2 refuted, H-3
// no-difference with the hostile claim, H-4 inconclusive, H-5 invalid; M-1 waits, at kMerged.
// N-2: H-6 testing (E-7 running), H-7 queued.
std::vector<hypotheses::Fact> facts();

// The facts as one commit.
store::Commit commit();

}  // namespace web::sample
