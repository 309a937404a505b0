// A trace's file may define its views in any way: a reader never runs them. It has views of its own under the same names, and
// they say what the views of a trace by that version of the program say.
#include "replay/read/sql.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

using namespace uopscope;
using namespace uopscope::test;

namespace {
constexpr const char* kEndless =
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT c.x FROM c";

std::vector<std::string> viewsOf(const Database& db) {
  std::vector<std::string> names;
  for (Statement s = db.prepare("SELECT name FROM main.sqlite_schema WHERE type = 'view'"); s.step();)
    names.emplace_back(s.text(0));
  return names;
}

/// The rows in an order of their own, with the columns named.
std::vector<std::string> rowsOf(const Database& db, const std::string& view,
                                const std::vector<std::string>& columns) {
  std::string list;
  for (const std::string& c : columns) list += (list.empty() ? "quote(" : " || ' ' || quote(") + c + ")";
  std::vector<std::string> rows;
  for (Statement s = db.prepare("SELECT " + list + " FROM " + view); s.step();) rows.emplace_back(s.text(0));
  std::ranges::sort(rows);
  return rows;
}
} // namespace

TEST_CASE("endless views of a trace are not run") {
  TempTrace file;
  recordTo(file.path, [] {});
  std::vector<std::string> names;
  {
    Database db = Database::openForWriting(file.path);
    names = viewsOf(db);
    CHECK(names.size() > 20);
    for (const std::string& name : names)
      db.execute("DROP VIEW " + name + "; CREATE VIEW " + name + " AS " + kEndless);
    db.execute(std::string("CREATE VIEW mine AS ") + kEndless + "; CREATE VIEW steps AS SELECT id FROM step");
  }
  Trace trace(file.path);
  for (const std::string& name : names) {
    CAPTURE(name);
    CHECK(query(trace, "SELECT count(*) FROM " + name).rows.size() == 1);
    CHECK_THROWS_AS(query(trace, "SELECT count(*) FROM main." + name), Error);
  }
  CHECK_THROWS_WITH_AS(query(trace, "SELECT * FROM mine"),
                       "SQL: no such table: main.c: only the views of the trace format are run, "
                       "and not as this file defines them",
                       Error);
  CHECK_THROWS_WITH_AS(query(trace, "SELECT * FROM steep"), "SQL: no such table: steep", Error);
  CHECK_THROWS_WITH_AS(
      query(trace, "SELECT * FROM steps"),
      "SQL: access to view \"steps\" prohibited: only the views of the trace format are run, "
      "and not as this file defines them",
      Error);
  CHECK_THROWS_AS(trace.database().prepare("SELECT x FROM mine"), Error);
}

TEST_CASE("views of readers say what the views of a trace say, for every version") {
  const auto check = [](const std::string& path) {
    CAPTURE(path);
    TempTrace copy; // the file's own views, on a connection without a guard
    std::filesystem::copy_file(path, copy.path);
    const Database own = Database::openForWriting(copy.path);
    const Database reader = openTrace(path);
    for (const std::string& view : viewsOf(own)) {
      CAPTURE(view);
      std::vector<std::string> columns;
      for (Statement s = own.prepare("SELECT name FROM pragma_table_info('" + view + "')"); s.step();)
        columns.emplace_back(s.text(0));
      const auto rows = rowsOf(own, view, columns);
      CHECK(rowsOf(reader, view, columns) == rows);
    }
  };
  TempTrace today;
  recordTo(today.path, [] {});
  check(today.path);
  size_t found = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(UOPSCOPE_SOURCE_DIR) + "/tests/data"))
    if (entry.path().extension() == ".uoptrace") check(entry.path()), ++found;
  CHECK(found >= 5);
}
