// The queue: who is taken up next, and why the others wait.
#include "orchestrator/queue.h"

#include <catch2/catch.hpp>

#include "orchestrator/decide.h"
#include "orchestrator/simulator/toy_world.h"

namespace orchestrator {
namespace {

using namespace hypotheses;  // NOLINT: the test is about nearly all of it

const base::Instant kToday{1'770'000'000'000};

// A night that runs on the toy target, its noise known.
struct Toy {
  State state;

  explicit Toy(bool with_night = true, const std::string& schedule = "") {
    Campaign campaign;
    campaign.id = {1};
    campaign.base = "main";
    campaign.schedule = schedule;
    campaign.time_zone = "UTC";
    campaign.created = kToday;
    add(CampaignCreated{campaign});
    if (!with_night) return;
    Night night;
    night.id = {1};
    night.campaign = {1};
    night.started = kToday;
    night.base = {std::string(40, 'b')};
    night.manifest = toy_world(1, false).manifest;
    night.settings = {{"toy.tile", "32"}, {"toy.variant", "0"}};
    add(NightStarted{night});
    add(NoiseMeasured{{1}, "toy.bench", {"toy.time", {{"batch", "1"}}}, "here", 0.01, 6});
  }

  void add(const Fact& fact) {
    auto done = apply(state, fact);
    if (!done) FAIL(done.error().text());
  }

  HypothesisId open(const std::string& value, double log_ratio, Origin origin = Origin::llm) {
    Hypothesis h;
    h.id = {state.next_hypothesis};
    h.campaign = {1};
    h.claim = "tile " + value;
    h.change.knobs = {{"toy.tile", value}};
    h.prediction = {{"toy.time", {{"batch", "1"}}}, log_ratio};
    h.origin = origin;
    add(HypothesisOpened{h});
    return h.id;
  }

  const NightRecord& night() const { return state.nights.at({1}); }
  std::string why(HypothesisId id) const {
    return why_waiting(state, state.hypotheses.at(id), kToday);
  }
};

TEST_CASE("the greatest gain per cost is taken up first, a person's before all") {
  Toy toy;
  CHECK_FALSE(next_up(toy.state, toy.night()));
  HypothesisId small = toy.open("16", -0.02), great = toy.open("64", -0.3);
  auto next = next_up(toy.state, toy.night());
  REQUIRE(next);
  CHECK(next->hypothesis == great);
  INFO(next->why);
  CHECK(next->why.find("the best of 2 that wait") != std::string::npos);

  HypothesisId persons = toy.open("16", -0.02, Origin::person);
  CHECK(next_up(toy.state, toy.night())->hypothesis == persons);

  // What was taken up, or cancelled, does not wait any more.
  toy.add(HypothesisTaken{persons, {1}, {}, {std::string(40, 'b')}, "first"});
  CHECK(toy.state.hypotheses.at(persons).why_taken == "first");
  CHECK(next_up(toy.state, toy.night())->hypothesis == great);
  toy.add(HypothesisMoved{great, HypothesisState::cancelled, "not now"});
  CHECK(next_up(toy.state, toy.night())->hypothesis == small);
}

TEST_CASE("a night finds what was queued before it") {
  Toy toy(false);
  HypothesisId id = toy.open("64", -0.3);
  Toy with_night;
  toy.add(NightStarted{with_night.night().night});
  REQUIRE(next_up(toy.state, toy.night()));
  CHECK(next_up(toy.state, toy.night())->hypothesis == id);
  toy.add(NightEnded{{1}, kToday, "done"});
  CHECK(toy.night().queue.waiting.empty());
}

TEST_CASE("kin are weighed once") {
  Toy toy;
  for (int i = 0; i < 100; ++i) toy.open("64", -0.30 - 0.0001 * i);
  CHECK(toy.night().queue.groups.size() == 1);
  toy.open("64", -0.02);                   // another size
  toy.open("64", -0.30, Origin::builtin);  // another origin
  CHECK(toy.night().queue.groups.size() == 3);
  CHECK(toy.night().queue.waiting.size() == 102);
}

TEST_CASE("why a hypothesis waits") {
  Toy toy;
  HypothesisId small = toy.open("16", -0.02), great = toy.open("64", -0.3);
  toy.add(
      HypothesisTaken{toy.open("16", -0.1, Origin::person), {1}, {}, {std::string(40, 'b')}, ""});
  for (const char* part : {"N-1 tests H-3", "place 2 of 2", "first is H-2"}) {
    INFO(toy.why(small));
    CHECK(toy.why(small).find(part) != std::string::npos);
  }
  CHECK(toy.why(great).find("place 1 of 2") != std::string::npos);
  toy.add(CampaignChanged{{1}, CampaignState::paused, "holidays"});
  CHECK(toy.why(small).find("C-1 is paused") != std::string::npos);

  Toy idle(false);
  CHECK(idle.why(idle.open("64", -0.3)).find("nightshift campaign start C-1") != std::string::npos);
  Toy scheduled(false, "30 22 * * *");
  CHECK(scheduled.why(scheduled.open("64", -0.3)).find("T22:30:00") != std::string::npos);

  // The command asks the same, and changes nothing.
  Decision decision = on_command(toy.state, web::AskWhy{small}, kToday);
  REQUIRE(decision.reply);
  CHECK((*decision.reply)->text == toy.why(small));
  CHECK(decision.facts.empty());
  CHECK_FALSE(*on_command(toy.state, web::AskWhy{{99}}, kToday).reply);
}

}  // namespace
}  // namespace orchestrator
