#include "serving/model/weights.h"

#include <initializer_list>
#include <optional>
#include <string>

namespace serving::model {
namespace {

using Size = std::uint64_t;

// Finds tensors below a prefix; keeps the first mistake, like Keys of config.cc.
class Binder {
 public:
  explicit Binder(const gguf::File& file) : file_(file) {}

  void layer(int index) { prefix_ = "blk." + std::to_string(index) + "."; }
  void no_layer() { prefix_.clear(); }

  // Dims as the file has them: the contiguous one first.
  Weight need(const char* name, gguf::Dims dims) {
    auto found = file_.tensor(prefix_ + name, dims);
    if (found) return *found;
    if (!error_) error_ = found.error();
    return nullptr;
  }
  Weight may(const char* name, gguf::Dims dims) {
    return file_.find(prefix_ + name) ? need(name, dims) : nullptr;
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  const gguf::File& file_;
  std::string prefix_;
  std::optional<Error> error_;
};

gguf::Dims vector_of(Size n) { return {n, 1, 1, 1}; }
gguf::Dims matrix(Size inputs, Size outputs, Size count = 1) { return {inputs, outputs, count, 1}; }

AttentionWeights bind_attention(Binder& bind, const Config& c, int kv_heads) {
  const Size dim = c.dim, heads = c.heads, kv = kv_heads, key = c.key_dim, value = c.value_dim;
  AttentionWeights w;
  w.q = bind.need("attn_q.weight", matrix(dim, heads * key));
  w.k = bind.need("attn_k.weight", matrix(dim, kv * key));
  w.v = bind.need("attn_v.weight", matrix(dim, kv * value));
  w.q_bias = bind.may("attn_q.bias", vector_of(heads * key));
  w.k_bias = bind.may("attn_k.bias", vector_of(kv * key));
  w.v_bias = bind.may("attn_v.bias", vector_of(kv * value));
  w.q_norm = bind.may("attn_q_norm.weight", vector_of(key));
  w.k_norm = bind.may("attn_k_norm.weight", vector_of(key));
  w.out = bind.need("attn_output.weight", matrix(heads * value, dim));
  w.out_bias = bind.may("attn_output.bias", vector_of(dim));
  return w;
}

KdaWeights bind_kda(Binder& bind, const Config& c) {
  const Size dim = c.dim, heads = c.heads, head = c.kda.head_dim, inner = heads * head;
  const gguf::Dims conv = {Size(c.kda.conv_width), 1, inner, 1};
  KdaWeights w;
  w.q = bind.need("attn_q.weight", matrix(dim, inner));
  w.k = bind.need("attn_k.weight", matrix(dim, inner));
  w.v = bind.need("attn_v.weight", matrix(dim, inner));
  w.conv_q = bind.need("ssm_conv1d_q.weight", conv);
  w.conv_k = bind.need("ssm_conv1d_k.weight", conv);
  w.conv_v = bind.need("ssm_conv1d_v.weight", conv);
  w.f_a = bind.need("ssm_f_a.weight", matrix(dim, head));
  w.f_b = bind.need("ssm_f_b.weight", matrix(head, inner));
  w.beta = bind.need("ssm_beta.weight", matrix(dim, heads));
  w.a = bind.need("ssm_a", matrix(1, heads));
  w.dt_bias = bind.need("ssm_dt.bias", vector_of(inner));
  w.g_a = bind.need("ssm_g_a.weight", matrix(dim, head));
  w.g_b = bind.need("ssm_g_b.weight", matrix(head, inner));
  w.norm = bind.need("ssm_norm.weight", vector_of(head));
  w.out = bind.need("attn_output.weight", matrix(inner, dim));
  return w;
}

MlaWeights bind_mla(Binder& bind, const Config& c) {
  const Size dim = c.dim, heads = c.heads, rank = c.mla.rank;
  MlaWeights w;
  w.q = bind.need("attn_q.weight", matrix(dim, heads * c.mla.key_dim()));
  w.kv_a = bind.need("attn_kv_a_mqa.weight", matrix(dim, rank + c.mla.rope_dim));
  w.kv_norm = bind.need("attn_kv_a_norm.weight", vector_of(rank));
  w.k_b = bind.need("attn_k_b.weight", matrix(c.mla.nope_dim, rank, heads));
  w.v_b = bind.need("attn_v_b.weight", matrix(rank, c.mla.value_dim, heads));
  w.out = bind.need("attn_output.weight", matrix(heads * c.mla.value_dim, dim));
  return w;
}

ExpertWeights bind_experts(Binder& bind, const Config& c) {
  const Size dim = c.dim, count = c.experts.count, ffn = c.experts.dim;
  ExpertWeights w{};
  w.router = bind.need("ffn_gate_inp.weight", matrix(dim, count));
  w.bias = bind.may("exp_probs_b.bias", vector_of(count));
  w.gate = bind.need("ffn_gate_exps.weight", matrix(dim, ffn, count));
  w.up = bind.need("ffn_up_exps.weight", matrix(dim, ffn, count));
  w.down = bind.need("ffn_down_exps.weight", matrix(ffn, dim, count));
  if (const Size shared = c.experts.shared_dim; shared > 0) {
    w.shared.gate = bind.need("ffn_gate_shexp.weight", matrix(dim, shared));
    w.shared.up = bind.need("ffn_up_shexp.weight", matrix(dim, shared));
    w.shared.down = bind.need("ffn_down_shexp.weight", matrix(shared, dim));
  }
  return w;
}

DenseWeights bind_dense(Binder& bind, const Config& c) {
  DenseWeights w;
  w.gate = bind.need("ffn_gate.weight", matrix(c.dim, c.ffn_dim));
  w.up = bind.need("ffn_up.weight", matrix(c.dim, c.ffn_dim));
  w.down = bind.need("ffn_down.weight", matrix(c.ffn_dim, c.dim));
  return w;
}

LayerWeights bind_layer(Binder& bind, const Config& c, int index) {
  LayerWeights layer;
  bind.layer(index);
  layer.mixer_norm = bind.need("attn_norm.weight", vector_of(c.dim));
  layer.ffn_norm = bind.need("ffn_norm.weight", vector_of(c.dim));
  switch (c.layers[index]) {
    case LayerKind::attention:
      layer.mixer = bind_attention(bind, c, c.kv_heads[index]);
      break;
    case LayerKind::kda:
      layer.mixer = bind_kda(bind, c);
      break;
    case LayerKind::mla:
      layer.mixer = bind_mla(bind, c);
      break;
  }
  if (index < c.dense_layers) {
    layer.ffn = bind_dense(bind, c);
  } else {
    layer.ffn = bind_experts(bind, c);
  }
  return layer;
}

}  // namespace

Result<Weights> bind_weights(const gguf::File& file, const Config& config) {
  Binder bind(file);
  Weights weights;
  const gguf::Dims table = matrix(config.dim, config.vocabulary);
  weights.embedding = bind.need("token_embd.weight", table);
  weights.output = bind.may("output.weight", table);
  if (weights.output == nullptr) weights.output = weights.embedding;
  weights.output_norm = bind.need("output_norm.weight", vector_of(config.dim));
  weights.rope_factors = bind.may("rope_freqs.weight", vector_of(config.rope.dims / 2));
  for (int i = 0; i < int(config.layers.size()) && !bind.error(); ++i) {
    weights.layers.push_back(bind_layer(bind, config, i));
  }
  if (bind.error()) return tl::unexpected(*bind.error());
  return weights;
}

}  // namespace serving::model
