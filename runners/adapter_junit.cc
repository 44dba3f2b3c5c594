// JUnit XML, as CTest, pytest, GoogleTest and Catch2 write it.
#include <fmt/format.h>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "runners/adapter_parts.h"

namespace runners {
using boost::property_tree::ptree;
using hypotheses::Probe;
namespace {

constexpr int kXmlDepthLimit = 64;

// The XML parser recurses, so nesting is bounded before it sees the text. Comments and CDATA may be
// counted too: that only makes this stricter.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char here = text[i], next = text[i + 1];
    if ((here == '<' && next == '/') || (here == '/' && next == '>')) {
      --depth;
    } else if (here == '<' && next != '!' && next != '?') {
      ++depth;
    }
    if (depth > kXmlDepthLimit) return true;
  }
  return false;
}

std::string attribute(const ptree& node, const char* name) {
  return node.get<std::string>(std::string("<xmlattr>.") + name, "");
}

struct Tests {
  int ran = 0, failed = 0, skipped = 0;
  std::string first_failure;
  std::map<std::string, std::vector<std::string>> times;  // test name -> its "time" attributes
};

void add_case(const ptree& node, Tests& tests) {
  std::string name = attribute(node, "name");
  if (node.count("skipped") > 0 || attribute(node, "status") == "notrun") {
    ++tests.skipped;
    return;
  }
  ++tests.ran;
  tests.times[name].push_back(attribute(node, "time"));
  for (const char* kind : {"failure", "error"}) {
    auto failure = node.get_child_optional(kind);
    if (!failure) continue;
    ++tests.failed;
    if (tests.first_failure.empty()) {
      std::string message = attribute(*failure, "message");
      if (message.empty()) message = failure->data();
      tests.first_failure = clean_text(fmt::format("{} failed: {}", name, message));
    }
    return;
  }
}

void walk(const ptree& node, Tests& tests) {
  for (const auto& [name, child] : node) {
    if (name == "testcase") add_case(child, tests);
    if (name == "testsuite" || name == "testsuites") walk(child, tests);
  }
}

base::Result<double> read_time(const Probe& probe, const hypotheses::Metric& metric,
                               const Tests& tests) {
  auto place = tests.times.find(metric.from.benchmark);
  if (place == tests.times.end() || metric.from.field != "time") {
    return refuse(probe, metric.name,
                  fmt::format("is missing: no test {} with a field {} ran (JUnit offers: time)",
                              metric.from.benchmark, metric.from.field));
  }
  if (place->second.size() > 1) return refuse(probe, metric.name, "is ambiguous: two tests match");
  const std::string& text = place->second.front();
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) {
    return refuse(probe, metric.name,
                  fmt::format("is '{}', not a finite number", clean_text(text, 40)));
  }
  return in_unit(probe, metric.name, value, "s", metric.unit);
}

}  // namespace

base::Result<ProbeOutput> parse_junit(const Probe& probe, const hypotheses::Conditions& conditions,
                                      std::string_view text) {
  if (is_too_deep(text)) return refuse(probe, "its XML is nested deeper than 64");
  ptree document;
  try {
    std::istringstream stream{std::string(text)};
    boost::property_tree::read_xml(stream, document);
  } catch (const std::exception& error) {
    return refuse(probe, fmt::format("its stdout is not one JUnit XML document: {}",
                                     clean_text(error.what(), 200)));
  }
  Tests tests;
  walk(document, tests);
  if (tests.ran == 0) {
    return refuse(probe,
                  fmt::format("no test ran ({} skipped), so nothing was checked", tests.skipped));
  }
  ProbeOutput output;
  output.check_ok = tests.failed == 0;
  output.first_failure = tests.first_failure;
  for (const auto& [name, metric] : probe.metrics) {
    NS_ASSIGN(value, read_time(probe, metric, tests));
    output.observations.push_back(
        {{name, conditions}, value, metric.unit.empty() ? "s" : metric.unit});
  }
  return output;
}

}  // namespace runners
