// The runners' contract, held by the Slurm runner on a real cluster.
#include "runners/slurm_runner.h"
#include "runners/test_cluster.h"
#include "runners/test_jobs.h"

namespace runners {
namespace {

// One cluster for all cases of this process.
const testing::TestCluster& cluster() {
  static const testing::TestCluster kCluster;
  return kCluster;
}

class OnSlurm : public testing::ScriptSubject {
 public:
  Runner& runner() { return runner_; }

 private:
  base::SystemClock clock_;
  SlurmRunner runner_ = SlurmRunner(cluster().options(), clock_);
};

}  // namespace
}  // namespace runners

#define RUNNER_SUBJECTS OnSlurm
#include "runners/runner_contract.h"
