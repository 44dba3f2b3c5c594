#include "runners/core_leases.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

namespace runners {

std::vector<int> CorePool::usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cores;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (CPU_ISSET(static_cast<unsigned>(core), &set)) cores.push_back(core);
    }
  }
  if (cores.empty()) cores.push_back(0);
  return cores;
}

CorePool::Lease::~Lease() {
  if (pool_ != nullptr) pool_->give_back(cores_);
}

base::Result<CorePool::Lease> CorePool::acquire(Purpose purpose, int cores, std::stop_token stop) {
  auto wanted = static_cast<std::size_t>(std::max(cores, 1));
  if (purpose == Purpose::measure && wanted > total_) {
    return base::fail(
        base::ErrorCode::refused,
        fmt::format("a measurement on {} cores cannot run on a machine with {}: lower "
                    "the probe's resources.cores",
                    wanted, total_));
  }
  std::unique_lock lock(mutex_);
  std::uint64_t ticket = next_ticket_++;
  waiting_.push_back(ticket);
  bool ready = changed_.wait(lock, stop, [&] {
    std::size_t needed = purpose == Purpose::measure ? wanted : 1;
    return waiting_.front() == ticket && free_.size() >= needed;
  });
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), ticket));
  changed_.notify_all();  // the next in line is now the first
  if (!ready) {
    return base::fail(base::ErrorCode::refused, "cancelled while it waited for free cores");
  }
  // A measurement takes the highest cores: the kernel's own work tends to sit on core 0.
  std::vector<int> taken;
  while (taken.size() < wanted && !free_.empty()) {
    auto core = purpose == Purpose::measure ? std::prev(free_.end()) : free_.begin();
    taken.push_back(*core);
    free_.erase(core);
  }
  std::sort(taken.begin(), taken.end());
  return Lease(this, std::move(taken));
}

void CorePool::give_back(const std::vector<int>& cores) {
  {
    std::lock_guard lock(mutex_);
    free_.insert(cores.begin(), cores.end());
  }
  changed_.notify_all();
}

}  // namespace runners
