#include "store/reader.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hypotheses/json.h"
#include "store/test_store.h"

using namespace store;
using hypotheses::to_json;

namespace {

struct StoryFolder {
  base::TempDir folder;
  Store store = expect_ok(Store::open(folder.path()));
  StoryFolder() { commit_story(store); }
  Reader reader() { return expect_ok(Reader::open(folder.path())); }
};

template <class T>
T expect_some(base::Result<std::optional<T>> result) {
  auto value = expect_ok(std::move(result));
  REQUIRE(value);
  return std::move(*value);
}

template <class T>
std::vector<std::int64_t> ids(const std::vector<T>& items) {
  std::vector<std::int64_t> values;
  for (const auto& item : items) values.push_back(item.id.value);
  return values;
}
using Ids = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("campaigns and nights are read as they stand now") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  auto campaign = sample::campaign(1);
  campaign.state = hypotheses::CampaignState::paused;
  CHECK(to_json(expect_some(reader.campaign({1}))) == to_json(campaign));
  CHECK(ids(expect_ok(reader.campaigns())) == Ids{1});

  auto night = sample::night(1, 1);
  night.state = hypotheses::NightState::ended;
  night.ended = {1'700'030'000'000};
  night.reason = "the deadline";
  CHECK(to_json(expect_some(reader.night({1}))) == to_json(night));
  CHECK(ids(expect_ok(reader.nights({1}, {}))) == Ids{1});
}

TEST_CASE("a hypothesis is read with what became of it") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  auto expected = sample::hypothesis(1, 1);
  expected.state = hypotheses::HypothesisState::decided;
  expected.why_taken = "the only one that waits";
  expected.candidate = {std::string(40, 'b')};
  expected.branch = "night/H-1";
  expected.paths = {"kernels/knobs.yaml", "kernels/x.h"};
  expected.verdict = hypotheses::Verdict::supported;
  expected.reason = "all questions answered";
  expected.answers = {
      {hypotheses::Question::builds, hypotheses::Verdict::supported, "it builds", {}, {1}},
      sample::answer(hypotheses::Question::own_metric, 2)};
  expected.evidence = expected.answers[1].evidence;
  expected.cost_s = 19 * 0.25;  // its build and 18 runs
  CHECK(to_json(expect_some(reader.hypothesis({1}))) == to_json(expected));

  auto cancelled = expect_some(reader.hypothesis({2}));
  CHECK(cancelled.state == hypotheses::HypothesisState::cancelled);
  CHECK(cancelled.reason == "the person changed his mind");
  CHECK_FALSE(cancelled.verdict);
}

TEST_CASE("experiments and runs are read with their answers and costs") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  auto expected = sample::experiment(2, 1, 1);
  expected.state = hypotheses::ExperimentState::finished;
  expected.answer = sample::answer(hypotheses::Question::own_metric, 2);
  expected.cost_s = 18 * 0.25;
  CHECK(to_json(expect_some(reader.experiment({2}))) == to_json(expected));
  CHECK(ids(expect_ok(reader.experiments_of(hypotheses::HypothesisId{1}))) == Ids{1, 2});
  CHECK(ids(expect_ok(reader.experiments_of(hypotheses::MergeRequestId{1}))) == Ids{3});
  CHECK(expect_some(reader.experiment({3})).state == hypotheses::ExperimentState::cancelled);

  auto runs = expect_ok(reader.runs({2}));
  REQUIRE(runs.size() == 18);
  CHECK(to_json(runs[3]) == to_json(sample::run(5, 2, 1, hypotheses::Side::candidate)));
}

TEST_CASE("a merge is read with the evidence of its newest commit only") {
  StoryFolder fixture;
  auto expected = sample::merge(1, 1, 1);
  expected.state = hypotheses::MergeState::landed;
  expected.base = {std::string(40, 'd')};
  expected.merged = {std::string(40, 'e')};
  expected.answers = {sample::answer(hypotheses::Question::own_metric, 3)};
  expected.known = "faster alone";
  expected.unknown = "engine";
  expected.approved_commit = {std::string(40, 'e')};
  expected.approved_by = "grace";
  expected.approved_at = {1'700'002'000'000};
  expected.landed_ref = "refs/heads/main";
  expected.remeasures = 1;
  auto reader = fixture.reader();
  CHECK(to_json(expect_some(reader.merge({1}))) == to_json(expected));
  CHECK(ids(expect_ok(reader.merges({}))) == Ids{1});
}

