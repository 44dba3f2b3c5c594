#include "policies/track.h"

#include <algorithm>
#include <boost/math/distributions/beta.hpp>
#include <cmath>
#include <string_view>

#include "policies/costs.h"

namespace policies {
namespace {

using hypotheses::Question;
using hypotheses::Verdict;

// The mean of the group above is worth so many answers.
constexpr double kParentWeight = 4;
constexpr std::size_t kRatios = 31;
constexpr double kLeastShrink = 0.05;

// Names of the groups that a lineage belongs to, the widest first.
std::vector<std::string> groups_of(const Lineage& lineage) {
  std::vector<std::string> names = {""};
  names.emplace_back(to_text(lineage.layer));
  names.push_back(names.back() + "/" + std::string(to_text(lineage.origin)));
  if (!lineage.skeleton.empty()) names.push_back(names.back() + "/" + lineage.skeleton);
  return names;
}

double prior_refuting(Question question) {
  switch (question) {
    case Question::builds:
    case Question::correct:
      return 0.15;
    case Question::own_metric:
    case Question::carries_over:
      return 0.5;
    case Question::guards:
      return 0.1;
  }
  return 0.5;
}

}  // namespace

double Beta::quantile(double p) const {
  return boost::math::quantile(boost::math::beta_distribution<>(a, b), p);
}

void record_answer(Track& track, const Lineage& lineage, Question question, Verdict verdict) {
  const bool supported = verdict == Verdict::supported;
  if (!supported && verdict != Verdict::refuted && verdict != Verdict::no_difference) return;
  for (const std::string& name : groups_of(lineage)) {
    Track::Counts& counts = track.groups[name].answers[static_cast<std::size_t>(question)];
    ++(supported ? counts.supported : counts.refuted);
  }
}

void record_size(Track& track, const Lineage& lineage, double predicted, double measured) {
  if (!(predicted > 0) || !std::isfinite(measured)) return;
  for (const std::string& name : groups_of(lineage)) {
    std::vector<double>& ratios = track.groups[name].ratios;
    if (ratios.size() >= kRatios) ratios.erase(ratios.begin());
    ratios.push_back(measured / predicted);
  }
}

Beta p_refuting(const Track& track, const Lineage& lineage, Question question) {
  const double prior = prior_refuting(question);
  Beta posterior{kParentWeight * prior, kParentWeight * (1 - prior)};
  for (const std::string& name : groups_of(lineage)) {
    const auto group = track.groups.find(name);
    Track::Counts counts;
    if (group != track.groups.end()) {
      counts = group->second.answers[static_cast<std::size_t>(question)];
    }
    const double above = posterior.mean();
    posterior = {kParentWeight * above + counts.refuted,
                 kParentWeight * (1 - above) + counts.supported};
  }
  return posterior;
}

double shrink(const Track& track, const Lineage& lineage) {
  double pooled = 1;
  for (const std::string& name : groups_of(lineage)) {
    const auto group = track.groups.find(name);
    if (group == track.groups.end()) break;
    pooled = blended(group->second.ratios, pooled);
  }
  return std::clamp(pooled, kLeastShrink, 1.0);
}

}  // namespace policies
