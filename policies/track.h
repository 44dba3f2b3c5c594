// How earlier hypotheses fared, and what that makes likely of the next one (DESIGN 5). A value:
// facts are added, posteriors are read; it does not grow with the length of the history.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "hypotheses/types.h"

namespace policies {

// What tells how such a claim fares: the layer of its subject, who proposed it, and the
// optimisation pattern behind it (empty = none).
struct Lineage {
  hypotheses::Layer layer = hypotheses::Layer::kernel;
  hypotheses::Origin origin = hypotheses::Origin::builtin;
  std::string skeleton;
};

// A Beta distribution of a probability.
struct Beta {
  double a = 1, b = 1;
  double mean() const { return a / (a + b); }
  double square() const { return mean() * (a + 1) / (a + b + 1); }  // of the second moment
  double quantile(double p) const;
};

// Answers to each question and sizes of supported claims, for all and for ever narrower groups of
// them: all; by layer; by layer and origin; by layer, origin and skeleton.
struct Track {
  struct Counts {
    int refuted = 0, supported = 0;
  };
  struct Group {
    std::array<Counts, 5> answers;  // by Question
    std::vector<double> ratios;     // measured over predicted log-ratio; the latest
  };
  std::map<std::string, Group> groups;  // "", "kernel", "kernel/llm", "kernel/llm/tiling"
};

// Refuted and no-difference refute; inconclusive and invalid say nothing.
void record_answer(Track& track, const Lineage& lineage, hypotheses::Question question,
                   hypotheses::Verdict verdict);

// An own metric that was supported: oriented log-ratios, as predicted and as measured.
void record_size(Track& track, const Lineage& lineage, double predicted, double measured);

// The probability that the answer to this question refutes. Each level of the hierarchy takes the
// mean of the one above as a prior worth a few answers, so that a group with few answers is judged
// by its parents. Before any answer: 15% for builds and correct, half for own metric and carries
// over, 10% for guards.
Beta p_refuting(const Track& track, const Lineage& lineage, hypotheses::Question question);

// What a prediction that is right in its sense should be multiplied with: the median of measured
// over predicted, pooled likewise; at most 1, at least 0.05. 1 before anything was measured.
double shrink(const Track& track, const Lineage& lineage);

}  // namespace policies
