// Traces small enough to divide by hand, and every way in which a trace can be broken.
#include "runners/trace.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <map>

#include "base/rng.h"
#include "runners/adapters.h"

namespace runners {
namespace {

using hypotheses::Format;
using hypotheses::Probe;
using hypotheses::ProbeKind;

// A complete event of thread `tid`, in microseconds.
std::string x(const std::string& name, double ts, double dur, int tid = 1) {
  return fmt::format(
      R"({{"ph":"X","name":"{}","ts":{},"dur":{},"pid":7,"tid":{},"args":{{"ts":[1,{{"ph":3}}]}}}})",
      name, ts, dur, tid);
}
std::string mark(const std::string& phase, const std::string& name, double ts, int tid = 1) {
  return fmt::format(R"({{"ph":"{}","name":"{}","ts":{},"pid":7,"tid":{}}})", phase, name, ts, tid);
}
std::string list(const std::vector<std::string>& events) {
  return fmt::format("[{}]", fmt::join(events, ","));
}

// "a/b" -> share of the innermost span b under a, and "" -> idle; what is 0 left out.
using Shares = std::map<std::string, double>;
Shares shares_of(const std::string& text, const std::string& waits = "wait") {
  auto trace = read_trace(text);
  INFO((trace ? "" : trace.error().text()));
  REQUIRE(trace);
  auto path = critical_path(*trace, [&](std::string_view name) { return name == waits; });
  REQUIRE(path);
  Shares shares;
  double sum = path->idle;
  if (path->idle > 0) shares[""] = path->idle;
  for (const CriticalPath::Node& node : path->nodes) {
    sum += node.share;
    std::string name = trace->names[node.name];
    for (std::int32_t up = node.parent; up >= 0;
         up = path->nodes[static_cast<std::size_t>(up)].parent)
      name = trace->names[path->nodes[static_cast<std::size_t>(up)].name] + "/" + name;
    if (node.share > 0) shares[name] += node.share;
  }
  CHECK(sum == Approx(1).margin(1e-12));
  return shares;
}

void check_shares(const std::string& text, const Shares& expected) {
  const Shares found = shares_of(text);
  REQUIRE(found.size() == expected.size());
  for (const auto& [name, share] : expected) {
    INFO(name);
    REQUIRE(found.count(name) == 1);
    CHECK(found.at(name) == Approx(share));
  }
}

std::string refusal_of(const std::string& text, const TraceLimits& limits = {}) {
  auto trace = read_trace(text, limits);
  INFO(text.substr(0, 200));
  REQUIRE_FALSE(trace);
  CHECK(trace.error().code == base::ErrorCode::bad_input);
  return trace.error().message;
}

Probe timeline_probe() {
  Probe probe;
  probe.name = "serve.trace";
  probe.answers = ProbeKind::timeline;
  probe.format = Format::chrome_trace;
  probe.shows = "serve.rate";
  probe.spans = {
      {"kda*", {"kernels/kda/**"}}, {"step", {"src/step.cc"}}, {"gone", {"src/gone.cc"}}};
  probe.waits = {"wait*"};
  return probe;
}

}  // namespace

TEST_CASE("an instant belongs to the innermost span of the busiest lane that is busy") {
  SECTION("one span is all there is") { check_shares(list({x("a", 5, 10)}), {{"a", 1}}); }
  SECTION("nesting") {
    check_shares(list({x("a", 0, 10), x("b", 2, 4), x("c", 3, 1)}),
                 {{"a", 0.6}, {"a/b", 0.3}, {"a/b/c", 0.1}});
  }
  SECTION("the same through B and E, with X in the same lane, in any order") {
    check_shares(list({x("c", 3, 1), mark("E", "a", 10), mark("E", "b", 6), mark("B", "a", 0),
                       mark("B", "b", 2)}),
                 {{"a", 0.6}, {"a/b", 0.3}, {"a/b/c", 0.1}});
  }
  SECTION("gaps are idle") {
    check_shares(list({x("a", 0, 3), x("b", 8, 2)}), {{"a", 0.3}, {"b", 0.2}, {"", 0.5}});
  }
  SECTION("where the busiest lane is idle, the next one counts") {
    // Lane 1 is busy for 6 of 10, lane 2 for 5: it has the instants from 4 to 8.
    check_shares(list({x("w", 3, 5, 2), x("a", 0, 4), x("b", 8, 2)}),
                 {{"a", 0.4}, {"b", 0.2}, {"w", 0.4}});
  }
  SECTION("of two that could take over, the one that is busier in all") {
    check_shares(list({x("main", 0, 6), x("small", 6, 2, 2), x("big", 7, 3, 3)}),
                 {{"main", 0.6}, {"small", 0.1}, {"big", 0.3}});
  }
  SECTION("of two that are equally busy, the one that stands first in the trace") {
    check_shares(list({x("second", 0, 2, 9), x("first", 0, 2, 3)}), {{"second", 1}});
  }
  SECTION("a span that only waits leaves its instants to others") {
    // Without `wait` lane 1 would have it all.
    check_shares(list({x("step", 0, 10), x("wait", 2, 6), x("kda", 2, 5, 2)}),
                 {{"step", 0.4}, {"kda", 0.5}, {"", 0.1}});
    check_shares(list({x("step", 0, 10), x("sync", 2, 6), x("kda", 2, 5, 2)}),
                 {{"step", 0.4}, {"step/sync", 0.6}});
  }
  SECTION("spans that overlap without nesting") {
    check_shares(list({x("a", 0, 6), x("b", 4, 6)}), {{"a", 0.4}, {"a/b", 0.2}, {"b", 0.4}});
  }
  SECTION("what begins together nests by length; recursion stays a chain") {
    check_shares(list({x("b", 0, 2), x("a", 0, 4), x("a", 2, 1)}),
                 {{"a/b", 0.5}, {"a/a", 0.25}, {"a", 0.25}});
  }
  SECTION("the same place in two lanes is one place") {
    check_shares(list({x("a", 0, 3), x("a", 3, 2, 2)}), {{"a", 1}});
  }
}

TEST_CASE("what is no span is skipped, and what takes no time counts for nothing") {
  check_shares(R"({"displayTimeUnit":"ns","otherData":{"traceEvents":[1]},"traceEvents":[)"
               R"({"ph":"M","name":"process_name","args":{"name":"x"}},)"
               R"({"ph":"C","name":"heap","ts":"soon"},{"ph":"i","name":"hit","ts":3},)"
               R"({"ph":"X","name":"a","ts":0.5,"dur":1e1,"pid":"main","tid":null,"cat":""},)" +
                   x("empty", 100, 0) + R"(],"stackFrames":{}})",
               {{"a", 1}});
  auto trace = read_trace(list({x("empty", 1, 0)}));
  REQUIRE(trace);
  CHECK(trace->spans.empty());
  CHECK(trace->names == std::vector<std::string>{"empty"});
  CHECK(read_trace("[]")->spans.empty());
  CHECK(critical_path(Trace(), [](std::string_view) { return false; })->idle == 1);
}

TEST_CASE("a broken trace is refused with what was expected and what was found") {
  struct Row {
    std::string text, message;
  };
  const std::string good = list({x("a", 0, 1)});
  const Row rows[] = {
      {"", "breaks off after 0 bytes"},
      {good.substr(0, good.size() - 1), "breaks off after " + std::to_string(good.size() - 1)},
      {good.substr(0, 20), "breaks off"},
      {"7", "expected an object with a list \"traceEvents\", or the list itself"},
      {"{}", "expected an object with a list \"traceEvents\""},
      {R"({"traceEvents":{}})", "expected an object with a list \"traceEvents\""},
      {R"({"traceEvents":[],"traceEvents":[]})", "\"traceEvents\" stands twice"},
      {good + "x", "expected JSON"},
      {"[3]", "expected each event to be an object; found 3"},
      {"[[]]", "expected each event to be an object; found a list"},
      {"[null]", "expected each event to be an object; found null"},
      {R"([{"name":"a"}])", "event 0: expected its phase as a letter under \"ph\"; found none"},
      {R"([{"ph":1}])", "expected its phase as a letter under \"ph\"; found 1"},
      {R"([{"ph":"X","ts":1,"dur":1}])", "expected a text under \"name\"; found none"},
      {R"([{"ph":"X","name":{},"ts":1,"dur":1}])",
       "expected a text under \"name\"; found an object"},
      {R"([{"ph":"X","name":"a","dur":1}])",
       "event 0 ('a', phase X): expected a number of microseconds under \"ts\"; found none"},
      {R"([{"ph":"X","name":"a","ts":"1","dur":1}])", "under \"ts\"; found '1'"},
      {R"([{"ph":"X","name":"a","ts":1}])", "under \"dur\"; found none"},
      {R"([{"ph":"X","name":"a","ts":1e300,"dur":1}])", "under \"ts\"; found 1e+300"},
      {R"([{"ph":"X","name":"a","ts":1e999,"dur":1}])", "expected JSON"},
      {R"([{"ph":"X","name":"a","ts":NaN,"dur":1}])", "invalid literal"},
      {R"([{"ph":"X","name":"a","ts":1,"ts":2,"dur":1}])", "the key \"ts\" stands twice"},
      {list({x("b", 0, 1), x("a", 0, -1)}),
       "event 1 ('a'): expected a duration of 0 or more; found -1"},
      {list({mark("B", "a", 3)}), "event 0: a, begun at 3 us in lane 7/1, never ends (E)"},
      {list({mark("E", "a", 3)}), "event 0: the end of a at 3 us in lane 7/1 has no beginning"},
      {list({mark("B", "a", 3), mark("E", "a", 4, 2)}), "in lane 7/2 has no beginning"},
      {list({mark("B", "a", 1), mark("B", "b", 2), mark("E", "a", 3)}),
       "event 2: expected the end of b, begun at 2 us in lane 7/1; found that of a"},
  };
  for (const Row& row : rows) CHECK_THAT(refusal_of(row.text), Catch::Contains(row.message));
  CHECK(read_trace(R"([{"ph":"B","name":"a","ts":1},{"ph":"E","ts":2}])")->spans.size() == 1);
}

TEST_CASE("a huge trace meets its limits, not the machine's") {
  const TraceLimits small{.spans = 3, .names = 3, .lanes = 2, .depth = 2};
  CHECK_THAT(refusal_of(list({x("a", 0, 1), x("a", 1, 1), x("a", 2, 1), x("a", 3, 1)}), small),
             Catch::Contains("at most 3 spans"));
  CHECK_THAT(refusal_of(list({x("a", 0, 1), x("b", 1, 0), x("c", 2, 0), x("d", 3, 0)}), small),
             Catch::Contains("at most 3 different names"));
  CHECK_THAT(refusal_of(list({x("a", 0, 1, 1), x("a", 0, 1, 2), x("a", 0, 1, 3)}), small),
             Catch::Contains("at most 2 lanes"));
  auto deep = read_trace(list({x("a", 0, 9), x("b", 0, 8), x("c", 0, 7)}), small);
  REQUIRE(deep);
  auto path = critical_path(
      *deep, [](std::string_view) { return false; }, small);
  REQUIRE_FALSE(path);
  CHECK_THAT(path.error().message, Catch::Contains("at most 2 spans open at once"));
  CHECK_THAT(refusal_of(std::string(100'000, '[')), Catch::Contains("expected each event"));
  CHECK_THAT(refusal_of("{\"x\":" + std::string(100'000, '[')), Catch::Contains("breaks off"));
}

TEST_CASE("random traces: shares are never negative and make 1, and no bytes crash the reader") {
  const std::uint64_t seed = 20;
  INFO("seed " << seed);
  base::Rng rng(seed);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> events;
    for (std::uint64_t i = 0, count = 1 + rng.below(30); i < count; ++i) {
      const auto name = std::string(1, static_cast<char>('a' + rng.below(5)));
      events.push_back(x(name, static_cast<double>(rng.below(50)),
                         static_cast<double>(1 + rng.below(20)), static_cast<int>(rng.below(4))));
    }
    std::string text = list(events);
    for (const auto& [name, share] : shares_of(text, "c")) CHECK(share > 0);
    text[rng.below(text.size())] = static_cast<char>(rng.below(256));
    auto damaged = read_trace(text);
    CHECK((damaged || !damaged.error().message.empty()));
  }
}

TEST_CASE("a timeline divides a metric among the manifest's spans, no instant twice") {
  // kda_scan in kda in step: one stack, in which each pattern stands once.
  const auto output = parse_output(timeline_probe(), {},
                                   list({x("step", 0, 8), x("kda", 2, 4), x("kda_scan", 3, 2),
                                         x("other", 8, 1), x("step", 9, 0), x("wait_all", 9, 1)}));
  INFO((output ? "" : output.error().text()));
  REQUIRE(output);
  CHECK(output->observations.empty());
  REQUIRE(output->timeline);
  const hypotheses::Timeline& timeline = *output->timeline;
  CHECK(timeline.idle == Approx(0.1));
  CHECK(timeline.missing == std::vector<std::string>{"gone"});
  REQUIRE(timeline.stacks.size() == 2);
  CHECK(timeline.stacks[0].spans == std::vector<std::string>{"step"});
  CHECK(timeline.stacks[0].share == Approx(0.4));
  CHECK(timeline.stacks[1].spans == std::vector<std::string>{"step", "kda*"});
  CHECK(timeline.stacks[1].share == Approx(0.4));
  CHECK(inclusive_share(timeline, "step") == Approx(0.8));
  CHECK(inclusive_share(timeline, "kda*") == Approx(0.4));
}

TEST_CASE("a timeline that says nothing is refused by the name of its probe") {
  const auto refused = [](const std::string& text) {
    const auto output = parse_output(timeline_probe(), {}, text);
    REQUIRE_FALSE(output);
    CHECK_THAT(output.error().text(), Catch::StartsWith("probe serve.trace: "));
    return output.error().text();
  };
  CHECK_THAT(refused(""), Catch::Contains("printed nothing on stdout, where its chrome-trace"));
  CHECK_THAT(refused("[]"), Catch::Contains("no span that takes time"));
  CHECK_THAT(refused("hello"), Catch::Contains("no Chrome trace: expected JSON"));
  CHECK_THAT(refused(list({x("Step", 0, 1), x("Kda", 1, 1)})),
             Catch::Contains("none of the manifest's spans (gone, kda*, step) is in the trace; it "
                             "has Step, Kda"));
}

}  // namespace runners
