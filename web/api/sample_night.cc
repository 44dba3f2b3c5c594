#include "web/api/sample_night.h"

#include <cmath>

#include "base/rng.h"

namespace web::sample {

using namespace hypotheses;  // NOLINT: the vocabulary is this file's subject

namespace {

constexpr std::int64_t kEvening = 1'764'540'000'000;  // 2025-11-30 22:00 UTC

MetricKey time_at(const std::string& batch) { return {"kda_decode.time", {{"batch", batch}}}; }

Campaign campaign(std::int64_t id, std::string name, std::string schedule) {
  Campaign campaign;
  campaign.id = {id};
  campaign.name = std::move(name);
  campaign.target = "../inference-stack";
  campaign.base = "main";
  campaign.goal = {"serve.tokens_per_s", {}};
  campaign.schedule = std::move(schedule);
  campaign.time_zone = "Europe/Zurich";
  campaign.policy = "version: 1\nevidence: {alpha: 5%, min_gain: 2%}\n";
  campaign.planner = "builtin";
  campaign.created = {kEvening - 86'400'000};
  return campaign;
}

Night night(std::int64_t id, std::int64_t started) {
  Night night;
  night.id = {id};
  night.campaign = {1};
  night.started = {started};
  night.deadline = {started + 8 * 3'600'000};
  night.base = {kBase};
  night.manifest = "version: 1\nname: bundled-engine\n";
  return night;
}

Hypothesis hypothesis(std::int64_t id, std::int64_t night, std::string claim, KnobSetting knob,
                      double predicted) {
  Hypothesis h;
  h.id = {id};
  h.campaign = {1};
  h.night = {night};
  h.claim = std::move(claim);
  h.subject = {SubjectKind::kernel, "kda_decode"};
  h.change.knobs = {std::move(knob)};
  h.prediction = {time_at("1"), predicted};
  h.origin = id % 2 == 0 ? Origin::llm : Origin::builtin;
  h.opened = {kEvening + id * 60'000};
  h.base = {kBase};
  return h;
}

Experiment experiment(std::int64_t id, std::int64_t hypothesis, std::int64_t night,
                      Question question, std::string probe) {
  Experiment e;
  e.id = {id};
  e.campaign = {1};
  e.night = {night};
  e.hypothesis = {hypothesis};
  e.question = question;
  e.probe = std::move(probe);
  e.base = {kBase};
  e.candidate = {kCandidate};
  e.seed = 42;
  e.estimate_s = 9.5;
  if (question == Question::own_metric || question == Question::carries_over) {
    e.key = time_at("1");
    e.max_attempts = 40;
    e.why =
        "own-metric is the cheapest open question; kda_decode.bench at batch 1 answers it in "
        "about 9 pairs";
    e.alternatives = {{"kda_decode.bench", time_at("1"), question, 1, 0.021, 9, 9.5, true,
                       "chosen: least expected cost of those that can answer"},
                      {"kda_decode.bench", time_at("64"), question, 1, 0.034, 16, 31.0, true,
                       "more pairs and longer runs at this batch"},
                      {"engine.serve",
                       {"serve.tokens_per_s", {}},
                       question,
                       0.04,
                       0.03,
                       900,
                       3600,
                       false,
                       "1% of 4% share needs 900 pairs; the cap is 40"}};
  } else {
    e.why = "gates the timing: nothing is timed that does not build and compute the right thing";
  }
  return e;
}

Evidence evidence(double effect, double half_width, int pairs) {
  Evidence e;
  e.key = time_at("1");
  e.better = Better::lower;
  e.effect = effect;
  e.low = effect - half_width;
  e.high = effect + half_width;
  e.e_better = effect > 0 ? 412.5 : 0.2;
  e.e_worse = effect > 0 ? 0.1 : 55.0;
  e.pairs = pairs;
  e.noise = 0.021;
  e.base_value = 18'240;
  e.candidate_value = 18'240 * std::exp(-effect);
  e.unit = "ns";
  return e;
}

Run run(std::int64_t id, std::int64_t experiment, int attempt, Side side, double value) {
  Run r;
  r.id = {id};
  r.experiment = {experiment};
  r.attempt = attempt;
  r.side = side;
  r.position = side == Side::base ? attempt % 2 : 1 - attempt % 2;
  r.outcome = RunOutcome::ok;
  r.started = {kEvening + id * 1000};
  r.wall_s = 0.41;
  if (value > 0) r.observations = {{time_at("1"), value, "ns"}};
  r.machine.machine = "bench-1, 2 cores";
  r.machine.load = 0.4;
  r.machine.mhz = 3100;
  r.machine.sandbox = "bubblewrap";
  r.artifacts = "E-" + std::to_string(experiment) + "/" + std::to_string(attempt);
  return r;
}

struct Story {
  std::vector<Fact> facts;
  std::int64_t next_run = 1;

  void decided(Hypothesis h, Verdict verdict, std::string reason, std::optional<Evidence> evidence,
               const std::vector<Experiment>& experiments) {
    const HypothesisId id = h.id;
    facts.push_back(HypothesisOpened{std::move(h)});
    facts.push_back(HypothesisMoved{id, HypothesisState::preparing, "taken up"});
    facts.push_back(CandidateMade{id, {kCandidate}, "night/" + id.text(), {"kernels/knobs.yaml"}});
    facts.push_back(HypothesisMoved{id, HypothesisState::testing, "candidate committed"});
    for (const Experiment& e : experiments) finished(e, verdict, reason, evidence);
    facts.push_back(HypothesisDecided{id, verdict, std::move(reason), std::move(evidence)});
  }

  void finished(const Experiment& e, Verdict verdict, const std::string& reason,
                const std::optional<Evidence>& evidence) {
    facts.push_back(ExperimentStarted{e});
    Answer answer{e.question, Verdict::supported, "", {}, e.id};
    if (e.key.metric.empty()) {
      for (Side side : {Side::base, Side::candidate}) {
        facts.push_back(RunRecorded{run(next_run++, e.id.value, 0, side, 0)});
      }
      answer.reason = e.question == Question::builds ? "both sides built" : "all checks passed";
    } else {
      pairs(e, evidence->effect, evidence->pairs);
      answer = {e.question, verdict, reason, evidence, e.id};
    }
    facts.push_back(ExperimentFinished{e.id, answer, e.key.metric.empty() ? 2.4 : 8.7});
    if (e.hypothesis) facts.push_back(QuestionAnswered{e.hypothesis, answer});
  }

  void pairs(const Experiment& e, double effect, int count) {
    base::Rng rng(base::seed_from(7, e.id.text()));
    for (int attempt = 0; attempt < count; ++attempt) {
      const double base = 18'240 * std::exp(0.04 * (rng.uniform() - 0.5));
      const double candidate = base * std::exp(-effect + 0.05 * (rng.uniform() - 0.5));
      facts.push_back(RunRecorded{run(next_run++, e.id.value, attempt, Side::base, base)});
      facts.push_back(
          RunRecorded{run(next_run++, e.id.value, attempt, Side::candidate, candidate)});
    }
  }
};

void first_night(Story& story) {
  story.facts.push_back(NightStarted{night(1, kEvening)});
  story.facts.push_back(Noted{{1}, {1}, "A/A of kda_decode.bench: noise 2.1% a pair, 6 pairs"});
  story.facts.push_back(NoiseMeasured{{1}, "kda_decode.bench", time_at("1"), "bench-1", 0.021, 6});
  story.decided(hypothesis(1, 1, "A v_tile of 128 keeps the vector units busy at batch 1",
                           {"kda_decode.v_tile", "128"}, std::log(0.6)),
                Verdict::supported,
                "the lower bound 0.52 is above 0 and the estimate above the 2% gain",
                evidence(0.5365, 0.018, 12),
                {experiment(1, 1, 1, Question::builds, "build"),
                 experiment(2, 1, 1, Question::correct, "kda_decode.check"),
                 experiment(3, 1, 1, Question::own_metric, "kda_decode.bench")});
  story.decided(hypothesis(2, 1, "Prefetching two tiles ahead hides the state loads",
                           {"kda_decode.prefetch", "2"}, std::log(0.9)),
                Verdict::refuted, "the upper bound -0.05 is below 0: it is slower",
                evidence(-0.081, 0.031, 9),
                {experiment(4, 2, 1, Question::own_metric, "kda_decode.bench")});
  story.decided(hypothesis(3, 1, kHostileClaim, {"kda_decode.unroll", "8"}, std::log(0.95)),
                Verdict::no_difference, "the interval lies inside ±1%",
                evidence(0.0021, 0.0066, 22),
                {experiment(5, 3, 1, Question::own_metric, "kda_decode.bench")});
  story.decided(hypothesis(4, 1, "Huge pages for the KV cache save TLB misses in decode",
                           {"engine.huge_pages", "on"}, std::log(0.985)),
                Verdict::inconclusive, "1% of 4% share needs 900 pairs; the cap is 40", {}, {});
  story.decided(hypothesis(5, 1, "Link-time optimisation speeds up the scalar tail",
                           {"build.lto", "on"}, std::log(0.97)),
                Verdict::invalid, "the build system failed twice: ld: cannot find -lfoo", {}, {});
  story.facts.push_back(IncumbentChosen{{1}, {1}});
  story.facts.push_back(ProposalRefused{
      {1}, {1}, Origin::llm, "edit nightshift.yaml", "the manifest is a protected path"});
  story.facts.push_back(PlannerSpoke{{{1},
                                      {1},
                                      1,
                                      "llm",
                                      1830,
                                      "proposed",
                                      "asked for a step; proposed H-2 after reading the profile"}});
  story.facts.push_back(PlannerSpoke{{{1}, {1}, 2, "builtin", 0, "proposed", "next knob: unroll"}});
  MergeRequest merge;
  merge.id = {1};
  merge.campaign = {1};
  merge.night = {1};
  merge.hypothesis = {1};
  merge.candidate = {kCandidate};
  merge.base = {kBase};
  story.facts.push_back(MergeOpened{merge});
  story.facts.push_back(
      MergeChanged{{1}, MergeState::measuring, "merged cleanly", {kBase}, {kMerged}, "", "", ""});
  Experiment confirm = experiment(6, 0, 1, Question::own_metric, "kda_decode.bench");
  confirm.hypothesis = {};
  confirm.merge = {1};
  confirm.fresh_build = true;
  confirm.candidate = {kMerged};
  const Evidence confirmed = evidence(0.529, 0.021, 12);
  story.finished(confirm, Verdict::supported, "e = 412 at level 1/80", confirmed);
  story.facts.push_back(MergeAnswered{
      {1}, {Question::own_metric, Verdict::supported, "e = 412 at level 1/80", confirmed, {6}}});
  story.facts.push_back(MergeChanged{
      {1},
      MergeState::waiting,
      "confirmed on a fresh build",
      {},
      {},
      "",
      "kda_decode.time{batch=1} is 1.70x faster on a fresh build of the merge commit; builds and "
      "checks pass.",
      "Only the kernel was measured. serve.tokens_per_s has not been run on this commit."});
  story.facts.push_back(NightEnded{{1}, {kEvening + 6 * 3'600'000}, "the queue is empty"});
}

void second_night(Story& story) {
  story.facts.push_back(NightStarted{night(2, kEvening + 86'400'000)});
  Hypothesis sixth = hypothesis(6, 2, "Batching the gate loads of two heads halves their latency",
                                {"kda_decode.heads", "2"}, std::log(0.88));
  story.facts.push_back(HypothesisOpened{sixth});
  story.facts.push_back(HypothesisMoved{{6}, HypothesisState::preparing, "taken up"});
  story.facts.push_back(CandidateMade{{6}, {kCandidate}, "night/H-6", {"kernels/knobs.yaml"}});
  story.facts.push_back(HypothesisMoved{{6}, HypothesisState::testing, "candidate committed"});
  const Experiment running = experiment(7, 6, 2, Question::own_metric, "kda_decode.bench");
  story.facts.push_back(ExperimentStarted{running});
  story.pairs(running, 0.1, 4);
  story.facts.push_back(HypothesisOpened{hypothesis(7, 2, "A shorter prefill chunk lowers ttft_p99",
                                                    {"engine.chunk", "256"}, std::log(0.93))});
}

}  // namespace

std::vector<Fact> facts() {
  Story story;
  story.facts.push_back(CampaignCreated{campaign(1, "Decode kernels", "0 22 * * 1-5")});
  story.facts.push_back(CampaignCreated{campaign(2, "Serving", "")});
  story.facts.push_back(CampaignChanged{{2}, CampaignState::paused, "waits for the new machine"});
  first_night(story);
  second_night(story);
  return story.facts;
}

store::Commit commit() { return {{kEvening}, facts(), {}, {}}; }

}  // namespace web::sample
