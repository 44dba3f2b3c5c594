// Jobs for the tests of the runners.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

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

inline base::SystemClock test_clock;

inline LocalRunner make_runner(SandboxRule rule) {
  return LocalRunner({rule, nullptr, "bwrap"}, test_clock);
}

inline std::string text_of(const std::filesystem::path& file) {
  return base::read_file(file).value_or("");
}

}  // namespace runners::testing
