// Every result code of SQLite is checked in this file and nowhere else.
#include "replay/schema/database.h"

#include "replay/schema/database_watch.h"
#include "replay/schema/packing.h"
#include "replay/schema/reading_guard.h"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace uopscope {

namespace {
std::string_view meaningOf(int code) {
  switch (code) {
  case SQLITE_PROTOCOL:
  case SQLITE_IOERR_LOCK:
  case SQLITE_IOERR_RDLOCK:
  case SQLITE_IOERR_UNLOCK:
  case SQLITE_IOERR_CHECKRESERVEDLOCK:
  case SQLITE_IOERR_SHMOPEN:
  case SQLITE_IOERR_SHMLOCK:
  case SQLITE_IOERR_SHMMAP:
    return "the file system does not lock files, as some network and shared folders do not; record to a "
           "local disk "
           "with -o, or copy the trace to one";
  default: break;
  }
  switch (code & 0xff) {
  case SQLITE_NOTADB: return "not a trace of uopscope (no SQLite database)";
  case SQLITE_CORRUPT: return "the trace is damaged or cut off";
  case SQLITE_FULL: return "the disk is full; make room or record elsewhere with -o";
  case SQLITE_IOERR: return "reading or writing the file failed; is the disk full or gone?";
  case SQLITE_CANTOPEN: return "the file cannot be opened; check that it exists and may be read";
  case SQLITE_READONLY: return "the file cannot be written; traces are read, not changed, through queries";
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return "the trace is locked by another program; try again";
  case SQLITE_NOMEM: return "not enough memory";
  case SQLITE_TOOBIG: return "a value in the trace is too large";
  case SQLITE_AUTH: return "only reading is allowed here";
  case SQLITE_INTERRUPT: return "the query was stopped";
  default: return {};
  }
}
} // namespace

void throwDatabaseError(const std::string& path, int code, std::string_view detail) {
  std::string_view what = meaningOf(code);
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
Statement& Statement::bind(int parameter, double value) {
  sqlite3_bind_double(statement_.get(), parameter, value);
  return *this;
}
Statement& Statement::bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data() ? text.data() : "", text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}
Statement& Statement::bindBlob(int parameter, std::span<const uint8_t> bytes) {
  // SQLite would read a null pointer as NULL; an empty blob is not NULL.
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
  DatabaseWatch::note(sqlite3_sql(statement_.get()));
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

struct Database::TemporaryFolder {
  explicit TemporaryFolder(std::string made) : path(std::move(made)) {}
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path;
};

void Database::Close::operator()(sqlite3* db) const {
  sqlite3_close_v2(db);
}

namespace {
/// SQLite counts its memory under a lock that each allocation takes: a fifth of the time of a small INSERT. Nobody
/// reads the counts. A part of the process that opened a database before (Python, Qt) keeps the setting.
void countNoMemory() {
  [[maybe_unused]] static const int once = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

sqlite3* openHandle(const std::string& path, int flags) {
  countNoMemory();
  sqlite3* raw = nullptr;
  int code =
      sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (code != SQLITE_OK) {
    std::string detail = raw ? sqlite3_errmsg(raw) : "out of memory";
    sqlite3_close_v2(raw);
    throwDatabaseError(path, code, detail);
  }
  sqlite3_busy_timeout(raw, 10000);
  addUnpackFunction(raw);
  return raw;
}
} // namespace

void Database::makeOneFile() const {
  // Readers that follow the trace keep its journal alive; then it stays until the last reader closes.
  try {
    execute("PRAGMA busy_timeout = 300");
    execute("PRAGMA wal_checkpoint(TRUNCATE)");
    execute("PRAGMA journal_mode = DELETE");
  } catch (const Error&) { // a reader holds the journal: the last one to close removes it
  }
}

bool isDatabaseFile(const std::string& path) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::ifstream in(path, std::ios::binary);
  std::string begin(kMagic.size(), 0);
  return in.read(begin.data(), static_cast<std::streamsize>(begin.size())) && begin == kMagic;
}

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

void Database::copyTo(const std::string& path) const {
  // SQLite itself attaches the copy. No statement of the file runs meanwhile, so the authorizer may pause.
  sqlite3* db = db_.get();
  const int attached = sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 1);
  sqlite3_set_authorizer(db, nullptr, nullptr);
  auto guardAgain = [&] {
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, attached);
    if (sqlite3_db_readonly(db, "main") == 1) allowReading(db);
  };
  constexpr uintmax_t kLarge = 1 << 20; // in a smaller file, half-filled pages of many tables would count
  std::error_code unknown;
  const uintmax_t size = std::filesystem::file_size(path_, unknown);
  try {
    if (!unknown && size > kLarge)
      execute("PRAGMA page_size = 4096"); // pages of 1 kB are written by four times the calls
    prepare("VACUUM INTO ?").bind(1, std::string_view(path)).run();
  } catch (...) {
    guardAgain();
    throw;
  }
  guardAgain();
}

Database Database::openReadOnly(const std::string& path) {
  Database db;
  db.path_ = path;
  // A killed recording leaves a journal, and SQLite reads it only where it may write beside it.
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (fs::exists(path + "-wal", ignored) && !fs::exists(path + "-shm", ignored) &&
      access(fs::absolute(path, ignored).parent_path().c_str(), W_OK) != 0) {
    std::string folder = (fs::temp_directory_path(ignored) / "uopscope-XXXXXX").string();
    if (!mkdtemp(folder.data()))
      throw Error(ErrorKind::File,
                  fmt::format("{}: its recording did not end and its folder is read-only; copy the trace "
                              "and its -wal file to a folder that can be written",
                              path));
    db.copy_ = std::make_shared<TemporaryFolder>(folder);
    for (const char* suffix : {"", "-wal"}) fs::copy_file(path + suffix, folder + "/trace" + suffix, ignored);
    db.db_.reset(openHandle(folder + "/trace", SQLITE_OPEN_READONLY));
  } else {
    db.db_.reset(openHandle(path, SQLITE_OPEN_READONLY));
  }
  db.execute("PRAGMA cell_size_check = ON");
  guardReading(db.handle());
  return db;
}

Statement Database::prepare(std::string_view sql) const {
  DatabaseWatch::note(sql);
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
  DatabaseWatch::note(sql);
  int code = sqlite3_exec(handle(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) throwDatabaseError(path_, code, sqlite3_errmsg(handle()));
}

int64_t Database::pragma(const std::string& name) const {
  Statement s = prepare("PRAGMA " + name);
  return s.step() ? s.integer(0) : 0;
}

} // namespace uopscope
