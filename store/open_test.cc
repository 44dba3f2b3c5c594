// What can be wrong with a state folder: each is told apart, named, and has a way out.
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "hypotheses/json.h"
#include "store/projection.h"
#include "store/reader.h"
#include "store/schema.h"
#include "store/test_store.h"

using namespace store;
using Catch::Contains;

namespace {

void overwrite(const std::filesystem::path& file, std::streamoff at, const std::string& bytes) {
  std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
  stream.seekp(at);
  stream << bytes;
}

// Runs `body` in a child process, whose limits and mounts end with it; its result is the exit code.
template <class Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) _exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

constexpr int kNotPermitted = 77;

// Fills the store until it fails, then lets `relieve` make room; every number but 0 names what
// broke.
template <class Relieve>
int fill_and_go_on(const std::filesystem::path& folder, Relieve relieve) {
  auto store = Store::open(folder);
  if (!store) return 1;
  base::Status status;
  std::int64_t before = 0;
  for (int i = 0; status && i < 10'000; ++i) {
    before = store->last_seq();
    status = store->commit(note(std::string(50'000, 'x')));
  }
  if (status) return 2;
  if (status.error().code != base::ErrorCode::io) return 3;
  if (store->last_seq() != before) return 4;
  int seen = 0;
  if (!store->replay([&](const Event&) { return ++seen, base::Status(); })) return 5;
  if (seen != before) return 6;
  if (store->commit(note(std::string(5'000'000, 'x')))) return 7;
  relieve();
  if (!store->commit(note("room again"))) return 8;
  return store->last_seq() == before + 1 ? 0 : 9;
}

}  // namespace

TEST_CASE("a state folder is created with its parents") {
  base::TempDir folder;
  expect_ok(Store::open(folder / "a" / "b"));
  CHECK(std::filesystem::exists(folder / "a" / "b" / kDatabaseFile));
}

TEST_CASE("a file where the folder belongs") {
  base::TempDir folder;
  expect_ok(base::write_file_atomically(folder / "state", "a file"));
  auto error = expect_error(Store::open(folder / "state"));
  CHECK(error.code == base::ErrorCode::io);
  CHECK_THAT(error.text(), Contains("state"));
}

TEST_CASE("a folder where the database belongs") {
  base::TempDir folder;
  std::filesystem::create_directory(folder / kDatabaseFile);
  auto error = expect_error(Store::open(folder.path()));
  CHECK(error.code == base::ErrorCode::io);
  CHECK_THAT(error.text(), Contains(kDatabaseFile) && Contains("check that"));
}

TEST_CASE("a file that is no database is named and left alone") {
  base::TempDir folder;
  const std::string text(10'000, 'x');
  expect_ok(base::write_file_atomically(folder / kDatabaseFile, text));
  auto error = expect_error(Store::open(folder.path()));
  CHECK(error.code == base::ErrorCode::corrupt);
  CHECK_THAT(error.text(),
             Contains(kDatabaseFile) && Contains("restore a backup") && Contains("move"));
  CHECK(expect_ok(base::read_file(folder / kDatabaseFile)) == text);
}

TEST_CASE("another program's database is refused and left alone") {
  base::TempDir folder;
  {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    expect_ok(db.script("CREATE TABLE cookies (host TEXT)"));
  }
  const auto before = expect_ok(base::read_file(folder / kDatabaseFile));
  auto error = expect_error(Store::open(folder.path()));
  CHECK(error.code == base::ErrorCode::bad_input);
  CHECK_THAT(error.text(), Contains("another program"));
  CHECK(expect_ok(base::read_file(folder / kDatabaseFile)) == before);
}

TEST_CASE("a newer schema is refused by writer and reader") {
  base::TempDir folder;
  expect_ok(Store::open(folder.path()));
  {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    expect_ok(db.script(fmt::format("PRAGMA user_version = {}", kSchemaVersion + 1)));
  }
  auto error = expect_error(Store::open(folder.path()));
  CHECK(error.code == base::ErrorCode::refused);
  CHECK_THAT(error.text(), Contains(fmt::format("version {}", kSchemaVersion + 1)) &&
                               Contains("newer Nightshift"));
  CHECK(expect_error(Reader::open(folder.path())).code == base::ErrorCode::refused);
}

TEST_CASE("a damaged database is refused at once, with the way out") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  const auto size = std::filesystem::file_size(folder / kDatabaseFile);
  SECTION("pages overwritten") {
    for (std::uintmax_t at = 4096; at < size; at += 4096) {
      overwrite(folder / kDatabaseFile, static_cast<std::streamoff>(at), std::string(64, '\x5a'));
    }
  }
  SECTION("cut short") { std::filesystem::resize_file(folder / kDatabaseFile, size / 2); }
  auto error = expect_error(Store::open(folder.path()));
  CHECK(error.code == base::ErrorCode::corrupt);
  CHECK_THAT(error.text(), Contains(kDatabaseFile) && Contains("restore a backup"));
}

TEST_CASE("a start checks a large file in part, a reader the whole") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  auto damage = [&](const char* table) {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::read_only));
    const auto page =
        expect_ok(db.integer("SELECT rootpage FROM sqlite_schema WHERE name = ?", table));
    overwrite(folder / kDatabaseFile, 4096 * (page - 1), std::string(64, '\x5a'));
  };
  auto check_large = [&] {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::read_only));
    return check_at_start(db, 0);
  };
  auto check_whole = [&] { return expect_ok(Reader::open(folder.path())).check(); };
  expect_ok(check_large());
  expect_ok(check_whole());
  damage("observations");
  expect_ok(check_large());
  CHECK(expect_error(check_whole()).code == base::ErrorCode::corrupt);
  damage("answers");
  CHECK(expect_error(check_large()).code == base::ErrorCode::corrupt);
}

