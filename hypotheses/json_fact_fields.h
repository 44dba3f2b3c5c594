// The fields of each fact of facts.h, for json_codec.h. Only for this folder.
#pragma once

#include "hypotheses/facts.h"
#include "hypotheses/json_fields.h"

namespace hypotheses {

void describe(auto& io, Like<CampaignCreated> auto& fact) { io("campaign", fact.campaign); }

void describe(auto& io, Like<CampaignChanged> auto& fact) {
  io("campaign", fact.campaign);
  io("state", fact.state);
  io("reason", fact.reason);
}

void describe(auto& io, Like<NightDue> auto& fact) {
  io("campaign", fact.campaign);
  io("at", fact.at);
  io("why", fact.why);
}

void describe(auto& io, Like<NightStarted> auto& fact) { io("night", fact.night); }

void describe(auto& io, Like<NightEnded> auto& fact) {
  io("night", fact.night);
  io("at", fact.at);
  io("reason", fact.reason);
}

void describe(auto& io, Like<IncumbentChosen> auto& fact) {
  io("night", fact.night);
  io("hypothesis", fact.hypothesis);
}

void describe(auto& io, Like<ProposalRefused> auto& fact) {
  io("campaign", fact.campaign);
  io("night", fact.night);
  io("origin", fact.origin);
  io("proposal", fact.proposal);
  io("reason", fact.reason);
}

void describe(auto& io, Like<HypothesisOpened> auto& fact) { io("hypothesis", fact.hypothesis); }

void describe(auto& io, Like<HypothesisMoved> auto& fact) {
  io("hypothesis", fact.hypothesis);
  io("state", fact.state);
  io("reason", fact.reason);
}

void describe(auto& io, Like<HypothesisTaken> auto& fact) {
  io("hypothesis", fact.hypothesis);
  io("night", fact.night);
  io("parent", fact.parent);
  io("base", fact.base);
  io.if_any("why", fact.why);
}

void describe(auto& io, Like<CandidateMade> auto& fact) {
  io("hypothesis", fact.hypothesis);
  io("commit", fact.commit);
  io("branch", fact.branch);
  io("paths", fact.paths);
}

void describe(auto& io, Like<QuestionAnswered> auto& fact) {
  io("hypothesis", fact.hypothesis);
  io("answer", fact.answer);
}

void describe(auto& io, Like<HypothesisDecided> auto& fact) {
  io("hypothesis", fact.hypothesis);
  io("verdict", fact.verdict);
  io("reason", fact.reason);
  io("evidence", fact.evidence);
}

void describe(auto& io, Like<ExperimentStarted> auto& fact) { io("experiment", fact.experiment); }

void describe(auto& io, Like<RunRecorded> auto& fact) { io("run", fact.run); }

void describe(auto& io, Like<ExperimentFinished> auto& fact) {
  io("experiment", fact.experiment);
  io("answer", fact.answer);
  io("cost_s", fact.cost_s);
}

void describe(auto& io, Like<ExperimentCancelled> auto& fact) {
  io("experiment", fact.experiment);
  io("reason", fact.reason);
}

void describe(auto& io, Like<NoiseMeasured> auto& fact) {
  io("night", fact.night);
  io("probe", fact.probe);
  io("key", fact.key);
  io("machine", fact.machine);
  io("noise", fact.noise);
  io("pairs", fact.pairs);
}

void describe(auto& io, Like<TimelineRead> auto& fact) {
  io("night", fact.night);
  io("experiment", fact.experiment);
  io("probe", fact.probe);
  io("key", fact.key);
  io("base", fact.base);
  io("timeline", fact.timeline);
  io("reason", fact.reason);
}

void describe(auto& io, Like<MergeOpened> auto& fact) { io("merge", fact.merge); }

void describe(auto& io, Like<MergeChanged> auto& fact) {
  io("merge", fact.merge);
  io("state", fact.state);
  io("reason", fact.reason);
  io("base", fact.base);
  io("merged", fact.merged);
  io("landed_ref", fact.landed_ref);
  io("known", fact.known);
  io("unknown", fact.unknown);
}

void describe(auto& io, Like<MergeAnswered> auto& fact) {
  io("merge", fact.merge);
  io("answer", fact.answer);
}

void describe(auto& io, Like<MergeApproved> auto& fact) {
  io("merge", fact.merge);
  io("commit", fact.commit);
  io("who", fact.who);
  io("at", fact.at);
}

void describe(auto& io, Like<PlannerSpoke> auto& fact) { io("turn", fact.turn); }

void describe(auto& io, Like<ReadBranch> auto& read) {
  io("branch", read.branch);
  io("commit", read.commit);
}

void describe(auto& io, Like<TargetFetched> auto& fact) {
  io("campaign", fact.campaign);
  io("at", fact.at);
  io("branches", fact.branches);
  io("trouble", fact.trouble);
}

void describe(auto& io, Like<Noted> auto& fact) {
  io("campaign", fact.campaign);
  io("night", fact.night);
  io("text", fact.text);
}

}  // namespace hypotheses
