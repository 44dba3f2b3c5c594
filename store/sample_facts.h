// Facts for tests and the benchmark: complete, legal and in order, with no field at its default.
#pragma once

#include <vector>

#include "hypotheses/facts.h"
#include "store/store.h"

namespace store::sample {

hypotheses::Campaign campaign(std::int64_t id);
hypotheses::Night night(std::int64_t id, std::int64_t campaign);
hypotheses::Hypothesis hypothesis(std::int64_t id, std::int64_t night);
hypotheses::Experiment experiment(std::int64_t id, std::int64_t hypothesis, std::int64_t night);
hypotheses::Run run(std::int64_t id, std::int64_t experiment, int attempt, hypotheses::Side side);
hypotheses::MergeRequest merge(std::int64_t id, std::int64_t hypothesis, std::int64_t night);
hypotheses::Answer answer(hypotheses::Question question, std::int64_t experiment);

// The first night of C-1, N-1: every kind of fact at least once, in an order that may happen.
std::vector<hypotheses::Fact> story();

// The story cut into steps of a few facts, with effects that come and go.
std::vector<Commit> script();

// One finished experiment, of 18 runs in 20 facts unless told, on an existing night and hypothesis.
// Runs are numbered from `first_run`.
std::vector<hypotheses::Fact> finished_experiment(std::int64_t id, std::int64_t first_run,
                                                  std::int64_t hypothesis, std::int64_t night,
                                                  int runs = 18);

}  // namespace store::sample
