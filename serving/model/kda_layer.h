// Kimi Delta Attention with short convolutions before it and an output gate after it. A slot keeps
// the state of every head and the last inputs of the three convolutions.
#pragma once

#include <array>
#include <vector>

#include "kernels/kda/kda.h"
#include "serving/model/layer.h"
#include "serving/model/page_cache.h"

namespace serving::model {

// H heads of D: [rows, H * D] each, unless said otherwise.
struct KdaWorkspace {
  KdaWorkspace(const Config& config, int most_rows);
  std::array<AlignedBuffer<float>, 3> projected, mixed;  // q, k, v: before and after convolution
  AlignedBuffer<float> decay_low, gate_low;              // [rows, D]
  AlignedBuffer<float> decay, gate, heads;
  AlignedBuffer<float> beta;  // [rows, H]
};

class KdaLayer final : public Mixer {
 public:
  KdaLayer(const Config& config, const KdaWeights& weights, int slots, ThreadPool& pool,
           KdaWorkspace& workspace);

  void forward(const Pass& pass, const float* x, float* out) override;
  void reset_slot(SlotId id) override;
  void copy_slot(SlotId from, SlotId to) override;

 private:
  void project(const Pass& pass, const float* x);
  void convolve(const Pass& pass);
  void make_gates(const Pass& pass, kernels::Range rows);
  float* slot(SlotId id) { return slots_.data() + slot_floats_ * id; }
  float* conv_state(SlotId id, int which);  // of q, k, v: [width - 1, H * D]

  kernels::kda::Shape shape_;
  float epsilon_;
  std::array<Linear, 3> qkv_;
  Linear f_a_, f_b_, beta_, g_a_, g_b_, out_;
  std::array<std::vector<float>, 3> conv_;
  std::vector<float> rate_, dt_bias_, norm_;
  std::size_t slot_floats_;
  AlignedBuffer<float> slots_;
  WorkerScratch scratch_;
  KdaWorkspace& space_;
};

// The sizes that the kernels take. Errors: bad_input.
Status check_kda(const Kda& kda);

}  // namespace serving::model
