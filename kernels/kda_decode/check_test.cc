// The check must fail where a kernel is wrong: deliberately broken decoders, which exist only here.
#include "kernels/kda_decode/check.h"

#include <bit>
#include <catch2/catch.hpp>
#include <limits>

#include "kernels/kda_decode/reference.h"

namespace kernels::kda_decode {
namespace {

// v3 with a fault put in after each step.
class Broken : public Decoder {
 public:
  Broken(const Shape& shape, const Gate& gate, int ring, const Floats& state)
      : gate_(gate), cache_(shape, ring) {
    cache_.checkpoint = state;
  }
  void step(const Step& step, std::span<float> o) override {
    const Cache before = cache_;
    kReplayMerged.step(step, gate_, cache_, 64, o.data());
    spoil(step, before, o);
  }
  std::vector<double> state() override { return materialise(cache_); }

 protected:
  virtual void spoil(const Step& step, const Cache& before, std::span<float> o) = 0;
  Gate gate_;
  Cache cache_;
};

template <class Decoder>
MakeDecoder make() {
  return [](const Shape& shape, const Gate& gate, int ring, const Floats& state) {
    return std::make_unique<Decoder>(shape, gate, ring, state);
  };
}

class StateInBf16 final : public Broken {
  using Broken::Broken;
  void spoil(const Step&, const Cache&, std::span<float>) override {
    for (float& value : cache_.checkpoint) {
      value = std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + 0x8000u) & 0xffff0000u);
    }
  }
};

// Writes the state as if the waiting records had not decayed; o of the step itself is right.
class FlushSkipsDecay final : public Broken {
  using Broken::Broken;
  void spoil(const Step& step, const Cache& before, std::span<float>) override {
    Cache undecayed = before;
    std::fill(undecayed.g.begin(), undecayed.g.end(), 0.0f);
    std::vector<float> ignored(before.shape.value_size());
    kReplayMerged.step(step, gate_, undecayed, 64, ignored.data());
    cache_.checkpoint = undecayed.checkpoint;
  }
};

class ForgetsOneOutput final : public Broken {
  using Broken::Broken;
  void spoil(const Step&, const Cache&, std::span<float> o) override {
    o.back() = std::numeric_limits<float>::quiet_NaN();
  }
};

// Only the last state is wrong; no o ever shows it.
class StateOffAtTheEnd final : public Broken {
  using Broken::Broken;
  void spoil(const Step&, const Cache&, std::span<float>) override {}
  std::vector<double> state() override {
    auto state = Broken::state();
    state[std::size_t(5) * cache_.shape.value_dim + 7] += 0.01;
    return state;
  }
};

// 5e-7 of a step: far below any tolerance of a single step, and never forgotten when nothing
// decays.
class Drifts final : public Broken {
  using Broken::Broken;
  void spoil(const Step&, const Cache&, std::span<float>) override {
    for (float& value : cache_.checkpoint) value *= 1.0f + 1.2e-7f;
  }
};

std::vector<CaseResult> check(const MakeDecoder& decoder) { return run_check(decoder, 16, 21); }

TEST_CASE("a sound decoder passes with fresh inputs of any seed") {
  const auto seed = GENERATE(range(1, 21));
  CHECK(passed(run_check(cpu_decoder(3, 32), 16, seed)));
}

TEST_CASE("a state rounded to bf16 is caught") { CHECK_FALSE(passed(check(make<StateInBf16>()))); }

TEST_CASE("a flush without decay is caught, after the step that flushed") {
  const auto results = check(make<FlushSkipsDecay>());
  REQUIRE_FALSE(passed(results));
  REQUIRE(results[2].setup.name == "never_forced");
  REQUIRE(results[2].first_mismatch.has_value());
  CHECK(results[2].first_mismatch->step == 16);  // the ring of 16 fills at step 15
  CHECK(results[2].first_mismatch->where == "o");
}

TEST_CASE("an output that was not written is caught where it is") {
  const auto results = check(make<ForgetsOneOutput>());
  for (const CaseResult& r : results) {
    REQUIRE(r.first_mismatch.has_value());
    CHECK(r.first_mismatch->step == 0);
    CHECK(r.first_mismatch->slot == r.setup.shape.batch - 1);
    CHECK(r.first_mismatch->head == r.setup.shape.value_heads - 1);
    CHECK(r.first_mismatch->column == r.setup.shape.value_dim - 1);
  }
}

TEST_CASE("a wrong final state is caught with its row and column") {
  const auto results = check(make<StateOffAtTheEnd>());
  REQUIRE(results[0].first_mismatch.has_value());
  const Mismatch& m = *results[0].first_mismatch;
  CHECK(m.where == "state");
  CHECK(m.row == 5);
  CHECK(m.column == 7);
  CHECK(m.head == 0);
  CHECK(m.got - m.want == Approx(0.01).epsilon(0.01));
}

TEST_CASE("a drift too small for any one step is caught, late, in the slow regime") {
  const auto results = check(make<Drifts>());
  CHECK_FALSE(results[0].first_mismatch.has_value());
  for (const CaseResult& r : results) {
    if (r.setup.regime != Regime::slow) continue;
    REQUIRE(r.first_mismatch.has_value());
    CHECK(r.first_mismatch->step > 10);
  }
}

TEST_CASE("no case is no pass") { CHECK_FALSE(passed({})); }

}  // namespace
}  // namespace kernels::kda_decode