TEST_CASE("trends and the journal") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  hypotheses::MetricKey key{"kda_decode.time", {{"batch", "1"}, {"len", "64"}}};
  auto points = expect_ok(reader.measured(key, hypotheses::Side::base, {}));
  REQUIRE(points.size() == 9);
  CHECK(points[0].run.value == 18);
  CHECK(points[0].experiment.value == 2);
  CHECK(points[0].value == 1018);
  CHECK(points[0].unit == "ns");
  CHECK(expect_ok(reader.measured(key, hypotheses::Side::base, {points[0].run, 3})).size() == 3);
  CHECK(expect_ok(reader.measured({"kda_decode.time", {}}, hypotheses::Side::base, {})).empty());

  for (const char* kind :
       {"noise-measured", "proposal-refused", "incumbent-chosen", "planner-spoke"}) {
    INFO(kind);
    CHECK(expect_ok(reader.journal(hypotheses::NightId{1}, kind)).size() == 1);
  }
  auto notes = expect_ok(reader.journal(hypotheses::CampaignId{1}, "noted"));
  REQUIRE(notes.size() == 1);
  CHECK(std::get<hypotheses::Noted>(notes[0].fact).text == "restarted");
  CHECK(expect_ok(reader.journal(hypotheses::CampaignId{1}, "night-due")).size() == 1);
  auto turns = expect_ok(reader.planner_turns({1}));
  REQUIRE(turns.size() == 1);
  CHECK(turns[0].tokens == 1234);
}

TEST_CASE("unknown ids are nothing, not errors") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  CHECK_FALSE(expect_ok(reader.campaign({9})));
  CHECK_FALSE(expect_ok(reader.night({9})));
  CHECK_FALSE(expect_ok(reader.hypothesis({9})));
  CHECK_FALSE(expect_ok(reader.experiment({9})));
  CHECK_FALSE(expect_ok(reader.merge({9})));
  CHECK_FALSE(expect_ok(reader.hypothesis({})));
  CHECK(expect_ok(reader.runs({9})).empty());
  CHECK(expect_ok(reader.experiments_of(hypotheses::HypothesisId{9})).empty());
  CHECK(expect_ok(reader.nights({9}, {})).empty());
  CHECK(expect_ok(reader.planner_turns({9})).empty());
}

TEST_CASE("the overview counts without counting over") {
  StoryFolder fixture;
  auto overview = expect_ok(fixture.reader().overview());
  CHECK(overview.campaigns == 1);
  CHECK(overview.nights == 1);
  CHECK(overview.hypotheses == 2);
  CHECK(overview.experiments == 3);
  CHECK(overview.runs == 20);
  CHECK(overview.events == fixture.store.last_seq());
}

