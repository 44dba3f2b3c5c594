// One writer and any number of readers, in and between processes.
#include <atomic>
#include <filesystem>
#include <thread>

#include "store/reader.h"
#include "store/test_store.h"

using namespace store;

TEST_CASE("a long read neither blocks the writer nor sees what came later") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  const auto wal = folder / "nightshift.db-wal";
  std::uintmax_t grown = 0;
  {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::read_only));
    auto snapshot = expect_ok(Transaction::begin(db, Transaction::Kind::read));
    const auto then = expect_ok(db.integer("SELECT count(*) FROM events"));
    for (int i = 0; i < 500; ++i) expect_ok(store.commit(note(std::string(2000, 'x'))));
    CHECK(expect_ok(db.integer("SELECT count(*) FROM events")) == then);
    grown = std::filesystem::file_size(wal);
  }
  // The log grew while the reader held its snapshot; then it is used again from its beginning.
  CHECK(grown < 64u << 20);
  for (int i = 0; i < 500; ++i) expect_ok(store.commit(note(std::string(2000, 'x'))));
  INFO("WAL grew to " << grown << " bytes under the reader");
  CHECK(std::filesystem::file_size(wal) <= grown + (5u << 20));
}

TEST_CASE("readers in other threads see whole commits while the writer works") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  const auto base_runs = expect_ok(expect_ok(Reader::open(folder.path())).overview()).runs;
  std::string trouble;
  {
    std::jthread reading([&](std::stop_token stop) {
      auto reader = Reader::open(folder.path());
      while (reader && !stop.stop_requested()) {
        auto overview = reader->overview();
        if (!overview) trouble = overview.error().text();
        // 18 runs an experiment, in one commit: never a part of them.
        if (overview && (overview->runs - base_runs) % 18 != 0) trouble = "half a commit was seen";
        if (!trouble.empty()) return;
      }
      if (!reader) trouble = reader.error().text();
    });
    for (int i = 0; i < 200; ++i) {
      expect_ok(
          store.commit({{1}, sample::finished_experiment(100 + i, 1000 + 18 * i, 1, 1), {}, {}}));
    }
  }
  CHECK(trouble == "");
}

TEST_CASE("a backup from another thread is one moment, and commits go on meanwhile") {
  base::TempDir folder, elsewhere;
  auto store = expect_ok(Store::open(folder.path()));
  commit_story(store);
  std::atomic<bool> done = false;
  base::Status status;
  {
    std::jthread backing_up([&] {
      auto reader = Reader::open(folder.path());
      status = reader ? reader->backup_to(elsewhere / kDatabaseFile)
                      : base::Status(tl::unexpected(reader.error()));
      done = true;
    });
    for (int i = 0; i < 1000 && (i < 20 || !done); ++i) {
      expect_ok(
          store.commit({{1}, sample::finished_experiment(100 + i, 1000 + 18 * i, 1, 1), {}, {}}));
    }
  }
  expect_ok(status);
  auto copy = expect_ok(Store::open(elsewhere.path()));
  const auto story = std::ssize(sample::story());
  CHECK(copy.last_seq() >= story);
  CHECK((copy.last_seq() - story) % 20 == 0);
}

TEST_CASE("a lock held by another process is a clear error within the busy time") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  base::SystemClock clock;
  {
    auto other = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    auto held = expect_ok(Transaction::begin(other, Transaction::Kind::write));
    const double start = clock.monotonic_s();
    auto error = expect_error(store.commit(note("blocked")));
    CHECK(clock.monotonic_s() - start < 2 * kBusyMs / 1000.0);
    CHECK(error.code == base::ErrorCode::conflict);
    CHECK_THAT(error.text(), Catch::Contains("nightshift.db") && Catch::Contains("second daemon"));
  }
  expect_ok(store.commit(note("free again")));
  CHECK(store.last_seq() == 1);
}

TEST_CASE("a second writer is noticed by the first: its state no longer matches the log") {
  base::TempDir folder;
  auto first = expect_ok(Store::open(folder.path()));
  auto second = expect_ok(Store::open(folder.path()));
  expect_ok(second.commit(note("behind its back")));
  auto error = expect_error(first.commit(note("stale")));
  CHECK(error.code == base::ErrorCode::conflict);
  CHECK_THAT(error.text(), Catch::Contains("another process has written"));
  expect_ok(second.commit(note("goes on")));
  CHECK(second.last_seq() == 2);
}
