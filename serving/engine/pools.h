// Who holds which page and which state slot of the model. Bookkeeping only; a double release is a
// bug and stops the program.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "serving/model/model.h"

namespace serving {

// A page may be in the tables of several running sequences and be kept by the prefix tree; it is
// free once it is neither.
class PagePool {
 public:
  explicit PagePool(int pages);

  std::optional<PageId> take();  // a free page, used once, by the caller
  void use(PageId page);         // by one more sequence
  void unuse(PageId page);
  void keep(PageId page);  // by one more node of the tree
  void drop(PageId page);

  int size() const { return static_cast<int>(holds_.size()); }
  int free() const { return static_cast<int>(free_.size()); }
  int used() const { return used_; }  // by at least one sequence
  // What sequences could still get: free, or kept by the tree alone.
  int available() const { return size() - used_; }
  bool is_free(PageId page) const;

 private:
  struct Holds {
    int sequences = 0, nodes = 0;
  };
  Holds& at(PageId page);
  void free_if_unheld(PageId page);

  std::vector<Holds> holds_;
  std::vector<PageId> free_;  // the last is taken first: it is warm
  int used_ = 0;
};

// A slot belongs to one running sequence or to one checkpoint, never to two.
class SlotPool {
 public:
  explicit SlotPool(int slots);

  std::optional<SlotId> take();
  void give_back(SlotId slot);

  int size() const { return static_cast<int>(taken_.size()); }
  int free() const { return static_cast<int>(free_.size()); }
  bool is_free(SlotId slot) const { return !taken_.at(static_cast<std::size_t>(slot)); }

 private:
  std::vector<bool> taken_;
  std::vector<SlotId> free_;
};

}  // namespace serving
