// A trace is untrusted input: whatever bytes it has, reading returns an answer or throws Error; it never
// crashes and never hangs.
#include "replay/read/link.h"
#include "replay/read/materialize.h"
#include "replay/read/print.h"
#include "replay/read/provenance.h"
#include "replay/read/sql.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <fstream>
#include <variant>

using namespace uopscope;
using namespace uopscope::test;

namespace {

void makeTrace(const std::string& path) {
  recordTo(path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp root = randomGraph(4, 120);
    ObservedScope kernel({ScopeKind::Kernel, "k", {"model.py", 1}, root});
    graphRewrite(root, shrinking() + nesting(), {.name = "all", .bottomUp = &lowering()});
    TextLine lines[] = {{1, 0}, {1, 1}};
    Observer::current()->onProgram(root.src());
    Observer::current()->onArtifact({"source", "int main() {}", lines});
    Observer::current()->onBuffer({7, "CPU", "float", 64});
    const uint64_t buffers[] = {7};
    Observer::current()->onLaunch({"k", "CPU", 1, 2, 3, 4, 5, &pool, buffers});
  });
}

std::string bytesOf(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Reads all data of a trace. True if nothing was wrong.
bool readAll(const std::string& path) {
  try {
    Trace trace(path);
    trace.warning();
    trace.rules();
    trace.launches();
    trace.buffers();
    trace.phaseTotals();
    trace.outputs();
    trace.matchTotals(MatchGroup::Rule);
    trace.matchTotals(MatchGroup::Everything);
    trace.declines(0, 0);
    for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes())) {
      for (const ArtifactInfo& a : trace.artifacts(s.id)) {
        trace.artifactText(a.id);
        trace.textLines(a.id);
      }
      for (const PassInfo& p : std::vector<PassInfo>(trace.passes(s.id))) {
        trace.rulesOf(p.id);
        trace.unchanged(p.id);
        Cursor cursor(trace, p.id);
        for (int64_t k : {int64_t{0}, cursor.steps() / 2, cursor.steps()}) {
          Pool pool;
          PoolScope inPool(pool);
          UOp u = Materializer(cursor.reader(), pool)(cursor.rootAt(k));
          u.toposort();
          printTree(cursor.reader(), cursor.rootAt(k), 200);
          expression(cursor.reader(), cursor.rootAt(k));
        }
        cursor.diff(0, cursor.steps());
      }
      Provenance p(trace, s.id);
      for (NodeId n = 1; n <= std::min<NodeId>(trace.nodes().count(), 50); ++n) p.chain(n);
    }
    return true;
  } catch (const Error& e) {
    CHECK(std::string(e.what()).size() > 10);
    return false;
  }
}

void change(const std::string& path, const std::string& sql) {
  Database db = Database::openForWriting(path);
  db.execute("PRAGMA ignore_check_constraints = ON");
  db.execute(sql);
}

std::string messageOf(const std::string& path) {
  try {
    Trace trace(path);
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::File);
    return e.what();
  }
  return {};
}

} // namespace

TEST_CASE("files that are no traces are refused with a reason") {
  TempTrace file;
  CHECK(messageOf(file.path).find("No such file") != std::string::npos);
  write(file.path, "");
  CHECK(messageOf(file.path).find("empty") != std::string::npos);
  write(file.path, "from tinygrad import Tensor\nprint(Tensor([1]).tolist())\n" + std::string(5000, '#'));
  CHECK(messageOf(file.path).find("not a trace") != std::string::npos);
  {
    Database::create(file.path).execute("CREATE TABLE t (a)");
  }
  CHECK(messageOf(file.path).find("not a trace of uopscope") != std::string::npos);
  CHECK(messageOf("/").find("not a file") != std::string::npos);
}

TEST_CASE("a newer trace is refused, a damaged version too") {
  TempTrace file;
  makeTrace(file.path);
  CHECK(readAll(file.path));
  change(file.path, "PRAGMA user_version = 99");
  CHECK(messageOf(file.path).find("newer uopscope (format 99") != std::string::npos);
  change(file.path, "PRAGMA user_version = 0");
  CHECK(messageOf(file.path).find("not valid") != std::string::npos);
}

