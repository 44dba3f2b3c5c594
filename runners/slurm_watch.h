// What to make of a Slurm job's states, seen one after the other: whether to go on waiting, to take
// its outcome, to submit it anew or to give up. No clock and no IO.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "base/result.h"
#include "runners/slurm_queue.h"

namespace runners {

struct SlurmPatience {
  double wall_s = 3600;   // on its node, see wall_limit_s()
  double stuck_s = 3600;  // held or impossible, or Slurm does not answer
  double wait_s = 0;      // in the queue; 0 = without end
  double grace_s = 20;    // until the files of a job that ended show up here
};

class SlurmWatch {
 public:
  struct Wait {};
  struct Take {};  // its outcome is there and counts
  struct Lost {    // nothing of it counts; worth another try
    std::string why;
  };
  using Step = std::variant<Wait, Take, Lost>;

  SlurmWatch(std::string key, SlurmPatience patience) : key_(std::move(key)), patience_(patience) {}

  // `finished`: the attempt's last file is there. An error is final: no further try would do
  // better.
  //   Slurm does not answer            wait; after stuck_s: unavailable
  //   it does not know the job         its outcome if there is one, else after grace_s: lost
  //   it started the job again         lost
  //   waiting, for what cannot come    wait; after stuck_s: unavailable
  //   waiting, for its turn            wait; after wait_s: unavailable
  //   running, for more than wall_s    lost
  //   OUT_OF_MEMORY                    refused, whatever it wrote: Slurm killed a part of it
  //   over, its outcome is there       that: the node writes it only when nothing cut it short
  //   COMPLETED without an outcome     lost after grace_s
  //   CANCELLED, TIMEOUT               refused, by a person or by the job's own request
  //   any other end                    lost
  base::Result<Step> see(const base::Result<std::optional<SlurmState>>& look, bool finished,
                         double now_s);

  bool runs() const { return running_since_.has_value(); }  // when it was last seen
  const std::string& waits_for() const { return waits_for_; }

 private:
  base::Result<Step> see_live(const SlurmState& job, double now_s);
  base::Result<Step> see_ended(const SlurmState& job, bool finished, double now_s);
  Step see_missing(bool finished, double now_s, const std::string& why);

  std::string key_;
  SlurmPatience patience_;
  std::optional<double> silent_since_, waiting_since_, stuck_since_, running_since_, ended_since_;
  std::string waits_for_;
};

}  // namespace runners
