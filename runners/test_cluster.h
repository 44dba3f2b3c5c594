// A real Slurm cluster for tests, of two nodes on this machine (scripts/slurm_cluster.sh).
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "runners/slurm_runner.h"

namespace runners::testing {

class TestCluster {
 public:
  // Further arguments of the script's `start`. Fails the test when the cluster does not start.
  explicit TestCluster(const std::string& arguments = "");
  ~TestCluster();

  // munge, controller, n1 or n2.
  void start_part(const std::string& part) const;
  void stop_part(const std::string& part) const;
  void kill_part(const std::string& part) const;  // as a crash would

  // What the shell command prints, Slurm's commands meaning this cluster.
  std::string shell(const std::string& command) const;
  // Runs it until it prints this; false after 60 s.
  bool shows(const std::string& command, const std::string& wanted) const;

  // Looks at the queue five times a second.
  SlurmRunnerOptions options() const;

 private:
  std::string script(const std::string& verb) const;
  base::TempDir folder_;
};

}  // namespace runners::testing
