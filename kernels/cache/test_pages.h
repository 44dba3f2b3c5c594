// A paged cache with its memory, for checks and benchmarks: pages in random order, everything that
// was not written a NaN.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/cache/cache.h"
#include "kernels/lab/check.h"

namespace kernels::cache {

struct TestPages {
  // Room for `positions`, in pages that no other sequence shares; some pages are never used.
  TestPages(Random& random, DType type, Order order, int page_tokens, int heads, int dim,
            int positions) {
    pages = {type, order, page_tokens, heads, dim, nullptr};
    const int needed = (positions + page_tokens - 1) / page_tokens;
    for (int p = 0; p < needed + 2; ++p) table.push_back(p);
    for (int p = needed + 1; p > 0; --p) std::swap(table[p], table[random.between(0, p)]);
    memory = poisoned_bytes(pages.page_bytes() * table.size());
    pages.data = memory.data();
  }
  TestPages(const TestPages&) = delete;
  TestPages& operator=(const TestPages&) = delete;

  Pages pages;
  std::vector<std::int32_t> table;
  Bytes memory;
};

inline const char* name(DType type) {
  return type == DType::f16 ? "f16" : type == DType::i8 ? "i8" : "f32";
}

}  // namespace kernels::cache
