// A long history as the loop would have recorded it, made up: legal facts in their order, for
// benches and for whoever wants to see the pages of a large state folder (history_generator).
#pragma once

#include <cstdint>
#include <vector>

#include "hypotheses/facts.h"
#include "store/store.h"

namespace orchestrator {

class History {
 public:
  static constexpr int kRuns = 10;  // of an experiment
  static constexpr int kExperimentsAHypothesis = 5;
  static constexpr int kHypothesesANight = 100;

  // The facts of the next experiment: all of it, after what has to come before it (its campaign,
  // night, hypothesis) and with what it decides.
  std::vector<hypotheses::Fact> next();

  // The next experiment alone, in one commit of 20 rows: both sides built, two pairs measured.
  // Eight events, the experiment, six runs, four observations, an effect that is done and one that
  // begins.
  store::Commit next_record();

  std::int64_t experiments() const { return next_experiment_ - 1; }
  std::int64_t runs() const { return next_run_ - 1; }
  std::int64_t hypotheses() const { return hypothesis_; }
  std::int64_t nights() const { return night_; }

 private:
  void begin_night(std::vector<hypotheses::Fact>& facts);
  void open_hypothesis(std::vector<hypotheses::Fact>& facts);

  std::int64_t campaign_ = 0, night_ = 0, hypothesis_ = 0;
  std::int64_t next_experiment_ = 1, next_run_ = 1;
};

// Records experiments until the history has `experiments` of them, many in a commit.
base::Status fill(store::Store& store, History& history, std::int64_t experiments);

}  // namespace orchestrator
