// The W8A8 product as kernel_lab_cuda sees it, compared with the CPU's, which has an oracle of its
// own.
#include "kernels/lab/cuda_ops.h"
#include "kernels/matmul/device.h"
#include "kernels/matmul/matmul.h"
#include "kernels/quantize/quantize.h"

namespace kernels::matmul {
namespace {

struct Weights {
  Weights(Random& random, int rows, int cols)
      : values(std::size_t(rows) * cols),
        scales(rows),
        memory(packed_bytes(DType::i8, rows, cols)) {
    for (int r = 0; r < rows; ++r) {
      const Floats row = normals(random, cols);
      scales[r] = quantize::to_i8(row.data(), cols, &values[std::size_t(r) * cols]);
    }
    view = {DType::i8, rows, cols, values.data(), scales.data()};
    packed = pack(view, {0, panels_of(rows)}, memory.data());
  }
  std::vector<std::int8_t> values;
  Floats scales;
  Bytes memory;
  MatrixView view;
  PackedMatrix packed;
};

void run(Check& check, int rows, int cols, int tokens) {
  const Weights w(check.random, rows, cols);
  const Floats x = normals(check.random, std::size_t(tokens) * cols);
  Bytes input(input_bytes(Isa::generic, DType::i8, cols) * tokens);
  quantize_input(Isa::generic, DType::i8, cols, x.data(), {0, tokens}, input.data());
  Floats want = poison(std::size_t(tokens) * rows);
  multiply(Isa::generic, w.packed, x.data(), input.data(), {0, tokens}, {0, rows}, want.data());

  Floats got = poison(want.size());
  DeviceProduct product(w.view, tokens);
  product.upload(x.data());
  product.launch_ms();
  product.download(got.data());
  check.near(std::to_string(tokens) + "x" + std::to_string(rows) + "x" + std::to_string(cols), got,
             doubles(want));
}

void check_device(Check& check) {
  run(check, 64, 64, 64);
  run(check, 1, 1, 1);
  for (int i = 0; i < 6; ++i) {
    run(check, check.random.between(1, 300), check.random.between(1, 500),
        check.random.between(1, 150));
  }
}

void bench_device(const LabOptions& options) {
  constexpr int kSize = 4096;
  Random random(options.seed);
  const int tokens = options.batch;
  const Weights w(random, kSize, kSize);
  auto product = std::make_shared<DeviceProduct>(w.view, tokens);
  product->upload(normals(random, std::size_t(tokens) * kSize).data());
  const Work work = {2.0 * tokens * kSize * kSize, double(kSize) * kSize + 8.0 * tokens * kSize};
  register_device_timed("matmul/i8", work, [=] { return product->launch_ms(); });
}

}  // namespace

Op cuda_op() { return lab_op({"matmul", check_device, bench_device}); }

}  // namespace kernels::matmul
