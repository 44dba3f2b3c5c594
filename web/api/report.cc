// The morning report: what a night found, what it cost, what waits for a person.
#include <fmt/format.h>

#include <algorithm>

#include "hypotheses/json.h"
#include "web/api/views.h"

namespace web {

using base::Result;
using hypotheses::to_text;

namespace {

// In the order in which a reader wants them.
constexpr std::string_view kReportOrder[] = {"supported",    "refuted", "no-difference",
                                             "inconclusive", "invalid", "undecided"};

// All pages of a night, newest first, up to the limit; true in `cut` if there is more.
template <class T, class Id, class Fetch>
Result<std::vector<T>> all_pages(Fetch fetch, bool& cut) {
  std::vector<T> all;
  store::Page<Id> page{.before = {}, .limit = 500};
  while (all.size() < kReportLimit) {
    NS_ASSIGN(items, fetch(page));
    const bool last = static_cast<int>(items.size()) < page.limit;
    if (!items.empty()) page.before = items.back().id;
    std::move(items.begin(), items.end(), std::back_inserter(all));
    if (last) return all;
  }
  cut = true;
  return all;
}

Result<Json> merges_of(const store::Reader& reader, hypotheses::NightId night) {
  bool cut = false;
  using hypotheses::MergeRequest;
  using hypotheses::MergeRequestId;
  auto merges = all_pages<MergeRequest, MergeRequestId>(
      [&](store::Page<MergeRequestId> page) { return reader.merges(page); }, cut);
  if (!merges) return tl::unexpected<base::Error>(std::move(merges.error()));
  Json rows = Json::array();
  for (const auto& merge : *merges) {
    if (merge.night == night) rows.push_back(merge_row(merge));
  }
  return rows;
}

Json turn_row(const hypotheses::PlannerTurn& turn) {
  Json row = to_json(turn);
  constexpr std::size_t kShown = 400;
  if (turn.text.size() > kShown) row["text"] = turn.text.substr(0, kShown) + "…";
  return row;
}

// Warnings, take-overs, restarts: what a person should know about how the night went.
Result<Json> notes_of(const store::Reader& reader, hypotheses::NightId id) {
  NS_ASSIGN(events, reader.journal(id, "noted"));
  Json notes = Json::array();
  for (const store::Event& event : events) {
    if (const auto* noted = std::get_if<hypotheses::Noted>(&event.fact)) {
      notes.push_back({{"at", event.at.ms}, {"text", noted->text}});
    }
  }
  return notes;
}

Result<Json> refused_of(const store::Reader& reader, hypotheses::NightId id) {
  NS_ASSIGN(events, reader.journal(id, "proposal-refused"));
  Json refused = Json::array();
  for (const store::Event& event : events) {
    if (const auto* proposal = std::get_if<hypotheses::ProposalRefused>(&event.fact)) {
      refused.push_back({{"origin", to_text(proposal->origin)},
                         {"proposal", proposal->proposal},
                         {"reason", proposal->reason}});
    }
  }
  return refused;
}

}  // namespace

Result<Json> report_view(const store::Reader& reader, hypotheses::NightId id) {
  using hypotheses::ExperimentId;
  using hypotheses::HypothesisId;
  NS_ASSIGN(night, reader.night(id));
  if (!night) return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
  NS_ASSIGN(campaign, reader.campaign(night->campaign));
  bool cut = false;
  store::HypothesisFilter filter;
  filter.night = id;
  auto found = all_pages<hypotheses::Hypothesis, HypothesisId>(
      [&](store::Page<HypothesisId> page) { return reader.hypotheses(filter, page); }, cut);
  if (!found) return tl::unexpected<base::Error>(std::move(found.error()));
  auto done = all_pages<hypotheses::Experiment, ExperimentId>(
      [&](store::Page<ExperimentId> page) { return reader.experiments(id, page); }, cut);
  if (!done) return tl::unexpected<base::Error>(std::move(done.error()));
  NS_ASSIGN(merges, merges_of(reader, id));
  NS_ASSIGN(turns, reader.planner_turns(id));
  NS_ASSIGN(notes, notes_of(reader, id));
  NS_ASSIGN(refused, refused_of(reader, id));

  Json report = {{"night", to_json(*night)}, {"truncated", cut}, {"merges", std::move(merges)}};
  report["night"].erase("manifest");
  report["campaign"] = campaign ? Json(campaign->name) : Json();
  report["goal"] = campaign ? Json(to_text(campaign->goal)) : Json();
  Json groups = Json::object(), counts = Json::object();
  for (std::string_view word : kReportOrder) groups[std::string(word)] = Json::array();
  for (const auto& hypothesis : *found) {
    const std::string_view word =
        hypothesis.verdict ? to_text(*hypothesis.verdict) : std::string_view("undecided");
    groups[std::string(word)].push_back(hypothesis_row(hypothesis));
  }
  for (const auto& [word, rows] : groups.items()) counts[word] = rows.size();
  // The greatest wins first.
  std::stable_sort(groups["supported"].begin(), groups["supported"].end(),
                   [](const Json& a, const Json& b) {
                     const auto effect = [](const Json& row) {
                       return row["effect"].is_number() ? row["effect"].get<double>() : -1e9;
                     };
                     return effect(a) > effect(b);
                   });
  std::int64_t tokens = 0;
  Json turn_rows = Json::array();
  for (const auto& turn : turns) {
    tokens += turn.tokens;
    turn_rows.push_back(turn_row(turn));
  }
  double cost_s = 0;
  for (const auto& experiment : *done) cost_s += experiment.cost_s;
  const bool ended = night->state == hypotheses::NightState::ended;
  report["totals"] = {
      {"hypotheses", found->size()},
      {"by_verdict", counts},
      {"experiments", done->size()},
      {"machine_s", cost_s},
      {"planner_turns", turns.size()},
      {"tokens", tokens},
      {"wall_s", ended ? Json(night->ended.seconds_since(night->started)) : Json()}};
  report["hypotheses"] = std::move(groups);
  report["planner_turns"] = std::move(turn_rows);
  report["refused_proposals"] = std::move(refused);
  report["notes"] = std::move(notes);
  return report;
}

namespace {

std::string text_at(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_at(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

std::string hypothesis_lines(const Json& row) {
  std::string lines = fmt::format("  {}  {}\n", text_at(row, "id"), text_at(row, "claim"));
  const std::string effect = text_at(row, "effect_text");
  if (!effect.empty()) {
    lines +=
        fmt::format("      measured {}; predicted {}\n", effect, text_at(row, "prediction_text"));
  }
  if (const std::string reason = text_at(row, "reason"); !reason.empty()) {
    lines += fmt::format("      {}\n", reason);
  }
  return lines + fmt::format("      cost {}\n", duration_text(number_at(row, "cost_s")));
}

// "label: text", or the text's lines under the label when it has more than one or is a list.
std::string labelled(std::string_view label, std::string_view text) {
  if (text.empty()) return "";
  if (text.substr(0, 2) != "- " && text.find('\n') == std::string_view::npos) {
    return fmt::format("      {}: {}\n", label, text);
  }
  std::string lines = fmt::format("      {}:\n", label);
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    lines += fmt::format("        {}\n", line);
  }
  return lines;
}

std::string merge_lines(const Json& row) {
  std::string lines = fmt::format("  {}  {}  {} {}\n", text_at(row, "id"), text_at(row, "state"),
                                  text_at(row, "hypothesis"), text_at(row, "effect_text"));
  lines += labelled("known", text_at(row, "known"));
  lines += labelled("not known", text_at(row, "unknown"));
  if (text_at(row, "state") == "waiting") {
    lines += fmt::format("      nightshift approve {} --commit {}\n", text_at(row, "id"),
                         text_at(row, "merged"));
  }
  return lines;
}

}  // namespace

std::string report_text(const Json& report) {
  const Json& night = report.at("night");
  const Json& totals = report.at("totals");
  const auto started = base::Instant{static_cast<std::int64_t>(number_at(night, "started"))};
  std::string text =
      fmt::format("{} of {}, {}, started {}\n", text_at(night, "id"), text_at(report, "campaign"),
                  text_at(night, "state"), time_text(started));
  if (const auto reason = text_at(night, "reason"); !reason.empty()) {
    text += fmt::format("ended: {}\n", reason);
  }
  text += fmt::format("{} hypotheses, {} experiments, {} of machine time, {} planner turns\n",
                      number_at(totals, "hypotheses"), number_at(totals, "experiments"),
                      duration_text(number_at(totals, "machine_s")),
                      number_at(totals, "planner_turns"));
  if (report.value("truncated", false)) {
    text += fmt::format("(the newest {} of each only)\n", kReportLimit);
  }
  if (const Json& merges = report.at("merges"); !merges.empty()) {
    text += "\nMerge requests\n";
    for (const Json& merge : merges) text += merge_lines(merge);
  }
  for (std::string_view word : kReportOrder) {
    const Json& rows = report.at("hypotheses").at(std::string(word));
    if (rows.empty()) continue;
    text += fmt::format("\n{} ({})\n", word, rows.size());
    for (const Json& row : rows) text += hypothesis_lines(row);
  }
  for (const Json& note : report.at("notes")) {
    text += fmt::format("{}note: {}\n", &note == &report.at("notes").front() ? "\n" : "",
                        text_at(note, "text"));
  }
  if (number_at(totals, "hypotheses") == 0 && text_at(night, "state") != "running") {
    text += "\nNothing was tried. The night's reason above, or `nightshift campaign`, says why.\n";
  }
  return text;
}

}  // namespace web
