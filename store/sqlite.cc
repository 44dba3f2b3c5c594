#include "store/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <unordered_map>
#include <utility>
#include <vector>

#include "store/sqlite_error.h"

namespace store {

struct CloseConnection {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
struct FinalizeStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using ConnectionHandle = std::unique_ptr<sqlite3, CloseConnection>;
using StatementHandle = std::unique_ptr<sqlite3_stmt, FinalizeStatement>;

struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the library asks for it
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

struct Connection::Impl {
  std::filesystem::path file;
  ConnectionHandle db;
  // Idle statements by their text; several when one is needed while another is being read.
  std::unordered_map<std::string, std::vector<StatementHandle>, TextHash, std::equal_to<>> idle;

  tl::unexpected<base::Error> fail(int code) const {
    return tl::unexpected(sqlite_error(code, db.get(), file));
  }
};

struct Statement::Loan {
  StatementHandle handle;
  std::vector<StatementHandle>* home;  // in the owner's `idle`
  const Connection::Impl* owner;
  int bind_error = SQLITE_OK;
};

Statement::Statement(std::unique_ptr<Loan> loan) : loan_(std::move(loan)) {}
Statement::Statement(Statement&&) noexcept = default;

Statement::~Statement() {
  if (!loan_) return;
  sqlite3_reset(loan_->handle.get());
  sqlite3_clear_bindings(loan_->handle.get());
  loan_->home->push_back(std::move(loan_->handle));
}

void Statement::bind(std::initializer_list<Value> values, Texts texts) {
  const auto keep = texts == Texts::outlive ? SQLITE_STATIC : SQLITE_TRANSIENT;
  sqlite3_stmt* statement = loan_->handle.get();
  int index = 0;
  for (const Value& value : values) {
    ++index;
    int code = SQLITE_OK;
    if (auto* integer = std::get_if<std::int64_t>(&value.value_)) {
      code = sqlite3_bind_int64(statement, index, *integer);
    } else if (auto* real = std::get_if<double>(&value.value_)) {
      code = sqlite3_bind_double(statement, index, *real);
    } else if (auto* text = std::get_if<std::string_view>(&value.value_)) {
      // An empty view may point nowhere, which SQLite would take for NULL.
      code = sqlite3_bind_text64(statement, index, text->empty() ? "" : text->data(), text->size(),
                                 keep, SQLITE_UTF8);
    } else {
      code = sqlite3_bind_null(statement, index);
    }
    if (code != SQLITE_OK) loan_->bind_error = code;
  }
}

base::Result<bool> Statement::next() {
  if (loan_->bind_error != SQLITE_OK) return loan_->owner->fail(loan_->bind_error);
  int code = sqlite3_step(loan_->handle.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  auto error = loan_->owner->fail(sqlite3_extended_errcode(loan_->owner->db.get()));
  sqlite3_reset(loan_->handle.get());
  return error;
}

bool Statement::null(int column) const {
  return sqlite3_column_type(loan_->handle.get(), column) == SQLITE_NULL;
}
std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(loan_->handle.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(loan_->handle.get(), column);
}
std::string_view Statement::text(int column) const {
  const auto* text =
      reinterpret_cast<const char*>(sqlite3_column_text(loan_->handle.get(), column));
  if (!text) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(loan_->handle.get(), column))};
}

tl::unexpected<base::Error> Statement::unknown_word(int column, const std::string& expected) const {
  return tl::unexpected(corrupt_database(
      loan_->owner->file, fmt::format("'{}' in column {} where one of {} belongs", text(column),
                                      sqlite3_column_name(loan_->handle.get(), column), expected)));
}

Connection::Connection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Connection::Connection(Connection&&) noexcept = default;
Connection& Connection::operator=(Connection&&) noexcept = default;
Connection::~Connection() = default;

base::Result<Connection> Connection::open(const std::filesystem::path& file, Mode mode) {
  auto impl = std::make_unique<Impl>();
  impl->file = file;
  int flags =
      mode == Mode::create ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  sqlite3* db = nullptr;
  int code = sqlite3_open_v2(file.c_str(), &db, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  impl->db.reset(db);
  if (code != SQLITE_OK) return impl->fail(db ? sqlite3_extended_errcode(db) : code);
  sqlite3_extended_result_codes(db, 1);
  sqlite3_busy_timeout(db, kBusyMs);
  return Connection(std::move(impl));
}

base::Status Connection::script(const std::string& sql) {
  int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return impl_->fail(code);
  return {};
}

base::Result<Statement> Connection::query_values(std::string_view sql,
                                                 std::initializer_list<Value> values,
                                                 Statement::Texts texts) {
  auto entry = impl_->idle.find(sql);
  if (entry == impl_->idle.end()) entry = impl_->idle.try_emplace(std::string(sql)).first;
  auto& home = entry->second;
  StatementHandle handle;
  if (!home.empty()) {
    handle = std::move(home.back());
    home.pop_back();
  } else {
    sqlite3_stmt* prepared = nullptr;
    int code = sqlite3_prepare_v3(impl_->db.get(), sql.data(), static_cast<int>(sql.size()),
                                  SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
    handle.reset(prepared);
    if (code != SQLITE_OK) return impl_->fail(code);
  }
  Statement statement(
      std::make_unique<Statement::Loan>(Statement::Loan{std::move(handle), &home, impl_.get()}));
  statement.bind(values, texts);
  return statement;
}

base::Result<std::int64_t> Connection::execute_values(std::string_view sql,
                                                      std::initializer_list<Value> values) {
  NS_ASSIGN(statement, query_values(sql, values, Statement::Texts::outlive));
  for (;;) {
    NS_ASSIGN(row, statement.next());
    if (!row) return sqlite3_changes64(impl_->db.get());
  }
}

base::Result<std::int64_t> Connection::integer_values(std::string_view sql,
                                                      std::initializer_list<Value> values) {
  NS_ASSIGN(statement, query_values(sql, values));
  NS_ASSIGN(row, statement.next());
  return row ? statement.integer(0) : 0;
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(impl_->db.get()) == 0; }
const std::filesystem::path& Connection::file() const { return impl_->file; }
sqlite3* Connection::handle() const { return impl_->db.get(); }

base::Result<Transaction> Transaction::begin(Connection& connection, Kind kind) {
  NS_TRY(connection.execute(kind == Kind::write ? "BEGIN IMMEDIATE" : "BEGIN"));
  return Transaction(connection);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {}

Transaction::~Transaction() {
  // A full disk or a failed write has already rolled back, inside SQLite.
  if (connection_ && connection_->in_transaction()) (void)connection_->execute("ROLLBACK");
}

base::Status Transaction::commit() {
  NS_TRY(connection_->execute("COMMIT"));
  connection_ = nullptr;
  return {};
}

}  // namespace store
