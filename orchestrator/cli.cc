#include "orchestrator/cli.h"

#include <signal.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "orchestrator/daemon.h"
#include "orchestrator/version.h"

namespace orchestrator {

namespace {

using Action = std::function<Exit(const Context&)>;

// Adds a subcommand whose action is run after parsing.
template <class Run>
CLI::App* add(CLI::App& app, Action& action, const std::string& name, const std::string& what,
              Run run) {
  CLI::App* command = app.add_subcommand(name, what);
  command->callback([&action, run] { action = run; });
  return command;
}

void add_start(CLI::App& app, Action& action) {
  auto folder = std::make_shared<std::string>(".");
  add(app, action, "init", "write a first nightshift.yaml", [folder](const Context& context) {
    return init_command(context, *folder);
  })->add_option("folder", *folder, "root of the repository");

  auto file = std::make_shared<std::string>("nightshift.yaml");
  add(app, action, "check", "validate a manifest; reports all mistakes", [file](const Context& c) {
    return check_command(c, *file);
  })->add_option("manifest", *file, "the file");

  add(app, action, "doctor", "what this machine offers: sandbox, cores, Slurm", doctor_command);

  // For the batch script of a Slurm job only.
  auto spec = std::make_shared<std::string>();
  auto* job = add(app, action, "run-job", "the part of a Slurm job that runs on its node",
                  [spec](const Context& c) { return run_job_command(c, *spec); });
  job->group("");
  job->add_option("spec", *spec, "written by the daemon")->required();

  auto daemon = std::make_shared<DaemonArguments>();
  auto* run = add(app, action, "daemon", "run scheduled nights and serve the UI",
                  [daemon](const Context& c) { return daemon_command(c, *daemon); });
  run->add_option("--host", daemon->host, "address to listen on");
  run->add_option("--port", daemon->port, "port to listen on; 0 = any");
  run->add_flag("--allow-remote", daemon->allow_remote, "listen on other than loopback addresses");

  auto demo = std::make_shared<DemoArguments>();
  auto* show = add(app, action, "demo", "a first night on this repository's own kernels",
                   [demo](const Context& c) { return demo_command(c, *demo); });
  show->add_flag("--exit", demo->exit_at_end, "end after the night instead of serving the UI");
  show->add_flag("--fresh", demo->fresh, "begin anew, deleting an earlier demo's state");
  show->add_option("--source", demo->source, "repository or source tree to work on a copy of");
  show->add_option("--policy", demo->policy_file, "policy file instead of the demo's");
  show->add_option("--only", demo->only, "one of the two nights: kernels or engine")
      ->check(CLI::IsMember({"kernels", "engine"}));
  show->add_option("--seed", demo->seed, "of the planner and of all coins");
  show->add_option("--port", demo->port, "port of the UI; 0 = any");
}

void add_simulate(CLI::App& app, Action& action) {
  auto simulate = std::make_shared<SimulateArguments>();
  auto* run = add(app, action, "simulate", "test the daemon's loop in a fake world full of faults",
                  [simulate](const Context& c) { return simulate_command(c, *simulate); });
  run->add_option("--seeds", simulate->seeds, "7 or 1..2000")->capture_default_str();
  run->add_option("--nights", simulate->nights, "of each campaign")->capture_default_str();
  run->add_flag("--exhaustive", simulate->exhaustive, "crash at every commit of each seed");
  run->add_option("--threads", simulate->threads, "default: one a core");
}

void add_campaign(CLI::App& app, Action& action) {
  CLI::App* campaign = app.add_subcommand("campaign", "goals, schedules and budgets");
  campaign->require_subcommand(1);
  auto create = std::make_shared<CampaignArguments>();
  auto* make = add(*campaign, action, "create", "a new campaign on a repository",
                   [create](const Context& c) { return campaign_create(c, *create); });
  make->add_option("--target", create->target, "path of the repository")->required();
  make->add_option("--name", create->name, "for people");
  make->add_option("--base", create->base, "branch to improve; default: the manifest's");
  make->add_option("--goal", create->goal, "metric{conditions}; default: the manifest's");
  make->add_option("--schedule", create->schedule, "five-field cron; default: only when asked");
  make->add_option("--time-zone", create->time_zone, "of the schedule, an IANA name");
  make->add_option("--policy", create->policy_file, "YAML file; default: the shipped policy");
  make->add_option("--planner", create->planner, "builtin or llm; default: the policy's");
  make->add_option("--seed", create->seed, "of the planner and of all coins");
  make->add_flag("--start", create->start, "start a night at once");
  add(*campaign, action, "list", "all campaigns", campaign_list);
  for (const char* verb : {"start", "pause", "resume", "cancel"}) {
    auto id = std::make_shared<std::string>();
    auto reason = std::make_shared<std::string>();
    auto* set =
        add(*campaign, action, verb, std::string(verb) + " a campaign",
            [id, reason, verb](const Context& c) { return campaign_set(c, *id, verb, *reason); });
    set->add_option("id", *id, "C-1")->required();
    set->add_option("--reason", *reason, "is recorded");
  }
}

void add_work(CLI::App& app, Action& action) {
  auto propose = std::make_shared<ProposeArguments>();
  auto* make = add(app, action, "propose", "a hypothesis of your own",
                   [propose](const Context& c) { return propose_command(c, *propose); });
  make->add_option("--campaign", propose->campaign, "C-1; default: the only one");
  make->add_option("--claim", propose->claim, "what changes and what it does")->required();
  make->add_option("--predicts", propose->predicts, "kda_decode.time{batch=1} -10%")->required();
  make->add_option("--knob", propose->knobs, "name=value; may be repeated");
  make->add_option("--edits", propose->edits_file, "JSON file: [{path, search, replace}]");
  make->add_option("--branch", propose->branch, "branch of the target that holds the change");
  add(app, action, "queue", "hypotheses that are not decided yet", queue_command);

  auto with_id = [&](const char* name, const char* what, const char* ids,
                     Exit (*run)(const Context&, const std::string&), bool required) {
    auto id = std::make_shared<std::string>();
    auto* command =
        add(app, action, name, what, [id, run](const Context& c) { return run(c, *id); });
    auto* option = command->add_option("id", *id, ids);
    if (required) option->required();
  };
  with_id("show", "one thing, or all hypotheses", "C-1, N-1, H-7, E-12 or M-1", show_command,
          false);
  with_id("explain", "why this was tried, in this way, with this verdict", "H-7 or E-12",
          explain_command, true);
  with_id("report", "the morning report", "N-1; default: the newest night", report_command, false);

  auto merge = std::make_shared<std::string>();
  auto commit = std::make_shared<std::string>();
  auto* approve =
      add(app, action, "approve", "land a tested merge",
          [merge, commit](const Context& c) { return approve_command(c, *merge, *commit); });
  approve->add_option("merge", *merge, "M-1")->required();
  approve->add_option("--commit", *commit, "the full commit that you mean");
  auto reason = std::make_shared<std::string>();
  auto* reject = add(app, action, "reject", "refuse a merge", [merge, reason](const Context& c) {
    return reject_command(c, *merge, *reason);
  });
  reject->add_option("merge", *merge, "M-1")->required();
  reject->add_option("--reason", *reason, "is recorded")->required();
}

void add_state(CLI::App& app, Action& action) {
  auto file = std::make_shared<std::string>();
  add(app, action, "backup", "a checked copy of the whole record, also while the daemon works",
      [file](const Context& c) { return backup_command(c, *file); })
      ->add_option("file", *file, "a file that does not exist yet")
      ->required();
  auto arguments = std::make_shared<ExportArguments>();
  auto* run = add(app, action, "export", "the history in open formats",
                  [arguments](const Context& c) { return export_command(c, *arguments); });
  run->add_option("--format", arguments->format, "jsonl, csv or bmf (Bencher metrics)")
      ->check(CLI::IsMember({"jsonl", "csv", "bmf"}))
      ->capture_default_str();
  run->add_option("--into", arguments->into,
                  "new folder for all files; default: stdout, the facts or the newest night");
}

}  // namespace

Exit exit_of(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::bad_input:
      return Exit::usage;
    case base::ErrorCode::not_found:
      return Exit::not_found;
    case base::ErrorCode::conflict:
      return Exit::conflict;
    case base::ErrorCode::refused:
      return Exit::refused;
    case base::ErrorCode::unavailable:
      return Exit::unavailable;
    default:
      return Exit::failed;
  }
}

