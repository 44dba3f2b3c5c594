#include <algorithm>
#include <cmath>

#include "kernels/kda/kda.h"
#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/norm/norm.h"

namespace kernels::kda {
namespace {

struct Inputs {
  Floats q, k, v, g, beta;
  Tokens from(const Shape& s, int token) const {
    const std::size_t row = std::size_t(token) * s.heads;
    return {q.data() + row * s.key_dim, k.data() + row * s.key_dim, v.data() + row * s.value_dim,
            g.data() + row * s.key_dim, beta.data() + row};
  }
};

// `slow`: nothing is forgotten, so that rounding adds up instead of being forgotten too; otherwise
// decays from nearly none to e^-5 a token, the bounded gate's strongest.
Inputs make_inputs(Random& random, const Shape& s, int tokens, bool slow) {
  const std::size_t rows = std::size_t(tokens) * s.heads;
  Inputs in{normals(random, rows * s.key_dim), normals(random, rows * s.key_dim),
            normals(random, rows * s.value_dim), Floats(rows * s.key_dim), Floats(rows)};
  const float root = 1 / std::sqrt(float(s.key_dim));
  norm::l2_norm(in.q.data(), 1e-6f, root, s.key_dim, {0, int(rows)}, in.q.data());
  norm::l2_norm(in.k.data(), 1e-6f, 1, s.key_dim, {0, int(rows)}, in.k.data());
  for (float& g : in.g) g = slow ? -random.uniform(0, 2e-7f) : -std::exp(random.uniform(-7, 1.6f));
  for (float& b : in.beta) b = slow ? random.uniform(.001f, .003f) : random.uniform(.1f, .9f);
  return in;
}

// The recurrence as it stands, in double.
struct Oracle {
  explicit Oracle(const Shape& s) : s(s), state(std::size_t(s.heads) * s.key_dim * s.value_dim) {}

  void step(const Tokens& in, double* out) {
    for (int h = 0; h < s.heads; ++h) {
      double* matrix = &state[std::size_t(h) * s.key_dim * s.value_dim];
      const float* k = in.k + std::size_t(h) * s.key_dim;
      const float* q = in.q + std::size_t(h) * s.key_dim;
      for (int i = 0; i < s.key_dim; ++i) {
        const double decay = std::exp(double(in.g[std::size_t(h) * s.key_dim + i]));
        for (int c = 0; c < s.value_dim; ++c) matrix[i * s.value_dim + c] *= decay;
      }
      for (int c = 0; c < s.value_dim; ++c) {
        double recalled = 0;
        for (int i = 0; i < s.key_dim; ++i) recalled += matrix[i * s.value_dim + c] * k[i];
        const double d = in.beta[h] * (in.v[std::size_t(h) * s.value_dim + c] - recalled);
        double o = 0;
        for (int i = 0; i < s.key_dim; ++i) {
          matrix[i * s.value_dim + c] += k[i] * d;
          o += matrix[i * s.value_dim + c] * q[i];
        }
        out[std::size_t(h) * s.value_dim + c] = o;
      }
    }
  }

