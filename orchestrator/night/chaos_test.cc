// Nights under random kills: of the daemon, by SIGKILL and SIGTERM, and of whatever it runs. A few
// in CI; `make chaos` sets NIGHTSHIFT_CHAOS_KILLS to 200 and more.
#include <signal.h>
#include <sys/wait.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <mutex>

#include "base/clock.h"
#include "base/process_list.h"
#include "base/rng.h"
#include "orchestrator/night/test_disturbed_night.h"
#include "store/reader.h"

namespace orchestrator {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSeed = 20261201;
constexpr int kDisturbances = 6;  // of one night, at most
constexpr double kSoon_s = 5;     // in which SIGTERM ends a daemon
// Of a build or a run: the undisturbed night then takes 10 to 15 s.
constexpr double kLaunch_s = 0.6;

int kills_wanted() {
  const char* set = std::getenv("NIGHTSHIFT_CHAOS_KILLS");
  return set != nullptr ? std::max(1, std::atoi(set)) : 20;
}

void pause_s(double seconds) {
  static std::mutex mutex;
  static std::condition_variable never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, std::chrono::duration<double>(seconds));
}

bool ended(pid_t child) {
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
  return info.si_pid == child;
}

struct Tally {
  int nights = 0, daemons = 0, terms = 0, jobs = 0;
  int kills() const { return daemons + terms + jobs; }
};

// One night that is disturbed a few times.
class ChaosNight {
 public:
  ChaosNight(base::Rng& rng, Tally& tally, const Undisturbed& calm)
      : rng_(rng), tally_(tally), calm_(calm), state_(folder_ / "state") {}

  void live() {
    pid_t child = start_child(state_, calm_.target);
    for (int i = 0; i < kDisturbances && child != 0; ++i) {
      pause_s(rng_.uniform() * calm_.wall_s * 0.5);
      if (ended(child)) break;
      child = disturb(child);
    }
    int code = wait_for(child);
    INFO("exit code of the last daemon " << code);
    REQUIRE(code == 0);
    ++tally_.nights;
    check();
  }

 private:
  // Returns the daemon that lives on: the same, or the next one.
  pid_t disturb(pid_t child) {
    const double what = rng_.uniform();
    if (what < 0.4) {
      auto jobs = base::descendants_of(child);
      if (jobs.empty()) return child;
      if (base::send_signal(jobs[rng_.below(jobs.size())], SIGKILL)) {
        ++tally_.jobs;
        job_killed_ = true;
      }
      return child;
    }
    const std::int64_t recorded = events_in(state_);
    if (what < 0.6) {
      terminate(child);
    } else {
      ::kill(child, SIGKILL);
      wait_for(child);
      ++tally_.daemons;
    }
    CHECK(events_in(state_) >= recorded);
    return start_child(state_, calm_.target);
  }

  void terminate(pid_t child) {
    base::SystemClock clock;
    const double begin_s = clock.monotonic_s();
    ::kill(child, SIGTERM);
    CHECK(wait_for(child) == 0);
    CHECK(clock.monotonic_s() - begin_s < kSoon_s);
    ++tally_.terms;
  }

  void check() const {
    check_record(state_);
    if (!job_killed_) return check_end(state_, calm_.end);
    // What a kill of a job broke is the machine's fault: nothing good is refuted for it, and
    // nothing that is no good is supported.
    auto reader = store::Reader::open(state_);
    REQUIRE(reader);
    auto hypotheses = reader->hypotheses({}, {{}, 500});
    REQUIRE(hypotheses);
    for (const auto& hypothesis : *hypotheses) {
      INFO(hypothesis.id.text() << " " << hypothesis.claim << ": " << hypothesis.reason);
      const auto known = calm_.end.verdicts.find(" " + hypothesis.claim + " ");
      if (known == std::string::npos || !hypothesis.verdict) continue;
      const auto line_end = calm_.end.verdicts.find('\n', known);
      const bool good = calm_.end.verdicts.substr(known, line_end - known).ends_with(" supported");
      if (good) {
        CHECK(*hypothesis.verdict != hypotheses::Verdict::refuted);
      } else {
        CHECK(*hypothesis.verdict != hypotheses::Verdict::supported);
      }
    }
  }

  base::Rng& rng_;
  Tally& tally_;
  const Undisturbed& calm_;
  base::TempDir folder_;
  fs::path state_;
  bool job_killed_ = false;
};

}  // namespace

TEST_CASE("nights under random kills lose nothing, do nothing twice and leave nothing behind") {
  std::cout << "seed " << kSeed << ", " << kills_wanted() << " kills\n";
  base::Rng rng(kSeed);
  Tally tally;
  const auto calm = live_undisturbed(kLaunch_s);
  std::cout << "the undisturbed night takes " << calm->wall_s << " s\n";
  while (tally.kills() < kills_wanted()) {
    INFO("after " << tally.nights << " nights and " << tally.kills() << " kills");
    ChaosNight(rng, tally, *calm).live();
  }
  std::cout << tally.nights << " nights; killed: daemons " << tally.daemons << ", with SIGTERM "
            << tally.terms << ", jobs " << tally.jobs << "\n";
}

}  // namespace orchestrator
