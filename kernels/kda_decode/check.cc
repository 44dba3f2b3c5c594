#include "kernels/kda_decode/check.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/kda_decode/compare.h"
#include "kernels/kda_decode/reference.h"

namespace kernels::kda_decode {
namespace {

class CpuDecoder final : public Decoder {
 public:
  CpuDecoder(int number, int v_tile, const Shape& shape, const Gate& gate, int ring,
             const Floats& state)
      : variant_(variant(number)), v_tile_(v_tile), gate_(gate), cache_(shape, ring) {
    cache_.checkpoint = state;
    // What a record holds before it is written must not matter.
    const float poison = std::numeric_limits<float>::quiet_NaN();
    for (Floats* records : {&cache_.d, &cache_.k, &cache_.g}) std::ranges::fill(*records, poison);
  }
  void step(const Step& step, std::span<float> o) override {
    variant_.step(step, gate_, cache_, v_tile_, o.data());
  }
  std::vector<double> state() override { return materialise(cache_); }

 private:
  const Variant& variant_;
  int v_tile_;
  Gate gate_;
  Cache cache_;
};

// Flat index -> slot, head, (row,) column.
Mismatch locate(const Case& setup, int step, bool in_state, std::size_t flat, double got,
                double want) {
  const Shape& s = setup.shape;
  Mismatch m{in_state ? "state" : "o", setup.name, step, 0, 0, {},
             int(flat % s.value_dim),  got,        want};
  std::size_t rest = flat / s.value_dim;
  if (in_state) {
    m.row = int(rest % s.key_dim);
    rest /= s.key_dim;
  }
  m.head = int(rest % s.value_heads);
  m.slot = int(rest / s.value_heads);
  return m;
}

}  // namespace

MakeDecoder cpu_decoder(int number, int v_tile) {
  return [=](const Shape& shape, const Gate& gate, int ring, const Floats& state) {
    return std::make_unique<CpuDecoder>(number, v_tile, shape, gate, ring, state);
  };
}

std::vector<Case> cases(int ring, std::uint64_t seed) {
  Random random(seed ^ 0xca5e5);
  const auto softplus = GateForm::softplus;
  const auto bounded = GateForm::bounded;
  const auto ordinary = Regime::ordinary;
  const auto slow = Regime::slow;
  const int other_ring = random.between(2, 24);
  const int tail = random.between(1, ring);  // ends somewhere inside the ring
  std::vector<Case> all = {
      {"default_softplus",
       {2, 2, 2, 128, 128},
       ring,
       softplus,
       ordinary,
       2 * ring + tail,
       0.05f,
       false},
      {"default_bounded",
       {2, 2, 2, 128, 128},
       ring,
       bounded,
       ordinary,
       2 * ring + tail,
       0.05f,
       true},
      {"never_forced", {1, 1, 1, 128, 128}, ring, softplus, ordinary, 3 * ring + tail, 0, false},
      {"grouped_tails", {3, 1, 2, 48, 80}, 5, softplus, ordinary, 23, 0.2f, false},
      {"grouped_tails_bounded", {3, 2, 4, 80, 144}, 7, bounded, ordinary, 17, 0.2f, true},
      {"ring_of_one", {2, 1, 1, 64, 64}, 1, softplus, ordinary, 6, 0, true},
      {"random_ring",
       {random.between(1, 6), 1, 1, 128, 128},
       other_ring,
       bounded,
       ordinary,
       other_ring + tail,
       0.1f,
       false},
      {"slow_softplus", {1, 1, 2, 32, 32}, ring, softplus, slow, 400, 0.02f, false},
      {"slow_bounded", {1, 1, 2, 32, 32}, ring, bounded, slow, 400, 0.02f, true},
  };
  return all;
}

CaseResult run_case(const Case& setup, const MakeDecoder& make, std::uint64_t seed) {
  Random random(seed);
  const Gate gate = make_gate(setup.shape, setup.form, setup.regime, random);
  const Floats initial = make_state(setup.shape, random);
  Oracle oracle(setup.shape, gate, initial);
  const auto decoder = make(setup.shape, gate, setup.ring, initial);
  CaseResult result{setup, {}, 0, 0, {}};
  std::vector<float> o(setup.shape.value_size());
  for (int at = 0; at < setup.steps; ++at) {
    TokenInputs token = make_token(setup.shape, setup.regime, setup.flush_probability, random);
    if (setup.flush_last && at + 1 == setup.steps) std::ranges::fill(token.flush, 1);
    std::ranges::fill(o,
                      std::numeric_limits<float>::quiet_NaN());  // an output not written must fail
    decoder->step(token.step(), o);
    const auto& want = oracle.step(token.step());
    const Difference d = compare(o, want);
    result.rms.push_back(d.rms);
    result.max = worse(d.max, result.max);
    if (!within(d) && !result.first_mismatch) {
      result.first_mismatch = locate(setup, at, false, d.worst, o[d.worst], want[d.worst]);
    }
  }
  const std::vector<double> state = decoder->state();
  const Difference d = compare(state, oracle.state());
  result.state_rms = d.rms;
  if (!within(d) && !result.first_mismatch) {
    result.first_mismatch =
        locate(setup, setup.steps - 1, true, d.worst, state[d.worst], oracle.state()[d.worst]);
  }
  return result;
}

std::vector<CaseResult> run_check(const MakeDecoder& make, int ring, std::uint64_t seed) {
  std::vector<CaseResult> results;
  for (const Case& setup : cases(ring, seed)) {
    results.push_back(run_case(setup, make, seed * 1000003 + results.size()));
  }
  return results;
}

bool passed(const std::vector<CaseResult>& results) {
  return !results.empty() && std::ranges::none_of(results, [](const CaseResult& r) {
    return r.first_mismatch.has_value();
  });
}

}  // namespace kernels::kda_decode
