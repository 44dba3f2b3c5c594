// What lasts: one SQLite file in WAL mode. Facts are an event log with a gap-free sequence; tables
// are their projection, written in the same transaction. Pending effects (the outbox) likewise.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "hypotheses/facts.h"

struct sqlite3;

namespace store {

// A stored fact. `seq` counts from 1 without gaps.
struct Event {
  std::int64_t seq = 0;
  base::Instant at;
  hypotheses::Fact fact;
};

// Something to be done in the world, kept until it is known to be done. The store does not read the
// payload.
struct PendingEffect {
  hypotheses::EffectId id;
  std::string kind;
  std::string payload;  // JSON
};

// One step of the loop, all or nothing.
struct Commit {
  base::Instant at;
  std::vector<hypotheses::Fact> facts;
  std::vector<PendingEffect> pending;      // added to the outbox
  std::vector<hypotheses::EffectId> done;  // taken from the outbox; unknown ids are ignored
};

// What a fold over the log came to. The store does not read the payload.
struct Snapshot {
  std::int64_t seq = 0;  // of the last event that is in it
  std::string program;   // that wrote it and alone understands it
  std::string payload;
};

// Sees each commit; a test or the simulator crashes the process here, or has the disk fail.
class CommitObserver {
 public:
  virtual ~CommitObserver() = default;
  // Everything is written, nothing durable yet; an error undoes it and is what commit() returns.
  // `nth` commit of this process, from 1.
  virtual base::Status before_commit(std::int64_t nth, const Commit& commit) {
    (void)nth, (void)commit;
    return {};
  }
  virtual void after_commit(std::int64_t nth, const Commit& commit) { (void)nth, (void)commit; }
};

inline constexpr const char* kDatabaseFile = "nightshift.db";  // in the state folder

// The one writer; used by one thread. Another process that writes the same file shows as an error
// of commit(): `conflict`, after which this Store no longer matches the log and is to be opened
// anew.
class Store {
 public:
  // Opens or creates `folder`/nightshift.db, migrates it, checks its integrity (of a large file in
  // part, to start in time; Reader::check() is whole). Errors say what to do: read-only disk, full
  // disk, corrupt file (named, with the way out), a newer schema. With Durability::fast a power
  // loss may take the newest commits, never a part of one.
  static base::Result<Store> open(const std::filesystem::path& folder,
                                  base::Durability durability = base::Durability::synced);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Durable when it returns (synchronous=FULL). On an error nothing of it was stored, and the store
  // stays usable. A fact about something never recorded, an id used twice and a value that is not
  // finite are errors. An observer that throws before the commit undoes it.
  base::Status commit(const Commit& commit);

  // Every event above `after` in order, for the fold at start. An error of `visit` ends it and is
  // returned.
  base::Status replay(const std::function<base::Status(const Event&)>& visit,
                      std::int64_t after = 0) const;

  // One is kept, the newest. Error corrupt when it is damaged or not of this log: then the log has
  // all that it held.
  base::Status save_snapshot(const Snapshot& snapshot);
  base::Result<std::optional<Snapshot>> snapshot() const;

  base::Result<std::vector<PendingEffect>> outbox() const;
  std::int64_t last_seq() const;
  const std::filesystem::path& file() const;

  // The size of the write-ahead log, which grows while anybody reads one moment of the database.
  std::uintmax_t wal_bytes() const;
  // Copies the log into the database and cuts it to nothing; false when somebody's read still
  // prevents that after `wait_ms`.
  base::Result<bool> cut_wal(int wait_ms = 0);

  void observe(CommitObserver* observer);  // not owned; nullptr = none

  // A whole, checked copy in one file that must not exist yet. Takes seconds at 100,000
  // experiments; Reader::backup_to does the same from another thread, while commits go on.
  base::Status backup_to(const std::filesystem::path& file) const;

  struct Impl;

 private:
  explicit Store(std::unique_ptr<Impl> impl);
  void bound_wal();
  std::unique_ptr<Impl> impl_;
};

// What the write-ahead log may grow to while nobody but this program reads.
inline constexpr std::uintmax_t kMostWalBytes = 64 << 20;

inline constexpr int kSchemaVersion = 2;

}  // namespace store
