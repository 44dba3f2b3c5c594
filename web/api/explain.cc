// Why: the recorded reasons, in the order in which they were found.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "web/api/also_measured.h"
#include "web/api/views.h"

namespace web {

using base::Result;
using hypotheses::to_text;

namespace {

void add_step(Json& explanation, std::string what, std::string text) {
  if (text.empty()) return;
  explanation["steps"].push_back({{"what", std::move(what)}, {"text", std::move(text)}});
}

// What was weighed as rows of a table; the first that can answer was chosen.
Json weighed(const hypotheses::Experiment& experiment) {
  Json rows = Json::array();
  double chosen_s = 0;
  for (const hypotheses::Alternative& a : experiment.alternatives) {
    const bool chosen = a.can_answer && rows.empty();
    if (chosen) chosen_s = a.cost_s;
    std::string reason = a.reason;
    if (a.can_answer && !chosen && chosen_s > 0) {
      reason = fmt::format("{:.1f}x the cost; {}", a.cost_s / chosen_s, a.reason);
    }
    rows.push_back({{"outcome", chosen         ? "chosen"
                                : a.can_answer ? "lost"
                                               : "cannot answer"},
                    {"probe", a.probe},
                    {"metric", a.key.metric.empty() ? "" : to_text(a.key)},
                    {"share", a.share},
                    {"noise", a.noise},
                    {"pairs", a.pairs},
                    {"cost_s", a.cost_s},
                    {"reason", reason}});
  }
  return rows;
}

// "lost   serve.bench  serve.tokens_per_s  share 4%  noise 1.2%  900 pairs  30 min: ..."
std::vector<std::string> cells_of(const Json& row) {
  const auto percent = [&](const char* key) {
    return fmt::format("{} {:.3g}%", key, 100 * row.at(key).get<double>());
  };
  std::vector<std::string> cells = {row.at("outcome"), row.at("probe"), row.at("metric")};
  const bool measures = !row.at("metric").get<std::string>().empty();
  cells.push_back(measures ? percent("share") : "");
  cells.push_back(measures ? percent("noise") : "");
  const double pairs = row.at("pairs");
  cells.push_back(measures && pairs > 0 ? fmt::format("{:.0f} pairs", std::ceil(pairs)) : "");
  const double cost_s = row.at("cost_s");
  cells.push_back(cost_s > 0 ? duration_text(cost_s) : "");
  cells.push_back(row.at("reason"));
  return cells;
}

std::string table_text(const Json& rows) {
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> width;
  for (const Json& row : rows) {
    cells.push_back(cells_of(row));
    width.resize(cells.back().size());
    for (std::size_t i = 0; i < width.size(); ++i) {
      width[i] = std::max(width[i], cells.back()[i].size());
    }
  }
  std::string text;
  for (const auto& row : cells) {
    text += "   ";
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      if (width[i] > 0) text += fmt::format(" {:<{}} ", row[i], width[i]);
    }
    text += fmt::format(" {}\n", row.back());
  }
  return text;
}

void explain_experiment(Json& explanation, const hypotheses::Experiment& e) {
  const std::string id = e.id.text();
  add_step(
      explanation, id,
      fmt::format("{} by {}{}{}", to_text(e.question), e.probe, e.key.metric.empty() ? "" : " on ",
                  e.key.metric.empty() ? "" : to_text(e.key)));
  add_step(explanation, id + " why", e.why);
  if (!e.alternatives.empty()) {
    add_step(explanation, id + " weighed",
             fmt::format("{} {} to ask", e.alternatives.size(),
                         e.alternatives.size() == 1 ? "way" : "ways"));
    explanation["steps"].back()["rows"] = weighed(e);
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
  add_step(explanation, "taken up", h->why_taken);
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
  NS_ASSIGN(runs, reader.runs(id));
  std::string also;
  for (const AlsoMeasured& row : also_measured(*experiment, runs)) {
    also += (also.empty() ? "" : "; ") + to_text(row);
  }
  add_step(explanation, id.text() + " also", std::move(also));
  return explanation;
}

void add_waiting(Json& explanation, std::string why) {
  add_step(explanation, "waits", std::move(why));
}

std::string explain_text(const Json& explanation) {
  std::string text = fmt::format("{}  {}\n", explanation.at("id").get<std::string>(),
                                 explanation.at("title").get<std::string>());
  for (const Json& step : explanation.at("steps")) {
    text += fmt::format("  {:<14} {}\n", step.at("what").get<std::string>(),
                        step.at("text").get<std::string>());
    if (step.contains("rows")) text += table_text(step.at("rows"));
  }
  return text;
}

}  // namespace web
