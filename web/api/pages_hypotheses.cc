// "/hypotheses": all of them, filtered. "/hypotheses/H-7": one, from claim to verdict.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "web/api/pages.h"
#include "web/api/query.h"
#include "web/api/widgets.h"

namespace web {

using base::Result;
using namespace hypotheses;  // NOLINT: the page shows nearly all of it

namespace {

Html verdict_choice(const std::optional<Verdict>& chosen) {
  Html options = html("<option value=\"\">any verdict</option>");
  for (const auto& [verdict, word] : kVerdictWords) {
    options += html("<option value=\"{}\"{}>{}</option>", word,
                    chosen == verdict ? html(" selected") : Html(), word);
  }
  return html("<select name=\"verdict\" aria-label=\"verdict\">{}</select>", options);
}

// The link to the next page, with the same filter.
Html next_link(const store::HypothesisFilter& filter, HypothesisId last) {
  std::string link = fmt::format("/hypotheses?before={}", last.text());
  if (filter.campaign) link += "&campaign=" + filter.campaign.text();
  if (filter.night) link += "&night=" + filter.night.text();
  if (filter.verdict) link += "&verdict=" + std::string(to_text(*filter.verdict));
  if (!filter.text.empty()) link += "&q=" + percent_encode(filter.text);
  return html("<p class=\"pager\"><a href=\"{}\">Older →</a></p>", link);
}

std::string_view sign_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::supported:
      return "✓";
    case Verdict::refuted:
      return "✗";
    case Verdict::no_difference:
      return "=";
    case Verdict::inconclusive:
      return "?";
    case Verdict::invalid:
      return "!";
  }
  return "?";
}

Html question_row(Question question, const Answer* answer) {
  if (answer == nullptr) {
    return html(
        "<tr class=\"open\"><td>{}</td><td><span class=\"muted\">not asked</span></td><td></td>"
        "<td></td></tr>",
        to_text(question));
  }
  const std::string_view word = to_text(answer->verdict);
  const Html effect = answer->evidence ? measured_cell(effect_of(*answer->evidence), word,
                                                       reach_of(effect_of(*answer->evidence)))
                                       : Html();
  return html(
      "<tr><td>{}</td><td>{} <span class=\"sign\">{}</span></td><td class=\"measured\">{}</td>"
      "<td>{} <span class=\"reason\">{}</span></td></tr>",
      to_text(question), badge(word), sign_of(answer->verdict), effect,
      experiment_link(answer->experiment), answer->reason);
}

// All five questions, each with its newest answers, so that what was not asked can be seen too.
Html answers_table(const std::vector<Answer>& answers) {
  Html rows;
  for (const auto& [question, word] : kQuestionWords) {
    bool any = false;
    for (const Answer& answer : answers) {
      if (answer.question != question) continue;
      rows += question_row(question, &answer);
      any = true;
    }
    if (!any) rows += question_row(question, nullptr);
  }
  return html(
      "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>Question</th><th>Answer</th>"
      "<th>Effect</th><th>Why</th></tr></thead><tbody>{}</tbody></table></div>",
      rows);
}

Html change_html(const Site& site, const Hypothesis& h) {
  Html change;
  for (const KnobSetting& knob : h.change.knobs) {
    change += html("<code>{} = {}</code> ", knob.knob, knob.value);
  }
  if (!h.change.knobs_only()) change += html("{} ", to_text(h.change));
  if (h.change.empty()) change += html("none: a measurement ");
  if (h.candidate && site.options.diff) {
    change += html("<a href=\"/hypotheses/{}/diff\">diff</a>", h.id.text());
  }
  return change;
}

Html summary(const Site& site, const Hypothesis& h) {
  return facts(
      {{"predicts", html("<code>{}</code>", to_text(h.prediction))},
       {"change", change_html(site, h)},
       {"subject", h.subject.name.empty()
                       ? Html()
                       : html("{} <code>{}</code>", to_text(h.subject.kind), h.subject.name)},
       {"proposed by", html("{}", to_text(h.origin))},
       {"builds on", hypothesis_link(h.parent)},
       {"base", commit_html(h.base)},
       {"candidate", commit_html(h.candidate)},
       {"branch", h.branch.empty() ? Html() : html("<code>{}</code>", h.branch)},
       {"opened", time_html(h.opened)},
       {"night",
        h.night ? html("<a href=\"/report/{}\">{}</a>", h.night.text(), h.night.text()) : Html()},
       {"cost", html("{} of machine time", duration_text(h.cost_s))}});
}

Html verdict_line(const Hypothesis& h) {
  const Html effect = h.evidence ? html("<strong>{}</strong> ", effect_text(*h.evidence)) : Html();
  return html("<p class=\"lead\">{} {}{}</p>", verdict_badge(h), effect, h.reason);
}

Html believed(const Hypothesis& h) {
  if (!h.evidence || h.evidence->flag.empty()) return {};
  return notice("warn", html("Not believed: the effect is {}. It is shown, and decides nothing.",
                             h.evidence->flag));
}

