// Which state may follow which. The tables are docs/glossary.md's diagrams; apply() asserts them.
#pragma once

#include "hypotheses/words.h"

namespace hypotheses {

bool legal(HypothesisState from, HypothesisState to);
bool legal(ExperimentState from, ExperimentState to);
bool legal(CampaignState from, CampaignState to);
bool legal(NightState from, NightState to);
bool legal(MergeState from, MergeState to);

// True when nothing may follow.
bool terminal(HypothesisState state);
bool terminal(MergeState state);

}  // namespace hypotheses
