#include "policies/order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "policies/phrase.h"
#include "policies/reach.h"

namespace policies {
namespace {

using hypotheses::Question;

// Where the posterior is looked at for exploration: one in five is better than that.
constexpr double kHopeful = 0.8;
constexpr double kLeastCost_s = 0.01;  // keeps a free verdict from dividing by nothing

int precedence(Question question) {
  if (question == Question::builds) return 0;
  return question == Question::correct ? 1 : 2;
}

// A product of independent probabilities as a Beta with the same mean and variance.
Beta product(const std::vector<Beta>& factors) {
  double mean = 1, square = 1;
  for (const Beta& factor : factors) {
    mean *= factor.mean();
    square *= factor.square();
  }
  const double variance = square - mean * mean;
  if (!(variance > 0)) return {mean * 1e6, (1 - mean) * 1e6};
  const double weight = mean * (1 - mean) / variance - 1;
  return {mean * weight, (1 - mean) * weight};
}

double gain_at_goal(const Queued& queued, const Outlook& outlook) {
  return -diluted(-queued.predicted * outlook.shrink, outlook.share);
}

RankedHypothesis rank(std::size_t index, const Queued& queued, const Outlook& outlook) {
  constexpr double kHour_s = 3600;
  RankedHypothesis ranked;
  ranked.index = index;
  ranked.gain = gain_at_goal(queued, outlook);
  ranked.gain_per_hour =
      kHour_s * ranked.gain * outlook.p_hopeful / std::max(outlook.cost_s, kLeastCost_s);
  return ranked;
}

// Strictly before, so that ties keep the given order.
bool comes_before(const std::vector<Queued>& queue, const RankedHypothesis& a,
                  const RankedHypothesis& b) {
  const bool a_by_person = queue[a.index].by_person, b_by_person = queue[b.index].by_person;
  if (a_by_person != b_by_person) return a_by_person;
  return a.gain_per_hour > b.gain_per_hour;
}

}  // namespace

std::vector<RankedQuestion> order_questions(const std::vector<PricedQuestion>& questions) {
  int turn = std::numeric_limits<int>::max();
  for (const PricedQuestion& each : questions) turn = std::min(turn, precedence(each.question));
  std::vector<RankedQuestion> order;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const PricedQuestion& each = questions[i];
    const double price_s = each.cost_s <= 0 ? 0 : each.cost_s / std::max(each.p_refuting, 1e-9);
    order.push_back({i, precedence(each.question) == turn, price_s});
  }
  std::stable_sort(order.begin(), order.end(), [&](const auto& a, const auto& b) {
    const int of_a = precedence(questions[a.index].question);
    const int of_b = precedence(questions[b.index].question);
    return of_a != of_b ? of_a < of_b : a.price_s < b.price_s;
  });
  return order;
}

std::string why_next(const std::vector<PricedQuestion>& questions,
                     const std::vector<RankedQuestion>& order) {
  std::string text;
  for (const RankedQuestion& ranked : order) {
    const PricedQuestion& each = questions[ranked.index];
    const std::string name(to_text(each.question));
    if (text.empty()) {
      text = fmt::format("{} next: {:.0f} s at {:.0f}% to refute is {:.0f} s per refutation", name,
                         each.cost_s, 100 * each.p_refuting, ranked.price_s);
    } else if (ranked.allowed) {
      text += fmt::format("; {} {:.0f} s", name, ranked.price_s);
    } else {
      text += fmt::format("; {} after that", name);
    }
  }
  return text;
}

double cost_to_verdict_s(const std::vector<PricedQuestion>& questions) {
  double cost_s = 0, reached = 1;
  for (const RankedQuestion& ranked : order_questions(questions)) {
    const PricedQuestion& each = questions[ranked.index];
    cost_s += reached * each.cost_s;
    reached *= 1 - each.p_refuting;
  }
  return cost_s;
}

Outlook outlook(const Track& track, const Lineage& lineage, std::vector<PricedQuestion> questions,
                double share) {
  std::vector<Beta> supported;
  for (PricedQuestion& each : questions) {
    const Beta refuting = p_refuting(track, lineage, each.question);
    each.p_refuting = refuting.mean();
    supported.push_back({refuting.b, refuting.a});
  }
  Outlook made;
  if (!supported.empty()) {
    const Beta all = product(supported);
    made.p_supported = all.mean();
    made.p_hopeful = std::max(all.mean(), all.quantile(kHopeful));
  }
  made.shrink = shrink(track, lineage);
  made.share = share;
  made.cost_s = cost_to_verdict_s(questions);
  return made;
}

std::vector<RankedHypothesis> order_queue(const std::vector<Queued>& queue,
                                          const std::vector<Outlook>& outlooks) {
  std::vector<RankedHypothesis> order;
  order.reserve(queue.size());
  for (std::size_t i = 0; i < queue.size(); ++i) {
    order.push_back(rank(i, queue[i], outlooks[queue[i].outlook]));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto& a, const auto& b) { return comes_before(queue, a, b); });
  return order;
}

std::optional<std::size_t> best_queued(const std::vector<Queued>& queue,
                                       const std::vector<Outlook>& outlooks) {
  std::optional<RankedHypothesis> best;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    const RankedHypothesis each = rank(i, queue[i], outlooks[queue[i].outlook]);
    if (!best || comes_before(queue, each, *best)) best = each;
  }
  if (!best) return {};
  return best->index;
}

std::string why_worth(const Queued& queued, const Outlook& outlook) {
  const RankedHypothesis ranked = rank(0, queued, outlook);
  return fmt::format(
      "{}+{} of the goal if it holds (predicted +{}, trusted at {:.0f}%, share {}), {:.0f}% "
      "likely, hopefully {:.0f}%; a verdict takes {:.0f} s: {:.1f}% an hour",
      queued.by_person ? "a person asks; " : "", percent_text(std::expm1(ranked.gain)),
      percent_text(std::expm1(queued.predicted)), 100 * outlook.shrink, percent_text(outlook.share),
      100 * outlook.p_supported, 100 * outlook.p_hopeful, outlook.cost_s,
      100 * ranked.gain_per_hour);
}

}  // namespace policies
