// nightshift simulate: the loop against a fake world in which things go wrong.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "orchestrator/cli.h"
#include "orchestrator/simulator/simulate.h"

namespace orchestrator {

using base::ErrorCode;

namespace {

std::optional<std::uint64_t> number(const std::string& text) {
  bool digits = !text.empty() && text.size() < 19 &&
                text.find_first_not_of("0123456789") == std::string::npos;
  if (!digits) return {};
  return std::stoull(text);
}

// "7" or "1..2000".
bool read_seeds(const std::string& text, SimulateOptions& options) {
  std::size_t dots = text.find("..");
  auto first = number(text.substr(0, dots));
  auto last = dots == std::string::npos ? first : number(text.substr(dots + 2));
  if (!first || !last || *last < *first) return false;
  options.first = *first;
  options.last = *last;
  return true;
}

nlohmann::json to_json(const Failure& failure) {
  return {{"seed", failure.seed},
          {"invariant", failure.violation.invariant},
          {"what", failure.violation.what},
          {"faults", failure.faults},
          {"trace", failure.trace}};
}

void print_text(const Simulated& result, const SimulateOptions& options, double wall_s) {
  for (const Failure& failure : result.failures) {
    std::cout << fmt::format("seed {}: {}\n", failure.seed, failure.violation.text());
    for (const std::string& fault : failure.faults) std::cout << "  needs: " << fault << "\n";
    for (const std::string& line : failure.trace) std::cout << "    " << line << "\n";
    std::cout << fmt::format("  again with: nightshift simulate --seeds {}..{} --nights {}{}\n",
                             failure.seed, failure.seed, options.nights,
                             options.exhaustive ? " --exhaustive" : "");
  }
  std::cout << fmt::format(
                   "{} seeds, {} lives, {} violations in {:.1f} s: {} commits, {} faults, {} "
                   "processes, {} nights, {} experiments, {} merges landed; hash {:016x}",
                   result.seeds, result.lives, result.failures.size(), wall_s, result.commits,
                   result.faults, result.restarts, result.nights, result.experiments, result.landed,
                   result.hash)
            << std::endl;
}

}  // namespace

Exit simulate_command(const Context& context, const SimulateArguments& arguments) {
  SimulateOptions options;
  options.nights = arguments.nights;
  options.exhaustive = arguments.exhaustive;
  options.threads = arguments.threads;
  if (!read_seeds(arguments.seeds, options) || arguments.nights < 1) {
    return complain(context, {ErrorCode::bad_input,
                              "expected one seed or two, like --seeds 7 or --seeds 1..2000, and at "
                              "least one night; found --seeds " +
                                  arguments.seeds,
                              {}});
  }
  // Failures that are meant are told in thousands.
  (void)base::start_log({base::LogLevel::error, "/dev/null"});
  double start_s = context.clock.monotonic_s();
  Simulated result = simulate(options);
  double wall_s = context.clock.monotonic_s() - start_s;
  if (context.json) {
    auto failures = nlohmann::json::array();
    for (const Failure& failure : result.failures) failures.push_back(to_json(failure));
    nlohmann::json body = {{"seeds", result.seeds},
                           {"violations", result.failures.size()},
                           {"wall_s", wall_s},
                           {"lives", result.lives},
                           {"commits", result.commits},
                           {"faults", result.faults},
                           {"processes", result.restarts},
                           {"nights", result.nights},
                           {"experiments", result.experiments},
                           {"landed", result.landed},
                           {"hash", fmt::format("{:016x}", result.hash)},
                           {"failures", failures}};
    std::cout << body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  } else {
    print_text(result, options, wall_s);
  }
  return result.failures.empty() ? Exit::ok : Exit::failed;
}

}  // namespace orchestrator
