// Another program that holds one moment of the database: the daemon works on, warns, and cuts its
// write-ahead log once the program lets go.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "orchestrator/test_loop.h"
#include "store/sqlite.h"

namespace orchestrator {
namespace {

// A process that reads one moment of the database until it is ended. It is begun before the loop
// opens the database, for no SQLite connection survives a fork.
class ForeignProgram {
 public:
  ForeignProgram() {
    REQUIRE(::pipe(commands_) == 0);
    REQUIRE(::pipe(answers_) == 0);
    child_ = ::fork();
    REQUIRE(child_ >= 0);
    if (child_ == 0) read_for_ever();
  }
  ~ForeignProgram() { end(); }

  void read(const std::string& file) {
    const std::string line = file + '\n';
    REQUIRE(::write(commands_[1], line.data(), line.size()) == static_cast<ssize_t>(line.size()));
    char byte = 0;
    REQUIRE(::read(answers_[0], &byte, 1) == 1);
  }
  void end() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }

 private:
  [[noreturn]] void read_for_ever() const {
    std::string file;
    for (char c = 0; ::read(commands_[0], &c, 1) == 1 && c != '\n';) file += c;
    auto db = store::Connection::open(file, store::Connection::Mode::read_only);
    if (!db) _exit(1);
    auto moment = store::Transaction::begin(*db, store::Transaction::Kind::read);
    if (!moment || !db->integer("SELECT count(*) FROM events")) _exit(2);
    if (::write(answers_[1], "x", 1) != 1) _exit(3);
    for (;;) ::pause();
  }
  int commands_[2] = {}, answers_[2] = {};
  pid_t child_ = 0;
};

}  // namespace

TEST_CASE("a foreign reader is warned of, work goes on, and the log is cut once it has gone") {
  ForeignProgram foreign;
  TestLoop loop(toy_world(3, true));
  foreign.read(loop.folder / store::kDatabaseFile);
  const hypotheses::CampaignId campaign = loop.campaign();
  for (int i = 0; i < 70; ++i) {
    loop.shell->post(Remark{campaign, std::string(1 << 20, 'x')});
  }
  std::stop_source never;
  auto until = [&](auto wanted) {
    return [&, wanted](const State&) {
      if (!wanted() && loop.shell->idle()) loop.shell->post(Tick{});
      return wanted();
    };
  };
  REQUIRE(
      loop.shell->run(never.get_token(), until([&] { return !loop.shell->warning().empty(); })));
  CHECK(loop.shell->store().wal_bytes() > store::kMostWalBytes);
  CHECK(loop.shell->trouble().empty());
  CHECK_THAT(loop.shell->warning(), Catch::Contains("another program") && Catch::Contains("fuser"));
  foreign.end();
  REQUIRE(loop.shell->run(never.get_token(), until([&] { return loop.shell->warning().empty(); })));
  CHECK(loop.shell->store().wal_bytes() <= store::kMostWalBytes);
  CHECK(loop.count("write-ahead log cannot be cut") == 1);
}

}  // namespace orchestrator
