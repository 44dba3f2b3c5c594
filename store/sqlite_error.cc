#include "store/sqlite_error.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstring>

#include "store/sqlite.h"

namespace store {

namespace {

std::string os_reason(sqlite3* db) {
  int number = db ? sqlite3_system_errno(db) : 0;
  return number ? fmt::format(" ({})", std::strerror(number)) : std::string();
}

base::Error io_error(int code, sqlite3* db, const std::filesystem::path& file) {
  auto folder = file.parent_path().string();
  if (code == SQLITE_FULL || (db && sqlite3_system_errno(db) == ENOSPC)) {
    return {base::ErrorCode::io,
            fmt::format("no space left for the database; free space on the disk of {}", folder),
            file.string()};
  }
  switch (code & 0xff) {
    case SQLITE_READONLY:
      return {base::ErrorCode::io,
              fmt::format("the database cannot be written: the file or its folder {} is read-only; "
                          "make both writable or choose another state folder",
                          folder),
              file.string()};
    case SQLITE_CANTOPEN:
      return {base::ErrorCode::io,
              fmt::format("the database cannot be opened; check that {} is a folder that you may "
                          "read and write",
                          folder),
              file.string()};
    default:
      return {base::ErrorCode::io,
              fmt::format("reading or writing the database failed: {}{}; check the disk",
                          sqlite3_errstr(code), os_reason(db)),
              file.string()};
  }
}

}  // namespace

base::Error corrupt_database(const std::filesystem::path& file, const std::string& found) {
  return {base::ErrorCode::corrupt,
          fmt::format("expected a healthy Nightshift database, found: {1}; stop the daemon, then "
                      "restore a backup in its place (made by `nightshift backup FILE`): "
                      "mv {0} {0}.damaged; rm -f {0}-wal {0}-shm; cp FILE {0}; without a backup "
                      "move the file away likewise to start empty",
                      file.string(), found),
          file.string()};
}

base::Error sqlite_error(int code, sqlite3* db, const std::filesystem::path& file) {
  std::string text = db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {
          base::ErrorCode::conflict,
          fmt::format("another process held the database's lock for more than {} ms; is a second "
                      "daemon, or a tool that writes to it, running on this state folder?",
                      kBusyMs),
          file.string()};
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return corrupt_database(file, text);
    case SQLITE_CONSTRAINT:
      return {base::ErrorCode::bad_input,
              fmt::format(
                  "the database refuses this: {}; an id is used twice or was never recorded", text),
              file.string()};
    case SQLITE_TOOBIG:
      return {base::ErrorCode::bad_input, "a text is larger than the database can hold",
              file.string()};
    case SQLITE_FULL:
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_PERM:
      return io_error(code, db, file);
    default:
      return {base::ErrorCode::bug, fmt::format("{} (SQLite code {})", text, code), file.string()};
  }
}

}  // namespace store
