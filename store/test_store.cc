#include "store/test_store.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include "store/rows.h"

namespace store {

std::string dump_tables(const std::filesystem::path& folder) {
  auto db = expect_ok(Connection::open(folder / kDatabaseFile, Connection::Mode::read_only));
  auto tables = expect_ok(
      all_rows(db.query("SELECT name FROM sqlite_schema WHERE type = 'table' "
                        "AND name NOT LIKE 'hypotheses_fts_%' ORDER BY name"),
               [](const Statement& row) -> base::Result<std::string> { return row.string(0); }));
  std::string text;
  for (const auto& table : tables) {
    text += table + "\n";
    auto columns = expect_ok(
        all_rows(db.query("SELECT name FROM pragma_table_info(?)", table),
                 [](const Statement& row) -> base::Result<std::string> { return row.string(0); }));
    std::string list;
    for (const auto& column : columns)
      list += (list.empty() ? "" : " || '|' || ") + fmt::format("quote({})", column);
    auto rows = expect_ok(
        all_rows(db.query(fmt::format("SELECT {} FROM {} ORDER BY 1", list, table)),
                 [](const Statement& row) -> base::Result<std::string> { return row.string(0); }));
    for (const auto& row : rows) text += "  " + row + "\n";
  }
  return text;
}

}  // namespace store
