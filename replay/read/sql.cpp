// The connection is read-only already (replay/schema/reading_guard.h). Queries of a person may not make
// temporary tables either.
#include "replay/read/sql.h"

#include "replay/read/print.h"
#include "replay/schema/reading_guard.h"

#include <fmt/format.h>
#include <sqlite3.h>

namespace uopscope {

namespace {

template <typename F>
void answer(sqlite3_context* context, sqlite3_value** values, F make) {
  if (sqlite3_value_type(values[0]) == SQLITE_NULL) {
    sqlite3_result_null(context);
    return;
  }
  auto* trace = static_cast<Trace*>(sqlite3_user_data(context));
  try {
    int64_t id = sqlite3_value_int64(values[0]);
    if (id < 1 || id >= kFirstViewNode) throw Error(ErrorKind::Key, "there is no such node");
    std::string text = make(*trace, static_cast<NodeId>(id));
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } catch (const std::exception& e) {
    sqlite3_result_error(context, e.what(), -1);
  }
}

void sourcesFunction(sqlite3_context* context, int, sqlite3_value** values) {
  answer(context, values, [](Trace& trace, NodeId id) {
    std::string out = "[";
    for (NodeId s : trace.nodes().raw(id).src) out += fmt::format("{}{}", out.size() > 1 ? "," : "", s);
    return out + "]";
  });
}
void exprFunction(sqlite3_context* context, int, sqlite3_value** values) {
  answer(context, values, [](Trace& trace, NodeId id) { return expression(trace.nodes().reader(), id); });
}
void labelFunction(sqlite3_context* context, int, sqlite3_value** values) {
  answer(context, values, [](Trace& trace, NodeId id) { return nodeLabel(trace.nodes().fields(id)); });
}
void opnameFunction(sqlite3_context* context, int, sqlite3_value** values) {
  auto* trace = static_cast<Trace*>(sqlite3_user_data(context));
  int64_t op = sqlite3_value_int64(values[0]);
  try {
    std::string name(opName(trace->nodes().engineOp(static_cast<uint8_t>(op & 255))));
    sqlite3_result_text64(context, name.data(), name.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  } catch (const std::exception& e) {
    sqlite3_result_error(context, e.what(), -1);
  }
}

int authorize(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
  case SQLITE_SELECT:
  case SQLITE_READ:
  case SQLITE_FUNCTION:
  case SQLITE_RECURSIVE:
  case SQLITE_PRAGMA: return SQLITE_OK;
  default: return SQLITE_DENY;
  }
}

/// True where `sql` names a view that only the file defines. With a subquery WITH, SQLite reports its tables as missing.
bool namesViewOfFile(const Database& db, std::string_view sql) {
  Statement views = db.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'view' "
                               "AND name NOT IN (SELECT name FROM temp.sqlite_schema)");
  while (views.step())
    if (const std::string_view name = views.text(0);
        !name.empty() && sql.find(name) != std::string_view::npos)
      return true;
  return false;
}

/// What follows SQLite's own words about a query that was not understood.
std::string_view hintFor(int code, const Database& db, std::string_view wrong, std::string_view sql) {
  if ((code & 0xff) == SQLITE_AUTH) return ": a query only reads this trace";
  if (wrong.starts_with("access to view ") ||
      (wrong.starts_with("no such table") && namesViewOfFile(db, sql)))
    return ": only the views of the trace format are run, and not as this file defines them";
  return "";
}

} // namespace

void addSqlFunctions(Trace& trace) {
  sqlite3* db = trace.database().handle();
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
  sqlite3_create_function(db, "sources", 1, kFlags, &trace, sourcesFunction, nullptr, nullptr);
  sqlite3_create_function(db, "expr", 1, kFlags, &trace, exprFunction, nullptr, nullptr);
  sqlite3_create_function(db, "label", 1, kFlags, &trace, labelFunction, nullptr, nullptr);
  sqlite3_create_function(db, "opname", 1, kFlags, &trace, opnameFunction, nullptr, nullptr);
}

SqlResult query(Trace& trace, const std::string& sql, size_t maxRows) {
  addSqlFunctions(trace);
  sqlite3* db = trace.database().handle();
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  sqlite3_set_authorizer(db, authorize, nullptr);
  int code = sqlite3_prepare_v2(db, sql.c_str(), static_cast<int>(sql.size()), &raw, &tail);
  std::string wrong = code == SQLITE_OK ? "" : sqlite3_errmsg(db);
  allowReading(db);
  std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(raw, sqlite3_finalize);
  if (code != SQLITE_OK)
    throw Error(ErrorKind::Value,
                fmt::format("SQL: {}{}", wrong, hintFor(code, trace.database(), wrong, sql)));
  if (!raw) throw Error(ErrorKind::Value, "SQL: the query is empty");
  if (tail && std::string(tail).find_first_not_of(" \t\r\n;") != std::string::npos)
    throw Error(ErrorKind::Value, "SQL: one statement at a time, please");
  SqlResult result;
  int columns = sqlite3_column_count(raw);
  for (int c = 0; c < columns; ++c) result.columns.emplace_back(sqlite3_column_name(raw, c));
  while ((code = sqlite3_step(raw)) == SQLITE_ROW) {
    if (result.rows.size() == maxRows) {
      result.more = true;
      return result;
    }
    auto& row = result.rows.emplace_back();
    for (int c = 0; c < columns; ++c) {
      switch (sqlite3_column_type(raw, c)) {
      case SQLITE_INTEGER: row.emplace_back(int64_t{sqlite3_column_int64(raw, c)}); break;
      case SQLITE_FLOAT: row.emplace_back(sqlite3_column_double(raw, c)); break;
      case SQLITE_NULL: row.emplace_back(); break;
      case SQLITE_BLOB: {
        std::string hex;
        const auto* bytes = static_cast<const uint8_t*>(sqlite3_column_blob(raw, c));
        for (int k = 0; k < sqlite3_column_bytes(raw, c); ++k) hex += fmt::format("{:02x}", bytes[k]);
        row.emplace_back(std::move(hex));
        break;
      }
      default:
        row.emplace_back(std::string(reinterpret_cast<const char*>(sqlite3_column_text(raw, c)),
                                     static_cast<size_t>(sqlite3_column_bytes(raw, c))));
      }
    }
  }
  if (code != SQLITE_DONE) {
    if ((code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_IOERR)
      throwDatabaseError(trace.path(), code, sqlite3_errmsg(db));
    throw Error(ErrorKind::Value, fmt::format("SQL: {}", sqlite3_errmsg(db)));
  }
  return result;
}

} // namespace uopscope
