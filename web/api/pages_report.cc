// "/report/N-1": the morning report, from the same JSON as the API and the CLI.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "web/api/pages.h"
#include "web/api/widgets.h"

namespace web {

using base::Result;

namespace {

std::string text_of(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_string() ? found->get<std::string>() : "";
}

double number_of(const Json& row, const char* key) {
  const auto found = row.find(key);
  return found != row.end() && found->is_number() ? found->get<double>() : 0;
}

base::Instant instant_of(const Json& row, const char* key) {
  return {static_cast<std::int64_t>(number_of(row, key))};
}

Html tile(const std::string& figure, std::string_view name, std::string_view tone) {
  return html("<div class=\"tile {}\"><span class=\"figure\">{}</span><span>{}</span></div>", tone,
              figure, name);
}

Html tiles(const Json& totals) {
  const Json& by_verdict = totals.at("by_verdict");
  const auto count = [&](const char* word) {
    return fmt::format("{:.0f}", number_of(by_verdict, word));
  };
  return html("<div class=\"tiles\">{}{}{}{}{}{}</div>",
              tile(count("supported"), "supported", "good"),
              tile(count("refuted"), "refuted", "bad"),
              tile(count("no-difference"), "no difference", "plain"),
              tile(count("inconclusive"), "inconclusive", "unsure"),
              tile(fmt::format("{:.0f}", number_of(totals, "experiments")), "experiments", "plain"),
              tile(duration_text(number_of(totals, "machine_s")), "machine time", "plain"));
}

double number_or_nan(const Json& value) {
  return value.is_number() ? value.get<double>() : std::nan("");
}

std::optional<Effect> effect_in(const Json& row) {
  if (!row.at("interval").is_array()) return {};
  return Effect{number_or_nan(row.at("effect")), number_or_nan(row.at("interval")[0]),
                number_or_nan(row.at("interval")[1]), text_of(row, "effect_text")};
}

// One scale for all bars of the page.
double reach_of_report(const Json& groups) {
  double reach = 0;
  for (const Json& rows : groups) {
    for (const Json& row : rows) {
      if (const auto effect = effect_in(row)) reach = std::max(reach, reach_of(*effect));
    }
  }
  return reach;
}

Html report_rows(const Json& rows, std::string_view word, double reach) {
  Html all;
  for (const Json& row : rows) {
    const std::string id = text_of(row, "id");
    const auto effect = effect_in(row);
    const double cost_s = number_of(row, "cost_s");
    all += html(
        "<tr><td><a class=\"id\" href=\"/hypotheses/{}\">{}</a></td><td class=\"claim\">"
        "<a href=\"/hypotheses/{}\">{}</a><span class=\"reason\">{}</span></td>"
        "<td class=\"measured\">{}</td><td>{}</td><td class=\"number\">{}</td></tr>",
        id, id, id, text_of(row, "claim"), text_of(row, "reason"),
        effect ? measured_cell(*effect, word, reach) : html("–"), text_of(row, "prediction_text"),
        cost_s > 0 ? duration_text(cost_s) : "–");
  }
  return html(
      "<div class=\"scroll\"><table class=\"list even\"><thead><tr><th>Id</th>"
      "<th>Claim and reason</th><th>Measured</th><th>Predicted</th>"
      "<th class=\"number\">Cost</th></tr></thead><tbody>{}</tbody></table></div>",
      all);
}

Html report_merges(const Json& merges) {
  if (merges.empty()) return {};
  Html items;
  for (const Json& merge : merges) {
    const std::string id = text_of(merge, "id");
    items += html(
        "<li><a class=\"id\" href=\"/merges/{}\">{}</a> {} <strong>{}</strong>"
        "<div class=\"reason\">{}{}</div></li>",
        id, id, badge(text_of(merge, "state")), text_of(merge, "effect_text"),
        prose(text_of(merge, "known")),
        text_of(merge, "unknown").empty()
            ? Html()
            : html("<p>Not known:</p>{}", prose(text_of(merge, "unknown"))));
  }
  return html("<h2>Merge requests</h2><ul class=\"plain-list\">{}</ul>", items);
}

Html report_turns(const Json& turns, const Json& totals) {
  if (turns.empty()) return {};
  Html rows;
  for (const Json& turn : turns) {
    rows += html(
        "<tr><td class=\"number\">{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td>"
        "<td class=\"reason\">{}</td></tr>",
        number_of(turn, "turn"), text_of(turn, "planner"), text_of(turn, "outcome"),
        static_cast<std::int64_t>(number_of(turn, "tokens")), text_of(turn, "text"));
  }
  return html(
      "<details><summary>Planner: {} turns, {} tokens</summary><div class=\"scroll\">"
      "<table class=\"list small\"><thead><tr><th class=\"number\">Turn</th><th>Planner</th>"
      "<th>Outcome</th><th class=\"number\">Tokens</th><th>Exchange</th></tr></thead>"
      "<tbody>{}</tbody></table></div></details>",
      turns.size(), static_cast<std::int64_t>(number_of(totals, "tokens")), rows);
}

Html report_notes(const Json& report) {
  const auto list = [](std::string_view title, const Html& items) {
    return items.empty() ? Html()
                         : html("<h2>{}</h2><ul class=\"plain-list\">{}</ul>", title, items);
  };
  Html notes, refused;
  for (const Json& note : report.at("notes")) {
    notes += html("<li>{} <span class=\"muted\">{}</span></li>", text_of(note, "text"),
                  time_html(instant_of(note, "at")));
  }
  for (const Json& proposal : report.at("refused_proposals")) {
    refused += html(
        "<li>{} <span class=\"muted\">from {}</span><span class=\"reason\">{}</span></li>",
        text_of(proposal, "proposal"), text_of(proposal, "origin"), text_of(proposal, "reason"));
  }
  return list("Notes", notes) + list("Proposals that were refused", refused);
}

Html whole_report(const Json& report) {
  const Json& night = report.at("night");
  const Json& totals = report.at("totals");
  const std::string id = text_of(night, "id");
  const base::Instant ended = instant_of(night, "ended");
  Html content = html(
      "<p class=\"crumbs\"><a href=\"/nights\">Nights</a> / {}</p><h1>{} of {}</h1>"
      "<p class=\"lead\">{} {}{} <span class=\"muted\">{}</span></p>{}{}",
      id, id, text_of(report, "campaign"), badge(text_of(night, "state")),
      time_html(instant_of(night, "started")),
      ended.ms != 0 ? html(" to {}.", time_html(ended)) : html(", still running."),
      text_of(night, "reason"), tiles(totals), report_merges(report.at("merges")));
  const double reach = reach_of_report(report.at("hypotheses"));
  // The order of report.cc, which JSON objects do not keep.
  for (const char* word :
       {"supported", "refuted", "no-difference", "inconclusive", "invalid", "undecided"}) {
    const Json& rows = report.at("hypotheses").at(word);
    if (rows.empty()) continue;
    content += html("<h2>{} {}</h2>{}", badge(word), rows.size(), report_rows(rows, word, reach));
  }
  if (number_of(totals, "hypotheses") == 0) {
    content += empty_state("Nothing was tried", html("The reason above says why the night ended."));
  }
  if (report.value("truncated", false)) {
    content += notice("warn", html("Only the newest {} of each are counted.", kReportLimit));
  }
  return content + report_notes(report) + report_turns(report.at("planner_turns"), totals) +
         html(
             "<p class=\"muted\">The same as text: <code>nightshift report {}</code>; as JSON: "
             "<a href=\"/api/v1/nights/{}/report\">/api/v1/nights/{}/report</a></p>",
             id, id, id);
}

}  // namespace

Response report_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Report", .section = "nights"},
              [&](const store::Reader& reader, Frame& frame) -> Result<Html> {
                NS_ASSIGN(id, path_id<hypotheses::NightId>(call));
                NS_ASSIGN(report, report_view(reader, id));
                frame.title = "Report of " + id.text();
                return whole_report(report);
              });
}

}  // namespace web
