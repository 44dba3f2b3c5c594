#include "serving/trace/trace.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace serving {
namespace {

struct Written {
  TraceSummary summary;
  nlohmann::json json;
  std::vector<nlohmann::json> spans;
};

Written stop_and_read() {
  std::ostringstream out;
  const auto summary = stop_trace(out);
  REQUIRE(summary.has_value());
  Written written{*summary, nlohmann::json::parse(out.str()), {}};
  for (const auto& event : written.json["traceEvents"]) {
    if (event["ph"] == "X") written.spans.push_back(event);
  }
  return written;
}

std::set<std::string> lane_names(const Written& written) {
  std::set<std::string> names;
  for (const auto& event : written.json["traceEvents"]) {
    if (event["name"] == "thread_name") names.insert(event["args"]["name"]);
  }
  return names;
}

TEST_CASE("a span keeps its name, its numbers and its place inside the outer one") {
  REQUIRE(start_trace());
  {
    TraceSpan step("engine.step", {"batch", 16}, {"chunk", 256});
    TraceSpan layer("model.layer", {"layer", 3});
  }
  const Written written = stop_and_read();
  REQUIRE(written.spans.size() == 2);
  const auto& layer = written.spans[0];
  const auto& step = written.spans[1];
  CHECK(step["name"] == "engine.step");
  CHECK(step["args"] == nlohmann::json{{"batch", 16}, {"chunk", 256}});
  CHECK(layer["args"] == nlohmann::json{{"layer", 3}});
  CHECK(step["ts"].get<double>() <= layer["ts"].get<double>());
  CHECK(layer["ts"].get<double>() + layer["dur"].get<double>() <=
        step["ts"].get<double>() + step["dur"].get<double>() + 1e-3);
}

TEST_CASE("nothing is kept while no trace is under way") {
  { TraceSpan span("before"); }
  REQUIRE(start_trace());
  const Written written = stop_and_read();
  CHECK(written.spans.empty());
  CHECK(written.summary.spans == 0);
}

TEST_CASE("a second trace starts empty") {
  REQUIRE(start_trace());
  { TraceSpan span("first"); }
  REQUIRE(stop_and_read().spans.size() == 1);
  REQUIRE(start_trace());
  { TraceSpan span("second"); }
  const Written written = stop_and_read();
  REQUIRE(written.spans.size() == 1);
  CHECK(written.spans[0]["name"] == "second");
}

TEST_CASE("a span across the border of traces is left out") {
  REQUIRE(start_trace());
  {
    TraceSpan span("across");
    stop_and_read();
    REQUIRE(start_trace());
  }
  CHECK(stop_and_read().spans.empty());
}

TEST_CASE("starting twice and stopping twice are refused") {
  REQUIRE(start_trace());
  CHECK(start_trace().error().code == ErrorCode::unavailable);
  stop_and_read();
  std::ostringstream out;
  CHECK(stop_trace(out).error().code == ErrorCode::unavailable);
  CHECK(out.str().empty());
}

TEST_CASE("a file that cannot be written is said, and the trace has ended") {
  REQUIRE(start_trace());
  { TraceSpan span("lost"); }
  const auto summary = stop_trace(std::string("no/such/folder/trace.json"));
  REQUIRE(!summary.has_value());
  CHECK(summary.error().code == ErrorCode::io);
  CHECK(summary.error().message.find("no/such/folder") != std::string::npos);
  CHECK(!trace_is_on());
}

TEST_CASE("memory is bounded and what was dropped is counted") {
  REQUIRE(start_trace({.spans_per_lane = 5000}));
  for (int i = 0; i < 7000; ++i) TraceSpan span("tick", {"i", i});
  const Written written = stop_and_read();
  CHECK(written.summary.spans == 5000);
  CHECK(written.summary.dropped == 2000);
  CHECK(written.json["otherData"]["dropped"] == 2000);
  CHECK(written.spans.back()["args"]["i"] == 4999);
}

TEST_CASE("each thread has its own lane, named") {
  REQUIRE(start_trace());
  {
    std::jthread a([] {
      name_trace_lane("worker \"a\"");
      TraceSpan span("work");
    });
    std::jthread b([] {
      name_trace_lane("worker b");
      TraceSpan span("work");
    });
  }
  const Written written = stop_and_read();
  REQUIRE(written.spans.size() == 2);
  CHECK(written.spans[0]["tid"] != written.spans[1]["tid"]);
  CHECK(lane_names(written) == std::set<std::string>{"worker _a_", "worker b"});
}

TEST_CASE("threads go on while traces start and stop") {  // for the thread sanitizer
  std::atomic<bool> done = false;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (std::int64_t i = 0; !done; ++i) TraceSpan span("spin", {"i", i});
    });
  }
  for (int i = 0; i < 20; ++i) {
    REQUIRE(start_trace({.spans_per_lane = 300}));
    std::this_thread::yield();
    std::map<int, std::int64_t> last;  // by lane: each thread counts its spans
    for (const auto& span : stop_and_read().spans) {
      const std::int64_t number = span["args"]["i"];
      const auto [lane, first] = last.emplace(span["tid"], number);
      if (!first) CHECK(number == lane->second + 1);
      lane->second = number;
    }
  }
  done = true;
}

}  // namespace
}  // namespace serving
