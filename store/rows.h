// From rows to values, for queries that give many, one or none.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "store/sqlite.h"

namespace store {

// `read` makes a base::Result<T> of the row under the cursor.
template <class Read>
auto all_rows(base::Result<Statement> rows, Read read)
    -> base::Result<std::vector<typename decltype(read(*rows))::value_type>> {
  if (!rows) return tl::unexpected(std::move(rows.error()));
  std::vector<typename decltype(read(*rows))::value_type> all;
  for (;;) {
    NS_ASSIGN(found, rows->next());
    if (!found) return all;
    NS_ASSIGN(value, read(*rows));
    all.push_back(std::move(value));
  }
}

template <class Read>
auto one_row(base::Result<Statement> rows, Read read)
    -> base::Result<std::optional<typename decltype(read(*rows))::value_type>> {
  NS_ASSIGN(values, all_rows(std::move(rows), read));
  if (values.empty()) return std::nullopt;
  return std::move(values.front());
}

}  // namespace store
