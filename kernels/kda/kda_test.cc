#include "kernels/kda/kda.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "kernels/kda_decode/reference.h"
#include "kernels/lab/check.h"
#include "kernels/norm/norm.h"

namespace kernels::kda {
namespace {

// K with one element that is not zero, so that every formula reduces to a scalar.
TEST_CASE("two tokens of KDA by hand") {
  const Shape shape{1, 16, 16};
  Floats unit(16);
  unit[0] = 1;
  const Floats v(16, 1.0f);
  const Floats g(16, -2.5f);
  const float beta = 0.5f;
  Floats state(state_floats(shape));
  Floats scratch(scratch_floats(shape));
  Floats out(16);
  const Tokens in = {unit.data(), unit.data(), v.data(), g.data(), &beta};
  forward(shape, in, 1, 0, {0, 1}, state.data(), out.data(), scratch.data());
  CHECK(out[3] == Approx(0.5));
  const double decay = std::exp(-2.5);
  const double second = decay * 0.5 + 0.5 * (1 - decay * 0.5);
  forward(shape, in, 1, 1, {0, 1}, state.data(), out.data(), scratch.data());
  CHECK(out[3] == Approx(second));
  Floats s(256);
  materialise(shape, state.data(), 2, 0, s.data());
  CHECK(s[3] == Approx(second));
  CHECK(s[16 + 3] == 0);
}

// The other KDA of this folder has an oracle of its own; both must mean the same recurrence.
TEST_CASE("KDA agrees with the oracle of kda_decode") {
  constexpr std::uint64_t kSeed = 21;
  INFO("seed " << kSeed);
  const kda_decode::Shape theirs{1, 2, 2, 32, 48};
  const Shape shape{2, 32, 48};
  Random random(kSeed);
  const auto gate = kda_decode::make_gate(theirs, kda_decode::GateForm::bounded,
                                          kda_decode::Regime::ordinary, random);
  kda_decode::Oracle oracle(theirs, gate, kda_decode::Floats(theirs.state_size()));
  Floats state(state_floats(shape));
  Floats scratch(scratch_floats(shape));
  for (int t = 0; t < 50; ++t) {
    const auto token = kda_decode::make_token(theirs, kda_decode::Regime::ordinary, 0, random);
    Floats q(token.q.begin(), token.q.end());
    Floats k(token.k.begin(), token.k.end());
    norm::l2_norm(q.data(), kda_decode::kNormEpsilon, 1 / std::sqrt(32.0f), 32, {0, 2}, q.data());
    norm::l2_norm(k.data(), kda_decode::kNormEpsilon, 1, 32, {0, 2}, k.data());
    Floats g(token.x.size());
    for (int i = 0; i < int(g.size()); ++i) {
      g[i] = float(kda_decode::gate_value(gate, i / 32, token.x[i], gate.bias[i]));
    }
    Floats out = poison(2 * 48);
    const Tokens in = {q.data(), k.data(), token.v.data(), g.data(), token.beta.data()};
    forward(shape, in, 1, t, {0, 2}, state.data(), out.data(), scratch.data());
    Check check("kda", kSeed);
    check.near("token " + std::to_string(t), out, oracle.step(token.step()));
    INFO(check.first_mismatch());
    REQUIRE(check.ok());
  }
}

}  // namespace
}  // namespace kernels::kda
