#include "store/store.h"

#include <sqlite3.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "hypotheses/json.h"
#include "store/reader.h"
#include "store/test_store.h"

using namespace store;

namespace {

std::vector<Event> all_events(const Store& store) {
  std::vector<Event> events;
  expect_ok(store.replay([&](const Event& event) {
    events.push_back(event);
    return base::Status();
  }));
  return events;
}

}  // namespace

TEST_CASE("every kind of fact comes back as it was recorded") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  auto store = expect_ok(Store::open(folder.path()));
  auto events = all_events(store);
  const auto story = sample::story();
  REQUIRE(events.size() == story.size());
  std::set<std::size_t> kinds;
  for (std::size_t i = 0; i < story.size(); ++i) {
    CHECK(events[i].seq == static_cast<std::int64_t>(i) + 1);
    CHECK(events[i].at.ms == 1'700'000'000'000 + static_cast<std::int64_t>(i / 5 * 5));
    CHECK(kind_of(events[i].fact) == kind_of(story[i]));
    CHECK(hypotheses::to_json(events[i].fact) == hypotheses::to_json(story[i]));
    kinds.insert(story[i].index());
  }
  CHECK(kinds.size() == std::variant_size_v<hypotheses::Fact>);
}

TEST_CASE("the sequence has no gaps, over failed commits and a new start") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    CHECK(store.last_seq() == 0);
    expect_ok(store.commit(note("first")));
    auto half_good = note("second");
    half_good.facts.push_back(hypotheses::HypothesisMoved{
        {99}, hypotheses::HypothesisState::cancelled, "nobody knows H-99"});
    auto error = expect_error(store.commit(half_good));
    CHECK_THAT(error.text(), Catch::Contains("H-99"));
    CHECK(store.last_seq() == 1);
    expect_ok(store.commit(note("third")));
  }
  auto store = expect_ok(Store::open(folder.path()));
  expect_ok(store.commit(note("fourth")));
  CHECK(store.last_seq() == 3);
  auto events = all_events(store);
  REQUIRE(events.size() == 3);
  CHECK(std::get<hypotheses::Noted>(events[1].fact).text == "third");
  CHECK(events[2].seq == 3);
}

TEST_CASE("an id that is used twice or was never recorded is refused, with all of its commit") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  const auto before = dump_tables(folder.path());
  const std::vector<hypotheses::Fact> wrong{
      hypotheses::CampaignCreated{sample::campaign(1)},
      hypotheses::NightStarted{sample::night(2, 42)},
      hypotheses::HypothesisOpened{sample::hypothesis(3, 42)},
      hypotheses::QuestionAnswered{{42}, {}},
      hypotheses::ExperimentStarted{sample::experiment(9, 42, 1)},
      hypotheses::ExperimentFinished{{42}, {}, 0},
      hypotheses::RunRecorded{sample::run(1, 1, 0, hypotheses::Side::base)},
      hypotheses::RunRecorded{sample::run(99, 42, 0, hypotheses::Side::base)},
      hypotheses::MergeChanged{{42}, hypotheses::MergeState::failed, "", {}, {}, "", "", ""},
      hypotheses::MergeAnswered{{42}, {}}};
  for (const auto& fact : wrong) {
    INFO(kind_of(fact));
    auto commit = note("goes with it");
    commit.facts.push_back(fact);
    commit.pending.push_back({{77}, "kind", "{}"});
    expect_error(store.commit(commit));
    CHECK(dump_tables(folder.path()) == before);
  }
  expect_ok(store.commit(note("still usable")));
}

TEST_CASE("a value that is not finite is refused with metric and run named") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  const auto before = dump_tables(folder.path());
  for (double value : {std::nan(""), std::numeric_limits<double>::infinity(),
                       -std::numeric_limits<double>::infinity()}) {
    auto run = sample::run(99, 2, 9, hypotheses::Side::base);
    run.observations[0].value = value;
    auto commit = note("goes with it");
    commit.facts.push_back(hypotheses::RunRecorded{run});
    auto error = expect_error(store.commit(commit));
    CHECK(error.code == base::ErrorCode::bad_input);
    CHECK_THAT(error.text(), Catch::Contains("R-99 of E-2") &&
                                 Catch::Contains("kda_decode.time{batch=1,len=64}"));
    auto answer = sample::answer(hypotheses::Question::own_metric, 2);
    answer.evidence->high = value;
    CHECK(expect_error(store.commit({{1}, {hypotheses::QuestionAnswered{{1}, answer}}, {}, {}}))
              .code == base::ErrorCode::bad_input);
  }
  CHECK(dump_tables(folder.path()) == before);
}

