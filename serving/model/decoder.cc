#include "serving/model/decoder.h"

#include <algorithm>
#include <cassert>

#include "kernels/elementwise/elementwise.h"
#include "kernels/norm/norm.h"
#include "kernels/quantize/quantize.h"
#include "kernels/rope/rope.h"
#include "serving/trace/trace.h"

namespace serving::model {
namespace {

using kernels::Range;

// The longest row of any product's input.
int widest_input(const Config& c) {
  return std::max({c.dim, c.ffn_dim, c.experts.dim, c.experts.shared_dim, c.heads * c.value_dim,
                   c.heads * c.kda.head_dim, c.heads * c.mla.value_dim, c.mla.rank,
                   c.mla.nope_dim});
}

// Rows of the largest input: MLA has one for each head, experts one for each choice.
int most_input_rows(const Config& c, int batch_tokens) {
  const int heads = c.has(LayerKind::mla) ? c.heads : 1;
  return batch_tokens * std::max({1, heads, c.experts.used});
}

std::vector<double> rope_frequencies(const Config& config, const Weights& weights) {
  if (!config.has(LayerKind::attention) || config.rope.dims == 0) return {};
  const std::vector<float> factors =
      weights.rope_factors == nullptr ? std::vector<float>() : weights.rope_factors->values();
  std::vector<double> frequencies(config.rope.dims / 2);
  kernels::rope::frequencies(config.rope.base, config.rope.scale,
                             factors.empty() ? nullptr : factors.data(), config.rope.dims,
                             frequencies.data());
  return frequencies;
}

ModelShape shape_of(const Config& config, const DecoderOptions& options) {
  ModelShape shape;
  shape.vocabulary = config.vocabulary;
  shape.context = config.context;
  shape.page_tokens = options.cache.page_tokens;
  shape.has_pages = config.has(LayerKind::attention) || config.has(LayerKind::mla);
  shape.has_state = config.has(LayerKind::kda);
  shape.pages = shape.has_pages ? options.cache.pages : 0;
  shape.slots = shape.has_state ? options.cache.slots : 0;
  return shape;
}

Status check_options(const DecoderOptions& o) {
  const auto refuse = [](const char* what, int found) {
    return Status(
        fail(ErrorCode::bad_input, std::string(what) + ", found " + std::to_string(found)));
  };
  if (o.threads < 1 || o.threads > 1024) return refuse("threads: expected 1 to 1024", o.threads);
  if (o.most_batch_tokens < 1 || o.most_batch_tokens > 1 << 16) {
    return refuse("batch tokens: expected 1 to 65536", o.most_batch_tokens);
  }
  if (o.most_chunks < 1) return refuse("chunks of a forward: expected at least 1", o.most_chunks);
  const CacheOptions& c = o.cache;
  if (c.page_tokens < kernels::cache::kGroup || c.page_tokens % kernels::cache::kGroup != 0) {
    return refuse("tokens of a page: expected a multiple of 16", c.page_tokens);
  }
  if (c.pages < 1) return refuse("pages: expected at least 1", c.pages);
  if (c.slots < 1) return refuse("slots: expected at least 1", c.slots);
  return {};
}

}  // namespace

Result<std::unique_ptr<Decoder>> Decoder::make(gguf::File file, const DecoderOptions& options) {
  Status status = check_options(options);
  if (!status) return tl::unexpected(status.error());
  auto config = read_config(file);
  if (!config) return tl::unexpected(config.error());
  if (config->has(LayerKind::kda)) {
    if (status = check_kda(config->kda); !status) return tl::unexpected(status.error());
  }
  auto weights = bind_weights(file, *config);
  if (!weights) return tl::unexpected(weights.error());
  return std::unique_ptr<Decoder>(
      new Decoder(std::move(file), std::move(*config), *weights, options));
}

Decoder::Decoder(gguf::File file, Config config, const Weights& weights,
                 const DecoderOptions& options)
    : file_(std::move(file)),
      config_(std::move(config)),
      options_(options),
      shape_(shape_of(config_, options)),
      pool_(options.threads, options.pin),
      multiplier_(pool_, options.isa, most_input_rows(config_, options.most_batch_tokens),
                  widest_input(config_)),
      ffn_space_(config_, options.most_batch_tokens),
      embedding_(matrix_view(weights.embedding)),
      output_norm_(weights.output_norm->values()),
      output_(weights.output, pool_),
      frequencies_(rope_frequencies(config_, weights)) {
  const int rows = options.most_batch_tokens;
  if (config_.has(LayerKind::attention)) {
    attention_space_ = std::make_unique<AttentionWorkspace>(config_, rows);
  }
  if (config_.has(LayerKind::mla)) mla_space_ = std::make_unique<MlaWorkspace>(config_, rows);
  if (config_.has(LayerKind::kda)) kda_space_ = std::make_unique<KdaWorkspace>(config_, rows);
  for (std::size_t i = 0; i < weights.layers.size(); ++i) {
    const LayerWeights& layer = weights.layers[i];
    layers_.push_back({layer.mixer_norm->values(), layer.ffn_norm->values(),
                       make_mixer(layer, config_.kv_heads[i]), make_ffn(layer)});
  }
  pieces_.reserve(options.most_chunks);
  positions_.resize(rows);
  for (auto* buffer : {&stream_, &normed_, &added_}) {
    *buffer = AlignedBuffer<float>(std::size_t(rows) * config_.dim);
  }
  last_ = AlignedBuffer<float>(std::size_t(options.most_chunks) * config_.dim);
  angles_ = AlignedBuffer<float>(std::size_t(rows) * frequencies_.size() * 2);
}

std::unique_ptr<Mixer> Decoder::make_mixer(const LayerWeights& weights, int kv_heads) {
  const CacheOptions& cache = options_.cache;
  if (const auto* w = std::get_if<AttentionWeights>(&weights.mixer)) {
    return std::make_unique<AttentionLayer>(config_, *w, kv_heads, cache, pool_, *attention_space_);
  }
  if (const auto* w = std::get_if<MlaWeights>(&weights.mixer)) {
    return std::make_unique<MlaLayer>(config_, *w, cache, pool_, *mla_space_);
  }
  return std::make_unique<KdaLayer>(config_, std::get<KdaWeights>(weights.mixer), cache.slots,
                                    pool_, *kda_space_);
}

std::unique_ptr<FeedForward> Decoder::make_ffn(const LayerWeights& weights) {
  if (const auto* w = std::get_if<DenseWeights>(&weights.ffn)) {
    return std::make_unique<DenseLayer>(*w, pool_, ffn_space_);
  }
  return std::make_unique<ExpertLayer>(config_, std::get<ExpertWeights>(weights.ffn), pool_,
                                       ffn_space_);
}

void Decoder::forward(std::span<const Chunk> chunks, std::vector<float>& logits) {
  const int rows = lay_out(chunks);
  const TraceSpan span("model.forward", {"tokens", rows}, {"chunks", std::ssize(chunks)});
  Pass pass{pool_, multiplier_, 0, rows, pieces_, frequencies_.empty() ? nullptr : angles_.data()};
  embed(pass, chunks);
  make_angles(pass);
  for (; pass.layer < int(layers_.size()); ++pass.layer) run_layer(pass, layers_[pass.layer]);
  write_logits(chunks, logits);
}

int Decoder::lay_out(std::span<const Chunk> chunks) {
  assert(int(chunks.size()) <= options_.most_chunks);
  pieces_.clear();
  int rows = 0;
  for (const Chunk& chunk : chunks) {
    const int tokens = int(chunk.tokens.size());
    assert(tokens > 0 && rows + tokens <= options_.most_batch_tokens);
    assert(!shape_.has_state || (chunk.slot >= 0 && chunk.slot < shape_.slots));
    assert(!shape_.has_pages || std::int64_t(chunk.pages.size()) * shape_.page_tokens >=
                                    std::int64_t(chunk.position) + tokens);
    pieces_.push_back({rows, tokens, chunk.position, chunk.pages.data(), chunk.slot});
    for (int i = 0; i < tokens; ++i) positions_[rows + i] = chunk.position + i;
    rows += tokens;
  }
  return rows;
}

void Decoder::embed(const Pass& pass, std::span<const Chunk> chunks) {
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    for (int t = 0; t < pass.pieces[i].tokens; ++t) {
      const Token token = chunks[i].tokens[t];
      assert(token >= 0 && token < config_.vocabulary);
      kernels::quantize::decode_row(
          embedding_, token, stream_.data() + std::size_t(pass.pieces[i].row + t) * config_.dim);
    }
  }
}

