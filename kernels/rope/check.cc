#include <cmath>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/rope/rope.h"

namespace kernels::rope {
namespace {

struct Setup {
  Shape shape;
  Pairing pairing;
  int tokens;
  float base;
  float scale;
  bool factors;
};

// From the formula, a pair at a time, in double throughout.
std::vector<double> oracle(const Setup& setup, const Floats& factors,
                           const std::vector<std::int32_t>& positions, const Floats& x) {
  std::vector<double> y = doubles(x);
  const Shape& s = setup.shape;
  for (std::size_t at = 0; at < x.size(); at += s.head_dim) {
    const int position = positions[at / (std::size_t(s.heads) * s.head_dim)];
    for (int i = 0; i < s.dims / 2; ++i) {
      const double factor = setup.factors ? factors[i] : 1;
      const double angle =
          position * double(setup.scale) * std::pow(double(setup.base), -2.0 * i / s.dims) / factor;
      const bool adjacent = setup.pairing == Pairing::adjacent;
      const std::size_t a = at + s.first + (adjacent ? 2 * i : i);
      const std::size_t b = a + (adjacent ? 1 : s.dims / 2);
      y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
      y[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
    }
  }
  return y;
}

void run(Check& check, const Setup& setup) {
  const Shape& s = setup.shape;
  Floats factors(s.dims / 2);
  for (float& f : factors) f = check.random.uniform(1, 8);
  std::vector<std::int32_t> positions(setup.tokens);
  for (auto& p : positions) p = check.random.between(0, 100000);
  const Floats x = normals(check.random, std::size_t(setup.tokens) * s.heads * s.head_dim);
  std::vector<double> frequency(s.dims / 2);
  frequencies(setup.base, setup.scale, setup.factors ? factors.data() : nullptr, s.dims,
              frequency.data());
  Floats turns = poison(std::size_t(setup.tokens) * s.dims);
  angles(frequency.data(), 1, positions.data(), s.dims, {0, setup.tokens}, turns.data());
  Floats y = x;
  rotate(s, setup.pairing, turns.data(), {0, setup.tokens}, y.data());
  const std::string where = std::to_string(s.dims) + " of " + std::to_string(s.head_dim);
  check.near(where, y, oracle(setup, factors, positions, x));
  Floats one_by_one = x;
  for (int t = setup.tokens; t-- > 0;) {
    rotate(s, setup.pairing, turns.data(), {t, t + 1}, one_by_one.data());
  }
  check.same(where + " cut", one_by_one, y);
}

// YaRN leaves the fastest pair alone, slows the slowest by the factor, and is monotonous in
// between.
void check_yarn(Check& check) {
  constexpr int kDims = 128;
  std::vector<double> plain(kDims / 2);
  std::vector<double> yarn(kDims / 2);
  frequencies(10000, 1, nullptr, kDims, plain.data());
  const float magnitude = yarn_frequencies(10000, 8, 4096, kDims, yarn.data());
  check.holds("yarn magnitude", std::fabs(magnitude - (1 + 0.1 * std::log(8.0))) < 1e-6);
  check.holds("yarn fastest", yarn[0] == plain[0]);
  const double slowest = plain[kDims / 2 - 1];
  check.holds("yarn slowest", std::fabs(yarn[kDims / 2 - 1] * 8 / slowest - 1) < 1e-5);
  for (int i = 0; i + 1 < kDims / 2; ++i) {
    check.holds("yarn order", yarn[i] / plain[i] >= yarn[i + 1] / plain[i + 1] - 1e-6f);
  }
}

void check(Check& check) {
  for (Pairing pairing : {Pairing::adjacent, Pairing::half}) {
    const int heads = check.random.between(1, 5);
    const int tokens = check.random.between(1, 6);
    run(check, {{heads, 64, 0, 64}, pairing, tokens, 10000, 1, false});
    run(check, {{heads, 80, 0, 48}, pairing, tokens, 500000, 1, true});
    run(check, {{heads, 192, 128, 64}, pairing, tokens, 10000, 0.25f, false});
    run(check, {{heads, 8, 0, 8}, pairing, tokens, 10000, 1, false});
    run(check, {{heads, 10, 3, 6}, pairing, tokens, 100, 0.5f, true});
  }
  check_yarn(check);
}

void bench(const LabOptions& options) {
  const Shape shape{32, 64, 0, 64};
  const int tokens = options.batch;
  Random random(options.seed);
  std::vector<double> frequency(32);
  frequencies(10000, 1, nullptr, 64, frequency.data());
  std::vector<std::int32_t> positions(tokens);
  for (int t = 0; t < tokens; ++t) positions[t] = 1000 + t;
  Floats turns(std::size_t(tokens) * 64);
  angles(frequency.data(), 1, positions.data(), 64, {0, tokens}, turns.data());
  const double elements = double(tokens) * 32 * 64;
  register_timed("rope", {3 * elements, 8 * elements + 4.0 * double(turns.size())},
                 [=, x = normals(random, std::size_t(elements))]() mutable {
                   rotate(shape, Pairing::half, turns.data(), {0, tokens}, x.data());
                 });
}

}  // namespace
}  // namespace kernels::rope

const kernels::EngineOp kernels::kRope = {"rope", rope::check, rope::bench};
