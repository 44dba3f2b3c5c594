#include <cmath>

#include "kernels/cache/test_pages.h"
#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/mla/mla.h"

namespace kernels::mla {
namespace {

using cache::TestPages;

std::vector<double> oracle(const Shape& s, const Floats& latents, int position, int tokens,
                           const Floats& q) {
  const int dim = s.rank + s.rope_dim;
  std::vector<double> out(std::size_t(tokens) * s.heads * s.rank);
  for (std::size_t row = 0; row < std::size_t(tokens) * s.heads; ++row) {
    std::vector<double> weight(position + row / s.heads + 1);
    double top = -1e300;
    double sum = 0;
    for (std::size_t p = 0; p < weight.size(); ++p) {
      for (int d = 0; d < dim; ++d) weight[p] += double(q[row * dim + d]) * latents[p * dim + d];
      weight[p] *= s.scale;
      top = std::fmax(top, weight[p]);
    }
    for (double& w : weight) sum += w = std::exp(w - top);
    for (std::size_t p = 0; p < weight.size(); ++p) {
      for (int d = 0; d < s.rank; ++d) {
        out[row * s.rank + d] += weight[p] / sum * latents[p * dim + d];
      }
    }
  }
  return out;
}

void run(Check& check, const Shape& shape, DType type, int position, int tokens) {
  const int dim = shape.rank + shape.rope_dim;
  const std::string where = std::string(cache::name(type)) + " " + std::to_string(position) + "+" +
                            std::to_string(tokens) + " dim " + std::to_string(dim);
  const int positions = position + tokens;
  TestPages cache(check.random, type, cache::Order::rows, 16 * check.random.between(1, 4), 1, dim,
                  positions);
  Floats latents = normals(check.random, std::size_t(positions) * dim);
  write(cache.pages, cache.table.data(), 0, {0, positions}, {0, 1}, latents.data());
  read(cache.pages, cache.table.data(), 0, {0, positions}, {0, 1}, latents.data());
  const Floats q = normals(check.random, std::size_t(tokens) * shape.heads * dim);
  Floats scratch = poison(scratch_floats(shape));
  Floats out = poison(std::size_t(tokens) * shape.heads * shape.rank);
  attend(shape, cache.pages, cache.table.data(), position, {0, tokens}, {0, shape.heads}, q.data(),
         out.data(), scratch.data());
  check.near(where, out, oracle(shape, latents, position, tokens, q));

  Floats cut = poison(out.size());
  const int half = check.random.between(0, shape.heads);
  for (int t = tokens; t-- > 0;) {
    for (Range heads : {Range{0, half}, Range{half, shape.heads}}) {
      attend(shape, cache.pages, cache.table.data(), position, {t, t + 1}, heads, q.data(),
             cut.data(), scratch.data());
    }
  }
  check.same(where + " cut", cut, out);
}

void check(Check& check) {
  for (DType type : {DType::f32, DType::f16, DType::i8}) {
    const int position = check.random.between(0, 90);
    const int tokens = check.random.between(1, 20);
    run(check, {4, 64, 16, 0.12f}, type, position, tokens);
    run(check, {16, 512, 64, 0.04f}, type, position, 2);
    run(check, {3, 50, 7, 0.1f}, type, position, tokens);
    run(check, {check.random.between(1, 9), check.random.between(1, 90), 0, 0.1f}, type, 0, tokens);
  }
}

// Decode at depth 4,096: 16 heads over rank 512 + 64.
void bench(const LabOptions& options) {
  constexpr int kDepth = 4096;
  const Shape shape{16, 512, 64, 0.07f};
  const int tokens = options.batch;
  Random random(options.seed);
  for (DType type : {DType::f32, DType::f16, DType::i8}) {
    const int dim = shape.rank + shape.rope_dim;
    auto cache =
        std::make_shared<TestPages>(random, type, cache::Order::rows, 16, 1, dim, kDepth + tokens);
    const Floats latents = normals(random, std::size_t(kDepth + tokens) * dim);
    write(cache->pages, cache->table.data(), 0, {0, kDepth + tokens}, {0, 1}, latents.data());
    const Floats q = normals(random, std::size_t(tokens) * shape.heads * dim);
    double seen = 0;
    for (int t = 0; t < tokens; ++t) seen += kDepth + t + 1;
    const double bytes = double(row_bytes(type, dim)) * (kDepth + tokens) + 4.0 * double(q.size());
    register_timed(std::string("mla/") + cache::name(type),
                   {seen * shape.heads * 2 * (dim + shape.rank), bytes},
                   [=, out = Floats(q.size()), scratch = Floats(scratch_floats(shape))]() mutable {
                     attend(shape, cache->pages, cache->table.data(), kDepth, {0, tokens},
                            {0, shape.heads}, q.data(), out.data(), scratch.data());
                   });
  }
}

}  // namespace
}  // namespace kernels::mla

const kernels::EngineOp kernels::kMla = {"mla", mla::check, mla::bench};
