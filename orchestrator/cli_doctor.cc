// Commands about the machine: what it offers, and a Slurm job's part on a node.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "orchestrator/cli.h"
#include "orchestrator/signals.h"
#include "runners/local_runner.h"
#include "runners/slurm_runner.h"
#include "runners/slurm_worker.h"

namespace orchestrator {

Exit doctor_command(const Context& context) {
  runners::LocalRunner local({}, context.clock);
  auto sandbox = local.sandbox();
  auto slurm = runners::slurm_summary();
  auto told = [](const base::Result<std::string>& found) {
    return found ? *found : "none: " + found.error().message;
  };
  if (context.json) {
    auto entry = [&](const base::Result<std::string>& found) {
      return nlohmann::json{{"usable", found.has_value()}, {"text", told(found)}};
    };
    std::cout << nlohmann::json{{"machine", local.machine()},
                                {"sandbox", entry(sandbox)},
                                {"slurm", entry(slurm)}}
                     .dump(2, ' ', false, nlohmann::json::error_handler_t::replace)
              << std::endl;
  } else {
    std::cout << fmt::format("machine   {}\nsandbox   {}\nslurm     {}", local.machine(),
                             told(sandbox), told(slurm))
              << std::endl;
  }
  // Slurm is a choice; without a sandbox the shipped policies run nothing.
  return sandbox ? Exit::ok : Exit::unavailable;
}

Exit run_job_command(const Context& context, const std::filesystem::path& spec) {
  SignalStop signals;
  return runners::run_slurm_job(spec, signals.token(), context.clock) == 0 ? Exit::ok
                                                                           : Exit::failed;
}

}  // namespace orchestrator
