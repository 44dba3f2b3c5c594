#include "kernels/kda_decode/reference.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/kda_decode/inputs.h"

namespace kernels::kda_decode {
namespace {

TEST_CASE("the gate by hand, both forms") {
  Gate gate{GateForm::softplus, -5.0f, {std::log(2.0f)}, {}};
  CHECK(gate_value(gate, 0, 0.25, -0.25) == Approx(-2 * std::log(2.0)));
  CHECK(gate_value(gate, 0, 500, 500) == Approx(-2000));  // no overflow
  gate.form = GateForm::bounded;
  CHECK(gate_value(gate, 0, 0.25, -0.25) == Approx(-2.5));  // -5 sigmoid(0)
  CHECK(gate_value(gate, 0, 1, 0) == Approx(-5 / (1 + std::exp(-2.0))));
}

// K = 16 with one non-zero element, so that every formula reduces to a scalar.
TEST_CASE("two tokens by hand") {
  const Shape shape{1, 1, 1, 16, 16};
  const Gate gate{GateForm::bounded, -5.0f, {0.0f}, std::vector<float>(16, 0.0f)};
  TokenInputs token;
  token.q.assign(16, 0);
  token.k.assign(16, 0);
  token.v.assign(16, 1.0f);
  token.x.assign(16, 0);
  token.beta = {0.5f};
  token.q[0] = token.k[0] = 1e4f;  // so large that the epsilon does not show
  token.flush = {0};
  Oracle oracle(shape, gate, Floats(256));
  const double decay = std::exp(-2.5);
  // S = 0: d = .5 (1 - 0); o = S^T q = .5 K^-1/2
  CHECK(oracle.step(token.step())[3] == Approx(0.5 / 4));
  const double second = decay * 0.5 + 0.5 * (1 - decay * 0.5);
  CHECK(oracle.step(token.step())[3] == Approx(second / 4));
  CHECK(oracle.state()[3] == Approx(second));
  CHECK(oracle.state()[16 + 3] == 0);
}

}  // namespace
}  // namespace kernels::kda_decode
