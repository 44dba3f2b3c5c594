// Commands that change something, and those that show what is recorded.
#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "hypotheses/json.h"
#include "orchestrator/cli.h"
#include "orchestrator/connection.h"
#include "orchestrator/daemon.h"
#include "policies/policy.h"
#include "policies/schedule.h"
#include "web/api/views.h"

namespace orchestrator {

using base::ErrorCode;
using nlohmann::json;

namespace {

void print(const json& value) {
  std::cout << value.dump(2, ' ', false, json::error_handler_t::replace) << std::endl;
}

Exit tell(const Context& context, const base::Result<web::Reply>& reply) {
  if (!reply) return complain(context, reply.error());
  if (context.json) {
    print({{"id", reply->id}, {"text", reply->text}});
  } else {
    std::cout << reply->text << std::endl;
  }
  return Exit::ok;
}

std::string user_name() {
  const passwd* user = ::getpwuid(::getuid());
  return user != nullptr ? user->pw_name : std::to_string(::getuid());
}

template <class Id>
base::Result<Id> parse_id(const std::string& text) {
  auto id = Id::parse(text);
  if (!id) {
    return base::fail(ErrorCode::bad_input,
                      "'" + text + "' is no id; expected one like " + Id{1}.text());
  }
  return *id;
}

// What a view function returns, printed as JSON or by `print_text`.
template <class Print>
Exit show(const Context& context, const base::Result<json>& view, Print print_text) {
  if (!view) return complain(context, view.error());
  if (context.json) {
    print(*view);
  } else {
    print_text(*view);
  }
  return Exit::ok;
}

std::string text_of(const json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void print_hypotheses(const json& list) {
  const json& items = list.at("items");
  if (items.empty()) std::cout << "no hypotheses" << std::endl;
  for (const json& row : items) {
    std::string verdict = text_of(row, "verdict");
    if (verdict.empty()) verdict = text_of(row, "state");
    std::string effect = row.contains("evidence") && row["evidence"].is_object()
                             ? text_of(row["evidence"], "effect_text")
                             : text_of(row, "effect_text");
    std::cout << fmt::format("{:<6} {:<14} {}{}\n       {}", text_of(row, "id"), verdict,
                             text_of(row, "claim"), effect.empty() ? "" : "  [" + effect + "]",
                             text_of(row, "reason"))
              << std::endl;
  }
}

base::Result<json> everything(const store::Reader& reader) {
  return web::hypotheses_view(reader, {}, {{}, 500});
}

}  // namespace

Exit campaign_create(const Context& context, const CampaignArguments& arguments) {
  web::CreateCampaign command;
  auto& campaign = command.campaign;
  std::error_code no_path;
  auto absolute = std::filesystem::canonical(arguments.target, no_path);
  campaign.name = arguments.name.empty()
                      ? std::filesystem::path(arguments.target).filename().string()
                      : arguments.name;
  if (campaign.name.empty()) campaign.name = "campaign";
  campaign.target = no_path ? arguments.target : absolute.string();
  campaign.base = arguments.base;
  campaign.schedule = arguments.schedule;
  campaign.time_zone = arguments.time_zone;
  campaign.planner = arguments.planner;
  campaign.seed = arguments.seed;
  command.start_now = arguments.start;
  if (!arguments.goal.empty()) {
    auto goal = hypotheses::parse_prediction(arguments.goal + " -1%");
    if (!goal) {
      return complain(
          context,
          {ErrorCode::bad_input,
           "--goal: expected a metric such as kda_decode.time{batch=1}, found " + arguments.goal,
           ""});
    }
    campaign.goal = goal->key;
  }
  if (!arguments.policy_file.empty()) {
    auto policy = base::read_file(arguments.policy_file, 1 << 20);
    if (!policy) return complain(context, policy.error());
    auto parsed = policies::read_policy(*policy, arguments.policy_file);
    if (!parsed) return complain(context, parsed.error());
    campaign.policy = *policy;
  }
  return tell(context, give_command(context.state, command, context.clock));
}

namespace {

// "C-1  active  nightly  30 22 * * *, next 2026-12-01T21:30:00.000Z; N-4 running"
std::string campaign_line(const json& row, base::Instant now) {
  std::string line = fmt::format("{:<5} {:<10} {}", text_of(row, "id"), text_of(row, "state"),
                                 text_of(row, "name"));
  auto schedule = policies::Schedule::parse(text_of(row, "schedule"), text_of(row, "time_zone"));
  if (!schedule) {
    line += "  when asked";
  } else {
    line += "  " + text_of(row, "schedule");
    if (text_of(row, "state") == "active") {
      line += ", next " + base::to_text(schedule->next_after(now));
    }
  }
  if (row.contains("night")) {
    const json& night = row.at("night");
    line += fmt::format("; {} {}", text_of(night, "id"), text_of(night, "state"));
  }
  return line;
}

}  // namespace

Exit campaign_list(const Context& context) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  base::Instant now = context.clock.now();
  return show(context, web::campaigns_view(*reader), [&](const json& list) {
    for (const json& row : list.at("items")) std::cout << campaign_line(row, now) << std::endl;
    if (list.at("items").empty()) std::cout << "no campaigns" << std::endl;
  });
}

Exit campaign_set(const Context& context, const std::string& id, const std::string& verb,
                  const std::string& reason) {
  auto campaign = parse_id<hypotheses::CampaignId>(id);
  if (!campaign) return complain(context, campaign.error());
  if (verb == "start") {
    return tell(context, give_command(context.state, web::StartNight{*campaign}, context.clock));
  }
  auto state = verb == "pause"    ? hypotheses::CampaignState::paused
               : verb == "resume" ? hypotheses::CampaignState::active
                                  : hypotheses::CampaignState::cancelled;
  web::SetCampaignState command{*campaign, state, reason.empty() ? "by " + user_name() : reason};
  return tell(context, give_command(context.state, command, context.clock));
}

namespace {

base::Result<hypotheses::CampaignId> campaign_named(const Context& context,
                                                    const std::string& text) {
  if (!text.empty()) return parse_id<hypotheses::CampaignId>(text);
  NS_ASSIGN(reader, open_reader(context.state));
  NS_ASSIGN(all, reader.campaigns());
  if (all.size() == 1) return all.front().id;
  return base::fail(ErrorCode::bad_input,
                    fmt::format("there are {} campaigns; say which with --campaign", all.size()));
}

base::Result<web::Propose> proposal_of(const Context& context, const ProposeArguments& arguments) {
  web::Propose command;
  NS_ASSIGN(campaign, campaign_named(context, arguments.campaign));
  command.campaign = campaign;
  command.claim = arguments.claim;
  command.branch = arguments.branch;
  auto prediction = hypotheses::parse_prediction(arguments.predicts);
  if (!prediction) {
    return base::fail(
        ErrorCode::bad_input,
        "expected a metric and a size such as 'kda_decode.time{batch=1} -10%', found " +
            arguments.predicts,
        "--predicts");
  }
  command.prediction = *prediction;
  for (const std::string& knob : arguments.knobs) {
    auto equals = knob.find('=');
    if (equals == std::string::npos) {
      return base::fail(ErrorCode::bad_input, "expected name=value, found " + knob, "--knob");
    }
    command.change.knobs.push_back({knob.substr(0, equals), knob.substr(equals + 1)});
  }
  if (!arguments.edits_file.empty()) {
    NS_ASSIGN(text, base::read_file(arguments.edits_file, 1 << 20));
    json wrapped = {{"edits", json::parse(text, nullptr, false)}};
    if (!wrapped["edits"].is_array()) {
      return base::fail(ErrorCode::bad_input, "expected a JSON list of {path, search, replace}",
                        arguments.edits_file);
    }
    NS_ASSIGN(change, hypotheses::change_from_json(wrapped));
    command.change.edits = change.edits;
  }
  return command;
}

}  // namespace

Exit propose_command(const Context& context, const ProposeArguments& arguments) {
  auto command = proposal_of(context, arguments);
  if (!command) return complain(context, command.error());
  return tell(context, give_command(context.state, *command, context.clock));
}

Exit approve_command(const Context& context, const std::string& merge, const std::string& commit) {
  auto id = parse_id<hypotheses::MergeRequestId>(merge);
  if (!id) return complain(context, id.error());
  return tell(context,
              give_command(context.state, web::Approve{*id, {commit}, user_name()}, context.clock));
}

Exit reject_command(const Context& context, const std::string& merge, const std::string& reason) {
  auto id = parse_id<hypotheses::MergeRequestId>(merge);
  if (!id) return complain(context, id.error());
  return tell(context,
              give_command(context.state, web::Reject{*id, user_name(), reason}, context.clock));
}

Exit queue_command(const Context& context) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  auto all = everything(*reader);
  if (all) {
    json open = json::array();
    for (const json& row : all->at("items")) {
      std::string state = text_of(row, "state");
      if (state != "decided" && state != "cancelled") open.push_back(row);
    }
    (*all)["items"] = open;
  }
  return show(context, all, print_hypotheses);
}

