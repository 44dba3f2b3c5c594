// What the engine asks of a model: one forward pass over pieces of several sequences, with the
// caches named by the engine. The model owns the cache memory; the engine owns the bookkeeping.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace serving {

using Token = std::int32_t;
using PageId = std::int32_t;  // a page holds `page_tokens` positions of every attention layer
using SlotId = std::int32_t;  // a slot holds the recurrent state of every KDA layer; -1: none

struct ModelShape {
  int vocabulary = 0;
  int context = 0;           // tokens, the most that the model was made for
  int page_tokens = 16;      // positions a page
  bool has_pages = true;     // some layer keeps keys and values
  bool has_state = false;    // some layer keeps a recurrent state
  int pages = 0, slots = 0;  // how many there is memory for
};

// Consecutive tokens of one sequence.
struct Chunk {
  std::span<const Token> tokens;  // at least one
  int position = 0;               // of tokens[0] in its sequence
  std::span<const PageId> pages;  // of positions 0 .. position + tokens.size() - 1, in order
  SlotId slot = -1;               // state after `position` tokens; advanced in place
  bool wants_logits = false;      // of the last token
};

class Model {
 public:
  virtual ~Model() = default;
  virtual const ModelShape& shape() const = 0;

  // Writes one row of `vocabulary` logits for each chunk that wants them, in order of the chunks.
  // What a sequence gets does not depend on the other chunks, nor on how its tokens were cut into
  // chunks (up to the instruction set, which is fixed for the process).
  virtual void forward(std::span<const Chunk> chunks, std::vector<float>& logits) = 0;

  // A slot starts a sequence as zeros. Called between forwards, never during one.
  virtual void reset_slot(SlotId slot) = 0;
  virtual void copy_slot(SlotId from, SlotId to) = 0;
  // All positions of all layers: a page that is shared is copied before its next position is
  // written. Between forwards only, like the two above. Of a model without pages it is never asked.
  virtual void copy_page(PageId from, PageId to) = 0;
};

}  // namespace serving
