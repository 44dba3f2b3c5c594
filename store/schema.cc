#include "store/schema.h"

#include <fmt/format.h>

#include "store/rows.h"
#include "store/sqlite_error.h"
#include "store/store.h"

namespace store {

namespace {

// `events` is the record. All other tables but `outbox` are an index over it: they hold what is
// filtered, sorted or changes, and the seq of the event that holds the rest, so nothing is stored
// twice and every one of them can be rebuilt.
constexpr const char* kVersion1 = R"sql(
CREATE TABLE events (
  seq     INTEGER PRIMARY KEY,
  at_ms   INTEGER NOT NULL,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL  -- JSON of the fact
) STRICT;

CREATE TABLE outbox (
  id      INTEGER PRIMARY KEY,
  kind    TEXT NOT NULL,
  payload TEXT NOT NULL
) STRICT;

CREATE TABLE counters (
  name  TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE campaigns (
  id      INTEGER PRIMARY KEY,
  created INTEGER NOT NULL REFERENCES events,
  state   TEXT NOT NULL
) STRICT;

CREATE TABLE nights (
  id       INTEGER PRIMARY KEY,
  campaign INTEGER NOT NULL REFERENCES campaigns,
  started  INTEGER NOT NULL REFERENCES events,
  state    TEXT NOT NULL,
  ended_ms INTEGER NOT NULL,
  reason   TEXT NOT NULL
) STRICT;
CREATE INDEX nights_of_campaign ON nights (campaign, id);

CREATE TABLE hypotheses (
  id        INTEGER PRIMARY KEY,
  campaign  INTEGER NOT NULL REFERENCES campaigns,
  night     INTEGER REFERENCES nights,
  opened    INTEGER NOT NULL REFERENCES events,
  taken     INTEGER REFERENCES events,
  candidate INTEGER REFERENCES events,
  decided   INTEGER REFERENCES events,
  state     TEXT NOT NULL,
  verdict   TEXT,
  reason    TEXT NOT NULL,
  cost_s    REAL NOT NULL
) STRICT;
CREATE INDEX hypotheses_of_campaign ON hypotheses (campaign, id);
CREATE INDEX hypotheses_of_campaign_by_verdict ON hypotheses (campaign, verdict, id);
CREATE INDEX hypotheses_of_night ON hypotheses (night, id);
CREATE INDEX hypotheses_of_night_by_verdict ON hypotheses (night, verdict, id);
CREATE INDEX hypotheses_by_verdict ON hypotheses (verdict, id);
CREATE VIRTUAL TABLE hypotheses_fts USING fts5
  (claim, reason, tokenize = 'unicode61 remove_diacritics 2');  -- rowid = the hypothesis

CREATE TABLE answers (
  seq        INTEGER PRIMARY KEY REFERENCES events,
  hypothesis INTEGER NOT NULL REFERENCES hypotheses
) STRICT;
CREATE INDEX answers_of_hypothesis ON answers (hypothesis, seq);

CREATE TABLE merges (
  id         INTEGER PRIMARY KEY,
  opened     INTEGER NOT NULL REFERENCES events,
  approved   INTEGER REFERENCES events,  -- the newest approval
  state      TEXT NOT NULL,
  reason     TEXT NOT NULL,
  base       TEXT NOT NULL,
  merged     TEXT NOT NULL,
  known      TEXT NOT NULL,
  unknown    TEXT NOT NULL,
  landed_ref TEXT NOT NULL,
  remeasures INTEGER NOT NULL
) STRICT;

CREATE TABLE merge_answers (
  seq   INTEGER PRIMARY KEY REFERENCES events,  -- about the newest merge commit only
  merge INTEGER NOT NULL REFERENCES merges
) STRICT;
CREATE INDEX answers_of_merge ON merge_answers (merge, seq);

CREATE TABLE experiments (
  id         INTEGER PRIMARY KEY,
  night      INTEGER REFERENCES nights,
  hypothesis INTEGER REFERENCES hypotheses,
  merge      INTEGER REFERENCES merges,
  started    INTEGER NOT NULL REFERENCES events,
  finished   INTEGER REFERENCES events,
  state      TEXT NOT NULL,
  cost_s     REAL NOT NULL
) STRICT;
CREATE INDEX experiments_of_night ON experiments (night, id);
CREATE INDEX experiments_of_hypothesis ON experiments (hypothesis, id) WHERE hypothesis IS NOT NULL;
CREATE INDEX experiments_of_merge ON experiments (merge, id) WHERE merge IS NOT NULL;

CREATE TABLE runs (
  id         INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments,
  recorded   INTEGER NOT NULL REFERENCES events
) STRICT;
CREATE INDEX runs_of_experiment ON runs (experiment, id);

-- Clustered by what a trend is drawn of.
CREATE TABLE observations (
  metric     TEXT NOT NULL,
  conditions TEXT NOT NULL,
  side       TEXT NOT NULL,
  run        INTEGER NOT NULL REFERENCES runs,
  ordinal    INTEGER NOT NULL,  -- within its run, from 0
  value      REAL NOT NULL,
  unit       TEXT NOT NULL,
  PRIMARY KEY (metric, conditions, side, run, ordinal)
) STRICT, WITHOUT ROWID;

-- Facts that are read as they are, by night or campaign: planner turns, refused proposals, measured
-- noise, incumbents, nights asked for, notes.
CREATE TABLE journal (
  seq      INTEGER PRIMARY KEY REFERENCES events,
  kind     TEXT NOT NULL,
  campaign INTEGER REFERENCES campaigns,
  night    INTEGER REFERENCES nights
) STRICT;
CREATE INDEX journal_of_night ON journal (night, kind, seq);
CREATE INDEX journal_of_campaign ON journal (campaign, kind, seq) WHERE night IS NULL;
)sql";

// What a fold over the log came to, so that a start need not begin with the first event. Only a
// copy: it may be deleted at any time.
constexpr const char* kVersion2 = R"sql(
CREATE TABLE snapshots (
  seq     INTEGER PRIMARY KEY,  -- the last event that is in it
  program TEXT NOT NULL,        -- that wrote it and alone understands it
  hash    INTEGER NOT NULL,     -- of the payload
  payload TEXT NOT NULL
) STRICT;
)sql";

constexpr Migration kMigrations[] = {{1, kVersion1}, {2, kVersion2}};
static_assert(std::size(kMigrations) == kSchemaVersion);

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

base::Result<int> schema_version(Connection& db, int newest) {
  NS_ASSIGN(application, db.integer("PRAGMA application_id"));
  NS_ASSIGN(version, db.integer("PRAGMA user_version"));
  NS_ASSIGN(objects, db.integer("SELECT count(*) FROM sqlite_schema"));
  bool empty = objects == 0 && application == 0 && version == 0;
  if (!empty && application != kApplicationId) {
    return base::fail(
        base::ErrorCode::bad_input,
        fmt::format("expected a Nightshift database (application id {}), found one of "
                    "another program (application id {}); choose another state folder",
                    kApplicationId, application),
        db.file().string());
  }
  if (version > newest) {
    return base::fail(base::ErrorCode::refused,
                      fmt::format("the database has schema version {}, this program knows versions "
                                  "up to {}; use the newer Nightshift that wrote it, or restore a "
                                  "backup from before the upgrade",
                                  version, newest),
                      db.file().string());
  }
  return static_cast<int>(version);
}

base::Status migrate(Connection& db, std::span<const Migration> steps) {
  const int newest = steps.empty() ? 0 : steps.back().version;
  NS_ASSIGN(found, schema_version(db, newest));
  if (found == newest) return {};
  // Asked again under the lock: another process may have migrated meanwhile.
  NS_ASSIGN(transaction, Transaction::begin(db, Transaction::Kind::write));
  NS_ASSIGN(version, schema_version(db, newest));
  for (const Migration& step : steps) {
    if (step.version <= version) continue;
    if (auto status = db.script(step.sql); !status) {
      auto error = status.error();
      error.message =
          fmt::format("migration to schema version {} failed, the database is as it was: {}",
                      step.version, error.message);
      return tl::unexpected(std::move(error));
    }
  }
  NS_TRY(db.script(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                               kApplicationId, newest)));
  return transaction.commit();
}

