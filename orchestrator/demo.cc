// The demo: a first night on the kernels that ship with this repository, then one on its engine.
// The target is a bare copy of the sources in the state folder; the caller's own checkout is only
// read.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "hypotheses/json.h"
#include "hypotheses/manifest.h"
#include "orchestrator/cli.h"
#include "orchestrator/connection.h"
#include "orchestrator/daemon.h"
#include "orchestrator/progress.h"
#include "orchestrator/signals.h"
#include "store/git/bare_copy.h"
#include "web/api/views.h"

namespace orchestrator {

using base::ErrorCode;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

// One campaign of the demo, and its night.
struct Act {
  std::string campaign;
  std::string policy;          // a file in policies/
  hypotheses::MetricKey goal;  // without a name: the manifest's
};

std::vector<Act> acts_of(const DemoArguments& arguments) {
  const Act kernels{"demo", "demo.yaml", {}};
  const Act engine{"engine", "demo_engine.yaml", {"serve.tokens_per_s", {{"in_flight", "16"}}}};
  if (arguments.only == "kernels") return {kernels};
  if (arguments.only == "engine") return {engine};
  return {kernels, engine};
}

// The sources to work on: as given, else the nearest folder upwards of this program or of the
// working folder that has a manifest and kernels.
base::Result<fs::path> find_source(const std::string& given) {
  if (!given.empty()) return fs::path(given);
  std::error_code ignored;
  for (const fs::path& from :
       {fs::read_symlink("/proc/self/exe", ignored), fs::current_path(ignored)}) {
    for (fs::path folder = from; folder.has_relative_path(); folder = folder.parent_path()) {
      if (fs::exists(folder / hypotheses::kManifestFile) && fs::exists(folder / "kernels")) {
        return folder;
      }
    }
  }
  return base::fail(ErrorCode::not_found,
                    "found no Nightshift sources around this program or the working folder; name "
                    "them with --source");
}

base::Result<std::string> policy_of(const DemoArguments& arguments, const Act& act,
                                    const fs::path& source) {
  fs::path file = arguments.policy_file.empty() ? source / "policies" / act.policy
                                                : fs::path(arguments.policy_file);
  NS_ASSIGN(text, base::read_file(file, 1 << 20));
  NS_TRY(policies::read_policy(text, file.string()));
  return text;
}

const CampaignRecord* find_campaign(const State& state, const Act& act) {
  for (const auto& [id, record] : state.campaigns) {
    if (record.campaign.name == act.campaign) return &record;
  }
  return nullptr;
}

bool night_is_over(const State& state, const Act& act, std::size_t nights_before) {
  const CampaignRecord* record = find_campaign(state, act);
  if (record == nullptr || record->running) return false;
  bool opening = night_opening(state, record->campaign.id);
  return !opening || record->nights.size() > nights_before;
}

// Creates the target and the campaign, or goes on with an earlier demo.
base::Status begin(Daemon& daemon, const Context& context, const DemoArguments& arguments,
                   const Act& act) {
  Shell& shell = daemon.shell();
  if (const CampaignRecord* record = find_campaign(shell.state(), act)) {
    if (record->running) return {};  // an interrupted night goes on
    NS_TRY(shell.execute(web::StartNight{record->campaign.id}));
    return {};
  }
  NS_ASSIGN(source, find_source(arguments.source));
  NS_ASSIGN(policy, policy_of(arguments, act, source));
  fs::path target = context.state / "demo" / "target.git";
  if (!fs::exists(target)) {
    NS_TRY(store::git::make_bare_copy(fs::canonical(source), target, "main", context.clock.now()));
  }
  web::CreateCampaign command;
  command.campaign.name = act.campaign;
  command.campaign.target = fs::canonical(target).string();
  command.campaign.base = "main";
  command.campaign.policy = policy;
  NS_ASSIGN(text, base::read_file(source / hypotheses::kManifestFile, 1 << 20));
  NS_ASSIGN(manifest,
            hypotheses::read_manifest(text, (source / hypotheses::kManifestFile).string()));
  command.campaign.goal = act.goal.metric.empty() ? manifest.goal : act.goal;
  command.campaign.seed = arguments.seed;
  command.start_now = true;
  NS_TRY(shell.execute(command));
  return {};
}

// Seconds of the night's first build: paid once a machine, so reported apart.
double first_build_s(const State& state, const NightRecord& night) {
  for (auto id : night.experiments) {
    for (const auto& run : state.experiments.at(id).runs) {
      if (!run.measured) return run.wall_s;
    }
  }
  return 0;
}

json summary(const State& state, const NightRecord& night, const fs::path& folder) {
  json hypotheses = json::array(), merges = json::array();
  for (auto id : night.hypotheses) {
    const auto& h = state.hypotheses.at(id);
    json row = {{"id", h.id.text()},
                {"claim", h.claim},
                {"verdict", h.verdict ? json(to_text(*h.verdict)) : json()},
                {"effect", nullptr},
                {"effect_text", nullptr},
                {"interval", nullptr},
                {"pairs", 0},
                {"cost_s", h.cost_s},
                {"reason", h.reason}};
    if (h.evidence && h.evidence->pairs > 0) {
      row["effect"] = h.evidence->effect;
      row["effect_text"] = effect_text(*h.evidence);
      row["interval"] = {h.evidence->low, h.evidence->high};
      row["pairs"] = h.evidence->pairs;
    }
    hypotheses.push_back(std::move(row));
  }
  for (auto id : night.merges) {
    const auto& merge = state.merges.at(id);
    json row = {{"id", merge.id.text()},
                {"commit", merge.merged.hex},
                {"state", to_text(merge.state)},
                {"hypothesis", merge.hypothesis.text()},
                {"reason", merge.reason}};
    for (const auto& answer : merge.answers) {
      if (answer.question == hypotheses::Question::own_metric && answer.evidence) {
        row["effect"] = answer.evidence->effect;
        row["effect_text"] = effect_text(*answer.evidence);
      }
    }
    merges.push_back(std::move(row));
  }
  double wall_s = night.night.ended.seconds_since(night.night.started);
  return {{"hypotheses", hypotheses},
          {"merge_requests", merges},
          {"wall_s", wall_s - first_build_s(state, night)},
          {"first_build_s", first_build_s(state, night)},
          {"machine_s", night.spend.machine_s},
          {"state", folder.string()}};
}

// Why no night was run, from the newest note.
base::Error why_no_night(const fs::path& folder) {
  std::string why = "the night did not start";
  if (auto reader = open_reader(folder)) {
    if (auto events = reader->events_after(0, 500)) {
      for (const auto& event : *events) {
        if (const auto* note = std::get_if<hypotheses::Noted>(&event.fact)) why = note->text;
      }
    }
  }
  return {ErrorCode::unavailable, why, ""};
}

void tell_what_next(const State& state, const NightRecord& night, const std::string& url) {
  for (auto id : night.merges) {
    if (state.merges.at(id).state != hypotheses::MergeState::waiting) continue;
    std::cout << fmt::format("\n{} waits for you: nightshift approve {}", id.text(), id.text());
    if (!url.empty()) std::cout << fmt::format(" (or {}/merges/{})", url, id.text());
    std::cout << std::endl;
  }
}

// Lives the night of the act. none: it was stopped.
base::Result<std::optional<hypotheses::NightId>> live(Daemon& daemon, const Context& context,
                                                      const DemoArguments& arguments,
                                                      const Act& act, std::stop_token stop) {
  const State& state = daemon.shell().state();
  const CampaignRecord* before = find_campaign(state, act);
  std::size_t nights_before = before == nullptr ? 0 : before->nights.size();
  if (before != nullptr && before->running) --nights_before;
  NS_TRY(begin(daemon, context, arguments, act));
  NS_TRY(
      daemon.run(stop, [&](const State& now) { return night_is_over(now, act, nights_before); }));
  if (stop.stop_requested()) return std::nullopt;
  const CampaignRecord& record = *find_campaign(state, act);
  if (record.nights.size() <= nights_before) {
    return tl::unexpected<base::Error>(why_no_night(context.state));
  }
  return record.nights.back();
}

void tell(const Context& context, Daemon& daemon, const NightRecord& night) {
  if (auto reader = open_reader(context.state)) {
    auto report = web::report_view(*reader, night.night.id);
    if (report) std::cout << "\n" << web::report_text(*report) << std::endl;
  }
  tell_what_next(daemon.shell().state(), night, daemon.url());
}

}  // namespace

