#include "web/api/widgets.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace web {

using hypotheses::to_text;

// The style sheet knows a handful of tones; every word that we show falls into one.
static std::string_view tone_of(std::string_view word) {
  for (std::string_view good : {"supported", "landed", "ok", "approved"}) {
    if (word == good) return "good";
  }
  for (std::string_view bad :
       {"refuted", "failed", "rejected", "crashed", "failed-check", "build-failed", "timeout"}) {
    if (word == bad) return "bad";
  }
  for (std::string_view unsure :
       {"inconclusive", "invalid", "bad-output", "could-not-run", "lost", "paused"}) {
    if (word == unsure) return "unsure";
  }
  for (std::string_view busy :
       {"running", "testing", "preparing", "measuring", "active", "waiting"}) {
    if (word == busy) return "busy";
  }
  return "plain";
}

Html badge(std::string_view word) {
  return html("<span class=\"badge {}\">{}</span>", tone_of(word), word);
}

Html verdict_badge(const hypotheses::Hypothesis& hypothesis) {
  return badge(hypothesis.verdict ? to_text(*hypothesis.verdict) : to_text(hypothesis.state));
}

Html hypothesis_link(hypotheses::HypothesisId id) {
  if (!id) return {};
  return html("<a class=\"id\" href=\"/hypotheses/{}\">{}</a>", id.text(), id.text());
}
Html experiment_link(hypotheses::ExperimentId id) {
  if (!id) return {};
  return html("<a class=\"id\" href=\"/experiments/{}\">{}</a>", id.text(), id.text());
}
Html merge_link(hypotheses::MergeRequestId id) {
  if (!id) return {};
  return html("<a class=\"id\" href=\"/merges/{}\">{}</a>", id.text(), id.text());
}

Html commit_html(const hypotheses::CommitId& commit) {
  if (!commit) return {};
  return html("<code title=\"{}\">{}</code>", commit.hex, commit.brief());
}

Html time_html(base::Instant instant) {
  if (instant.ms == 0) return {};
  return html("<time datetime=\"{}\">{}</time>", base::to_text(instant), time_text(instant));
}

Html facts(const std::vector<std::pair<std::string, Html>>& rows) {
  const Html all = each(rows, [](const auto& row) {
    if (row.second.empty()) return Html();
    return html("<div><dt>{}</dt><dd>{}</dd></div>", row.first, row.second);
  });
  return html("<dl class=\"facts\">{}</dl>", all);
}

Html prose(std::string_view text) {
  Html all;
  Html items;
  auto end_list = [&] {
    if (!items.empty()) all += html("<ul>{}</ul>", std::exchange(items, {}));
  };
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.substr(0, 2) == "- ") {
      items += html("<li>{}</li>", line.substr(2));
    } else if (!line.empty()) {
      end_list();
      all += html("<p>{}</p>", line);
    }
  }
  end_list();
  return all;
}

Html notice(std::string_view kind, const Html& content) {
  return html("<div class=\"notice {}\">{}</div>", kind, content);
}

Html empty_state(std::string_view title, const Html& what_to_do) {
  return html("<div class=\"empty\"><p class=\"empty-title\">{}</p><p>{}</p></div>", title,
              what_to_do);
}

}  // namespace web
