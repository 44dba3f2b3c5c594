// Timeouts, crashes and missing metrics are never values; what is not finite is refused at the door
// with metric and probe named.
#include "runners/adapters.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "runners/adapter_parts.h"

namespace runners {
namespace {

using hypotheses::Format;
using hypotheses::Metric;
using hypotheses::Probe;
using hypotheses::ProbeKind;

Probe probe_with(Format format, std::string unit = "ns", std::string benchmark = "decode",
                 std::string field = "real_time") {
  Probe probe;
  probe.name = "decode.bench";
  probe.answers = ProbeKind::speed;
  probe.format = format;
  Metric metric;
  metric.name = "decode.time";
  metric.unit = std::move(unit);
  metric.from = {std::move(benchmark), std::move(field)};
  probe.metrics["decode.time"] = metric;
  return probe;
}

Probe check_probe(Format format) {
  Probe probe;
  probe.name = "decode.check";
  probe.answers = ProbeKind::correctness;
  probe.format = format;
  return probe;
}

// The one value of a good output.
double value_of(const Probe& probe, const std::string& text) {
  auto output = parse_output(probe, {}, text);
  INFO((output ? "" : output.error().text()));
  REQUIRE(output);
  REQUIRE(output->observations.size() == 1);
  return output->observations[0].value;
}

// The refusal, which must name the probe.
std::string refusal(const Probe& probe, const std::string& text,
                    const hypotheses::Conditions& conditions = {}) {
  auto output = parse_output(probe, conditions, text);
  INFO(text);
  REQUIRE_FALSE(output);
  CHECK(output.error().text().find("probe " + probe.name) == 0);
  return output.error().text();
}

bool has(const std::string& text, const std::string& part) {
  INFO(text);
  INFO(part);
  bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

const Probe kLines = probe_with(Format::nightshift);
const Probe kGoogle = probe_with(Format::google_benchmark);
const Probe kHyperfine = probe_with(Format::hyperfine, "ms", "tool", "median");

std::string line_with(const std::string& value) {
  return R"({"metric": "decode.time", "value": )" + value + "}\n";
}
std::string google_with(const std::string& value) {
  return R"({"context": {}, "benchmarks": [{"name": "decode/8", "run_name": "decode/8",)"
         R"( "run_type": "iteration", "real_time": )" +
         value + R"(, "time_unit": "us"}]})";
}
std::string hyperfine_with(const std::string& value) {
  return R"({"results": [{"command": "tool", "median": )" + value + R"(, "exit_codes": [0, 0]}]})";
}

TEST_CASE("each format gives its metric in the declared unit") {
  CHECK(value_of(kLines, line_with("12.5")) == 12.5);
  CHECK(value_of(kLines, R"({"metric": "decode.time", "value": 2, "unit": "us"})") == Approx(2000));
  CHECK(value_of(kGoogle, google_with("1.5")) == Approx(1500));
  CHECK(value_of(kHyperfine, hyperfine_with("0.25")) == Approx(250));
}

TEST_CASE("the conditions of the run and of the line are part of the key") {
  auto output = parse_output(
      kLines, {{"batch", "1"}},
      R"({"metric": "decode.time", "value": 1, "conditions": {"batch": 1, "head": 3, "fast": true}})");
  REQUIRE(output);
  CHECK(output->observations[0].key.conditions ==
        hypotheses::Conditions{{"batch", "1"}, {"head", "3"}, {"fast", "true"}});
  has(refusal(kLines, R"({"metric": "decode.time", "value": 1, "conditions": {"batch": 8}})",
              {{"batch", "1"}}),
      "batch=8");
  has(refusal(kLines, R"({"metric": "decode.time", "value": 1, "conditions": [1]})"), "conditions");
}

TEST_CASE("values that are not finite numbers are refused by metric and probe, in every format") {
  for (std::string bad : {"null", "\"12\"", "true", "[1]", "{}", "NaN", "nan", "-nan", "Infinity",
                          "-Infinity", "inf", "-inf", "1e999", "-1e999"}) {
    INFO(bad);
    has(refusal(kLines, line_with(bad)), "metric decode.time");
    has(refusal(kGoogle, google_with(bad)), "metric decode.time");
    has(refusal(kHyperfine, hyperfine_with(bad)), "metric decode.time");
  }
}

TEST_CASE("a unit that cannot be converted is refused") {
  has(refusal(kLines, R"({"metric": "decode.time", "value": 1, "unit": "MB"})"), "is in MB");
  has(refusal(kLines, R"({"metric": "decode.time", "value": 1e308, "unit": "s"})"), "too large");
  has(refusal(kLines, R"({"metric": "decode.time", "value": 1, "unit": 7})"), "unit");
}

TEST_CASE("a missing metric is refused by name") {
  has(refusal(kLines, R"({"metric": "other", "value": 1})"), "metric decode.time is missing");
  has(refusal(kLines, R"({"metric": "decode.time"})"), "no \"value\"");
  has(refusal(kGoogle, R"({"benchmarks": [{"name": "encode/8", "real_time": 1}]})"),
      "no benchmark decode (found: encode/8)");
  has(refusal(kGoogle, R"({"benchmarks": [{"name": "decode", "cpu_time": 1}]})"),
      "no field real_time");
  has(refusal(kHyperfine, R"({"results": []})"), "metric decode.time is missing");
  has(refusal(kHyperfine, R"({"results": [{"command": "tool"}]})"), "no field median");
}

TEST_CASE("a metric that stands twice is refused: nobody says which one counts") {
  has(refusal(kLines, line_with("1") + line_with("1")), "stands twice");
  has(refusal(kLines, R"({"metric": "decode.time", "value": 1, "value": 2})"),
      "'value' stands twice");
  has(refusal(kGoogle, R"({"benchmarks": [{"name": "decode", "real_time": 1},
                                          {"name": "decode", "real_time": 2}]})"),
      "stands twice");
  has(refusal(kGoogle, R"({"benchmarks": [{"name": "decode/1", "real_time": 1},
                                          {"name": "decode/8", "real_time": 2}]})"),
      "ambiguous: decode/1, decode/8");
  has(refusal(kHyperfine, R"({"results": [{"command": "tool", "median": 1},
                                          {"command": "tool", "median": 1}]})"),
      "ambiguous");
}

