// /api/v1, /healthz and /metrics. openapi.yaml describes these routes; a test compares the two.
#include <fmt/format.h>

#include "hypotheses/json.h"
#include "web/api/commands.h"
#include "web/api/logs.h"
#include "web/api/pages.h"
#include "web/api/query.h"
#include "web/api/site.h"
#include "web/api/views.h"
#include "web/ui/assets.h"

namespace web {

using base::Result;
using namespace hypotheses;  // NOLINT: ids of all kinds

namespace {

Response as_response(const Result<Json>& view) {
  if (!view) return error_response(view.error());
  return json_response(hypotheses::dump(*view) + "\n");
}

// A view of one thing, by the path's id.
template <class Id, class View>
Response one(Site& site, const Call& call, View view) {
  return as_response([&]() -> Result<Json> {
    NS_ASSIGN(id, path_id<Id>(call));
    NS_TRY(Query(call.request.query).finish());
    NS_ASSIGN(reader, site.readers.take());
    return view(*reader, id);
  }());
}

Response list_campaigns(Site& site, const Call& call) {
  return as_response([&]() -> Result<Json> {
    NS_TRY(Query(call.request.query).finish());
    NS_ASSIGN(reader, site.readers.take());
    return campaigns_view(*reader);
  }());
}

Response list_nights(Site& site, const Call& call) {
  return as_response([&]() -> Result<Json> {
    Query query(call.request.query);
    const auto campaign = query.id<CampaignId>("campaign");
    const auto page = query.page<NightId>();
    NS_TRY(query.finish());
    NS_ASSIGN(reader, site.readers.take());
    return nights_view(*reader, campaign, page);
  }());
}

Response list_hypotheses(Site& site, const Call& call) {
  return as_response([&]() -> Result<Json> {
    Query query(call.request.query);
    store::HypothesisFilter filter{.campaign = query.id<CampaignId>("campaign"),
                                   .night = query.id<NightId>("night"),
                                   .verdict = query.verdict(),
                                   .text = query.text("q")};
    const auto page = query.page<HypothesisId>();
    NS_TRY(query.finish());
    NS_ASSIGN(reader, site.readers.take());
    return hypotheses_view(*reader, filter, page);
  }());
}

Response list_merges(Site& site, const Call& call) {
  return as_response([&]() -> Result<Json> {
    Query query(call.request.query);
    const auto page = query.page<MergeRequestId>();
    NS_TRY(query.finish());
    NS_ASSIGN(reader, site.readers.take());
    return merges_view(*reader, page);
  }());
}

Response get_campaign(Site& site, const Call& call) {
  return one<CampaignId>(site, call, campaign_view);
}
Response get_report(Site& site, const Call& call) { return one<NightId>(site, call, report_view); }
Response get_hypothesis(Site& site, const Call& call) {
  return one<HypothesisId>(site, call, hypothesis_view);
}
Response get_experiment(Site& site, const Call& call) {
  return one<ExperimentId>(site, call, experiment_view);
}
Response get_merge(Site& site, const Call& call) {
  return one<MergeRequestId>(site, call, merge_view);
}
Response explain_hypothesis(Site& site, const Call& call) {
  return one<HypothesisId>(
      site, call, [&](const store::Reader& reader, HypothesisId id) -> Result<Json> {
        NS_ASSIGN(explanation, explain_view(reader, id));
        NS_ASSIGN(hypothesis, reader.hypothesis(id));
        if (hypothesis && hypothesis->state == hypotheses::HypothesisState::queued) {
          NS_ASSIGN(reply, submit(site, AskWhy{id}));
          add_waiting(explanation, reply.text);
        }
        return explanation;
      });
}
Response get_why(Site& site, const Call& call) {
  return one<HypothesisId>(site, call, [&](const store::Reader&, HypothesisId id) -> Result<Json> {
    NS_ASSIGN(reply, submit(site, AskWhy{id}));
    return Json{{"id", reply.id}, {"text", reply.text}};
  });
}
Response explain_experiment_route(Site& site, const Call& call) {
  return one<ExperimentId>(site, call, [](const store::Reader& reader, ExperimentId id) {
    return explain_view(reader, id);
  });
}

base::Result<Run> run_of(const store::Reader& reader, ExperimentId experiment,
                         const std::string& id) {
  const auto wanted = RunId::parse(id);
  NS_ASSIGN(runs, reader.runs(experiment));
  for (const Run& run : runs) {
    if (wanted && run.id == *wanted) return run;
  }
  return base::fail(base::ErrorCode::not_found,
                    fmt::format("{} has no run \"{}\"", experiment.text(), id));
}

Response get_artifact(Site& site, const Call& call) {
  auto text = [&]() -> Result<Response> {
    NS_ASSIGN(id, path_id<ExperimentId>(call));
    NS_ASSIGN(reader, site.readers.take());
    NS_ASSIGN(run, run_of(*reader, id, call.parts[1]));
    if (!site.artifacts)
      return base::fail(base::ErrorCode::not_found, "no artifacts are kept here");
    return log_text(*site.artifacts, run, call.parts[2]);
  }();
  return text ? std::move(*text) : error_response(text.error());
}

// Sends a command, given as a Result of its parsing, and tells the outcome.
template <class T>
Response send_command(Site& site, Result<T> command, int done = 200) {
  if (!command) return error_response(command.error());
  auto reply = submit(site, Command(std::move(*command)));
  if (!reply) return error_response(reply.error());
  const Json body = {{"id", reply->id}, {"text", reply->text}};
  return json_response(hypotheses::dump(body) + "\n", done);
}

// Who asked, for the record, where the body does not say.
std::string name_or(const std::string& given, const Caller& caller) {
  if (!given.empty()) return given;
  return caller.name.empty() ? "api" : caller.name;
}

Response post_campaign(Site& site, const Call& call) {
  return send_command(site, create_campaign(call.request.body), 201);
}
Response post_hypothesis(Site& site, const Call& call) {
  return send_command(site, propose(call.request.body), 201);
}

template <CampaignState kState>
Response post_state(Site& site, const Call& call) {
  return send_command(site, [&]() -> Result<SetCampaignState> {
    NS_ASSIGN(id, path_id<CampaignId>(call));
    return set_campaign_state(id, kState, call.request.body);
  }());
}

Response post_start(Site& site, const Call& call) {
  return send_command(site, [&]() -> Result<StartNight> {
    NS_ASSIGN(id, path_id<CampaignId>(call));
    return start_night(id, call.request.body);
  }());
}

Response post_approve(Site& site, const Call& call) {
  return send_command(site, [&]() -> Result<Approve> {
    NS_ASSIGN(id, path_id<MergeRequestId>(call));
    NS_ASSIGN(command, approve(id, call.request.body));
    command.who = name_or(command.who, call.caller);
    return command;
  }());
}

Response post_reject(Site& site, const Call& call) {
  return send_command(site, [&]() -> Result<Reject> {
    NS_ASSIGN(id, path_id<MergeRequestId>(call));
    NS_ASSIGN(command, reject(id, call.request.body));
    command.who = name_or(command.who, call.caller);
    return command;
  }());
}

Response get_events(Site& site, const Call& call) { return site.feed.open(call.request); }

Response get_openapi(Site&, const Call&) {
  Response response;
  response.type = "application/yaml";
  response.body = ui::openapi_yaml();
  return response;
}

Response get_health(Site& site, const Call&) {
  const std::string stuck = site.options.stuck ? site.options.stuck() : "";
  const std::string warning = site.options.warning ? site.options.warning() : "";
  auto reader = site.readers.take();
  const auto overview =
      reader ? (*reader)->overview() : tl::unexpected<base::Error>(reader.error());
  const bool ok = stuck.empty() && overview.has_value();
  const Json body = {{"ok", ok},
                     {"loop", stuck.empty() ? "running" : stuck},
                     {"store", overview ? "readable" : overview.error().text()},
                     {"warning", warning.empty() ? Json() : Json(warning)},
                     {"version", site.options.version},
                     {"events", overview ? Json(overview->events) : Json()},
                     {"viewers", site.feed.viewers()}};
  return json_response(hypotheses::dump(body) + "\n", ok ? 200 : 503);
}

// Prometheus text exposition, version 0.0.4.
Response get_metrics(Site& site, const Call&) {
  auto reader = site.readers.take();
  if (!reader) return error_response(reader.error());
  auto overview = (*reader)->overview();
  if (!overview) return error_response(overview.error());
  std::string text;
  const auto add = [&](std::string_view name, std::string_view type, std::string_view help,
                       std::int64_t value) {
    text +=
        fmt::format("# HELP nightshift_{0} {1}\n# TYPE nightshift_{0} {2}\nnightshift_{0} {3}\n",
                    name, help, type, value);
  };
  add("campaigns", "gauge", "Campaigns recorded.", overview->campaigns);
  add("nights", "gauge", "Nights recorded.", overview->nights);
  add("hypotheses", "gauge", "Hypotheses recorded.", overview->hypotheses);
  add("experiments", "gauge", "Experiments recorded.", overview->experiments);
  add("runs", "gauge", "Runs recorded.", overview->runs);
  add("events_total", "counter", "Events in the log.", overview->events);
  add("event_viewers", "gauge", "Live event streams.", site.feed.viewers());
  add("event_viewers_limit", "gauge", "Live event streams that may be open.",
      site.feed.max_viewers());
  add("commands_total", "counter", "Commands passed to the decision loop.", site.counters.commands);
  add("loop_stuck", "gauge", "1 while the decision loop makes no steps.",
      site.options.stuck && !site.options.stuck().empty() ? 1 : 0);
  text +=
      "# HELP nightshift_http_requests_total Requests answered, by class of status.\n"
      "# TYPE nightshift_http_requests_total counter\n";
  for (std::size_t digit = 2; digit < site.counters.answers.size(); ++digit) {
    text += fmt::format("nightshift_http_requests_total{{status=\"{}xx\"}} {}\n", digit,
                        site.counters.answers[digit].load());
  }
  Response response;
  response.type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = std::move(text);
  return response;
}

constexpr Route kApiRoutes[] = {
    {"GET", "/api/v1/campaigns", Guard::read, list_campaigns},
    {"POST", "/api/v1/campaigns", Guard::write, post_campaign},
    {"GET", "/api/v1/campaigns/{id}", Guard::read, get_campaign},
    {"POST", "/api/v1/campaigns/{id}/start", Guard::write, post_start},
    {"POST", "/api/v1/campaigns/{id}/pause", Guard::write, post_state<CampaignState::paused>},
    {"POST", "/api/v1/campaigns/{id}/resume", Guard::write, post_state<CampaignState::active>},
    {"POST", "/api/v1/campaigns/{id}/cancel", Guard::write, post_state<CampaignState::cancelled>},
    {"GET", "/api/v1/nights", Guard::read, list_nights},
    {"GET", "/api/v1/nights/{id}/report", Guard::read, get_report},
    {"GET", "/api/v1/hypotheses", Guard::read, list_hypotheses},
    {"POST", "/api/v1/hypotheses", Guard::write, post_hypothesis},
    {"GET", "/api/v1/hypotheses/{id}", Guard::read, get_hypothesis},
    {"GET", "/api/v1/hypotheses/{id}/explain", Guard::read, explain_hypothesis},
    {"GET", "/api/v1/hypotheses/{id}/why", Guard::read, get_why},
    {"GET", "/api/v1/experiments/{id}", Guard::read, get_experiment},
    {"GET", "/api/v1/experiments/{id}/explain", Guard::read, explain_experiment_route},
    {"GET", "/api/v1/experiments/{id}/artifacts/{run}/{name}", Guard::read, get_artifact},
    {"GET", "/api/v1/merges", Guard::read, list_merges},
    {"GET", "/api/v1/merges/{id}", Guard::read, get_merge},
    {"POST", "/api/v1/merges/{id}/approve", Guard::write, post_approve},
    {"POST", "/api/v1/merges/{id}/reject", Guard::write, post_reject},
    {"GET", "/api/v1/events", Guard::read, get_events},
    {"GET", "/api/v1/openapi.yaml", Guard::open, get_openapi},
    {"GET", "/healthz", Guard::open, get_health},
    {"GET", "/metrics", Guard::read, get_metrics},
};

}  // namespace

std::span<const Route> api_routes() { return kApiRoutes; }

}  // namespace web