namespace {

base::Status expect_healthy(Connection& db, const std::string& pragma) {
  NS_ASSIGN(rows, db.query(pragma));
  NS_ASSIGN(row, rows.next());
  if (row && rows.text(0) == "ok") return {};
  return tl::unexpected(
      corrupt_database(db.file(), row ? rows.string(0) : "no answer from the check"));
}

}  // namespace

base::Status check_integrity(Connection& db) {
  return expect_healthy(db, "PRAGMA integrity_check(1)");
}

base::Status check_at_start(Connection& db, std::int64_t whole_up_to_bytes) {
  NS_ASSIGN(pages, db.integer("PRAGMA page_count"));
  NS_ASSIGN(page_bytes, db.integer("PRAGMA page_size"));
  if (pages * page_bytes <= whole_up_to_bytes) return expect_healthy(db, "PRAGMA quick_check(1)");
  NS_ASSIGN(tables, all_rows(db.query("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                      "AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT IN "
                                      "('events', 'experiments', 'runs', 'observations', "
                                      "'snapshots')"),
                             [](const Statement& row) -> base::Result<std::string> {
                               return row.string(0);
                             }));
  for (const auto& table : tables) {
    NS_TRY(expect_healthy(db, fmt::format("PRAGMA quick_check({})", table)));
  }
  return {};
}

}  // namespace store
