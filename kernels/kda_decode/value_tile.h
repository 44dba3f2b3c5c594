// The part of a head that runs along V: reads S0 and the records of one tile, gives d and o of the
// tile, and either appends d or writes the tile of the state.
#pragma once

#include "kernels/kda_decode/counters.h"
#include "kernels/kda_decode/shape.h"

namespace kernels::kda_decode {

struct HeadPlan;

struct ValueHead {
  int key_dim;
  int value_dim;
  bool flush;
  float beta;
  const float* v;    // [V]
  float* state;      // [K, V]
  float* d_records;  // [L, V]
  float* o;          // [V]
};

ValueHead value_head(const Step& step, Cache& cache, int slot, int head, float* o);

// Columns [begin, begin + width) of the head; width is 16, 32, 64 or 128.
template <class Count>
void run_tile(const HeadPlan& plan, const ValueHead& head, int begin, int width, Count count);

}  // namespace kernels::kda_decode
