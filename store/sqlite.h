// A thin layer over SQLite: a connection that keeps its prepared statements, values and columns by
// type, transactions that roll back by themselves. All SQL of the store goes through it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/id.h"
#include "base/result.h"
#include "hypotheses/ids.h"
#include "hypotheses/words.h"

struct sqlite3;
struct sqlite3_stmt;

namespace store {

// How long a statement waits for another process's lock.
inline constexpr int kBusyMs = 2000;

// A value to bind. Ids that are "none" are NULL, instants milliseconds, enums their words.
class Value {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a statement is given what it binds
  Value(std::nullopt_t) {}
  Value(int value) : value_(std::int64_t{value}) {}
  Value(std::int64_t value) : value_(value) {}
  Value(double value) : value_(value) {}
  Value(std::string_view text) : value_(text) {}
  Value(const std::string& text) : value_(std::string_view(text)) {}
  Value(const char* text) : value_(std::string_view(text)) {}
  Value(base::Instant instant) : value_(instant.ms) {}
  Value(const hypotheses::CommitId& commit) : value_(std::string_view(commit.hex)) {}
  template <class Tag>
  Value(base::Id<Tag> id) {
    if (id) value_ = id.value;
  }
  template <class E>
  requires std::is_enum_v<E> Value(E word) : value_(hypotheses::to_text(word)) {}
  template <class T>
  Value(const std::optional<T>& value) {
    if (value) *this = Value(*value);
  }
  // NOLINTEND(google-explicit-constructor)

 private:
  friend class Statement;
  std::variant<std::monostate, std::int64_t, double, std::string_view> value_;
};

// A statement borrowed from its connection, which must outlive it; given back at the end of its
// life.
class Statement {
 public:
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  base::Result<bool> next();  // true = the columns below hold a row

  bool null(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;  // until the next call of next()
  std::string string(int column) const { return std::string(text(column)); }
  base::Instant instant(int column) const { return {integer(column)}; }
  hypotheses::CommitId commit(int column) const { return {string(column)}; }
  template <class Id>
  Id id(int column) const {
    return {integer(column)};
  }
  template <class E>
  base::Result<E> word(int column) const {
    if (auto value = hypotheses::from_text<E>(text(column))) return *value;
    return unknown_word(column, hypotheses::all_words<E>());
  }

 private:
  friend class Connection;
  struct Loan;  // the prepared statement and where it goes back to
  explicit Statement(std::unique_ptr<Loan> loan);
  enum class Texts { copied, outlive };  // what is bound outlives the statement, or is copied
  void bind(std::initializer_list<Value> values, Texts texts);
  tl::unexpected<base::Error> unknown_word(int column, const std::string& expected) const;
  std::unique_ptr<Loan> loan_;
};

// Not for use by two threads at once.
class Connection {
 public:
  enum class Mode { create, read_only };
  static base::Result<Connection> open(const std::filesystem::path& file, Mode mode);

  Connection(Connection&&) noexcept;
  Connection& operator=(Connection&&) noexcept;
  ~Connection();

  // Several statements without values or rows: schema, pragmas.
  base::Status script(const std::string& sql);

  template <class... Args>
  base::Result<Statement> query(std::string_view sql, const Args&... args) {
    return query_values(sql, {Value(args)...});
  }
  // Runs to the end; gives the number of rows that were changed.
  template <class... Args>
  base::Result<std::int64_t> execute(std::string_view sql, const Args&... args) {
    return execute_values(sql, {Value(args)...});
  }
  // The first column of the first row; 0 when there is none.
  template <class... Args>
  base::Result<std::int64_t> integer(std::string_view sql, const Args&... args) {
    return integer_values(sql, {Value(args)...});
  }

  bool in_transaction() const;
  const std::filesystem::path& file() const;
  sqlite3* handle() const;

  struct Impl;

 private:
  explicit Connection(std::unique_ptr<Impl> impl);
  base::Result<Statement> query_values(std::string_view sql, std::initializer_list<Value> values,
                                       Statement::Texts texts = Statement::Texts::copied);
  base::Result<std::int64_t> execute_values(std::string_view sql,
                                            std::initializer_list<Value> values);
  base::Result<std::int64_t> integer_values(std::string_view sql,
                                            std::initializer_list<Value> values);
  std::unique_ptr<Impl> impl_;
};

// Rolls back unless committed. `write` takes the writer's lock at once, so that it can never fail
// half way for want of it; `read` sees one snapshot throughout.
class Transaction {
 public:
  enum class Kind { read, write };
  static base::Result<Transaction> begin(Connection& connection, Kind kind);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  base::Status commit();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;  // none once it has ended
};

}  // namespace store
