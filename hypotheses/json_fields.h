// The fields of each type of types.h, in the order of their declaration, for json_codec.h. A new
// field belongs here too; the round trip in json_test.cc shows when it is missing.
#pragma once

#include "hypotheses/json_codec.h"
#include "hypotheses/types.h"

namespace hypotheses {

void describe(auto& io, Like<MetricKey> auto& key) {
  io("metric", key.metric);
  io("conditions", key.conditions);
}

void describe(auto& io, Like<Prediction> auto& prediction) {
  io("key", prediction.key);
  io("log_ratio", prediction.log_ratio);
  io.derived("text", [&] { return to_text(prediction); });
}

void describe(auto& io, Like<KnobSetting> auto& setting) {
  io("knob", setting.knob);
  io("value", setting.value);
}

void describe(auto& io, Like<Edit> auto& edit) {
  io("path", edit.path);
  io("search", edit.search);
  io("replace", edit.replace);
}

void describe(auto& io, Like<Change> auto& change) {
  io("knobs", change.knobs);
  io("edits", change.edits);
  io("branch", change.branch);
  io.if_any("commit", change.commit.hex);
  io.derived("text", [&] { return to_text(change); });
}

void describe(auto& io, Like<Subject> auto& subject) {
  io("kind", subject.kind);
  io("name", subject.name);
}

void describe(auto& io, Like<Evidence> auto& evidence) {
  io("key", evidence.key);
  io("better", evidence.better);
  io("effect", evidence.effect);
  io.interval("interval", evidence.low, evidence.high);
  io("e_better", evidence.e_better);
  io("e_worse", evidence.e_worse);
  io("pairs", evidence.pairs);
  io("noise", evidence.noise);
  io("base_value", evidence.base_value);
  io("candidate_value", evidence.candidate_value);
  io("unit", evidence.unit);
  io("flag", evidence.flag);
  io.derived("effect_text", [&] { return effect_text(evidence); });
}

void describe(auto& io, Like<Answer> auto& answer) {
  io("question", answer.question);
  io("verdict", answer.verdict);
  io("reason", answer.reason);
  io("evidence", answer.evidence);
  io("experiment", answer.experiment);
}

void describe(auto& io, Like<Hypothesis> auto& hypothesis) {
  io("id", hypothesis.id);
  io("campaign", hypothesis.campaign);
  io("night", hypothesis.night);
  io("parent", hypothesis.parent);
  io("claim", hypothesis.claim);
  io("subject", hypothesis.subject);
  io("change", hypothesis.change);
  io("prediction", hypothesis.prediction);
  io("origin", hypothesis.origin);
  io("opened", hypothesis.opened);
  io("merge_level", hypothesis.merge_level);
  io("state", hypothesis.state);
  io.if_any("why_taken", hypothesis.why_taken);
  io("base", hypothesis.base);
  io("candidate", hypothesis.candidate);
  io("branch", hypothesis.branch);
  io("paths", hypothesis.paths);
  io("answers", hypothesis.answers);
  io("verdict", hypothesis.verdict);
  io("reason", hypothesis.reason);
  io("evidence", hypothesis.evidence);
  io("cost_s", hypothesis.cost_s);
}

void describe(auto& io, Like<Alternative> auto& alternative) {
  io("probe", alternative.probe);
  io("key", alternative.key);
  io("question", alternative.question);
  io("share", alternative.share);
  io("noise", alternative.noise);
  io("pairs", alternative.pairs);
  io("cost_s", alternative.cost_s);
  io("can_answer", alternative.can_answer);
  io("reason", alternative.reason);
}

void describe(auto& io, Like<Experiment> auto& experiment) {
  io("id", experiment.id);
  io("campaign", experiment.campaign);
  io("night", experiment.night);
  io("hypothesis", experiment.hypothesis);
  io("merge", experiment.merge);
  io("question", experiment.question);
  io("probe", experiment.probe);
  io("key", experiment.key);
  io("fresh_build", experiment.fresh_build);
  io("base", experiment.base);
  io("candidate", experiment.candidate);
  io("seed", experiment.seed);
  io("estimate_s", experiment.estimate_s);
  io("max_attempts", experiment.max_attempts);
  io.if_any("min_gain", experiment.min_gain);
  io("why", experiment.why);
  io("alternatives", experiment.alternatives);
  io("state", experiment.state);
  io("answer", experiment.answer);
  io("cost_s", experiment.cost_s);
}

void describe(auto& io, Like<Observation> auto& observation) {
  io("key", observation.key);
  io("value", observation.value);
  io("unit", observation.unit);
}

void describe(auto& io, Like<StackShare> auto& stack) {
  io("spans", stack.spans);
  io("share", stack.share);
}

void describe(auto& io, Like<Timeline> auto& timeline) {
  io("stacks", timeline.stacks);
  io("idle", timeline.idle);
  io("missing", timeline.missing);
}

void describe(auto& io, Like<MachineState> auto& state) {
  io("machine", state.machine);
  io("load", state.load);
  io("mhz", state.mhz);
  io("steal_s", state.steal_s);
  io("sandbox", state.sandbox);
  io.if_any("system", state.system);
  io.if_any("built", state.built);
  io.if_any("others_s", state.others_s);
  io.if_any("temperature_c", state.temperature_c);
  io.if_any("throttled", state.throttled);
  io.if_any("free_bytes", state.free_bytes);
  io.if_any("disturbed", state.disturbed);
}

void describe(auto& io, Like<Run> auto& run) {
  io("id", run.id);
  io("experiment", run.experiment);
  io("attempt", run.attempt);
  io("side", run.side);
  io("position", run.position);
  io("measured", run.measured);
  io("outcome", run.outcome);
  io("detail", run.detail);
  io("started", run.started);
  io("wall_s", run.wall_s);
  io("observations", run.observations);
  io.if_any("timeline", run.timeline);
  io("machine", run.machine);
  io("artifacts", run.artifacts);
}

void describe(auto& io, Like<Campaign> auto& campaign) {
  io("id", campaign.id);
  io("name", campaign.name);
  io("target", campaign.target);
  io("base", campaign.base);
  io("goal", campaign.goal);
  io("schedule", campaign.schedule);
  io("time_zone", campaign.time_zone);
  io("policy", campaign.policy);
  io("planner", campaign.planner);
  io("seed", campaign.seed);
  io("state", campaign.state);
  io("created", campaign.created);
}

void describe(auto& io, Like<Night> auto& night) {
  io("id", night.id);
  io("campaign", night.campaign);
  io("started", night.started);
  io("deadline", night.deadline);
  io("base", night.base);
  io("manifest", night.manifest);
  io("settings", night.settings);
  io.if_any("copy_rate", night.copy_rate);
  io("seed", night.seed);
  io("state", night.state);
  io("ended", night.ended);
  io("reason", night.reason);
}

void describe(auto& io, Like<MergeRequest> auto& merge) {
  io("id", merge.id);
  io("campaign", merge.campaign);
  io("night", merge.night);
  io("hypothesis", merge.hypothesis);
  io("candidate", merge.candidate);
  io("base", merge.base);
  io("merged", merge.merged);
  io("state", merge.state);
  io("reason", merge.reason);
  io("answers", merge.answers);
  io("known", merge.known);
  io("unknown", merge.unknown);
  io("approved_commit", merge.approved_commit);
  io("approved_by", merge.approved_by);
  io("approved_at", merge.approved_at);
  io("landed_ref", merge.landed_ref);
  io("remeasures", merge.remeasures);
}

void describe(auto& io, Like<PlannerTurn> auto& turn) {
  io("campaign", turn.campaign);
  io("night", turn.night);
  io("turn", turn.turn);
  io("planner", turn.planner);
  io("tokens", turn.tokens);
  io("outcome", turn.outcome);
  io("text", turn.text);
}

}  // namespace hypotheses