void Decoder::make_angles(const Pass& pass) {
  if (frequencies_.empty()) return;
  pass.for_rows([&](Range rows) {
    kernels::rope::angles(frequencies_.data(), 1, positions_.data(), config_.rope.dims, rows,
                          angles_.data());
  });
}

void Decoder::normalise(const Pass& pass, const std::vector<float>& weight) {
  pass.for_rows([&](Range rows) {
    kernels::norm::rms_norm(stream_.data(), weight.data(), config_.epsilon, config_.dim, rows,
                            normed_.data());
  });
}

void Decoder::run_layer(const Pass& pass, Layer& layer) {
  const auto add = [&] {
    pass.for_rows([&](Range rows) {
      const auto from = std::size_t(rows.begin) * config_.dim;
      kernels::elementwise::add(added_.data() + from, std::size_t(rows.size()) * config_.dim,
                                stream_.data() + from);
    });
  };
  normalise(pass, layer.mixer_norm);
  layer.mixer->forward(pass, normed_.data(), added_.data());
  add();
  normalise(pass, layer.ffn_norm);
  layer.ffn->forward(pass, normed_.data(), added_.data());
  add();
}

// Only of the last tokens that somebody asked for.
void Decoder::write_logits(std::span<const Chunk> chunks, std::vector<float>& logits) {
  int wanted = 0;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (!chunks[i].wants_logits) continue;
    const int row = pieces_[i].row + pieces_[i].tokens - 1;
    kernels::norm::rms_norm(stream_.data() + std::size_t(row) * config_.dim, output_norm_.data(),
                            config_.epsilon, config_.dim, {0, 1},
                            last_.data() + std::size_t(wanted++) * config_.dim);
  }
  const TraceSpan span("model.logits", {"rows", wanted});
  logits.resize(std::size_t(wanted) * config_.vocabulary);
  if (wanted > 0) multiplier_.run(last_.data(), wanted, output_, logits.data());
}

void Decoder::reset_slot(SlotId slot) {
  for (Layer& layer : layers_) layer.mixer->reset_slot(slot);
}

void Decoder::copy_slot(SlotId from, SlotId to) {
  for (Layer& layer : layers_) layer.mixer->copy_slot(from, to);
}

void Decoder::copy_page(PageId from, PageId to) {
  for (Layer& layer : layers_) layer.mixer->copy_page(from, to);
}

}  // namespace serving::model
