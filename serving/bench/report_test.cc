#include "serving/bench/report.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "serving/bench/sse_reader.h"

namespace serving::bench {
namespace {

RequestRecord record(double ttft_s, double latency_s, int tokens) {
  RequestRecord made;
  made.status = 200;
  made.ttft_s = ttft_s;
  made.latency_s = latency_s;
  made.output_tokens = tokens;
  made.input_tokens = 10;
  made.itl_s.assign(static_cast<std::size_t>(tokens - 1), (latency_s - ttft_s) / (tokens - 1));
  return made;
}

LoadResult sample() {
  LoadResult result;
  result.duration_s = 2;
  result.records = {record(0.1, 1.1, 11), record(0.3, 0.5, 3), record(0.2, 0.2, 1)};
  result.records.emplace_back();
  result.records.back().error = "HTTP 503: busy";
  return result;
}

}  // namespace

TEST_CASE("percentiles are interpolated as numpy does") {
  CHECK(percentile({}, 50) == 0);
  CHECK(percentile({4, 1, 3, 2}, 50) == 2.5);
  CHECK(percentile({1, 2, 3, 4}, 25) == 1.75);
  CHECK(percentile({1, 2, 3, 4, 5}, 99) == Approx(4.96));
  CHECK(percentile({7}, 90) == 7);
}

TEST_CASE("the report counts and averages what vLLM's benchmark does") {
  const auto out = report(sample(), {});
  CHECK(out["completed"] == 3);
  CHECK(out["failed"] == 1);
  CHECK(out["total_input_tokens"] == 30);
  CHECK(out["total_output_tokens"] == 15);
  CHECK(out["request_throughput"] == 1.5);
  CHECK(out["output_throughput"] == 7.5);
  CHECK(out["total_token_throughput"] == 22.5);
  CHECK(out["mean_ttft_ms"].get<double>() == Approx(200));
  CHECK(out["median_ttft_ms"].get<double>() == Approx(200));
  CHECK(out["std_ttft_ms"].get<double>() == Approx(81.6497));
  CHECK(out["p99_ttft_ms"].get<double>() == Approx(298));
  // (1.1 - 0.1) / 10 and (0.5 - 0.3) / 2; an answer of one token has no time per further token.
  CHECK(out["mean_tpot_ms"].get<double>() == Approx(100));
  CHECK(out["mean_itl_ms"].get<double>() == Approx(100));
  CHECK(out["mean_e2el_ms"].get<double>() == Approx(600));
  CHECK(out["request_goodput"].is_null());
  CHECK(out["error_counts"]["HTTP 503: busy"] == 1);
  CHECK_FALSE(out.contains("ttfts"));
}

TEST_CASE("goodput counts the requests that meet all limits") {
  ReportOptions options;
  options.goodput = *parse_goodput({"ttft:250", "e2el:1000"});
  CHECK(report(sample(), options)["request_goodput"] == 0.5);
  options.goodput = *parse_goodput({"tpot:150"});
  CHECK(report(sample(), options)["request_goodput"] == 1.5);
  for (const char* wrong : {"ttft", "ttft:", "ttft:x", "ttft:0", "itl:5", ":5", "ttft:5s"}) {
    INFO(wrong);
    CHECK_FALSE(parse_goodput({wrong}));
  }
}

TEST_CASE("details and the summary name each metric") {
  ReportOptions options;
  options.detailed = true;
  options.percentiles = {99.9};
  const auto out = report(sample(), options);
  CHECK(out["ttfts"].size() == 4);
  CHECK(out["errors"][3] == "HTTP 503: busy");
  CHECK(out.contains("p99.9_itl_ms"));
  const std::string text = summary(report(sample(), {}));
  CHECK_THAT(text, Catch::Contains("Time to first token"));
  CHECK_THAT(text, Catch::Contains("1 x HTTP 503: busy"));
}

TEST_CASE("events are put together however the network cuts them") {
  const std::string stream =
      "data: one\n\n: comment\ndata: two\r\ndata:three\r\n\r\nevent: x\n\ndata: four";
  for (std::size_t size : {1, 3, 100}) {
    SseReader reader;
    std::vector<std::string> events;
    for (std::size_t at = 0; at < stream.size(); at += size) {
      for (auto& event : reader.add(std::string_view(stream).substr(at, size))) {
        events.push_back(std::move(event));
      }
    }
    CHECK(events == std::vector<std::string>{"one", "two\nthree"});
  }
}

}  // namespace serving::bench
