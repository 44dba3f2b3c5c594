// The imperative shell: takes one event, decides, commits facts and pending effects in one
// transaction, then has the effects performed. One thread decides; all others only post.
#pragma once

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>

#include "base/build_id.h"
#include "base/clock.h"
#include "base/queue.h"
#include "base/result.h"
#include "orchestrator/decide.h"
#include "orchestrator/orders.h"
#include "orchestrator/state.h"
#include "store/store.h"
#include "web/api/ports.h"

namespace orchestrator {

struct ShellOptions {
  // False for a command without a daemon: nights stay as they are, only what the command itself
  // started is carried through.
  bool run_nights = true;
  // Called on the deciding thread after each commit, with the newest sequence number.
  std::function<void(std::int64_t seq, const State&)> on_commit = {};
  double retry_s = 1;  // after the store could not be written
  // The state is kept as a snapshot after so many events; a restart begins with it, where the same
  // program wrote it. No name of the program, no snapshots.
  std::int64_t snapshot_every = 10'000;
  std::string program = base::build_id();
};

class Shell final : public web::CommandInbox {
 public:
  // Folds the store's log into the state, from its newest snapshot on, and takes over its outbox.
  static base::Result<std::unique_ptr<Shell>> open(store::Store store, const base::Clock& clock,
                                                   Performer& performer, ShellOptions options);
  ~Shell() override;

  // Decides until stopped or until `done` says so (asked after every step).
  base::Status run(std::stop_token stop, const std::function<bool(const State&)>& done = {});

  // One command, on the caller's thread, while run() does not run.
  base::Result<web::Reply> execute(web::Command command);

  // Thread-safe: from worker threads and servers.
  void post(Event event);
  base::Result<web::Reply> submit(web::Command command) override;

  // Nothing was posted that is not decided on yet. Thread-safe.
  bool idle() const { return inbox_.empty(); }

  // Why nothing can be recorded at present (disk full, read-only); empty when all is well.
  // Thread-safe.
  std::string trouble() const;

  // What is wrong although work goes on: a foreign reader that lets the write-ahead log grow. Empty
  // when all is well. Thread-safe.
  std::string warning() const;

  // Decisions that could not be applied to the state, each a bug. Only on the thread that runs the
  // loop, or before and after run(); likewise what follows.
  int dropped() const { return dropped_; }
  const State& state() const { return state_; }
  store::Store& store() { return store_; }

 private:
  struct Item {
    Event event;
    std::shared_ptr<std::promise<base::Result<web::Reply>>> reply;  // of a command
  };

  Shell(store::Store store, const base::Clock& clock, Performer& performer, ShellOptions options);
  base::Status load();
  std::optional<State> recall();  // the snapshot and what was recorded since, where that can be had
  void keep_snapshot();           // when it is time
  base::Status reload();          // after a commit that failed: back to what the store holds
  base::Status step(const Item& item);
  base::Status settle();  // Advance until nothing changes
  base::Status carry_out(Decision decision, const Item& item);
  void dispatch(const Effect& effect);
  void dispatch_pending();
  void set_trouble(std::string text);
  base::Status watch_wal();

  store::Store store_;
  const base::Clock& clock_;
  Performer& performer_;
  ShellOptions options_;
  State state_;
  bool stale_ = false;  // the state is ahead of the store, which could not even be read
  int dropped_ = 0;
  std::int64_t snapshot_seq_ = 0;  // of the newest snapshot that was kept, or tried to be
  std::set<hypotheses::EffectId> dispatched_;  // given to the performer by this process
  base::Queue<Item> inbox_;
  std::atomic<bool> running_ = false;

  mutable std::mutex trouble_mutex_;
  std::string trouble_, warning_;  // guarded by trouble_mutex_
};

}  // namespace orchestrator
