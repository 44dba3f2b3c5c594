#include "kernels/kda_decode/reference.h"

#include <cmath>

namespace kernels::kda_decode {
namespace {

std::vector<double> normalised(const float* x, int size, double scale) {
  double squares = 0;
  for (int i = 0; i < size; ++i) squares += double(x[i]) * x[i];
  const double root = std::sqrt(squares + double(kNormEpsilon));
  std::vector<double> out(size);
  for (int i = 0; i < size; ++i) out[i] = x[i] / root * scale;
  return out;
}

}  // namespace

double gate_value(const Gate& gate, int head, double x, double bias) {
  const double rate = std::exp(double(gate.log_rate[head]));
  const double z = x + bias;
  if (gate.form == GateForm::bounded) return gate.lower_bound / (1.0 + std::exp(-rate * z));
  return -rate * (std::fmax(z, 0.0) + std::log1p(std::exp(-std::fabs(z))));
}

Oracle::Oracle(const Shape& shape, const Gate& gate, std::span<const float> initial_state)
    : shape_(shape),
      gate_(gate),
      state_(initial_state.begin(), initial_state.end()),
      o_(shape.value_size()) {}

const std::vector<double>& Oracle::step(const Step& step) {
  const int key_dim = shape_.key_dim;
  const int value_dim = shape_.value_dim;
  for (int slot = 0; slot < shape_.batch; ++slot) {
    for (int head = 0; head < shape_.value_heads; ++head) {
      const std::size_t at = std::size_t(slot) * shape_.value_heads + head;
      const std::size_t key_at =
          (std::size_t(slot) * shape_.heads + shape_.key_head(head)) * key_dim;
      const auto q = normalised(step.q + key_at, key_dim, 1.0 / std::sqrt(double(key_dim)));
      const auto k = normalised(step.k + key_at, key_dim, 1.0);
      double* state = &state_[at * key_dim * value_dim];
      std::vector<double> recalled(value_dim);
      for (int i = 0; i < key_dim; ++i) {
        const double bias = gate_.bias[std::size_t(head) * key_dim + i];
        const double decay = std::exp(gate_value(gate_, head, step.x[at * key_dim + i], bias));
        for (int c = 0; c < value_dim; ++c) {
          state[i * value_dim + c] *= decay;
          recalled[c] += state[i * value_dim + c] * k[i];
        }
      }
      double* o = &o_[at * value_dim];
      std::fill(o, o + value_dim, 0.0);
      for (int i = 0; i < key_dim; ++i) {
        for (int c = 0; c < value_dim; ++c) {
          const double d = step.beta[at] * (step.v[at * value_dim + c] - recalled[c]);
          state[i * value_dim + c] += k[i] * d;
          o[c] += state[i * value_dim + c] * q[i];
        }
      }
    }
  }
  return o_;
}

std::vector<double> materialise(const Cache& cache) {
  const Shape& s = cache.shape;
  std::vector<double> state(cache.checkpoint.begin(), cache.checkpoint.end());
  for (int slot = 0; slot < s.batch; ++slot) {
    for (int head = 0; head < s.value_heads; ++head) {
      const std::size_t at = std::size_t(slot) * s.value_heads + head;
      const std::size_t key_at = std::size_t(slot) * s.heads + s.key_head(head);
      for (int j = 0; j < cache.cursor[slot]; ++j) {
        for (int i = 0; i < s.key_dim; ++i) {
          const double decay = std::exp(double(cache.g[(at * cache.ring + j) * s.key_dim + i]));
          const double k = cache.k[(key_at * cache.ring + j) * s.key_dim + i];
          for (int c = 0; c < s.value_dim; ++c) {
            double& value = state[(at * s.key_dim + i) * s.value_dim + c];
            value = decay * value + k * cache.d[(at * cache.ring + j) * s.value_dim + c];
          }
        }
      }
    }
  }
  return state;
}

}  // namespace kernels::kda_decode
