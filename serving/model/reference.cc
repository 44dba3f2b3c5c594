#include "serving/model/reference.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace serving::model {
namespace {

double sigmoid64(double x) { return 1 / (1 + std::exp(-x)); }
double silu64(double x) { return x * sigmoid64(x); }

double dot64(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::span<const double> part(const Vector& x, int index, int size) {
  return std::span(x).subspan(std::size_t(index) * size, size);
}

void accumulate(Vector& y, const Vector& x, double scale = 1) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] += scale * x[i];
}

void softmax64(Vector& x) {
  const double largest = *std::max_element(x.begin(), x.end());
  double sum = 0;
  for (double& value : x) sum += value = std::exp(value - largest);
  for (double& value : x) value /= sum;
}

}  // namespace

Result<Reference> Reference::make(const gguf::File& file) {
  auto config = read_config(file);
  if (!config) return tl::unexpected(config.error());
  auto weights = bind_weights(file, *config);
  if (!weights) return tl::unexpected(weights.error());
  Reference reference(std::move(*config), std::move(*weights));
  for (const gguf::Tensor& tensor : file.tensors()) {
    const std::vector<float> values = tensor.values();
    reference.values_[&tensor] = Vector(values.begin(), values.end());
  }
  return reference;
}

Reference::Reference(Config config, Weights weights)
    : config_(std::move(config)), weights_(std::move(weights)) {}

Sequence Reference::logits(std::span<const Token> tokens, std::size_t from) const {
  Sequence stream;
  for (Token token : tokens) {
    const auto row = part(values(weights_.embedding), token, config_.dim);
    stream.emplace_back(row.begin(), row.end());
  }
  for (std::size_t i = 0; i < weights_.layers.size(); ++i) {
    const LayerWeights& layer = weights_.layers[i];
    Sequence normed;
    for (const Vector& x : stream) normed.push_back(norm(layer.mixer_norm, x));
    const Sequence mixed = mixer(layer, config_.kv_heads[i], normed);
    for (std::size_t t = 0; t < stream.size(); ++t) {
      accumulate(stream[t], mixed[t]);
      accumulate(stream[t], feed_forward(layer, norm(layer.ffn_norm, stream[t])));
    }
  }
  Sequence out;
  for (std::size_t t = from; t < stream.size(); ++t) {
    out.push_back(multiply(weights_.output, norm(weights_.output_norm, stream[t])));
  }
  return out;
}

Vector Reference::multiply(Weight matrix, std::span<const double> x, int block) const {
  const int outputs = int(matrix->dims[1]), inputs = int(matrix->dims[0]);
  Vector y(outputs);
  for (int row = 0; row < outputs; ++row) {
    y[row] = dot64(part(values(matrix), block * outputs + row, inputs), x);
  }
  return y;
}

Vector Reference::norm(Weight weight, std::span<const double> x) const {
  const double scale = 1 / std::sqrt(dot64(x, x) / double(x.size()) + double(config_.epsilon));
  Vector y(values(weight));
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= x[i] * scale;
  return y;
}

void Reference::add_bias(Weight bias, Vector& x) const {
  if (bias != nullptr) accumulate(x, values(bias));
}

void Reference::rotate(std::span<double> head, int position) const {
  const Rope& rope = config_.rope;
  for (int i = 0; i < rope.dims / 2; ++i) {
    double frequency = rope.scale * std::pow(double(rope.base), -2.0 * i / rope.dims);
    if (weights_.rope_factors != nullptr) frequency /= values(weights_.rope_factors)[i];
    const double angle = position * frequency;
    double& a = head[rope.adjacent ? 2 * i : i];
    double& b = head[rope.adjacent ? 2 * i + 1 : i + rope.dims / 2];
    const double turned = a * std::cos(angle) - b * std::sin(angle);
    b = a * std::sin(angle) + b * std::cos(angle);
    a = turned;
  }
}

Sequence Reference::mixer(const LayerWeights& layer, int kv_heads, const Sequence& x) const {
  if (const auto* w = std::get_if<AttentionWeights>(&layer.mixer))
    return attention(*w, kv_heads, x);
  if (const auto* w = std::get_if<MlaWeights>(&layer.mixer)) return mla(*w, x);
  return kda(std::get<KdaWeights>(layer.mixer), x);
}

