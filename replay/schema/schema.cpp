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
const std::string& text(std::string_view name) {
  for (const auto& [file, text] : replay_schemaEmbedded())
    if (file == name) return text;
  throw Error(ErrorKind::File, fmt::format("the schema's file {} is not part of this build", name));
}

/// What a file of the schema makes of this kind ("TABLE", "VIEW"), as temporary ones of this connection.
std::string temporary(std::string_view file, const std::string& kind) {
  std::string out;
  const std::string &sql = text(file), begin = "\nCREATE " + kind + " ";
  for (size_t at = 0; (at = sql.find(begin, at)) != std::string::npos;) {
    size_t end = sql.find(kind == "TABLE" ? ") STRICT" : ";", at);
    end = sql.find(';', end) + 1;
    at += begin.size();
    out += "CREATE TEMP " + kind + " " + sql.substr(at, end - at) + "\n";
    at = end;
  }
  return out;
}

constexpr const char* kTables[] = {
    "meta",      "string",       "file",      "op",     "dtype",  "arg",         "kind",      "rule",
    "scope",     "pass",         "step",      "gate",   "origin", "launch",      "phase",     "kernel",
    "unchanged", "matcher_rule", "candidate", "output", "buffer", "match_total", "step_error"};
constexpr const char* kTablesBefore3[] = {"artifact", "node_block", "match_block", "text_line",
                                          "instruction"};
constexpr const char* kTablesSince4[] = {"decision", "decline"};
constexpr const char* kTablesOf3And4[] = {"packed_text", "packed_program", "packed_node", "packed_match"};
constexpr const char* kTablesSince5[] = {"node_block",  "match_group", "match_set",  "match_pass",
                                         "packed_time", "text",        "text_block", "packed_program"};
} // namespace

void createTables(const Database& db) {
  db.execute("BEGIN");
  for (const auto& [file, text] : replay_schemaEmbedded()) // in order of their numbers
    if (file[0] >= '0' && file[0] <= '9') db.execute(text);
  db.execute(fmt::format("PRAGMA user_version = {}", kTraceSchemaVersion));
  db.execute("COMMIT");
}

void createIndexes(const Database& db) {
  db.execute(text("indexes.sql"));
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
  // Tables that came later, empty.
  if (version == 1) db.execute(temporary("002_provenance.sql", "TABLE"));
  if (version < 4) db.execute(temporary("004_decisions.sql", "TABLE"));
  Statement exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 UNION ALL "
                                "SELECT 1 FROM sqlite_temp_schema WHERE type = 'table' AND name = ?1");
  auto check = [&](auto& tables) {
    for (const char* table : tables) {
      bool there = exists.bind(1, std::string_view(table)).step();
      exists.reset();
      if (!there)
        throw Error(ErrorKind::File,
                    fmt::format("{}: the table {} is missing; the file is damaged", path, table));
    }
  };
  check(kTables);
  check(kTablesSince4);
  // Views of the file are its own business: those that readers use are made here.
  if (version < kPackedSchemaVersion) {
    check(kTablesBefore3);
  } else if (version < kPlainSchemaVersion) {
    check(kTablesOf3And4);
    db.execute(temporary("003_packed.sql", "VIEW"));
  } else {
    check(kTablesSince5);
    db.execute(temporary("005_plain.sql", "VIEW"));
  }
  if (version < 4) db.execute(temporary("004_decisions.sql", "VIEW"));
  return db;
}

} // namespace uopscope
