// The JSON shapes of the API and of the CLI's --json. Enums are the words of hypotheses/words.h,
// ids their text, instants milliseconds; `effect` is an oriented log-ratio (positive = better) with
// `interval: [lo, hi]` and `effect_text` for people. What is not known is null; never NaN.
//
// Lists are {"items": [...], "next": "H-12"}: ask again with before=H-12; null at the end.
// Errors: not_found for an id that the store does not hold, besides the reader's own.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "base/result.h"
#include "hypotheses/types.h"
#include "store/reader.h"

namespace web {

using Json = nlohmann::json;

base::Result<Json> campaigns_view(const store::Reader&);
base::Result<Json> campaign_view(const store::Reader&, hypotheses::CampaignId);  // with its nights
base::Result<Json> nights_view(const store::Reader&, hypotheses::CampaignId,
                               store::Page<hypotheses::NightId>);
base::Result<Json> hypotheses_view(const store::Reader&, const store::HypothesisFilter&,
                                   store::Page<hypotheses::HypothesisId>);
// With its answers, and its experiments with the alternatives that were weighed.
base::Result<Json> hypothesis_view(const store::Reader&, hypotheses::HypothesisId);
// With its runs, `pairs`: {attempt, base, candidate, log_ratio}, and what the runs reported
// besides, `also`: {metric, unit, pairs, base, candidate, log_ratio}.
base::Result<Json> experiment_view(const store::Reader&, hypotheses::ExperimentId);
base::Result<Json> merges_view(const store::Reader&, store::Page<hypotheses::MergeRequestId>);
// With what is known and unknown, the experiments behind it, and how to approve it.
base::Result<Json> merge_view(const store::Reader&, hypotheses::MergeRequestId);

// The morning report: hypotheses by verdict, merge requests, planner turns, totals. Covers the
// newest kReportLimit hypotheses and experiments of a night; says so in `truncated`.
inline constexpr std::size_t kReportLimit = 2000;
base::Result<Json> report_view(const store::Reader&, hypotheses::NightId);
std::string report_text(const Json& report);  // the same for a terminal or a mail

// Why this was tried, why in this way, why this verdict: {"id", "title", "steps": [{"what",
// "text"}]}.
base::Result<Json> explain_view(const store::Reader&, hypotheses::HypothesisId);
base::Result<Json> explain_view(const store::Reader&, hypotheses::ExperimentId);
// Why a queued hypothesis is not under test; only the loop knows (AskWhy).
void add_waiting(Json& explanation, std::string why);
std::string explain_text(const Json& explanation);

// Pieces that pages use too.

// One attempt of an experiment: the two sides' values of the judged metric, where they were
// measured.
struct PairRow {
  int attempt = 0;
  std::optional<double> base, candidate;
  // log(candidate / base) in the metric's own sense; none where either is missing or not above 0.
  std::optional<double> log_ratio;
};
std::vector<PairRow> pairs_of(const hypotheses::Experiment&,
                              const std::vector<hypotheses::Run>&);  // by attempt

// Nights of one campaign, or of all where none is given; newest first.
base::Result<std::vector<hypotheses::Night>> nights_of(const store::Reader&, hypotheses::CampaignId,
                                                       store::Page<hypotheses::NightId>);

Json hypothesis_row(const hypotheses::Hypothesis&);
Json experiment_row(const hypotheses::Experiment&);
Json merge_row(const hypotheses::MergeRequest&);

std::string duration_text(double seconds);     // "0.42 s", "3 min 20 s", "1 h 05 min"
std::string time_text(base::Instant instant);  // "2026-12-01 03:04 UTC"; "" for none
std::string number_text(double value, std::string_view unit);  // "1,234 ns"

}  // namespace web
