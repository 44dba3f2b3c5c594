#include "serving/probe/spans.h"

#include <catch2/catch.hpp>

namespace serving::probe {

TEST_CASE("a span's own time is without the spans inside it, lane by lane") {
  const auto own = own_time_ms(R"({"traceEvents": [
    {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "engine"}},
    {"ph": "X", "pid": 1, "tid": 1, "name": "inner", "ts": 1000, "dur": 2000},
    {"ph": "X", "pid": 1, "tid": 1, "name": "step", "ts": 0, "dur": 10000},
    {"ph": "X", "pid": 1, "tid": 1, "name": "deep", "ts": 1500, "dur": 500},
    {"ph": "X", "pid": 1, "tid": 1, "name": "step", "ts": 10000, "dur": 1000},
    {"ph": "X", "pid": 1, "tid": 2, "name": "inner", "ts": 0, "dur": 4000}]})");
  REQUIRE(own);
  CHECK(own->at("step") == Approx(9));
  CHECK(own->at("inner") == Approx(1.5 + 4));
  CHECK(own->at("deep") == Approx(0.5));
}

TEST_CASE("what is no trace is refused") {
  CHECK_FALSE(own_time_ms("{"));
  CHECK_FALSE(own_time_ms("{}"));
  CHECK_FALSE(own_time_ms(R"({"traceEvents": [{"ph": "X"}]})"));
}

}  // namespace serving::probe
