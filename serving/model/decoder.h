// The model that the engine runs: layers of a mixer and a feed-forward each, on packed weights,
// with memory for caches and activations taken once.
#pragma once

#include <memory>
#include <vector>

#include "serving/gguf/file.h"
#include "serving/model/attention_layer.h"
#include "serving/model/feed_forward.h"
#include "serving/model/kda_layer.h"
#include "serving/model/layer.h"
#include "serving/model/mla_layer.h"
#include "serving/model/model.h"

namespace serving::model {

struct DecoderOptions {
  int threads = 1;
  bool pin = false;             // threads to processors
  int most_batch_tokens = 512;  // of all chunks of a forward
  int most_chunks = 64;         // of a forward
  CacheOptions cache;
  kernels::matmul::Isa isa = kernels::matmul::Isa::generic;
};

class Decoder final : public Model {
 public:
  // Errors: bad_input, not_found (file or options), too_large (memory). Throws std::bad_alloc.
  static Result<std::unique_ptr<Decoder>> make(gguf::File file, const DecoderOptions& options);

  const ModelShape& shape() const override { return shape_; }
  void forward(std::span<const Chunk> chunks, std::vector<float>& logits) override;
  void reset_slot(SlotId slot) override;
  void copy_slot(SlotId from, SlotId to) override;
  void copy_page(PageId from, PageId to) override;

 private:
  struct Layer {
    std::vector<float> mixer_norm, ffn_norm;
    std::unique_ptr<Mixer> mixer;
    std::unique_ptr<FeedForward> ffn;
  };
  Decoder(gguf::File file, Config config, const Weights& weights, const DecoderOptions& options);

  std::unique_ptr<Mixer> make_mixer(const LayerWeights& weights, int kv_heads);
  std::unique_ptr<FeedForward> make_ffn(const LayerWeights& weights);
  int lay_out(std::span<const Chunk> chunks);  // gives the rows
  void embed(const Pass& pass, std::span<const Chunk> chunks);
  void make_angles(const Pass& pass);
  void run_layer(const Pass& pass, Layer& layer);
  void normalise(const Pass& pass, const std::vector<float>& weight);
  void write_logits(std::span<const Chunk> chunks, std::vector<float>& logits);

  gguf::File file_;  // embeddings are read from it
  Config config_;
  DecoderOptions options_;
  ModelShape shape_;
  ThreadPool pool_;
  Multiplier multiplier_;
  std::unique_ptr<AttentionWorkspace> attention_space_;  // of the kinds that the model has
  std::unique_ptr<MlaWorkspace> mla_space_;
  std::unique_ptr<KdaWorkspace> kda_space_;
  FeedForwardWorkspace ffn_space_;
  kernels::MatrixView embedding_;
  std::vector<Layer> layers_;
  std::vector<float> output_norm_;
  Linear output_;
  std::vector<double> frequencies_;  // of rotary positions; empty: none
  std::vector<Piece> pieces_;
  std::vector<std::int32_t> positions_;
  // [rows, dim], but for the angles.
  AlignedBuffer<float> stream_, normed_, added_, last_, angles_;
};

}  // namespace serving::model
