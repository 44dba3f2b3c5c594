// Why: the recorded reasons, in the order in which they were found.
#include <fmt/format.h>

#include <algorithm>

#include "web/api/views.h"

namespace web {

using base::Result;
using hypotheses::to_text;

namespace {

void add_step(Json& explanation, std::string what, std::string text) {
  if (text.empty()) return;
  explanation["steps"].push_back({{"what", std::move(what)}, {"text", std::move(text)}});
}

std::string weighed(const hypotheses::Alternative& a) {
  std::string text = a.probe;
  if (!a.key.metric.empty()) text += " on " + to_text(a.key);
  if (a.can_answer) {
    text += fmt::format(", {:.0f} pairs, {}", a.pairs, duration_text(a.cost_s));
  } else {
    text += ", cannot answer";
  }
  return a.reason.empty() ? text : text + ": " + a.reason;
}

void explain_experiment(Json& explanation, const hypotheses::Experiment& e) {
  const std::string id = e.id.text();
  add_step(
      explanation, id,
      fmt::format("{} by {}{}{}", to_text(e.question), e.probe, e.key.metric.empty() ? "" : " on ",
                  e.key.metric.empty() ? "" : to_text(e.key)));
  add_step(explanation, id + " why", e.why);
  for (const auto& alternative : e.alternatives) {
    add_step(explanation, id + " weighed", weighed(alternative));
  }
  if (e.answer) {
    add_step(explanation, id + " answer",
             fmt::format("{}{}{}; cost {}, expected {}", to_text(e.answer->verdict),
                         e.answer->reason.empty() ? "" : ": ", e.answer->reason,
                         duration_text(e.cost_s), duration_text(e.estimate_s)));
  } else {
    add_step(explanation, id + " answer", fmt::format("none yet: {}", to_text(e.state)));
  }
}

}  // namespace

Result<Json> explain_view(const store::Reader& reader, hypotheses::HypothesisId id) {
  NS_ASSIGN(h, reader.hypothesis(id));
  if (!h) return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
  NS_ASSIGN(experiments, reader.experiments_of(id));
  Json explanation = {{"id", id.text()}, {"title", h->claim}, {"steps", Json::array()}};
  add_step(explanation, "proposed",
           fmt::format("by {}: {}", to_text(h->origin), to_text(h->change)));
  add_step(explanation, "predicts", to_text(h->prediction));
  if (h->parent) add_step(explanation, "builds on", h->parent.text());
  // The reader's order is not the story's.
  std::sort(experiments.begin(), experiments.end(),
            [](const auto& a, const auto& b) { return a.id < b.id; });
  for (const auto& experiment : experiments) explain_experiment(explanation, experiment);
  for (const auto& answer : h->answers) {
    if (!answer.experiment) {  // settled without one, by a rule
      add_step(explanation, std::string(to_text(answer.question)),
               fmt::format("{}: {}", to_text(answer.verdict), answer.reason));
    }
  }
  const std::string effect = h->evidence ? effect_text(*h->evidence) : "";
  add_step(
      explanation, h->verdict ? "verdict" : "state",
      fmt::format("{}{}{}{}{}", h->verdict ? to_text(*h->verdict) : to_text(h->state),
                  effect.empty() ? "" : ", ", effect, h->reason.empty() ? "" : ": ", h->reason));
  return explanation;
}

Result<Json> explain_view(const store::Reader& reader, hypotheses::ExperimentId id) {
  NS_ASSIGN(experiment, reader.experiment(id));
  if (!experiment) return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
  Json explanation = {
      {"id", id.text()},
      {"title", fmt::format("{} by {}", to_text(experiment->question), experiment->probe)},
      {"steps", Json::array()}};
  explain_experiment(explanation, *experiment);
  return explanation;
}

std::string explain_text(const Json& explanation) {
  std::string text = fmt::format("{}  {}\n", explanation.at("id").get<std::string>(),
                                 explanation.at("title").get<std::string>());
  for (const Json& step : explanation.at("steps")) {
    text += fmt::format("  {:<14} {}\n", step.at("what").get<std::string>(),
                        step.at("text").get<std::string>());
  }
  return text;
}

}  // namespace web
