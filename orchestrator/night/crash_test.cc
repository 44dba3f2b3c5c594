// kill -9 at any point: the daemon of a real night (real git, SQLite, processes) is ended at every
// commit of its loop, before and after; the next one must end the same night.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>

#include "orchestrator/night/test_disturbed_night.h"

namespace orchestrator {
namespace {

namespace fs = std::filesystem;

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

}  // namespace orchestrator
