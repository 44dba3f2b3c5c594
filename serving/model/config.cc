#include "serving/model/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace serving::model {
namespace {

// Reads keys below the architecture's prefix. The first mistake is kept and everything after it is
// ignored, so that the reading below stays a list.
class Keys {
 public:
  Keys(const gguf::Metadata& metadata, std::string prefix)
      : metadata_(metadata), prefix_(std::move(prefix)) {}

  // From `least` to `most`. Missing without a fallback is a mistake.
  int integer(const char* key, int least, std::optional<int> fallback = std::nullopt,
              int most = std::numeric_limits<int>::max()) {
    auto value = metadata_.integer(prefix_ + key, fallback);
    if (value && (*value < least || *value > most)) {
      mistake(fail(ErrorCode::bad_input, "metadata key '" + prefix_ + key + "': expected " +
                                             std::to_string(least) + " to " + std::to_string(most) +
                                             ", found " + std::to_string(*value)));
      return least;
    }
    return int(take(value, std::int64_t(least)));
  }
  float number(const char* key, std::optional<double> fallback = std::nullopt) {
    auto value = metadata_.number(prefix_ + key, fallback);
    if (value && !std::isfinite(*value)) {
      mistake(fail(ErrorCode::bad_input, "metadata key '" + prefix_ + key + "' is not finite"));
    }
    return float(take(value, 1.0));
  }
  bool flag(const char* key, bool fallback) {
    return take(metadata_.flag(prefix_ + key, fallback), fallback);
  }
  std::string text(const char* key, const char* fallback) {
    return take(metadata_.text(prefix_ + key, std::string(fallback)), std::string());
  }
  // One value for all layers, or one a layer.
  std::vector<int> per_layer(const char* key, int layers, int least) {
    const gguf::Value* value = metadata_.find(prefix_ + key);
    if (value == nullptr || value->index() != gguf::kArrayType) {
      return std::vector<int>(layers, integer(key, std::max(least, 1)));
    }
    auto items = take(metadata_.integers(prefix_ + key), {});
    const bool fits = int(items.size()) == layers &&
                      std::all_of(items.begin(), items.end(), [&](std::int64_t item) {
                        return item >= least && item <= std::numeric_limits<int>::max();
                      });
    if (!fits) {
      mistake(fail(ErrorCode::bad_input, "metadata key '" + prefix_ + key + "': expected " +
                                             std::to_string(layers) + " integers of at least " +
                                             std::to_string(least)));
      return std::vector<int>(layers, std::max(least, 1));
    }
    return {items.begin(), items.end()};
  }
  void require(bool condition, const std::string& message) {
    if (!condition) mistake(fail(ErrorCode::bad_input, message));
  }
  const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  T take(Result<T> value, T otherwise) {
    if (value) return std::move(*value);
    mistake(tl::unexpected(value.error()));
    return otherwise;
  }
  void mistake(tl::unexpected<Error> error) {
    if (!error_) error_ = std::move(error.value());
  }

