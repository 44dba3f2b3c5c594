#include "kernels/kda_decode/inputs.h"

#include <algorithm>
#include <cmath>

namespace kernels::kda_decode {
namespace {

template <class Draw>
std::vector<float> filled(std::size_t size, Draw draw) {
  std::vector<float> out(size);
  std::generate(out.begin(), out.end(), draw);
  return out;
}

}  // namespace

// slow: exp(A) softplus(-10) and 5 sigmoid(-17) are both about 2e-7.
Gate make_gate(const Shape& shape, GateForm form, Regime regime, Random& random) {
  const bool slow_softplus = regime == Regime::slow && form == GateForm::softplus;
  Gate gate;
  gate.form = form;
  for (int head = 0; head < shape.value_heads; ++head) {
    const float log_rate = slow_softplus ? random.uniform(-6, -5) : random.uniform(-2, 0.5f);
    gate.log_rate.push_back(log_rate);
    for (int i = 0; i < shape.key_dim; ++i) {
      const float slow_bias = slow_softplus ? -10.0f : -17.0f / std::exp(log_rate);
      gate.bias.push_back(regime == Regime::slow ? slow_bias : random.uniform(-4, 0));
    }
  }
  return gate;
}

TokenInputs make_token(const Shape& shape, Regime regime, float flush_probability, Random& random) {
  const auto normal = [&] { return random.normal(); };
  TokenInputs token;
  token.q = filled(shape.key_size(), normal);
  token.k = filled(shape.key_size(), normal);
  token.v = filled(shape.value_size(), normal);
  const float spread = regime == Regime::slow ? 0.1f : 1.0f;
  token.x = filled(shape.gate_size(), [&] { return spread * random.normal(); });
  token.beta = filled(std::size_t(shape.batch) * shape.value_heads, [&] {
    return regime == Regime::slow ? random.uniform(.001f, .003f) : random.uniform(.1f, .9f);
  });
  token.flush.resize(shape.batch);
  for (auto& flush : token.flush) flush = random.coin(flush_probability);
  return token;
}

Floats make_state(const Shape& shape, Random& random) {
  Floats state(shape.state_size());
  for (float& value : state) value = random.uniform(-1, 1);
  return state;
}

}  // namespace kernels::kda_decode
