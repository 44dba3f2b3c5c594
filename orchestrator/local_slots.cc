#include "orchestrator/local_slots.h"

#include <fmt/format.h>

namespace orchestrator {

LocalSlots::Taken LocalSlots::take(const Wanted& wanted, const Holds& fits, const Holds& kept) {
  std::lock_guard lock(mutex_);
  std::string best;
  for (int i = 0; i < wanted.usual || best.empty(); ++i) {
    const std::string slot = fmt::format("{}-{}", wanted.kind, i);
    const Use& use = uses_[slot];
    if (use.holders > 0 && use.owner != wanted.owner) continue;
    if (fits(slot)) {
      best = slot;
      break;
    }
    if (kept(slot)) continue;
    if (best.empty() || use.last < uses_[best].last) best = slot;
  }
  return {best, hold(best, wanted.owner)};
}

LocalSlots::Hold LocalSlots::hold(const std::string& slot, hypotheses::ExperimentId owner) {
  Use& use = uses_[slot];
  use.owner = owner;
  use.last = ++count_;
  ++use.holders;
  return {nullptr, [this, slot](void*) {
            std::lock_guard guard(mutex_);
            --uses_[slot].holders;
          }};
}

bool LocalSlots::if_free(const std::string& slot, const std::function<void()>& action) {
  std::lock_guard lock(mutex_);
  if (uses_[slot].holders > 0) return false;
  action();
  return true;
}

}  // namespace orchestrator
