// Runs sequences through a model as an engine would, in any order and cut in any way.
#pragma once

#include <span>
#include <vector>

#include "serving/model/decoder.h"
#include "serving/model/test_models.h"

namespace serving::model {

inline std::unique_ptr<Decoder> make_decoder(gguf::File file, const DecoderOptions& options) {
  auto made = Decoder::make(std::move(file), options);
  INFO((made ? "" : made.error().message));
  REQUIRE(made);
  return std::move(*made);
}

inline std::unique_ptr<Decoder> make_decoder(const MadeModel& made, const DecoderOptions& options) {
  auto file = gguf::File::parse(std::as_bytes(std::span(made.bytes())));
  REQUIRE(file);
  return make_decoder(std::move(*file), options);
}

// A sequence with its pages and slot, and how much of it has been computed.
struct Running {
  std::vector<Token> tokens;
  std::vector<PageId> pages;
  SlotId slot = -1;
  int done = 0;
};

// Advances each by so many tokens in one forward; a row of logits for each that advanced.
inline std::vector<std::vector<float>> advance(Model& model, std::vector<Running>& running,
                                               const std::vector<int>& counts) {
  std::vector<Chunk> chunks;
  for (std::size_t i = 0; i < running.size(); ++i) {
    Running& r = running[i];
    if (counts[i] == 0) continue;
    chunks.push_back({std::span(r.tokens).subspan(std::size_t(r.done), std::size_t(counts[i])),
                      r.done, r.pages, r.slot, true});
    r.done += counts[i];
  }
  std::vector<float> logits;
  model.forward(chunks, logits);
  const auto vocabulary = std::size_t(model.shape().vocabulary);
  REQUIRE(logits.size() == chunks.size() * vocabulary);
  std::vector<std::vector<float>> rows;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    rows.emplace_back(logits.begin() + i * vocabulary, logits.begin() + (i + 1) * vocabulary);
  }
  return rows;
}

}  // namespace serving::model
