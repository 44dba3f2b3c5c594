// What a manifest says about timelines, and every way to say it wrongly.
#include <catch2/catch.hpp>
#include <string>

#include "hypotheses/manifest.h"

namespace hypotheses {
namespace {

constexpr std::string_view kTraced = R"(version: 1
name: engine
base: main
goal: {metric: serve.rate}
knobs:
  kda.tile: {file: knobs.yaml, key: kda.tile, choices: [16, 32]}
probes:
  serve:
    answers: serving
    layer: engine
    covers: ["**"]
    run: serve {batch} {mode}
    conditions: {batch: 1, mode: [fast, slow]}
    format: nightshift
    metrics: {serve.rate: {better: higher}}
  trace:
    answers: timeline
    layer: engine
    covers: ["**"]
    run: serve --trace {mode}
    conditions: {mode: [fast, slow]}
    format: chrome-trace
    shows: serve.rate
    spans:
      kda_*: [kernels/kda/**, "knob:kda.*"]
      "read {tile,row}": [src/read.cc]
    waits: [wait_*]
)";

std::string traced_with(std::string_view what, std::string_view replacement) {
  std::string text(kTraced);
  const std::size_t at = text.find(what);
  INFO(what);
  REQUIRE(at != std::string::npos);
  REQUIRE(text.find(what, at + 1) == std::string::npos);
  text.replace(at, what.size(), replacement);
  // The goal is judged in one mode; said here, so that each row has one mistake.
  return text.replace(text.find("serve.rate}"), 11, "serve.rate, conditions: {mode: fast}}");
}

std::vector<std::string> mistakes_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const Mistake& mistake : parse_manifest(text, "nightshift.yaml").mistakes)
    lines.push_back(std::to_string(mistake.line) + ":" + std::to_string(mistake.column) + " " +
                    mistake.text);
  return lines;
}

struct WrongTimeline {
  std::string_view what, replacement, mistake;
};
constexpr WrongTimeline kWrong[] = {
    {"    shows: serve.rate\n", "", "17:5 missing key 'shows'"},
    {"shows: serve.rate", "shows: ''", "23:12 expected the name of a metric; found an empty text"},
    {"shows: serve.rate", "shows: serve.rat",
     "23:12 no probe emits the metric 'serve.rat'; did you mean 'serve.rate'?"},
    {"    answers: timeline", "    answers: speed",
     "22:13 a chrome-trace is a timeline; write 'answers: timeline'"},
    {"    waits: [wait_*]", "    metrics: {t: {better: lower}}",
     "27:5 a chrome-trace emits no metrics: say under 'shows' which one it explains"},
    {"    waits: [wait_*]", "    waits: [\"a[0]\"]",
     "27:13 [...] and '\\' are not supported; use *, **, ? and {a,b}; found 'a[0]'"},
    {"kda_*:", "\"kda[0]\":",
     "25:7 [...] and '\\' are not supported; use *, **, ? and {a,b}; found 'kda[0]'"},
    {"[src/read.cc]", "[]",
     "26:26 a span that stands for nothing explains nothing; drop it or add a pattern"},
    {"[src/read.cc]", "[/src]",
     "26:27 expected a path relative to the target's root, without '/'; found '/src'"},
    {"\"knob:kda.*\"", "\"knob:k.*\"", "25:31 'knob:k.*' covers no knob of this manifest"},
    {"conditions: {mode: [fast, slow]}\n    format: chrome",
     "conditions: {mode: [fast, odd]}\n    format: chrome",
     "21:24 the probe 'serve' of the metric 'serve.rate' never runs with mode=odd"},
    {"--trace {mode}\n    conditions: {mode: [fast, slow]}", "--trace\n    conditions: {node: 1}",
     "21:18 the probe 'serve' of the metric 'serve.rate' has no condition 'node'"},
    {"    metrics: {serve.rate", "    waits: [w]\n    metrics: {serve.rate",
     "15:5 only a probe in the format chrome-trace has 'waits'"},
    {"    metrics: {serve.rate", "    shows: serve.rate\n    metrics: {serve.rate",
     "15:5 only a probe in the format chrome-trace has 'shows'"},
    {"    metrics: {serve.rate", "    spans: {a: [b]}\n    metrics: {serve.rate",
     "15:5 only a probe in the format chrome-trace has 'spans'"},
};

}  // namespace

TEST_CASE("a timeline says which metric it explains and what its spans stand for") {
  const auto manifest = read_manifest(traced_with("name: engine", "name: engine"), "f");
  if (!manifest) FAIL(manifest.error().text());
  const Probe& trace = manifest->probes.at("trace");
  CHECK(trace.answers == ProbeKind::timeline);
  CHECK(trace.format == Format::chrome_trace);
  CHECK(trace.metrics.empty());
  CHECK(trace.shows == "serve.rate");
  REQUIRE(trace.spans.size() == 2);
  CHECK(trace.spans.at("kda_*") == std::vector<std::string>{"kernels/kda/**", "knob:kda.*"});
  CHECK(trace.spans.at("read {tile,row}") == std::vector<std::string>{"src/read.cc"});
  CHECK(trace.waits == std::vector<std::string>{"wait_*"});
}

TEST_CASE("each mistake about a timeline has a message and a place") {
  for (const WrongTimeline& row : kWrong) {
    INFO(row.replacement);
    CHECK(mistakes_of(traced_with(row.what, row.replacement)) ==
          std::vector<std::string>{std::string(row.mistake)});
  }
  std::string many = "    spans: {s: [x]";
  for (int i = 0; i < 64; ++i) many += ", s" + std::to_string(i) + ": [x]";
  std::string text = traced_with("name: engine", "name: engine");
  const std::size_t from = text.find("    spans:"), to = text.find("    waits:");
  text.replace(from, to - from, many + "}\n");
  CHECK(mistakes_of(text) ==
        std::vector<std::string>{"24:12 at most 64 spans can be told apart; found 65"});
  text.replace(text.find("    spans:"), many.size() + 1, "    spans: {}");
  CHECK(mistakes_of(text) ==
        std::vector<std::string>{"24:12 a timeline without spans says nothing about any file; name "
                                 "at least one"});
  text.replace(text.find("    spans: {}\n"), 14, "");
  CHECK(mistakes_of(text) == std::vector<std::string>{"17:5 missing key 'spans'"});
}

TEST_CASE("two timelines of one metric could disagree") {
  std::string text = traced_with("name: engine", "name: engine");
  const std::string trace = text.substr(text.find("  trace:"));
  text += "  trace.long:" + trace.substr(trace.find('\n'));
  CHECK(mistakes_of(text) ==
        std::vector<std::string>{"35:12 the probe 'trace' shows the metric 'serve.rate' already"});
}

}  // namespace hypotheses