Exit demo_command(const Context& context, const DemoArguments& arguments) {
  SignalStop signals;
  if (arguments.fresh) {
    if (auto removed = base::remove_tree(context.state); !removed) {
      return complain(context, removed.error());
    }
  }
  DaemonOptions options;
  options.state = context.state;
  options.port = arguments.port;
  options.serve = !arguments.exit_at_end;
  std::unique_ptr<Progress> progress;
  options.on_commit = [&](std::int64_t, const State&) {
    if (progress) progress->update();
  };
  auto daemon = Daemon::start(std::move(options), context.clock);
  if (!daemon) return complain(context, daemon.error());
  Shell& shell = (*daemon)->shell();
  if (!context.json) {
    progress = std::make_unique<Progress>(context.state, shell.store().last_seq(), std::cout,
                                          ::isatty(STDOUT_FILENO) != 0);
    std::cout << "state in " << fs::absolute(context.state).string() << std::endl;
    if (!(*daemon)->url().empty()) std::cout << "UI at " << (*daemon)->url() << std::endl;
  }
  json summaries;  // the first act's; those of further acts are in it, by name
  for (const Act& act : acts_of(arguments)) {
    auto lived = live(**daemon, context, arguments, act, signals.token());
    if (!lived) return complain(context, lived.error());
    if (!*lived) return Exit::failed;
    const NightRecord& night = shell.state().nights.at(**lived);
    if (!context.json) {
      tell(context, **daemon, night);
      continue;
    }
    json one = summary(shell.state(), night, fs::absolute(context.state));
    if (summaries.is_null()) {
      summaries = std::move(one);
    } else {
      summaries[act.campaign] = std::move(one);
    }
  }
  if (context.json) std::cout << hypotheses::dump(summaries) << std::endl;
  if (arguments.exit_at_end) return Exit::ok;
  if (!context.json) std::cout << "serving until Ctrl-C" << std::endl;
  if (auto status = (*daemon)->run(signals.token()); !status) {
    return complain(context, status.error());
  }
  return Exit::ok;
}

}  // namespace orchestrator