TEST_CASE("a live view resumes after the event that it saw last") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  const auto last = fixture.store.last_seq();
  CHECK(std::ssize(expect_ok(reader.events_after(0, 10'000))) == last);
  auto events = expect_ok(reader.events_after(3, 2));
  REQUIRE(events.size() == 2);
  CHECK(events[0].seq == 4);
  CHECK(expect_ok(reader.events_after(last, 10)).empty());
  expect_ok(fixture.store.commit(note("new")));
  CHECK(expect_ok(reader.events_after(last, 10)).size() == 1);
}

TEST_CASE("pages follow each other without gap or overlap, whatever is filtered") {
  StoryFolder fixture;
  Commit more{{1}, {}, {}, {}};
  for (int id = 3; id <= 40; ++id) {
    more.facts.push_back(hypotheses::HypothesisOpened{sample::hypothesis(id, id % 2)});
    if (id % 3 == 0) {
      more.facts.push_back(hypotheses::HypothesisDecided{
          {id}, hypotheses::Verdict::refuted, fmt::format("slower, as seen in trial {}", id), {}});
    }
  }
  expect_ok(fixture.store.commit(more));
  auto reader = fixture.reader();
  auto expected_ids = [](auto keep) {
    Ids expected;
    for (int id = 40; id >= 1; --id) {
      if (keep(id)) expected.push_back(id);
    }
    return expected;
  };
  auto paged = [&](const HypothesisFilter& filter) {
    Ids seen;
    Page<hypotheses::HypothesisId> page{{}, 7};
    for (;;) {
      auto items = expect_ok(reader.hypotheses(filter, page));
      if (items.empty()) return seen;
      for (auto id : ids(items)) seen.push_back(id);
      page.before = items.back().id;
    }
  };
  auto refuted = [](int id) { return id >= 3 && id % 3 == 0; };
  auto of_night = [](int id) { return id % 2 == 1 || id == 2; };
  const auto verdict = hypotheses::Verdict::refuted;
  CHECK(paged({}) == expected_ids([](int) { return true; }));
  CHECK(paged({{1}, {}, {}, ""}) == expected_ids([](int) { return true; }));
  CHECK(paged({{2}, {}, {}, ""}).empty());
  CHECK(paged({{}, {1}, {}, ""}) == expected_ids(of_night));
  CHECK(paged({{1}, {1}, {}, ""}) == expected_ids(of_night));
  CHECK(paged({{}, {}, verdict, ""}) == expected_ids(refuted));
  CHECK(paged({{1}, {}, verdict, ""}) == expected_ids(refuted));
  CHECK(paged({{1}, {1}, verdict, ""}) ==
        expected_ids([&](int id) { return refuted(id) && of_night(id); }));
  CHECK(paged({{1}, {1}, verdict, "trial slower"}) ==
        expected_ids([&](int id) { return refuted(id) && of_night(id); }));
  CHECK(paged({{}, {}, {}, "wider"}) == expected_ids([](int) { return true; }));
  CHECK(expect_ok(reader.hypotheses({}, {{}, 0})).size() == 1);
  CHECK(expect_ok(reader.hypotheses({}, {{}, 1 << 30})).size() == 40);
}

TEST_CASE("no text that a person types is an operator or an error") {
  StoryFolder fixture;
  auto reader = fixture.reader();
  auto found = [&](std::string text) {
    return ids(expect_ok(reader.hypotheses({{}, {}, {}, std::move(text)}, {})));
  };
  CHECK(found("wider") == Ids{2, 1});
  CHECK(found("WIDER v_tile") == Ids{2, 1});
  CHECK(found("wid") == Ids{2, 1});
  CHECK(found("straße") == Ids{2, 1});
  CHECK(found("questions") == Ids{1});  // in the reason of the verdict
  CHECK(found("changed mind") == Ids{2});
  CHECK(found("wider absent").empty());
  CHECK(found("wider OR absent").empty());
  CHECK(found("NOT wider").empty());
  for (std::string hostile : {"\"",          "\"\"",
                              "wider\"",     "\"wider",
                              "*",           "wid*",
                              "^wider",      "claim:wider",
                              "-wider",      "(",
                              "wider)",      "NEAR(wider, 2)",
                              "AND",         "wider AND",
                              "{claim} : x", "'; DROP TABLE events; --",
                              "\\",          "%",
                              "?1",          "\xff\xfe",
                              "\xe2\x82",    "日本語 テスト",
                              "🦉",        "a\tb\nc",
                              "+",           "col:\"x"}) {
    INFO(hostile);
    CHECK(reader.hypotheses({{}, {}, {}, hostile}, {}));
  }
  CHECK(found(std::string("wider\0 \" OR", 11)).empty());
  CHECK(found(std::string(100'000, 'x')).empty());
  std::string many;
  for (int i = 0; i < 10'000; ++i) many += "wider ";
  CHECK(found(many) == Ids{2, 1});
  CHECK(found("  \t ").empty());
}

TEST_CASE("a reader refuses what is not there or not ours") {
  base::TempDir folder;
  CHECK(expect_error(Reader::open(folder.path())).code == base::ErrorCode::not_found);
  expect_ok(base::write_file_atomically(folder / kDatabaseFile, std::string(5000, 'x')));
  CHECK(expect_error(Reader::open(folder.path())).code == base::ErrorCode::corrupt);
}
