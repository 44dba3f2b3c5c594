// A restart from a snapshot and one from the whole log come to the same state.
#include "orchestrator/snapshot.h"

#include <catch2/catch.hpp>

#include "hypotheses/field_count.h"
#include "orchestrator/settled.h"
#include "orchestrator/state_fields.h"
#include "orchestrator/test_loop.h"
#include "store/sqlite.h"

namespace orchestrator {
namespace {

template <class T>
int listed() {
  T value{};
  hypotheses::FieldCounter counter;
  describe(counter, value);
  return counter.count;
}

// What the whole log comes to, with everything forgotten that may be.
State folded(const store::Store& store, const State& pending_of) {
  State state;
  auto replayed = store.replay([&](const store::Event& e) { return apply(state, e.fact); });
  REQUIRE(replayed);
  state.pending = pending_of.pending;
  forget_settled(state);
  return state;
}

// Nights until the campaign had so many; what waits is approved in every second.
void live_nights(TestLoop& loop, std::size_t nights) {
  if (loop.state().campaigns.empty()) loop.campaign();
  loop.run([&](const State& state) {
    for (const auto& [id, merge] : state.merges) {
      const bool waits = merge.state == hypotheses::MergeState::waiting;
      if (waits && id.value % 2 == 0) loop.give(web::Approve{id, {}, "ann"});
      if (waits && id.value % 2 == 1) loop.give(web::Reject{id, "ann", "not now"});
    }
    const CampaignRecord& record = state.campaigns.begin()->second;
    const bool next = !record.running && !night_opening(state, record.campaign.id) &&
                      record.nights.size() < nights;
    if (next) loop.give(web::StartNight{record.campaign.id});
    return false;
  });
}

std::size_t kept_experiments(const TestLoop& loop) { return loop.state().experiments.size(); }

}  // namespace

TEST_CASE("every field of the state is in its snapshot") {
  CHECK(listed<policies::Costs>() == hypotheses::field_count<policies::Costs>());
  CHECK(listed<policies::Track::Counts>() == hypotheses::field_count<policies::Track::Counts>());
  CHECK(listed<policies::Track::Group>() == hypotheses::field_count<policies::Track::Group>());
  CHECK(listed<policies::Track>() == hypotheses::field_count<policies::Track>());
  CHECK(listed<policies::Learned>() == hypotheses::field_count<policies::Learned>());
  CHECK(listed<policies::Spend>() == hypotheses::field_count<policies::Spend>());
  CHECK(listed<policies::MetricShares>() == hypotheses::field_count<policies::MetricShares>());
  CHECK(listed<policies::Lineage>() == hypotheses::field_count<policies::Lineage>());
  CHECK(listed<policies::OpenQuestion>() == hypotheses::field_count<policies::OpenQuestion>());
  CHECK(listed<ClaimIndex>() == hypotheses::field_count<ClaimIndex>());
  CHECK(listed<QueueGroup>() == hypotheses::field_count<QueueGroup>());
  CHECK(listed<Queue::Place>() == hypotheses::field_count<Queue::Place>());
  CHECK(listed<Queue>() == hypotheses::field_count<Queue>());
  CHECK(listed<ExperimentRecord>() == hypotheses::field_count<ExperimentRecord>());
  // Policy and schedule; the manifest; five maps of things, the pending effects and their next id.
  CHECK(listed<CampaignRecord>() == hypotheses::field_count<CampaignRecord>() - 2);
  CHECK(listed<NightRecord>() == hypotheses::field_count<NightRecord>() - 1);
  CHECK(listed<State>() == hypotheses::field_count<State>() - 7);
}

TEST_CASE("a state survives the way to text and back at every step of its life") {
  TestLoop loop(toy_world(3, false));
  int steps = 0;
  loop.on_commit = [&](const State& state) {
    const std::string text = to_snapshot(state);
    auto back = from_snapshot(text);
    REQUIRE(back);
    CHECK(to_snapshot(*back) == text);
    ++steps;
  };
  live_nights(loop, 2);
  CHECK(steps > 50);
}

TEST_CASE("what is settled is forgotten, and a fold over the whole log says the same") {
  TestLoop loop(toy_world(5, false));
  live_nights(loop, 3);
  const auto before = kept_experiments(loop);
  loop.crash();
  loop.start();
  CHECK(kept_experiments(loop) < before);
  CHECK(kept_experiments(loop) > 0);  // of the newest night
  CHECK(to_snapshot(loop.state()) == to_snapshot(folded(loop.shell->store(), loop.state())));
  std::size_t forgotten = 0;
  for (const auto& [id, night] : loop.state().nights) forgotten += night.manifest == nullptr;
  CHECK(forgotten == 2);
  live_nights(loop, 5);  // and life goes on
  loop.run_to_end();
  expect_sound(loop);
}

TEST_CASE("a cut or altered snapshot is an error, never a state") {
  TestLoop loop(toy_world(3, false));
  live_nights(loop, 1);
  const std::string text = to_snapshot(loop.state());
  REQUIRE(from_snapshot(text));
  for (std::size_t cut = 0; cut < text.size(); cut += 1 + text.size() / 97) {
    INFO("cut at " << cut << " of " << text.size());
    CHECK_FALSE(from_snapshot(text.substr(0, cut)));
  }
  CHECK_FALSE(from_snapshot("gods {}\n" + text));
  CHECK_FALSE(from_snapshot("night {}\n" + text));
}

namespace {

// Starts anew; false when the log cannot be read.
bool starts(TestLoop& loop) {
  auto store = store::Store::open(loop.folder.path());
  REQUIRE(store);
  FakePerformer performer(loop.target, loop.clock);
  ShellOptions options;
  options.program = loop.program;
  return Shell::open(std::move(*store), loop.clock, performer, options).has_value();
}

void change(TestLoop& loop, const char* sql) {
  auto db =
      store::Connection::open(loop.folder / store::kDatabaseFile, store::Connection::Mode::create);
  REQUIRE(db);
  REQUIRE(db->script(sql));
}

}  // namespace

TEST_CASE("a snapshot of another program, or a damaged one, is not used: the log is read") {
  TestLoop loop(toy_world(5, false));
  loop.crash();
  loop.snapshot_every = 30;
  loop.start();
  live_nights(loop, 2);
  const std::string whole = to_snapshot(folded(loop.shell->store(), loop.state()));
  loop.crash();
  const char* first_event = "UPDATE events SET payload = '{' || payload WHERE seq = 1";
  SECTION("the snapshot is what a restart begins with") {
    change(loop, first_event);
    CHECK(starts(loop));
  }
  SECTION("not that of another program") {
    loop.program = "another build";
    CHECK(starts(loop));
    change(loop, first_event);
    CHECK_FALSE(starts(loop));
  }
  SECTION("not a damaged one") {
    change(loop, "UPDATE snapshots SET payload = replace(payload, 'toy', 'toe')");
    loop.start();
    CHECK(to_snapshot(loop.state()) == whole);
    loop.crash();
    change(loop, first_event);
    change(loop, "UPDATE snapshots SET hash = 1");
    CHECK_FALSE(starts(loop));
  }
  SECTION("not one that is gone") {
    change(loop, "DELETE FROM snapshots");
    loop.start();
    CHECK(to_snapshot(loop.state()) == whole);
  }
}

}  // namespace orchestrator
