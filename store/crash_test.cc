// kill -9 and loss of power at any point: all or nothing of each commit.
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "store/projection.h"
#include "store/test_store.h"

using namespace store;

namespace {

enum class Moment { before, after };

struct Crash : CommitObserver {
  Moment moment;
  std::int64_t at;
  Crash(Moment m, std::int64_t nth) : moment(m), at(nth) {}
  base::Status before_commit(std::int64_t nth, const Commit&) override {
    if (moment == Moment::before && nth == at) _exit(42);
    return {};
  }
  void after_commit(std::int64_t nth, const Commit&) override {
    if (moment == Moment::after && nth == at) _exit(42);
  }
};

// Runs the script in a child that dies at the given point of the given commit.
void crash_in_child(const std::filesystem::path& folder, Moment moment, std::int64_t nth) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    auto store = Store::open(folder);
    if (!store) _exit(1);
    Crash crash(moment, nth);
    store->observe(&crash);
    for (const auto& step : sample::script()) {
      if (!store->commit(step)) _exit(2);
    }
    _exit(3);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 42);
}

// After how many commits of the script the log has how many events.
std::vector<std::int64_t> boundaries() {
  std::vector<std::int64_t> seqs{0};
  for (const auto& step : sample::script()) seqs.push_back(seqs.back() + std::ssize(step.facts));
  return seqs;
}

// The tables after each number of commits, from none to all, without any crash.
std::vector<std::string> undisturbed() {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  std::vector<std::string> tables{dump_tables(folder.path())};
  for (const auto& step : sample::script()) {
    expect_ok(store.commit(step));
    tables.push_back(dump_tables(folder.path()));
  }
  return tables;
}

}  // namespace

TEST_CASE("after a crash before or after any commit all or nothing of it is there") {
  const auto script = sample::script();
  const auto expected = undisturbed();
  for (Moment moment : {Moment::before, Moment::after}) {
    for (std::size_t nth = 1; nth <= script.size(); ++nth) {
      INFO((moment == Moment::before ? "before" : "after") << " commit " << nth);
      base::TempDir folder;
      crash_in_child(folder.path(), moment, static_cast<std::int64_t>(nth));
      const std::size_t kept = moment == Moment::before ? nth - 1 : nth;
      auto store = expect_ok(Store::open(folder.path()));
      CHECK(store.last_seq() == boundaries()[kept]);
      CHECK(dump_tables(folder.path()) == expected[kept]);
      for (std::size_t i = kept; i < script.size(); ++i) expect_ok(store.commit(script[i]));
      CHECK(dump_tables(folder.path()) == expected.back());
    }
  }
}

TEST_CASE("whatever part of the write-ahead log reached the disk, whole commits come back") {
  const auto script = sample::script();
  base::TempDir folder;
  crash_in_child(folder.path(), Moment::after, static_cast<std::int64_t>(script.size()));
  const auto seqs = boundaries();
  const auto expected = undisturbed();
  const std::string wal = expect_ok(base::read_file(folder / "nightshift.db-wal"));
  const std::string db = expect_ok(base::read_file(folder / kDatabaseFile));
  std::set<std::int64_t> seen;
  for (std::size_t cut = 0; cut <= wal.size(); cut += 2 * 4120 + 517) {
    INFO("the log is cut at byte " << cut << " of " << wal.size());
    base::TempDir copy;
    expect_ok(base::write_file_atomically(copy / kDatabaseFile, db, base::Durability::fast));
    expect_ok(base::write_file_atomically(
        copy / "nightshift.db-wal", std::string_view(wal).substr(0, cut), base::Durability::fast));
    auto store = expect_ok(Store::open(copy.path()));
    auto at = std::find(seqs.begin(), seqs.end(), store.last_seq());
    REQUIRE(at != seqs.end());
    const auto kept = static_cast<std::size_t>(at - seqs.begin());
    if (seen.insert(store.last_seq()).second) {
      CHECK(dump_tables(copy.path()) == expected[kept]);
      for (std::size_t i = kept; i < script.size(); ++i) expect_ok(store.commit(script[i]));
    }
  }
  CHECK(seen.size() > 3);
}
