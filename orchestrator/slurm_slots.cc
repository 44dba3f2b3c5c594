#include "orchestrator/slurm_slots.h"

#include <algorithm>

#include "base/log.h"

namespace orchestrator {

SlurmSlots::Hold SlurmSlots::hold(store::git::WorktreePool& pool, const std::string& slot) {
  std::vector<std::pair<std::int64_t, std::string>> idle;
  std::vector<std::string> slots = pool.slots();
  std::lock_guard lock(mutex_);
  const auto mine = std::pair<const void*, std::string>(&pool, slot);
  ++uses_[mine].holders;
  for (const std::string& other : slots) {
    if (!other.starts_with(kPrefix)) continue;
    const Use& use = uses_[{&pool, other}];
    if (use.holders == 0) idle.emplace_back(use.last, other);
  }
  std::sort(idle.begin(), idle.end());
  const auto surplus = static_cast<std::ptrdiff_t>(idle.size()) - keep_;
  for (std::ptrdiff_t i = 0; i < surplus; ++i) {
    const std::string& name = idle[static_cast<std::size_t>(i)].second;
    if (auto removed = pool.remove(name); !removed) {
      base::log_warning("a workspace cannot be removed: " + removed.error().text());
    }
    uses_.erase({&pool, name});
  }
  return {nullptr, [this, mine](void*) {
            std::lock_guard guard(mutex_);
            Use& use = uses_[mine];
            --use.holders;
            use.last = ++count_;
          }};
}

}  // namespace orchestrator
