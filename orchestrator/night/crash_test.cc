// kill -9 at any point: the daemon of a real night (real git, SQLite, processes) is ended at every
// commit of its loop, before and after, and at random times; the next one must end the same night.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>

#include "base/files.h"
#include "base/rng.h"
#include "orchestrator/night/toy_target.h"
#include "store/reader.h"

namespace orchestrator {
namespace {

namespace fs = std::filesystem;
constexpr int kCrashed = 99;

pid_t start_child(const fs::path& state, const ToyTarget& target, const std::string& when = "",
                  int nth = 0) {
  pid_t child = ::fork();
  if (child == 0) {
    std::string number = std::to_string(nth);
    if (when.empty()) {
      ::execl(NIGHT_CHILD, NIGHT_CHILD, state.c_str(), target.bare.c_str(), nullptr);
    } else {
      ::execl(NIGHT_CHILD, NIGHT_CHILD, state.c_str(), target.bare.c_str(), when.c_str(),
              number.c_str(), nullptr);
    }
    ::_exit(127);
  }
  return child;
}

int wait_for(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// What a night came to, as text that two nights can be compared by.
struct EndState {
  std::string verdicts;
  std::string merges;
  std::set<std::string> events;  // kind and sequence, to see that none is lost
};

EndState read_end(const fs::path& state) {
  EndState end;
  auto reader = store::Reader::open(state);
  REQUIRE(reader);
  auto hypotheses = reader->hypotheses({}, {{}, 500});
  REQUIRE(hypotheses);
  for (const auto& h : *hypotheses) {
    end.verdicts += h.id.text() + " " + h.claim + " " +
                    std::string(h.verdict ? to_text(*h.verdict) : "open") + "\n";
  }
  auto merges = reader->merges({{}, 500});
  REQUIRE(merges);
  for (const auto& m : *merges) {
    end.merges +=
        m.id.text() + " " + std::string(to_text(m.state)) + " " + m.hypothesis.text() + "\n";
  }
  return end;
}

// Nothing twice, nothing left over.
void check_record(const fs::path& state) {
  auto reader = store::Reader::open(state);
  REQUIRE(reader);
  std::set<std::string> asked;
  auto experiments = reader->experiments({1}, {{}, 500});
  REQUIRE(experiments);
  for (const auto& e : *experiments) {
    INFO(e.id.text());
    CHECK(e.state != hypotheses::ExperimentState::running);
    std::string what =
        e.hypothesis.text() + e.merge.text() + std::string(to_text(e.question)) + to_text(e.key);
    CHECK(asked.insert(what).second);
    std::set<std::string> launched;
    auto runs = reader->runs(e.id);
    REQUIRE(runs);
    for (const auto& run : *runs) {
      if (!run.measured) continue;
      CHECK(launched.insert(std::to_string(run.attempt) + std::string(to_text(run.side))).second);
    }
  }
  // The log is gap-free.
  auto events = reader->events_after(0, 100000);
  REQUIRE(events);
  std::int64_t seq = 0;
  for (const auto& event : *events) CHECK(event.seq == ++seq);
}

// Processes that still work for this state folder.
int processes_of(const fs::path& state) {
  int found = 0;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    auto text = base::read_file(entry.path() / "cmdline", 1 << 16);
    if (text && text->find(state.string()) != std::string::npos) ++found;
  }
  return found;
}

bool lock_files_left(const fs::path& state) {
  for (const auto& entry : fs::recursive_directory_iterator(state / "targets")) {
    if (entry.path().extension() == ".lock") return true;
  }
  return false;
}

void check_end(const fs::path& state, const EndState& undisturbed) {
  EndState end = read_end(state);
  CHECK(end.verdicts == undisturbed.verdicts);
  CHECK(end.merges == undisturbed.merges);
  check_record(state);
  CHECK(processes_of(state) == 0);
  CHECK_FALSE(lock_files_left(state));
}

std::int64_t events_in(const fs::path& state) {
  if (!fs::exists(state / "nightshift.db")) return 0;
  auto reader = store::Reader::open(state);
  if (!reader) return 0;
  auto overview = reader->overview();
  return overview ? overview->events : 0;
}

struct Undisturbed {
  base::TempDir folder;
  ToyTarget target;
  EndState end;
  double wall_s = 0;
};

const Undisturbed& undisturbed() {
  static Undisturbed* night = [] {
    auto* made = new Undisturbed;
    auto target = make_toy_target(made->folder.path());
    REQUIRE(target);
    made->target = *target;
    base::SystemClock clock;
    double start = clock.monotonic_s();
    REQUIRE(wait_for(start_child(made->folder / "state", made->target)) == 0);
    made->wall_s = clock.monotonic_s() - start;
    made->end = read_end(made->folder / "state");
    return made;
  }();
  return *night;
}

void crash_at_each_commit(const std::string& when) {
  const auto& night = undisturbed();
  int crashes = 0;
  for (int nth = 1;; ++nth) {
    base::TempDir folder;
    fs::path state = folder / "state";
    INFO("crash " << when << " commit " << nth);
    int code = wait_for(start_child(state, night.target, when, nth));
    if (code == 0) break;  // the night has fewer commits
    REQUIRE(code == kCrashed);
    ++crashes;
    std::int64_t recorded = events_in(state);
    REQUIRE(wait_for(start_child(state, night.target)) == 0);
    CHECK(events_in(state) >= recorded);
    check_end(state, night.end);
  }
  WARN(crashes << " crashes " << when << " a commit");
  CHECK(crashes > 20);
}

}  // namespace

TEST_CASE("an undisturbed night judges its hypotheses and leaves a merge waiting") {
  const auto& night = undisturbed();
  INFO(night.end.verdicts);
  CHECK(night.end.verdicts.find("supported") != std::string::npos);
  CHECK(night.end.merges ==
        "M-1 waiting " + night.end.merges.substr(std::string("M-1 waiting ").size()));
  check_end(night.folder / "state", night.end);
}

TEST_CASE("after a crash before any commit of the loop the next daemon ends the same night") {
  crash_at_each_commit("before");
}

TEST_CASE("after a crash behind any commit of the loop the next daemon ends the same night") {
  crash_at_each_commit("after");
}

TEST_CASE("after kill -9 at random times the next daemon ends the same night") {
  const auto& night = undisturbed();
  constexpr std::uint64_t kSeed = 20261201;
  base::Rng rng(kSeed);
  std::mutex mutex;
  std::condition_variable never;
  for (int round = 0; round < 5; ++round) {
    base::TempDir folder;
    fs::path state = folder / "state";
    int kills = 0;
    for (int i = 0; i < 6; ++i) {
      pid_t child = start_child(state, night.target);
      double wait_s = rng.uniform() * night.wall_s * 0.6;
      std::unique_lock lock(mutex);
      never.wait_for(lock, std::chrono::duration<double>(wait_s));
      ::kill(child, SIGKILL);
      if (wait_for(child) == 0) break;
      ++kills;
    }
    INFO("seed " << kSeed << ", round " << round << ", " << kills << " kills");
    REQUIRE(wait_for(start_child(state, night.target)) == 0);
    check_end(state, night.end);
    CHECK(kills > 0);
  }
}

}  // namespace orchestrator
