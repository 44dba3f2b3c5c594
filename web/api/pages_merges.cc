// "/merges", "/merges/M-1": what a person has to know before they say yes.
#include <fmt/format.h>

#include "web/api/pages.h"
#include "web/api/widgets.h"

namespace web {

using base::Result;
using namespace hypotheses;  // NOLINT: the page shows nearly all of it

namespace {

std::string_view state_in_words(MergeState state) {
  switch (state) {
    case MergeState::preparing:
      return "The merge commit is being made.";
    case MergeState::measuring:
      return "A fresh build of the merge commit is being measured.";
    case MergeState::waiting:
      return "Measured and confirmed. It waits for your decision.";
    case MergeState::approved:
      return "Approved; it is being landed.";
    case MergeState::landed:
      return "Landed: the target's branch stands on it.";
    case MergeState::rejected:
      return "A person said no.";
    case MergeState::failed:
      return "It cannot be merged as it is.";
  }
  return "";
}

Html decision_forms(const MergeRequest& merge, const Caller& caller) {
  if (merge.state != MergeState::waiting) return {};
  if (!caller.by_session) {
    return html(
        "<section class=\"card\"><h2>Your decision</h2><p><a class=\"button\" "
        "href=\"/login?next=%2Fmerges%2F{}\">Sign in to approve or reject</a></p>"
        "<p class=\"muted\">Or in a terminal:</p><pre class=\"code\">nightshift approve {} "
        "--commit {}</pre></section>",
        merge.id.text(), merge.id.text(), merge.merged.hex);
  }
  return html(
      "<section class=\"card\"><h2>Your decision</h2><div class=\"decision\">"
      "<form method=\"post\" action=\"/merges/{}/approve\">{}<input type=\"hidden\" "
      "name=\"commit\" "
      "value=\"{}\"><p>Land exactly <code>{}</code>. If the branch has moved meanwhile, nothing "
      "lands and the merge is measured again.</p><button class=\"primary\">Approve "
      "{}</button></form>"
      "<form method=\"post\" action=\"/merges/{}/reject\">{}<label>Reason<input name=\"reason\" "
      "required maxlength=\"500\" placeholder=\"kept, and told to the planner\"></label>"
      "<button>Reject</button></form></div></section>",
      merge.id.text(), csrf_field(caller), merge.merged.hex, merge.merged.hex, merge.merged.brief(),
      merge.id.text(), csrf_field(caller));
}

// Whether anything was measured beyond the changed kernel itself.
bool engine_measured(const MergeRequest& merge) {
  for (const Answer& answer : merge.answers) {
    if (answer.question == Question::carries_over && answer.verdict == Verdict::supported)
      return true;
  }
  return false;
}

Html known_and_unknown(const MergeRequest& merge) {
  Html unknown = prose(merge.unknown);
  if (!engine_measured(merge)) {
    unknown += html(
        "<p><strong>The effect on the whole engine was not measured.</strong> The win is "
        "known only for the metrics on the left; it may be smaller, or nothing, end to "
        "end.</p>");
  }
  if (unknown.empty()) unknown = html("<p>Nothing that the policy asks for.</p>");
  return html(
      "<div class=\"two\"><section class=\"card known\"><h2>What is known</h2>{}"
      "</section><section class=\"card unknown\"><h2>What is not known</h2>{}</section></div>",
      prose(merge.known.empty() ? "Nothing yet." : merge.known), unknown);
}

Html merge_evidence(const std::vector<Answer>& answers) {
  if (answers.empty()) {
    return empty_state("No evidence yet", html("The merge commit has not been measured."));
  }
  const Html rows = each(answers, [](const Answer& answer) {
    const std::string_view word = to_text(answer.verdict);
    const Html effect = answer.evidence ? measured_cell(effect_of(*answer.evidence), word,
                                                        reach_of(effect_of(*answer.evidence)))
                                        : Html();
    return html(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td class=\"measured\">{}</td><td>{} "
        "<span class=\"reason\">{}</span></td></tr>",
        to_text(answer.question), badge(word),
        answer.evidence ? html("<code>{}</code>", to_text(answer.evidence->key)) : Html(), effect,
        experiment_link(answer.experiment), answer.reason);
  });
  return html(
      "<div class=\"scroll\"><table class=\"list\"><thead><tr><th>Question</th><th>Answer</th>"
      "<th>Metric</th><th>Effect</th><th>Why</th></tr></thead><tbody>{}</tbody></table></div>",
      rows);
}

Html merge_facts(const MergeRequest& merge, const std::optional<Hypothesis>& hypothesis) {
  return facts(
      {{"hypothesis", hypothesis
                          ? html("{} {}", hypothesis_link(merge.hypothesis), hypothesis->claim)
                          : hypothesis_link(merge.hypothesis)},
       {"merge commit",
        merge.merged ? html("<code class=\"full\">{}</code>", merge.merged.hex) : Html()},
       {"onto base", commit_html(merge.base)},
       {"candidate", commit_html(merge.candidate)},
       {"approved", merge.approved_commit ? html("{} by {}, {}", commit_html(merge.approved_commit),
                                                 merge.approved_by, time_html(merge.approved_at))
                                          : Html()},
       {"landed on",
        merge.landed_ref.empty() ? Html() : html("<code>{}</code>", merge.landed_ref)}});
}

}  // namespace

Response merges_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Merges", .section = "merges"},
              [&](const store::Reader& reader, Frame&) -> Result<Html> {
                NS_ASSIGN(merges, reader.merges({.before = {}, .limit = 200}));
                if (merges.empty()) {
                  return html("<h1>Merges</h1>") +
                         empty_state("Nothing to merge",
                                     html("A hypothesis that is supported and confirmed on a fresh "
                                          "build comes here and waits for a person."));
                }
                const Html rows = each(merges, [](const MergeRequest& merge) {
                  return html(
                      "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
                      "<td class=\"reason\">{}</td></tr>",
                      merge_link(merge.id), badge(to_text(merge.state)),
                      hypothesis_link(merge.hypothesis), commit_html(merge.merged), merge.reason);
                });
                return html(
                    "<h1>Merges</h1><div class=\"scroll\"><table class=\"list\"><thead><tr>"
                    "<th>Id</th><th>State</th><th>Hypothesis</th><th>Commit</th>"
                    "<th>Why</th></tr></thead><tbody>{}</tbody></table></div>",
                    rows);
              });
}

