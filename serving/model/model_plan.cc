#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "serving/model/make_model.h"
#include "serving/model/synthetic_vocabulary.h"

namespace serving::model {
namespace {

using gguf::Dims;
using gguf::TensorType;
using Count = std::uint64_t;

// The numbers of `general.file_type`.
std::uint32_t file_type(TensorType type) {
  switch (type) {
    case TensorType::f32:
      return 0;
    case TensorType::f16:
      return 1;
    case TensorType::q8_0:
      return 7;
    case TensorType::bf16:
      return 32;
  }
  return 0;
}

bool is_kimi(const ModelSpec& s) { return s.architecture == "kimi-linear"; }
bool is_mla(const ModelSpec& s, int layer) { return layer % s.mla_every == s.mla_every - 1; }
int head_dim(const ModelSpec& s) { return s.head_dim > 0 ? s.head_dim : s.dim / s.heads; }

Status check(const ModelSpec& s) {
  const auto refuse = [](std::string message) {
    return Status(fail(ErrorCode::bad_input, std::move(message)));
  };
  struct Bound {
    const char* option;
    int value, least, most;
  };
  const bool kimi = is_kimi(s);
  for (const Bound& b : std::initializer_list<Bound>{
           {"--dim", s.dim, 1, 1 << 20},
           {"--layers", s.layers, 1, 1024},
           {"--heads", s.heads, 1, s.dim},
           {"--kv-heads", s.kv_heads, 1, kimi ? s.kv_heads : s.heads},
           {"--head-dim", head_dim(s), 1, 1 << 16},
           {"--ffn", s.ffn, 1, 1 << 22},
           {"--vocab", s.vocabulary, kLeastVocabulary, 1 << 22},
           {"--context", s.context, 1, 1 << 30},
           {"--mla-every", s.mla_every, 1, 1 << 20},
           {"--kv-rank", s.kv_rank, 1, 1 << 16},
           {"--rope-dim", s.rope_dim, 1, 1 << 16},
           {"--nope-dim", s.nope_dim, 1, 1 << 16},
           {"--value-dim", s.value_dim, 1, 1 << 16},
           {"--dense-layers", s.dense_layers, 0, 1024},
           {"--experts", s.experts, 1, 4096},
           {"--experts-used", s.experts_used, 1, s.experts},
           {"--expert-ffn", s.expert_ffn, 1, 1 << 22},
           {"--shared-experts", s.shared_experts, 0, 64},
       }) {
    if (b.value < b.least || b.value > b.most) {
      return refuse(std::string(b.option) + ": expected from " + std::to_string(b.least) + " to " +
                    std::to_string(b.most) + ", found " + std::to_string(b.value));
    }
  }
  const bool known =
      kimi || s.architecture == "llama" || s.architecture == "qwen2" || s.architecture == "qwen3";
  if (!known) {
    return refuse("--arch: expected llama, qwen2, qwen3 or kimi-linear, found '" + s.architecture +
                  "'");
  }
  if (kimi && s.tied) return refuse("--tied: kimi-linear has an output matrix of its own");
  if (kimi && (s.rope_factors || s.rope_linear != 1)) {
    return refuse("--rope-factors, --rope-linear: kimi-linear has no rotary positions");
  }
  if (!(s.rope_linear > 0)) return refuse("--rope-linear: must be positive");
  if (kimi && head_dim(s) % 16 != 0) {
    return refuse("--head-dim: of KDA it is a multiple of 16, found " +
                  std::to_string(head_dim(s)));
  }
  if (!kimi && s.heads % s.kv_heads != 0)
    return refuse("--heads: must be a multiple of --kv-heads");
  if (!kimi && head_dim(s) % 2 != 0) return refuse("--head-dim: rotary positions need it even");
  return {};
}

// Collects a model's tensors; matrices take the type that was asked for where their rows allow.
class Tensors {
 public:
  Tensors(std::vector<gguf::PlannedTensor>& list, TensorType type) : list_(list), type_(type) {}