  Shape s;
  std::vector<double> state;
};

// The state before position 0: S is zero, and nothing else in it may matter.
Floats fresh_state(const Shape& s) {
  Floats state = poison(state_floats(s));
  const std::size_t head = state.size() / s.heads;
  for (int h = 0; h < s.heads; ++h) {
    std::fill_n(state.begin() + std::ptrdiff_t(head * h), s.key_dim * s.value_dim, 0.0f);
  }
  return state;
}

Floats held(const Shape& s, const Floats& state, int position) {
  const std::size_t size = std::size_t(s.key_dim) * s.value_dim;
  Floats out = poison(size * s.heads);
  for (int h = 0; h < s.heads; ++h) {
    materialise(s, state.data(), position, h, out.data() + size * h);
  }
  return out;
}

void run(Check& check, const Shape& s, int tokens, bool slow) {
  const std::string where = std::string(slow ? "slow " : "") + std::to_string(s.key_dim) + "x" +
                            std::to_string(s.value_dim) + " T " + std::to_string(tokens);
  const Inputs in = make_inputs(check.random, s, tokens, slow);
  const std::size_t row = std::size_t(s.heads) * s.value_dim;
  Oracle oracle(s);
  std::vector<double> want(row * tokens);
  for (int t = 0; t < tokens; ++t) oracle.step(in.from(s, t), &want[row * t]);

  Floats state = fresh_state(s);
  Floats scratch = poison(scratch_floats(s));
  Floats out = poison(want.size());
  forward(s, in.from(s, 0), tokens, 0, {0, s.heads}, state.data(), out.data(), scratch.data());
  check.near(where, out, want);
  check.near(where + " state", held(s, state, tokens), oracle.state);

  // Cut at random places, and the last third as decode, a token at a time: not a bit changes.
  Floats cut_state = fresh_state(s);
  Floats cut = poison(out.size());
  for (int t = 0; t < tokens;) {
    const int most = t < tokens * 2 / 3 ? check.random.between(1, 40) : 1;
    const int some = std::min(most, tokens - t);
    const int split = check.random.between(0, s.heads);
    for (Range heads : {Range{0, split}, Range{split, s.heads}}) {
      forward(s, in.from(s, t), some, t, heads, cut_state.data(), cut.data() + row * t,
              scratch.data());
    }
    t += some;
  }
  check.same(where + " cut", cut, out);
  check.same(where + " cut state", held(s, cut_state, tokens), held(s, state, tokens));
}

// Of a call of `tokens` that follows another, averaged over a whole number of chunks.
Work work_of(const Shape& s, int tokens) {
  const double keys = s.key_dim;
  const double values = s.value_dim;
  constexpr double kRecords = (kChunk - 1) / 2.0;  // that a token meets, on average
  // Two products with the checkpoint, a share of writing it, and the records: decay, dots, sums.
  const double flops =
      6 * keys * values + keys * values / kChunk + kRecords * (5 * keys + 4 * values);
  int visits = 0;  // of chunks in 16 calls, each of which reads the checkpoint once
  for (int call = 0; call < kChunk; ++call) {
    visits += (call * tokens % kChunk + tokens + kChunk - 1) / kChunk;
  }
  const double passes = (visits + 2.0 * tokens) / kChunk;  // a write reads it once more
  const double bytes = 4 * (passes * keys * values + tokens * (3 * keys + 2 * values + 1));
  return {s.heads * tokens * flops, s.heads * bytes};
}

void check(Check& check) {
  run(check, {2, 128, 128}, 40 + check.random.between(0, 20), false);
  run(check, {3, 32, 32}, check.random.between(1, 150), false);
  run(check, {1, 16, 80}, check.random.between(1, 60), false);
  run(check, {2, 48, 16}, check.random.between(1, 60), false);
  run(check, {1, 64, 64}, 1, false);
  run(check, {2, 32, 32}, 400, true);
}

void bench(const LabOptions& options) {
  const Shape shape{4, 128, 128};
  const int tokens = options.batch;  // of one sequence: 1 is decode
  Random random(options.seed);
  const Inputs in = make_inputs(random, shape, tokens, false);
  const std::size_t values = std::size_t(tokens) * shape.heads * shape.value_dim;
  register_timed("kda", work_of(shape, tokens),
                 [=, state = fresh_state(shape), out = Floats(values),
                  scratch = Floats(scratch_floats(shape)), position = 0]() mutable {
                   forward(shape, in.from(shape, 0), tokens, position, {0, shape.heads},
                           state.data(), out.data(), scratch.data());
                   position = (position + tokens) % kChunk;
                 });
}

}  // namespace
}  // namespace kernels::kda

const kernels::EngineOp kernels::kKda = {"kda", kda::check, kda::bench};
