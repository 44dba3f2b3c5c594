// The caches as running sequences use them: pages and slots are taken, shared, published in the
// prefix tree and given back here. Decides nothing about who runs.
//
// The model's memory is changed by forwards and by the operations that are handed out here. They
// are carried out in their order, before the next forward. So a page or slot may be given to
// somebody else while a copy *from* it is still to come: the copy stands before whatever writes to
// it.
#pragma once

#include <optional>
#include <vector>

#include "serving/engine/make_engine.h"
#include "serving/engine/pools.h"
#include "serving/engine/prefix_tree.h"
#include "serving/engine/sequence.h"
#include "serving/model/model.h"

namespace serving {

struct CacheOperation {
  enum class Kind { reset_slot, copy_slot, copy_page };
  Kind kind;
  int from, to;  // reset_slot: `to` only
};

class SequenceCache {
 public:
  SequenceCache(const ModelShape& shape, const EngineOptions& options);

  // Takes over the longest known prefix, but never the last token, which has to be computed for its
  // logits. False, and nothing has changed, unless there is a slot, and after `reserved` pages for
  // others there are pages for the whole sequence and a page's worth of answer.
  bool admit(Sequence& sequence, int reserved);

  // Pages it would still need for its tokens and a page's worth of answer.
  int missing_pages(const Sequence& sequence) const;

  // Takes pages for positions below `end`, evicting what only the tree keeps. How many positions
  // there are pages for: `end`, or less where pages ran out.
  int grow(Sequence& sequence, int end);

  // After a forward computed its next `count` tokens: publishes whole blocks, and what the prompt's
  // end or a checkpoint asks for.
  void advance(Sequence& sequence, int count);

  // Where the next chunk must end at the latest, for a checkpoint to be made there.
  int next_stop(const Sequence& sequence) const;

  // Gives everything back. What was computed stays in the tree, unless it is not to be trusted.
  void release(Sequence& sequence, bool keep = true);

  // What is to be done before the next forward, in order.
  std::vector<CacheOperation>& operations() { return operations_; }

  const PagePool& pages() const { return pages_; }
  const SlotPool& slots() const { return slots_; }
  const PrefixTree& tree() const { return tree_; }

 private:
  std::optional<PageId> take_page();
  std::optional<SlotId> take_slot();
  PageId* page_at(Sequence& sequence, int position) const;  // nullptr: the model has none
  bool is_stop(const Sequence& sequence) const;
  void take_over(Sequence& sequence, const PrefixTree::Match& match);
  void publish(Sequence& sequence);
  void keep_end(Sequence& sequence, bool last);

  const ModelShape shape_;
  const bool prefix_cache_;
  const int checkpoint_every_;  // tokens; 0: none but at the ends
  PagePool pages_;
  SlotPool slots_;
  PrefixTree tree_;
  std::vector<CacheOperation> operations_;
};

}  // namespace serving