TEST_CASE("a page of zeros, or a file cut to its first page, is told with the way out") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  const auto file = folder / kDatabaseFile;
  SECTION("the root of an index") {
    std::int64_t page = 0;
    {
      auto db = expect_ok(Connection::open(file, Connection::Mode::read_only));
      page = expect_ok(
          db.integer("SELECT rootpage FROM sqlite_schema WHERE name = 'runs_of_experiment'"));
    }
    overwrite(file, 4096 * (page - 1), std::string(4096, '\0'));
  }
  SECTION("the first page alone is left") { std::filesystem::resize_file(file, 4096); }
  SECTION("the first page is gone") { overwrite(file, 0, std::string(4096, '\0')); }
  const auto error = expect_error(Store::open(folder.path()));
  CHECK(error.code == base::ErrorCode::corrupt);
  CHECK_THAT(error.text(), Contains("nightshift backup FILE") &&
                               Contains("cp FILE " + file.string()) && Contains("-wal"));
}

TEST_CASE("an index that does not fit its table is found by a whole check and by a backup") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    expect_ok(
        db.script("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                  "'CREATE INDEX runs_of_experiment ON runs (recorded, id)' "
                  "WHERE name = 'runs_of_experiment'"));
  }
  auto reader = expect_ok(Reader::open(folder.path()));
  CHECK(expect_error(reader.check()).code == base::ErrorCode::corrupt);
  CHECK(expect_error(reader.backup_to(folder / "copy.db")).code == base::ErrorCode::corrupt);
  CHECK_FALSE(std::filesystem::exists(folder / "copy.db"));
}

TEST_CASE("a backup in the place of a damaged database gives back what it held") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
    expect_ok(store.backup_to(folder / "backup"));
  }
  const auto before = dump_tables(folder.path());
  overwrite(folder / kDatabaseFile, 0, std::string(8192, '\x5a'));
  CHECK(expect_error(Store::open(folder.path())).code == base::ErrorCode::corrupt);
  // As the message says it.
  const std::string db = folder / kDatabaseFile;
  const std::string command = "mv " + db + " " + db + ".damaged; rm -f " + db + "-wal " + db +
                              "-shm; cp " + std::string(folder / "backup") + " " + db;
  REQUIRE(std::system(command.c_str()) == 0);
  auto store = expect_ok(Store::open(folder.path()));
  CHECK(dump_tables(folder.path()) == before);
  expect_ok(store.commit(note("goes on")));
}

TEST_CASE("an event log with a gap is no event log") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path()));
  for (int i = 0; i < 5; ++i) expect_ok(store.commit(note("x")));
  {
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    expect_ok(db.script(
        "PRAGMA foreign_keys = OFF; DELETE FROM journal; DELETE FROM events WHERE seq = 3"));
  }
  auto error = expect_error(store.replay([](const Event&) { return base::Status(); }));
  CHECK(error.code == base::ErrorCode::corrupt);
  CHECK_THAT(error.text(), Contains("event 4 where event 3 belongs"));
}

