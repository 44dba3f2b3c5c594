// The small parts of pages. Every one is whole without colour: words and shapes carry the meaning.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hypotheses/types.h"
#include "web/api/html.h"
#include "web/api/views.h"

namespace web {

// A coloured word; `kind` picks the colour: a verdict's or a state's word.
Html badge(std::string_view word);
Html verdict_badge(const hypotheses::Hypothesis& hypothesis);  // its verdict, else its state

Html hypothesis_link(hypotheses::HypothesisId id);  // "" for none, likewise below
Html experiment_link(hypotheses::ExperimentId id);
Html merge_link(hypotheses::MergeRequestId id);
Html commit_html(const hypotheses::CommitId& commit);  // brief, the whole on hover
Html time_html(base::Instant instant);

// Rows of "name: value"; empty values are left out.
Html facts(const std::vector<std::pair<std::string, Html>>& rows);
// Text of several lines as paragraphs; lines that begin with "- " become a list.
Html prose(std::string_view text);
Html notice(std::string_view kind, const Html& content);  // "note", "warn", "good"
Html empty_state(std::string_view title, const Html& what_to_do);

// An oriented effect with its interval, and the same in words.
struct Effect {
  double estimate = 0, low = 0, high = 0;
  std::string text;
};
Effect effect_of(const hypotheses::Evidence& evidence);

// Around zero, better to the right. `reach` is the log-ratio at either end.
Html effect_bar(const Effect& effect, std::string_view verdict, double reach);
double reach_of(const Effect& effect);
Html measured_cell(const Effect& effect, std::string_view verdict, double reach);  // bar and words
// The same, larger, with axis and the predicted effect.
Html effect_chart(const hypotheses::Hypothesis& hypothesis);
// A dot for each pair, in the metric's own sense.
Html pair_plot(const std::vector<PairRow>& pairs,
               const std::optional<hypotheses::Evidence>& evidence);

std::string percent_text(double log_ratio);  // "+3.1%", "−40%"; "1.71x" from twice on

}  // namespace web