Sequence Reference::attention(const AttentionWeights& w, int kv_heads, const Sequence& x) const {
  const int key_dim = config_.key_dim, value_dim = config_.value_dim;
  Sequence keys, values_of, out;
  // One head's normalised and rotated part of a query or key.
  auto ready = [&](Vector& all, int head, Weight weight, int position) {
    Vector part_of(all.begin() + head * key_dim, all.begin() + (head + 1) * key_dim);
    if (weight != nullptr) part_of = norm(weight, part_of);
    rotate(part_of, position);
    std::copy(part_of.begin(), part_of.end(), all.begin() + head * key_dim);
  };
  for (int t = 0; t < int(x.size()); ++t) {
    Vector q = multiply(w.q, x[t]), k = multiply(w.k, x[t]), v = multiply(w.v, x[t]);
    add_bias(w.q_bias, q);
    add_bias(w.k_bias, k);
    add_bias(w.v_bias, v);
    for (int h = 0; h < config_.heads; ++h) ready(q, h, w.q_norm, t);
    for (int h = 0; h < kv_heads; ++h) ready(k, h, w.k_norm, t);
    keys.push_back(k);
    values_of.push_back(v);
    Vector heads;
    for (int h = 0; h < config_.heads; ++h) {
      const int kv = h * kv_heads / config_.heads;
      Vector scores;
      for (int s = 0; s <= t; ++s) {
        scores.push_back(config_.attention_scale *
                         dot64(part(q, h, key_dim), part(keys[s], kv, key_dim)));
      }
      softmax64(scores);
      Vector sum(value_dim);
      for (int s = 0; s <= t; ++s) {
        const auto value = part(values_of[s], kv, value_dim);
        for (int i = 0; i < value_dim; ++i) sum[i] += scores[s] * value[i];
      }
      heads.insert(heads.end(), sum.begin(), sum.end());
    }
    out.push_back(multiply(w.out, heads));
    add_bias(w.out_bias, out.back());
  }
  return out;
}

// Every head's keys and values are made from the latents anew, as the definition has it.
Sequence Reference::mla(const MlaWeights& w, const Sequence& x) const {
  const Mla& m = config_.mla;
  Sequence latents, shared_keys, out;
  for (const Vector& now : x) {
    const Vector compressed = multiply(w.kv_a, now);
    latents.push_back(norm(w.kv_norm, std::span(compressed).first(m.rank)));
    shared_keys.emplace_back(compressed.begin() + m.rank, compressed.end());
    const Vector q = multiply(w.q, now);
    Vector heads;
    for (int h = 0; h < config_.heads; ++h) {
      const auto query = part(q, h, m.key_dim());
      Vector scores;
      for (std::size_t s = 0; s < latents.size(); ++s) {
        double score = dot64(query.subspan(m.nope_dim), shared_keys[s]);
        for (int r = 0; r < m.rank; ++r) {  // k_b turns the latent into the key: [nope, rank]^T
          const auto row = part(values(w.k_b), h * m.rank + r, m.nope_dim);
          score += latents[s][r] * dot64(row, query.first(m.nope_dim));
        }
        scores.push_back(score * config_.attention_scale);
      }
      softmax64(scores);
      Vector sum(m.value_dim);
      for (std::size_t s = 0; s < latents.size(); ++s) {
        accumulate(sum, multiply(w.v_b, latents[s], h), scores[s]);
      }
      heads.insert(heads.end(), sum.begin(), sum.end());
    }
    out.push_back(multiply(w.out, heads));
  }
  return out;
}

Sequence Reference::convolved(Weight projection, Weight conv, const Sequence& x) const {
  const int width = config_.kda.conv_width;
  Sequence projected, out;
  for (const Vector& now : x) {
    projected.push_back(multiply(projection, now));
    Vector y(projected.back().size());
    for (std::size_t c = 0; c < y.size(); ++c) {
      const auto taps = part(values(conv), int(c), width);
      for (int i = 0; i < width && i < int(projected.size()); ++i) {
        y[c] += taps[width - 1 - i] * projected[projected.size() - 1 - i][c];
      }
      y[c] = silu64(y[c]);
    }
    out.push_back(std::move(y));
  }
  return out;
}

