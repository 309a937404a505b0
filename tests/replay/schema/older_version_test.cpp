// A trace of schema version 1 opens; tables of later versions are empty. Traces kept from earlier builds open
// too.
#include "replay/read/cursor.h"
#include "replay/read/print.h"
#include "replay/read/sql.h"
#include "replay/schema/schema.h"
#include "tests/replay/support.h"

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

using namespace uopscope;
using namespace uopscope::test;

namespace {
const std::string kSource = UOPSCOPE_SOURCE_DIR;

/// c1 + 0 became c1, as version 1 stored it.
void makeVersion1(const std::string& path) {
  std::ifstream in(kSource + "/tests/data/version-1.sql");
  std::ostringstream sql;
  sql << in.rdbuf();
  Database db = Database::create(path);
  db.execute(sql.str());
  db.execute(R"(
PRAGMA user_version = 1;
INSERT INTO meta VALUES ('status', 'complete'), ('tier', 'full');
INSERT INTO op VALUES (1, 'CONST'), (2, 'ADD');
INSERT INTO dtype VALUES (1, 'dtypes.int');
INSERT INTO arg VALUES (1, '7'), (2, '0');
INSERT INTO kind VALUES (1, 1, 1, 1, NULL), (2, 1, 1, 2, NULL), (3, 2, 1, NULL, NULL);
INSERT INTO node VALUES (1, 1, NULL), (2, 2, NULL), (3, 3, x'0201');
INSERT INTO string VALUES (1, 'k'), (2, 'simplify');
INSERT INTO file VALUES (1, 'model.py', NULL);
INSERT INTO rule VALUES (1, 'add-zero', 1, 4, 'x + 0', '(x + 0)');
INSERT INTO scope VALUES (1, NULL, 'kernel', 1, 1, 3, 3, 0, 90);
INSERT INTO pass VALUES (1, 1, NULL, 0, 2, 1, 5, 3, 1, 1, 1, 1, 'done', NULL, 10, 80);
INSERT INTO step VALUES (1, 1, 1, 3, 1, 0, 44);
INSERT INTO match_count VALUES (1, 0, 1, 2, 3, 1, 44), (1, 0, 1, 1, 0, 2, 0);
INSERT INTO launch VALUES (1, 1, 1, 1, 10, 20, 30, 40);)");
}
} // namespace

TEST_CASE("a trace of version 1 opens") {
  TempTrace file;
  makeVersion1(file.path);
  Trace trace(file.path);
  CHECK(trace.status() == "complete");
  REQUIRE(trace.scopes().size() == 1);
  CHECK(trace.scopes()[0].name == "k");
  Cursor cursor(trace, 1);
  CHECK(expression(cursor.reader(), cursor.rootAt(0)) == "(7+0)");
  CHECK(expression(cursor.reader(), cursor.rootAt(1)) == "7");
  auto totals = trace.matchTotals(MatchGroup::Rule);
  REQUIRE(totals.size() == 1);
  CHECK(totals[0].attempts() == 3);
  CHECK(totals[0].matches() == 1);
  REQUIRE(trace.launches().size() == 1);
  CHECK(trace.launches()[0].ns == 40);
  CHECK(trace.launches()[0].buffers.empty());
  // Data of later versions is empty.
  CHECK(trace.program(1).empty());
  CHECK(trace.buffers().empty());
  CHECK(trace.phases(1).empty());
  CHECK(trace.candidates(1).empty());
  CHECK(trace.outputs().empty());
  CHECK(trace.unchanged(1).empty());
  CHECK(trace.rulesOf(1).empty());
  CHECK_FALSE(trace.artifact(1, "uops"));
  CHECK(query(trace, "SELECT count(*) FROM node").rows.size() == 1);
}

TEST_CASE("traces kept from earlier builds open and can be stepped through") {
  size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kSource + "/tests/data")) {
    if (entry.path().extension() != ".uoptrace") continue;
    CAPTURE(entry.path());
    ++found;
    Trace trace(entry.path());
    CHECK(trace.finished());
    CHECK(trace.scopes().size() > 2);
    int64_t steps = 0, wrong = 0, passes = 0;
    for (const ScopeInfo& s : trace.scopes())
      for (const PassInfo& p : std::vector<PassInfo>(trace.passes(s.id))) {
        if (!p.root) continue;
        Cursor cursor(trace, p.id);
        steps += cursor.steps();
        ++passes;
        if (p.endRoot && p.outcome == PassOutcome::Done) wrong += cursor.rootAt(cursor.steps()) != p.endRoot;
      }
    CHECK(steps > 100);
    // Texts, programs and counts, packed or not.
    size_t texts = 0, lines = 0, instructions = 0;
    for (const ScopeInfo& s : trace.scopes()) {
      if (s.kind != ScopeKind::Kernel) continue;
      instructions += trace.program(s.id).size();
      for (const ArtifactInfo& a : trace.artifacts(s.id)) {
        texts += !trace.artifactText(a.id).empty();
        for (const TextLineInfo& l : trace.textLines(a.id))
          lines += l.instruction < trace.program(s.id).size();
      }
    }
    CHECK(texts > 1);
    CHECK(instructions > 20);
    CHECK((lines > 20 || !trace.meta("foreign").empty()));
    uint64_t attempts = 0, byPass = 0, byScope = 0;
    for (const MatchTotals& t : trace.matchTotals(MatchGroup::Rule)) attempts += t.attempts();
    for (const MatchTotals& t : trace.matchTotals(MatchGroup::Pass)) byPass += t.attempts();
    for (const MatchTotals& t : trace.matchTotals(MatchGroup::Scope)) byScope += t.attempts();
    CHECK(attempts > 100);
    if (entry.path().filename() == "version-5.uoptrace") CHECK(trace.declines(0, 0).size() > 5);
    CHECK(attempts == byPass);
    CHECK(attempts == byScope);
    // The original takes a different path through some bottom-up passes.
    CHECK(wrong <= (trace.meta("foreign").empty() ? 0 : passes / 50));
  }
  CHECK(found >= 5);
}