  void layer(int index) { prefix_ = "blk." + std::to_string(index) + "."; }
  void no_layer() { prefix_.clear(); }
  void vector(const char* name, Count size) { add(name, TensorType::f32, {size, 1, 1, 1}, 1); }
  void plain(const char* name, Dims dims, int rank) { add(name, TensorType::f32, dims, rank); }
  void matrix(const char* name, Count inputs, Count outputs) {
    add(name, type_for(inputs), {inputs, outputs, 1, 1}, 2);
  }
  void matrices(const char* name, Count inputs, Count outputs, Count count) {
    add(name, type_for(inputs), {inputs, outputs, count, 1}, 3);
  }

 private:
  TensorType type_for(Count inputs) const {
    return inputs % block_size(type_) == 0 ? type_ : TensorType::f16;
  }
  void add(const char* name, TensorType type, Dims dims, int rank) {
    list_.push_back({prefix_ + name, type, dims, rank});
  }
  std::vector<gguf::PlannedTensor>& list_;
  TensorType type_;
  std::string prefix_;
};

void add_attention(Tensors& t, const ModelSpec& s) {
  const Count dim = s.dim, head = head_dim(s), q = s.heads * head, kv = s.kv_heads * head;
  t.matrix("attn_q.weight", dim, q);
  t.matrix("attn_k.weight", dim, kv);
  t.matrix("attn_v.weight", dim, kv);
  if (s.architecture == "qwen2") {
    t.vector("attn_q.bias", q);
    t.vector("attn_k.bias", kv);
    t.vector("attn_v.bias", kv);
  }
  if (s.architecture == "qwen3") {
    t.vector("attn_q_norm.weight", head);
    t.vector("attn_k_norm.weight", head);
  }
  t.matrix("attn_output.weight", q, dim);
}

void add_kda(Tensors& t, const ModelSpec& s) {
  const Count dim = s.dim, head = head_dim(s), heads = s.heads, inner = heads * head;
  for (const char* name : {"attn_q.weight", "attn_k.weight", "attn_v.weight"}) {
    t.matrix(name, dim, inner);
  }
  for (const char* name : {"ssm_conv1d_q.weight", "ssm_conv1d_k.weight", "ssm_conv1d_v.weight"}) {
    t.plain(name, {4, 1, inner, 1}, 4);
  }
  t.matrix("ssm_f_a.weight", dim, head);
  t.matrix("ssm_f_b.weight", head, inner);
  t.matrix("ssm_beta.weight", dim, heads);
  t.plain("ssm_a", {1, heads, 1, 1}, 2);
  t.vector("ssm_dt.bias", inner);
  t.matrix("ssm_g_a.weight", dim, head);
  t.matrix("ssm_g_b.weight", head, inner);
  t.vector("ssm_norm.weight", head);
  t.matrix("attn_output.weight", inner, dim);
}

void add_mla(Tensors& t, const ModelSpec& s) {
  const Count dim = s.dim, heads = s.heads, rank = s.kv_rank, nope = s.nope_dim, rope = s.rope_dim;
  t.matrix("attn_q.weight", dim, heads * (nope + rope));
  t.matrix("attn_kv_a_mqa.weight", dim, rank + rope);
  t.vector("attn_kv_a_norm.weight", rank);
  t.matrices("attn_k_b.weight", nope, rank, heads);
  t.matrices("attn_v_b.weight", rank, s.value_dim, heads);
  t.matrix("attn_output.weight", heads * s.value_dim, dim);
}

void add_dense(Tensors& t, const ModelSpec& s) {
  t.matrix("ffn_gate.weight", s.dim, s.ffn);
  t.matrix("ffn_up.weight", s.dim, s.ffn);
  t.matrix("ffn_down.weight", s.ffn, s.dim);
}

void add_experts(Tensors& t, const ModelSpec& s) {
  const Count dim = s.dim, ffn = s.expert_ffn, count = s.experts, shared = s.shared_experts * ffn;
  t.plain("ffn_gate_inp.weight", {dim, count, 1, 1}, 2);  // llama.cpp keeps the router in F32
  t.vector("exp_probs_b.bias", count);
  t.matrices("ffn_gate_exps.weight", dim, ffn, count);
  t.matrices("ffn_up_exps.weight", dim, ffn, count);
  t.matrices("ffn_down_exps.weight", ffn, dim, count);
  if (shared > 0) {
    t.matrix("ffn_gate_shexp.weight", dim, shared);
    t.matrix("ffn_up_shexp.weight", dim, shared);
    t.matrix("ffn_down_shexp.weight", shared, dim);
  }
}

void add_tensors(Tensors& t, const ModelSpec& s) {
  t.matrix("token_embd.weight", s.dim, s.vocabulary);
  if (!s.tied) t.matrix("output.weight", s.dim, s.vocabulary);
  t.vector("output_norm.weight", s.dim);
  if (s.rope_factors) t.vector("rope_freqs.weight", Count(head_dim(s)) / 2);
  for (int i = 0; i < s.layers; ++i) {
    t.layer(i);
    t.vector("attn_norm.weight", s.dim);
    if (!is_kimi(s)) {
      add_attention(t, s);
    } else if (is_mla(s, i)) {
      add_mla(t, s);
    } else {
      add_kda(t, s);
    }
    t.vector("ffn_norm.weight", s.dim);
    is_kimi(s) && i >= s.dense_layers ? add_experts(t, s) : add_dense(t, s);
  }
}

std::vector<gguf::Entry> metadata_of(const ModelSpec& s) {
  const std::string prefix = s.architecture + ".";
  std::vector<gguf::Entry> entries = {
      {"general.architecture", s.architecture},
      {"general.name", s.architecture + "-random-" + std::to_string(s.seed)},
      {"general.file_type", file_type(s.type)}};
  const auto count = [&](const char* key, int value) {
    entries.emplace_back(prefix + key, std::uint32_t(value));
  };
  count("context_length", s.context);
  count("embedding_length", s.dim);
  count("block_count", s.layers);
  count("feed_forward_length", s.ffn);
  count("vocab_size", s.vocabulary);
  count("attention.head_count", s.heads);
  entries.emplace_back(prefix + "attention.layer_norm_rms_epsilon", 1e-5f);
  if (!is_kimi(s)) {
    count("attention.head_count_kv", s.kv_heads);
    count("attention.key_length", head_dim(s));
    count("attention.value_length", head_dim(s));
    count("rope.dimension_count", head_dim(s));
    entries.emplace_back(prefix + "rope.freq_base", 10000.0f);
    if (s.rope_linear != 1) {
      entries.emplace_back(prefix + "rope.scaling.type", std::string("linear"));
      entries.emplace_back(prefix + "rope.scaling.factor", s.rope_linear);
    }
    return entries;
  }
  std::vector<std::int32_t> kv_heads;  // 0 marks a KDA layer; MLA's latent counts as one head
  for (int i = 0; i < s.layers; ++i) kv_heads.push_back(is_mla(s, i) ? 1 : 0);
  entries.emplace_back(prefix + "attention.head_count_kv", gguf::Array(kv_heads));
  count("ssm.conv_kernel", 4);
  count("kda.head_dim", head_dim(s));
  count("attention.kv_lora_rank", s.kv_rank);
  count("rope.dimension_count", s.rope_dim);
  count("attention.key_length", s.kv_rank + s.rope_dim);
  count("attention.value_length", s.kv_rank);
  count("attention.key_length_mla", s.nope_dim + s.rope_dim);
  count("attention.value_length_mla", s.value_dim);
  count("leading_dense_block_count", std::min(s.dense_layers, s.layers));
  count("expert_count", s.experts);
  count("expert_used_count", s.experts_used);
  count("expert_feed_forward_length", s.expert_ffn);
  count("expert_shared_count", s.shared_experts);
  count("expert_gating_func", 2);
  entries.emplace_back(prefix + "expert_weights_scale", 2.446f);
  entries.emplace_back(prefix + "expert_weights_norm", true);
  return entries;
}

}  // namespace

Result<gguf::Plan> plan_model(const ModelSpec& spec) {
  if (Status status = check(spec); !status) return tl::unexpected(status.error());
  gguf::Plan plan;
  plan.metadata = metadata_of(spec);
  for (gguf::Entry& entry : synthetic_vocabulary(spec.vocabulary)) {
    plan.metadata.push_back(std::move(entry));
  }
  Tensors tensors(plan.tensors, spec.type);
  add_tensors(tensors, spec);
  return plan;
}

}  // namespace serving::model