TEST_CASE("hostile rows") {
  for (const char* sql : {
           "UPDATE node_block SET src = zeroblob(length(src))", // no sources
           "UPDATE node_block SET src = x'01' || src",          // a node as its own source
           "UPDATE node_block SET src = x'feffffffffff7f' || src",
           "UPDATE node_block SET src = substr(src, 1, 20)", // cut off
           "UPDATE node_block SET src = x'81'", "UPDATE node_block SET src = zeroblob(100000000)",
           "UPDATE node_block SET kinds = substr(kinds, 1, 20)",
           "UPDATE node_block SET kinds = zeroblob(width * count)",
           "UPDATE node_block SET kinds = randomblob(length(kinds))", // places outside the list `used`
           "UPDATE node_block SET used = x''", "UPDATE node_block SET used = x'ffff'",
           "UPDATE node_block SET used = substr(used, 2)", "UPDATE node_block SET width = 9",
           "UPDATE node_block SET width = 0", "UPDATE node_block SET width = -2",
           "UPDATE node_block SET width = 4611686018427387904", "UPDATE node_block SET count = 5000000000",
           "UPDATE node_block SET count = 100000000, kinds = zeroblob(100000000)",
           "UPDATE node_block SET count = count - 1", "UPDATE node_block SET first = -first",
           "UPDATE kind SET op = 250 WHERE id = 5", // no such operation
           "UPDATE kind SET op = -1",
           "UPDATE kind SET dtype = 9999",                               //
           "UPDATE kind SET arg = 9999 WHERE arg IS NOT NULL",           //
           "UPDATE arg SET value = 'Range(999999999999999999999;NOPE)'", //
           "UPDATE arg SET value = '((((((((((((((((('",
           "UPDATE arg SET value = ''",                                 //
           "UPDATE dtype SET name = 'dtypes.nothing.vec(99999999999)'", //
           "UPDATE kind SET op = op + 1", "DELETE FROM kind", "DELETE FROM node_block",
           "DELETE FROM dtype", //
           "DELETE FROM string", "DELETE FROM rule",
           "DELETE FROM file", //
           "UPDATE pass SET root = 4000000000",
           "UPDATE pass SET root = -5", //
           "UPDATE pass SET parent = id", "UPDATE pass SET parent = id + 1, parent_steps = 0",
           "UPDATE pass SET first_step = 100000000", //
           "UPDATE pass SET first_step = -9223372036854775807, last_step = 9223372036854775807",
           "UPDATE step SET gain = 1",
           "UPDATE step SET before = 3, gain = 1", //
           "UPDATE step SET gain = 9223372036854775807", "UPDATE step SET kind = 77",
           "UPDATE step SET gain = 12345678", //
           "UPDATE step SET kind = 1",
           "UPDATE step SET kind = 0",                             //
           "UPDATE step SET before = before + gain, gain = -gain", // circles
           "UPDATE scope SET parent = id", "UPDATE scope SET parent = 55, root = 99999999",
           "UPDATE scope SET kind = 'nonsense'",
           "DELETE FROM meta", //
           "UPDATE match_group SET cells = '['; DELETE FROM match_total",
           "UPDATE match_group SET cells = '[]'; DELETE FROM match_total",
           "UPDATE match_group SET cells = '{\"a\":1}'; DELETE FROM match_total",
           "UPDATE match_group SET cells = '[1,[],-1,\"x\",1e99]'; DELETE FROM match_total",
           "UPDATE match_group SET cells = '[-1,99999999999999999999]'; DELETE FROM match_total",
           "UPDATE match_group SET cells = '[1,4294967295,4294967295]'; DELETE FROM match_total",
           "UPDATE match_group SET cells = '[1,[1,1,1,1,1,1,1,1]]'; DELETE FROM match_total",
           "UPDATE match_group SET op = 256; DELETE FROM match_total",
           "UPDATE match_group SET times = -1; DELETE FROM match_total",
           "UPDATE match_group SET cells = '[[9223372036854775807,1],[0,1],[0,1]]'; DELETE FROM match_total",
           "UPDATE match_group SET tried = 0; DELETE FROM match_total",
           "UPDATE match_tried SET rules = '[[],\"x\",-1,4294967296]'; DELETE FROM match_total",
           "UPDATE match_tried SET rules = '{\"a\":7}'; DELETE FROM match_total",
           "UPDATE matcher SET rules = '[[1],\"x\",-1,9223372036854775807,1e99]'",
           "UPDATE matcher SET rules = 'no JSON'",
           "UPDATE decline_set SET cells = '[[1],[],\"x\",-1,[9223372036854775807,9223372036854775807]]'",
           "UPDATE decline_set SET cells = '['",
           "UPDATE decline_pass SET declines = 0; UPDATE cause SET rule = -1",
           "DELETE FROM match_group; DELETE FROM match_total",
           "UPDATE match_set SET groups = '[[1],\"x\",-1]'; DELETE FROM match_total",
           "DELETE FROM match_set; DELETE FROM match_total",
           "UPDATE match_pass SET attempts = -1; DELETE FROM match_total",
           "UPDATE packed_time SET times = x'ffffffffffffffffffff01', size = 11; DELETE FROM match_total",
           "UPDATE packed_time SET times = x'0100ff01', size = 4; DELETE FROM match_total",
           "UPDATE packed_time SET size = 1 << 40; DELETE FROM match_total",
           "UPDATE packed_time SET first = -first, last = 1 << 60; DELETE FROM match_total",
           "UPDATE match_total SET op = 300, rule = 9999",
           "UPDATE program SET nodes = x'fffffffffffffffffe01'",
           "UPDATE program SET nodes = x'ffffff0f' || nodes || x'05feffffffffffffffff01'",
           "UPDATE program SET nodes = x'80'", "UPDATE program SET nodes = x''",
           "UPDATE program SET count = 9223372036854775807",
           "UPDATE text SET content = x'ffffffffffffffffff01'",
           "UPDATE text SET content = x'06060606' || content",
           "UPDATE text SET content = x'0b0effffffffffffffff7ffeffffffffffffffff01' || content",
           "UPDATE text SET content = x'', size = -1", "UPDATE text SET lines = x'ffff7ffeffffffffffff7f00'",
           "UPDATE text SET lines = x'0980808080808080808001'", "UPDATE text SET lines = x'80'",
           "UPDATE text SET size = 9223372036854775807",
           "UPDATE line_form SET parts = '[' || replace(hex(zeroblob(20000)), '0', '[')",
           "UPDATE line_form SET parts = '[1,null,{\"a\":[]},\"x\",1e999]'",
           "UPDATE line_form SET parts = 'no JSON'",
           "UPDATE line_form SET parts = json_array(replace(hex(zeroblob(500000)), '0', 'x'))",
           "UPDATE line_repeat SET form = -form",
           "UPDATE line_repeat SET numbers = '[9223372036854775807,\"x\",[],1e99]'",
           "UPDATE line_repeat SET numbers = '['", "DELETE FROM line_form", "DELETE FROM line_repeat",
           // NOLINTNEXTLINE(bugprone-suspicious-missing-comma)
           "DROP TABLE text; CREATE VIEW text AS WITH RECURSIVE c(id) AS "
           "(SELECT 1 UNION ALL SELECT id + 1 FROM c) SELECT id FROM c",
           "DROP VIEW artifact; CREATE VIEW artifact AS SELECT abs(-9223372036854775808) AS id",
           "UPDATE launch SET buffers = '[[[,,99999999999999999999'", "DROP TABLE step",
           "DROP VIEW pass_step",                    //
           "DROP TABLE gate; CREATE TABLE gate (x)", //
           "UPDATE step SET gain = NULL",            //
       }) {
    CAPTURE(sql);
    TempTrace file;
    makeTrace(file.path);
    try {
      change(file.path, sql);
    } catch (const Error&) {
      continue; // STRICT tables refuse it
    }
    readAll(file.path);
  }
}

