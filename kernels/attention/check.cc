#include "kernels/attention/attention.h"

#include <cmath>

#include "kernels/cache/test_pages.h"
#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"

namespace kernels::attention {
namespace {

using cache::Order;
using cache::TestPages;

// Softmax over all positions at once, in double, from what the caches hold.
std::vector<double> oracle(const Shape& s, const Floats& keys, const Floats& values, int position,
                           int tokens, const Floats& q) {
  std::vector<double> out(std::size_t(tokens) * s.heads * s.value_dim);
  for (int t = 0; t < tokens; ++t) {
    for (int h = 0; h < s.heads; ++h) {
      const int kv = h * s.kv_heads / s.heads;
      std::vector<double> weight(position + t + 1);
      double top = -1e300;
      double sum = 0;
      for (std::size_t p = 0; p < weight.size(); ++p) {
        for (int d = 0; d < s.key_dim; ++d) {
          weight[p] += double(q[(std::size_t(t) * s.heads + h) * s.key_dim + d]) *
                       keys[(p * s.kv_heads + kv) * s.key_dim + d];
        }
        weight[p] *= s.scale;
        top = std::fmax(top, weight[p]);
      }
      for (double& w : weight) sum += w = std::exp(w - top);
      for (std::size_t p = 0; p < weight.size(); ++p) {
        for (int d = 0; d < s.value_dim; ++d) {
          out[(std::size_t(t) * s.heads + h) * s.value_dim + d] +=
              weight[p] / sum * values[(p * s.kv_heads + kv) * s.value_dim + d];
        }
      }
    }
  }
  return out;
}

struct Setup {
  Setup(Random& random, const Shape& shape, DType type, int page_tokens, int positions,
        const Floats& k, const Floats& v)
      : shape(shape),
        keys(random, type, Order::columns, page_tokens, shape.kv_heads, shape.key_dim, positions),
        values(random, type, Order::rows, page_tokens, shape.kv_heads, shape.value_dim, positions),
        scratch(poison(scratch_floats(shape))) {
    values.table = keys.table;
    write(keys.pages, keys.table.data(), 0, {0, positions}, {0, shape.kv_heads}, k.data());
    write(values.pages, keys.table.data(), 0, {0, positions}, {0, shape.kv_heads}, v.data());
  }
  void run(int position, Range tokens, Range kv_heads, const float* q, float* out) {
    attend(shape, keys.pages, values.pages, keys.table.data(), position, tokens, kv_heads, q, out,
           scratch.data());
  }
  Floats held(const TestPages& cache, int positions) const {
    Floats x = poison(std::size_t(positions) * shape.kv_heads * cache.pages.dim);
    read(cache.pages, cache.table.data(), 0, {0, positions}, {0, shape.kv_heads}, x.data());
    return x;
  }

  Shape shape;
  TestPages keys, values;
  Floats scratch;
};

void run(Check& check, const Shape& shape, DType type, int position, int tokens) {
  const std::string where = std::string(cache::name(type)) + " " + std::to_string(position) + "+" +
                            std::to_string(tokens) + " dim " + std::to_string(shape.key_dim);
  const int positions = position + tokens;
  const auto page_tokens = [&] { return 16 * check.random.between(1, 4); };
  const Floats k = normals(check.random, std::size_t(positions) * shape.kv_heads * shape.key_dim);
  const Floats v = normals(check.random, std::size_t(positions) * shape.kv_heads * shape.value_dim);
  Setup setup(check.random, shape, type, page_tokens(), positions, k, v);
  const Floats q = normals(check.random, std::size_t(tokens) * shape.heads * shape.key_dim);
  Floats out = poison(std::size_t(tokens) * shape.heads * shape.value_dim);
  setup.run(position, {0, tokens}, {0, shape.kv_heads}, q.data(), out.data());
  check.near(where, out,
             oracle(shape, setup.held(setup.keys, positions), setup.held(setup.values, positions),
                    position, tokens, q));

  // A token a call and a head a call, in other pages of another size: not a bit changes.
  Setup other(check.random, shape, type, page_tokens(), positions, k, v);
  Floats cut = poison(out.size());
  for (int t = tokens; t-- > 0;) {
    for (int kv = 0; kv < shape.kv_heads; ++kv) {
      other.run(position + t, {0, 1}, {kv, kv + 1},
                q.data() + std::size_t(t) * shape.heads * shape.key_dim,
                cut.data() + std::size_t(t) * shape.heads * shape.value_dim);
    }
  }
  check.same(where + " cut", cut, out);

  // A poisoned key that a token sees must show.
  Floats spoilt = k;
  spoilt[0] = std::nanf("");
  Setup poisoned(check.random, shape, type, page_tokens(), positions, spoilt, v);
  poisoned.run(position, {0, tokens}, {0, 1}, q.data(), cut.data());
  check.holds(where + " NaN", std::isnan(cut[0]));
}

void check(Check& check) {
  for (DType type : {DType::f32, DType::f16, DType::i8}) {
    const int position = check.random.between(0, 100);
    const int tokens = check.random.between(1, 50);
    run(check, {8, 2, 64, 64, 0.125f}, type, position, tokens);
    run(check, {4, 4, 8, 8, 0.35f}, type, 0, tokens);
    run(check, {6, 2, 40, 72, 0.2f}, type, position, 1);
    run(check, {3, 1, check.random.between(1, 100), check.random.between(1, 100), 0.1f}, type,
        position, tokens);
  }
}

// Decode at depth 1,024 (--batch tokens of one sequence, as in prefill, where it is more than one).
void bench(const LabOptions& options) {
  constexpr int kDepth = 1024;
  const Shape shape{8, 2, 128, 128, 0.09f};
  const int tokens = options.batch;
  Random random(options.seed);
  for (DType type : {DType::f32, DType::f16, DType::i8}) {
    const std::size_t cached = std::size_t(kDepth + tokens) * shape.kv_heads * 128;
    auto setup = std::make_shared<Setup>(random, shape, type, 16, kDepth + tokens,
                                         normals(random, cached), normals(random, cached));
    const Floats q = normals(random, std::size_t(tokens) * shape.heads * shape.key_dim);
    double seen = 0;  // (token, position) pairs
    for (int t = 0; t < tokens; ++t) seen += kDepth + t + 1;
    const double bytes = 2.0 * double(row_bytes(type, 128)) * shape.kv_heads * (kDepth + tokens) +
                         8.0 * double(q.size());
    register_timed(std::string("attention/") + cache::name(type),
                   {seen * shape.heads * 128 * 4, bytes}, [=, out = Floats(q.size())]() mutable {
                     setup->run(kDepth, {0, tokens}, {0, shape.kv_heads}, q.data(), out.data());
                   });
  }
}

}  // namespace
}  // namespace kernels::attention

const kernels::EngineOp kernels::kAttention = {"attention", attention::check, attention::bench};
