// "/experiments/E-3": why this one, each run, the pairs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "web/api/also_measured.h"
#include "web/api/logs.h"
#include "web/api/pages.h"
#include "web/api/widgets.h"

namespace web {

using base::Result;
using namespace hypotheses;  // NOLINT: the page shows nearly all of it

namespace {

Html alternatives_table(const Experiment& experiment) {
  if (experiment.alternatives.empty()) return {};
  const Html rows = each(experiment.alternatives, [&](const Alternative& a) {
    const bool chosen = a.probe == experiment.probe && a.key == experiment.key && a.can_answer;
    return html(
        "<tr{}><td>{}{}</td><td><code>{}</code></td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"reason\">{}</td></tr>",
        chosen ? html(" class=\"chosen\"") : Html(), a.probe,
        chosen ? html(" <span class=\"tag\">chosen</span>") : Html(),
        a.key.metric.empty() ? std::string("–") : to_text(a.key),
        fmt::format("{:.0f}%", a.share * 100),
        a.noise > 0 ? fmt::format("{:.1f}%", a.noise * 100) : "–",
        a.can_answer ? fmt::format("{:.0f}", a.pairs) : "cannot answer", duration_text(a.cost_s),
        a.reason);
  });
  return html(
      "<details{}><summary>What was weighed: {} ways to ask</summary><div class=\"scroll\">"
      "<table class=\"list small\"><thead><tr><th>Probe</th><th>Metric</th>"
      "<th class=\"number\">Share</th><th class=\"number\">Noise</th>"
      "<th class=\"number\">Pairs</th><th class=\"number\">Cost</th><th>Why</th></tr></thead>"
      "<tbody>{}</tbody></table></div></details>",
      experiment.alternatives.size() > 1 ? html(" open") : Html(), experiment.alternatives.size(),
      rows);
}

Html answer_line(const Experiment& experiment) {
  if (!experiment.answer) {
    return html("<p class=\"answer\">{} up to {} attempts</p>", badge(to_text(experiment.state)),
                experiment.max_attempts);
  }
  const Answer& answer = *experiment.answer;
  return html("<p class=\"answer\">{} {} <span class=\"muted\">{}</span></p>",
              badge(to_text(answer.verdict)),
              answer.evidence ? html("<strong>{}</strong>", effect_text(*answer.evidence)) : Html(),
              answer.reason);
}

// The value that the experiment judges, or whatever the run reports first.
std::string value_of(const Run& run, const MetricKey& key) {
  for (const Observation& observation : run.observations) {
    if (observation.key == key) return number_text(observation.value, observation.unit);
  }
  return "";
}

Html log_links(const Site& site, const Run& run) {
  if (!site.artifacts) return {};
  return each(log_names(*site.artifacts, run), [&](const std::string& name) {
    return html("<a href=\"/api/v1/experiments/{}/artifacts/{}/{}\">{}</a> ", run.experiment.text(),
                run.id.text(), percent_encode(name), name);
  });
}

std::string remark(const Run& run) {
  if (run.machine.disturbed.empty()) return run.detail;
  return run.detail + (run.detail.empty() ? "" : "; ") + "disturbed: " + run.machine.disturbed;
}

Html run_row(const Site& site, const Run& run, const MetricKey& key) {
  return html(
      "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td>"
      "<td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"reason\">{}</td>"
      "<td class=\"logs\">{}</td></tr>",
      run.measured ? Html() : html(" class=\"open\""),
      run.measured ? fmt::format("{}", run.attempt + 1) : std::string("build"), to_text(run.side),
      run.position == 0 ? "first" : "second", badge(to_text(run.outcome)), value_of(run, key),
      duration_text(run.wall_s), fmt::format("{:.2f}", run.machine.load), remark(run),
      log_links(site, run));
}

Html runs_table(const Site& site, const Experiment& experiment, const std::vector<Run>& runs) {
  if (runs.empty()) {
    return empty_state("No run yet", html("The first pair is being built or measured."));
  }
  return html(
      "<div class=\"scroll\"><table class=\"list small\"><thead><tr><th>Pair</th><th>Side</th>"
      "<th>Order</th><th>Outcome</th><th class=\"number\">{}</th><th class=\"number\">Wall</th>"
      "<th "
      "class=\"number\">Load</th><th>Detail</th><th>Logs</th></tr></thead><tbody>{}</tbody></"
      "table></div>",
      experiment.key.metric.empty() ? std::string("Value") : to_text(experiment.key),
      each(runs, [&](const Run& run) { return run_row(site, run, experiment.key); }));
}

Html pairs_of_experiment(const Experiment& experiment, const std::vector<Run>& runs) {
  if (experiment.key.metric.empty()) return {};
  return pair_plot(pairs_of(experiment, runs),
                   experiment.answer ? experiment.answer->evidence : std::nullopt);
}

Html also_table(const Experiment& experiment, const std::vector<Run>& runs) {
  const auto rows = also_measured(experiment, runs);
  if (rows.empty()) return {};
  const Html cells = each(rows, [](const AlsoMeasured& row) {
    return html(
        "<tr><td><code>{}</code></td><td class=\"number\">{}</td><td class=\"number\">{}</td>"
        "<td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
        to_text(row.key), number_text(row.base, row.unit), number_text(row.candidate, row.unit),
        row.log_ratio ? fmt::format("{:+.1f}%", 100 * std::expm1(*row.log_ratio)) : "–", row.pairs);
  });
  return html(
      "<details{}><summary>What else the runs reported: {} metrics</summary><p "
      "class=\"muted\">Medians "
      "over the pairs, to see where an effect sits. Nothing was decided on them.</p>"
      "<div class=\"scroll\"><table class=\"list small\"><thead><tr><th>Metric</th>"
      "<th class=\"number\">Base</th><th class=\"number\">Candidate</th>"
      "<th class=\"number\">Change</th><th class=\"number\">Pairs</th></tr></thead>"
      "<tbody>{}</tbody></table></div></details>",
      rows.size() <= 12 ? html(" open") : Html(), rows.size(), cells);
}

const Timeline* timeline_of(const std::vector<Run>& runs) {
  for (const Run& run : runs) {
    if (run.timeline) return &*run.timeline;
  }
  return nullptr;
}

// Where the time goes: one row for each nesting of the manifest's spans.
Html timeline_table(const Timeline& timeline) {
  double other = 1 - timeline.idle;
  for (const StackShare& stack : timeline.stacks) other -= stack.share;
  const auto row = [](const Html& what, double share) {
    return html("<tr><td>{}</td><td class=\"number\">{}</td></tr>", what,
                fmt::format("{:.1f}%", 100 * std::max(0.0, share)));
  };
  return html(
      "<h2>Where the time goes</h2><table class=\"list small\"><thead><tr><th>Open spans, "
      "outermost first</th><th class=\"number\">Share</th></tr></thead><tbody>{}{}{}{}</tbody>"
      "</table>",
      each(timeline.stacks,
           [&](const StackShare& stack) {
             return row(html("<code>{}</code>", fmt::format("{}", fmt::join(stack.spans, " / "))),
                        stack.share);
           }),
      each(timeline.missing,
           [&](const std::string& span) {
             return row(html("<code>{}</code> <span class=\"muted\">never seen</span>", span), 0);
           }),
      row(html("other spans"), other), row(html("idle"), timeline.idle));
}

std::string title_of(const Experiment& experiment, const std::vector<Run>& runs) {
  const std::string what =
      timeline_of(runs) != nullptr ? "timeline" : std::string(to_text(experiment.question));
  std::string title = fmt::format("{} by {}", what, experiment.probe);
  if (!experiment.key.metric.empty()) title += " on " + to_text(experiment.key);
  return title;
}

// Everything that was said about the machine, once where all runs agree.
Html machine_facts(const std::vector<Run>& runs) {
  std::string machine, sandbox;
  for (const Run& run : runs) {
    if (!run.machine.machine.empty() && machine.find(run.machine.machine) == std::string::npos) {
      machine += (machine.empty() ? "" : "; ") + run.machine.machine;
    }
    if (!run.machine.sandbox.empty() && sandbox.find(run.machine.sandbox) == std::string::npos) {
      sandbox += (sandbox.empty() ? "" : "; ") + run.machine.sandbox;
    }
  }
  return facts({{"machine", machine.empty() ? Html() : html("{}", machine)},
                {"sandbox", sandbox.empty() ? Html() : html("{}", sandbox)}});
}

}  // namespace

Html experiment_card(const Experiment& experiment, const std::vector<Run>& runs) {
  return html(
      "<section class=\"card\"><div class=\"card-head\"><h3>{} {}</h3>"
      "<span class=\"muted\">cost {}, expected {}</span></div>{}<p class=\"why\">{}</p>{}{}"
      "<p><a href=\"/experiments/{}\">{} runs</a></p></section>",
      experiment_link(experiment.id), title_of(experiment, runs), duration_text(experiment.cost_s),
      duration_text(experiment.estimate_s), answer_line(experiment), experiment.why,
      pairs_of_experiment(experiment, runs), alternatives_table(experiment), experiment.id.text(),
      runs.size());
}

Response experiment_page(Site& site, const Call& call) {
  return page(
      site, call, {.title = "Experiment", .section = "hypotheses"},
      [&](const store::Reader& reader, Frame& frame) -> Result<Html> {
        NS_ASSIGN(id, path_id<ExperimentId>(call));
        NS_ASSIGN(e, reader.experiment(id));
        if (!e) return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
        NS_ASSIGN(runs, reader.runs(id));
        const Timeline* timeline = timeline_of(runs);
        frame.title = id.text() + " " + title_of(*e, runs);
        const Html parent = e->hypothesis ? hypothesis_link(e->hypothesis)
                            : e->merge    ? merge_link(e->merge)
                            : timeline    ? html("timeline of the base")
                                          : html("noise of the machine (A/A)");
        return html(
            "<p class=\"crumbs\"><a href=\"/hypotheses\">Hypotheses</a> / {} / {}</p><h1>{}</h1>{}"
            "<p class=\"why\">{}</p><section class=\"card\">{}{}</section>"
            "<section class=\"card\">{}{}{}</section><h2>Runs</h2>{}",
            parent, id.text(), title_of(*e, runs), answer_line(*e), e->why,
            timeline ? Html() : html("<h2>Pairs</h2>"),
            timeline ? timeline_table(*timeline)
            : e->key.metric.empty()
                ? html("<p class=\"muted\">No metric is judged here: it builds, or "
                       "it is correct, or not.</p>")
                : pairs_of_experiment(*e, runs),
            facts({{"base", commit_html(e->base)},
                   {"candidate", commit_html(e->candidate)},
                   {"build", e->fresh_build ? html("fresh") : html("warm")},
                   {"seed", html("{}", e->seed)},
                   {"cost", html("{}", duration_text(e->cost_s))},
                   {"expected", html("{}", duration_text(e->estimate_s))}}),
            machine_facts(runs), html("{}{}", also_table(*e, runs), alternatives_table(*e)),
            runs_table(site, *e, runs));
      });
}

}  // namespace web
