// What goes wrong around a night: each says what to do, and the state survives.
#include <sys/mount.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "orchestrator/night/run_night.h"

namespace orchestrator {
namespace {

namespace fs = std::filesystem;
using hypotheses::Verdict;

// Rewrites a file of the toy's sources and makes the target anew from them.
void change_target(ToyNight& night, const std::string& file, const std::string& from,
                   const std::string& to) {
  auto text = base::read_file(night.target.source / file);
  REQUIRE(text);
  auto at = text->find(from);
  REQUIRE(at != std::string::npos);
  text->replace(at, from.size(), to);
  REQUIRE(base::write_file_atomically(night.target.source / file, *text));
  git(night.folder.path(), "clone -q " + night.target.bare.string() + " edit");
  fs::copy_file(night.target.source / file, night.folder / "edit" / file,
                fs::copy_options::overwrite_existing);
  git(night.folder / "edit", "-c user.name=x -c user.email=x@y commit -q -am change");
  git(night.folder / "edit", "push -q origin HEAD:main");
}

bool opened_or_refused(const State& state) {
  return state.pending.empty() && (state.nights.empty() || night_over(state));
}

}  // namespace

TEST_CASE("a missing probe binary makes the night invalid, not the candidate refuted") {
  ToyNight night;
  change_target(night, "nightshift.yaml", "run: sh probes/count.sh {build}",
                "run: \"{build}/bin/no_such_program\"");
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\nevidence: {noise_pairs: 0}\n"));
  REQUIRE(night.run_to_end());
  REQUIRE(night.view().hypotheses.size() == 1);
  const auto& h = night.view().hypotheses.begin()->second;
  CHECK(h.verdict == Verdict::invalid);
  CHECK(h.reason.find("no_such_program") != std::string::npos);
}

TEST_CASE("with an A/A measurement such a night ends before anything is tried, and says why") {
  ToyNight night;
  change_target(night, "nightshift.yaml", "run: sh probes/count.sh {build}",
                "run: \"{build}/bin/no_such_program\"");
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\n"));
  REQUIRE(night.run_to_end());
  CHECK(night.view().hypotheses.empty());
  CHECK(night.view().nights.at({1}).night.reason.find("no_such_program") != std::string::npos);
}

TEST_CASE("a probe that prints no metric is refused by the metric's name") {
  ToyNight night;
  change_target(night, "probes/count.sh", "toy.cost", "toy.typo");
  REQUIRE(night.start());
  REQUIRE(night.create("max_hypotheses: 1\nevidence: {noise_pairs: 0}\n"));
  REQUIRE(night.run_to_end());
  const auto& h = night.view().hypotheses.begin()->second;
  CHECK(h.verdict == Verdict::invalid);
  CHECK(h.reason.find("toy.cost") != std::string::npos);
}

TEST_CASE("a manifest with five mistakes reports five, and no night starts") {
  ToyNight night;
  change_target(
      night, "nightshift.yaml", "  toy.count:\n    answers: counters\n    layer: kernel\n",
      "  toy.count:\n    answers: count\n    layer: kernels\n    speed: 3\n    speed: 4\n");
  change_target(night, "nightshift.yaml", "choices: [1, 2, 3]", "choices: [1]");
  REQUIRE(night.start());
  REQUIRE(night.create(""));
  REQUIRE(night.run(opened_or_refused));
  CHECK(night.view().nights.empty());
  std::string note = night.note("did not start");
  INFO(note);
  int mistakes = 0;
  for (auto at = note.find("nightshift.yaml:"); at != std::string::npos;
       at = note.find("nightshift.yaml:", at + 1)) {
    ++mistakes;
  }
  CHECK(mistakes == 5);
}

TEST_CASE("a repository without the base branch names the branches that it has") {
  ToyNight night;
  git(night.target.bare, "branch -m main trunk");
  REQUIRE(night.start());
  REQUIRE(night.create(""));
  REQUIRE(night.run(opened_or_refused));
  std::string note = night.note("did not start");
  INFO(note);
  CHECK(note.find("main") != std::string::npos);
  CHECK(note.find("trunk") != std::string::npos);
}

TEST_CASE("a second daemon on the same state folder is refused and names the first") {
  ToyNight night;
  REQUIRE(night.start());
  DaemonOptions options;
  options.state = night.state();
  options.serve = false;
  auto second = Daemon::start(std::move(options), night.clock);
  REQUIRE_FALSE(second);
  CHECK(second.error().code == base::ErrorCode::conflict);
  CHECK(second.error().text().find(std::to_string(::getpid())) != std::string::npos);
}

TEST_CASE("a port in use is refused, and the state folder is free again") {
  ToyNight first, second;
  REQUIRE(first.start(true));
  std::string url = first.daemon->url();
  DaemonOptions options;
  options.state = second.state();
  options.port = std::stoi(url.substr(url.rfind(':') + 1));
  auto refused = Daemon::start(std::move(options), second.clock);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().text().find("--port") != std::string::npos);
  REQUIRE(second.start(true));
}

TEST_CASE("a state folder on a read-only or a full disk is refused with what to do") {
  if (::geteuid() != 0) {
    WARN("skipped: mounting a small file system needs root");
    return;
  }
  base::TempDir folder;
  fs::path disk = folder / "disk";
  fs::create_directory(disk);
  if (::mount("none", disk.c_str(), "tmpfs", 0, "size=64k") != 0) {
    WARN("skipped: this container may not mount");
    return;
  }
  base::SystemClock clock;
  DaemonOptions options;
  options.state = disk / "state";
  options.serve = false;
  auto full = Daemon::start(options, clock);
  CHECK_FALSE(full);
  if (!full) {
    INFO(full.error().text());
    CHECK(full.error().text().find("space") != std::string::npos);
  }
  full = base::fail(base::ErrorCode::bug, "closed");  // whatever it holds open
  REQUIRE(::mount("none", disk.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k") == 0);
  auto read_only = Daemon::start(options, clock);
  CHECK_FALSE(read_only);
  if (!read_only) {
    INFO(read_only.error().text());
    CHECK(read_only.error().text().find("read-only") != std::string::npos);
  }
  ::umount(disk.c_str());
}

}  // namespace orchestrator
