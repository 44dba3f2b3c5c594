#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

#include "serving/model/make_model.h"

namespace serving::model {
namespace {

void add_options(CLI::App& app, ModelSpec& spec, std::string& type, std::string& out) {
  app.add_option("--arch", spec.architecture, "llama, qwen2, qwen3 or kimi-linear")
      ->capture_default_str();
  const auto number = [&](const char* option, int& value, const char* what) {
    app.add_option(option, value, what)->capture_default_str();
  };
  number("--dim", spec.dim, "of the embedding");
  number("--layers", spec.layers, "how many");
  number("--heads", spec.heads, "of queries");
  number("--kv-heads", spec.kv_heads, "of keys and values; divides --heads");
  number("--head-dim", spec.head_dim, "0: --dim / --heads");
  number("--ffn", spec.ffn, "inner size of a dense feed-forward layer");
  number("--vocab", spec.vocabulary, "tokens");
  number("--context", spec.context, "tokens, the longest sequence");
  app.add_flag("--tied", spec.tied, "the embedding is the output matrix too");
  app.add_option("--rope-linear", spec.rope_linear, "factor of linear rotary scaling")
      ->capture_default_str();
  app.add_flag("--rope-factors", spec.rope_factors, "a divisor for each rotary frequency");
  app.add_option("--type", type, "of the matrices: f32, f16, bf16 or q8_0")->capture_default_str();
  app.add_option("--seed", spec.seed, "of the weights")->capture_default_str();
  number("--mla-every", spec.mla_every, "kimi-linear: each n-th layer is MLA, the others KDA");
  number("--kv-rank", spec.kv_rank, "kimi-linear: size of MLA's latent");
  number("--rope-dim", spec.rope_dim, "kimi-linear: size of MLA's shared key");
  number("--nope-dim", spec.nope_dim, "kimi-linear: size of a head's own key");
  number("--value-dim", spec.value_dim, "kimi-linear: size of an MLA head's value");
  number("--dense-layers", spec.dense_layers, "kimi-linear: first layers without experts");
  number("--experts", spec.experts, "kimi-linear: how many a layer");
  number("--experts-used", spec.experts_used, "kimi-linear: how many a token");
  number("--expert-ffn", spec.expert_ffn, "kimi-linear: inner size of an expert");
  number("--shared-experts", spec.shared_experts, "kimi-linear: experts of every token");
  app.add_option("--out", out, "the file to write")->required();
}

}  // namespace

int make_model_command(int argc, char** argv) {
  ModelSpec spec;
  std::string type = "f32", out;
  CLI::App app("Writes a model with random weights as a GGUF file.", "make-model");
  add_options(app, spec, type, out);
  CLI11_PARSE(app, argc, argv);
  const auto tensor_type = gguf::tensor_type(type);
  if (!tensor_type) {
    std::cerr << "--type: expected f32, f16, bf16 or q8_0, found '" << type << "'\n";
    return 2;
  }
  spec.type = *tensor_type;
  if (Status status = make_model(spec, out); !status) {
    std::cerr << status.error().message << "\n";
    return status.error().code == ErrorCode::bad_input ? 2 : 1;
  }
  std::cout << out << ": " << std::filesystem::file_size(out) << " bytes\n";
  return 0;
}

}  // namespace serving::model
