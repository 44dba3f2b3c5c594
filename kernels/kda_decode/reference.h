// The oracle: the recurrence of shape.h in fp64, one scalar at a time, sharing no code with the
// variants.
#pragma once

#include <span>
#include <vector>

#include "kernels/kda_decode/shape.h"

namespace kernels::kda_decode {

class Oracle {
 public:
  Oracle(const Shape& shape, const Gate& gate, std::span<const float> initial_state);

  // Advances every slot by one token; gives o [batch, value_heads, V].
  const std::vector<double>& step(const Step& step);
  const std::vector<double>& state() const { return state_; }  // [batch, value_heads, K, V]

 private:
  Shape shape_;
  Gate gate_;
  std::vector<double> state_;
  std::vector<double> o_;
};

// One value of the gate, in fp64.
double gate_value(const Gate& gate, int head, double x, double bias);

// The state that a cache stands for: checkpoint and waiting records put together, in fp64.
std::vector<double> materialise(const Cache& cache);

}  // namespace kernels::kda_decode
