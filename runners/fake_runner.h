// A runner without processes: what a launch would have done is told by a script. For the simulator
// and for tests of what stands above the runners; it keeps the whole contract of `Runner`.
#pragma once

#include <functional>
#include <mutex>
#include <set>

#include "base/files.h"
#include "runners/runner.h"

namespace runners {

// What one launch does. Its time limit, output bound and a stop request still apply to it.
struct FakeLaunch {
  Ending ending = Ending::exited;
  int exit_code = 0;
  int signal = 0;
  std::string detail;
  std::string out, err;
  double wall_s = 0.01;
};

class FakeRunner final : public Runner {
 public:
  using Script = std::function<FakeLaunch(const Job&, const Launch&)>;

  // The clock must outlive it. The script may move it; it may also request a stop.
  FakeRunner(Script script, const base::Clock& clock,
             base::Durability durability = base::Durability::fast)
      : script_(std::move(script)), clock_(clock), durability_(durability) {}

  base::Result<JobReport> run(const Job& job, std::stop_token stop) override;
  std::string machine() const override { return "fake (no processor, 1 core)"; }

  // "key: name" of every launch that the script was asked for, in order.
  std::vector<std::string> launched() const;

 private:
  base::Result<LaunchReport> launch(const Job& job, const Launch& launch, std::stop_token stop);

  Script script_;
  const base::Clock& clock_;
  base::Durability durability_;
  mutable std::mutex mutex_;
  std::vector<std::string> launched_;  // guarded by mutex_
};

}  // namespace runners
