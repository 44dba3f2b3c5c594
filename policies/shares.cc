#include "policies/shares.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "policies/phrase.h"

namespace policies {
namespace {

using hypotheses::Conditions;
using hypotheses::MetricKey;

bool holds(const Conditions& all, const Conditions& part) {
  return std::all_of(part.begin(), part.end(), [&](const auto& item) {
    const auto found = all.find(item.first);
    return found != all.end() && found->second == item.second;
  });
}

// The newest where several fit.
const MetricShares* shares_for(const std::vector<MetricShares>& shares, const MetricKey& key) {
  const auto found = std::find_if(shares.rbegin(), shares.rend(), [&](const MetricShares& entry) {
    return entry.key.metric == key.metric && holds(key.conditions, entry.key.conditions);
  });
  return found == shares.rend() ? nullptr : &*found;
}

}  // namespace

ChangeShare share_of_change(const std::vector<MetricShares>& shares, const MetricKey& key,
                            hypotheses::Layer metric_layer, const Touched& touched) {
  if (metric_layer == touched.layer)
    return {1, true, fmt::format("the claim is about the {} itself", to_text(metric_layer))};
  const MetricShares* found = shares_for(shares, key);
  if (found == nullptr)
    return {1, false,
            fmt::format("share of {} unknown, taken as 1: no timeline of the base shows it",
                        to_text(key))};
  std::set<std::string> open;
  std::string names;
  for (const auto& [span, globs] : found->spans) {
    if (!hypotheses::covers(globs, touched.paths, touched.knobs)) continue;
    open.insert(span);
    names += (names.empty() ? "" : ", ") + span;
  }
  if (open.empty())
    return {1, false,
            fmt::format("share of {} unknown, taken as 1: no span of {} stands for what changes",
                        to_text(key), found->probe)};
  double share = 0;
  for (const hypotheses::StackShare& stack : found->stacks) {
    if (std::any_of(stack.spans.begin(), stack.spans.end(),
                    [&](const std::string& span) { return open.contains(span); }))
      share += stack.share;
  }
  share = std::clamp(share, 0.0, 1.0);
  return {share, true,
          fmt::format("{} takes {} of {}, by {}", names, percent_text(share), to_text(key),
                      found->probe)};
}

}  // namespace policies
