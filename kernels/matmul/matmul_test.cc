#include "kernels/matmul/matmul.h"

#include <catch2/catch.hpp>
#include <stdexcept>
#include <vector>

#include "kernels/lab/check.h"
#include "kernels/quantize/quantize.h"

namespace kernels::matmul {
namespace {

TEST_CASE("an instruction set is chosen by its name, or the best") {
  CHECK(choose_isa("generic") == Isa::generic);
  CHECK(supports(choose_isa(nullptr)));
  CHECK(choose_isa("") == choose_isa(nullptr));
  CHECK_THROWS_AS(choose_isa("avx"), std::invalid_argument);
  for (Isa isa : {Isa::avx2, Isa::avx512, Isa::vnni, Isa::amx}) {
    if (supports(isa)) {
      CHECK(choose_isa(name(isa)) == isa);
    } else {
      CHECK_THROWS_AS(choose_isa(name(isa)), std::invalid_argument);
    }
  }
}

TEST_CASE("a product by hand") {
  const float w[] = {1, 2, 3, -1, 0, 0.5f};
  const float x[] = {1, 10, 100, 2, 2, 2};
  Bytes memory(packed_bytes(DType::f32, 2, 3));
  const PackedMatrix packed =
      pack({DType::f32, 2, 3, w, nullptr}, {0, panels_of(2)}, memory.data());
  float y[4];
  multiply(Isa::generic, packed, x, nullptr, {0, 2}, {0, 2}, y);
  CHECK(std::vector<float>(y, y + 4) == std::vector<float>{321, 49, 12, -1});
}

TEST_CASE("rows and tokens outside the ranges stay as they were") {
  Random random(5);
  const Floats w = normals(random, 40 * 8);
  const Floats x = normals(random, 3 * 8);
  Bytes memory(packed_bytes(DType::f32, 40, 8));
  const PackedMatrix packed =
      pack({DType::f32, 40, 8, w.data(), nullptr}, {0, panels_of(40)}, memory.data());
  std::vector<float> y(3 * 40, 77);
  multiply(choose_isa(nullptr), packed, x.data(), nullptr, {1, 2}, {5, 35}, y.data());
  for (int i = 0; i < 3 * 40; ++i) {
    const bool inside = i / 40 == 1 && i % 40 >= 5 && i % 40 < 35;
    INFO(i);
    CHECK((y[i] == 77) != inside);
  }
}

// int8 products are exact and every variant scales them alike, so that the machines with FMA agree.
TEST_CASE("int8 gives the same bits on AVX2, VNNI and AMX") {
  constexpr int kRows = 50;
  constexpr int kCols = 288;
  constexpr int kTokens = 21;
  constexpr std::uint64_t kSeed = 9;
  INFO("seed " << kSeed);
  Random random(kSeed);
  const Floats values = normals(random, std::size_t(kRows) * kCols);
  const Floats x = normals(random, std::size_t(kTokens) * kCols);
  for (DType type : {DType::q8_0, DType::i8}) {
    Bytes file(row_bytes(type, kCols) * kRows);
    Floats scales(kRows);
    for (int r = 0; r < kRows; ++r) {
      std::byte* row = file.data() + row_bytes(type, kCols) * r;
      if (type == DType::q8_0) {
        quantize::to_q8_0(&values[std::size_t(r) * kCols], kCols, row);
      } else {
        scales[r] = quantize::to_i8(&values[std::size_t(r) * kCols], kCols,
                                    reinterpret_cast<std::int8_t*>(row));
      }
    }
    Bytes memory(packed_bytes(type, kRows, kCols));
    const PackedMatrix packed = pack({type, kRows, kCols, file.data(), scales.data()},
                                     {0, panels_of(kRows)}, memory.data());
    Floats first;
    for (Isa isa : {Isa::avx2, Isa::avx512, Isa::vnni, Isa::amx}) {
      if (!supports(isa)) continue;
      Bytes input(input_bytes(isa, type, kCols) * kTokens);
      quantize_input(isa, type, kCols, x.data(), {0, kTokens}, input.data());
      Floats y = poison(std::size_t(kTokens) * kRows);
      multiply(isa, packed, x.data(), input.data(), {0, kTokens}, {0, kRows}, y.data());
      if (first.empty()) first = y;
      Check check(name(isa), kSeed);
      check.same("int8", y, first);
      INFO(name(isa) << " " << check.first_mismatch());
      CHECK(check.ok());
    }
  }
}

// The largest products: int32 must not overflow, nor the 16-bit pairs of AVX2.
TEST_CASE("int8 at its limits") {
  constexpr int kCols = 4096;
  for (int sign : {1, -1}) {
    std::vector<std::int8_t> w(kCols, std::int8_t(sign > 0 ? 127 : -128));
    const float scale = 1;
    const Floats x(kCols, 127.0f);  // quantised to 127 with scale 1
    Bytes memory(packed_bytes(DType::i8, 1, kCols));
    const PackedMatrix packed =
        pack({DType::i8, 1, kCols, w.data(), &scale}, {0, 1}, memory.data());
    for (Isa isa : {Isa::generic, Isa::avx2, Isa::avx512, Isa::vnni, Isa::amx}) {
      if (!supports(isa)) continue;
      Bytes input(input_bytes(isa, DType::i8, kCols));
      quantize_input(isa, DType::i8, kCols, x.data(), {0, 1}, input.data());
      float y = 0;
      multiply(isa, packed, x.data(), input.data(), {0, 1}, {0, 1}, &y);
      INFO(name(isa));
      CHECK(y == float(w[0]) * 127.0f * kCols);
    }
  }
}

}  // namespace
}  // namespace kernels::matmul
