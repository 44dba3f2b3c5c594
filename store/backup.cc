#include "store/backup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "store/event_log.h"
#include "store/schema.h"
#include "store/sqlite_error.h"

namespace store {

namespace {

struct FinishBackup {
  void operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }
};
using BackupHandle = std::unique_ptr<sqlite3_backup, FinishBackup>;

// Removed at the end unless it was given its final name; SQLite's own files beside it too.
struct Unfinished {
  std::filesystem::path file;
  ~Unfinished() {
    for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
      std::error_code ignored;
      std::filesystem::remove(file.string() + suffix, ignored);
    }
  }
};

base::Status copy_pages(const Connection& from, Connection& to) {
  BackupHandle backup(sqlite3_backup_init(to.handle(), "main", from.handle(), "main"));
  if (!backup) {
    return tl::unexpected(
        sqlite_error(sqlite3_extended_errcode(to.handle()), to.handle(), to.file()));
  }
  int code = sqlite3_backup_step(backup.get(), -1);
  if (code != SQLITE_DONE) return tl::unexpected(sqlite_error(code, to.handle(), to.file()));
  return {};
}

// One moment of the original, while others may go on writing to it; how many events it has. The
// moment is let go before the copy is checked, for the write-ahead log grows while it is held.
base::Result<std::int64_t> copy_moment(Connection& db, Connection& copy) {
  NS_ASSIGN(snapshot, Transaction::begin(db, Transaction::Kind::read));
  NS_ASSIGN(events, last_event(db));
  NS_TRY(copy_pages(db, copy));
  return events;
}

base::Status check_copy(Connection& copy, std::int64_t events) {
  NS_TRY(check_integrity(copy));
  NS_ASSIGN(found, last_event(copy));
  if (found == events) return {};
  return tl::unexpected(
      corrupt_database(copy.file(), fmt::format("{} events in the copy of {}", found, events)));
}

base::Status make_durable(const std::filesystem::path& folder) {
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool ok = descriptor >= 0 && ::fsync(descriptor) == 0;
  int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (ok) return {};
  return base::fail(base::ErrorCode::io,
                    fmt::format("the folder could not be synchronised ({}); the backup may not "
                                "survive a power loss",
                                std::strerror(reason)),
                    folder.string());
}

}  // namespace

base::Status back_up(Connection& db, const std::filesystem::path& file) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) {
    return base::fail(base::ErrorCode::conflict,
                      "a file of this name exists; choose another name or move it away",
                      file.string());
  }
  const std::filesystem::path folder = std::filesystem::absolute(file).parent_path();
  if (!std::filesystem::is_directory(folder, ignored)) {
    return base::fail(base::ErrorCode::not_found,
                      "expected an existing folder to put the backup into; create it first",
                      folder.string());
  }
  const Unfinished unfinished{file.string() + ".unfinished"};
  {
    NS_ASSIGN(copy, Connection::open(unfinished.file, Connection::Mode::create));
    NS_ASSIGN(events, copy_moment(db, copy));
    // One plain file: no write-ahead log beside it.
    NS_TRY(copy.execute("PRAGMA journal_mode = DELETE"));
    NS_TRY(check_copy(copy, events));
  }
  if (::link(unfinished.file.c_str(), file.c_str()) != 0) {
    return base::fail(
        base::ErrorCode::io,
        fmt::format("the finished backup could not be named ({})", std::strerror(errno)),
        file.string());
  }
  return make_durable(folder);
}

}  // namespace store
