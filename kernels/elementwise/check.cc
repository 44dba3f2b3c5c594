#include "kernels/elementwise/elementwise.h"

#include <algorithm>
#include <cmath>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"

namespace kernels::elementwise {
namespace {

double sigmoid_of(double z) { return 1 / (1 + std::exp(-z)); }
double softplus_of(double z) { return std::fmax(z, 0) + std::log1p(std::exp(-std::fabs(z))); }

template <class F>
std::vector<double> each(std::size_t size, F f) {
  std::vector<double> y(size);
  for (std::size_t i = 0; i < size; ++i) y[i] = f(i);
  return y;
}

void check_functions(Check& check, std::size_t size) {
  const std::string where = " " + std::to_string(size);
  Floats a = normals(check.random, size, 4);
  const Floats b = normals(check.random, size);
  a[0] = 300;  // where a careless exp overflows
  a[size - 1] = -300;
  Floats y = poison(size);
  silu_multiply(a.data(), b.data(), size, y.data());
  check.near("silu_multiply" + where, y,
             each(size, [&](auto i) { return a[i] * sigmoid_of(a[i]) * b[i]; }));
  y = poison(size);
  sigmoid_multiply(b.data(), a.data(), size, y.data());
  check.near("sigmoid_multiply" + where, y,
             each(size, [&](auto i) { return b[i] * sigmoid_of(a[i]); }));
  y = poison(size);
  sigmoid(a.data(), size, y.data());
  check.near("sigmoid" + where, y, each(size, [&](auto i) { return sigmoid_of(a[i]); }));
  Floats pieces = a;  // in place, and cut where no vector ends
  const std::size_t cut = size / 3;
  sigmoid(pieces.data(), cut, pieces.data());
  sigmoid(pieces.data() + cut, size - cut, pieces.data() + cut);
  check.same("sigmoid cut" + where, pieces, y);
  y = poison(size);
  softplus(a.data(), size, y.data());
  check.near("softplus" + where, y, each(size, [&](auto i) { return softplus_of(a[i]); }));
  y = b;
  add(a.data(), size, y.data());
  check.near("add" + where, y, each(size, [&](auto i) { return double(a[i]) + b[i]; }));
  y = b;
  add_scaled(a.data(), 0.3f, size, y.data());
  check.near("add_scaled" + where, y,
             each(size, [&](auto i) { return 0.3f * double(a[i]) + b[i]; }));
}

void check_gates(Check& check, int tokens, int heads, int dim) {
  const std::size_t size = std::size_t(tokens) * heads * dim;
  const Floats x = normals(check.random, size, 2);
  const Floats bias = normals(check.random, std::size_t(heads) * dim);
  Floats rate = normals(check.random, heads);
  for (float& r : rate) r = std::exp(r);
  const auto z = [&](std::size_t i) { return double(x[i]) + bias[i % (std::size_t(heads) * dim)]; };
  const auto r = [&](std::size_t i) { return double(rate[i / dim % heads]); };
  Floats g = poison(size);
  kda_gate(x.data(), bias.data(), rate.data(), heads, dim, {0, tokens}, g.data());
  check.near("kda_gate", g, each(size, [&](auto i) { return -r(i) * softplus_of(z(i)); }));
  g = poison(size);
  kda_gate_bounded(x.data(), bias.data(), rate.data(), -5, heads, dim, {0, tokens}, g.data());
  check.near("kda_gate_bounded", g,
             each(size, [&](auto i) { return -5 * sigmoid_of(r(i) * z(i)); }));
  g = poison(size);
  kda_gate(x.data(), nullptr, rate.data(), heads, dim, {0, tokens}, g.data());
  check.near("kda_gate without bias", g,
             each(size, [&](auto i) { return -r(i) * softplus_of(x[i]); }));
}

// A poisoned input must not become a plausible output.
void check_nan(Check& check) {
  constexpr std::size_t kSize = 19;
  const Floats nan = poison(kSize);
  const Floats one(kSize, 1.0f);
  Floats y(kSize);
  const auto all_nan = [&] { return std::ranges::all_of(y, [](float v) { return v != v; }); };
  silu_multiply(nan.data(), one.data(), kSize, y.data());
  check.holds("silu of NaN", all_nan());
  y = one;
  softplus(nan.data(), kSize, y.data());
  check.holds("softplus of NaN", all_nan());
  y = one;
  kda_gate_bounded(nan.data(), nullptr, one.data(), -5, 1, kSize, {0, 1}, y.data());
  check.holds("gate of NaN", all_nan());
}

void check(Check& check) {
  check_nan(check);
  for (int size : {2, 15, 16, 17, 1000, check.random.between(2, 300)}) check_functions(check, size);
  check_gates(check, check.random.between(1, 5), check.random.between(1, 4), 32);
  check_gates(check, 3, 2, check.random.between(1, 70));
}

void bench(const LabOptions& options) {
  const std::size_t size = std::size_t(5632) * options.batch;
  Random random(options.seed);
  const Floats gate = normals(random, size);
  const Floats up = normals(random, size);
  register_timed(
      "elementwise", {double(size) * 5, double(size) * 12},
      [=, y = Floats(size)]() mutable { silu_multiply(gate.data(), up.data(), size, y.data()); });
}

}  // namespace
}  // namespace kernels::elementwise

const kernels::EngineOp kernels::kElementwise = {"elementwise", elementwise::check,
                                                 elementwise::bench};
