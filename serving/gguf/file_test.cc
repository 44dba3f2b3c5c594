#include "serving/gguf/file.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "serving/gguf/test_sample.h"

using namespace serving;
using namespace serving::gguf;

TEST_CASE("what is written is read back, value for value") {
  const std::string bytes = sample_bytes();
  auto file = parse_bytes(bytes);
  REQUIRE(file);
  const Plan plan = sample_plan();
  CHECK(file->metadata().entries().size() == plan.metadata.size());
  for (const auto& [key, value] : plan.metadata) {
    INFO(key);
    const Value* found = file->metadata().find(key);
    REQUIRE(found != nullptr);
    CHECK(*found == value);
  }
  CHECK(file->tensors().size() == plan.tensors.size());
  for (const PlannedTensor& planned : plan.tensors) {
    INFO(planned.name);
    auto tensor = file->tensor(planned.name, planned.dims);
    REQUIRE(tensor);
    CHECK((*tensor)->type == planned.type);
    std::vector<float> row((*tensor)->columns());
    for (std::uint64_t r = 0; r < (*tensor)->rows(); ++r) {
      (*tensor)->read_row(r, row);
      for (std::size_t i = 0; i < row.size(); ++i) {
        CHECK(std::fabs(row[i] - sample_value(r, i)) <= 1.25f / 127 / 1.9f);
      }
    }
  }
}

TEST_CASE("a file on disk is mapped, and a missing one is named") {
  const auto path = std::filesystem::temp_directory_path() / "serving_gguf_file_test.gguf";
  std::ofstream(path, std::ios::binary) << sample_bytes();
  {
    auto file = File::open(path.string());
    REQUIRE(file);
    CHECK(file->find("plain")->values()[4] == sample_value(0, 4));
  }
  std::filesystem::remove(path);
  auto missing = File::open(path.string());
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == ErrorCode::not_found);
  CHECK(missing.error().message.find(path.string()) != std::string::npos);
}

TEST_CASE("metadata is asked for by kind, and the wrong kind is named") {
  const std::string bytes = sample_bytes();
  auto file = parse_bytes(bytes);
  REQUIRE(file);
  const Metadata& m = file->metadata();
  CHECK(m.integer("a.u8").value() == 200);
  CHECK(m.integer("a.i64").value() == -(std::int64_t(1) << 40));
  CHECK(m.integer("not.there", 5).value() == 5);
  CHECK(m.integer("not.there").error().code == ErrorCode::not_found);
  CHECK(m.integer("a.u64").error().code == ErrorCode::bad_input);  // beyond a signed 64 bits
  CHECK(m.integer("a.bool").error().message ==
        "metadata key 'a.bool': expected an integer that fits 64 bits with sign, found bool");
  CHECK(m.number("a.f64").value() == 0.1);
  CHECK(m.flag("a.bool", false).value());
  CHECK(m.text("a.f32").error().message.find("found float32") != std::string::npos);
  CHECK(m.integers("a.ints").value() == std::vector<std::int64_t>{7, -7});
  CHECK(m.integers("a.texts").error().message.find("an array of string") != std::string::npos);
  CHECK(m.floats("a.floats").value() == std::vector<float>{1, -2});
  CHECK(m.texts("a.texts").value()->at(2) == "drei\xff");
}

TEST_CASE("a tensor of other dims is refused with both") {
  const std::string bytes = sample_bytes();
  auto file = parse_bytes(bytes);
  REQUIRE(file);
  CHECK(file->tensor("plain", {5, 4, 1, 1}).error().message ==
        "tensor 'plain': expected 5 x 4, found 5 x 3");
  CHECK(file->tensor("absent", {5, 4, 1, 1}).error().code == ErrorCode::not_found);
}
