// Typed queries over the projected tables, on a read-only connection of its own: readers never block
// the writer. One Reader per thread.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hypotheses/types.h"
#include "store/store.h"

namespace store {

struct HypothesisFilter {
  hypotheses::CampaignId campaign;  // none = any, likewise below
  hypotheses::NightId night;
  std::optional<hypotheses::Verdict> verdict;
  std::string text;  // full-text search (FTS5) over claim and reason; quoted for the user
};

// Keyset page: items with an id below `before` (none = from the newest), newest first.
template <class Id>
struct Page {
  Id before;
  int limit = 50;  // at most 500
};

struct Overview {  // for /metrics and the Health page; kept incrementally, never counted over
  std::int64_t campaigns = 0, nights = 0, hypotheses = 0, experiments = 0, runs = 0, events = 0;
};

class Reader {
 public:
  static base::Result<Reader> open(const std::filesystem::path& folder);
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;
  ~Reader();

  base::Result<std::vector<hypotheses::Campaign>> campaigns() const;
  base::Result<std::optional<hypotheses::Campaign>> campaign(hypotheses::CampaignId) const;
  base::Result<std::vector<hypotheses::Night>> nights(hypotheses::CampaignId,
                                                      Page<hypotheses::NightId>) const;
  base::Result<std::optional<hypotheses::Night>> night(hypotheses::NightId) const;
  base::Result<std::vector<hypotheses::Hypothesis>> hypotheses(
      const HypothesisFilter&, Page<hypotheses::HypothesisId>) const;
  base::Result<std::optional<hypotheses::Hypothesis>> hypothesis(hypotheses::HypothesisId) const;
  base::Result<std::vector<hypotheses::Experiment>> experiments_of(hypotheses::HypothesisId) const;
  base::Result<std::vector<hypotheses::Experiment>> experiments_of(
      hypotheses::MergeRequestId) const;
  base::Result<std::vector<hypotheses::Experiment>> experiments(
      hypotheses::NightId, Page<hypotheses::ExperimentId>) const;
  base::Result<std::optional<hypotheses::Experiment>> experiment(hypotheses::ExperimentId) const;
  base::Result<std::vector<hypotheses::Run>> runs(hypotheses::ExperimentId) const;
  base::Result<std::vector<hypotheses::MergeRequest>> merges(Page<hypotheses::MergeRequestId>) const;
  base::Result<std::optional<hypotheses::MergeRequest>> merge(hypotheses::MergeRequestId) const;
  base::Result<std::vector<hypotheses::PlannerTurn>> planner_turns(hypotheses::NightId) const;
  base::Result<std::vector<Event>> events_after(std::int64_t seq, int limit) const;
  base::Result<Overview> overview() const;

  struct Impl;

 private:
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace store
