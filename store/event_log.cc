#include "store/event_log.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "hypotheses/json.h"
#include "store/rows.h"
#include "store/sqlite_error.h"

namespace store {

namespace {

tl::unexpected<base::Error> not_finite(double value, const std::string& what,
                                       const std::string& where) {
  return base::fail(
      base::ErrorCode::bad_input,
      fmt::format("expected a finite number for {}, found {}; leave the value out and record the "
                  "run as bad-output",
                  what, value),
      where);
}

// Texts are made only for an error: this is asked of every run.
base::Status check_run(const hypotheses::Run& run) {
  const auto where = [&] { return run.id.text() + " of " + run.experiment.text(); };
  if (!std::isfinite(run.wall_s)) return not_finite(run.wall_s, "wall_s", where());
  for (const auto& observation : run.observations) {
    if (std::isfinite(observation.value)) continue;
    return not_finite(observation.value, hypotheses::to_text(observation.key), where());
  }
  return {};
}

base::Status check_evidence(const std::optional<hypotheses::Evidence>& evidence,
                            const std::string& where) {
  if (!evidence) return {};
  for (double value :
       {evidence->effect, evidence->low, evidence->high, evidence->e_better, evidence->e_worse,
        evidence->noise, evidence->base_value, evidence->candidate_value}) {
    if (std::isfinite(value)) continue;
    return not_finite(value, "the evidence on " + hypotheses::to_text(evidence->key), where);
  }
  return {};
}

struct CheckStorable {
  base::Status operator()(const hypotheses::RunRecorded& fact) const { return check_run(fact.run); }
  base::Status operator()(const hypotheses::ExperimentFinished& fact) const {
    if (!std::isfinite(fact.cost_s)) {
      return not_finite(fact.cost_s, "cost_s", fact.experiment.text());
    }
    return check_evidence(fact.answer.evidence, fact.experiment.text());
  }
  base::Status operator()(const hypotheses::NoiseMeasured& fact) const {
    if (std::isfinite(fact.noise)) return {};
    return not_finite(fact.noise, "the noise of " + hypotheses::to_text(fact.key),
                      fact.night.text());
  }
  base::Status operator()(const hypotheses::QuestionAnswered& fact) const {
    return check_evidence(fact.answer.evidence, fact.hypothesis.text());
  }
  base::Status operator()(const hypotheses::HypothesisDecided& fact) const {
    return check_evidence(fact.evidence, fact.hypothesis.text());
  }
  base::Status operator()(const hypotheses::MergeAnswered& fact) const {
    return check_evidence(fact.answer.evidence, fact.merge.text());
  }
  template <class F>
  base::Status operator()(const F&) const {
    return {};
  }
};

}  // namespace

base::Status check_storable(const hypotheses::Fact& fact) {
  return std::visit(CheckStorable{}, fact);
}

base::Status append(Connection& db, std::int64_t seq, base::Instant at,
                    const hypotheses::Fact& fact) {
  NS_TRY(db.execute("INSERT INTO events (seq, at_ms, kind, payload) VALUES (?, ?, ?, ?)", seq, at,
                    hypotheses::kind_of(fact), hypotheses::to_json_text(fact)));
  return {};
}

base::Result<std::int64_t> last_event(Connection& db) {
  return db.integer("SELECT max(seq) FROM events");
}

base::Result<hypotheses::Fact> parse_fact(std::string_view kind, std::string_view payload,
                                          const Connection& db) {
  auto json = nlohmann::json::parse(payload, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) {
    return tl::unexpected(
        corrupt_database(db.file(), fmt::format("a {} event whose payload is no JSON", kind)));
  }
  auto fact = hypotheses::fact_from_json(kind, json);
  if (!fact) {
    return tl::unexpected(corrupt_database(
        db.file(), fmt::format("a {} event that cannot be read ({})", kind, fact.error().text())));
  }
  return fact;
}

base::Status each_event(Connection& db, std::int64_t after, std::int64_t limit,
                        const std::function<base::Status(const Event&)>& visit) {
  NS_ASSIGN(rows, db.query("SELECT seq, at_ms, kind, payload FROM events WHERE seq > ? "
                           "ORDER BY seq LIMIT ?",
                           after, limit));
  for (std::int64_t expected = after + 1;; ++expected) {
    NS_ASSIGN(found, rows.next());
    if (!found) return {};
    if (rows.integer(0) != expected) {
      return tl::unexpected(corrupt_database(
          db.file(), fmt::format("event {} where event {} belongs", rows.integer(0), expected)));
    }
    NS_ASSIGN(fact, parse_fact(rows.text(2), rows.text(3), db));
    NS_TRY(visit({rows.integer(0), rows.instant(1), std::move(fact)}));
  }
}

base::Status add_pending(Connection& db, const PendingEffect& effect) {
  NS_TRY(db.execute("INSERT INTO outbox (id, kind, payload) VALUES (?, ?, ?)", effect.id,
                    effect.kind, effect.payload));
  return {};
}

base::Status remove_done(Connection& db, hypotheses::EffectId effect) {
  NS_TRY(db.execute("DELETE FROM outbox WHERE id = ?", effect));
  return {};
}

base::Result<std::vector<PendingEffect>> pending_effects(Connection& db) {
  return all_rows(
      db.query("SELECT id, kind, payload FROM outbox ORDER BY id"),
      [](const Statement& row) -> base::Result<PendingEffect> {
        return PendingEffect{row.id<hypotheses::EffectId>(0), row.string(1), row.string(2)};
      });
}

base::Status count(Connection& db, std::string_view counter, std::int64_t more) {
  NS_TRY(
      db.execute("INSERT INTO counters (name, value) VALUES (?1, ?2) "
                 "ON CONFLICT (name) DO UPDATE SET value = value + ?2",
                 counter, more));
  return {};
}

base::Result<std::int64_t> counted(Connection& db, std::string_view counter) {
  return db.integer("SELECT value FROM counters WHERE name = ?", counter);
}

}  // namespace store
