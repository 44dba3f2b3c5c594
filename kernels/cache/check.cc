#include <cmath>

#include "kernels/cache/test_pages.h"
#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"

namespace kernels::cache {
namespace {

Tolerance rounding(DType type) {
  if (type == DType::f16) return {0x1p-11, 0x1p-11 * 8};
  if (type == DType::i8) return {1.0 / 127, 4.0 / 127};
  return {0, 0};
}

void run(Check& check, DType type, Order order) {
  const int heads = check.random.between(1, 3);
  const int dim = check.random.between(1, 80);
  const int tokens = check.random.between(1, 70);
  const int page_tokens = kGroup * check.random.between(1, 3);
  const std::string where = std::string(name(type)) + (order == Order::rows ? " rows" : " columns");
  TestPages cache(check.random, type, order, page_tokens, heads, dim, tokens);
  const Floats x = normals(check.random, std::size_t(tokens) * heads * dim);
  for (int h = 0; h < heads; ++h) {  // backwards, and each head alone
    for (int t = tokens; t-- > 0;) {
      const std::size_t at = std::size_t(t) * heads * dim;
      write(cache.pages, cache.table.data(), t, {0, 1}, {h, h + 1}, x.data() + at);
    }
  }
  Floats back = poison(x.size());
  read(cache.pages, cache.table.data(), 0, {0, tokens}, {0, heads}, back.data());
  check.near(where, back, doubles(x), rounding(type));

  // Decoded groups say the same, in the cache's own order.
  Floats scratch = poison(std::size_t(kGroup) * dim);
  for (int first = 0; first < tokens; first += kGroup) {
    const int count = std::min(kGroup, tokens - first);
    const float* group =
        decoded_group(cache.pages, cache.pages.group(cache.table.data(), heads - 1, first), count,
                      scratch.data());
    bool good = true;
    for (int j = 0; j < count; ++j) {
      for (int d = 0; d < dim; ++d) {
        const float got = order == Order::rows ? group[j * dim + d] : group[d * kGroup + j];
        good = good && got == back[(std::size_t(first + j) * heads + heads - 1) * dim + d];
      }
    }
    check.holds(where + " decoded", good);
  }
}

void check(Check& check) {
  for (DType type : {DType::f32, DType::f16, DType::i8}) {
    for (Order order : {Order::rows, Order::columns}) {
      run(check, type, order);
      run(check, type, order);
    }
  }
}

void bench(const LabOptions& options) {
  constexpr int kHeads = 8;
  constexpr int kDim = 128;
  const int tokens = options.batch;
  Random random(options.seed);
  const Floats x = normals(random, std::size_t(tokens) * kHeads * kDim);
  for (DType type : {DType::f32, DType::f16, DType::i8}) {
    auto cache =
        std::make_shared<TestPages>(random, type, Order::columns, 16, kHeads, kDim, tokens);
    const double width = double(row_bytes(type, 1));
    register_timed(
        std::string("cache/write_keys_") + name(type), {0, double(x.size()) * (4 + width)}, [=] {
          write(cache->pages, cache->table.data(), 0, {0, tokens}, {0, kHeads}, x.data());
        });
  }
}

}  // namespace
}  // namespace kernels::cache

const kernels::EngineOp kernels::kCache = {"cache", cache::check, cache::bench};