TEST_CASE("empty, truncated, foreign and mixed output is refused") {
  for (const Probe& probe : {kLines, kGoogle, kHyperfine, check_probe(Format::junit)}) {
    for (std::string bad :
         {"", " \n\t\n", "hello", "[", "[]", "[[1]]", "null", "3", "\"x\"", "{\"benchmarks\": 1}",
          "{\"results\": {}}", "{\"benchmarks\": [1]}", "{\"results\": [1]}", "<a>", "\xff\xfe",
          "{\"a\xff\": 1}", "{\"results\": [", "{\"benchmarks\": [{\"name\": \"dec",
          "<testsuite/>"}) {
      refusal(probe, bad);
    }
  }
  std::string good = google_with("1");
  has(refusal(kGoogle, "Running ./bench\n" + good), "print nothing else");
  has(refusal(kGoogle, good + "\ndone\n"), "print nothing else");
  has(refusal(kGoogle, good + good), "print nothing else");
  for (std::size_t length = 0; length < good.size(); ++length)
    refusal(kGoogle, good.substr(0, length));
}

TEST_CASE("a line that is no JSON object is refused with its number, at a bounded length") {
  has(refusal(kLines, line_with("1") + "\n\nloading weights\n"), "line 4 of its stdout");
  CHECK(refusal(kLines, std::string(1 << 20, 'x')).size() < 500);
  has(refusal(kLines, line_with("1") + "{\"note\": 1}"), "neither \"metric\" nor \"check\"");
  has(refusal(kLines, "{\"metric\": 7, \"value\": 1}"), "no name");
}

TEST_CASE("deep nesting is refused and does not exhaust the stack") {
  std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  refusal(kLines, "{\"metric\": \"decode.time\", \"value\": " + deep + "}");
  refusal(kGoogle, deep);
  std::string xml;
  for (int i = 0; i < 100'000; ++i) xml += "<a>";
  refusal(check_probe(Format::junit), xml);
}

TEST_CASE("damaged output never throws") {
  base::Rng rng(11);
  const std::string junit =
      "<testsuite><testcase name='a' time='1'><failure message='m'/></testcase></testsuite>";
  for (const auto& [probe, good] :
       {std::pair{kLines, line_with("1") + R"({"check": "a", "ok": false, "detail": {"x": [1]}})"},
        std::pair{kGoogle, google_with("1")}, std::pair{kHyperfine, hyperfine_with("1")},
        std::pair{check_probe(Format::junit), junit}}) {
    for (int round = 0; round < 2000; ++round) {
      std::string text = good;
      for (std::size_t flips = 1 + rng.below(4); flips > 0; --flips) {
        text[rng.below(text.size())] = static_cast<char>(rng.below(256));
      }
      CHECK_NOTHROW((void)parse_output(probe, {}, text));
    }
  }
}

TEST_CASE("Google Benchmark: the median aggregate counts, else the median of the repetitions") {
  std::string plain =
      R"({"name": "decode/8", "run_name": "decode/8", "run_type": "iteration", "repetition_index": 0, "real_time": 1, "time_unit": "ns"},)"
      R"({"name": "decode/8", "run_name": "decode/8", "run_type": "iteration", "repetition_index": 1, "real_time": 2, "time_unit": "ns"},)"
      R"({"name": "decode/8", "run_name": "decode/8", "run_type": "iteration", "repetition_index": 2, "real_time": 90, "time_unit": "ns"})";
  std::string mean =
      R"({"name": "decode/8_mean", "run_name": "decode/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 31, "time_unit": "ns"})";
  std::string middle =
      R"({"name": "decode/8_median", "run_name": "decode/8", "run_type": "aggregate", "aggregate_name": "median", "real_time": 2.5, "time_unit": "ns"})";
  auto list = [](const std::string& entries) { return "{\"benchmarks\": [" + entries + "]}"; };
  CHECK(value_of(kGoogle, list(plain)) == 2);
  CHECK(value_of(kGoogle, list(plain + "," + mean + "," + middle)) == 2.5);
  CHECK(value_of(kGoogle, list(mean + "," + middle)) == 2.5);
  has(refusal(kGoogle, list(mean)), "no median");
}

