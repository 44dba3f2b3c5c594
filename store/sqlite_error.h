// SQLite's result codes as errors that a person can act on.
#pragma once

#include <filesystem>

#include "base/result.h"

struct sqlite3;

namespace store {

// `code` is an extended result code; `db` may be none when there is no connection.
base::Error sqlite_error(int code, sqlite3* db, const std::filesystem::path& file);

// The bytes of `file` are not what they should be; names the way out.
base::Error corrupt_database(const std::filesystem::path& file, const std::string& found);

}  // namespace store
