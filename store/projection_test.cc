#include "store/projection.h"

#include "store/test_store.h"

using namespace store;

TEST_CASE("the tables can be rebuilt from the events, identical") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  const auto before = dump_tables(folder.path());
  auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
  expect_ok(db.script("PRAGMA foreign_keys = ON"));
  for (int i = 0; i < 2; ++i) {
    expect_ok(rebuild(db));
    CHECK(dump_tables(folder.path()) == before);
  }
  expect_ok(
      db.script("UPDATE hypotheses SET verdict = 'refuted'; UPDATE counters SET value = 7;"
                "DELETE FROM observations; DELETE FROM hypotheses_fts"));
  CHECK(dump_tables(folder.path()) != before);
  expect_ok(rebuild(db));
  CHECK(dump_tables(folder.path()) == before);
}

TEST_CASE("a rebuild that fails leaves the tables as they were") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
  expect_ok(db.script("UPDATE events SET payload = '{' WHERE seq = 9"));
  const auto before = dump_tables(folder.path());
  CHECK(expect_error(rebuild(db)).code == base::ErrorCode::corrupt);
  CHECK(dump_tables(folder.path()) == before);
}
