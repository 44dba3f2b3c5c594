// The load generator against the API over the fake engine.
#include "serving/bench/load.h"

#include <catch2/catch.hpp>
#include <thread>

#include "serving/api/test_client.h"
#include "serving/bench/report.h"

namespace serving::bench {
namespace {

using std::chrono::milliseconds;

ClientOptions client_of(const TestServer& server) {
  ClientOptions options;
  options.url = "http://127.0.0.1:" + std::to_string(server.port());
  return options;
}

Workload workload_of(WorkloadOptions options) {
  options.vocabulary = 200;  // bytes of the fake tokenizer
  auto workload = make_workload(options);
  if (!workload) FAIL(workload.error().message);
  return std::move(*workload);
}

WorkloadOptions small(std::size_t requests, int output_tokens) {
  WorkloadOptions options;
  options.requests = requests;
  options.input_tokens = 12;
  options.output_tokens = output_tokens;
  return options;
}

}  // namespace

TEST_CASE("a closed loop keeps so many requests under way and counts by the server's usage") {
  FakeEngineOptions engine;
  engine.token_delay = milliseconds(5);
  engine.cached_tokens = 4;
  TestServer server(engine);
  const Workload workload = workload_of(small(12, 8));
  int most = 0;
  std::jthread watch([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      most = std::max(most, server.engine().stats().running);
      std::this_thread::sleep_for(milliseconds(1));
    }
  });
  const LoadResult result = run_load(workload, client_of(server), {.workers = 3});
  watch.request_stop();
  watch.join();
  CHECK(most == 3);
  REQUIRE(result.records.size() == 12);
  for (const RequestRecord& record : result.records) {
    REQUIRE(record.error == "");
    CHECK(record.input_tokens == 12);
    CHECK(record.output_tokens == 8);
    CHECK(record.cached_tokens == 4);
    CHECK(record.itl_s.size() == 7);
    CHECK(record.ttft_s >= 0.005);
    CHECK(record.latency_s >= 0.04);
    CHECK(record.latency_s < 5);
  }
  const auto out = report(result, {});
  CHECK(out["completed"] == 12);
  CHECK(out["total_output_tokens"] == 96);
  CHECK(out["mean_tpot_ms"].get<double>() >= 2);  // 5, but for a first token that came late
  CHECK(result.duration_s >= 4 * 0.04);
}

TEST_CASE("an open loop sends when the time has come, whatever is still under way") {
  FakeEngineOptions engine;
  engine.token_delay = milliseconds(100);
  TestServer server(engine);
  WorkloadOptions options = small(10, 3);
  options.arrivals.rate_per_s = 50;
  const Workload workload = workload_of(options);
  const LoadResult result = run_load(workload, client_of(server), {.workers = 10});
  std::int64_t first_ns = INT64_MAX, last_ns = 0;
  for (const RequestRecord& record : result.records) {
    REQUIRE(record.error == "");
    first_ns = std::min(first_ns, record.sent_ns);
    last_ns = std::max(last_ns, record.sent_ns);
    CHECK(record.late_s >= 0);
  }
  const double spread_s = static_cast<double>(last_ns - first_ns) * 1e-9;
  CHECK(spread_s >= 0.5 * (workload.back().start_s - workload.front().start_s));
  CHECK(spread_s < 1.5);  // one after another would take 3 s
}

TEST_CASE("later turns carry the conversation with the server's own tokens") {
  TestServer server;
  WorkloadOptions options = small(2, 5);
  options.kind = "multi-turn";
  options.turns = 2;
  const Workload workload = workload_of(options);
  const LoadResult result = run_load(workload, client_of(server), {.workers = 1});
  REQUIRE(result.records[1].error == "");
  std::vector<Token> expected = workload[0].turns[0].input;
  const auto& answer = result.records[0].answer_tokens;
  REQUIRE(answer.size() == 5);
  expected.insert(expected.end(), answer.begin(), answer.end());
  const auto& second = workload[0].turns[1].input;
  expected.insert(expected.end(), second.begin(), second.end());
  CHECK(server.engine().last_request().prompt == expected);
}

TEST_CASE("chat and text endpoints, for servers that take no token ids") {
  TestServer server;
  ClientOptions client = client_of(server);
  client.text = true;
  const Workload workload = workload_of(small(2, 6));
  CHECK(run_load(workload, client, {}).records[1].error == "");
  CHECK_FALSE(server.engine().last_request().prompt.size() == 12);
  client.endpoint = "chat";
  const LoadResult chat = run_load(workload, client, {});
  CHECK(chat.records[0].error == "");
  CHECK(chat.records[0].output_tokens == 6);
  CHECK(first_model(client) == "fake");
}

TEST_CASE("failures are counted with their reasons, and nothing is made of them") {
  FakeEngineOptions full;
  full.queue = 0;
  TestServer server(full);
  LoadResult result = run_load(workload_of(small(3, 4)), client_of(server), {.workers = 1});
  CHECK_THAT(result.records[0].error, Catch::StartsWith("HTTP 503"));
  CHECK(report(result, {})["completed"] == 0);

  FakeEngineOptions failing;
  failing.fails_after = 2;
  TestServer broken(failing);
  result = run_load(workload_of(small(1, 4)), client_of(broken), {});
  CHECK_THAT(result.records[0].error, Catch::Contains("could not finish"));

  WorkloadOptions talk = small(2, 4);
  talk.kind = "multi-turn";
  result = run_load(workload_of(talk), client_of(broken), {});
  CHECK_THAT(result.records[1].error, Catch::Contains("earlier turn failed"));

  ClientOptions nobody;
  nobody.url = "http://127.0.0.1:1";
  result = run_load(workload_of(small(1, 4)), nobody, {});
  CHECK_THAT(result.records[0].error, Catch::Contains("connection failed"));
}

}  // namespace serving::bench
