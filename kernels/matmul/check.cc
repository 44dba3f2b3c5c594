#include <cmath>
#include <cstdlib>

#include "kernels/lab/bench.h"
#include "kernels/lab/engine_ops.h"
#include "kernels/matmul/tile.h"
#include "kernels/quantize/quantize.h"

namespace kernels::matmul {
namespace {

constexpr DType kTypes[] = {DType::f32, DType::f16, DType::bf16, DType::q8_0, DType::i8};
constexpr Isa kIsas[] = {Isa::generic, Isa::avx2, Isa::avx512, Isa::vnni, Isa::amx};

const char* name_of(DType type) {
  constexpr const char* kNames[] = {"f32", "f16", "bf16", "q8_0", "i8"};
  return kNames[std::size_t(type)];
}

// A matrix as a file holds it, and packed.
struct Weights {
  Weights(Random& random, DType type, int rows, int cols)
      : file(poisoned_bytes(row_bytes(type, cols) * rows)), scales(poison(rows)) {
    const Floats values = normals(random, std::size_t(rows) * cols, 0.5f);
    for (int r = 0; r < rows; ++r) {
      const float* from = values.data() + std::size_t(r) * cols;
      std::byte* to = file.data() + row_bytes(type, cols) * r;
      auto* halves = reinterpret_cast<std::uint16_t*>(to);
      if (type == DType::f32) std::copy_n(from, cols, reinterpret_cast<float*>(to));
      if (type == DType::f16) quantize::to_f16(from, cols, halves);
      if (type == DType::bf16) quantize::to_bf16(from, cols, halves);
      if (type == DType::q8_0) quantize::to_q8_0(from, cols, to);
      if (type == DType::i8)
        scales[r] = quantize::to_i8(from, cols, reinterpret_cast<std::int8_t*>(to));
    }
    view = {type, rows, cols, file.data(), scales.data()};
    memory = poisoned_bytes(packed_bytes(type, rows, cols));
    const int half = panels_of(rows) / 2;  // in two parts, as threads do
    pack(view, {half, panels_of(rows)}, memory.data());
    packed = pack(view, {0, half}, memory.data());
  }
  Bytes file, memory;
  Floats scales;
  MatrixView view;
  PackedMatrix packed;
};

// x as the product sees it.
Floats rounded(Isa isa, DType type, int cols, const Floats& x) {
  Floats y = x;
  std::vector<std::int8_t> q(cols);
  std::vector<std::uint16_t> halves(cols);
  const int block = type == DType::q8_0 ? kBlock : cols;
  for (std::size_t at = 0; at < x.size(); at += block) {
    if (type == DType::q8_0 || type == DType::i8) {
      const float scale = quantize::to_i8(&x[at], block, q.data());
      quantize::from_i8(q.data(), scale, block, &y[at]);
    } else if (rounds_input_to_bf16(isa, type)) {
      quantize::to_bf16(&x[at], block, halves.data());
      quantize::from_bf16(halves.data(), block, &y[at]);
    }
  }
  return y;
}

std::vector<double> oracle(const MatrixView& w, const Floats& x, int tokens) {
  std::vector<double> y(std::size_t(tokens) * w.rows);
  Floats row(w.cols);
  for (int r = 0; r < w.rows; ++r) {
    quantize::decode_row(w, r, row.data());
    for (int t = 0; t < tokens; ++t) {
      double sum = 0;
      for (int c = 0; c < w.cols; ++c) sum += double(row[c]) * x[std::size_t(t) * w.cols + c];
      y[std::size_t(t) * w.rows + r] = sum;
    }
  }
  return y;
}

Floats product(Isa isa, const Weights& w, const Floats& x, int tokens) {
  Bytes input = poisoned_bytes(input_bytes(isa, w.view.type, w.view.cols) * tokens);
  quantize_input(isa, w.view.type, w.view.cols, x.data(), {0, tokens}, input.data());
  Floats y = poison(std::size_t(tokens) * w.view.rows);
  multiply(isa, w.packed, x.data(), input.data(), {0, tokens}, {0, w.view.rows}, y.data());
  return y;
}

// The same product by pieces: random ranges of rows, tokens from the last, a few at a time.
Floats product_by_pieces(Isa isa, Random& random, const Weights& w, const Floats& x, int tokens) {
  const std::size_t bytes = input_bytes(isa, w.view.type, w.view.cols);
  Bytes input = poisoned_bytes(bytes * tokens);
  Floats y = poison(std::size_t(tokens) * w.view.rows);
  for (int end = tokens; end > 0;) {
    const Range some = {std::max(0, end - random.between(1, 8)), end};
    quantize_input(isa, w.view.type, w.view.cols, x.data(), some, input.data());
    for (int row = 0; row < w.view.rows;) {
      const Range rows = {row, std::min(w.view.rows, row + random.between(1, 50))};
      multiply(isa, w.packed, x.data(), input.data(), some, rows, y.data());
      row = rows.end;
    }
    end = some.begin;
  }
  return y;
}

void run(Check& check, DType type, int rows, int cols, int tokens) {
  const Weights w(check.random, type, rows, cols);
  const Floats x = normals(check.random, std::size_t(tokens) * cols);
  const std::string shape =
      std::to_string(tokens) + "x" + std::to_string(rows) + "x" + std::to_string(cols);
  for (Isa isa : kIsas) {
    if (!supports(isa)) continue;
    const std::string where = std::string(name_of(type)) + " " + name(isa) + " " + shape;
    const Floats y = product(isa, w, x, tokens);
    check.near(where, y, oracle(w.view, rounded(isa, type, cols, x), tokens));
    check.same(where + " cut", product_by_pieces(isa, check.random, w, x, tokens), y);
  }
}

void check(Check& check) {
  for (DType type : kTypes) {
    const int step = type == DType::q8_0 ? kBlock : 1;  // what columns are a multiple of
    run(check, type, 65, 2 * kBlock, 1);
    run(check, type, 16, kBlock, 16);
    run(check, type, 1, 3 * kBlock, 2);
    run(check, type, 130, 8 * kBlock, 35);
    for (int i = 0; i < 3; ++i) {
      run(check, type, check.random.between(1, 200), step * check.random.between(1, 300 / step),
          check.random.between(1, 40));
    }
  }
}

void bench(const LabOptions& options) {
  constexpr int kRows = 2048;
  constexpr int kCols = 2048;
  const Isa isa = choose_isa(std::getenv("NIGHTSHIFT_ISA"));
  const int tokens = options.batch;
  Random random(options.seed);
  const Floats x = normals(random, std::size_t(tokens) * kCols);
  for (DType type : kTypes) {
    const auto w = std::make_shared<Weights>(random, type, kRows, kCols);
    const double bytes = double(row_bytes(type, kCols)) * kRows + 4.0 * tokens * (kRows + kCols);
    register_timed(
        std::string("matmul/") + name_of(type) + "/" + name(isa),
        {2.0 * tokens * kRows * kCols, bytes},
        [=, y = Floats(std::size_t(tokens) * kRows),
         input = Bytes(input_bytes(isa, type, kCols) * tokens)]() mutable {
          quantize_input(isa, type, kCols, x.data(), {0, tokens}, input.data());
          multiply(isa, w->packed, x.data(), input.data(), {0, tokens}, {0, kRows}, y.data());
        });
  }
}

}  // namespace
}  // namespace kernels::matmul

const kernels::EngineOp kernels::kMatmul = {"matmul", matmul::check, matmul::bench};