TEST_CASE("bytes flipped and files cut off anywhere") {
  TempTrace whole;
  makeTrace(whole.path);
  std::string bytes = bytesOf(whole.path);
  std::mt19937 random(11);
  size_t fine = 0;
  for (int round = 0; round < 150; ++round) {
    TempTrace file;
    std::string damaged = bytes;
    if (round % 3 == 0) {
      damaged.resize(random() % damaged.size());
    } else {
      for (int flips = 0; flips < 1 + round; ++flips)
        damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    write(file.path, damaged);
    fine += readAll(file.path);
  }
  CHECK(fine < 150);
}

TEST_CASE("endless rewriting that was cut off can be looked at") {
  static constexpr RuleDef kSwap[] = {
      RULE("swap-there", pat::op(Op::MAX, x, y), [](Match& m) { return m[x].alu(Op::SUB, {m[y]}); }),
      RULE("swap-back", pat::op(Op::SUB, x, y), [](Match& m) { return m[x].alu(Op::MAX, {m[y]}); })};
  PatternMatcher swap({kSwap});
  TempTrace file;
  recordTo(file.path, [&] {
    Pool pool;
    PoolScope scope(pool);
    UOp sinks[] = {UOp::range(3, 0).alu(Op::MAX, {UOp::range(4, 1)}) + 1};
    UOp root = UOp::sink(sinks);
    CHECK_THROWS_AS(graphRewriteBottomUp(root, swap, {.name = "down"}), Error);
    CHECK_THROWS_AS(graphRewrite(root, swap, {.name = "up"}), Error);
  });
  Trace trace(file.path);
  for (const PassInfo& p : std::vector<PassInfo>(trace.passes(0))) {
    CHECK(p.outcome == PassOutcome::Failed);
    CHECK(p.message.find("infinite loop") != std::string::npos);
    Cursor cursor(trace, p.id);
    REQUIRE(cursor.steps() >= 2);
    for (int64_t k = 0; k <= cursor.steps(); ++k) CHECK(cursor.graphAt(k).size() == cursor.graphAt(0).size());
  }
}

TEST_CASE("deep graphs need no deep stack") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    UOp at = UOp::range(5, 0);
    for (int k = 0; k < 60000; ++k) at = at.alu(k % 2 ? Op::XOR : Op::AND, {UOp::range(3, 1 + k % 4)});
    UOp sinks[] = {at, UOp::range(5, 0) + 0};
    graphRewrite(UOp::sink(sinks), shrinking(), {.name = "deep"});
  });
  Trace trace(file.path);
  Cursor cursor(trace, 1);
  CHECK(cursor.rootAt(cursor.steps()) == cursor.info().endRoot);
  CHECK(cursor.graphAt(0).size() > 60000);
  CHECK(expression(cursor.reader(), cursor.rootAt(0)).size() < 5000);
  CHECK(printTree(cursor.reader(), cursor.rootAt(0), 100).find("not shown") != std::string::npos);
}

