// Deletes the files of old experiments (docs/policy.md, `retention`). What was recorded of them
// stays; only outputs, reports and logs go.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <stop_token>
#include <thread>

#include "base/clock.h"
#include "base/queue.h"
#include "base/result.h"
#include "hypotheses/ids.h"
#include "orchestrator/events.h"

namespace orchestrator {

struct Swept {
  int experiments = 0;  // whose files were deleted
  std::uintmax_t bytes = 0;
};

// Deletes what the policies of the campaigns no longer keep. Never the files of a night that runs,
// of a campaign's newest night, of a night one of whose merges may still be measured, approved or
// landed, nor a folder that no recorded experiment has. What was deleted, by campaign; asked to
// stop, it leaves the rest for the next time.
base::Result<std::map<hypotheses::CampaignId, Swept>> sweep_artifacts(
    const std::filesystem::path& state, base::Instant now, const std::stop_token& stop = {});

// Sweeps on a thread of its own: at its start, when it is woken and once a day.
class Sweeper {
 public:
  Sweeper(std::filesystem::path state, const base::Clock& clock,
          std::function<void(Remark)> remark);
  ~Sweeper();

  void wake() { wakes_.push(true); }

 private:
  void sweep(const std::stop_token& stop);

  const std::filesystem::path state_;
  const base::Clock& clock_;
  const std::function<void(Remark)> remark_;
  base::Queue<bool> wakes_;
  std::jthread thread_;
};

}  // namespace orchestrator
