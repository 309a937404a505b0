// Keeps the documentation of the trace format true: its part on tables is made from the comments of the
// schema (UPDATE_GOLDEN=1 writes it anew), every query on the page runs and returns rows, every column has a
// comment.
#include "engine/uop/origin.h"
#include "replay/read/sql.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr const char* kSchemaFile = UOPSCOPE_SOURCE_DIR "/replay/schema/trace.sql";
const std::string kPage = std::string(UOPSCOPE_SOURCE_DIR) + "/docs/guide/trace-format.md";
constexpr std::string_view kBegin = "<!-- tables: made from replay/schema/trace.sql -->\n",
                           kEnd = "<!-- end of tables -->\n";

std::string textOf(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

struct Column {
  std::string name, type, comment;
};
struct Described {
  std::string name, comment;
  bool view = false;
  std::vector<Column> columns;
};

/// "name INTEGER NOT NULL, -- what it is" -> a column.
Column columnOf(const std::string& line) {
  Column c;
  std::istringstream words(line);
  words >> c.name >> c.type;
  while (!c.type.empty() && (c.type.back() == ',' || c.type.back() == ';')) c.type.pop_back();
  bool optional = line.find("NOT NULL") == std::string::npos && line.find("PRIMARY KEY") == std::string::npos;
  if (optional) c.type += " or NULL";
  if (size_t at = line.find("-- "); at != std::string::npos) c.comment = line.substr(at + 3);
  return c;
}

/// Tables and views in the order of the schema.
std::vector<Described> schema() {
  std::vector<Described> out;
  std::istringstream in(textOf(kSchemaFile));
  std::string comment;
  bool open = false;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("-- ")) {
      comment += (comment.empty() ? "" : " ") + line.substr(3);
    } else if (line.starts_with("CREATE TABLE") || line.starts_with("CREATE VIEW")) {
      open = line.starts_with("CREATE TABLE");
      std::istringstream words(line);
      std::string create, kind, name;
      words >> create >> kind >> name;
      out.push_back({name, comment, !open, {}});
      comment.clear();
    } else if (open && line.starts_with("  ") && !line.starts_with("  PRIMARY KEY")) {
      out.back().columns.push_back(columnOf(line));
    } else if (!line.starts_with("  ")) {
      open = false;
      comment.clear();
    }
  }
  return out;
}

std::string pageOf(const std::vector<Described>& all) {
  std::string out;
  for (const Described& d : all) {
    if (d.view) continue;
    out += "### " + d.name + "\n" + d.comment + "\n\n| column | type | what |\n|---|---|---|\n";
    for (const Column& c : d.columns) out += "| `" + c.name + "` | " + c.type + " | " + c.comment + " |\n";
    out += "\n";
  }
  out += "### Views\n| view | what it shows |\n|---|---|\n";
  for (const Described& d : all)
    if (d.view) out += "| `" + d.name + "` | " + d.comment + " |\n";
  return out;
}

/// Makes a small recording with all kinds of data.
void recordEverything(const std::string& path) {
  recordTo(path, [] {
    Observer& o = *Observer::current();
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(4, 80);
    ObservedScope script({ScopeKind::Script, "model.py", {}, {}});
    setOrigin(root.src(0), {"matmul", "model.py", 3, "model/head"});
    o.onOrigin({root.src(0), "matmul", {"model.py", 3}});
    {
      ObservedScope schedule({ScopeKind::Schedule, "schedule 1", {"model.py", 5}, root});
    }
    ObservedScope kernel({ScopeKind::Kernel, "k", {"model.py", 5}, root});
    because(
        [] { return Decision{"a sum of two equal terms is a product", 1.5, "cycles", {{"the sum", 2.0}}}; });
    graphRewrite(root, shrinking(), {.name = "simplify"});
    o.onArtifact({"name", "r_4"});
    o.onProgram(root.src());
    o.onArtifact({"opts", "[\"UNROLL\"]"});
    o.onArtifact({"launch", R"({"device":"CPU","global":[4],"local":[],"estimates":{"ops":8,"mem":64}})"});
    const TextLine lines[] = {{1, 0}, {2, 1}};
    o.onArtifact({"source", "void r_4() {\n}\n", lines});
    o.onPhase({"lower", 10, 20});
    o.onCandidate({"[\"UPCAST\"]", 30, {}});
    o.onBuffer({1, "CPU", "float", 64});
    const uint64_t buffers[] = {1};
    o.onLaunch({"r_4", "CPU", 1, 2000, 3000, 4000, 5000, &pool, buffers});
    o.onOutput("stdout", "0.25\n");
  });
}

} // namespace

TEST_CASE("the page on the trace format says what the schema says") {
  std::string page = textOf(kPage);
  size_t begin = page.find(kBegin), end = page.find(kEnd);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  std::string wanted = page.substr(0, begin + kBegin.size()) + pageOf(schema()) + page.substr(end);
  if (std::getenv("UPDATE_GOLDEN"))
    std::ofstream(kPage) << wanted;
  else
    CHECK_MESSAGE(page == wanted, "run the test with UPDATE_GOLDEN=1");
}

