// How SQLite answers each page: always by an index, never by reading a table from end to end.
#include <fmt/format.h>
#include <sqlite3.h>

#include <set>

#include "store/reader.h"
#include "store/rows.h"
#include "store/test_store.h"

using namespace store;

namespace {

// The statements that any connection opened meanwhile has run.
class Recorded {
 public:
  Recorded() {
    statements().clear();
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(trace));
  }
  ~Recorded() { sqlite3_cancel_auto_extension(reinterpret_cast<void (*)()>(trace)); }

  static std::set<std::string>& statements() {
    static std::set<std::string> all;
    return all;
  }

 private:
  static int trace(sqlite3* db, const char**, const void*) {
    return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, note, nullptr);
  }
  static int note(unsigned, void*, void* statement, void*) {
    statements().insert(sqlite3_sql(static_cast<sqlite3_stmt*>(statement)));
    return 0;
  }
};

void read_all_pages(const Reader& reader) {
  for (int filters = 0; filters < 16; ++filters) {
    HypothesisFilter filter;
    if (filters & 1) filter.campaign = {1};
    if (filters & 2) filter.night = {1};
    if (filters & 4) filter.verdict = hypotheses::Verdict::supported;
    if (filters & 8) filter.text = "wider";
    expect_ok(reader.hypotheses(filter, {}));
  }
  expect_ok(reader.hypothesis({1}));
  expect_ok(reader.nights({1}, {}));
  expect_ok(reader.night({1}));
  expect_ok(reader.experiments({1}, {}));
  expect_ok(reader.experiments_of(hypotheses::HypothesisId{1}));
  expect_ok(reader.experiments_of(hypotheses::MergeRequestId{1}));
  expect_ok(reader.experiment({1}));
  expect_ok(reader.runs({1}));
  expect_ok(reader.merges({}));
  expect_ok(reader.merge({1}));
  expect_ok(reader.planner_turns({1}));
  expect_ok(reader.journal(hypotheses::NightId{1}, "noted"));
  expect_ok(reader.journal(hypotheses::CampaignId{1}, "noted"));
  expect_ok(reader.measured({"m", {}}, hypotheses::Side::base, {}));
  expect_ok(reader.events_after(3, 10));
  expect_ok(reader.overview());
}

std::vector<std::string> plan_of(Connection& db, const std::string& sql) {
  return expect_ok(
      all_rows(db.query("EXPLAIN QUERY PLAN " + sql),
               [](const Statement& row) -> base::Result<std::string> { return row.string(3); }));
}

}  // namespace

TEST_CASE("no page query reads a table from end to end or sorts") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  {
    Recorded recorded;
    read_all_pages(expect_ok(Reader::open(folder.path())));
  }
  auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::read_only));
  int selects = 0;
  for (const auto& sql : Recorded::statements()) {
    // Ours alone: not the check of the version, nor what FTS5 asks of its own tables.
    if (!sql.starts_with("SELECT") || sql.find("sqlite_schema") != std::string::npos ||
        sql.find("'main'.") != std::string::npos) {
      continue;
    }
    ++selects;
    for (const auto& step : plan_of(db, sql)) {
      INFO(sql << "\n  " << step);
      bool full_text = step.find("VIRTUAL TABLE INDEX") != std::string::npos;
      CHECK((full_text || !step.starts_with("SCAN")));
      CHECK(step.find("TEMP B-TREE") == std::string::npos);
      CHECK(step.find("AUTOMATIC") == std::string::npos);
    }
  }
  CHECK(selects >= 30);
}
