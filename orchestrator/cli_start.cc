// Commands that begin: init, check, daemon.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/log.h"
#include "hypotheses/manifest.h"
#include "orchestrator/cli.h"
#include "orchestrator/daemon.h"
#include "orchestrator/signals.h"

namespace orchestrator {

using base::ErrorCode;

namespace {

// A manifest that passes its check; what has to be adapted is marked.
constexpr const char* kFirstManifest =
    R"(# What this repository offers to be measured. Adapt the lines marked <--, then: nightshift check
version: 1
name: my-target                                # <--
base: main                                     # <-- the branch to improve
goal: {metric: my.time}
build:                                         # run in a checkout; {build} is its build folder
  - cmake -S . -B {build} -DCMAKE_BUILD_TYPE=Release   # <--
  - cmake --build {build}
knobs:                                         # values that the built-in planner may try
  my.tile: {file: knobs.yaml, key: my.tile, when: build, choices: [16, 32, 64]}   # <--
probes:
  my.check:                                    # says whether the result is right
    answers: correctness
    layer: kernel
    covers: ["src/**", "knob:my.*"]            # <-- what it says something about
    run: "{build}/bin/check --seed {seed}"     # <-- exit 0 = right, 1 = wrong
    format: nightshift
  my.bench:                                    # says how fast it is
    answers: speed
    layer: kernel
    covers: ["src/**", "knob:my.*"]
    run: "{build}/bin/bench --benchmark_format=json"   # <--
    format: google-benchmark
    metrics:
      my.time: {from: {benchmark: my_bench, field: real_time}, better: lower, unit: ns}
)";

}  // namespace

Exit init_command(const Context& context, const std::filesystem::path& folder) {
  std::filesystem::path file = folder / hypotheses::kManifestFile;
  if (std::filesystem::exists(file)) {
    return complain(context, {ErrorCode::conflict,
                              "there is a manifest already; it was left as it is. `nightshift "
                              "check` validates it",
                              file.string()});
  }
  if (!std::filesystem::is_directory(folder)) {
    return complain(context, {ErrorCode::not_found, "no such folder", folder.string()});
  }
  if (auto written = base::write_file_atomically(file, kFirstManifest); !written) {
    return complain(context, written.error());
  }
  if (context.json) {
    std::cout << nlohmann::json{{"file", file.string()}}.dump() << std::endl;
  } else {
    std::cout << "wrote " << file.string()
              << "; adapt the lines marked <--, then run: nightshift check" << std::endl;
  }
  return Exit::ok;
}

Exit check_command(const Context& context, const std::filesystem::path& file) {
  auto text = base::read_file(file, 1 << 20);
  if (!text) return complain(context, text.error());
  auto outcome = hypotheses::parse_manifest(*text, file.string());
  if (context.json) {
    auto list = nlohmann::json::array();
    for (const auto& mistake : outcome.mistakes) {
      list.push_back({{"file", mistake.file},
                      {"line", mistake.line},
                      {"column", mistake.column},
                      {"text", mistake.text}});
    }
    std::cout << nlohmann::json{{"ok", outcome.mistakes.empty()}, {"mistakes", list}}.dump(
                     2, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  } else if (!outcome.mistakes.empty()) {
    std::cerr << to_text(outcome.mistakes) << std::endl
              << outcome.mistakes.size()
              << (outcome.mistakes.size() == 1 ? " mistake" : " mistakes") << std::endl;
  } else {
    std::cout << fmt::format("{} is fine: {} knobs, {} probes", file.string(),
                             outcome.manifest->knobs.size(), outcome.manifest->probes.size())
              << std::endl;
  }
  return outcome.mistakes.empty() ? Exit::ok : Exit::usage;
}

Exit daemon_command(const Context& context, const DaemonArguments& arguments) {
  SignalStop signals;
  DaemonOptions options;
  options.state = context.state;
  options.host = arguments.host;
  options.port = arguments.port;
  options.allow_remote = arguments.allow_remote;
  auto daemon = Daemon::start(std::move(options), context.clock);
  if (!daemon) return complain(context, daemon.error());
  std::cout << "nightshift serves " << (*daemon)->url() << ", state in " << context.state.string()
            << std::endl;
  if (auto status = (*daemon)->run(signals.token()); !status) {
    return complain(context, status.error());
  }
  return Exit::ok;
}

}  // namespace orchestrator