TEST_CASE("every table and column of a trace is described") {
  TempTrace file;
  recordTo(file.path, [] {});
  Database db = openTrace(file.path);
  auto described = schema();
  size_t tables = 0;
  for (Statement s = db.prepare("SELECT name, sql, type FROM sqlite_schema WHERE type IN ('table', 'view')");
       s.step();) {
    std::string name(s.text(0));
    if (name.starts_with("sqlite_")) continue;
    CAPTURE(name);
    auto it = std::ranges::find_if(described, [&](const Described& d) { return d.name == name; });
    REQUIRE(it != described.end());
    CHECK(it->comment.size() > 10);
    if (s.text(2) == "view") continue;
    ++tables;
    CHECK(std::string(s.text(1)).find("STRICT") != std::string::npos);
    std::vector<std::string> columns, wanted;
    for (Statement c = db.prepare("SELECT name FROM pragma_table_xinfo('" + name + "')"); c.step();)
      columns.emplace_back(c.text(0));
    for (const Column& c : it->columns) wanted.push_back(c.name);
    CHECK(columns == wanted);
  }
  CHECK(tables == 38);
}

TEST_CASE("queries of docs/guide/trace-format.md run") {
  TempTrace file;
  recordEverything(file.path);
  Trace trace(file.path);
  std::string page = textOf(kPage);
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
  CHECK(queries >= 16);
  CHECK(answers >= queries - 4);
}

namespace {
/// Runs a Python program of tests/replay/schema; returns its output when it failed, else nothing.
std::string byPython(const std::string& script, const std::string& arguments) {
  const std::string folder = std::string(UOPSCOPE_SOURCE_DIR) + "/tests/replay/schema/";
  FILE* pipe = popen(("python3 " + folder + script + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string out;
  char buffer[4096];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, pipe)) out.append(buffer, n);
  return pclose(pipe) == 0 ? "" : out;
}
} // namespace

TEST_CASE("the twenty questions are answered by Python's sqlite3 alone") {
  TempTrace file;
  recordEverything(file.path);
  const std::string page = std::string(UOPSCOPE_SOURCE_DIR) + "/docs/guide/twenty-questions.md";
  CHECK(byPython("plain_sql.py", file.path + " " + page) == "");
}

TEST_CASE("views say what readers say") {
  TempTrace file;
  recordEverything(file.path);
  Database db = Database::openForWriting(file.path); // which runs the views of the file
  for (const char* view : {"v_node", "v_edge", "v_rewrite", "v_pass", "v_kernel", "v_launch", "v_launch_time",
                           "v_match", "v_match_pass", "matcher_rule", "v_line", "v_text", "v_origin",
                           "v_buffer", "v_phase", "v_alternative"}) {
    CAPTURE(view);
    Statement s = db.prepare(std::string("SELECT count(*) FROM ") + view);
    REQUIRE(s.step());
    CHECK(s.integer(0) > 0);
  }
  Trace trace(file.path);
  for (Statement s = db.prepare("SELECT id, text FROM artifact"); s.step();)
    CHECK(s.text(1) == trace.artifactText(s.integer(0)));
  for (Statement s = db.prepare("SELECT kernel, position, node FROM instruction"); s.step();)
    CHECK(trace.program(s.integer(0)).at(static_cast<size_t>(s.integer(1))) == s.integer(2));
  NodeId last = trace.nodes().count();
  Statement node = db.prepare("SELECT count(*), max(id) FROM v_node");
  REQUIRE(node.step());
  CHECK(node.integer(0) == last);
  CHECK(node.integer(1) == last);
  for (Statement s = db.prepare("SELECT id, op, arg FROM v_node"); s.step();) {
    NodeFields n = trace.nodes().fields(static_cast<NodeId>(s.integer(0)));
    CHECK(s.text(1) == opName(n.op));
    CHECK(s.isNull(2) == !n.arg);
  }
  std::map<int64_t, std::vector<int64_t>> edges;
  for (Statement s = db.prepare("SELECT node, position, source FROM v_edge ORDER BY node, position");
       s.step();) {
    auto& sources = edges[s.integer(0)];
    CHECK(s.integer(1) == static_cast<int64_t>(sources.size()));
    sources.push_back(s.integer(2));
  }
  for (NodeId id = 1; id <= last; ++id) {
    auto src = trace.nodes().raw(id).src;
    CHECK(edges[id] == std::vector<int64_t>(src.begin(), src.end()));
  }
  Statement differs = db.prepare(
      "WITH a AS (SELECT rule_id, op, outcome, sum(count) AS n FROM v_match_pass GROUP BY 1, 2, 3), b AS ("
      "SELECT rule, op, 'applied' AS outcome, applied AS n FROM v_match WHERE applied UNION ALL SELECT rule, "
      "op, "
      "'rejected_early', rejected_early FROM v_match WHERE rejected_early UNION ALL SELECT rule, op, "
      "'structure_differs', structure_differs FROM v_match WHERE structure_differs UNION ALL SELECT rule, "
      "op, "
      "'declined', declined FROM v_match WHERE declined UNION ALL SELECT rule, op, 'unchanged', unchanged "
      "FROM "
      "v_match WHERE unchanged) SELECT (SELECT count(*) FROM (SELECT * FROM a EXCEPT SELECT * FROM b)) + "
      "(SELECT "
      "count(*) FROM (SELECT * FROM b EXCEPT SELECT * FROM a))");
  REQUIRE(differs.step());
  CHECK(differs.integer(0) == 0);
}
