// A model for tests whose answers depend on everything that the caches hold: its logits are a hash
// of all tokens of the sequence *as read back* from its pages and its state slot. A wrong page,
// position or slot, a stale prefix or a copy too late gives other tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "serving/model/model.h"

namespace serving {

class FakeModel final : public Model {
 public:
  // Memory starts poisoned: nothing may be read before it was written.
  explicit FakeModel(const ModelShape& shape)
      : shape_(shape),
        cells_(shape.has_pages ? count(shape.pages) * count(shape.page_tokens) : 0),
        states_(shape.has_state ? count(shape.slots) : 0) {
    for (PageId page = 0; shape.has_pages && page < shape.pages; ++page) poison_page(page);
    for (SlotId slot = 0; shape.has_state && slot < shape.slots; ++slot) poison_slot(slot);
  }

  const ModelShape& shape() const override { return shape_; }

  // Throws std::logic_error for a chunk that no engine should ask for.
  void forward(std::span<const Chunk> chunks, std::vector<float>& logits) override {
    if (on_forward) on_forward();
    ++forwards;
    logits.clear();
    written_.clear();
    advanced_.clear();
    for (const Chunk& chunk : chunks) {
      check(chunk);
      const std::uint64_t last = run(chunk);
      if (chunk.wants_logits) add_logits(last, logits);
    }
  }

  void reset_slot(SlotId slot) override { states_.at(count(slot)) = 0; }
  void copy_slot(SlotId from, SlotId to) override {
    states_.at(count(to)) = states_.at(count(from));
  }
  void copy_page(PageId from, PageId to) override {
    for (int i = 0; i < shape_.page_tokens; ++i) cell(to, i) = cell(from, i);
  }

  // What tests do to memory that nobody should read any more.
  void poison_page(PageId page) {
    for (int i = 0; i < shape_.page_tokens; ++i) cell(page, i) = mix(++poison_, 0xdead);
  }
  void poison_slot(SlotId slot) { states_.at(count(slot)) = mix(++poison_, 0xdead); }

  std::function<void()> on_forward;  // may wait, or throw
  std::size_t forwards = 0, tokens = 0;

 private:
  static std::size_t count(std::int64_t n) { return static_cast<std::size_t>(n); }
  static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {  // SplitMix64's finaliser
    std::uint64_t z = a * 0x9e3779b97f4a7c15ULL + b + 0x632be59bd9b4e019ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t& cell(PageId page, int offset) {
    return cells_.at(count(page) * count(shape_.page_tokens) + count(offset));
  }
  std::uint64_t& cell_at(const Chunk& chunk, int position) {
    return cell(chunk.pages[count(position / shape_.page_tokens)], position % shape_.page_tokens);
  }

  [[noreturn]] static void refuse(const std::string& why) { throw std::logic_error(why); }

  void check(const Chunk& chunk) {
    const int end = chunk.position + static_cast<int>(chunk.tokens.size());
    if (chunk.tokens.empty() || chunk.position < 0) refuse("an empty chunk");
    if (end > shape_.context) refuse("a chunk beyond the context");
    const int pages = (end + shape_.page_tokens - 1) / shape_.page_tokens;
    if (shape_.has_pages && std::ssize(chunk.pages) < pages) refuse("a chunk without its pages");
    if (shape_.has_state && !advanced_.insert(chunk.slot).second) refuse("a slot advanced twice");
    for (int position = chunk.position; shape_.has_pages && position < end; ++position) {
      const PageId page = chunk.pages[count(position / shape_.page_tokens)];
      if (!written_.emplace(page, position % shape_.page_tokens).second) {
        refuse("a position of a page written twice in a forward");
      }
    }
  }

  // Like a layer of attention over all positions and a recurrent one: what is written for a token
  // depends on the whole sequence before it. Returns the hash after the last token.
  std::uint64_t run(const Chunk& chunk) {
    std::uint64_t seen = 0, hash = 0;  // of all cells up to here; order is in the cells
    for (int position = 0; shape_.has_pages && position < chunk.position; ++position) {
      seen += mix(cell_at(chunk, position), count(position));
    }
    int position = chunk.position;
    for (const Token token : chunk.tokens) {
      if (token < 0 || token >= shape_.vocabulary) refuse("a token beyond the vocabulary");
      hash = mix(mix(seen, count(token)), count(position));
      if (shape_.has_state) {
        std::uint64_t& state = states_.at(count(chunk.slot));
        hash = state = mix(state, hash);
      }
      if (shape_.has_pages) {
        cell_at(chunk, position) = hash;
        seen += mix(cell_at(chunk, position), count(position));
      }
      ++position;
      ++tokens;
    }
    return mix(hash, seen);
  }

  void add_logits(std::uint64_t hash, std::vector<float>& logits) const {
    for (Token token = 0; token < shape_.vocabulary; ++token) {
      const auto bits = static_cast<double>(mix(hash, count(token)) >> 40);
      logits.push_back(static_cast<float>(bits * 0x1p-21 - 4));  // [-4, 4)
    }
  }

  const ModelShape shape_;
  std::vector<std::uint64_t> cells_;   // page_tokens a page
  std::vector<std::uint64_t> states_;  // one a slot
  std::uint64_t poison_ = 0;
  std::set<std::pair<PageId, int>> written_;  // in the forward under way
  std::set<SlotId> advanced_;
};

}  // namespace serving