Html numbers(const Hypothesis& h) {
  if (!h.evidence) return {};
  const Evidence& e = *h.evidence;
  return facts({{"base median", html("{}", number_text(e.base_value, e.unit))},
                {"candidate median", html("{}", number_text(e.candidate_value, e.unit))},
                {"pairs", html("{}", e.pairs)},
                {"noise of a pair", html("{}", fmt::format("{:.1f}%", e.noise * 100))},
                {"e-value for better", html("{}", e.e_better)}});
}

}  // namespace

Response hypotheses_page(Site& site, const Call& call) {
  return page(
      site, call, {.title = "Hypotheses", .section = "hypotheses"},
      [&](const store::Reader& reader, Frame&) -> Result<Html> {
        Query query(call.request.query);
        const store::HypothesisFilter filter{.campaign = query.id<CampaignId>("campaign"),
                                             .night = query.id<NightId>("night"),
                                             .verdict = query.verdict(),
                                             .text = query.text("q")};
        const auto at = query.page<HypothesisId>();
        NS_TRY(query.finish());
        NS_ASSIGN(found, reader.hypotheses(filter, at));
        Html content = html(
            "<h1>Hypotheses</h1><form class=\"filter\" method=\"get\" action=\"/hypotheses\">"
            "<input type=\"search\" name=\"q\" value=\"{}\" placeholder=\"words of a claim or a "
            "reason\" aria-label=\"search\">{}<input name=\"night\" value=\"{}\" size=\"6\" "
            "placeholder=\"N-1\" aria-label=\"night\"><button>Filter</button></form>",
            filter.text, verdict_choice(filter.verdict),
            filter.night ? filter.night.text() : std::string());
        if (found.empty()) {
          return content +
                 empty_state("None here",
                             html("No hypothesis fits this filter. <a href=\"/hypotheses\">"
                                  "Show all</a>."));
        }
        content += hypothesis_table(found);
        if (static_cast<int>(found.size()) == at.limit)
          content += next_link(filter, found.back().id);
        return content;
      });
}

Response hypothesis_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Hypothesis", .section = "hypotheses"},
              [&](const store::Reader& reader, Frame& frame) -> Result<Html> {
                NS_ASSIGN(id, path_id<HypothesisId>(call));
                NS_ASSIGN(h, reader.hypothesis(id));
                if (!h) return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
                NS_ASSIGN(experiments, reader.experiments_of(id));
                frame.title = id.text() + " " + h->claim;
                std::sort(experiments.begin(), experiments.end(),
                          [](const auto& a, const auto& b) { return a.id < b.id; });
                Html cards;
                for (const Experiment& experiment : experiments) {
                  NS_ASSIGN(runs, reader.runs(experiment.id));
                  cards += experiment_card(experiment, runs);
                }
                if (experiments.empty()) {
                  cards = empty_state("No experiment yet",
                                      html("The cheapest one that can answer the next "
                                           "question starts when its turn comes."));
                }
                return html(
                    "<p class=\"crumbs\"><a href=\"/hypotheses\">Hypotheses</a> / {}</p><h1>{}</h1>"
                    "{}{}<section class=\"card\"><h2>Predicted and measured</h2>{}{}</section>"
                    "<section class=\"card\">{}</section>"
                    "<h2>Questions</h2>{}<h2>Experiments</h2>{}",
                    id.text(), h->claim, verdict_line(*h), believed(*h), effect_chart(*h),
                    numbers(*h), summary(site, *h), answers_table(h->answers), cards);
              });
}

Response diff_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Diff", .section = "hypotheses", .live = false},
              [&](const store::Reader& reader, Frame& frame) -> Result<Html> {
                NS_ASSIGN(id, path_id<HypothesisId>(call));
                NS_ASSIGN(h, reader.hypothesis(id));
                if (!h || !h->candidate || !site.options.diff) {
                  return base::fail(base::ErrorCode::not_found, "there is no diff of " + id.text());
                }
                NS_ASSIGN(diff, site.options.diff(h->base, h->candidate));
                frame.title = "Diff of " + id.text();
                Html lines;
                for (std::size_t at = 0; at < diff.size();) {
                  const std::size_t end = std::min(diff.find('\n', at), diff.size());
                  const std::string line = diff.substr(at, end - at);
                  const std::string_view tone = line.starts_with("+++") || line.starts_with("---")
                                                    ? "file"
                                                : line.starts_with('+')  ? "added"
                                                : line.starts_with('-')  ? "removed"
                                                : line.starts_with("@@") ? "hunk"
                                                                         : "same";
                  lines += html("<span class=\"{}\">{}\n</span>", tone, line);
                  at = end + 1;
                }
                return html(
                    "<p class=\"crumbs\"><a href=\"/hypotheses\">Hypotheses</a> / {}</p>"
                    "<h1>What {} changes</h1><pre class=\"code diff\">{}</pre>",
                    hypothesis_link(id), id.text(), lines);
              });
}

}  // namespace web
