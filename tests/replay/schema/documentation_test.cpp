// The trace format's documentation is kept: every query on the page runs and answers, every table has its
// place there, and tables and columns of the schema carry comments.
#include "replay/read/sql.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {
std::string textOf(const std::string& path) {
  std::ifstream in(std::string(UOPSCOPE_SOURCE_DIR) + "/" + path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}
} // namespace

TEST_CASE("queries of docs/guide/trace-format.md run") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(4, 80);
    ObservedScope kernel({ScopeKind::Kernel, "k", {"model.py", 1}, root});
    graphRewrite(root, shrinking(), {.name = "simplify"});
    Observer::current()->onLaunch({"k", "CPU", 1, 2, 3, 4});
  });
  Trace trace(file.path);
  std::string page = textOf("docs/guide/trace-format.md");
  size_t queries = 0, answers = 0;
  for (size_t at = 0; (at = page.find("```sql\n", at)) != std::string::npos;) {
    size_t end = page.find("```", at + 7);
    std::string sql = page.substr(at + 7, end - at - 7);
    CAPTURE(sql);
    SqlResult r;
    REQUIRE_NOTHROW(r = query(trace, sql));
    ++queries;
    answers += !r.rows.empty();
    at = end + 3;
  }
  CHECK(queries >= 8);
  CHECK(answers >= queries - 2);
}

TEST_CASE("every table is documented, every column commented") {
  std::string page = textOf("docs/guide/trace-format.md"), schema = textOf("replay/schema/001_initial.sql");
  TempTrace file;
  recordTo(file.path, [] {});
  Database db = openTrace(file.path);
  size_t tables = 0;
  for (Statement s = db.prepare("SELECT name, sql FROM sqlite_schema WHERE type = 'table'"); s.step();) {
    std::string name(s.text(0));
    if (name.starts_with("sqlite_")) continue;
    CAPTURE(name);
    ++tables;
    CHECK(page.find(name) != std::string::npos);
    size_t at = schema.find("CREATE TABLE " + name + " (");
    REQUIRE(at != std::string::npos);
    CHECK(schema.rfind("-- ", at) > schema.rfind("\n\n", at)); // a comment right above
    CHECK(std::string(s.text(1)).find("STRICT") != std::string::npos);
  }
  CHECK(tables == 18);
}
