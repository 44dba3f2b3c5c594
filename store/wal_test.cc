// The write-ahead log beside readers: our own, who come and go, and another program's, who stays.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "store/reader.h"
#include "store/test_store.h"

using namespace store;

namespace {

// Another process that reads one moment of the database until it is released.
class ForeignReader {
 public:
  explicit ForeignReader(const std::filesystem::path& file) {
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) {
      auto db = Connection::open(file, Connection::Mode::read_only);
      if (!db) _exit(1);
      auto moment = Transaction::begin(*db, Transaction::Kind::read);
      if (!moment || !db->integer("SELECT count(*) FROM events")) _exit(2);
      if (::write(ready[1], "x", 1) != 1) _exit(3);
      for (;;) ::pause();
    }
    ::close(ready[1]);
    char byte = 0;
    REQUIRE(::read(ready[0], &byte, 1) == 1);
    ::close(ready[0]);
  }
  ~ForeignReader() { release(); }

  void release() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  pid_t child_ = 0;
};

constexpr std::size_t kMiB = 1 << 20;

}  // namespace

TEST_CASE("while another program holds one moment the log grows, and is cut once it lets go") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path(), base::Durability::fast));
  commit_story(store);
  ForeignReader foreign(folder / kDatabaseFile);
  for (int i = 0; i < 70; ++i) expect_ok(store.commit(note(std::string(kMiB, 'x'))));
  CHECK(store.wal_bytes() > kMostWalBytes);
  CHECK_FALSE(expect_ok(store.cut_wal()));
  foreign.release();
  CHECK(expect_ok(store.cut_wal()));
  CHECK(store.wal_bytes() == 0);
  expect_ok(store.commit(note("goes on")));
}

TEST_CASE("readers who follow each other without a pause do not let the log grow") {
  base::TempDir folder;
  auto store = expect_ok(Store::open(folder.path(), base::Durability::fast));
  commit_story(store);
  std::uintmax_t largest = 0;
  {
    auto read = [&](std::stop_token stop) {
      auto reader = Reader::open(folder.path());
      while (reader && !stop.stop_requested()) (void)reader->hypothesis({1});
    };
    std::jthread one(read), other(read);
    for (int i = 0; i < 200; ++i) {
      expect_ok(store.commit(note(std::string(kMiB, 'x'))));
      largest = std::max(largest, store.wal_bytes());
    }
  }
  CHECK(largest < kMostWalBytes);
}
