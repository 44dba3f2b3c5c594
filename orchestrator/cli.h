// The command line (docs/cli.md). One function a command; each returns what the process exits with.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace orchestrator {

// Exit codes, as documented in docs/cli.md.
enum class Exit {
  ok = 0,
  failed = 1,       // it was tried and did not work; the message says why
  usage = 2,        // arguments or a file given are wrong
  not_found = 3,    // no such id, file, branch or state folder
  conflict = 4,     // somebody else holds it, or it changed meanwhile
  refused = 5,      // a policy or a limit says no
  unavailable = 6,  // daemon, sandbox or endpoint cannot be had
};
Exit exit_of(base::ErrorCode code);

struct Context {
  std::filesystem::path state;
  bool json = false;
  const base::Clock& clock;
};

int run_cli(int argc, char** argv);

// Prints the error (as JSON where that was asked for) and returns its exit code.
Exit complain(const Context& context, const base::Error& error);

struct CampaignArguments {
  std::string name, target, base, goal, schedule, time_zone = "UTC", policy_file, planner;
  std::uint64_t seed = 1;
  bool start = false;
};
struct ProposeArguments {
  std::string campaign, claim, predicts, branch;
  std::vector<std::string> knobs;  // "name=value"
  std::string edits_file;          // JSON: [{"path", "search", "replace"}]
};
struct DaemonArguments {
  std::string host = "127.0.0.1";
  int port = 8700;
  bool allow_remote = false;
};
struct DemoArguments {
  bool exit_at_end = false;  // do not stay up for the UI
  bool fresh = false;        // begin anew even where an earlier demo stands
  std::string source;        // repository or source tree to demonstrate on; empty = found itself
  std::string policy_file;   // of all nights; empty = each its own
  std::string only;          // "kernels" or "engine"; empty = one after the other
  std::uint64_t seed = 1;
  int port = 8700;
};
struct ExportArguments {
  std::string format = "jsonl";  // jsonl, csv, bmf
  std::string into;              // folder; empty = stdout
};
struct SimulateArguments {
  std::string seeds = "1..100";  // "7" or "1..2000"
  int nights = 1;
  bool exhaustive = false;
  int threads = 0;  // 0 = one a core
};

Exit init_command(const Context&, const std::filesystem::path& folder);
Exit check_command(const Context&, const std::filesystem::path& file);
Exit daemon_command(const Context&, const DaemonArguments&);
Exit demo_command(const Context&, const DemoArguments&);
Exit simulate_command(const Context&, const SimulateArguments&);
Exit doctor_command(const Context&);
Exit run_job_command(const Context&, const std::filesystem::path& spec);  // of a Slurm job's node

Exit campaign_create(const Context&, const CampaignArguments&);
Exit campaign_list(const Context&);
Exit campaign_set(const Context&, const std::string& id, const std::string& verb,
                  const std::string& reason);  // pause, resume, cancel, start

Exit propose_command(const Context&, const ProposeArguments&);
Exit queue_command(const Context&);
Exit show_command(const Context&, const std::string& id);
Exit explain_command(const Context&, const std::string& id);
Exit report_command(const Context&, const std::string& night);
Exit approve_command(const Context&, const std::string& merge, const std::string& commit);
Exit reject_command(const Context&, const std::string& merge, const std::string& reason);

// cli_state.cc
Exit backup_command(const Context&, const std::string& file);
Exit export_command(const Context&, const ExportArguments&);

}  // namespace orchestrator
