#include "kernels/kda_decode/bench.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "kernels/kda_decode/inputs.h"

namespace kernels::kda_decode {
namespace {

// Tokens that are taken in turn. Batch 1 is cache-resident on purpose (256 KiB of state, 64 KiB of
// inputs): it shows compute. At batch 64 the states alone are 16 MiB, read once a step.
constexpr int kTokens = 8;

Shape bench_shape(int batch) { return {batch, 4, 4, 128, 128}; }

struct Fixture {
  Fixture(const Selection& selected, int batch, std::uint64_t seed)
      : shape(bench_shape(batch)), cache(shape, selected.ring), o(shape.value_size()) {
    Random random(seed);
    gate = make_gate(shape, GateForm::softplus, Regime::ordinary, random);
    cache.checkpoint = make_state(shape, random);
    for (int i = 0; i < kTokens; ++i) {
      tokens.push_back(make_token(shape, Regime::ordinary, 0, random));
    }
  }
  Step next() { return tokens[at++ % kTokens].step(); }

  Shape shape;
  Gate gate;
  Cache cache;
  Floats o;
  std::vector<TokenInputs> tokens;
  std::size_t at = 0;
};

// Slots of a server are at different places of their rings; all at one place would write all states
// in the same step. Forced flushes in the first steps spread them evenly.
void stagger(Fixture& fixture, const Variant& kernel, int v_tile) {
  const int ring = fixture.cache.ring;
  for (int i = 0; i < 2 * ring; ++i) {
    TokenInputs& token = fixture.tokens[fixture.at % kTokens];
    for (int slot = 0; slot < fixture.shape.batch; ++slot) token.flush[slot] = slot % ring == i;
    kernel.step(fixture.next(), fixture.gate, fixture.cache, v_tile, fixture.o.data());
    token.flush.assign(fixture.shape.batch, 0);
  }
}

}  // namespace

CountsPerToken count_per_token(const Selection& selected, int batch, std::uint64_t seed) {
  Fixture fixture(selected, batch, seed);
  Counters total;
  for (int i = 0; i < selected.ring; ++i) {
    variant(selected.variant)
        .counted(fixture.next(), fixture.gate, fixture.cache, selected.v_tile, fixture.o.data(),
                 total);
  }
  const double tokens = double(selected.ring) * batch * fixture.shape.value_heads;
  return {double(total.norms) / tokens, double(total.gates) / tokens, double(total.exps) / tokens,
          double(total.bytes) / tokens};
}

void register_bench(const Selection& selected, int batch, std::uint64_t seed) {
  const Variant& kernel = variant(selected.variant);
  auto fixture = std::make_shared<Fixture>(selected, batch, seed);
  stagger(*fixture, kernel, selected.v_tile);  // the warm-up too
  const CountsPerToken counts = count_per_token(selected, 1, seed);
  benchmark::AddCustomContext("variant", std::to_string(selected.variant));
  benchmark::AddCustomContext("what", kernel.what);
  benchmark::AddCustomContext("v_tile", std::to_string(selected.v_tile));
  benchmark::AddCustomContext("ring", std::to_string(selected.ring));
  benchmark::AddCustomContext("batch", std::to_string(batch));
  benchmark::AddCustomContext("seed", std::to_string(seed));
  benchmark::RegisterBenchmark("kda_decode", [=, &kernel](benchmark::State& state) {
    while (state.KeepRunningBatch(batch)) {
      kernel.step(fixture->next(), fixture->gate, fixture->cache, selected.v_tile,
                  fixture->o.data());
      benchmark::ClobberMemory();
    }
    state.counters["gates_per_token"] = counts.gates;
    state.counters["norms_per_token"] = counts.norms;
    state.counters["exp_per_token"] = counts.exps;
    state.counters["bytes_per_token"] = counts.bytes;
  });
}

}  // namespace kernels::kda_decode
