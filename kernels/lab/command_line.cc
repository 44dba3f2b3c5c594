#include "kernels/lab/command_line.h"

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

namespace kernels {
namespace {

template <class T>
void add_optional(CLI::App& app, const char* flag, std::optional<T>& value, const char* help) {
  app.add_option_function<T>(
      flag, [&value](const T& given) { value = given; }, help);
}

void add_options(CLI::App& command, std::string& op, LabOptions& options) {
  command.add_option("op", op, "the op, a folder of kernels/")->required();
  command.add_option("--seed", options.seed, "of the inputs");
  add_optional(command, "--variant", options.variant, "instead of the knob");
  add_optional(command, "--v_tile", options.v_tile, "instead of the knob");
  add_optional(command, "--ring", options.ring, "instead of the knob");
}

// Defaults come first, so that a flag given by the user wins. Five short repetitions: their median
// is a robust summary of one process, and the process stays below half a second.
int run_benchmark(const Op& op, const LabOptions& options) {
  std::vector<std::string> words = {"kernel_lab", "--benchmark_min_time=0.05",
                                    "--benchmark_repetitions=5"};
  if (!isatty(STDOUT_FILENO)) words.push_back("--benchmark_format=json");
  for (const std::string& flag : options.benchmark_flags) words.push_back(flag);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  int argc = int(argv.size());
  benchmark::Initialize(&argc, argv.data());
  if (benchmark::ReportUnrecognizedArguments(argc, argv.data())) return kCouldNotRun;
  op.register_bench(options);
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (ran == 0) std::fprintf(stderr, "kernel_lab: no benchmark matches the filter\n");
  return ran == 0 ? kCouldNotRun : kPassed;
}

const Op* find(std::span<const Op> ops, const std::string& name) {
  const auto found = std::ranges::find_if(ops, [&](const Op& op) { return name == op.name; });
  if (found != ops.end()) return &*found;
  std::fprintf(stderr, "kernel_lab: no op is called '%s'; there are:", name.c_str());
  for (const Op& op : ops) std::fprintf(stderr, " %s", op.name);
  std::fprintf(stderr, "\n");
  return nullptr;
}

}  // namespace

int run_lab(std::span<const Op> ops, int argc, char** argv) {
  CLI::App app("Checks and times the kernels.");
  app.require_subcommand(1);
  std::string name;
  LabOptions options;
  CLI::App* check =
      app.add_subcommand("check", "compare with the fp64 oracle; JSON lines on stdout");
  add_options(*check, name, options);
  CLI::App* bench = app.add_subcommand("bench", "time it; other --benchmark_* flags are passed on");
  add_options(*bench, name, options);
  bench->add_option("--batch", options.batch, "slots that advance together")
      ->check(CLI::Range(1, 4096));
  bench->allow_extras();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kPassed : kCouldNotRun;  // --help is no error
  }
  const Op* op = find(ops, name);
  if (!op) return kCouldNotRun;
  try {
    if (check->parsed()) return op->check(options);
    options.benchmark_flags = bench->remaining();
    return run_benchmark(*op, options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kernel_lab: %s\n", error.what());
    return kCouldNotRun;
  }
}

}  // namespace kernels
