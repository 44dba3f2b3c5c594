#include "runners/test_cluster.h"

#include <stdlib.h>

#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/clock.h"

namespace runners::testing {
namespace {

std::string output_of(const std::string& command, int* status = nullptr) {
  std::string text;
  FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char buffer[4096];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) text += buffer;
  const int end = ::pclose(pipe);
  if (status != nullptr) *status = end;
  return text;
}

}  // namespace

TestCluster::TestCluster(const std::string& arguments) {
  ::setenv("SLURM_CONF", (folder_ / "slurm.conf").c_str(), 1);
  int status = 0;
  const std::string told = output_of(script("start") + " " + arguments, &status);
  INFO(told);
  REQUIRE(status == 0);
}

// May be called when Catch is gone already, so it asserts nothing.
TestCluster::~TestCluster() { (void)!std::system(script("stop").c_str()); }

std::string TestCluster::script(const std::string& verb) const {
  return std::string(SLURM_CLUSTER) + " " + verb + " " + folder_.path().string();
}

void TestCluster::start_part(const std::string& part) const {
  output_of(script("start-part") + " " + part);
}
void TestCluster::stop_part(const std::string& part) const {
  output_of(script("stop-part") + " " + part);
}
void TestCluster::kill_part(const std::string& part) const {
  output_of(script("kill-part") + " " + part);
}

std::string TestCluster::shell(const std::string& command) const { return output_of(command); }

bool TestCluster::shows(const std::string& command, const std::string& wanted) const {
  for (int i = 0; i < 600; ++i) {
    if (shell(command).find(wanted) != std::string::npos) return true;
    base::wait_s(0.1);
  }
  return false;
}

SlurmRunnerOptions TestCluster::options() const {
  SlurmRunnerOptions options;
  options.sandbox = SandboxRule::automatic;
  options.worker = NIGHTSHIFT_PROGRAM;
  options.queue = std::make_shared<SlurmQueue>(0.2);
  options.grace_s = 2;
  return options;
}

}  // namespace runners::testing
