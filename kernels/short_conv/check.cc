#include <cmath>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/short_conv/short_conv.h"

namespace kernels::short_conv {
namespace {

// The whole sequence at once, zeros before it.
std::vector<double> oracle(const Floats& x, const Floats& weight, int channels) {
  std::vector<double> y(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    double sum = 0;
    for (int w = 0; w < kWidth; ++w) {
      const std::size_t back = std::size_t(kWidth - 1 - w) * channels;
      if (back <= i) sum += double(weight[i % channels * kWidth + w]) * x[i - back];
    }
    y[i] = sum / (1 + std::exp(-sum));
  }
  return y;
}

void run(Check& check, int channels, int tokens) {
  const std::string where = std::to_string(tokens) + "x" + std::to_string(channels);
  const Floats x = normals(check.random, std::size_t(tokens) * channels);
  const Floats weight = normals(check.random, std::size_t(channels) * kWidth);
  Floats state(std::size_t(3) * channels);
  Floats y = poison(x.size());
  forward(x.data(), weight.data(), channels, tokens, {0, channels}, state.data(), y.data());
  check.near(where, y, oracle(x, weight, channels));

  // Cut into chunks of random lengths and into ranges of channels: not a bit changes.
  Floats cut_state(state.size());
  Floats cut = poison(x.size());
  for (int t = 0; t < tokens;) {
    const int some = std::min(check.random.between(1, 5), tokens - t);
    const int split = check.random.between(0, channels);
    const std::size_t at = std::size_t(t) * channels;
    for (Range range : {Range{0, split}, Range{split, channels}}) {
      forward(x.data() + at, weight.data(), channels, some, range, cut_state.data(),
              cut.data() + at);
    }
    t += some;
  }
  check.same("cut " + where, cut, y);
  check.same("state " + where, cut_state, state);
}

void check(Check& check) {
  for (int channels : {1, 16, 100, 128, check.random.between(1, 200)}) {
    run(check, channels, check.random.between(1, 40));
  }
  run(check, 48, 1);
}

void bench(const LabOptions& options) {
  constexpr int kChannels = 1536;
  const int tokens = options.batch;
  Random random(options.seed);
  const double elements = double(tokens) * kChannels;
  const Floats x = normals(random, std::size_t(elements));
  const Floats weight = normals(random, std::size_t(kChannels) * kWidth);
  register_timed(
      "short_conv", {12 * elements, 8 * elements + 4.0 * kChannels * (kWidth + 6)},
      [=, y = Floats(x.size()), state = Floats(3 * kChannels)]() mutable {
        forward(x.data(), weight.data(), kChannels, tokens, {0, kChannels}, state.data(), y.data());
      });
}

}  // namespace
}  // namespace kernels::short_conv

const kernels::EngineOp kernels::kShortConv = {"short_conv", short_conv::check, short_conv::bench};
