// Runs a person's SQL on a trace: read-only, with extra functions for nodes.
//
//   sources(node)   JSON array of the sources' ids:  SELECT value FROM json_each(sources(12))
//   expr(node)      the node as an expression
//   label(node)     operation, dtype and argument
//   opname(op)      name of an operation
//   node, match_count   tables of data that the file packs into blocks (replay/read/sql_tables.h)
//
//   SqlResult r = query(trace, "SELECT name FROM rule WHERE line > 10", 100);
#pragma once
#include "replay/read/trace.h"

#include <variant>

namespace uopscope {

using SqlValue = std::variant<std::monostate, int64_t, double, std::string>;
struct SqlResult {
  std::vector<std::string> columns;
  std::vector<std::vector<SqlValue>> rows;
  bool more = false; ///< there were more rows than asked for
};

/// Adds the functions to the trace's connection for as long as the trace lives.
void addSqlFunctions(Trace& trace);
/// Runs one SELECT (or EXPLAIN, or a PRAGMA that reads). Anything else throws Error(Value) with SQLite's own
/// message.
SqlResult query(Trace& trace, const std::string& sql, size_t maxRows = SIZE_MAX);

} // namespace uopscope