Exit show_command(const Context& context, const std::string& id) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  auto as_json = [](const json& view) { print(view); };
  if (id.empty()) return show(context, everything(*reader), print_hypotheses);
  if (auto hypothesis = hypotheses::HypothesisId::parse(id); hypothesis && id[0] == 'H') {
    return show(context, web::hypothesis_view(*reader, *hypothesis), as_json);
  }
  if (auto experiment = hypotheses::ExperimentId::parse(id); experiment && id[0] == 'E') {
    return show(context, web::experiment_view(*reader, *experiment), as_json);
  }
  if (auto merge = hypotheses::MergeRequestId::parse(id); merge && id[0] == 'M') {
    return show(context, web::merge_view(*reader, *merge), as_json);
  }
  if (auto campaign = hypotheses::CampaignId::parse(id); campaign && id[0] == 'C') {
    return show(context, web::campaign_view(*reader, *campaign), as_json);
  }
  if (id[0] == 'N') return report_command(context, id);
  return complain(context, {ErrorCode::bad_input,
                            "'" + id + "' is no id; expected C-1, N-1, H-7, E-12 or M-1", ""});
}

Exit explain_command(const Context& context, const std::string& id) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  auto as_text = [](const json& view) { std::cout << web::explain_text(view) << std::endl; };
  if (auto experiment = hypotheses::ExperimentId::parse(id); experiment && id[0] == 'E') {
    return show(context, web::explain_view(*reader, *experiment), as_text);
  }
  auto hypothesis = parse_id<hypotheses::HypothesisId>(id);
  if (!hypothesis) return complain(context, hypothesis.error());
  auto view = web::explain_view(*reader, *hypothesis);
  auto known = reader->hypothesis(*hypothesis);
  if (view && known && *known && (*known)->state == hypotheses::HypothesisState::queued) {
    auto why = give_command(context.state, web::AskWhy{*hypothesis}, context.clock);
    web::add_waiting(*view, why ? why->text : why.error().text());
  }
  return show(context, view, as_text);
}

namespace {

base::Result<hypotheses::NightId> newest_night(const store::Reader& reader) {
  NS_ASSIGN(campaigns, reader.campaigns());
  hypotheses::NightId newest;
  for (const auto& campaign : campaigns) {
    NS_ASSIGN(nights, reader.nights(campaign.id, {{}, 1}));
    if (!nights.empty()) newest = std::max(newest, nights.front().id);
  }
  if (!newest) return base::fail(ErrorCode::not_found, "no night has been run yet");
  return newest;
}

}  // namespace

Exit report_command(const Context& context, const std::string& night) {
  auto reader = open_reader(context.state);
  if (!reader) return complain(context, reader.error());
  auto id = night.empty() ? newest_night(*reader) : parse_id<hypotheses::NightId>(night);
  if (!id) return complain(context, id.error());
  return show(context, web::report_view(*reader, *id),
              [](const json& view) { std::cout << web::report_text(view) << std::endl; });
}

}  // namespace orchestrator
