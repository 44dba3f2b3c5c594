#include "kernels/quantize/quantize.h"

#include <cmath>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"

namespace kernels::quantize {
namespace {

// What a value may be off by: half a step, and what rounding the scale adds.
void within_steps(Check& check, const std::string& where, const Floats& x, const Floats& back,
                  int block, double slack) {
  for (std::size_t at = 0; at < x.size(); at += block) {
    const std::size_t end = std::min(at + block, x.size());
    double top = 0;
    for (std::size_t i = at; i < end; ++i) top = std::fmax(top, std::fabs(x[i]));
    bool good = true;
    for (std::size_t i = at; i < end; ++i) {
      good = good && std::fabs(double(back[i]) - x[i]) <= top / 127 * 0.5 + slack * top;
    }
    check.holds(where, good);
  }
}

void check_i8(Check& check, int size) {
  const Floats x = normals(check.random, size, 2);
  std::vector<std::int8_t> q(size, 99);
  const float scale = to_i8(x.data(), size, q.data());
  Floats back = poison(size);
  from_i8(q.data(), scale, size, back.data());
  within_steps(check, "i8 " + std::to_string(size), x, back, size, 1e-6);
  const Floats zeros(size);
  check.holds("i8 zeros", to_i8(zeros.data(), size, q.data()) == 0 && q[size - 1] == 0);
  Floats spoilt = x;
  spoilt[size / 2] = std::nanf("");
  const float spoilt_scale = to_i8(spoilt.data(), size, q.data());
  check.holds("i8 keeps a NaN", spoilt_scale != spoilt_scale);
}

void check_floats(Check& check, int size) {
  const Floats x = normals(check.random, size, 2);
  std::vector<std::uint16_t> h(size, 0xffff);
  Floats back = poison(size);
  to_f16(x.data(), size, h.data());
  from_f16(h.data(), size, back.data());
  check.near("f16", back, doubles(x), {0x1p-11, 0x1p-11 * 8});
  back = poison(size);
  to_bf16(x.data(), size, h.data());
  from_bf16(h.data(), size, back.data());
  check.near("bf16", back, doubles(x), {0x1p-8, 0x1p-8 * 8});
}

void check_blocks(Check& check, int blocks) {
  const int size = blocks * kBlock;
  const Floats x = normals(check.random, size, 2);
  Bytes file = poisoned_bytes(row_bytes(DType::q8_0, size));
  to_q8_0(x.data(), size, file.data());
  Floats back = poison(size);
  from_q8_0(file.data(), size, back.data());
  within_steps(check, "q8_0", x, back, kBlock, 0x1p-11);
  Floats row = poison(size);
  decode_row({DType::q8_0, 1, size, file.data()}, 0, row.data());
  check.same("decode_row q8_0", row, back);
}

void check(Check& check) {
  for (int size : {1, 16, 33, 200, check.random.between(1, 300)}) {
    check_i8(check, size);
    check_floats(check, size);
    check_blocks(check, size);
  }
}

void bench(const LabOptions& options) {
  const int size = 2048 * options.batch;
  Random random(options.seed);
  const Floats x = normals(random, size);
  register_timed("quantize", {3.0 * size, 5.0 * size},
                 [=, q = std::vector<std::int8_t>(size)]() mutable {
                   for (int i = 0; i < size; i += 2048) to_i8(x.data() + i, 2048, q.data() + i);
                 });
}

}  // namespace
}  // namespace kernels::quantize

const kernels::EngineOp kernels::kQuantize = {"quantize", quantize::check, quantize::bench};