// The recurrence as it stands (Kimi Linear, 2025), one head after another.
Sequence Reference::kda(const KdaWeights& w, const Sequence& x) const {
  const int dim = config_.kda.head_dim, heads = config_.heads;
  const Sequence q = convolved(w.q, w.conv_q, x), k = convolved(w.k, w.conv_k, x),
                 v = convolved(w.v, w.conv_v, x);
  std::vector<Sequence> states(heads, Sequence(dim, Vector(dim)));  // [heads][K][V]
  Sequence out;
  for (std::size_t t = 0; t < x.size(); ++t) {
    const Vector decay_input = multiply(w.f_b, multiply(w.f_a, x[t]));
    const Vector beta = multiply(w.beta, x[t]);
    const Vector gate = multiply(w.g_b, multiply(w.g_a, x[t]));
    Vector gated;
    for (int h = 0; h < heads; ++h) {
      const auto qh = part(q[t], h, dim), kh = part(k[t], h, dim), vh = part(v[t], h, dim);
      // llama.cpp's l2 norm: the epsilon is a least length.
      const double q_scale = 1 / std::fmax(std::sqrt(dot64(qh, qh)), double(config_.epsilon));
      const double k_scale = 1 / std::fmax(std::sqrt(dot64(kh, kh)), double(config_.epsilon));
      Vector recalled(dim), o(dim);
      for (int i = 0; i < dim; ++i) {
        const double z = decay_input[h * dim + i] + values(w.dt_bias)[h * dim + i];
        const double softplus = std::fmax(z, 0.0) + std::log1p(std::exp(-std::fabs(z)));
        const double decay = std::exp(values(w.a)[h] * softplus);
        for (double& s : states[h][i]) s *= decay;
        accumulate(recalled, states[h][i], kh[i] * k_scale);
      }
      for (int i = 0; i < dim; ++i) {
        for (int c = 0; c < dim; ++c) {
          states[h][i][c] += kh[i] * k_scale * sigmoid64(beta[h]) * (vh[c] - recalled[c]);
        }
        accumulate(o, states[h][i], qh[i] * q_scale / std::sqrt(double(dim)));
      }
      const Vector normed = norm(w.norm, o);
      for (int c = 0; c < dim; ++c) gated.push_back(normed[c] * sigmoid64(gate[h * dim + c]));
    }
    out.push_back(multiply(w.out, gated));
  }
  return out;
}

Vector Reference::feed_forward(const LayerWeights& layer, const Vector& x) const {
  if (const auto* w = std::get_if<DenseWeights>(&layer.ffn))
    return dense(w->gate, w->up, w->down, x);
  return experts(std::get<ExpertWeights>(layer.ffn), x);
}

Vector Reference::dense(Weight gate, Weight up, Weight down, const Vector& x, int block) const {
  Vector hidden = multiply(gate, x, block);
  const Vector upper = multiply(up, x, block);
  for (std::size_t i = 0; i < hidden.size(); ++i) hidden[i] = silu64(hidden[i]) * upper[i];
  return multiply(down, hidden, block);
}

// Chosen by gate and bias, weighed by the gate alone.
Vector Reference::experts(const ExpertWeights& w, const Vector& x) const {
  const Experts& e = config_.experts;
  Vector gates = multiply(w.router, x);
  if (e.sigmoid) {
    for (double& gate : gates) gate = sigmoid64(gate);
  } else {
    softmax64(gates);
  }
  Vector merit = gates;
  add_bias(w.bias, merit);
  std::vector<int> order(e.count);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return merit[a] > merit[b]; });
  order.resize(e.used);
  double sum = 0;
  for (int expert : order) sum += gates[expert];
  const double divisor = e.normalise ? std::fmax(sum, 6.103515625e-5) : 1;
  Vector y(config_.dim);
  for (int expert : order) {
    accumulate(y, dense(w.gate, w.up, w.down, x, expert), gates[expert] / divisor * e.scale);
  }
  if (w.shared.gate != nullptr) {
    accumulate(y, dense(w.shared.gate, w.shared.up, w.shared.down, x));
  }
  return y;
}

}  // namespace serving::model
