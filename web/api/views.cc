#include "web/api/views.h"

#include "web/api/also_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hypotheses/json.h"

namespace web {

using base::ErrorCode;
using base::Result;
using hypotheses::Evidence;
using hypotheses::to_text;

namespace {

template <class Id>
Json id_or_null(Id id) {
  return id ? Json(id.text()) : Json();
}

template <class T>
Result<T> present(Result<std::optional<T>>&& found, const std::string& id) {
  if (!found) return tl::unexpected<base::Error>(std::move(found.error()));
  if (!*found) return base::fail(ErrorCode::not_found, "there is no " + id);
  return std::move(**found);
}

// The same four keys wherever something was measured.
void add_effect(Json& to, const std::optional<Evidence>& evidence) {
  const auto finite = [](double x) { return std::isfinite(x) ? Json(x) : Json(); };
  to["effect"] = evidence ? finite(evidence->effect) : Json();
  to["interval"] = evidence ? Json{finite(evidence->low), finite(evidence->high)} : Json();
  to["effect_text"] = evidence ? effect_text(*evidence) : "";
  to["metric"] = evidence ? Json(to_text(evidence->key)) : Json();
}

template <class Items, class Row>
Json list_of(const Items& items, int limit, Row row) {
  Json view = {{"items", Json::array()}, {"next", nullptr}};
  for (const auto& item : items) view["items"].push_back(row(item));
  if (!items.empty() && static_cast<int>(items.size()) >= limit) {
    view["next"] = items.back().id.text();
  }
  return view;
}

// Nights and campaigns carry whole files; a list does without.
Json campaign_row(const hypotheses::Campaign& campaign) {
  Json row = to_json(campaign);
  row.erase("policy");
  return row;
}
Json night_row(const hypotheses::Night& night) {
  Json row = to_json(night);
  row.erase("manifest");
  return row;
}

std::string trailer_lines(const hypotheses::MergeRequest& merge,
                          const hypotheses::Hypothesis& hypothesis);

}  // namespace

Json hypothesis_row(const hypotheses::Hypothesis& h) {
  Json row = {{"id", h.id.text()},
              {"campaign", id_or_null(h.campaign)},
              {"night", id_or_null(h.night)},
              {"parent", id_or_null(h.parent)},
              {"claim", h.claim},
              {"origin", to_text(h.origin)},
              {"state", to_text(h.state)},
              {"verdict", h.verdict ? Json(to_text(*h.verdict)) : Json()},
              {"reason", h.reason},
              {"prediction_text", to_text(h.prediction)},
              {"change_text", to_text(h.change)},
              {"cost_s", h.cost_s},
              {"opened", h.opened.ms}};
  add_effect(row, h.evidence);
  return row;
}

Json experiment_row(const hypotheses::Experiment& e) {
  Json row = to_json(e);
  row["key_text"] = e.key.metric.empty() ? "" : to_text(e.key);
  add_effect(row, e.answer ? e.answer->evidence : std::nullopt);
  return row;
}

Json merge_row(const hypotheses::MergeRequest& merge) {
  Json row = to_json(merge);
  std::optional<Evidence> best;
  for (const auto& answer : merge.answers) {
    if (answer.evidence && answer.question != hypotheses::Question::guards) best = answer.evidence;
  }
  add_effect(row, best);
  return row;
}

Result<Json> campaigns_view(const store::Reader& reader) {
  NS_ASSIGN(campaigns, reader.campaigns());
  Json list = list_of(campaigns, static_cast<int>(campaigns.size()) + 1, campaign_row);
  for (std::size_t i = 0; i < campaigns.size(); ++i) {
    NS_ASSIGN(nights, reader.nights(campaigns[i].id, {{}, 1}));
    if (nights.empty()) continue;
    list["items"][i]["night"] = {{"id", nights.front().id.text()},
                                 {"state", to_text(nights.front().state)}};
  }
  return list;
}

Result<Json> campaign_view(const store::Reader& reader, hypotheses::CampaignId id) {
  NS_ASSIGN(campaign, present(reader.campaign(id), id.text()));
  NS_ASSIGN(nights, reader.nights(id, {.before = {}, .limit = 20}));
  Json view = to_json(campaign);
  view["nights"] = list_of(nights, 20, night_row)["items"];
  return view;
}

Result<std::vector<hypotheses::Night>> nights_of(const store::Reader& reader,
                                                 hypotheses::CampaignId campaign,
                                                 store::Page<hypotheses::NightId> page) {
  if (campaign) return reader.nights(campaign, page);
  NS_ASSIGN(campaigns, reader.campaigns());
  std::vector<hypotheses::Night> all;
  for (const auto& one : campaigns) {
    NS_ASSIGN(nights, reader.nights(one.id, page));
    std::move(nights.begin(), nights.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.id > b.id; });
  if (all.size() > static_cast<std::size_t>(page.limit)) {
    all.resize(static_cast<std::size_t>(page.limit));
  }
  return all;
}

Result<Json> nights_view(const store::Reader& reader, hypotheses::CampaignId campaign,
                         store::Page<hypotheses::NightId> page) {
  NS_ASSIGN(nights, nights_of(reader, campaign, page));
  return list_of(nights, page.limit, night_row);
}

Result<Json> hypotheses_view(const store::Reader& reader, const store::HypothesisFilter& filter,
                             store::Page<hypotheses::HypothesisId> page) {
  NS_ASSIGN(hypotheses, reader.hypotheses(filter, page));
  return list_of(hypotheses, page.limit, hypothesis_row);
}

Result<Json> hypothesis_view(const store::Reader& reader, hypotheses::HypothesisId id) {
  NS_ASSIGN(hypothesis, present(reader.hypothesis(id), id.text()));
  NS_ASSIGN(experiments, reader.experiments_of(id));
  Json view = to_json(hypothesis);
  view.update(hypothesis_row(hypothesis));
  view["experiments"] = Json::array();
  for (const auto& experiment : experiments)
    view["experiments"].push_back(experiment_row(experiment));
  return view;
}

std::vector<PairRow> pairs_of(const hypotheses::Experiment& experiment,
                              const std::vector<hypotheses::Run>& runs) {
  std::map<int, PairRow> pairs;
  for (const hypotheses::Run& run : runs) {
    if (!run.measured) continue;
    PairRow& pair = pairs[run.attempt];
    pair.attempt = run.attempt;
    for (const auto& observation : run.observations) {
      if (observation.key != experiment.key || !std::isfinite(observation.value)) continue;
      (run.side == hypotheses::Side::base ? pair.base : pair.candidate) = observation.value;
      break;
    }
  }
  std::vector<PairRow> rows;
  for (auto& [attempt, pair] : pairs) {
    if (pair.base && pair.candidate && *pair.base > 0 && *pair.candidate > 0) {
      pair.log_ratio = std::log(*pair.candidate / *pair.base);
    }
    rows.push_back(pair);
  }
  return rows;
}

Result<Json> experiment_view(const store::Reader& reader, hypotheses::ExperimentId id) {
  NS_ASSIGN(experiment, present(reader.experiment(id), id.text()));
  NS_ASSIGN(runs, reader.runs(id));
  const auto value = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  Json view = experiment_row(experiment);
  view["runs"] = Json::array();
  for (const auto& run : runs) view["runs"].push_back(to_json(run));
  view["also"] = Json::array();
  for (const AlsoMeasured& row : also_measured(experiment, runs)) {
    view["also"].push_back({{"metric", to_text(row.key)},
                            {"unit", row.unit},
                            {"pairs", row.pairs},
                            {"base", row.base},
                            {"candidate", row.candidate},
                            {"log_ratio", value(row.log_ratio)}});
  }
  view["pairs"] = Json::array();
  if (experiment.key.metric.empty()) return view;
  for (const PairRow& pair : pairs_of(experiment, runs)) {
    view["pairs"].push_back({{"attempt", pair.attempt},
                             {"base", value(pair.base)},
                             {"candidate", value(pair.candidate)},
                             {"log_ratio", value(pair.log_ratio)}});
  }
  return view;
}

Result<Json> merges_view(const store::Reader& reader,
                         store::Page<hypotheses::MergeRequestId> page) {
  NS_ASSIGN(merges, reader.merges(page));
  return list_of(merges, page.limit, merge_row);
}

Result<Json> merge_view(const store::Reader& reader, hypotheses::MergeRequestId id) {
  NS_ASSIGN(merge, present(reader.merge(id), id.text()));
  NS_ASSIGN(hypothesis, reader.hypothesis(merge.hypothesis));
  NS_ASSIGN(experiments, reader.experiments_of(id));
  Json view = merge_row(merge);
  view["hypothesis"] = hypothesis ? hypothesis_row(*hypothesis) : Json();
  view["experiments"] = Json::array();
  for (const auto& experiment : experiments)
    view["experiments"].push_back(experiment_row(experiment));
  view["trailers"] = hypothesis ? Json(trailer_lines(merge, *hypothesis)) : Json();
  view["approve"] = nullptr;
  if (merge.state == hypotheses::MergeState::waiting) {
    view["approve"] = {
        {"cli", fmt::format("nightshift approve {} --commit {}", id.text(), merge.merged.hex)},
        {"method", "POST"},
        {"path", fmt::format("/api/v1/merges/{}/approve", id.text())},
        {"body", {{"commit", merge.merged.hex}}}};
  }
  return view;
}

namespace {

// What the merge commit's message says about itself (DESIGN 9): the candidate's claim and evidence,
// fixed before the merge commit was measured.
std::string trailer_lines(const hypotheses::MergeRequest& merge,
                          const hypotheses::Hypothesis& hypothesis) {
  std::string lines = fmt::format("Hypothesis: {}\nPredicts: {}\n", merge.hypothesis.text(),
                                  to_text(hypothesis.prediction));
  if (hypothesis.evidence) {
    const Evidence& e = *hypothesis.evidence;
    lines += fmt::format("Effect: {}\n", effect_text(e));
    if (std::isfinite(e.low) && std::isfinite(e.high)) {
      lines += fmt::format("Interval: {:.5f} to {:.5f}\n", e.low, e.high);
    }
  }
  std::string ids;
  for (const auto& answer : hypothesis.answers) {
    if (answer.experiment) ids += (ids.empty() ? "" : ", ") + answer.experiment.text();
  }
  if (!ids.empty()) lines += "Evidence: " + ids + "\n";
  return lines;
}

}  // namespace

}  // namespace web