Exit complain(const Context& context, const base::Error& error) {
  Exit exit = exit_of(error.code);
  if (context.json) {
    nlohmann::json body = {
        {"error", {{"message", error.text()}, {"exit", static_cast<int>(exit)}}}};
    std::cout << body.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << std::endl;
  } else {
    std::cerr << "nightshift: " << error.text() << std::endl;
  }
  return exit;
}

int run_cli(int argc, char** argv) {
  ::signal(SIGPIPE, SIG_IGN);  // a viewer or an endpoint that goes away must not end the daemon
  CLI::App app{"Nightshift improves the performance of a git repository overnight."};
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", kVersion);
  std::string state = default_state_folder().string();
  bool json = false, verbose = false;
  app.add_option("--state", state, "state folder")->capture_default_str();
  app.add_flag("--json", json, "print JSON");
  app.add_flag("--verbose", verbose, "log more to stderr");
  Action action;
  add_start(app, action);
  add_campaign(app, action);
  add_work(app, action);
  add_state(app, action);
  add_simulate(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    int code = app.exit(error);
    return code == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  (void)base::start_log({verbose ? base::LogLevel::debug : base::LogLevel::warning, ""});
  base::SystemClock clock;
  return static_cast<int>(action(Context{state, json, clock}));
}

}  // namespace orchestrator
