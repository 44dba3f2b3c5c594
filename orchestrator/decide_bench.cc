// What one decision costs, as numbers: `decide_bench [open hypotheses]` (10,000 unless told) prints
// the median milliseconds of each kind of step, with histories of growing length behind it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "base/clock.h"
#include "orchestrator/decide.h"
#include "orchestrator/simulator/toy_world.h"
#include "policies/robust.h"

namespace {

using namespace orchestrator;
using namespace hypotheses;

constexpr int kRepeats = 21;
constexpr int kClaimsANight = 100;
constexpr base::Instant kNow{1'796'000'000'000};
const MetricKey kGoal{"toy.time", {{"batch", "1"}}};

class History {
 public:
  History() {
    Campaign campaign;
    campaign.id = {1};
    campaign.name = "bench";
    campaign.base = "main";
    add(CampaignCreated{campaign});
  }

  // Nights of claims that were refuted: `claims` in all, then one more night that runs.
  void live(int claims) {
    for (int i = 0; i < claims; ++i) {
      if (i % kClaimsANight == 0) begin_night();
      refute(open(night_));
      if (i % kClaimsANight == kClaimsANight - 1) add(NightEnded{night_, kNow, "done"});
    }
    if (state.nights.empty() || state.nights.at(night_).night.state != NightState::running) {
      begin_night();
    }
  }

  void queue(int count) {
    for (int i = 0; i < count; ++i) open({});
  }

  // As far as `testing`, so that its first question is next.
  void take(HypothesisId id) {
    add(HypothesisTaken{id, night_, {}, commit(1), ""});
    add(CandidateMade{id, commit(1000 + id.value), "night/" + id.text(), {"src/toy.cc"}});
  }

  State state;

 private:
  void add(const Fact& fact) {
    if (auto done = apply(state, fact); !done) {
      fmt::print(stderr, "{}\n", done.error().text());
      std::exit(1);
    }
  }
  static CommitId commit(std::int64_t number) { return {fmt::format("{:040x}", number)}; }

  void begin_night() {
    Night night;
    night.id = night_ = {state.next_night};
    night.campaign = {1};
    night.started = kNow;
    night.base = commit(1);
    night.manifest = toy_world(1, false).manifest;
    night.settings = {{"toy.tile", "32"}, {"toy.variant", "0"}};
    add(NightStarted{night});
    add(NoiseMeasured{night_, "toy.bench", kGoal, "here", 0.01, 6});
  }

  HypothesisId open(NightId night) {
    Hypothesis h;
    h.id = {state.next_hypothesis};
    h.campaign = {1};
    h.night = night;
    h.claim = "edit " + h.id.text();
    h.change.edits = {{"src/toy.cc", "return 1", "return 1 + 0 * " + std::to_string(h.id.value)}};
    h.prediction = {kGoal, -0.01 * static_cast<double>(1 + h.id.value % 37)};
    h.origin = Origin::llm;
    h.opened = kNow;
    h.merge_level = 0.001;
    add(HypothesisOpened{h});
    return h.id;
  }

  void refute(HypothesisId id) {
    take(id);
    Experiment e;
    e.id = {state.next_experiment};
    e.campaign = {1};
    e.night = night_;
    e.hypothesis = id;
    e.question = Question::own_metric;
    e.probe = "toy.bench";
    e.key = kGoal;
    add(ExperimentStarted{e});
    for (Side side : {Side::base, Side::candidate}) {
      Run run;
      run.id = {state.next_run};
      run.experiment = e.id;
      run.side = side;
      run.outcome = RunOutcome::ok;
      run.wall_s = 0.5;
      run.observations = {{kGoal, 100, "ns"}};
      add(RunRecorded{run});
    }
    Answer answer{Question::own_metric, Verdict::refuted, "slower", {}, e.id};
    add(ExperimentFinished{e.id, answer, 1});
    add(QuestionAnswered{id, answer});
    add(HypothesisDecided{id, Verdict::refuted, "slower", {}});
  }

  NightId night_;
};

double median_ms(const State& state, const Event& event) {
  base::SystemClock clock;
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    double start = clock.monotonic_s();
    if (decide(state, event, kNow).empty()) {
      fmt::print(stderr, "the step decided nothing\n");
      std::exit(1);
    }
    times.push_back(1e3 * (clock.monotonic_s() - start));
  }
  return policies::median(times);
}

}  // namespace

int main(int argc, char** argv) {
  int open = argc > 1 ? std::atoi(argv[1]) : 10'000;
  fmt::print("median ms of {} decisions, {} hypotheses open\n", kRepeats, open);
  fmt::print("| {:>15} | {:>10} | {:>10} | {:>10} | {:>10} |\n", "decided before", "queue",
             "question", "planner", "proposal");
  for (int claims : {0, 1'000, 10'000, 50'000}) {
    History history;
    history.live(claims);
    double planner = median_ms(history.state, Advance{});
    history.queue(open);
    double queue = median_ms(history.state, Advance{});
    web::Propose proposal;
    proposal.campaign = {1};
    proposal.claim = "a wider tile";
    proposal.change.knobs = {{"toy.tile", "64"}};
    proposal.prediction = {kGoal, -0.2};
    double propose = median_ms(history.state, CommandGiven{proposal});
    history.take({history.state.next_hypothesis - 1});
    double question = median_ms(history.state, Advance{});
    fmt::print("| {:>15} | {:>10.3f} | {:>10.3f} | {:>10.3f} | {:>10.3f} |\n", claims, queue,
               question, planner, propose);
  }
}
