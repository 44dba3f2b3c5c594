// What a fold came to, kept beside the log: used only when it is whole.
#include "store/schema.h"
#include "store/test_store.h"

using namespace store;

TEST_CASE("a snapshot comes back as it was, and only the newest is kept") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    CHECK_FALSE(expect_ok(store.snapshot()));
    for (int i = 0; i < 3; ++i) expect_ok(store.commit(note("x")));
    expect_ok(store.save_snapshot({1, "program", "first"}));
    expect_ok(store.save_snapshot({3, "program", "a 'quote', \n a line"}));
  }
  auto store = expect_ok(Store::open(folder.path()));
  const auto kept = expect_ok(store.snapshot());
  REQUIRE(kept);
  CHECK(kept->seq == 3);
  CHECK(kept->program == "program");
  CHECK(kept->payload == "a 'quote', \n a line");
  auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::read_only));
  CHECK(expect_ok(db.integer("SELECT count(*) FROM snapshots")) == 1);
}

TEST_CASE("a snapshot that was tampered with is refused, whatever was changed of it") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  for (int i = 0; i < 3; ++i) expect_ok(store.commit(note("x")));
  expect_ok(store.save_snapshot({2, "program", "payload"}));
  for (const char* change : {"payload = 'paymoad'", "payload = payload || ' '", "seq = 1",
                             "program = 'another'", "hash = hash + 1", "seq = 4"}) {
    INFO(change);
    auto other = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    expect_ok(other.script(std::string("UPDATE snapshots SET ") + change));
    const auto error = expect_error(store.snapshot());
    CHECK(error.code == base::ErrorCode::corrupt);
    CHECK_THAT(error.text(), Catch::Contains("of no use"));
    expect_ok(store.save_snapshot({2, "program", "payload"}));
    CHECK(expect_ok(store.snapshot()));
  }
}

TEST_CASE("a replay goes on after an event") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  for (int i = 0; i < 5; ++i) expect_ok(store.commit(note(std::to_string(i))));
  std::vector<std::int64_t> seen;
  expect_ok(store.replay(
      [&](const Event& event) { return seen.push_back(event.seq), base::Status(); }, 3));
  CHECK(seen == std::vector<std::int64_t>{4, 5});
}
