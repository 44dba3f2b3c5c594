#include "runners/sandbox.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace runners {
namespace {

Job job_for(Purpose purpose) {
  Job job;
  job.key = "E-1";
  job.purpose = purpose;
  job.artifacts = "/state/artifacts/E-1";
  return job;
}

Launch launch_in(const std::string& tree, const std::string& build) {
  Launch launch;
  launch.name = "a";
  launch.tree = tree;
  launch.build = build;
  return launch;
}

bool has(const std::vector<std::string>& options, std::vector<std::string> part) {
  return std::search(options.begin(), options.end(), part.begin(), part.end()) != options.end();
}

std::ptrdiff_t place(const std::vector<std::string>& options, const std::string& option) {
  return std::find(options.begin(), options.end(), option) - options.begin();
}

TEST_CASE("tree and build are writable in a build and read-only in a measurement") {
  auto launch = launch_in("/w/tree", "/w/build");
  auto build = sandbox_options(plan_sandbox(job_for(Purpose::build), launch, {}, {}));
  CHECK(has(build, {"--bind", "/w/tree", "/w/tree"}));
  CHECK(has(build, {"--bind", "/w/build", "/w/build"}));
  auto measure = sandbox_options(plan_sandbox(job_for(Purpose::measure), launch, {}, {}));
  CHECK(has(measure, {"--ro-bind", "/w/tree", "/w/tree"}));
  CHECK(has(measure, {"--ro-bind", "/w/build", "/w/build"}));
  CHECK(
      has(measure, {"--bind", "/state/artifacts/E-1/a.scratch", "/state/artifacts/E-1/a.scratch"}));
  CHECK(has(measure, {"--chdir", "/w/tree"}));
}

TEST_CASE("everything is unshared and nothing is kept") {
  auto options =
      sandbox_options(plan_sandbox(job_for(Purpose::measure), launch_in("/w", ""), {}, {}));
  for (auto option : {"--die-with-parent", "--new-session", "--unshare-user", "--unshare-pid",
                      "--unshare-net", "--unshare-ipc", "--unshare-uts", "--clearenv"}) {
    INFO(option);
    CHECK(has(options, {option}));
  }
  CHECK(has(options, {"--cap-drop", "ALL"}));
  CHECK_FALSE(has(options, {"/etc/shadow"}));
  CHECK_FALSE(has(options, {"--ro-bind", "/", "/"}));
}

TEST_CASE("an inner path keeps its own rule, whatever the order in which it was named") {
  auto launch = launch_in("/w/tree", "/w/tree/build");
  launch.readable = {"/w"};
  launch.writable = {"/w/tree/build"};
  auto options = sandbox_options(plan_sandbox(job_for(Purpose::measure), launch, {}, {}));
  CHECK(place(options, "/w") < place(options, "/w/tree"));
  CHECK(place(options, "/w/tree") < place(options, "/w/tree/build"));
  // Of the two rules for the build folder the writable one comes last and so counts.
  auto last = std::find(options.rbegin(), options.rend(), "/w/tree/build");
  CHECK(*(last + 2) == "--bind");
}

TEST_CASE("GPU devices are there for jobs with GPUs only, and as devices") {
  auto launch = launch_in("/w", "");
  auto job = job_for(Purpose::measure);
  CHECK_FALSE(
      has(sandbox_options(plan_sandbox(job, launch, {}, {"/dev/nvidia0"})), {"/dev/nvidia0"}));
  job.gpus = 1;
  CHECK(has(sandbox_options(plan_sandbox(job, launch, {}, {"/dev/nvidia0"})),
            {"--dev-bind", "/dev/nvidia0", "/dev/nvidia0"}));
}

TEST_CASE("the advice fits the message") {
  CHECK(sandbox_advice("bwrap: Can't mount proc on /newroot/proc: Operation not permitted")
            .find("systempaths=unconfined") != std::string::npos);
  CHECK(
      sandbox_advice("bwrap: setting up uid map: Permission denied").find("max_user_namespaces") !=
      std::string::npos);
  CHECK(sandbox_advice("strange").find("by hand") != std::string::npos);
}

TEST_CASE("bubblewrap that is not installed is named") {
  Launcher launcher;
  auto state = probe_sandbox("no-such-bwrap", launcher);
  CHECK_FALSE(state.works);
  CHECK(state.why.find("apt-get install bubblewrap") != std::string::npos);
}

}  // namespace
}  // namespace runners
