// Creates traces and checks the files that claim to be traces. The checks come before any query, so a
// stranger's database or a text file gives one clear sentence instead of "no such table".
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

/// The statements without comments and alignment, which would make up a tenth of a small trace.
std::string brief(const std::string& sql) {
  std::string out;
  bool quoted = false;
  for (size_t at = 0; at < sql.size(); ++at) {
    const char c = sql[at];
    if (c == '\'') quoted = !quoted;
    if (!quoted && sql.compare(at, 2, "--") == 0) {
      at = std::min(sql.find('\n', at), sql.size()) - 1;
      while (out.ends_with(' ')) out.pop_back();
    } else if (quoted || c != ' ' || !out.ends_with(' ')) {
      out += c;
    }
  }
  return out;
}

/// The statement that makes a table or a view of this version as a temporary one, for this connection alone.
std::string temporary(std::string_view kind, std::string_view name) {
  const std::string &sql = text("trace.sql"), begin = fmt::format("\nCREATE {} {} ", kind, name);
  const size_t at = sql.find(begin), end = sql.find(kind == "TABLE" ? ") STRICT" : ";\n", at);
  if (at == std::string::npos) return {};
  return fmt::format("CREATE TEMP {} {} {};", kind, name,
                     sql.substr(at + begin.size(), end + (kind == "TABLE" ? 1 : 0) - at - begin.size()));
}

/// The part of older.sql under a heading.
std::string partOfOlder(std::string_view heading) {
  const std::string &sql = text("older.sql"), begin = fmt::format("--: {}\n", heading);
  const size_t at = sql.find(begin);
  return sql.substr(at, sql.find("\n--: ", at) - at);
}

struct TableOf {
  const char* name;
  int64_t since; ///< first version with the table
};
constexpr TableOf kTables[] = {
    {"meta", 1},        {"string", 1},      {"file", 1},         {"op", 1},         {"dtype", 1},
    {"arg", 1},         {"kind", 1},        {"rule", 1},         {"scope", 1},      {"pass", 1},
    {"step", 1},        {"gate", 1},        {"origin", 1},       {"launch", 1},     {"step_error", 1},
    {"phase", 2},       {"kernel", 2},      {"unchanged", 2},    {"candidate", 2},  {"output", 2},
    {"buffer", 2},      {"match_total", 2}, {"decision", 4},     {"node_block", 5}, {"match_group", 5},
    {"match_set", 5},   {"match_pass", 5},  {"packed_time", 5},  {"text", 5},       {"match_tried", 6},
    {"matcher", 6},     {"decline_set", 6}, {"decline_pass", 6}, {"cause", 6},      {"line_form", 7},
    {"line_repeat", 7}, {"program", 7},     {"origin_calls", 8}};
/// Tables that earlier versions had in place of the current ones.
constexpr const char* kTablesBefore3[] = {"artifact", "node_block", "match_block", "text_line",
                                          "instruction"};
constexpr const char* kTablesOf3And4[] = {"packed_text", "packed_program", "packed_node", "packed_match"};
constexpr const char* kTablesOf5And6[] = {"text_block", "packed_program"};

/// The names of all views of this version, in the order of the schema.
std::vector<std::string> namesOfViews() {
  constexpr std::string_view kBegin = "\nCREATE VIEW ";
  const std::string& sql = text("trace.sql");
  std::vector<std::string> names;
  for (size_t at = sql.find(kBegin); at != std::string::npos; at = sql.find(kBegin, at + 1)) {
    const size_t name = at + kBegin.size();
    names.push_back(sql.substr(name, sql.find(' ', name) - name));
  }
  return names;
}

/// Adds the tables (empty) that readers query and that files of this version lack, and all views: those of the file are
/// never run, since it may define them in any way. Views that a version did not have are only made where its tables allow.
void addWhatIsMissing(const Database& db, int64_t version) {
  std::string sql;
  for (const TableOf& table : kTables)
    if (table.since > version && table.since < kPlainSchemaVersion) sql += temporary("TABLE", table.name);
  if (version < 2) sql += partOfOlder("versions before 2");
  if (version < 4) sql += partOfOlder("versions before 4");
  if (version < kPlainSchemaVersion) sql += partOfOlder("versions before 5");
  if (version >= kPackedSchemaVersion && version < kPlainSchemaVersion)
    sql += partOfOlder("versions 3 and 4");
  if (version == kPlainSchemaVersion) sql += partOfOlder("version 5");
  if (version >= kPlainSchemaVersion && version < kLineSchemaVersion) sql += partOfOlder("versions 5 and 6");
  if (version < kLineSchemaVersion) sql += partOfOlder("versions before 7");
  if (version < 4) sql += temporary("VIEW", "v_decision") + temporary("VIEW", "v_decline");
  if (version < 8) sql += temporary("TABLE", "origin_calls") + temporary("VIEW", "v_origin");
  if (version >= kPlainSchemaVersion) sql += temporary("VIEW", "byte");
  db.execute(sql);
  sql.clear();
  Statement named =
      db.prepare("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = 'view' AND name = ?1), "
                 "EXISTS (SELECT 1 FROM temp.sqlite_schema WHERE name = ?1)");
  for (const std::string& view : namesOfViews()) {
    named.bind(1, std::string_view(view)).step();
    if ((named.integer(0) || version >= kLineSchemaVersion) && !named.integer(1))
      sql += temporary("VIEW", view);
    named.reset();
  }
  db.execute(sql);
}
} // namespace

void createTables(const Database& db) {
  db.execute("BEGIN");
  db.execute(brief(text("trace.sql")));
  db.execute(fmt::format("PRAGMA user_version = {}", kTraceSchemaVersion));
  db.execute("COMMIT");
}

void createIndexes(const Database& db) {
  db.execute(brief(text("indexes.sql")));
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
  Statement exists = db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1");
  auto check = [&](const char* table) {
    bool there = exists.bind(1, std::string_view(table)).step();
    exists.reset();
    if (!there)
      throw Error(ErrorKind::File,
                  fmt::format("{}: the table {} is missing; the file is damaged", path, table));
  };
  for (const TableOf& table : kTables)
    if (table.since <= version) check(table.name);
  if (version == 2)
    for (const char* table : kTablesBefore3) check(table);
  if (version >= kPackedSchemaVersion && version < kPlainSchemaVersion)
    for (const char* table : kTablesOf3And4) check(table);
  if (version >= kPlainSchemaVersion && version < kLineSchemaVersion)
    for (const char* table : kTablesOf5And6) check(table);
  addWhatIsMissing(db, version);
  return db;
}

} // namespace uopscope
