// The two halves of a layer. Both read normalised activations x [rows, dim] and write what is added
// to the residual stream, out [rows, dim].
#pragma once

#include "serving/model/pass.h"

namespace serving::model {

// Mixes along the sequence, and keeps for that what came before: pages, or a slot.
class Mixer {
 public:
  virtual ~Mixer() = default;
  virtual void forward(const Pass& pass, const float* x, float* out) = 0;
  virtual void copy_page(PageId, PageId) {}
  virtual void reset_slot(SlotId) {}
  virtual void copy_slot(SlotId, SlotId) {}
};

// Of each token alone.
class FeedForward {
 public:
  virtual ~FeedForward() = default;
  virtual void forward(const Pass& pass, const float* x, float* out) = 0;
};

}  // namespace serving::model
