#include "store/sample_facts.h"

namespace store::sample {

using namespace hypotheses;  // the vocabulary is this file's subject

namespace {

Timeline timeline() { return {{{{"step"}, 0.125}, {{"step", "kda_*"}, 1.0 / 3}}, 0.0625, {"moe"}}; }

CommitId commit(char digit) { return {std::string(40, digit)}; }

MetricKey time_at(const std::string& batch) {
  return {"kda_decode.time", {{"batch", batch}, {"len", "64"}}};
}

Evidence evidence() {
  Evidence evidence;
  evidence.key = time_at("1");
  evidence.better = Better::lower;
  evidence.effect = 0.1 + 0.2;  // no short decimal: would show a lossy copy
  evidence.low = 0.25;
  evidence.high = 1.0 / 3;
  evidence.e_better = 1e100;
  evidence.e_worse = 0.0625;
  evidence.pairs = 9;
  evidence.noise = 0.0125;
  evidence.base_value = 1234.5;
  evidence.candidate_value = 1000.25;
  evidence.unit = "ns";
  evidence.flag = "above 10x";
  return evidence;
}

Change change() {
  return {{{"kda_decode.v_tile", "128"}}, {{"kernels/x.h", "int a = 1;\n", "int a = 2;\n"}}, {}};
}

}  // namespace

Campaign campaign(std::int64_t id) {
  return {{id},
          "nightly",
          "../target",
          "main",
          {"serve.tokens_per_s", {}},
          "0 22 * * 1-5",
          "Europe/Zurich",
          "version: 1\n# \"quotes\" and ümlauts\n",
          "builtin",
          0xfedcba9876543210,
          CampaignState::active,
          {1'700'000'000'000}};
}

Night night(std::int64_t id, std::int64_t campaign) {
  Night night;
  night.id = {id};
  night.campaign = {campaign};
  night.started = {1'700'000'100'000};
  night.deadline = {1'700'030'000'000};
  night.base = commit('a');
  night.manifest = "version: 1\nname: bundled-engine\n";
  night.settings = {{"kda_decode.v_tile", "64"}};
  night.seed = 7;
  return night;
}

Hypothesis hypothesis(std::int64_t id, std::int64_t night) {
  Hypothesis hypothesis;
  hypothesis.id = {id};
  hypothesis.campaign = {1};
  hypothesis.night = {night};
  hypothesis.claim = "A wider v_tile keeps the Straße of vectors busy";
  hypothesis.subject = {SubjectKind::kernel, "kda_decode"};
  hypothesis.change = change();
  hypothesis.prediction = {time_at("1"), -0.5108256237659907};
  hypothesis.origin = Origin::person;
  hypothesis.opened = {1'700'000'200'000};
  hypothesis.merge_level = 0.05 / 3;
  hypothesis.base = commit('a');
  return hypothesis;
}

Experiment experiment(std::int64_t id, std::int64_t hypothesis, std::int64_t night) {
  Experiment experiment;
  experiment.id = {id};
  experiment.campaign = {1};
  experiment.night = {night};
  experiment.hypothesis = {hypothesis};
  experiment.question = Question::own_metric;
  experiment.probe = "kda_decode.bench";
  experiment.key = time_at("1");
  experiment.fresh_build = true;
  experiment.base = commit('a');
  experiment.candidate = commit('b');
  experiment.seed = 0xffffffffffffffff;
  experiment.estimate_s = 12.5;
  experiment.max_attempts = 60;
  experiment.why = "cheapest that can answer: 9 pairs, 4 s";
  experiment.alternatives = {
      {"kda_decode.bench", time_at("1"), Question::own_metric, 1, 0.02, 9, 4, true, "chosen"},
      {"engine.serve",
       {"serve.tokens_per_s", {}},
       Question::own_metric,
       0.04,
       0.03,
       900,
       3600,
       false,
       "1% of 4% share needs 900 pairs; the cap is 60"}};
  return experiment;
}

Run run(std::int64_t id, std::int64_t experiment, int attempt, Side side) {
  Run run;
  run.id = {id};
  run.experiment = {experiment};
  run.attempt = attempt;
  run.side = side;
  run.position = side == Side::base ? 0 : 1;
  run.outcome = RunOutcome::ok;
  run.detail = "warm-up: 3";
  run.started = {1'700'000'300'000 + id};
  run.wall_s = 0.25;
  run.observations = {{time_at("1"), 1000 + static_cast<double>(id), "ns"},
                      {{"kda_decode.gates", {}}, 64, "1"}};
  if (id == 1) run.timeline = timeline();
  run.machine.machine = "bench-1, 2 cores";
  run.machine.load = 0.5;
  run.machine.mhz = 3100;
  run.machine.steal_s = 0.001;
  run.machine.sandbox = "bubblewrap";
  run.artifacts = "E-" + std::to_string(experiment) + "/" + std::to_string(attempt);
  return run;
}

MergeRequest merge(std::int64_t id, std::int64_t hypothesis, std::int64_t night) {
  MergeRequest merge;
  merge.id = {id};
  merge.campaign = {1};
  merge.night = {night};
  merge.hypothesis = {hypothesis};
  merge.candidate = commit('b');
  merge.base = commit('a');
  return merge;
}

Answer answer(Question question, std::int64_t experiment) {
  return {question, Verdict::supported, "0.25 to 0.33 lies above 0", evidence(), {experiment}};
}

std::vector<Fact> finished_experiment(std::int64_t id, std::int64_t first_run,
                                      std::int64_t hypothesis, std::int64_t night, int runs) {
  std::vector<Fact> facts{ExperimentStarted{experiment(id, hypothesis, night)}};
  for (int i = 0; i < runs; ++i) {
    auto side = i % 2 == 0 ? Side::base : Side::candidate;
    facts.push_back(RunRecorded{run(first_run + i, id, i / 2, side)});
  }
  facts.push_back(ExperimentFinished{{id}, answer(Question::own_metric, id), 4.5});
  return facts;
}

namespace {

// H-1: supported after two experiments, the first of which (E-1) is a build.
std::vector<Fact> winner() {
  Experiment build = experiment(1, 1, 1);
  build.question = Question::builds;
  build.probe = "build";
  build.key = {};
  std::vector<Fact> facts{
      HypothesisOpened{hypothesis(1, 0)},
      HypothesisTaken{{1}, {1}, {}, commit('a'), "the only one that waits"},
      CandidateMade{{1}, commit('b'), "night/H-1", {"kernels/knobs.yaml", "kernels/x.h"}},
      ExperimentStarted{build},
      RunRecorded{run(1, 1, 0, Side::candidate)},
      ExperimentFinished{{1}, {Question::builds, Verdict::supported, "it builds", {}, {1}}, 0.25},
      QuestionAnswered{{1}, {Question::builds, Verdict::supported, "it builds", {}, {1}}}};
  for (auto& fact : finished_experiment(2, 2, 1, 1)) facts.push_back(std::move(fact));
  facts.push_back(QuestionAnswered{{1}, answer(Question::own_metric, 2)});
  facts.push_back(HypothesisDecided{{1}, Verdict::supported, "all questions answered", evidence()});
  facts.push_back(IncumbentChosen{{1}, {1}});
  return facts;
}

// M-1: measured twice, since the base moved after the first approval.
std::vector<Fact> merged() {
  Experiment measured = experiment(3, 0, 1);
  measured.merge = {1};
  MergeChanged measuring{{1}, MergeState::measuring, "merged", commit('a'), commit('c'), "", "",
                         ""};
  MergeChanged waiting{{1}, MergeState::waiting, "confirmed", {}, {}, "", "faster alone", "engine"};
  MergeChanged again{{1}, MergeState::measuring, "merged", commit('d'), commit('e'), "", "", ""};
  return {MergeOpened{merge(1, 1, 1)},
          measuring,
          ExperimentStarted{measured},
          RunRecorded{run(20, 3, 0, Side::candidate)},
          ExperimentCancelled{{3}, "the night ends"},
          MergeAnswered{{1}, answer(Question::correct, 3)},
          waiting,
          MergeApproved{{1}, commit('c'), "ada", {1'700'001'000'000}},
          MergeChanged{{1}, MergeState::preparing, "the base moved", {}, {}, "", "", ""},
          again,
          MergeAnswered{{1}, answer(Question::own_metric, 3)},
          MergeChanged{{1}, MergeState::waiting, "confirmed", {}, {}, "", "", ""},
          MergeApproved{{1}, commit('e'), "grace", {1'700'002'000'000}},
          MergeChanged{{1}, MergeState::landed, "", {}, {}, "refs/heads/main", "", ""}};
}

}  // namespace

std::vector<Fact> story() {
  std::vector<Fact> facts{
      CampaignCreated{campaign(1)},
      NightDue{{1}, {1'700'000'050'000}, "the schedule"},
      NightStarted{night(1, 1)},
      NoiseMeasured{{1}, "kda_decode.bench", time_at("1"), "bench-1", 0.0125, 12},
      TimelineRead{{1},
                   {1},
                   "serve.trace",
                   {"serve.tokens_per_s", {{"batch", "8"}}},
                   commit('a'),
                   timeline(),
                   "moe never appears"},
      PlannerSpoke{{{1}, {1}, 1, "llm", 1234, "proposed", "asked: …"}},
      ProposalRefused{{1}, {1}, Origin::llm, "v_tile = 7", "not a choice"},
      TargetFetched{{1}, {1'700'000'060'000}, {{"try/wider", commit('e')}}, ""}};
  for (auto& fact : winner()) facts.push_back(std::move(fact));
  facts.push_back(HypothesisOpened{hypothesis(2, 1)});
  facts.push_back(HypothesisMoved{{2}, HypothesisState::cancelled, "the person changed his mind"});
  for (auto& fact : merged()) facts.push_back(std::move(fact));
  facts.push_back(Noted{{1}, {}, "restarted"});
  facts.push_back(NightEnded{{1}, {1'700'030'000'000}, "the deadline"});
  facts.push_back(CampaignChanged{{1}, CampaignState::paused, "enough"});
  return facts;
}

std::vector<Commit> script() {
  std::vector<Commit> commits;
  std::int64_t effect = 0;
  const auto facts = story();
  for (std::size_t start = 0; start < facts.size(); start += 5) {
    Commit commit{{1'700'000'000'000 + static_cast<std::int64_t>(start)}, {}, {}, {}};
    for (std::size_t i = start; i < std::min(start + 5, facts.size()); ++i) {
      commit.facts.push_back(facts[i]);
    }
    if (effect > 1) commit.done.push_back({effect - 1});
    ++effect;
    commit.pending.push_back({{effect}, "run-attempt", R"({"experiment": "E-1"})"});
    commits.push_back(std::move(commit));
  }
  return commits;
}

}  // namespace store::sample
