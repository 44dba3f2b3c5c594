// Starting an experiment for a question, and going on with one that runs.
#pragma once

#include "orchestrator/decide.h"
#include "orchestrator/judge.h"
#include "orchestrator/questions.h"

namespace orchestrator {

// Whose question it is: a hypothesis', a merge's, or nobody's (an A/A measurement of noise, or
// a timeline).
struct Asker {
  const hypotheses::Hypothesis* hypothesis = nullptr;  // also set for a merge: whose it is
  const hypotheses::MergeRequest* merge = nullptr;
};

struct NextQuestion {
  Needed needed;
  std::string why;  // it and no other that is open; empty where there was no choice
};

// What an experiment is judged by: the policy's numbers, what is known of noise and costs, and what
// its question needs.
JudgeRule rule_for(const State& state, const NightRecord& night,
                   const hypotheses::Experiment& experiment);

// Adds the answer to a question of the asker.
void record_answer(Decision& decision, const Asker& asker, hypotheses::Answer answer);

// Starts the cheapest experiment that can answer, or records that nothing can.
Decision ask(const State& state, const NightRecord& night, const Asker& asker,
             const NextQuestion& next, base::Instant now);

// Starts an A/A measurement of the goal metric on the base commit.
Decision ask_noise(const State& state, const NightRecord& night, base::Instant now);

// Judges a running experiment: records its answer, or starts the next attempt.
Decision go_on(const State& state, const NightRecord& night, const ExperimentRecord& record,
               base::Instant now);

// The question to ask next: builds, then correct, then the one with the least cost per probability
// of refuting. Nothing when all are answered.
std::optional<NextQuestion> next_question(const std::vector<Needed>& needed,
                                          const std::vector<hypotheses::Answer>& answers,
                                          const hypotheses::Hypothesis& hypothesis,
                                          const NightRecord& night, const policies::Policy& policy,
                                          double remaining_s);

// Machine-seconds kept back so that the night's winner can still be confirmed and merged.
double merge_reserve_s(const State& state, const NightRecord& night);

// Why nothing of this size may start for a hypothesis now; nothing when it may. An attempt of an
// experiment that runs is `counted` among the night's experiments already.
std::optional<std::string> no_budget(const State& state, const NightRecord& night,
                                     double estimate_s, double reserve_s, base::Instant now,
                                     bool counted = false);

}  // namespace orchestrator
