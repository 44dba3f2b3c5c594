// Facts into tables: one function a fact, run in the transaction that stores the event. They say
// the same as the daemon's own fold over the facts (orchestrator/state.cc). A fact that names
// something never recorded is an error, and the whole commit with it.
#pragma once

#include <span>

#include "store/sqlite.h"
#include "store/store.h"

namespace store {

// The facts of one transaction; the first is event `first`.
base::Status project(Connection& db, std::int64_t first, std::span<const hypotheses::Fact> facts);

// Empties every projected table and replays the events into them, all or nothing.
base::Status rebuild(Connection& db);

// Where a fact stands in the log; the tables refer to it by this number.
using Seq = std::int64_t;

// projection_campaigns.cc
base::Status project(Connection& db, Seq seq, const hypotheses::CampaignCreated& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::CampaignChanged& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::NightStarted& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::NightEnded& fact);

// projection_hypotheses.cc
base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisOpened& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisMoved& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisTaken& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::CandidateMade& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::QuestionAnswered& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::HypothesisDecided& fact);

// projection_experiments.cc
base::Status project(Connection& db, Seq seq, const hypotheses::ExperimentStarted& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::RunRecorded& fact);
// Of all runs among the facts: once a transaction, not a run.
base::Status add_costs(Connection& db, std::span<const hypotheses::Fact> facts);
base::Status project(Connection& db, Seq seq, const hypotheses::ExperimentFinished& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::ExperimentCancelled& fact);

// projection_merges.cc
base::Status project(Connection& db, Seq seq, const hypotheses::MergeOpened& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::MergeChanged& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::MergeAnswered& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::MergeApproved& fact);

// projection_journal.cc: kept as they are
base::Status project(Connection& db, Seq seq, const hypotheses::NightDue& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::IncumbentChosen& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::ProposalRefused& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::NoiseMeasured& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::TimelineRead& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::PlannerSpoke& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::TargetFetched& fact);
base::Status project(Connection& db, Seq seq, const hypotheses::Noted& fact);

// The error of an UPDATE that found nothing to change.
base::Status expect_known(const base::Result<std::int64_t>& changed, const std::string& id);

}  // namespace store
