// The limits lie far above the sizes of real traces. Pragmas with a value change state, except those that
// describe a table. The schema stays trusted, since views use json_extract(), which SQLite 3.40 counts as
// unsafe. The authorizer denies every function with an effect, also in views.
#include "replay/schema/reading_guard.h"

#include <sqlite3.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace uopscope {

namespace {
int authorize(void*, int action, const char* first, const char* second, const char* database, const char*) {
  using namespace std::string_view_literals;
  constexpr std::string_view kDescribing[] = {"table_info",   "table_xinfo", "index_list",
                                              "index_info",   "index_xinfo", "foreign_key_list",
                                              "data_version", "table_list"};
  constexpr std::string_view kWithEffects[] = {"load_extension", "fts3_tokenizer", "readfile", "writefile",
                                               "edit"};
  const bool temporary = database && database == "temp"sv;
  auto is = [](const auto& names, const char* name) {
    return name && std::ranges::find(names, std::string_view(name)) != std::end(names);
  };
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_READ:
  case SQLITE_RECURSIVE:
  case SQLITE_TRANSACTION:
  case SQLITE_SAVEPOINT:
  case SQLITE_CREATE_TEMP_TABLE:
  case SQLITE_CREATE_TEMP_VIEW:
  case SQLITE_CREATE_TEMP_INDEX:
  case SQLITE_DROP_TEMP_TABLE:
  case SQLITE_DROP_TEMP_VIEW: return SQLITE_OK;
  // A virtual table (json_each, dbstat, ours) declares its columns by a CREATE TABLE that is parsed and never
  // run. A real CREATE TABLE fails, since the file is open for reading.
  case SQLITE_CREATE_TABLE: return SQLITE_OK;
  case SQLITE_UPDATE:
  case SQLITE_INSERT: return temporary || (first && first == "sqlite_master"sv) ? SQLITE_OK : SQLITE_DENY;
  case SQLITE_DELETE: return temporary ? SQLITE_OK : SQLITE_DENY;
  case SQLITE_FUNCTION: return is(kWithEffects, second) ? SQLITE_DENY : SQLITE_OK;
  case SQLITE_PRAGMA: return !second || is(kDescribing, first) ? SQLITE_OK : SQLITE_DENY;
  default: return SQLITE_DENY; // attaching files, virtual tables, triggers, changes of the file
  }
}
} // namespace

void allowReading(sqlite3* db) {
  sqlite3_set_authorizer(db, authorize, nullptr);
}

void guardReading(sqlite3* db) {
  sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, nullptr); // of files; temporary ones still work
  const std::pair<int, int> limits[] = {{SQLITE_LIMIT_LENGTH, static_cast<int>(kMostValueBytes)},
                                        {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                        {SQLITE_LIMIT_COLUMN, 256},
                                        {SQLITE_LIMIT_EXPR_DEPTH, 200},
                                        {SQLITE_LIMIT_COMPOUND_SELECT, 50},
                                        {SQLITE_LIMIT_VDBE_OP, 1 << 20},
                                        {SQLITE_LIMIT_ATTACHED, 0},
                                        {SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000},
                                        {SQLITE_LIMIT_TRIGGER_DEPTH, 1},
                                        {SQLITE_LIMIT_WORKER_THREADS, 0}};
  for (auto [which, most] : limits) sqlite3_limit(db, which, most);
  allowReading(db);
}

} // namespace uopscope