Response merge_page(Site& site, const Call& call) {
  return page(site, call, {.title = "Merge", .section = "merges"},
              [&](const store::Reader& reader, Frame& frame) -> Result<Html> {
                NS_ASSIGN(id, path_id<MergeRequestId>(call));
                NS_ASSIGN(merge, reader.merge(id));
                if (!merge)
                  return base::fail(base::ErrorCode::not_found, "there is no " + id.text());
                NS_ASSIGN(hypothesis, reader.hypothesis(merge->hypothesis));
                NS_ASSIGN(experiments, reader.experiments_of(id));
                frame.title = id.text();
                Html cards;
                for (const Experiment& experiment : experiments) {
                  NS_ASSIGN(runs, reader.runs(experiment.id));
                  cards += experiment_card(experiment, runs);
                }
                if (!cards.empty())
                  cards = html("<h2>Experiments on the merge commit</h2>") + cards;
                return html(
                    "<p class=\"crumbs\"><a href=\"/merges\">Merges</a> / {}</p><h1>Merge: {}</h1>"
                    "<p class=\"lead\">{} {} <span class=\"muted\">{}</span></p>{}{}<section "
                    "class=\"card\">{}</section>"
                    "<h2>Evidence of the merge commit</h2>{}{}",
                    id.text(), hypothesis ? hypothesis->claim : merge->hypothesis.text(),
                    badge(to_text(merge->state)), state_in_words(merge->state), merge->reason,
                    known_and_unknown(*merge), decision_forms(*merge, call.caller),
                    merge_facts(*merge, hypothesis), merge_evidence(merge->answers), cards);
              });
}

}  // namespace web
