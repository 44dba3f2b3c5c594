#include "serving/bench/workload.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <sstream>

#include "serving/bench/trace_file.h"

namespace serving::bench {
namespace {

// The squared coefficient of variation of the gaps: 1 / burstiness for a gamma distribution.
double variation(const std::vector<double>& times_s) {
  double sum = 0, squares = 0, last = 0;
  for (double time_s : times_s) {
    sum += time_s - last;
    squares += (time_s - last) * (time_s - last);
    last = time_s;
  }
  const double mean = sum / static_cast<double>(times_s.size());
  return squares / static_cast<double>(times_s.size()) / (mean * mean) - 1;
}

std::vector<TraceEntry> parsed(const std::string& text, std::size_t most = 100) {
  std::istringstream in(text);
  auto entries = parse_trace(in, most);
  if (!entries) FAIL(entries.error().message);
  return *entries;
}

std::string refusal(const std::string& text) {
  std::istringstream in(text);
  auto entries = parse_trace(in, 100);
  return entries ? "taken" : entries.error().message;
}

Workload made(const WorkloadOptions& options) {
  auto workload = make_workload(options);
  if (!workload) FAIL(workload.error().message);
  return std::move(*workload);
}

std::vector<std::vector<Token>> inputs(const Workload& workload) {
  std::vector<std::vector<Token>> list;
  for (const auto& conversation : workload) {
    for (const Turn& turn : conversation.turns) list.push_back(turn.input);
  }
  return list;
}

std::vector<Token> first(const std::vector<Token>& tokens, std::size_t count) {
  return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

TEST_CASE("arrivals end exactly at count over rate, and burstiness spreads the gaps") {
  const std::uint64_t seed = 5;
  std::cout << "arrivals: seed " << seed << '\n';
  for (const double burstiness : {0.25, 1.0, 4.0}) {
    std::mt19937_64 random(seed);
    const auto times_s = draw_arrivals({10, burstiness}, 20'000, random);
    CHECK(times_s.back() == Approx(2000));
    CHECK(std::is_sorted(times_s.begin(), times_s.end()));
    CHECK(variation(times_s) == Approx(1 / burstiness).epsilon(0.1));
  }
  std::mt19937_64 random(seed);
  CHECK(draw_arrivals({0, 1}, 3, random) == std::vector<double>{0, 0, 0});
}

TEST_CASE("a workload is the same for the same seed and another for another") {
  for (const char* kind : {"random", "shared-prefix", "multi-turn"}) {
    WorkloadOptions options;
    options.kind = kind;
    options.requests = 20;
    options.range_ratio = 0.5;
    options.arrivals.rate_per_s = 5;
    const Workload a = made(options), b = made(options);
    CHECK(inputs(a) == inputs(b));
    CHECK(a.back().start_s == b.back().start_s);
    CHECK(a.back().start_s == Approx(4));  // 20 requests at 5 a second, also as conversations
    CHECK(inputs(a).size() == 20);
    for (const auto& input : inputs(a)) {
      for (Token token : input) REQUIRE((token >= 3200 && token < 32000));
    }
    options.seed = 1;
    CHECK(inputs(made(options)) != inputs(a));
  }
}

TEST_CASE("lengths lie in the range asked for") {
  WorkloadOptions options;
  options.requests = 500;
  options.input_tokens = 100;
  options.output_tokens = 10;
  options.range_ratio = 0.2;
  std::set<std::size_t> lengths;
  for (const auto& conversation : made(options)) {
    lengths.insert(conversation.turns[0].input.size());
    const int output = conversation.turns[0].output_tokens;
    REQUIRE((output >= 8 && output <= 12));
  }
  CHECK(*lengths.begin() == 80);
  CHECK(*lengths.rbegin() == 120);
}

TEST_CASE("shared prefixes are shared, and only they") {
  WorkloadOptions options;
  options.kind = "shared-prefix";
  options.requests = 40;
  options.prefix_tokens = 50;
  options.prefixes = 3;
  options.input_tokens = 10;
  std::set<std::vector<Token>> prefixes, wholes;
  for (const auto& input : inputs(made(options))) {
    REQUIRE(input.size() == 60);
    prefixes.insert(first(input, 50));
    wholes.insert(input);
  }
  CHECK(prefixes.size() == 3);
  CHECK(wholes.size() == 40);
}

TEST_CASE("multi-turn makes conversations of so many turns, the last perhaps shorter") {
  WorkloadOptions options;
  options.kind = "multi-turn";
  options.requests = 10;
  options.turns = 4;
  const Workload workload = made(options);
  REQUIRE(workload.size() == 3);
  CHECK(workload[0].turns.size() == 4);
  CHECK(workload[2].turns.size() == 2);
}

TEST_CASE("traces of both kinds are read, times from the first") {
  const auto json =
      parsed(R"({"timestamp": 2000, "input_length": 600, "output_length": 5, "hash_ids": [7, 8]})"
             "\n\n"
             R"({"timestamp": 500, "input_length": 1, "output_length": 1, "hash_ids": []})");
  REQUIRE(json.size() == 2);
  CHECK(json[0].at_s == 0);
  CHECK(json[1].at_s == 1.5);
  CHECK(json[1].blocks == std::vector<std::int64_t>{7, 8});
  const auto azure = parsed(
      "TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-12-31 23:59:59.5000000,10,20\r\n"
      "2024-01-01 00:00:01.7500000,30,40\r\n");
  CHECK(azure[1].at_s == Approx(2.25));
  CHECK(azure[1].input_tokens == 30);
  CHECK(azure[1].output_tokens == 40);
  const auto named = parsed("id,timestamp,output_length,input_length\nx,0.5,2,3\nx,1,4,5\n", 1);
  REQUIRE(named.size() == 1);
  CHECK(named[0].input_tokens == 3);
}

TEST_CASE("traces that cannot be read name the line") {
  CHECK_THAT(refusal(""), Catch::Contains("no request"));
  CHECK_THAT(refusal("a,b,c\n"), Catch::Contains("line 1"));
  CHECK_THAT(refusal("timestamp,input_length,output_length\n1,2\n"), Catch::Contains("line 2"));
  CHECK_THAT(refusal("timestamp,input_length,output_length\n1,2,x\n"), Catch::Contains("line 2"));
  CHECK_THAT(refusal("{\"timestamp\": 1}\n"), Catch::Contains("line 1"));
  CHECK_THAT(refusal(R"({"timestamp": 1, "input_length": 0, "output_length": 1})"),
             Catch::Contains("at least 1"));
  CHECK_FALSE(read_trace("no/such/file", 1));
}

TEST_CASE("replay shares what the trace shares, at every scale") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / "serving_bench_replay.jsonl";
  {
    std::FILE* file = std::fopen(path.c_str(), "w");
    std::fputs(
        R"({"timestamp": 0, "input_length": 1000, "output_length": 64, "hash_ids": [1, 2]})"
        "\n"
        R"({"timestamp": 4000, "input_length": 1100, "output_length": 8, "hash_ids": [1, 3, 4]})"
        "\n",
        file);
    std::fclose(file);
  }
  WorkloadOptions options;
  options.kind = "replay";
  options.trace = path.string();
  options.length_scale = 1.0 / 16;
  options.speed = 2;
  const Workload workload = made(options);
  const auto all = inputs(workload);
  CHECK(all[0].size() == 63);
  CHECK(all[1].size() == 69);
  CHECK(first(all[0], 32) == first(all[1], 32));
  CHECK(all[0][32] != all[1][32]);
  CHECK(workload[0].turns[0].output_tokens == 4);
  CHECK(workload[1].turns[0].output_tokens == 1);
  CHECK(workload[1].start_s == 2);
  std::filesystem::remove(path);
}

TEST_CASE("options out of range are refused by name") {
  const auto message = [](auto change) {
    WorkloadOptions options;
    change(options);
    const auto workload = make_workload(options);
    return workload ? std::string("taken") : workload.error().message;
  };
  CHECK_THAT(message([](auto& o) { o.kind = "sharegpt"; }), Catch::Contains("multi-turn"));
  CHECK_THAT(message([](auto& o) { o.requests = 0; }), Catch::Contains("--num-prompts"));
  CHECK_THAT(message([](auto& o) { o.range_ratio = 1; }), Catch::Contains("--range-ratio"));
  CHECK_THAT(message([](auto& o) { o.arrivals.burstiness = 0; }), Catch::Contains("--burstiness"));
  CHECK_THAT(message([](auto& o) { o.vocabulary = 2; }), Catch::Contains("--vocabulary"));
}

// The published traces are not part of the repository.
TEST_CASE("the published traces are read whole") {
  const char* named = std::getenv("NIGHTSHIFT_TRACES");
  const std::filesystem::path folder =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(SERVING_SOURCE_DIR) / "../../shared/traces";
  if (!std::filesystem::exists(folder / "azure2023_code.csv")) {
    std::cout << "SKIPPED: no traces at NIGHTSHIFT_TRACES or ../shared/traces\n";
    return;
  }
  const auto count = [&](const char* name) {
    const auto entries = read_trace((folder / name).string(), SIZE_MAX);
    return entries ? entries->size() : 0;
  };
  CHECK(count("mooncake_conversation.jsonl") == 12'031);
  CHECK(count("azure2023_conv.csv") == 19'366);
  CHECK(count("azure2023_code.csv") == 8'819);
}

}  // namespace serving::bench
