// The fields of all that the state is made of, for hypotheses/json_codec.h: what snapshot.cc keeps.
// A new field belongs here too; snapshot_test.cc counts them. What follows from other fields (the
// policy, the schedule, the manifest) and the pending effects, which are the outbox's, are left
// out.
#pragma once

#include "hypotheses/json_fields.h"
#include "orchestrator/state.h"

namespace policies {

using hypotheses::Like;

void describe(auto& io, Like<Costs> auto& costs) { io("latest_s", costs.latest_s); }

void describe(auto& io, Like<Track::Counts> auto& counts) {
  io("refuted", counts.refuted);
  io("supported", counts.supported);
}

void describe(auto& io, Like<Track::Group> auto& group) {
  io("answers", group.answers);
  io("ratios", group.ratios);
}

void describe(auto& io, Like<Track> auto& track) { io("groups", track.groups); }

void describe(auto& io, Like<Learned> auto& learned) {
  io("run", learned.run);
  io("noise", learned.noise);
  io("seen_noise", learned.seen_noise);
  io("build_cold", learned.build_cold);
  io("build_warm", learned.build_warm);
  io("track", learned.track);
}

void describe(auto& io, Like<Spend> auto& spend) {
  io("machine_s", spend.machine_s);
  io("in_flight_s", spend.in_flight_s);
  io("experiments", spend.experiments);
  io("tokens", spend.tokens);
}

void describe(auto& io, Like<MetricShares> auto& shares) {
  io("probe", shares.probe);
  io("key", shares.key);
  io("stacks", shares.stacks);
  io("spans", shares.spans);
}

void describe(auto& io, Like<Lineage> auto& lineage) {
  io("layer", lineage.layer);
  io("origin", lineage.origin);
  io("skeleton", lineage.skeleton);
}

void describe(auto& io, Like<OpenQuestion> auto& question) {
  io("question", question.question);
  io("key", question.key);
  io("lineage", question.lineage);
  io("predicted", question.predicted);
  io("share", question.share);
  io("margin", question.margin);
  io("level", question.level);
  io("min_gain", question.min_gain);
  io("paths", question.paths);
  io("knobs", question.knobs);
  io("candidate_is_warm", question.candidate_is_warm);
  io("fresh_build", question.fresh_build);
  io("change_is_empty", question.change_is_empty);
}

}  // namespace policies

namespace orchestrator {

using hypotheses::Like;

void describe(auto& io, Like<ClaimIndex> auto& claims) {
  io("opened", claims.opened);
  io("by_work", claims.by_work);
}

void describe(auto& io, Like<QueueGroup> auto& group) {
  io("lineage", group.lineage);
  io("questions", group.questions);
}

void describe(auto& io, Like<Queue::Place> auto& place) {
  io("group", place.group);
  io("predicted", place.predicted);
  io("by_person", place.by_person);
}

void describe(auto& io, Like<Queue> auto& queue) {
  io("groups", queue.groups);
  io("group_by_key", queue.group_by_key);
  io("waiting", queue.waiting);
}

void describe(auto& io, Like<CampaignRecord> auto& record) {
  io("campaign", record.campaign);
  io("last_due", record.last_due);
  io("running", record.running);
  io("nights", record.nights);
  io("open", record.open);
  io("claims", record.claims);
  io("last_fetch", record.last_fetch);
  io("fetch_trouble", record.fetch_trouble);
  io("read", record.read);
  io("confirmations", record.confirmations);
  io("confirmed", record.confirmed);
}

void describe(auto& io, Like<NightRecord> auto& record) {
  io("night", record.night);
  io("incumbent", record.incumbent);
  io("hypotheses", record.hypotheses);
  io("queue", record.queue);
  io("taken", record.taken);
  io("experiments", record.experiments);
  io("running", record.running);
  io("merges", record.merges);
  io("refusals", record.refusals);
  io("spend", record.spend);
  io("learned", record.learned);
  io("shares", record.shares);
  io("timelines", record.timelines);
  io("measured_noise", record.measured_noise);
  io("noise_failures", record.noise_failures);
  io("turns", record.turns);
  io("fruitless", record.fruitless);
  io("planner_stopped", record.planner_stopped);
  io("machine_trouble", record.machine_trouble);
}

void describe(auto& io, Like<ExperimentRecord> auto& record) {
  io("experiment", record.experiment);
  io("runs", record.runs);
  io("attempts", record.attempts);
}

// The next free ids alone; that of effects follows from the outbox.
void describe(auto& io, Like<State> auto& state) {
  io("next_campaign", state.next_campaign);
  io("next_night", state.next_night);
  io("next_hypothesis", state.next_hypothesis);
  io("next_experiment", state.next_experiment);
  io("next_run", state.next_run);
  io("next_merge", state.next_merge);
}

}  // namespace orchestrator
