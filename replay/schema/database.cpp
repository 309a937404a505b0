// Every result code of SQLite is looked at here and nowhere else.
#include "replay/schema/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cstdio>

namespace uopscope {

void throwDatabaseError(const std::string& path, int code, std::string_view detail) {
  std::string_view what;
  switch (code & 0xff) {
  case SQLITE_NOTADB: what = "not a trace of uopscope (no SQLite database)"; break;
  case SQLITE_CORRUPT: what = "the trace is damaged or cut off"; break;
  case SQLITE_FULL: what = "the disk is full; make room or record elsewhere with -o"; break;
  case SQLITE_IOERR: what = "reading or writing the file failed; is the disk full or gone?"; break;
  case SQLITE_CANTOPEN: what = "the file cannot be opened; check that it exists and may be read"; break;
  case SQLITE_READONLY:
    what = "the file cannot be written; traces are read, not changed, through queries";
    break;
  case SQLITE_BUSY:
  case SQLITE_LOCKED: what = "the trace is locked by another program; try again"; break;
  case SQLITE_NOMEM: what = "not enough memory"; break;
  case SQLITE_TOOBIG: what = "a value in the trace is too large"; break;
  case SQLITE_AUTH: what = "only reading is allowed here"; break;
  case SQLITE_INTERRUPT: what = "the query was stopped"; break;
  default: break;
  }
  if (what.empty()) throw Error(ErrorKind::File, fmt::format("{}: {}", path, detail));
  throw Error(ErrorKind::File, fmt::format("{}: {} ({})", path, what, detail));
}

void Statement::Close::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

void Statement::fail(int code) const {
  std::string detail = sqlite3_errmsg(sqlite3_db_handle(statement_.get()));
  sqlite3_reset(statement_.get());
  throwDatabaseError(path_, code, detail);
}

Statement& Statement::bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
  return *this;
}
Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data() ? text.data() : "", text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bindBlob(int parameter, std::span<const uint8_t> bytes) {
  // An empty blob is not NULL.
  sqlite3_bind_blob64(statement_.get(), parameter,
                      bytes.empty() ? "" : static_cast<const void*>(bytes.data()), bytes.size(),
                      SQLITE_STATIC);
  return *this;
}
Statement& Statement::bindNull(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter);
  return *this;
}

bool Statement::step() {
  int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) fail(code);
  sqlite3_reset(statement_.get());
  return false;
}
void Statement::run() {
  while (step()) {
  }
}
void Statement::reset() {
  sqlite3_reset(statement_.get());
}

int Statement::columns() const {
  return sqlite3_column_count(statement_.get());
}
std::string Statement::columnName(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name ? name : "";
}
Statement::Type Statement::type(int column) const {
  switch (sqlite3_column_type(statement_.get(), column)) {
  case SQLITE_INTEGER: return Type::Integer;
  case SQLITE_FLOAT: return Type::Real;
  case SQLITE_TEXT: return Type::Text;
  case SQLITE_BLOB: return Type::Blob;
  default: return Type::Null;
  }
}
int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string_view Statement::text(int column) const {
  const auto* data = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  if (!data) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
std::span<const uint8_t> Statement::blob(int column) const {
  const auto* data = static_cast<const uint8_t*>(sqlite3_column_blob(statement_.get(), column));
  if (!data) return {};
  return {data, static_cast<size_t>(sqlite3_column_bytes(statement_.get(), column))};
}
bool Statement::readOnly() const {
  return sqlite3_stmt_readonly(statement_.get()) != 0;
}

void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

namespace {
sqlite3* openHandle(const std::string& path, int flags) {
  sqlite3* raw = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (code != SQLITE_OK) {
    std::string detail = raw ? sqlite3_errmsg(raw) : "out of memory";
    sqlite3_close_v2(raw);
    throwDatabaseError(path, code, detail);
  }
  sqlite3_busy_timeout(raw, 10000);
  return raw;
}
} // namespace

Database Database::create(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) std::remove((path + suffix).c_str());
  Database db;
  db.path_ = path;
  db.db_.reset(openHandle(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  return db;
}

Database Database::openForWriting(const std::string& path) {
  Database db;
  db.path_ = path;
  db.db_.reset(openHandle(path, SQLITE_OPEN_READWRITE));
  return db;
}

Database Database::openReadOnly(const std::string& path) {
  Database db;
  db.path_ = path;
  db.db_.reset(openHandle(path, SQLITE_OPEN_READONLY));
  // A trace is untrusted input: no code of the file's own runs, and limits are far above what we write.
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db.handle(), SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  db.execute("PRAGMA cell_size_check = ON");
  return db;
}

Statement Database::prepare(std::string_view sql) const {
  sqlite3_stmt* raw = nullptr;
  int code = sqlite3_prepare_v3(handle(), sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                                &raw, nullptr);
  if (code != SQLITE_OK) throwDatabaseError(path_, code, sqlite3_errmsg(handle()));
  Statement s;
  s.statement_.reset(raw);
  s.path_ = path_;
  return s;
}

void Database::execute(const std::string& sql) const {
  int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throwDatabaseError(path_, code, sqlite3_errmsg(handle()));
}

int64_t Database::pragma(const std::string& name) const {
  Statement s = prepare("PRAGMA " + name);
  return s.step() ? s.integer(0) : 0;
}

} // namespace uopscope
