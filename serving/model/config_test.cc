// What a model's file may get wrong though every byte of it is in its place.
#include "serving/model/config.h"

#include <algorithm>
#include <functional>

#include "serving/model/decoder.h"
#include "serving/model/test_models.h"

using namespace serving;
using namespace serving::model;

namespace {

using Change = std::function<void(gguf::Plan&)>;

std::string refusal(const char* architecture, const Change& change) {
  ModelSpec spec;
  spec.architecture = architecture;
  spec.dim = 64, spec.layers = 4, spec.head_dim = 16, spec.ffn = 64;
  auto plan = plan_model(spec);
  REQUIRE(plan);
  change(*plan);
  std::ostringstream out;
  REQUIRE(gguf::write(out, *plan, [](const auto&, std::uint64_t, std::span<float>) {}));
  const std::string bytes = std::move(out).str();
  auto file = gguf::File::parse(std::as_bytes(std::span(bytes)));
  REQUIRE(file);
  DecoderOptions options;
  options.cache = {CacheType::f32, 1, 16, 1};
  auto made = Decoder::make(std::move(*file), options);
  return made ? std::string("(accepted)") : made.error().message;
}

Change set(const std::string& key, const gguf::Value& value) {
  return [=](gguf::Plan& plan) {
    std::erase_if(plan.metadata, [&](const gguf::Entry& e) { return e.first == key; });
    plan.metadata.emplace_back(key, value);
  };
}

Change without_key(const std::string& key) {
  return [=](gguf::Plan& plan) {
    std::erase_if(plan.metadata, [&](const gguf::Entry& e) { return e.first == key; });
  };
}

Change without_tensor(const std::string& name) {
  return [=](gguf::Plan& plan) {
    std::erase_if(plan.tensors, [&](const auto& t) { return t.name == name; });
  };
}

gguf::Value u32(std::uint32_t value) { return value; }

struct Case {
  const char* architecture;
  Change change;
  const char* message;  // must be part of the refusal
};

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"llama", [](gguf::Plan&) {}, "(accepted)"},
      {"kimi-linear", [](gguf::Plan&) {}, "(accepted)"},
      {"llama", set("general.architecture", std::string("mamba")), "found 'mamba'"},
      {"llama", without_key("llama.block_count"), "'llama.block_count' is missing"},
      {"llama", set("llama.block_count", u32(0)), "expected 1 to 4096, found 0"},
      {"llama", set("llama.block_count", u32(4000000000u)), "found 4000000000"},
      {"llama", set("llama.block_count", u32(5)),
       "tensor 'blk.4.attn_norm.weight' (64) is missing"},
      {"llama", set("llama.embedding_length", u32(65)),
       "tensor 'token_embd.weight': expected 65 x 512, found 64 x 512"},
      {"llama", set("llama.attention.head_count", u32(65)), "expected 1 to 64, found 65"},
      {"llama", set("llama.attention.head_count_kv", u32(3)), "is no multiple of head_count_kv, 3"},
      {"llama", set("llama.attention.head_count_kv", u32(0)), "expected 1 to"},
      {"llama", set("llama.attention.head_count_kv", gguf::Array(std::vector<std::int32_t>{4, 4})),
       "expected 4 integers of at least 1"},
      {"llama", set("llama.attention.key_length", u32(15)), "up to the key length, 15, found 16"},
      {"llama", set("llama.attention.key_length", u32(1u << 31)), "found 2147483648"},
      {"llama", set("llama.rope.dimension_count", u32(7)), "expected an even number"},
      {"llama", set("llama.rope.scaling.type", std::string("yarn")), "found 'yarn'"},
      {"llama", set("llama.rope.freq_base", 0.0f), "must be positive"},
      {"llama", set("llama.rope.freq_base", std::string("10000")),
       "expected a float, found string"},
      {"llama", set("llama.attention.layer_norm_rms_epsilon", float(NAN)), "is not finite"},
      {"llama", set("llama.expert_count", u32(8)), "in kimi-linear only"},
      {"llama", without_tensor("blk.2.ffn_up.weight"),
       "'blk.2.ffn_up.weight' (64 x 64) is missing"},
      {"llama", without_tensor("token_embd.weight"), "'token_embd.weight' is missing"},
      {"kimi-linear", set("kimi-linear.kda.head_dim", u32(8)), "multiple of 16, found 8"},
      {"kimi-linear", set("kimi-linear.kda.head_dim", u32(32)), "expected 64 x 128, found 64 x 64"},
      {"kimi-linear", set("kimi-linear.ssm.conv_kernel", u32(3)), "expected 4, found 3"},
      {"kimi-linear", set("kimi-linear.attention.q_lora_rank", u32(8)), "compressed queries"},
      {"kimi-linear", set("kimi-linear.expert_used_count", u32(9)), "expected 1 to 8, found 9"},
      {"kimi-linear", set("kimi-linear.expert_gating_func", u32(3)), "found 3"},
      {"kimi-linear", set("kimi-linear.expert_feed_forward_length", u32(0x7fffffff)),
       "found 2147483647"},
      {"kimi-linear", set("kimi-linear.attention.key_length_mla", u32(16)), "must exceed"},
      {"kimi-linear", without_tensor("blk.3.attn_k_b.weight"), "'blk.3.attn_k_b.weight'"},
      {"kimi-linear", without_tensor("blk.1.ffn_gate_exps.weight"), "'blk.1.ffn_gate_exps.weight'"},
  };
  return kCases;
}

}  // namespace

TEST_CASE("a model that contradicts itself is refused, and what is wrong is named") {
  for (const Case& c : cases()) {
    const std::string message = refusal(c.architecture, c.change);
    INFO(c.architecture << ": " << message);
    CHECK(message.find(c.message) != std::string::npos);
  }
}

TEST_CASE("options that no cache can have are refused") {
  const MadeModel made(ModelSpec{});
  const auto refused = [&](auto change) {
    DecoderOptions options;
    options.cache = {CacheType::f32, 4, 16, 1};
    change(options);
    auto file = gguf::File::parse(std::as_bytes(std::span(made.bytes())));
    REQUIRE(file);
    auto decoder = Decoder::make(std::move(*file), options);
    return decoder ? std::string("(accepted)") : decoder.error().message;
  };
  CHECK(refused([](DecoderOptions&) {}) == "(accepted)");
  CHECK(refused([](DecoderOptions& o) { o.cache.page_tokens = 24; }) ==
        "tokens of a page: expected a multiple of 16, found 24");
  CHECK(refused([](DecoderOptions& o) { o.cache.pages = 0; }) ==
        "pages: expected at least 1, found 0");
  CHECK(refused([](DecoderOptions& o) { o.threads = 0; }) ==
        "threads: expected 1 to 1024, found 0");
  CHECK(refused([](DecoderOptions& o) { o.most_batch_tokens = 0; }) ==
        "batch tokens: expected 1 to 65536, found 0");
}
