#include "web/api/commands.h"

#include <algorithm>

#include "web/api/json_body.h"

namespace web {

using hypotheses::CampaignId;
using nlohmann::json;

namespace {

using Mistakes = std::vector<std::string>;

// "kda_decode.time{batch=1}", or {"metric": ..., "conditions": {...}}.
hypotheses::MetricKey metric_key(JsonBody& body, std::string_view name, Mistakes& mistakes) {
  hypotheses::MetricKey key;
  const json* value = body.any(name);
  if (value == nullptr) return key;
  if (value->is_string()) {
    // The text form is that of a prediction without its size.
    const auto parsed = hypotheses::parse_prediction(value->get<std::string>() + " -1%");
    if (parsed) key = parsed->key;
    if (!parsed) body.mistake(name, "expected a metric such as kda_decode.time{batch=1}");
  } else {
    JsonBody object(*value, body.name_of(name), mistakes);
    key.metric = object.text("metric", true);
    if (const json* conditions = object.object("conditions")) {
      for (const auto& [condition, held] : conditions->items()) {
        if (held.is_string()) key.conditions[condition] = held.get<std::string>();
        if (!held.is_string()) object.mistake("conditions." + condition, "expected text");
      }
    }
  }
  return key;
}

hypotheses::Change change_of(const json& value, Mistakes& mistakes) {
  hypotheses::Change change;
  JsonBody body(value, "change", mistakes);
  if (const json* knobs = body.list("knobs")) {
    for (std::size_t i = 0; i < knobs->size(); ++i) {
      JsonBody knob((*knobs)[i], "change.knobs[" + std::to_string(i) + "]", mistakes);
      change.knobs.push_back({knob.text("knob", true), knob.text("value", true)});
    }
  }
  if (const json* edits = body.list("edits")) {
    for (std::size_t i = 0; i < edits->size(); ++i) {
      JsonBody edit((*edits)[i], "change.edits[" + std::to_string(i) + "]", mistakes);
      change.edits.push_back(
          {edit.text("path", true), edit.text("search", true), edit.text("replace")});
    }
  }
  return change;
}

template <class Id>
Id id_of(JsonBody& body, std::string_view key, Mistakes& mistakes) {
  const std::size_t before = mistakes.size();
  const std::string text = body.text(key, true);
  const auto id = Id::parse(text);
  if (!id && mistakes.size() == before) {
    body.mistake(key, "expected an id such as " + Id{1}.text());
  }
  return id.value_or(Id{});
}

// Parses the body, lets `read` take it apart, and reports what it found wrong.
template <class T, class Read>
base::Result<T> strictly(const std::string& text, Read read) {
  NS_ASSIGN(parsed, parse_object(text));
  Mistakes mistakes;
  T command;
  {
    JsonBody body(parsed, "", mistakes);
    read(body, command, mistakes);
  }
  NS_TRY(all_of(mistakes));
  return command;
}

}  // namespace

base::Status check_commit(const std::string& text) {
  const bool hex = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (text.empty() || (hex && text.size() >= 40 && text.size() <= 64)) return {};
  return base::fail(base::ErrorCode::bad_input,
                    "commit: expected the full 40 digits in lower case, or nothing for the one "
                    "that waits now");
}

base::Result<CreateCampaign> create_campaign(const std::string& text) {
  return strictly<CreateCampaign>(text, [](JsonBody& body, CreateCampaign& command, Mistakes& all) {
    hypotheses::Campaign& campaign = command.campaign;
    campaign.name = body.text("name", true);
    campaign.target = body.text("target", true);
    campaign.base = body.text("base");
    campaign.goal = metric_key(body, "goal", all);
    campaign.schedule = body.text("schedule");
    campaign.time_zone = body.text("time_zone");
    campaign.policy = body.text("policy");
    campaign.planner = body.text("planner");
    if (campaign.planner.empty()) campaign.planner = "builtin";
    if (campaign.time_zone.empty()) campaign.time_zone = "UTC";
    campaign.seed = body.whole("seed").value_or(1);
    command.start_now = body.boolean("start_now");
    if (campaign.planner != "builtin" && campaign.planner != "llm") {
      body.mistake("planner", "expected builtin or llm");
    }
  });
}

base::Result<SetCampaignState> set_campaign_state(CampaignId id, hypotheses::CampaignState state,
                                                  const std::string& text) {
  return strictly<SetCampaignState>(text,
                                    [&](JsonBody& body, SetCampaignState& command, Mistakes&) {
                                      command = {id, state, body.text("reason")};
                                    });
}

base::Result<StartNight> start_night(CampaignId id, const std::string& text) {
  return strictly<StartNight>(
      text, [&](JsonBody&, StartNight& command, Mistakes&) { command.campaign = id; });
}

base::Result<Propose> propose(const std::string& text) {
  return strictly<Propose>(text, [](JsonBody& body, Propose& command, Mistakes& all) {
    command.campaign = id_of<CampaignId>(body, "campaign", all);
    command.claim = body.text("claim", true);
    const std::string prediction = body.text("prediction", true);
    const auto parsed = hypotheses::parse_prediction(prediction);
    if (parsed) command.prediction = *parsed;
    if (!parsed && !prediction.empty()) {
      body.mistake("prediction",
                   "expected a metric and a size such as kda_decode.time{batch=1} -40%");
    }
    const json* change = body.object("change");
    if (change != nullptr) command.change = change_of(*change, all);
    command.branch = body.text("branch");
    if (change != nullptr && !command.branch.empty()) {
      body.mistake("branch", "give a change or a branch, not both");
    }
  });
}

base::Result<Approve> approve(hypotheses::MergeRequestId id, const std::string& text) {
  NS_ASSIGN(command, strictly<Approve>(text, [&](JsonBody& body, Approve& approval, Mistakes&) {
              approval = {id, {body.text("commit")}, body.text("who")};
            }));
  NS_TRY(check_commit(command.commit.hex));
  return command;
}

base::Result<Reject> reject(hypotheses::MergeRequestId id, const std::string& text) {
  return strictly<Reject>(text, [&](JsonBody& body, Reject& command, Mistakes&) {
    command = {id, body.text("who"), body.text("reason", true)};
  });
}

}  // namespace web