TEST_CASE("scopes nested without end are refused, tables may have any name, blocks no size of their own") {
  TempTrace file;
  makeTrace(file.path);
  change(file.path,
         "INSERT INTO scope (id, parent, kind, name, line, begin_ns) WITH RECURSIVE c(i) AS (SELECT 1000 "
         "UNION ALL "
         "SELECT i + 1 FROM c WHERE i < 151000) SELECT i, iif(i = 1000, 1, i - 1), 'other', 1, 0, 0 FROM c");
  CHECK_THROWS_WITH_AS(Trace(file.path).scopes(), doctest::Contains("nested"), Error);
  TempTrace named;
  makeTrace(named.path);
  change(named.path, "CREATE TABLE \"x'') UNION ALL SELECT load_extension(''x'') --\" (a)");
  CHECK(readAll(named.path));
  change(named.path, "UPDATE node_block SET count = 2147483647");
  CHECK_FALSE(readAll(named.path));
}

TEST_CASE("runs of instructions that a file says are endless end") {
  TempTrace file;
  makeTrace(file.path);
  // One instruction, said to come 2**50 times.
  change(file.path, "UPDATE program SET nodes = X'01808080808080808002'");
  Trace trace(file.path);
  CHECK(std::get<int64_t>(query(trace, "SELECT count(*) FROM instruction", 1).rows[0][0]) == 262144);
  // The first line and instruction, and so many of the next ones.
  change(file.path, "UPDATE text SET lines = X'11808080808080808002'");
  Trace lines(file.path);
  CHECK(std::get<int64_t>(query(lines, "SELECT count(*) FROM text_line", 1).rows[0][0]) == 262144);
}

TEST_CASE("links name states and say what is wrong with them") {
  TempTrace file;
  makeTrace(file.path);
  Trace trace(file.path);
  ResolvedLink at = resolve(trace, Link::parse("kernel=k&pass=all&step=2&node=5&tab=source"));
  CHECK(at.scope == 1);
  CHECK(at.pass == trace.findPass(1, "all"));
  CHECK(at.step == 2);
  CHECK(at.node == 5);
  Link link = makeLink(trace, at);
  CHECK(resolve(trace, Link::parse(link.str())).pass == at.pass);
  Link odd{"a&b=c d%", "x+y", "t", "n&m", 3, 4};
  CHECK(Link::parse(odd.str()) == odd);
  CHECK_THROWS_AS(Link::parse("kernel=1&colour=red"), Error);
  CHECK_THROWS_AS(Link::parse("step=many"), Error);
  CHECK_THROWS_WITH_AS(resolve(trace, Link::parse("kernel=nope")), doctest::Contains("1 k"), Error);
  CHECK_THROWS_AS(resolve(trace, Link::parse("kernel=k&pass=all&step=99999")), Error);
  CHECK_THROWS_AS(resolve(trace, Link::parse("kernel=k&node=99999999")), Error);
}

TEST_CASE("SQL reads and does nothing else") {
  TempTrace file;
  makeTrace(file.path);
  Trace trace(file.path);
  SqlResult r = query(trace, "SELECT id, label(id), expr(id), sources(id) FROM node ORDER BY id", 3);
  CHECK(r.rows.size() == 3);
  CHECK(r.more);
  CHECK(r.columns[0] == "id");
  CHECK(std::get<std::string>(
            query(trace, "SELECT opname(op) FROM node JOIN kind ON kind.id = kind WHERE src IS NULL LIMIT 1")
                .rows[0][0]) == "CONST");
  for (const char* bad :
       {"DELETE FROM node", "UPDATE meta SET value = 'x'", "ATTACH 'other.db' AS o", "SELECT 1; SELECT 2", "",
        "SELEC 1", "CREATE TABLE t (a)", "SELECT * FROM nothing", "SELECT expr(999999999)"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(query(trace, bad), Error);
  }
}
