// A daemon of this process on a toy target, for tests of whole nights.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/files.h"
#include "orchestrator/daemon.h"
#include "orchestrator/night/toy_target.h"

namespace orchestrator {

struct ToyNight {
  base::TempDir folder;
  base::SystemClock clock;
  ToyTarget target;
  std::unique_ptr<Daemon> daemon;

  std::filesystem::path worker;  // for the nodes of a Slurm cluster

  ToyNight();  // makes the target; aborts when it cannot

  std::filesystem::path state() const { return folder.path() / "state"; }
  // Starts the daemon; the error where it does not start.
  base::Status start(bool serve = false);
  // Creates the campaign and its first night.
  base::Result<web::Reply> create(const std::string& more_policy, const std::string& planner = "");
  // Decides until `done`, at most `limit_s`; false when that passed first.
  bool run(const std::function<bool(const State&)>& done, double limit_s = 60);
  // Decides until the newest night is over.
  bool run_to_end(double limit_s = 60);

  const State& view() const { return daemon->shell().state(); }
  const hypotheses::Hypothesis* hypothesis(const std::string& claim_part) const;
  // The newest note that contains the text; empty when there is none.
  std::string note(const std::string& part) const;
};

bool night_over(const State& state);

// What `git -C repository ARGUMENTS` prints.
std::string git(const std::filesystem::path& repository, const std::string& arguments);

}  // namespace orchestrator