TEST_CASE("migrations keep the data, and a failing one changes nothing") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  const auto before = dump_tables(folder.path());
  auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
  const int next = kSchemaVersion + 1;
  std::vector<Migration> broken(migrations().begin(), migrations().end());
  std::vector<Migration> good = broken;
  broken.push_back({next, "ALTER TABLE runs ADD COLUMN host TEXT; UPDATE nonsense SET x = 1;"});
  good.push_back({next, "ALTER TABLE runs ADD COLUMN host TEXT DEFAULT 'h';"});
  auto error = expect_error(migrate(db, broken));
  CHECK_THAT(error.text(),
             Contains(fmt::format("schema version {}", next)) && Contains("as it was"));
  CHECK(dump_tables(folder.path()) == before);
  expect_ok(migrate(db, good));
  CHECK(expect_ok(db.integer("PRAGMA user_version")) == next);
  CHECK(expect_ok(db.integer("SELECT count(*) FROM runs WHERE host = 'h'")) == 20);
  expect_ok(migrate(db, good));
}

TEST_CASE("data of every earlier schema is taken over, whole") {
  for (int version = 1; version < kSchemaVersion; ++version) {
    INFO("schema version " << version);
    base::TempDir folder;
    {
      const auto file = fmt::format("{}/testdata/schema_{}.sql", STORE_SOURCE_DIR, version);
      auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
      expect_ok(db.script(expect_ok(base::read_file(file))));
    }
    const auto too_old = expect_error(Reader::open(folder.path()));
    CHECK_THAT(too_old.text(), Contains("start the daemon once"));
    auto store = expect_ok(Store::open(folder.path()));
    std::vector<hypotheses::Fact> facts;
    expect_ok(store.replay(
        [&](const Event& event) { return facts.push_back(event.fact), base::Status(); }));
    auto story = sample::story();
    std::erase_if(story, [](const auto& fact) {  // came later
      return std::holds_alternative<hypotheses::TargetFetched>(fact);
    });
    REQUIRE(facts.size() == story.size());
    for (std::size_t i = 0; i < story.size(); ++i) {
      CHECK(hypotheses::to_json_text(facts[i]) == hypotheses::to_json_text(story[i]));
    }
    auto reader = expect_ok(Reader::open(folder.path()));
    expect_ok(reader.check());
    CHECK(expect_ok(reader.overview()).runs == 20);
    CHECK(expect_ok(reader.hypotheses({{}, {}, {}, "wider"}, {})).size() == 2);
    CHECK(expect_ok(store.outbox()).size() == 2);
    const auto tables = dump_tables(folder.path());
    auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::create));
    CHECK(expect_ok(db.integer("PRAGMA user_version")) == kSchemaVersion);
    expect_ok(rebuild(db));
    CHECK(dump_tables(folder.path()) == tables);
    expect_ok(store.commit(note("goes on")));
  }
}

TEST_CASE("a store whose files may grow no more fails cleanly and goes on afterwards") {
  base::TempDir folder;
  CHECK(in_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          rlimit limit{};
          getrlimit(RLIMIT_FSIZE, &limit);
          rlimit small = limit;
          small.rlim_cur = 3u << 20;
          setrlimit(RLIMIT_FSIZE, &small);
          return fill_and_go_on(folder.path(), [&] { setrlimit(RLIMIT_FSIZE, &limit); });
        }) == 0);
  expect_ok(Store::open(folder.path()));
}

TEST_CASE("a full disk is named, and the store goes on when there is room") {
  base::TempDir folder;
  int result = in_child([&] {
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder.path().c_str(), "tmpfs", 0, "size=8m") != 0) {
      return kNotPermitted;
    }
    std::ofstream(folder / "ballast") << std::string(2 << 20, 'x');
    int filled =
        fill_and_go_on(folder / "state", [&] { std::filesystem::remove(folder / "ballast"); });
    if (filled != 0) return filled;
    std::filesystem::create_directory(folder / "full");
    std::ofstream(folder / "ballast") << std::string(8 << 20, 'x');
    auto error = Store::open(folder / "full");
    if (error) return 20;
    return error.error().text().find("no space left") == std::string::npos ? 21 : 0;
  });
  if (result == kNotPermitted) {
    WARN("not tested: this process may not mount a small disk");
    return;
  }
  CHECK(result == 0);
}

TEST_CASE("a read-only folder is named") {
  base::TempDir folder;
  {
    auto store = expect_ok(Store::open(folder.path()));
    commit_story(store);
  }
  int result = in_child([&] {
    const char* path = folder.path().c_str();
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount(path, path, nullptr, MS_BIND, nullptr) != 0 ||
        ::mount(path, path, nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) != 0) {
      return kNotPermitted;
    }
    auto store = Store::open(folder.path());
    if (store) return 1;
    if (store.error().code != base::ErrorCode::io) return 2;
    const auto text = store.error().text();
    bool named =
        text.find(folder.path()) != std::string::npos && text.find("ead-only") != std::string::npos;
    return named ? 0 : 3;
  });
  if (result == kNotPermitted) {
    WARN("not tested: this process may not mount a read-only folder");
    return;
  }
  CHECK(result == 0);
}
