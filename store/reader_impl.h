// What the reader's files share.
#pragma once

#include <algorithm>
#include <limits>

#include "store/event_log.h"
#include "store/reader.h"
#include "store/rows.h"

namespace store {

struct Reader::Impl {
  Connection db;
};

inline constexpr int kPageLimit = 500;
inline constexpr int kEventLimit = 10'000;

// The id below which a page starts, and how many it holds.
template <class Id>
std::int64_t upper_end(const Page<Id>& page) {
  return page.before ? page.before.value : std::numeric_limits<std::int64_t>::max();
}
template <class Id>
int page_size(const Page<Id>& page) {
  return std::clamp(page.limit, 1, kPageLimit);
}

}  // namespace store
