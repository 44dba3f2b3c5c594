// Typed queries over the projected tables, on a read-only connection of its own: readers never
// block the writer, and a query sees one moment throughout. One Reader per thread. An unknown id is
// nothing, not an error.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

// One observation as a point of a trend.
struct Measured {
  hypotheses::RunId run;
  hypotheses::ExperimentId experiment;
  base::Instant at;  // when it was recorded
  double value = 0;
  std::string unit;
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
  // As lists show them: without answers, and without the candidate, its branch and its paths.
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
  base::Result<std::vector<hypotheses::MergeRequest>> merges(
      Page<hypotheses::MergeRequestId>) const;
  base::Result<std::optional<hypotheses::MergeRequest>> merge(hypotheses::MergeRequestId) const;
  base::Result<std::vector<hypotheses::PlannerTurn>> planner_turns(hypotheses::NightId) const;

  // What was measured of a metric in exactly these conditions, on one side, newest first.
  base::Result<std::vector<Measured>> measured(const hypotheses::MetricKey&, hypotheses::Side,
                                               Page<hypotheses::RunId>) const;

  // The facts that no other query gives, oldest first: of kind "noted", "proposal-refused",
  // "noise-measured", "incumbent-chosen", "night-due" or "planner-spoke" (kind_of). Those of a
  // campaign are the ones recorded outside any night.
  base::Result<std::vector<Event>> journal(hypotheses::NightId, std::string_view kind) const;
  base::Result<std::vector<Event>> journal(hypotheses::CampaignId, std::string_view kind) const;

  base::Result<std::vector<Event>> events_after(std::int64_t seq,
                                                int limit) const;  // limit <= 10000
  base::Result<Overview> overview() const;

  // A whole, checked copy of one moment in one file that must not exist yet.
  base::Status backup_to(const std::filesystem::path& file) const;
  // The structure of the whole file; an error names what is damaged and the way out.
  base::Status check() const;

  struct Impl;

 private:
  explicit Reader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace store
