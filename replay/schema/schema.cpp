// What a file must be to count as a trace, and how a new one is made. The checks come before any query, so
// that a stranger's database or a text file gives one clear sentence instead of "no such table".
#include "replay/schema/schema.h"

#include "replay_schema_embedded.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

namespace uopscope {

namespace {
const std::string& migration(std::string_view name) {
  for (const auto& [file, text] : replay_schemaEmbedded())
    if (file == name) return text;
  throw Error(ErrorKind::File, fmt::format("the migration {} is not part of this build", name));
}
} // namespace

void createTables(const Database& db) {
  db.execute("BEGIN");
  db.execute(migration("001_initial.sql"));
  db.execute(fmt::format("PRAGMA user_version = {}", kTraceSchemaVersion));
  db.execute("COMMIT");
}

void createIndexes(const Database& db) {
  db.execute(migration("002_indexes.sql"));
}

Database openTrace(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0)
    throw Error(ErrorKind::File,
                fmt::format("{}: {}; give the path of a .uoptrace file", path, strerror(errno)));
  if (!S_ISREG(info.st_mode))
    throw Error(ErrorKind::File, fmt::format("{}: not a file; give the path of a .uoptrace file", path));
  if (info.st_size == 0)
    throw Error(ErrorKind::File,
                fmt::format("{}: the file is empty; the recording ended before anything was written", path));
  Database db = Database::openReadOnly(path);
  int64_t application = db.pragma("application_id"), version = db.pragma("user_version");
  if (application != kTraceApplicationId)
    throw Error(ErrorKind::File, fmt::format("{}: an SQLite database, but not a trace of uopscope", path));
  if (version > kTraceSchemaVersion)
    throw Error(
        ErrorKind::File,
        fmt::format("{}: written by a newer uopscope (format {}, this one reads up to {}); update uopscope",
                    path, version, kTraceSchemaVersion));
  if (version < 1)
    throw Error(
        ErrorKind::File,
        fmt::format("{}: the trace's format number {} is not valid; the file is damaged", path, version));
  for (const char* table :
       {"meta", "string", "file", "op", "dtype", "arg", "kind", "node", "rule", "scope", "pass", "step",
        "step_error", "gate", "match_count", "artifact", "launch", "origin"}) {
    Statement s = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?");
    if (!s.bind(1, std::string_view(table)).step())
      throw Error(ErrorKind::File,
                  fmt::format("{}: the table {} is missing; the file is damaged", path, table));
  }
  return db;
}

} // namespace uopscope