  const gguf::Metadata& metadata_;
  std::string prefix_;
  std::optional<Error> error_;
};

// Beyond these a file is damaged, and products of them would overflow.
constexpr int kMostLayers = 4096;
constexpr int kMostWidth = 1 << 24;
constexpr int kMostExperts = 1 << 16;

void read_rope(Keys& keys, Config& config) {
  config.rope.adjacent = config.architecture == "llama";
  config.rope.dims = keys.integer("rope.dimension_count", 0, config.key_dim);
  keys.require(config.rope.dims <= config.key_dim && config.rope.dims % 2 == 0,
               "rope.dimension_count: expected an even number up to the key length, " +
                   std::to_string(config.key_dim) + ", found " + std::to_string(config.rope.dims));
  config.rope.base = keys.number("rope.freq_base", 10000);
  const std::string scaling = keys.text("rope.scaling.type", "none");
  keys.require(scaling == "none" || scaling == "linear",
               "rope.scaling.type: none and linear are supported, found '" + scaling + "'");
  const float factor = scaling == "linear" ? keys.number("rope.scaling.factor", 1) : 1.0f;
  keys.require(factor > 0 && config.rope.base > 0, "rope's base and factor must be positive");
  config.rope.scale = 1 / factor;
}

void read_attention(Keys& keys, Config& config) {
  config.layers.assign(config.layers.size(), LayerKind::attention);
  config.kv_heads = keys.per_layer("attention.head_count_kv", int(config.layers.size()), 1);
  for (int kv_heads : config.kv_heads) {
    keys.require(config.heads % kv_heads == 0,
                 "attention.head_count, " + std::to_string(config.heads) +
                     ", is no multiple of head_count_kv, " + std::to_string(kv_heads));
  }
  config.key_dim = keys.integer("attention.key_length", 1, config.dim / config.heads, kMostWidth);
  config.value_dim =
      keys.integer("attention.value_length", 1, config.dim / config.heads, kMostWidth);
  config.attention_scale = keys.number("attention.scale", 1 / std::sqrt(double(config.key_dim)));
  config.dense_layers = int(config.layers.size());
  keys.require(keys.integer("expert_count", 0, 0) == 0,
               "experts are supported in kimi-linear only");
  read_rope(keys, config);
}

void read_experts(Keys& keys, Config& config) {
  const int layers = int(config.layers.size());
  config.dense_layers = std::min(layers, keys.integer("leading_dense_block_count", 0, 0));
  if (config.dense_layers == layers) return;
  Experts& experts = config.experts;
  experts.count = keys.integer("expert_count", 1, std::nullopt, kMostExperts);
  experts.used = keys.integer("expert_used_count", 1, std::nullopt, experts.count);
  experts.dim = keys.integer("expert_feed_forward_length", 1, std::nullopt, kMostWidth);
  experts.shared_dim = experts.dim * keys.integer("expert_shared_count", 0, 0, 64);
  experts.normalise = keys.flag("expert_weights_norm", true);
  experts.scale = keys.number("expert_weights_scale", 1);
  const int gating = keys.integer("expert_gating_func", 1, 1);
  keys.require(gating <= 2,
               "expert_gating_func: softmax (1) and sigmoid (2) are supported, found " +
                   std::to_string(gating));
  experts.sigmoid = gating == 2;
}

// Layers without key-value heads are the recurrent ones.
void read_kimi(Keys& keys, Config& config) {
  config.kv_heads = keys.per_layer("attention.head_count_kv", int(config.layers.size()), 0);
  for (std::size_t i = 0; i < config.layers.size(); ++i) {
    config.layers[i] = config.kv_heads[i] == 0 ? LayerKind::kda : LayerKind::mla;
  }
  if (config.has(LayerKind::kda)) {
    config.kda.head_dim = keys.integer("kda.head_dim", 1, std::nullopt, kMostWidth);
    config.kda.conv_width = keys.integer("ssm.conv_kernel", 1, std::nullopt, kMostWidth);
  }
  if (config.has(LayerKind::mla)) {
    config.mla.rank = keys.integer("attention.kv_lora_rank", 1, std::nullopt, kMostWidth);
    config.mla.rope_dim = keys.integer("rope.dimension_count", 0, 0, kMostWidth);
    config.mla.value_dim = keys.integer("attention.value_length_mla", 1, std::nullopt, kMostWidth);
    const int key_dim = keys.integer("attention.key_length_mla", 1, std::nullopt, kMostWidth);
    config.mla.nope_dim = key_dim - config.mla.rope_dim;
    keys.require(config.mla.nope_dim > 0, "attention.key_length_mla, " + std::to_string(key_dim) +
                                              ", must exceed rope.dimension_count");
    keys.require(keys.integer("attention.q_lora_rank", 0, 0) == 0,
                 "attention.q_lora_rank: compressed queries are not supported");
    config.attention_scale = float(1 / std::sqrt(double(key_dim)));
  }
  read_experts(keys, config);
}

}  // namespace

bool Config::has(LayerKind kind) const {
  return std::find(layers.begin(), layers.end(), kind) != layers.end();
}

Result<Config> read_config(const gguf::File& file) {
  Config config;
  auto architecture = file.metadata().text("general.architecture");
  if (!architecture) return tl::unexpected(architecture.error());
  config.architecture = *architecture;
  const bool kimi = config.architecture == "kimi-linear";
  if (!kimi && config.architecture != "llama" && config.architecture != "qwen2" &&
      config.architecture != "qwen3") {
    return fail(ErrorCode::bad_input,
                "general.architecture: llama, qwen2, qwen3 and kimi-linear are supported, found '" +
                    config.architecture + "'");
  }
  config.name = file.metadata().text("general.name", config.architecture).value_or("");

  Keys keys(file.metadata(), config.architecture + ".");
  const int layers = keys.integer("block_count", 1, std::nullopt, kMostLayers);
  if (keys.error()) return tl::unexpected(*keys.error());
  config.layers.resize(layers);
  config.context = keys.integer("context_length", 1);
  config.dim = keys.integer("embedding_length", 1, std::nullopt, kMostWidth);
  config.epsilon = keys.number("attention.layer_norm_rms_epsilon");
  config.heads = keys.integer("attention.head_count", 1, std::nullopt, config.dim);
  config.ffn_dim = keys.integer("feed_forward_length", 1, std::nullopt, kMostWidth);
  if (keys.error()) return tl::unexpected(*keys.error());
  kimi ? read_kimi(keys, config) : read_attention(keys, config);
  if (keys.error()) return tl::unexpected(*keys.error());

  const gguf::Tensor* embedding = file.find("token_embd.weight");
  if (embedding == nullptr) {
    return fail(ErrorCode::not_found, "tensor 'token_embd.weight' is missing");
  }
  if (embedding->rows() > std::uint64_t(1) << 24) {
    return fail(ErrorCode::bad_input, "tensor 'token_embd.weight' has absurdly many rows");
  }
  config.vocabulary = int(embedding->rows());
  return config;
}

}  // namespace serving::model
