// record_noise: runs one command as A/A pairs and writes what it measured as a recording.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "base/clock.h"
#include "base/fd.h"
#include "base/files.h"
#include "base/process.h"
#include "policies/recording.h"

namespace policies {
namespace {

struct Options {
  std::vector<std::string> command;
  std::string json_pointer;  // exactly one of these two
  std::string regex;
  std::string unit = "ns", metric, note, output;
  int pairs = 120;
  double timeout_s = 60;
};

base::Result<std::string> read_all(int fd) {
  std::string text;
  char buffer[65536];
  if (::lseek(fd, 0, SEEK_SET) < 0) return base::fail(base::ErrorCode::io, "cannot seek");
  while (true) {
    const ssize_t count = ::read(fd, buffer, sizeof buffer);
    if (count < 0) return base::fail(base::ErrorCode::io, "cannot read the command's output");
    if (count == 0) return text;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

base::Result<std::string> output_of(const Options& options) {
  base::Fd out(::memfd_create("record_noise", MFD_CLOEXEC));
  if (!out) return base::fail(base::ErrorCode::io, "cannot create a memory file");
  base::Command command;
  command.argv = options.command;
  for (char** entry = environ; *entry != nullptr; ++entry) command.env.emplace_back(*entry);
  command.out = out.get();
  command.err = STDERR_FILENO;
  NS_ASSIGN(tree, base::ProcessTree::start(command));
  const auto ended = tree.wait(options.timeout_s);
  tree.end_all();
  if (!ended) return base::fail(base::ErrorCode::timeout, "the command did not end in time");
  if (ended->signalled || ended->value != 0) {
    return base::fail(base::ErrorCode::bad_input,
                      fmt::format("the command ended with {} {}",
                                  ended->signalled ? "signal" : "exit code", ended->value));
  }
  return read_all(out.get());
}

base::Result<double> number_in(const std::string& text, const Options& options) {
  if (!options.regex.empty()) {
    std::smatch match;
    if (!std::regex_search(text, match, std::regex(options.regex)) || match.size() < 2) {
      return base::fail(base::ErrorCode::bad_input, "the output does not match --regex");
    }
    return std::strtod(match[1].str().c_str(), nullptr);
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  const nlohmann::json::json_pointer pointer(options.json_pointer);
  if (json.is_discarded() || !json.contains(pointer) || !json.at(pointer).is_number()) {
    return base::fail(base::ErrorCode::bad_input, "the output has no number at --json-path");
  }
  return json.at(pointer).get<double>();
}

base::Result<double> measure(const Options& options) {
  NS_ASSIGN(text, output_of(options));
  NS_ASSIGN(value, number_in(text, options));
  if (!(value > 0)) return base::fail(base::ErrorCode::bad_input, "the number is not positive");
  return value;
}

std::string processor() {
  const auto text = base::read_file("/proc/cpuinfo").value_or("");
  std::smatch match;
  const std::regex model("model name\\s*: ([^\n]*)");
  return std::regex_search(text, match, model) ? match[1].str() : "unknown processor";
}

std::string load_average() {
  const auto text = base::read_file("/proc/loadavg").value_or("?");
  return text.substr(0, text.find(' '));
}

base::Status record(const Options& options) {
  Recording recording;
  recording.header["machine"] =
      fmt::format("{}, {} cores seen", processor(), ::sysconf(_SC_NPROCESSORS_ONLN));
  recording.header["date"] = to_text(base::SystemClock().now()).substr(0, 10);
  // The program's folder says where somebody built it, which is nobody's business.
  std::string shown = options.command[0].substr(options.command[0].rfind('/') + 1);
  for (std::size_t i = 1; i < options.command.size(); ++i) shown += " " + options.command[i];
  recording.header["command"] = shown;
  recording.header["unit"] = options.unit;
  if (!options.metric.empty()) recording.header["metric"] = options.metric;
  if (!options.note.empty()) recording.header["note"] = options.note;
  const std::string load_before = load_average();
  NS_TRY(measure(options).map([](double) {}));  // a warm-up that does not count
  for (int i = 0; i < options.pairs; ++i) {
    NS_ASSIGN(first, measure(options));
    NS_ASSIGN(second, measure(options));
    recording.pairs.push_back({first, second});
  }
  recording.header["load"] =
      fmt::format("{} before, {} after (1-minute average)", load_before, load_average());
  const std::string text = to_text(recording);
  if (!options.output.empty()) {
    return base::write_file_atomically(options.output, text, base::Durability::fast);
  }
  std::fputs(text.c_str(), stdout);
  return {};
}

}  // namespace
}  // namespace policies

int main(int argc, char** argv) {
  policies::Options options;
  CLI::App app{"Runs a command as A/A pairs and records a number of its output"};
  app.add_option("command", options.command, "after --: the program and its arguments")->required();
  auto* json = app.add_option("--json-path", options.json_pointer, "like /benchmarks/0/real_time");
  auto* regex = app.add_option("--regex", options.regex, "its first group is the number");
  json->excludes(regex);
  app.add_option("--unit", options.unit);
  app.add_option("--metric", options.metric, "its name, for the header");
  app.add_option("--note", options.note, "what else went on, for the header");
  app.add_option("--output", options.output, "file; default: stdout");
  app.add_option("--pairs", options.pairs)->check(CLI::Range(2, 100'000));
  app.add_option("--timeout", options.timeout_s, "seconds a run")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  if (options.json_pointer.empty() == options.regex.empty()) {
    fmt::print(stderr, "give --json-path or --regex\n");
    return 2;
  }
  if (const auto recorded = policies::record(options); !recorded) {
    fmt::print(stderr, "{}\n", recorded.error().text());
    return 2;
  }
  return 0;
}
