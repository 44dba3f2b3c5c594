#include "orchestrator/history.h"

#include <fmt/format.h>

#include <utility>

#include "store/sample_facts.h"

namespace orchestrator {

using namespace hypotheses;  // the facts are this file's subject
namespace sample = store::sample;

namespace {

constexpr std::size_t kFactsACommit = 2000;

constexpr const char* kManifest = R"(version: 1
name: bundled-engine
base: main
goal: {metric: serve.tokens_per_s}
protected: [nightshift.yaml]
build: ["make {build}"]
knobs:
  kda_decode.v_tile: {file: kernels/knobs.yaml, key: v_tile, when: build, choices: [64, 128], tags: [tiling]}
probes:
  kda_decode.bench:
    answers: speed
    layer: kernel
    covers: ["kernels/**", "knob:kda_decode.*"]
    run: "{build}/bench {batch} {len}"
    conditions: {batch: [1, 8], len: [64]}
    format: nightshift
    timeout: 30s
    metrics:
      kda_decode.time: {better: lower, unit: ns}
  serve.bench:
    answers: serving
    layer: engine
    covers: ["**"]
    run: "{build}/serve"
    format: nightshift
    timeout: 300s
    metrics:
      serve.tokens_per_s: {better: higher, unit: "1/s"}
)";

const char* const kWords[] = {"tile",   "prefetch", "unroll", "fuse",  "cache",
                              "vector", "thread",   "batch",  "align", "stream"};

// Every claim tries something else, in words that a search finds a part of.
Hypothesis claim(std::int64_t id, std::int64_t night) {
  Hypothesis hypothesis = sample::hypothesis(id, night);
  const auto number = static_cast<std::size_t>(id);
  hypothesis.claim = fmt::format("{} the {} loop of variant {}", kWords[number % 10],
                                 kWords[number / 10 % 10], id);
  hypothesis.change.knobs = {{"kda_decode.v_tile", id % 2 == 0 ? "64" : "128"}};
  hypothesis.change.edits = {{"kernels/x.h", "int a = 1;\n", fmt::format("int a = {};\n", id)}};
  return hypothesis;
}

CommitId commit_of(std::int64_t id) { return {fmt::format("{:040x}", id)}; }

}  // namespace

void History::begin_night(std::vector<Fact>& facts) {
  if (night_ == 0) {
    Campaign campaign = sample::campaign(++campaign_);
    campaign.policy = "";
    facts.push_back(CampaignCreated{campaign});
  } else {
    facts.push_back(
        NightEnded{{night_}, {1'700'030'000'000 + night_ * 86'400'000}, "the deadline"});
  }
  Night night = sample::night(++night_, campaign_);
  night.manifest = kManifest;
  night.started = {1'700'000'100'000 + night_ * 86'400'000};
  facts.push_back(NightStarted{night});
}

void History::open_hypothesis(std::vector<Fact>& facts) {
  const HypothesisId id{++hypothesis_};
  const CommitId base = sample::night(night_, campaign_).base;
  facts.push_back(HypothesisOpened{claim(id.value, night_)});
  facts.push_back(HypothesisTaken{id, {night_}, {}, base, "the best of those that wait"});
  facts.push_back(CandidateMade{id, commit_of(id.value), "night/" + id.text(), {"kernels/x.h"}});
}

std::vector<Fact> History::next() {
  std::vector<Fact> facts;
  const std::int64_t nth = (next_experiment_ - 1) % kExperimentsAHypothesis;
  if (nth == 0) {
    if (hypothesis_ % kHypothesesANight == 0) begin_night(facts);
    open_hypothesis(facts);
  }
  const std::int64_t experiment = next_experiment_++;
  for (auto& fact :
       sample::finished_experiment(experiment, next_run_, hypothesis_, night_, kRuns)) {
    facts.push_back(std::move(fact));
  }
  next_run_ += kRuns;
  facts.push_back(
      QuestionAnswered{{hypothesis_}, sample::answer(Question::own_metric, experiment)});
  if (nth == kExperimentsAHypothesis - 1) {
    const Verdict verdict = hypothesis_ % 3 == 0 ? Verdict::supported : Verdict::refuted;
    const auto evidence = sample::answer(Question::own_metric, experiment).evidence;
    facts.push_back(HypothesisDecided{{hypothesis_}, verdict, "0.25 to 0.33, 9 pairs", evidence});
  }
  return facts;
}

store::Commit History::next_record() {
  constexpr int kBuilds = 2, kMeasured = 4;
  const std::int64_t id = next_experiment_++;
  auto facts = sample::finished_experiment(id, next_run_, hypothesis_, night_, kBuilds + kMeasured);
  next_run_ += kBuilds + kMeasured;
  int run = 0;
  for (auto& fact : facts) {
    auto* recorded = std::get_if<RunRecorded>(&fact);
    if (recorded == nullptr) continue;
    recorded->run.measured = run++ >= kBuilds;
    recorded->run.observations.resize(recorded->run.measured ? 1 : 0);
  }
  return {{id}, std::move(facts), {{{id}, "run-attempt", "{}"}}, {{id - 1}}};
}

base::Status fill(store::Store& store, History& history, std::int64_t experiments) {
  store::Commit commit;
  while (history.experiments() < experiments) {
    commit.at = {1'700'000'000'000 + history.experiments() * 1000};
    for (auto& fact : history.next()) commit.facts.push_back(std::move(fact));
    if (commit.facts.size() < kFactsACommit) continue;
    NS_TRY(store.commit(std::exchange(commit, {})));
  }
  return commit.facts.empty() ? base::Status() : store.commit(commit);
}

}  // namespace orchestrator
