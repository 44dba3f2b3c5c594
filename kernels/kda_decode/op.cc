// kda_decode as kernel_lab sees it: options and knobs put together.
#include "kernels/kda_decode/op.h"

#include <cstdio>
#include <stdexcept>

#include "kernels/kda_decode/bench.h"
#include "kernels/kda_decode/check.h"
#include "kernels/kda_decode/report.h"

namespace kernels::kda_decode {
namespace {

Selection chosen(const LabOptions& options) {
  const Selection knobs = selection();
  const Selection s{options.variant.value_or(knobs.variant), options.v_tile.value_or(knobs.v_tile),
                    options.ring.value_or(knobs.ring)};
  variant(s.variant);  // throws where there is none
  const auto refuse = [](const char* what, int found) {
    throw std::invalid_argument(std::string(what) + ", found " + std::to_string(found));
  };
  if (!is_v_tile(s.v_tile)) refuse("--v_tile must be 16, 32, 64 or 128", s.v_tile);
  if (!is_ring(s.ring)) refuse("--ring must be 1 to 64", s.ring);
  return s;
}

int check(const LabOptions& options) {
  const Selection s = chosen(options);
  const auto results = run_check(cpu_decoder(s.variant, s.v_tile), s.ring, options.seed);
  const std::string text = report(results, {s.variant, s.v_tile, s.ring, options.seed});
  std::fputs(text.c_str(), stdout);
  return passed(results) ? kPassed : kFailed;
}

void bench(const LabOptions& options) {
  register_bench(chosen(options), options.batch, options.seed);
}

}  // namespace

Op cpu_op() { return {"kda_decode", check, bench}; }

}  // namespace kernels::kda_decode
