// The whole program, put together: lock, store, runners, performer, loop and web server on one
// state folder (its layout: docs/state.md).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/lock_file.h"
#include "base/result.h"
#include "orchestrator/local_performer.h"
#include "orchestrator/retention.h"
#include "orchestrator/shell.h"
#include "runners/local_runner.h"
#include "runners/slurm_runner.h"
#include "web/api/server.h"

namespace orchestrator {

struct DaemonOptions {
  std::filesystem::path state;
  std::string host = "127.0.0.1";
  int port = 8700;  // 0 = any free one
  bool allow_remote = false;
  bool serve = true;       // false: no web server, for a command without a daemon
  bool run_nights = true;  // false: likewise; only the command's own work is done
  // The nightshift program, for the nodes of a Slurm cluster; empty = this program's own file.
  std::filesystem::path worker = {};
  store::CommitObserver* observer = nullptr;  // of tests
  // Called on the deciding thread after each commit.
  std::function<void(std::int64_t seq, const State&)> on_commit = {};
};

class Daemon {
 public:
  // Takes the state folder's lock. Errors: another daemon (names its pid), a port in use, a folder
  // that cannot be written, a corrupt store.
  static base::Result<std::unique_ptr<Daemon>> start(DaemonOptions options,
                                                     const base::Clock& clock);
  ~Daemon();

  // Decides until stopped or `done`.
  base::Status run(std::stop_token stop, const std::function<bool(const State&)>& done = {});

  Shell& shell() { return *shell_; }
  std::string url() const { return server_ ? server_->url() : ""; }

 private:
  Daemon(DaemonOptions options, const base::Clock& clock, base::LockFile lock);
  base::Status assemble();
  void make_runners();
  runners::Runner& runner_of(const std::string& rule, Lab::Where where);
  base::Status serve();
  void committed(std::int64_t seq, const State& state);

  DaemonOptions options_;
  const base::Clock& clock_;
  base::LockFile lock_;
  std::shared_ptr<runners::CorePool> cores_;
  std::shared_ptr<runners::GpuPool> gpus_;
  std::map<std::string, std::unique_ptr<runners::LocalRunner>> runners_;  // by sandbox rule
  std::map<std::string, std::unique_ptr<runners::SlurmRunner>> slurm_runners_;
  std::unique_ptr<LocalPerformer> performer_;
  std::unique_ptr<Shell> shell_;
  std::unique_ptr<web::Server> server_;
  std::unique_ptr<Sweeper> sweeper_;
  std::size_t running_nights_ = 0;  // at the last commit
};

// Where a daemon on this state folder can be reached; nothing when none runs.
struct DaemonAddress {
  std::string url;
  long pid = 0;
  std::string token;
};
std::optional<DaemonAddress> find_daemon(const std::filesystem::path& state);

// "$XDG_STATE_HOME/nightshift", else "~/.local/state/nightshift".
std::filesystem::path default_state_folder();

}  // namespace orchestrator
