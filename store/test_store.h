// What the store's tests share.
#pragma once

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/files.h"
#include "store/sample_facts.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace store {

// The value of a Result, or a failed test that shows the error.
template <class T>
T expect_ok(base::Result<T> result) {
  if (!result) FAIL(result.error().text());
  return std::move(*result);
}
inline void expect_ok(const base::Status& status) {
  if (!status) FAIL(status.error().text());
}
template <class T>
base::Error expect_error(const base::Result<T>& result) {
  REQUIRE_FALSE(result);
  return result.error();
}

// A commit that always works and adds one event.
inline Commit note(std::string text) {
  return {{1}, {hypotheses::Noted{{}, {}, std::move(text)}}, {}, {}};
}

inline void commit_story(Store& store) {
  for (const auto& step : sample::script()) expect_ok(store.commit(step));
}

// Every row of every table of ours as text, but not how FTS5 keeps its index.
std::string dump_tables(const std::filesystem::path& folder);

}  // namespace store
