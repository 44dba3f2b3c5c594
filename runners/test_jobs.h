// Jobs for the tests of the runners.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "runners/local_runner.h"

namespace runners::testing {

// A job with one shell script, in folders that go away with it.
struct Workshop {
  base::TempDir folder;

  Workshop() {
    REQUIRE(base::ensure_folder(folder / "tree"));
    REQUIRE(base::ensure_folder(folder / "build"));
    REQUIRE(base::ensure_folder(folder / "log"));
  }

  // `name` runs /bin/sh with the script; it may write into folder/log.
  Launch script(std::string name, std::string text) const {
    Launch launch;
    launch.name = std::move(name);
    launch.argv = {"/bin/sh", "-c", std::move(text)};
    launch.tree = folder / "tree";
    launch.build = folder / "build";
    launch.writable = {folder / "log"};
    launch.limits.timeout_s = 20;
    return launch;
  }

  Job job(const std::string& key, std::vector<Launch> launches) const {
    Job job;
    job.key = key;
    job.artifacts = folder.path() / "artifacts" / key;
    job.launches = std::move(launches);
    return job;
  }

  std::string log(std::string_view name) const {
    return base::read_file(folder / "log" / name).value_or("");
  }
};

// What a launch does, said so that a shell and a script can both play it.
struct Act {
  std::string out = {}, err = {};
  int exit_code = 0;
  int signal = 0;
  bool for_ever = false;
  bool endless = false;  // prints without end
  bool missing = false;  // its program does not exist
};

// A subject of the runners' contract whose launches are shell scripts; it lacks the runner.
class ScriptSubject {
 public:
  const Workshop& workshop() const { return workshop_; }

  Launch launch(const std::string& name, const Act& act) {
    std::string script =
        "echo " + name + " >> " + (workshop_.folder / "log/launched").string() + ";";
    if (!act.out.empty()) script += "printf %s '" + act.out + "';";
    if (!act.err.empty()) script += "printf %s '" + act.err + "' >&2;";
    if (act.endless) script += "exec yes;";
    if (act.for_ever) script += "trap '' TERM INT HUP; while :; do sleep 1000; done;";
    if (act.signal != 0) script += "kill -" + std::to_string(act.signal) + " $$;";
    Launch launch = workshop_.script(name, script + "exit " + std::to_string(act.exit_code));
    if (act.missing) launch.argv = {"no-such-program"};
    return launch;
  }

  std::vector<std::string> launched() const {
    std::istringstream lines(workshop_.log("launched"));
    std::vector<std::string> names;
    for (std::string name; std::getline(lines, name);) names.push_back(name);
    return names;
  }

  // Requests a stop once this many launches have started.
  std::jthread stop_after(std::size_t count, std::stop_source& source) {
    return std::jthread([this, count, &source] {
      for (int i = 0; i < 10000 && launched().size() < count; ++i) base::wait_s(0.001);
      source.request_stop();
    });
  }

 private:
  Workshop workshop_;
};

inline base::SystemClock test_clock;

inline LocalRunner make_runner(SandboxRule rule) {
  return LocalRunner({rule, nullptr, "bwrap"}, test_clock);
}

inline std::string text_of(const std::filesystem::path& file) {
  return base::read_file(file).value_or("");
}

}  // namespace runners::testing
