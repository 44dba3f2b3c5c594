// The process dies at every point at which it can: before a commit is durable, after it but before
// its effects are begun, and after they are begun but before anything comes back. And the disk
// fills up.
#include <sys/resource.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <iostream>

#include "orchestrator/test_loop.h"
#include "store/sqlite.h"

namespace orchestrator {
namespace {

using hypotheses::MergeState;

struct Undisturbed {
  std::vector<std::string> verdicts;
  int commits = 0;
};

// A night, and the landing of what it found: every kind of effect but the planner's.
void live(TestLoop& loop, bool approve) {
  if (loop.state().campaigns.empty()) loop.campaign();
  loop.run([&](const State& state) {
    bool waits = approve && !state.merges.empty() &&
                 state.merges.rbegin()->second.state == MergeState::waiting;
    if (waits) loop.give(web::Approve{state.merges.rbegin()->first, {}, "ann"});
    return false;
  });
}

Undisturbed undisturbed(const FakeWorld& world) {
  TestLoop loop(world);
  Undisturbed result;
  loop.on_commit = [&](const State&) { ++result.commits; };
  live(loop, true);
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.merge().state == MergeState::landed);
  result.verdicts = loop.verdicts();
  return result;
}

bool begins_with(const std::vector<std::string>& all, const std::vector<std::string>& start) {
  return start.size() <= all.size() && std::equal(start.begin(), start.end(), all.begin());
}

// The process ends in its commit; what the folder holds then must still be there at the end.
void survive(const FakeWorld& world, const Undisturbed& expected, store::CommitObserver& observer) {
  TestLoop loop(world);
  loop.crash();
  loop.start(&observer);
  bool crashed = false;
  try {
    live(loop, true);
  } catch (const Crash&) {
    crashed = true;
  }
  REQUIRE(crashed);
  loop.crash();
  loop.start();
  auto before = loop.events();
  live(loop, true);
  loop.run_to_end();
  expect_sound(loop);
  CHECK(begins_with(loop.events(), before));
  CHECK(loop.verdicts() == expected.verdicts);
  CHECK(loop.target.tip() == loop.merge().merged);
}

// Files of this process cannot grow beyond a page while it lives, as on a full disk.
class FullDisk {
 public:
  FullDisk() {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    rlimit small{4096, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace

TEST_CASE(
    "the process dies before or after any one commit: nothing is lost, nothing is done twice") {
  FakeWorld world = tile_world(1, true);
  Undisturbed expected = undisturbed(world);
  std::cout << "crashes at each of " << expected.commits << " commits\n";
  for (auto point : {CrashAt::Point::before, CrashAt::Point::after}) {
    for (int nth = 1; nth <= expected.commits; ++nth) {
      CAPTURE(nth, point == CrashAt::Point::before);
      CrashAt crash(nth, point);
      survive(world, expected, crash);
    }
  }
}

TEST_CASE("the process is stopped after any one commit, with its effects begun") {
  FakeWorld world = tile_world(1, true);
  Undisturbed expected = undisturbed(world);
  for (int nth = 1; nth <= expected.commits; nth += 2) {
    CAPTURE(nth);
    TestLoop loop(world);
    int commits = 0;
    loop.on_commit = [&](const State&) {
      if (++commits == nth) throw Crash{};
    };
    CHECK_THROWS_AS(live(loop, true), Crash);
    loop.crash();
    loop.on_commit = {};
    loop.start();
    live(loop, true);
    loop.run_to_end();
    expect_sound(loop);
    CHECK(loop.verdicts() == expected.verdicts);
  }
}

TEST_CASE("a process that dies at each of its commits still ends the night, on noisy worlds too") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    FakeWorld world = tile_world(seed, false);
    Undisturbed expected = undisturbed(world);
    TestLoop loop(world);
    int lives = 0;
    for (bool over = false; !over; ++lives) {
      REQUIRE(lives < 3 * expected.commits);
      // Two commits a life: the note of the restart, and one more.
      CrashAt crash(lives % 3 == 0 ? 2 : 3,
                    lives % 2 == 0 ? CrashAt::Point::after : CrashAt::Point::before);
      loop.crash();
      loop.start(&crash);
      try {
        live(loop, true);
        over = true;
      } catch (const Crash&) {
      }
    }
    loop.crash();
    loop.start();
    loop.run_to_end();
    expect_sound(loop);
    CHECK(lives > 20);
    CHECK(loop.verdicts() == expected.verdicts);
  }
}

TEST_CASE(
    "a restart while the planner is asked does not ask the same again, and its reserve counts") {
  TestLoop loop(toy_world(1, true));
  loop.campaign(
      "merge: {on_kernel_evidence: true}\n"
      "planner: {kind: llm, endpoint: \"http://localhost\", model: toy, answer_tokens: 700, "
      "patience: 3}\n");
  bool asked = loop.run([&](const State&) {
    return !loop.performer->idle() &&
           std::holds_alternative<PlannerOrder>(loop.performer->next().what);
  });
  REQUIRE(asked);
  loop.crash();
  loop.start();
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.count("the daemon was restarted while the planner was asked") == 1);
  CHECK(loop.state().nights.at({1}).spend.tokens == 3 * 700);  // an answer and two retries
}

TEST_CASE("a full disk loses nothing: the loop says so, waits, and goes on when there is room") {
  FakeWorld world = tile_world(1, true);
  Undisturbed expected = undisturbed(world);
  for (int at : {4, 9}) {
    CAPTURE(at);
    TestLoop loop(world);
    std::optional<FullDisk> disk;
    int steps = 0, troubled = 0;
    loop.campaign();
    loop.run([&](const State& state) {
      ++steps;
      if (steps == at) disk.emplace();
      if (disk && !loop.shell->trouble().empty() && ++troubled == 2) disk.reset();
      bool waits = !state.merges.empty() && state.merges.at({1}).state == MergeState::waiting;
      if (waits) loop.give(web::Approve{{1}, {}, "ann"});
      return false;
    });
    CHECK(troubled >= 2);
    CHECK(loop.shell->trouble().empty());
    loop.run_to_end();
    expect_sound(loop);
    CHECK(loop.verdicts() == expected.verdicts);
  }
}

TEST_CASE("a command on a full disk is answered with the reason and does nothing") {
  TestLoop loop(toy_world(1, true));
  auto campaign = loop.campaign(kToyPolicy, 1, "", false);
  {
    FullDisk disk;
    auto reply = loop.shell->execute(web::StartNight{campaign});
    REQUIRE_FALSE(reply);
    CHECK(reply.error().code == base::ErrorCode::io);
  }
  CHECK(loop.state().pending.empty());
  loop.give(web::StartNight{campaign});
  loop.run_to_end();
  expect_sound(loop);
  CHECK(loop.state().nights.size() == 1);
}

TEST_CASE("a store that can be neither written nor read for a while leaves no trace in the state") {
  TestLoop loop(tile_world(1, true));
  auto campaign = loop.campaign(kToyPolicy, 1, "", false);
  auto db =
      store::Connection::open(loop.folder / store::kDatabaseFile, store::Connection::Mode::create);
  REQUIRE(db);
  // Another program's event that nobody can read: commits fail, and so does reading what is there.
  std::int64_t seq = loop.shell->store().last_seq() + 1;
  REQUIRE(db->execute("INSERT INTO events (seq, at_ms, kind, payload) VALUES (?, 0, 'noted', '{')",
                      seq));
  web::SetCampaignState pause{campaign, hypotheses::CampaignState::paused, "work"};
  CHECK_FALSE(loop.shell->execute(pause));
  CHECK_FALSE(loop.shell->execute(pause));
  REQUIRE(db->execute("DELETE FROM events WHERE seq = ?", seq));
  CHECK(loop.give(pause).text.find("already") == std::string::npos);
  CHECK(loop.state().campaigns.at(campaign).campaign.state == hypotheses::CampaignState::paused);
  CHECK(loop.count("campaign-changed") == 1);
}

}  // namespace orchestrator
