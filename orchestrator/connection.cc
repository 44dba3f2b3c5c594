#include "orchestrator/connection.h"

#include <httplib.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hypotheses/json.h"
#include "orchestrator/daemon.h"

namespace orchestrator {

using base::ErrorCode;
using nlohmann::json;

namespace {

struct Request {
  std::string path;
  json body = json::object();
  bool reads = false;  // GET, without a body
};

std::string metric_text(const hypotheses::MetricKey& key) { return to_text(key); }

Request request_of(const web::CreateCampaign& command) {
  const auto& campaign = command.campaign;
  json body = {{"name", campaign.name},           {"target", campaign.target},
               {"base", campaign.base},           {"schedule", campaign.schedule},
               {"time_zone", campaign.time_zone}, {"policy", campaign.policy},
               {"planner", campaign.planner},     {"seed", campaign.seed},
               {"start_now", command.start_now}};
  if (!campaign.goal.metric.empty()) body["goal"] = metric_text(campaign.goal);
  return {"/api/v1/campaigns", body};
}
Request request_of(const web::SetCampaignState& command) {
  std::string verb = command.state == hypotheses::CampaignState::paused   ? "pause"
                     : command.state == hypotheses::CampaignState::active ? "resume"
                                                                          : "cancel";
  return {"/api/v1/campaigns/" + command.campaign.text() + "/" + verb,
          {{"reason", command.reason}}};
}
Request request_of(const web::StartNight& command) {
  return {"/api/v1/campaigns/" + command.campaign.text() + "/start"};
}
Request request_of(const web::Propose& command) {
  json body = {{"campaign", command.campaign.text()},
               {"claim", command.claim},
               {"prediction", to_text(command.prediction)}};
  if (!command.branch.empty()) {
    body["branch"] = command.branch;
    return {"/api/v1/hypotheses", body};
  }
  json knobs = json::array(), edits = json::array();
  for (const auto& setting : command.change.knobs) {
    knobs.push_back({{"knob", setting.knob}, {"value", setting.value}});
  }
  for (const auto& edit : command.change.edits) {
    edits.push_back({{"path", edit.path}, {"search", edit.search}, {"replace", edit.replace}});
  }
  body["change"] = {{"knobs", knobs}, {"edits", edits}};
  return {"/api/v1/hypotheses", body};
}
Request request_of(const web::AskWhy& command) {
  return {"/api/v1/hypotheses/" + command.hypothesis.text() + "/why", {}, true};
}
Request request_of(const web::Approve& command) {
  return {"/api/v1/merges/" + command.merge.text() + "/approve",
          {{"commit", command.commit.hex}, {"who", command.who}}};
}
Request request_of(const web::Reject& command) {
  return {"/api/v1/merges/" + command.merge.text() + "/reject",
          {{"who", command.who}, {"reason", command.reason}}};
}

ErrorCode code_of(int status) {
  switch (status) {
    case 400:
    case 413:
      return ErrorCode::bad_input;
    case 401:
    case 403:
      return ErrorCode::refused;
    case 404:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::conflict;
    default:
      return ErrorCode::unavailable;
  }
}

base::Result<web::Reply> ask_daemon(const DaemonAddress& daemon, const web::Command& command) {
  Request request = std::visit([](const auto& c) { return request_of(c); }, command);
  httplib::Client client(daemon.url);
  client.set_connection_timeout(5);
  client.set_read_timeout(60);
  client.set_bearer_token_auth(daemon.token);
  auto response =
      request.reads ? client.Get(request.path)
                    : client.Post(request.path, hypotheses::dump(request.body), "application/json");
  if (!response) {
    return base::fail(ErrorCode::unavailable,
                      "the daemon does not answer (" + httplib::to_string(response.error()) +
                          "); look at its log, or end process " + std::to_string(daemon.pid),
                      daemon.url);
  }
  json body = json::parse(response->body, nullptr, false);
  if (response->status < 300 && body.is_object()) {
    return web::Reply{body.value("id", ""), body.value("text", "")};
  }
  std::string message = "the daemon answered with status " + std::to_string(response->status);
  if (body.is_object() && body.contains("error") && body["error"].is_object()) {
    message = body["error"].value("message", message);
  }
  return base::fail(code_of(response->status), message);
}

bool landing(const State& state) {
  return std::any_of(state.pending.begin(), state.pending.end(), [](const auto& entry) {
    return std::holds_alternative<LandMerge>(entry.second.kind);
  });
}

base::Result<web::Reply> act_alone(const std::filesystem::path& folder, const web::Command& command,
                                   const base::Clock& clock) {
  DaemonOptions options;
  options.state = folder;
  options.serve = false;
  options.run_nights = false;
  NS_ASSIGN(daemon, Daemon::start(std::move(options), clock));
  NS_ASSIGN(reply, daemon->shell().execute(command));
  bool starts = std::holds_alternative<web::StartNight>(command);
  if (const auto* create = std::get_if<web::CreateCampaign>(&command)) starts = create->start_now;
  if (starts) reply.text += " as soon as the daemon runs (`nightshift daemon`)";
  if (landing(daemon->shell().state())) {
    std::stop_source never;
    NS_TRY(daemon->run(never.get_token(), [](const State& state) { return !landing(state); }));
  }
  return reply;
}

// What became of an approved merge; waits for the landing, which takes well under a second.
base::Result<web::Reply> landed(const std::filesystem::path& folder, hypotheses::MergeRequestId id,
                                web::Reply reply, const base::Clock& clock) {
  NS_ASSIGN(reader, open_reader(folder));
  double deadline = clock.monotonic_s() + 30;
  std::mutex mutex;
  std::condition_variable never;
  for (;;) {
    NS_ASSIGN(merge, reader.merge(id));
    if (merge && merge->state == hypotheses::MergeState::landed) {
      reply.text = id.text() + " landed as " + merge->merged.hex + " on " + merge->landed_ref +
                   (merge->reason.empty() ? "" : "\n" + merge->reason);
      return reply;
    }
    if (merge && merge->state != hypotheses::MergeState::approved) {
      return base::fail(ErrorCode::conflict, id.text() + " did not land, it is " +
                                                 std::string(to_text(merge->state)) + ": " +
                                                 merge->reason);
    }
    if (clock.monotonic_s() > deadline) {
      reply.text += "; it has not landed yet, `nightshift show " + id.text() + "` will say";
      return reply;
    }
    std::unique_lock lock(mutex);
    never.wait_for(lock, std::chrono::milliseconds(20));
  }
}

}  // namespace

base::Result<store::Reader> open_reader(const std::filesystem::path& state) {
  if (!std::filesystem::exists(state / "nightshift.db")) {
    return base::fail(ErrorCode::not_found,
                      "nothing was recorded here yet; `nightshift demo` or `nightshift campaign "
                      "create` begins, --state names another folder",
                      state.string());
  }
  return store::Reader::open(state);
}

base::Result<web::Reply> give_command(const std::filesystem::path& state,
                                      const web::Command& command, const base::Clock& clock) {
  auto daemon = find_daemon(state);
  auto reply = daemon ? ask_daemon(*daemon, command) : act_alone(state, command, clock);
  const auto* approve = std::get_if<web::Approve>(&command);
  if (!reply || approve == nullptr) return reply;
  return landed(state, approve->merge, std::move(*reply), clock);
}

}  // namespace orchestrator
