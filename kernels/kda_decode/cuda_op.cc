// kda_decode as kernel_lab_cuda sees it: the same check and the same benchmark name as on the CPU.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <memory>

#include "kernels/kda_decode/check.h"
#include "kernels/kda_decode/device.h"
#include "kernels/kda_decode/op.h"
#include "kernels/kda_decode/reference.h"
#include "kernels/kda_decode/report.h"

namespace kernels::kda_decode {
namespace {

class DeviceDecoder final : public Decoder {
 public:
  DeviceDecoder(int variant, const Shape& shape, const Gate& gate, int ring, const Floats& state)
      : kernel_(variant, shape, gate, ring, state) {}
  void step(const Step& step, std::span<float> o) override {
    kernel_.upload(step);
    kernel_.launch_ms();
    kernel_.download(o);
  }
  std::vector<double> state() override { return materialise(kernel_.cache()); }

 private:
  DeviceKernel kernel_;
};

// The knobs' own variant may have no CUDA version; v3 stands for it.
int chosen_variant(const LabOptions& options) { return options.variant.value_or(3); }
int chosen_ring(const LabOptions& options) { return options.ring.value_or(selection().ring); }

int check(const LabOptions& options) {
  const int variant = chosen_variant(options);
  const int ring = chosen_ring(options);
  const MakeDecoder make = [=](const Shape& shape, const Gate& gate, int records,
                               const Floats& state) {
    return std::make_unique<DeviceDecoder>(variant, shape, gate, records, state);
  };
  const auto results = run_check(make, ring, options.seed);
  std::fputs(report(results, {variant, 128, ring, options.seed}).c_str(), stdout);
  return passed(results) ? kPassed : kFailed;
}

// Time on the device alone; the inputs stay there.
void bench(const LabOptions& options) {
  const Shape shape{options.batch, 4, 4, 128, 128};
  Random random(options.seed);
  const Gate gate = make_gate(shape, GateForm::softplus, Regime::ordinary, random);
  const Floats state = make_state(shape, random);
  const auto token = make_token(shape, Regime::ordinary, 0, random);
  auto kernel = std::make_shared<DeviceKernel>(chosen_variant(options), shape, gate,
                                               chosen_ring(options), state);
  kernel->upload(token.step());
  for (int i = 0; i < 32; ++i) kernel->launch_ms();  // warm-up
  benchmark::AddCustomContext("device", device_name());
  benchmark::RegisterBenchmark("kda_decode", [=](benchmark::State& run) {
    while (run.KeepRunningBatch(options.batch)) run.SetIterationTime(kernel->launch_ms() * 1e-3);
  })->UseManualTime();
}

}  // namespace

Op cuda_op() { return {"kda_decode", check, bench}; }

}  // namespace kernels::kda_decode
