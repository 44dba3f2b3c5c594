// Fresh inputs from a seed, for the check, the benchmark and the tests.
#pragma once

#include <random>
#include <vector>

#include "kernels/kda_decode/shape.h"

namespace kernels::kda_decode {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  float uniform(float low, float high) {
    return low + (high - low) * float(double(engine_() >> 11) * 0x1.0p-53);
  }
  // Near enough to normal for inputs (Irwin-Hall of four), and the same on every platform.
  float normal() {
    return 1.7320508f *
           (uniform(-.5f, .5f) + uniform(-.5f, .5f) + uniform(-.5f, .5f) + uniform(-.5f, .5f));
  }
  bool coin(float probability) { return uniform(0, 1) < probability; }
  int between(int low, int high) { return low + int(engine_() % std::uint64_t(high - low + 1)); }

 private:
  std::mt19937_64 engine_;
};

// ordinary: decays of about 0.5 to 1, beta about 0.5.  slow: nothing is forgotten (abs(g) ~ 1e-7,
// beta ~ .002), the regime in which rounding adds up instead of being forgotten too.
enum class Regime { ordinary, slow };

struct TokenInputs {
  std::vector<float> q, k, v, x, beta;
  std::vector<std::uint8_t> flush;
  Step step() const { return {q.data(), k.data(), v.data(), x.data(), beta.data(), flush.data()}; }
};

Gate make_gate(const Shape& shape, GateForm form, Regime regime, Random& random);
TokenInputs make_token(const Shape& shape, Regime regime, float flush_probability, Random& random);
Floats make_state(const Shape& shape, Random& random);  // a checkpoint as prefill leaves it

}  // namespace kernels::kda_decode
