// What to ask next, and of which hypothesis (DESIGN 5). Pure, and cheap enough for ten thousand
// open hypotheses: what many of them share is weighed once, in an Outlook.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "policies/track.h"

namespace policies {

// An open question of one hypothesis: what its cheapest experiment costs, and how likely the answer
// ends the matter. A question that nothing can answer costs nothing: it is known now.
struct PricedQuestion {
  hypotheses::Question question = hypotheses::Question::builds;
  double cost_s = 0;
  double p_refuting = 0.5;
};

struct RankedQuestion {
  std::size_t index = 0;  // into what was given
  bool allowed = false;   // its turn by precedence: builds, then correct, then all others
  double price_s = 0;     // cost per probability of refuting
};

// All questions, the one to ask next first: those that are allowed before the others, by price;
// ties in the given order.
std::vector<RankedQuestion> order_questions(const std::vector<PricedQuestion>& questions);

// "own-metric next: 14 s at 48% to refute is 29 s per refutation; carries-over 2,400 s"
std::string why_next(const std::vector<PricedQuestion>& questions,
                     const std::vector<RankedQuestion>& order);

// Expected cost of asking all questions in their best order until one refutes.
double cost_to_verdict_s(const std::vector<PricedQuestion>& questions);

// What hypotheses of one group have in common: the same lineage, own metric and covering probes,
// predictions of about the same size. Weighed once for all of them.
struct Outlook {
  double p_supported = 0.25;  // all questions, the mean
  double p_hopeful = 0.25;    // the same at the upper 80% of what is still possible: exploration
  double shrink = 1;          // of predictions
  double share = 1;           // of the goal that the subject accounts for
  double cost_s = 1;          // expected, to a verdict
};

// `questions` with the costs of their cheapest experiments; their p_refuting is filled in here.
Outlook outlook(const Track& track, const Lineage& lineage, std::vector<PricedQuestion> questions,
                double share);

// A queued hypothesis.
struct Queued {
  std::size_t outlook = 0;  // index of its group's
  double predicted = 0;     // oriented log-ratio on its own metric
  bool by_person = false;
};

struct RankedHypothesis {
  std::size_t index = 0;     // into what was given
  double gain = 0;           // oriented log-ratio at the goal, if the claim holds: shrunk, diluted
  double gain_per_hour = 0;  // hopeful gain per machine-hour: what the queue is ordered by
};

// A person's hypotheses come before a planner's; then the greatest hopeful gain per cost; ties in
// the given order (the oldest first).
std::vector<RankedHypothesis> order_queue(const std::vector<Queued>& queue,
                                          const std::vector<Outlook>& outlooks);

// The first of order_queue, in one pass; nothing for an empty queue.
std::optional<std::size_t> best_queued(const std::vector<Queued>& queue,
                                       const std::vector<Outlook>& outlooks);

// "+1.8% of the goal if it holds (predicted +12%, trusted at 100%, share 15%), 33% likely,
// hopefully 52%; a verdict takes 310 s: 10.9% an hour"
std::string why_worth(const Queued& queued, const Outlook& outlook);

}  // namespace policies
