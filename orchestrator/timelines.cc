#include "orchestrator/timelines.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/rng.h"
#include "orchestrator/experiments.h"
#include "policies/phrase.h"

namespace orchestrator {

using hypotheses::Experiment;
using hypotheses::MetricKey;
using hypotheses::Probe;
using hypotheses::Timeline;

namespace {

constexpr double kUnknownTimeline_s = 20, kUnknownBaseBuild_s = 20;  // until one was seen
constexpr std::size_t kSpansTold = 6;

struct Wanted {
  const Probe* probe;
  MetricKey key;
};

// In the manifest's order, its conditions too.
std::optional<Wanted> wanted_timeline(const NightRecord& night) {
  for (const auto& entry : night.manifest->probes) {
    const Probe& probe = entry.second;
    if (probe.format != hypotheses::Format::chrome_trace) continue;
    for (const auto& conditions : hypotheses::combinations(probe)) {
      MetricKey key{probe.shows, conditions};
      bool known = std::any_of(night.shares.begin(), night.shares.end(), [&](const auto& shares) {
        return shares.probe == probe.name && shares.key == key;
      });
      if (known || night.timelines.count(timeline_name(probe.name, key)) != 0) continue;
      return Wanted{&probe, std::move(key)};
    }
  }
  return {};
}

double timeline_cost_s(const NightRecord& night, const Probe& probe) {
  double prior_s = std::min(kUnknownTimeline_s, probe.timeout_s / 2);
  auto seen = night.learned.run.find(probe.name);
  double run_s = seen != night.learned.run.end() ? seen->second.typical_s(prior_s) : prior_s;
  return run_s + (night.learned.build_warm.known() ? 0 : kUnknownBaseBuild_s);
}

}  // namespace

Decision ask_timeline(const State& state, const NightRecord& night, base::Instant now) {
  Decision decision;
  auto wanted = wanted_timeline(night);
  if (!wanted) return decision;
  double estimate_s = timeline_cost_s(night, *wanted->probe);
  if (auto why_not = no_budget(state, night, estimate_s, merge_reserve_s(state, night), now)) {
    decision.facts.push_back(hypotheses::TimelineRead{night.night.id,
                                                      {},
                                                      wanted->probe->name,
                                                      wanted->key,
                                                      night.night.base,
                                                      {},
                                                      "not run: " + *why_not});
    return decision;
  }
  Experiment experiment;
  experiment.id = {state.next_experiment};
  experiment.campaign = night.night.campaign;
  experiment.night = night.night.id;
  experiment.question = hypotheses::Question::own_metric;
  experiment.probe = wanted->probe->name;
  experiment.key = wanted->key;
  experiment.base = experiment.candidate = night.night.base;
  experiment.seed = base::seed_from(night.night.seed, experiment.id.text());
  experiment.estimate_s = estimate_s;
  experiment.why = fmt::format(
      "timeline of the base: one run, to learn how much of {} each span takes, and so what a "
      "change "
      "of it can gain there at most",
      to_text(wanted->key));
  decision.effects.push_back(RunAttempt{experiment.id, 0, {hypotheses::Side::base}});
  decision.facts.push_back(hypotheses::ExperimentStarted{std::move(experiment)});
  return decision;
}

hypotheses::TimelineRead timeline_read(const ExperimentRecord& record,
                                       const hypotheses::Answer& answer) {
  const Experiment& experiment = record.experiment;
  hypotheses::TimelineRead read{experiment.night, experiment.id, experiment.probe, experiment.key,
                                experiment.base,  std::nullopt,  answer.reason};
  bool good = answer.verdict == hypotheses::Verdict::supported;
  if (good && !record.runs.empty()) read.timeline = record.runs.back().timeline;
  return read;
}

std::string timeline_text(const Timeline& timeline) {
  std::set<std::string> spans;
  for (const auto& stack : timeline.stacks) spans.insert(stack.spans.begin(), stack.spans.end());
  std::vector<std::pair<double, std::string>> shares;
  for (const std::string& span : spans) shares.emplace_back(inclusive_share(timeline, span), span);
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(shares.size(), kSpansTold); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", shares[i].second,
                        policies::percent_text(shares[i].first));
  }
  if (shares.size() > kSpansTold) text += fmt::format(" and {} more", shares.size() - kSpansTold);
  text += fmt::format("{}idle {}", text.empty() ? "" : "; ", policies::percent_text(timeline.idle));
  if (!timeline.missing.empty())
    text += fmt::format("; never seen: {}", fmt::join(timeline.missing, ", "));
  return text;
}

}  // namespace orchestrator
