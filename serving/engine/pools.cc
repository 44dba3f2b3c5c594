#include "serving/engine/pools.h"

#include <cassert>

namespace serving {

PagePool::PagePool(int pages) : holds_(static_cast<std::size_t>(pages)) {
  for (PageId page = pages; page-- > 0;) free_.push_back(page);
}

std::optional<PageId> PagePool::take() {
  if (free_.empty()) return {};
  const PageId page = free_.back();
  free_.pop_back();
  use(page);
  return page;
}

void PagePool::use(PageId page) {
  if (at(page).sequences++ == 0) ++used_;
}

void PagePool::unuse(PageId page) {
  assert(at(page).sequences > 0);
  if (--at(page).sequences == 0) --used_;
  free_if_unheld(page);
}

void PagePool::keep(PageId page) {
  assert(!is_free(page));
  ++at(page).nodes;
}

void PagePool::drop(PageId page) {
  assert(at(page).nodes > 0);
  --at(page).nodes;
  free_if_unheld(page);
}

bool PagePool::is_free(PageId page) const {
  const Holds& holds = holds_.at(static_cast<std::size_t>(page));
  return holds.sequences == 0 && holds.nodes == 0;
}

PagePool::Holds& PagePool::at(PageId page) { return holds_.at(static_cast<std::size_t>(page)); }

void PagePool::free_if_unheld(PageId page) {
  if (is_free(page)) free_.push_back(page);
}

SlotPool::SlotPool(int slots) : taken_(static_cast<std::size_t>(slots), false) {
  for (SlotId slot = slots; slot-- > 0;) free_.push_back(slot);
}

std::optional<SlotId> SlotPool::take() {
  if (free_.empty()) return {};
  const SlotId slot = free_.back();
  free_.pop_back();
  taken_[static_cast<std::size_t>(slot)] = true;
  return slot;
}

void SlotPool::give_back(SlotId slot) {
  assert(!is_free(slot));
  taken_[static_cast<std::size_t>(slot)] = false;
  free_.push_back(slot);
}

}  // namespace serving
