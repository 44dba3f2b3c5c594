#include "serving/gguf/types.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace serving::gguf;

TEST_CASE("every finite F16 survives a round trip") {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = from_f16(std::uint16_t(bits));
    if (std::isnan(value)) {
      REQUIRE(std::isnan(from_f16(to_f16(value))));
    } else if (to_f16(value) != bits) {
      FAIL(bits << " came back as " << to_f16(value));
    }
  }
  CHECK(from_f16(0x3c00) == 1.0f);
  CHECK(from_f16(0x0001) == 0x1p-24f);
  CHECK(from_f16(0xfbff) == -65504.0f);
}

TEST_CASE("F16 and BF16 round to the nearest, ties to even") {
  CHECK(to_f16(1.0f + 0x1p-11f) == 0x3c00);
  CHECK(to_f16(1.0f + 3 * 0x1p-11f) == 0x3c02);
  CHECK(to_f16(65519.0f) == 0x7bff);
  CHECK(to_f16(65520.0f) == 0x7c00);
  CHECK(to_f16(0x1p-25f) == 0x0000);
  CHECK(to_f16(3 * 0x1p-26f) == 0x0001);
  CHECK(to_bf16(1.0f + 0x1p-8f) == 0x3f80);
  CHECK(to_bf16(1.0f + 3 * 0x1p-8f) == 0x3f82);
  CHECK(std::isnan(from_bf16(to_bf16(std::numeric_limits<float>::quiet_NaN()))));
  const unsigned seed = 11;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 2000; ++i) {
    const float value = normal(random);
    REQUIRE(std::fabs(from_f16(to_f16(value)) - value) <=
            std::max(std::fabs(value) * 0x1p-11f, 0x1p-25f));
    REQUIRE(std::fabs(from_bf16(to_bf16(value)) - value) <= std::fabs(value) * 0x1p-8f);
  }
}

TEST_CASE("Q8_0 keeps a block to half a step of its scale") {
  const unsigned seed = 12;
  INFO("seed " << seed);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(96), back(96);
  for (float& value : values) value = normal(random);
  for (int i = 32; i < 64; ++i) values[i] = 0;  // a block of zeros has scale 0
  std::vector<std::byte> encoded(row_bytes(TensorType::q8_0, values.size()));
  encode_row(TensorType::q8_0, values, encoded.data());
  decode_row(TensorType::q8_0, encoded.data(), back);
  for (int block = 0; block < 3; ++block) {
    float largest = 0;
    for (int i = 0; i < 32; ++i) largest = std::max(largest, std::fabs(values[block * 32 + i]));
    for (int i = block * 32; i < block * 32 + 32; ++i) {
      CHECK(std::fabs(back[i] - values[i]) <= largest / 127 * 0.5f + largest * 0x1p-10f);
    }
  }
}
