// aa_rates: what the shipped rules get wrong, and what they take to be right, on noise of known
// shape and on noise that real machines gave. Its output is in docs/statistics.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "base/files.h"
#include "policies/rate_tables.h"

namespace policies {
namespace {

constexpr std::string_view kBegin = "<!-- aa_rates: begin -->\n";
constexpr std::string_view kEnd = "<!-- aa_rates: end -->\n";

struct Arguments {
  std::vector<std::string> recordings;  // files, or folders of them
  std::string policy, into, only;
  int block = 10;  // pairs that are replayed as they were recorded
  bool timing = false;
  RateOptions options;
};

// In the order of their names, whatever the folder's.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      files.push_back(path);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(path, ignored)) {
      if (entry.path().extension() == ".csv") inside.push_back(entry.path().string());
    }
    std::sort(inside.begin(), inside.end());
    files.insert(files.end(), inside.begin(), inside.end());
  }
  return files;
}

base::Result<std::vector<Subject>> read_subjects(const Arguments& arguments) {
  std::vector<Subject> subjects = synthetic_subjects();
  for (const std::string& file : files_of(arguments.recordings)) {
    NS_ASSIGN(text, base::read_file(file));
    std::string error;
    subjects.push_back(recorded_subject(std::filesystem::path(file).stem().string(), text,
                                        arguments.block, error));
    if (!error.empty()) return base::fail(base::ErrorCode::bad_input, error, file);
  }
  return subjects;
}

base::Result<Policy> chosen_policy(const std::string& file) {
  if (file.empty()) return Policy();
  NS_ASSIGN(text, base::read_file(file));
  return read_policy(text, file);
}

struct Section {
  std::string name;
  std::vector<std::function<Table()>> tables;
};

std::vector<Section> sections_of(const std::vector<Subject>& subjects, const RateOptions& options) {
  using Subjects = Table (*)(const std::vector<Subject>&, const RateOptions&);
  using Alone = Table (*)(const RateOptions&);
  const auto on_all = [&](Subjects make) { return [&, make] { return make(subjects, options); }; };
  const auto alone = [&](Alone make) { return [&, make] { return make(options); }; };
  return {{"Errors",
           {on_all(verdict_table), on_all(edge_table), on_all(coverage_table),
            on_all(classic_error_table)}},
          {"Campaigns", {on_all(campaign_table), alone(discovery_table), alone(failure_table)}},
          {"Power", {on_all(power_table), on_all(pairs_table), on_all(gain_table)}},
          {"Change points", {alone(change_point_table)}}};
}

// The tables, one after the other as they are done; false when a bound does not hold.
bool make_tables(const Arguments& arguments, const std::vector<Subject>& subjects,
                 std::string& text) {
  bool holds = true;
  const auto add = [&](const std::string& piece) {
    text += piece + "\n";
    std::fputs((piece + "\n").c_str(), stdout);
    std::fflush(stdout);
  };
  add(fmt::format("Seed {}, {} recordings in blocks of {} pairs, policy {}.\n",
                  arguments.options.seed,
                  std::count_if(subjects.begin(), subjects.end(),
                                [](const Subject& subject) { return subject.recorded > 0; }),
                  arguments.block, arguments.policy.empty() ? "default" : arguments.policy));
  for (const Section& section : sections_of(subjects, arguments.options)) {
    if (!arguments.only.empty() && arguments.only != section.name) continue;
    add("### " + section.name + "\n");
    for (const auto& make : section.tables) {
      const Table table = make();
      add(table.text);
      holds &= table.holds;
    }
  }
  return holds;
}

base::Status write_into(const std::string& file, const std::string& tables) {
  NS_ASSIGN(text, base::read_file(file));
  const std::size_t begin = text.find(kBegin), end = text.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    return base::fail(
        base::ErrorCode::bad_input,
        fmt::format("expected the lines {} and {} around the tables",
                    kBegin.substr(0, kBegin.size() - 1), kEnd.substr(0, kEnd.size() - 1)),
        file);
  }
  const std::size_t after = begin + kBegin.size();
  text.replace(after, end - after, "\n" + tables);
  return base::write_file_atomically(file, text, base::Durability::fast);
}

base::Result<bool> run(Arguments arguments) {
  NS_ASSIGN(policy, chosen_policy(arguments.policy));
  arguments.options.policy = policy;
  NS_ASSIGN(subjects, read_subjects(arguments));
  std::string tables;
  const bool holds = make_tables(arguments, subjects, tables);
  if (!arguments.into.empty()) NS_TRY(write_into(arguments.into, tables));
  return holds;
}

}  // namespace
}  // namespace policies

int main(int argc, char** argv) {
  policies::Arguments arguments;
  policies::RateOptions& options = arguments.options;
  CLI::App app{"Error rates and power of the rules; exit 1 when a bound exceeds its level"};
  app.add_option("recordings", arguments.recordings,
                 "files that record_noise wrote, or folders of them");
  app.add_option("--policy", arguments.policy, "policy YAML; default: the built-in one");
  auto* into =
      app.add_option("--into", arguments.into, "a page whose marked section becomes the tables");
  app.add_option("--only", arguments.only, "one section of the tables")
      ->check(CLI::IsMember({"Errors", "Campaigns", "Power", "Change points"}))
      ->excludes(into);
  app.add_option("--seed", options.seed);
  app.add_option("--trials", options.trials, "of an error rate")->check(CLI::PositiveNumber);
  app.add_option("--power-trials", options.power_trials)->check(CLI::PositiveNumber);
  app.add_option("--campaigns", options.campaigns)->check(CLI::PositiveNumber);
  app.add_option("--block", arguments.block, "pairs")->check(CLI::PositiveNumber);
  app.add_flag("--timing", arguments.timing, "only what a judgement costs on this machine");
  CLI11_PARSE(app, argc, argv);
  if (arguments.timing) {
    fmt::print("{}", policies::timing_table());
    return 0;
  }
  const auto holds = policies::run(arguments);
  if (!holds) {
    fmt::print(stderr, "{}\n", holds.error().text());
    return 2;
  }
  return *holds ? 0 : 1;
}
