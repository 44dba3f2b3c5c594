// Small ids in order of their last use. No allocation but for ids not seen before.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace serving {

class LruList {
 public:
  LruList() : links_{{0, 0}} {}

  bool contains(std::int32_t id) const {
    return at(id) < links_.size() && links_[at(id)].next != kApart;
  }

  // Puts the id at the newest end; it may be in the list already.
  void touch(std::int32_t id) {
    remove(id);
    if (at(id) >= links_.size()) links_.resize(at(id) + 1);
    const std::size_t newest = links_[kEnds].previous;
    links_[at(id)] = {newest, kEnds};
    links_[newest].next = links_[kEnds].previous = at(id);
    ++size_;
  }

  void remove(std::int32_t id) {
    if (!contains(id)) return;
    Link& link = links_[at(id)];
    links_[link.previous].next = link.next;
    links_[link.next].previous = link.previous;
    link = {};
    --size_;
  }

  std::optional<std::int32_t> oldest() const {
    if (size_ == 0) return {};
    return static_cast<std::int32_t>(links_[kEnds].next) - 1;
  }

  int size() const { return size_; }

 private:
  static constexpr std::size_t kEnds = 0;  // a ring through this link: its next is the oldest
  static constexpr std::size_t kApart = SIZE_MAX;
  struct Link {
    std::size_t previous = kApart, next = kApart;
  };
  static std::size_t at(std::int32_t id) { return static_cast<std::size_t>(id) + 1; }

  std::vector<Link> links_;
  int size_ = 0;
};

}  // namespace serving
