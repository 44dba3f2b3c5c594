#include <fmt/format.h>

#include "store/reader_impl.h"

namespace store {

namespace {

constexpr const char* kExperiments =
    "SELECT x.state, s.payload, f.payload, x.cost_s FROM experiments x JOIN events s ON s.seq = "
    "x.started "
    "LEFT JOIN events f ON f.seq = x.finished ";

base::Result<hypotheses::Experiment> experiment_at(const Connection& db, const Statement& row) {
  NS_ASSIGN(started, fact_at<hypotheses::ExperimentStarted>(db, row, 1));
  hypotheses::Experiment experiment = std::move(started.experiment);
  NS_ASSIGN(state, row.word<hypotheses::ExperimentState>(0));
  experiment.state = state;
  if (!row.null(2)) {
    NS_ASSIGN(finished, fact_at<hypotheses::ExperimentFinished>(db, row, 2));
    experiment.answer = std::move(finished.answer);
  }
  experiment.cost_s = row.real(3);
  return experiment;
}

}  // namespace

base::Result<std::vector<hypotheses::Experiment>> Reader::experiments_of(
    hypotheses::HypothesisId id) const {
  auto& db = impl_->db;
  return all_rows(
      db.query(fmt::format("{} WHERE x.hypothesis = ? ORDER BY x.id", kExperiments), id),
      [&](const Statement& row) { return experiment_at(db, row); });
}

base::Result<std::vector<hypotheses::Experiment>> Reader::experiments_of(
    hypotheses::MergeRequestId id) const {
  auto& db = impl_->db;
  return all_rows(db.query(fmt::format("{} WHERE x.merge = ? ORDER BY x.id", kExperiments), id),
                  [&](const Statement& row) { return experiment_at(db, row); });
}

base::Result<std::vector<hypotheses::Experiment>> Reader::experiments(
    hypotheses::NightId night, Page<hypotheses::ExperimentId> page) const {
  auto& db = impl_->db;
  return all_rows(
      db.query(
          fmt::format("{} WHERE x.night = ? AND x.id < ? ORDER BY x.id DESC LIMIT ?", kExperiments),
          night, upper_end(page), page_size(page)),
      [&](const Statement& row) { return experiment_at(db, row); });
}

base::Result<std::optional<hypotheses::Experiment>> Reader::experiment(
    hypotheses::ExperimentId id) const {
  auto& db = impl_->db;
  return one_row(db.query(fmt::format("{} WHERE x.id = ?", kExperiments), id),
                 [&](const Statement& row) { return experiment_at(db, row); });
}

base::Result<std::vector<hypotheses::Run>> Reader::runs(hypotheses::ExperimentId id) const {
  auto& db = impl_->db;
  return all_rows(db.query("SELECT e.payload FROM runs r JOIN events e ON e.seq = r.recorded "
                           "WHERE r.experiment = ? ORDER BY r.id",
                           id),
                  [&](const Statement& row) -> base::Result<hypotheses::Run> {
                    NS_ASSIGN(fact, fact_at<hypotheses::RunRecorded>(db, row, 0));
                    return std::move(fact.run);
                  });
}

base::Result<std::vector<Measured>> Reader::measured(const hypotheses::MetricKey& key,
                                                     hypotheses::Side side,
                                                     Page<hypotheses::RunId> page) const {
  return all_rows(
      impl_->db.query("SELECT o.run, r.experiment, e.at_ms, o.value, o.unit FROM observations o "
                      "JOIN runs r ON r.id = o.run JOIN events e ON e.seq = r.recorded "
                      "WHERE o.metric = ? AND o.conditions = ? AND o.side = ? AND o.run < ? "
                      "ORDER BY o.run DESC, o.ordinal DESC LIMIT ?",
                      key.metric, hypotheses::to_text(key.conditions), side, upper_end(page),
                      page_size(page)),
      [](const Statement& row) -> base::Result<Measured> {
        return Measured{row.id<hypotheses::RunId>(0), row.id<hypotheses::ExperimentId>(1),
                        row.instant(2), row.real(3), row.string(4)};
      });
}

}  // namespace store
