// A small file with every kind of value and tensor, for the tests and the fuzzer.
#pragma once

#include <span>
#include <sstream>
#include <string>

#include "serving/gguf/writer.h"

namespace serving::gguf {

inline Plan sample_plan() {
  Plan plan;
  plan.metadata = {{"general.architecture", std::string("sample")},
                   {"general.alignment", std::uint32_t(32)},
                   {"a.u8", std::uint8_t(200)},
                   {"a.i8", std::int8_t(-3)},
                   {"a.u16", std::uint16_t(60000)},
                   {"a.i16", std::int16_t(-300)},
                   {"a.u32", std::uint32_t(4000000000u)},
                   {"a.i32", std::int32_t(-70000)},
                   {"a.f32", 0.5f},
                   {"a.bool", true},
                   {"a.u64", std::uint64_t(1) << 63},
                   {"a.i64", -(std::int64_t(1) << 40)},
                   {"a.f64", 0.1},
                   {"a.texts", Array(std::vector<std::string>{"one", "", "drei\xff"})},
                   {"a.floats", Array(std::vector<float>{1, -2})},
                   {"a.ints", Array(std::vector<std::int32_t>{7, -7})},
                   {"a.bools", Array(std::vector<bool>{true, false})}};
  plan.tensors = {{"plain", TensorType::f32, {5, 3, 1, 1}, 2},
                  {"half", TensorType::f16, {4, 2, 1, 1}, 2},
                  {"brain", TensorType::bf16, {3, 1, 1, 1}, 1},
                  {"blocks", TensorType::q8_0, {64, 2, 2, 1}, 3}};
  return plan;
}

inline float sample_value(std::uint64_t row, std::size_t column) {
  return float(int(row * 7 + column * 3) % 11 - 5) / 4;
}

inline std::string sample_bytes() {
  std::ostringstream out;
  Status written = write(out, sample_plan(),
                         [](const PlannedTensor&, std::uint64_t row, std::span<float> values) {
                           for (std::size_t i = 0; i < values.size(); ++i) {
                             values[i] = sample_value(row, i);
                           }
                         });
  return written ? out.str() : std::string();
}

inline Result<File> parse_bytes(const std::string& bytes) {
  return File::parse(std::as_bytes(std::span(bytes)));
}

}  // namespace serving::gguf
