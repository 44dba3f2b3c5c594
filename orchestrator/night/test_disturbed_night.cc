#include "orchestrator/night/test_disturbed_night.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <set>

#include "base/clock.h"
#include "store/reader.h"

namespace orchestrator {

namespace fs = std::filesystem;

namespace {

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

}  // namespace

pid_t start_child(const fs::path& state, const ToyTarget& target, const std::string& when,
                  int nth) {
  pid_t child = ::fork();
  if (child == 0) {
    // A SIGTERM before its first instruction waits until the daemon can answer it.
    sigset_t term;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    ::sigprocmask(SIG_BLOCK, &term, nullptr);
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
    // An A/A measurement whose runs were killed is made once more.
    if (e.hypothesis || e.merge) CHECK(asked.insert(what).second);
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
  CHECK(processes_of(state) == 0);
  CHECK_FALSE(lock_files_left(state));
}

void check_end(const fs::path& state, const EndState& undisturbed) {
  EndState end = read_end(state);
  CHECK(end.verdicts == undisturbed.verdicts);
  CHECK(end.merges == undisturbed.merges);
  check_record(state);
}

std::int64_t events_in(const fs::path& state) {
  if (!fs::exists(state / "nightshift.db")) return 0;
  auto reader = store::Reader::open(state);
  if (!reader) return 0;
  auto overview = reader->overview();
  return overview ? overview->events : 0;
}

std::unique_ptr<Undisturbed> live_undisturbed(double launch_s) {
  auto made = std::make_unique<Undisturbed>();
  auto target = make_toy_target(made->folder.path(), launch_s);
  REQUIRE(target);
  made->target = *target;
  base::SystemClock clock;
  double start = clock.monotonic_s();
  REQUIRE(wait_for(start_child(made->folder / "state", made->target)) == 0);
  made->wall_s = clock.monotonic_s() - start;
  made->end = read_end(made->folder / "state");
  return made;
}

const Undisturbed& undisturbed() {
  static const auto night = live_undisturbed(0);
  return *night;
}

}  // namespace orchestrator
