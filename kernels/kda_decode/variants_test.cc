#include "kernels/kda_decode/variants.h"

#include <catch2/catch.hpp>

#include "kernels/kda_decode/bench.h"
#include "kernels/kda_decode/check.h"
#include "kernels/kda_decode/compare.h"

namespace kernels::kda_decode {
namespace {

TEST_CASE("every variant agrees with the oracle at every tile") {
  const int number = GENERATE(0, 1, 2, 3);
  const int v_tile = GENERATE(16, 32, 64, 128);
  const std::uint64_t seed = 11;
  for (const CaseResult& r : run_check(cpu_decoder(number, v_tile), 16, seed)) {
    INFO("variant " << number << " v_tile " << v_tile << " case " << r.setup.name << " seed "
                    << seed);
    CHECK_FALSE(r.first_mismatch.has_value());
  }
}

TEST_CASE("a forced flush writes the state and empties the ring") {
  const int number = GENERATE(1, 2, 3);
  const Shape shape{2, 1, 1, 32, 32};
  Random random(5);
  const Gate gate = make_gate(shape, GateForm::softplus, Regime::ordinary, random);
  Cache cache(shape, 8);
  std::vector<float> o(shape.value_size());
  const auto step = [&](const std::vector<std::uint8_t>& flush) {
    TokenInputs token = make_token(shape, Regime::ordinary, 0, random);
    token.flush = flush;
    variant(number).step(token.step(), gate, cache, 32, o.data());
  };
  step({0, 0});
  step({0, 0});
  CHECK(cache.cursor == std::vector<int>{2, 2});
  CHECK(cache.checkpoint == Floats(shape.state_size()));  // nothing written yet
  step({0, 1});
  CHECK(cache.cursor == std::vector<int>{3, 0});
  CHECK(*cache.state(0, 0) == 0);
  CHECK(*cache.state(1, 0) != 0);
  for (int i = 0; i < 5; ++i) step({0, 0});
  CHECK(cache.cursor == std::vector<int>{0, 5});  // the eighth token of slot 0 filled its ring
}

TEST_CASE("a ring of one is plain decode") {
  const Shape shape{2, 2, 4, 64, 96};
  Random random(6);
  const Gate gate = make_gate(shape, GateForm::bounded, Regime::ordinary, random);
  Cache plain(shape, 1);
  Cache replay(shape, 1);
  plain.checkpoint = replay.checkpoint = make_state(shape, random);
  std::vector<float> want(shape.value_size());
  std::vector<float> got(shape.value_size());
  for (int i = 0; i < 4; ++i) {
    const TokenInputs token = make_token(shape, Regime::ordinary, 0, random);
    variant(0).step(token.step(), gate, plain, 32, want.data());
    variant(3).step(token.step(), gate, replay, 32, got.data());
    CHECK(within(compare(got, std::vector<double>(want.begin(), want.end()))));
    CHECK(replay.cursor == std::vector<int>{0, 0});
  }
  const std::vector<double> state(plain.checkpoint.begin(), plain.checkpoint.end());
  CHECK(within(compare(replay.checkpoint, state)));
}

TEST_CASE("counts are exact: the redundant work is a factor of V / v_tile") {
  const auto count = [](int number, int v_tile) {
    return count_per_token({number, v_tile, 16}, 2, 1);
  };
  const CountsPerToken merged = count(3, 32);
  CHECK(merged.gates == 1);
  CHECK(merged.norms == 2);
  // the gate's K and its rate, then K for S0 and for each of 0..15 records, 7.5 on average
  CHECK(merged.exps == 128 + 1 + 8.5 * 128);
  for (int v_tile : {16, 32, 64, 128}) {
    const double tiles = 128.0 / v_tile;
    for (int number : {1, 2}) {
      const CountsPerToken redundant = count(number, v_tile);
      CHECK(redundant.gates == tiles * merged.gates);
      CHECK(redundant.norms == tiles * merged.norms);
      CHECK(redundant.exps == tiles * merged.exps);
    }
    CHECK(count(3, v_tile).exps == merged.exps);
  }
  CHECK(count(0, 32).gates == 1);
}

TEST_CASE(
    "a replay touches fewer bytes than plain decode, redundant programs more than merged ones") {
  const auto bytes = [](int number, int v_tile) {
    return count_per_token({number, v_tile, 16}, 1, 1).bytes;
  };
  const double state = 4.0 * 128 * 128;
  CHECK(bytes(0, 32) > 3 * state);  // read twice, written once
  CHECK(bytes(0, 32) < 3.1 * state);
  CHECK(bytes(3, 128) < bytes(0, 32));
  CHECK(bytes(3, 128) < bytes(1, 32));
  CHECK(bytes(1, 128) == bytes(3, 128));
}

TEST_CASE("counting changes nothing") {
  const Shape shape{1, 1, 1, 32, 32};
  Random random(8);
  const Gate gate = make_gate(shape, GateForm::softplus, Regime::ordinary, random);
  const TokenInputs token = make_token(shape, Regime::ordinary, 0, random);
  for (int number = 0; number < kVariants; ++number) {
    Cache timed(shape, 4);
    Cache counted(shape, 4);
    std::vector<float> a(shape.value_size());
    std::vector<float> b(shape.value_size());
    Counters counters;
    variant(number).step(token.step(), gate, timed, 16, a.data());
    variant(number).counted(token.step(), gate, counted, 16, b.data(), counters);
    const std::vector<double> want(a.begin(), a.end());
    CHECK(within(compare(b, want)));
    CHECK(timed.cursor == counted.cursor);
  }
}

TEST_CASE("bad sizes are refused by name") {
  CHECK_THROWS_WITH(Cache({1, 1, 1, 40, 32}, 4), Catch::Contains("K must be a multiple of 16"));
  CHECK_THROWS_WITH(Cache({1, 1, 1, 32, 40}, 4), Catch::Contains("V must be a multiple of 16"));
  CHECK_THROWS_WITH(Cache({1, 2, 3, 32, 32}, 4), Catch::Contains("value_heads must be a multiple"));
  CHECK_THROWS_WITH(Cache({1, 1, 1, 32, 32}, 65), Catch::Contains("ring must be 1 to 64"));
  CHECK_THROWS_WITH(variant(4), Catch::Contains("variant must be 0 to 3"));
}

}  // namespace
}  // namespace kernels::kda_decode
