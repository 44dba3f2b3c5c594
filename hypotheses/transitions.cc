#include "hypotheses/transitions.h"

#include <algorithm>
#include <iterator>

namespace hypotheses {
namespace {

template <class State>
struct Step {
  State from, to;
  bool operator==(const Step&) const = default;
};

// Opened -> candidate committed and built -> measured -> verdict. It goes back to the queue when
// the base moved, the night ended, or the machine was at fault.
constexpr Step<HypothesisState> kHypothesisSteps[] = {
    {HypothesisState::queued, HypothesisState::preparing},
    {HypothesisState::queued, HypothesisState::testing},
    {HypothesisState::queued, HypothesisState::decided},
    {HypothesisState::queued, HypothesisState::cancelled},
    {HypothesisState::preparing, HypothesisState::testing},
    {HypothesisState::preparing, HypothesisState::queued},
    {HypothesisState::preparing, HypothesisState::decided},
    {HypothesisState::preparing, HypothesisState::cancelled},
    {HypothesisState::testing, HypothesisState::decided},
    {HypothesisState::testing, HypothesisState::queued},
    {HypothesisState::testing, HypothesisState::cancelled},
};

constexpr Step<ExperimentState> kExperimentSteps[] = {
    {ExperimentState::running, ExperimentState::finished},
    {ExperimentState::running, ExperimentState::cancelled},
};

constexpr Step<CampaignState> kCampaignSteps[] = {
    {CampaignState::active, CampaignState::paused},
    {CampaignState::active, CampaignState::cancelled},
    {CampaignState::paused, CampaignState::active},
    {CampaignState::paused, CampaignState::cancelled},
};

constexpr Step<NightState> kNightSteps[] = {
    {NightState::running, NightState::ended},
};

// Whenever the base moved, the merge is made and measured anew; an approval lapses with its commit.
// Landing may also find the ref checked out or locked: approved goes back to waiting.
constexpr Step<MergeState> kMergeSteps[] = {
    {MergeState::preparing, MergeState::measuring}, {MergeState::preparing, MergeState::failed},
    {MergeState::preparing, MergeState::rejected},  {MergeState::measuring, MergeState::waiting},
    {MergeState::measuring, MergeState::failed},    {MergeState::measuring, MergeState::preparing},
    {MergeState::measuring, MergeState::rejected},  {MergeState::waiting, MergeState::approved},
    {MergeState::waiting, MergeState::rejected},    {MergeState::waiting, MergeState::preparing},
    {MergeState::waiting, MergeState::failed},      {MergeState::approved, MergeState::landed},
    {MergeState::approved, MergeState::preparing},  {MergeState::approved, MergeState::failed},
    {MergeState::approved, MergeState::waiting},
};

template <class State, std::size_t N>
bool listed(const Step<State> (&steps)[N], State from, State to) {
  return std::find(std::begin(steps), std::end(steps), Step<State>{from, to}) != std::end(steps);
}

template <class State, std::size_t N>
bool leads_nowhere(const Step<State> (&steps)[N], State state) {
  return std::none_of(std::begin(steps), std::end(steps),
                      [&](const auto& step) { return step.from == state; });
}

}  // namespace

bool legal(HypothesisState from, HypothesisState to) { return listed(kHypothesisSteps, from, to); }
bool legal(ExperimentState from, ExperimentState to) { return listed(kExperimentSteps, from, to); }
bool legal(CampaignState from, CampaignState to) { return listed(kCampaignSteps, from, to); }
bool legal(NightState from, NightState to) { return listed(kNightSteps, from, to); }
bool legal(MergeState from, MergeState to) { return listed(kMergeSteps, from, to); }

bool terminal(HypothesisState state) { return leads_nowhere(kHypothesisSteps, state); }
bool terminal(MergeState state) { return leads_nowhere(kMergeSteps, state); }

}  // namespace hypotheses