TEST_CASE("Google Benchmark: counters by field, an error by its message, a whole name by '/'") {
  auto counter = probe_with(Format::google_benchmark, "", "decode", "gates");
  CHECK(value_of(counter,
                 R"({"benchmarks": [{"name": "decode/8", "gates": 64, "real_time": 1}]})") == 64);
  has(refusal(kGoogle, R"({"benchmarks": [{"name": "decode/8", "error_occurred": true,
                                           "error_message": "no weights"}]})"),
      "no weights");
  auto whole = probe_with(Format::google_benchmark, "ns", "decode/8");
  CHECK(value_of(whole, R"({"benchmarks": [{"name": "decode/1", "real_time": 1},
                                           {"name": "decode/8", "real_time": 2}]})") == 2);
}

TEST_CASE("hyperfine: a command that failed has no time") {
  has(refusal(kHyperfine,
              R"({"results": [{"command": "tool", "median": 1, "exit_codes": [0, 2]}]})"),
      "exit code 2");
  has(refusal(kHyperfine,
              R"({"results": [{"command": "tool", "median": 1, "exit_codes": [null]}]})"),
      "a signal");
}

TEST_CASE("a failed check says what, where and by how much") {
  auto probe = check_probe(Format::nightshift);
  auto output =
      parse_output(probe, {},
                   R"({"check": "first", "ok": true})"
                   "\n"
                   R"({"check": "decode", "ok": false, "first_mismatch": {"head": 3, "pos": 17},)"
                   R"( "detail": {"rms": 0.5}})"
                   "\n"
                   R"({"check": "later", "ok": false})");
  REQUIRE(output);
  CHECK(output->check_ok == false);
  CHECK(output->first_failure == "decode failed: first mismatch at head 3, pos 17 (rms 0.5)");
}

TEST_CASE("a correctness probe that checked nothing is not a pass") {
  auto probe = check_probe(Format::nightshift);
  has(refusal(probe, R"({"metric": "decode.rms", "value": 1e-7})"), "nothing was checked");
  has(refusal(probe, R"({"check": "decode"})"), "\"ok\"");
  has(refusal(probe, R"({"check": "decode", "ok": "yes"})"), "\"ok\"");
  has(refusal(probe, R"({"check": 1, "ok": true})"), "no name");
  auto junit = check_probe(Format::junit);
  has(refusal(junit, "<testsuite tests='0'></testsuite>"), "no test ran");
  has(refusal(junit, "<testsuite><testcase name='a'><skipped/></testcase></testsuite>"),
      "1 skipped");
}

TEST_CASE("JUnit: failures and errors are found at any depth, with the first message") {
  auto probe = check_probe(Format::junit);
  auto good = parse_output(probe, {},
                           "<testsuites><testsuite><testcase name='a'/></testsuite></testsuites>");
  REQUIRE(good);
  CHECK(good->check_ok == true);
  auto bad =
      parse_output(probe, {},
                   "<?xml version='1.0'?>\n<testsuites><testsuite name='s'><testcase name='a'/>"
                   "<testcase name='b'><failure message='3 &lt; 4'>long\ntext</failure></testcase>"
                   "<testcase name='c'><error>boom</error></testcase></testsuite></testsuites>");
  REQUIRE(bad);
  CHECK(bad->check_ok == false);
  CHECK(bad->first_failure == "b failed: 3 < 4");
}

TEST_CASE("JUnit: a test's time is a metric") {
  auto probe = probe_with(Format::junit, "ms", "slow", "time");
  CHECK(value_of(probe, "<testsuite><testcase name='slow' time='0.5'/></testsuite>") ==
        Approx(500));
  has(refusal(probe, "<testsuite><testcase name='slow' time='nan'/></testsuite>"), "not a finite");
  has(refusal(probe, "<testsuite><testcase name='slow'/></testsuite>"), "not a finite");
  has(refusal(probe, "<testsuite><testcase name='fast' time='1'/></testsuite>"), "is missing");
}

TEST_CASE("foreign text is made valid, plain and short") {
  CHECK(clean_text("a\x1b[1;31mred\x1b[0m\tb\n") == "ared b");
  CHECK(clean_text("\xff\xc3\xa4\xc3") == "\xef\xbf\xbd\xc3\xa4\xef\xbf\xbd");
  CHECK(clean_text("\xed\xa0\x80") == "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // a surrogate
  CHECK(clean_text(std::string(1000, 'x'), 10) == "xxxxxxxxxx...");
  CHECK(last_line_of("one\ntwo\r\n\n") == "two");
  CHECK(last_line_of(" \n").empty());
}

}  // namespace
}  // namespace runners
