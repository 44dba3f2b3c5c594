#include "policies/recording.h"

#include <catch2/catch.hpp>

namespace policies {
namespace {

constexpr const char* kText =
    "# nightshift noise recording 1\n# machine: a box\n# date: 2026-12-01\n# command: bench\n"
    "# unit: ns\nfirst,second\n100,101\n102,99.5\n98,100\n";

std::string with(const std::string& from, const std::string& to) {
  std::string text = kText;
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST_CASE("a recording keeps its header and its pairs") {
  const auto recording = parse_recording(kText, "a.csv");
  REQUIRE(recording);
  CHECK(recording->header.at("machine") == "a box");
  REQUIRE(recording->pairs.size() == 3);
  CHECK(recording->pairs[1].first == 102);
  CHECK(recording->pairs[1].second == 99.5);
  const auto again = parse_recording(to_text(*recording), "b.csv");
  REQUIRE(again);
  CHECK(to_text(*again) == to_text(*recording));
}

TEST_CASE("what is wrong in a recording is named with its line") {
  CHECK(
      parse_recording("", "a.csv").error().text().starts_with("a.csv:1: expected \"# nightshift"));
  for (const char* wrong : {"102", "102,", "102,-1", "102,nan", "102,inf", "102,1x", "0,1"}) {
    INFO(wrong);
    const auto recording = parse_recording(with("102,99.5", wrong), "a.csv");
    REQUIRE_FALSE(recording);
    CHECK(recording.error().context == "a.csv:8");
  }
  CHECK(parse_recording(with("# unit: ns\n", ""), "a.csv").error().message ==
        "\"# unit: ...\" is missing");
  CHECK_FALSE(parse_recording(with("102,99.5\n98,100\n", ""), "a.csv"));
}

TEST_CASE("a replay goes through the recording in blocks, its end joined to its start") {
  const Machine machine = replay(*parse_recording(kText, "a.csv"), 3);
  base::Rng rng(1);
  for (int block = 0; block < 10; ++block) {
    double sum = 0;
    for (int i = 0; i < 3; ++i) sum += machine(rng).first;
    CHECK(sum == 300);  // each pair once, from wherever the block began
  }
}

}  // namespace
}  // namespace policies