TEST_CASE("pending effects stay until they are done, also over a new start") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    expect_ok(
        store.commit({{1}, {}, {{{1}, "a", "{\"x\":1}"}, {{2}, "b", ""}, {{3}, "c", "{}"}}, {}}));
    expect_ok(store.commit({{1}, {}, {{{4}, "d", "{}"}}, {{2}, {99}, {4}}}));
    expect_error(store.commit({{1}, {}, {{{3}, "again", "{}"}}, {{1}}}));
  }
  auto outbox = expect_ok(expect_ok(Store::open(folder.path())).outbox());
  REQUIRE(outbox.size() == 2);
  CHECK(outbox[0].id.value == 1);
  CHECK(outbox[0].payload == "{\"x\":1}");
  CHECK(outbox[1].id.value == 3);
  CHECK(outbox[1].kind == "c");
}

TEST_CASE("an error of the visitor ends a replay and is returned") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  int seen = 0;
  auto error = expect_error(store.replay([&](const Event& event) -> base::Status {
    ++seen;
    if (event.seq == 3) return base::fail(base::ErrorCode::bug, "enough");
    return {};
  }));
  CHECK(error.message == "enough");
  CHECK(seen == 3);
  expect_ok(store.commit(note("the statement was given back")));
}

namespace {

struct Thrower : CommitObserver {
  bool before = false;
  std::vector<std::int64_t> seen;
  base::Status before_commit(std::int64_t nth, const Commit&) override {
    seen.push_back(nth);
    if (before) throw std::runtime_error("crash");
    return {};
  }
  void after_commit(std::int64_t nth, const Commit&) override {
    seen.push_back(-nth);
    if (!before) throw std::runtime_error("crash");
  }
};

}  // namespace

TEST_CASE("an observer that throws before the commit undoes it, after it does not") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  Thrower thrower;
  store.observe(&thrower);
  CHECK_THROWS(store.commit(note("kept")));
  CHECK(store.last_seq() == 1);
  thrower.before = true;
  CHECK_THROWS(store.commit(note("lost")));
  CHECK(store.last_seq() == 1);
  store.observe(nullptr);
  expect_ok(store.commit(note("next")));
  CHECK(all_events(store).size() == 2);
  CHECK(thrower.seen == std::vector<std::int64_t>{1, -1, 2});
}

TEST_CASE("an observer sees what is committed, and its error undoes it") {
  struct Full final : CommitObserver {
    bool full = true;
    std::vector<std::size_t> facts;
    base::Status before_commit(std::int64_t, const Commit&) override {
      if (full) return base::fail(base::ErrorCode::io, "no space left");
      return {};
    }
    void after_commit(std::int64_t, const Commit& commit) override {
      facts.push_back(commit.facts.size());
    }
  } observer;
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  store.observe(&observer);
  auto error = store.commit(note("lost"));
  REQUIRE_FALSE(error);
  CHECK(error.error().message == "no space left");
  CHECK(store.last_seq() == 0);
  observer.full = false;
  expect_ok(store.commit(note("kept")));
  CHECK(all_events(store).size() == 1);
  CHECK(observer.facts == std::vector<std::size_t>{1});
}

TEST_CASE("a backup is whole, opens by itself and never overwrites") {
  base::TempDir folder, elsewhere;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  const auto file = elsewhere / kDatabaseFile;
  expect_ok(store.backup_to(file));
  const auto at_backup = dump_tables(folder.path());
  expect_ok(store.commit(note("after the backup")));
  CHECK(std::distance(std::filesystem::directory_iterator(elsewhere.path()), {}) == 1);
  CHECK(dump_tables(elsewhere.path()) == at_backup);
  auto copy = expect_ok(Store::open(elsewhere.path()));
  CHECK(copy.last_seq() == store.last_seq() - 1);
  expect_ok(copy.commit(note("the copy lives")));

  CHECK(expect_error(store.backup_to(file)).code == base::ErrorCode::conflict);
  CHECK(expect_error(store.backup_to(elsewhere / "none" / "x.db")).code ==
        base::ErrorCode::not_found);
}
