// What an endpoint does besides answering: slow, absent, broken, endless, not to be trusted.
#include <catch2/catch.hpp>

#include "base/clock.h"
#include "orchestrator/test_endpoint.h"
#include "orchestrator/test_tls.h"

namespace orchestrator {
namespace {

constexpr double kSlack_s = 2;  // for a busy machine

LlmQuestion once(const std::string& url, double timeout_s = 5) {
  LlmQuestion question = toy_question(url);
  question.policy.planner.max_retries = 0;
  question.policy.planner.timeout_s = timeout_s;
  return question;
}

// Asks and checks that the answer, or the failure, was there within this time.
PlannerAnswered within(double limit_s, const LlmQuestion& question) {
  base::SystemClock clock;
  double start_s = clock.monotonic_s();
  auto answered = ask(question);
  CHECK(clock.monotonic_s() - start_s < limit_s + kSlack_s);
  return answered;
}

}  // namespace

TEST_CASE("429 and 5xx are asked again, and the next good answer is taken") {
  for (int code : {429, 500, 503}) {
    CAPTURE(code);
    TestEndpoint endpoint({status(code, "busy"), says(kGoodKnob, 70)});
    auto answered = ask(endpoint, toy_question(endpoint.url()));
    CHECK(endpoint.requests() == 2);
    CHECK(answered.step);
    CHECK(answered.tokens == 70);
    CHECK(holds(answered.transcript[0].text, "status " + std::to_string(code) + ": busy"));
  }
}

TEST_CASE("an endpoint that is always busy is left after the allowed tries") {
  TestEndpoint endpoint({status(429, "slow down")});
  auto answered = ask(endpoint, toy_question(endpoint.url()));
  CHECK_FALSE(answered.step);
  CHECK(endpoint.requests() == 2);
  CHECK(holds(answered.failure, "status 429: slow down"));
  CHECK(holds(answered.failure, endpoint.url()));
}

TEST_CASE("a wrong key or request is not asked again: it cannot help") {
  for (int code : {400, 401, 403, 404}) {
    TestEndpoint endpoint({status(code, "no")});
    auto answered = ask(endpoint, toy_question(endpoint.url()));
    CHECK_FALSE(answered.step);
    CHECK(endpoint.requests() == 1);
    CHECK(answered.tokens == 0);
    CHECK(holds(answered.failure, "status " + std::to_string(code)));
  }
}

TEST_CASE("an endpoint slower than the time-out is left at the time-out, its reserve counts") {
  TestEndpoint endpoint({[](TestEndpoint& self, httplib::Response& response) {
    self.hold(20);
    response.set_content("{}", "application/json");
  }});
  auto answered = within(0.3, once(endpoint.url(), 0.3));
  CHECK(holds(answered.failure, "no answer within 0.3 s"));
  CHECK(answered.tokens == 1000);
}

TEST_CASE("a byte now and then does not keep us longer than the time-out") {
  TestEndpoint endpoint({[](TestEndpoint& self, httplib::Response& response) {
    response.set_chunked_content_provider("application/json",
                                          [&self](std::size_t, httplib::DataSink& sink) {
                                            self.hold(0.05);
                                            return sink.write(" ", 1);
                                          });
  }});
  auto answered = within(0.5, once(endpoint.url(), 0.5));
  CHECK(holds(answered.failure, "no answer within 0.5 s"));
  CHECK(answered.tokens == 1000);
}

TEST_CASE("a connection that is closed in the middle is named, and may have cost the reserve") {
  TestEndpoint endpoint({[](TestEndpoint&, httplib::Response& response) {
    response.set_content_provider(1000, "application/json",
                                  [](std::size_t, std::size_t, httplib::DataSink& sink) {
                                    sink.write("{\"choices\": [", 13);
                                    return false;
                                  });
  }});
  auto answered = within(5, once(endpoint.url()));
  CHECK_FALSE(answered.step);
  CHECK(holds(answered.failure, endpoint.url()));
  CHECK(holds(answered.failure, "closed before the answer was complete"));
  CHECK(answered.tokens == 1000);
}

TEST_CASE("an endless body is cut at a bound, which is named") {
  TestEndpoint endpoint({[](TestEndpoint&, httplib::Response& response) {
    response.set_chunked_content_provider("application/json",
                                          [](std::size_t, httplib::DataSink& sink) {
                                            static const std::string kBlock(64 << 10, 'x');
                                            return sink.write(kBlock.data(), kBlock.size());
                                          });
  }});
  auto answered = within(5, once(endpoint.url()));
  CHECK_FALSE(answered.step);
  CHECK(holds(answered.failure, "larger than 1 MiB"));
  CHECK(answered.tokens == 1000);
  for (const auto& turn : answered.transcript) CHECK(turn.text.size() < 64 << 10);
}

TEST_CASE("an endpoint that is not there costs nothing and is named") {
  std::string url;
  {
    TestEndpoint gone({says("x")});
    url = gone.url();
  }
  auto answered = within(5, toy_question(url));
  CHECK_FALSE(answered.step);
  CHECK(answered.transcript.size() == 2);
  CHECK(answered.tokens == 0);
  CHECK(holds(answered.failure, url));
  CHECK(holds(answered.failure, "connect"));
}

TEST_CASE("an address that is none fails at once, and says how one looks") {
  for (const char* url : {"", "localhost:8000", "ftp://host/v1", "http://"}) {
    auto answered = within(1, toy_question(url));
    CHECK_FALSE(answered.step);
    CHECK(answered.transcript.empty());
    CHECK(holds(answered.failure, "http(s)://host[:port][/path]"));
  }
}

TEST_CASE("the version is added to the address only where it is missing") {
  for (const char* path : {"", "/", "/v1", "/v1/"}) {
    TestEndpoint endpoint({says(kGoodKnob)});
    CHECK(ask(endpoint, toy_question(endpoint.url() + path)).step);
  }
}

TEST_CASE("a stop ends the question at once, and the failure is not the endpoint's") {
  TestEndpoint endpoint({[](TestEndpoint& self, httplib::Response&) { self.hold(20); }});
  std::stop_source source;
  base::SystemClock clock;
  double start_s = clock.monotonic_s();
  std::jthread stopper([&] {
    while (endpoint.requests() == 0) std::this_thread::yield();
    source.request_stop();
  });
  auto answered = ask_llm(
      once(endpoint.url(), 15), [](const std::string&) { return std::nullopt; },
      source.get_token());
  CHECK(clock.monotonic_s() - start_s < kSlack_s + 1);
  CHECK_FALSE(answered.step);
  CHECK(holds(answered.failure, "stopped"));
}

TEST_CASE("a certificate that nobody vouches for is refused, and no key was sent") {
  SelfSignedEndpoint endpoint;
  auto answered = within(5, once(endpoint.url()));
  CHECK_FALSE(answered.step);
  CHECK(endpoint.requests() == 0);
  CHECK(answered.tokens == 0);
  CHECK(holds(answered.failure, "certificate"));
}

}  // namespace orchestrator
