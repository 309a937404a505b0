// Every item model under Qt's model tester, on traces of real passes.
#include "tests/viz/support.h"
#include "viz/models/code/code_model.h"
#include "viz/models/numbers/stats_model.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/palette_model.h"
#include "viz/models/session/place.h"
#include "viz/models/session/step_list_model.h"
#include "viz/models/session/trace_tree_model.h"

#include <doctest/doctest.h>

#include <QAbstractItemModelTester>
#include <set>

using namespace uopscope;
using namespace uopscope::test;

namespace {

QStringList names(const TraceTreeModel& tree) {
  QStringList out;
  for (int i = 0; i < tree.rowCount(); ++i)
    out << QString(tree.data(tree.index(i), TraceTreeModel::DepthRole).toInt(), ' ') +
               tree.data(tree.index(i), TraceTreeModel::NameRole).toString();
  return out;
}

/// A tree over an open trace, and the wait for its rows.
struct Tree {
  QGuiApplication& app = application();
  Readers readers;
  TraceTreeModel model{readers};
  QAbstractItemModelTester tester{&model};
  explicit Tree(const QString& trace) {
    readers.open(
        trace,
        [this] {
          model.reset();
          readers.readAhead();
        },
        [](const QString& what) { FAIL(what.toStdString()); });
    wait();
  }
  void wait() {
    REQUIRE(waitFor([&] { return readers.jobs().idle(); }));
  }
};

} // namespace

TEST_CASE("tree: script, kernel, passes and nested passes, with their steps") {
  Tree opened(expressionTrace());
  TraceTreeModel& tree = opened.model;
  REQUIRE(tree.rowCount() >= 2);
  CHECK(names(tree).at(0) == "expressions.py");
  CHECK(names(tree).at(1) == " r_4");
  tree.toggle(1);
  opened.wait();
  CHECK(names(tree).contains("  shrink"));
  CHECK(names(tree).contains("  nest"));
  for (int i = 0; i < tree.rowCount(); ++i)
    if (tree.data(tree.index(i), TraceTreeModel::NameRole) == "shrink")
      CHECK(tree.data(tree.index(i), TraceTreeModel::StepsRole).toInt() > 0);
  tree.toggle(1);
  opened.wait();
  CHECK_FALSE(names(tree).contains("  shrink"));
}

TEST_CASE("tree: a filter shows what matches and the way to it") {
  Tree opened(compiledTrace());
  TraceTreeModel& tree = opened.model;
  const int all = tree.rowCount();
  tree.setFilter("devec");
  opened.wait();
  bool found = false;
  for (int i = 0; i < tree.rowCount(); ++i) {
    const QString kind = tree.data(tree.index(i), TraceTreeModel::KindRole).toString();
    if (kind != "pass") continue;
    found = true;
    CHECK(tree.data(tree.index(i), TraceTreeModel::NameRole).toString().contains("devec"));
  }
  CHECK(found);
  tree.setFilter("nothing is called this");
  opened.wait();
  CHECK(tree.rowCount() == 0);
  tree.setFilter("");
  opened.wait();
  CHECK(tree.rowCount() == all);
}

TEST_CASE("tree: passes without steps are hidden, counted, and shown when asked") {
  Tree opened(compiledTrace());
  TraceTreeModel& tree = opened.model;
  tree.expandAll(true);
  opened.wait();
  const int hidden = tree.hiddenCount(), shown = tree.rowCount();
  CHECK(hidden > 0);
  tree.setHideEmpty(false);
  opened.wait();
  CHECK(tree.rowCount() == shown + hidden);
}

TEST_CASE("tree: of many schedules only the one on the way to the present place is open") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope script({.kind = ScopeKind::Script, .name = "loop.py", .script = {}, .root = {}});
    for (int k = 0; k < 80; ++k) {
      ObservedScope schedule({.kind = ScopeKind::Schedule, .name = "schedule", .script = {}, .root = {}});
      const UOp r0 = UOp::range(4 + k, 0);
      graphRewrite(UOp::sink(std::vector<UOp>{r0 + 0}), shrinking(), {.name = "shrink"});
    }
    Observer::current()->poolRetired(pool);
  });
  Tree opened(QString::fromStdString(file.path));
  TraceTreeModel& tree = opened.model;
  CHECK(tree.rowCount() == 81);
  const ScopeInfo& last = opened.readers.trace()->scopes().back();
  tree.setCurrent(last.id, opened.readers.trace()->passes(last.id).front().id);
  opened.wait();
  CHECK(tree.rowCount() == 82);
  CHECK(tree.currentRow() == 81);
}

TEST_CASE(
    "tree: a pass with many passes inside is folded until it is asked for, or holds the present place") {
  TempTrace file;
  recordTo(file.path, [] {
    Pool pool;
    PoolScope scope(pool);
    ObservedScope schedule({.kind = ScopeKind::Schedule, .name = "schedule", .script = {}, .root = {}});
    std::vector<UOp> terms;
    for (int k = 0; k < 12; ++k)
      terms.push_back((UOp::range(5 + k, k) + UOp::range(3, 20 + k)) % UOp::range(7, 40 + k));
    graphRewrite(UOp::sink(terms), nesting(), {.name = "nest"});
    Observer::current()->poolRetired(pool);
  });
  Tree opened(QString::fromStdString(file.path));
  TraceTreeModel& tree = opened.model;
  tree.setHideEmpty(false);
  opened.wait();
  auto inside = [&](int row) { return tree.data(tree.index(row), TraceTreeModel::InsideRole).toInt(); };
  REQUIRE(tree.rowCount() == 2);
  const int hidden = inside(1);
  REQUIRE(hidden > 3);
  tree.toggle(1);
  opened.wait();
  CHECK(tree.rowCount() >= 2 + hidden);
  CHECK(inside(1) == 0);
  tree.toggle(1);
  opened.wait();
  CHECK(tree.rowCount() == 2);
  const ScopeInfo& schedule = opened.readers.trace()->scopes().back();
  tree.setCurrent(schedule.id, opened.readers.trace()->passes(schedule.id).back().id);
  opened.wait();
  CHECK(tree.rowCount() >= 2 + hidden);
  CHECK(tree.currentRow() > 1);
}

TEST_CASE("steps: one row per rewrite") {
  application();
  Tree opened(expressionTrace());
  const TraceIndex& trace = *opened.readers.trace();
  StepListModel steps(opened.readers);
  QAbstractItemModelTester tester(&steps);
  const PassId pass = trace.findPass(trace.findScope("r_4"), "shrink");
  steps.setPass(&trace, &trace.pass(pass));
  CHECK(steps.count() == trace.pass(pass).steps); // at once; the rows come
  CHECK_FALSE(steps.loaded());
  int loaded = 0;
  steps.whenLoaded([&] { ++loaded; });
  CHECK(steps.data(steps.index(0), StepListModel::RuleRole).toString().isEmpty());
  opened.wait();
  CHECK(loaded == 1);
  CHECK_FALSE(steps.data(steps.index(0), StepListModel::BeforeRole).toString().isEmpty());
  CHECK(steps.data(steps.index(0), StepListModel::NumberRole) == 1);
  CHECK_FALSE(steps.data(steps.index(0), StepListModel::RuleRole).toString().isEmpty());
  const int64_t again = steps.nextOfRule(1, 1);
  if (again) CHECK(steps.steps()[static_cast<size_t>(again - 1)].rule == steps.steps()[0].rule);
  CHECK(steps.nextOfRule(steps.count(), 1) == 0);
  steps.setPass(nullptr, nullptr);
  CHECK(steps.rowCount() == 0);
}

TEST_CASE("statistics: sorted, filtered, summed, exported") {
  application();
  auto rows = std::make_shared<std::vector<StatsRow>>();
  auto add = [&](const char* name, uint64_t applied, uint64_t differs, uint64_t unchanged, int64_t ns) {
    StatsRow r;
    r.name = name;
    r.place = "file,1";
    r.totals.count[int(Outcome::Applied)] = applied;
    r.totals.count[int(Outcome::StructureDiffers)] = differs;
    r.totals.count[int(Outcome::Unchanged)] = unchanged;
    r.totals.ns[int(Outcome::Applied)] = ns;
    rows->push_back(r);
  };
  add("add-zero", 10, 90, 0, 500);
  add("mul-one", 0, 1000, 0, 900);
  add("ping", 1, 0, 3, 100);
  StatsModel stats;
  QAbstractItemModelTester tester(&stats);
  stats.setRows(rows);
  auto first = [&] { return stats.data(stats.index(0, 0), StatsModel::TextRole).toString(); };
  CHECK(first() == "mul-one"); // ordered by time
  stats.sortBy(StatsModel::AppliedColumn);
  CHECK(first() == "add-zero");
  stats.sortBy(StatsModel::AppliedColumn);
  CHECK(first() == "mul-one");
  stats.sortBy(StatsModel::NameColumn);
  CHECK(first() == "add-zero");
  CHECK(stats.data(stats.index(0, StatsModel::RateColumn), StatsModel::TextRole) == "10.0 %");
  CHECK(stats.data(stats.index(0, StatsModel::ShareColumn), StatsModel::TextRole) == "33.3 %");
  stats.setShow("never");
  CHECK(stats.rowCount() == 1);
  CHECK(first() == "mul-one");
  stats.setShow("faults");
  CHECK(first() == "ping");
  stats.setShow("all");
  stats.setFilter("ZERO add");
  CHECK(stats.rowCount() == 1);
  CHECK(stats.sum()["attempts"] == "100");
  CHECK(stats.data(stats.index(0, StatsModel::ShareColumn), StatsModel::TextRole) ==
        "33.3 %"); // share of the whole time
  CHECK(stats.csv().count('\n') == 2);
  CHECK(stats.csv().contains("\"file,1\",100,10,0,90,0,0,500,500,0.333")); // numbers one can add up
}

TEST_CASE("code: lines, notes, search, copying") {
  application();
  CodeModel code;
  QAbstractItemModelTester tester(&code);
  code.setText("source", "int a;\n/* two\nlines */ int b;\n", Language::C);
  CHECK(code.lineCount() == 3);
  CHECK(code.data(code.index(2), CodeModel::HtmlRole).toString().contains("@comment"));
  CHECK(code.plainText(2, 2) == "/* two\n");
  CHECK(code.find("int", 1, 1) == 3);
  CHECK(code.find("int", 3, 1) == 1);
  CHECK(code.find("absent", 1, 1) == 0);
  code.setNotes({{2, {"1 kernel", 7}}});
  CHECK(code.data(code.index(1), CodeModel::NoteScopeRole) == 7);
  code.setMissing("why");
  CHECK(code.rowCount() == 0);
  CHECK(code.missing() == "why");
}

TEST_CASE("palette: letters in order, beginnings of words first, commands behind >") {
  application();
  CHECK(fuzzyScore("dvz", "devectorize") > 0);
  CHECK(fuzzyScore("zvd", "devectorize") < 0);
  CHECK(fuzzyScore("ss", "simplify symbolic") > fuzzyScore("ss", "a passless"));
  PaletteModel palette;
  QAbstractItemModelTester tester(&palette);
  palette.setEntries({{"command", "Next rewrite", "", "next-step"},
                      {"pass", "devectorize", "", "pass=4"},
                      {"kernel", "r_16", "", "kernel=3"}});
  palette.setQuery("");
  CHECK(palette.count() == 2);
  palette.setQuery(">");
  CHECK(palette.count() == 1);
  palette.setQuery("devec");
  CHECK(palette.entry(0)["target"] == "pass=4");
  palette.setQuery("#42");
  CHECK(palette.entry(0)["target"] == "node=42");
  palette.setQuery(":7");
  CHECK(palette.entry(0)["target"] == "step=7");
}

TEST_CASE("actions: ids are unique and no key does two things") {
  std::set<QString> ids, keys;
  for (const Action& a : actionTable()) {
    CHECK(ids.insert(a.id).second);
    for (const QString& k : QString(a.keys).split(' ')) {
      INFO(k.toStdString());
      CHECK(keys.insert(k).second);
    }
  }
  CHECK(keyCaps("Ctrl+Right") == QString::fromUtf8("Ctrl →"));
  CHECK(keyCaps("PgDown") == QString::fromUtf8("Page ↓"));
  CHECK(keyCaps("+") == "+");
  CHECK(keyCaps("Ctrl++") == "Ctrl +");
}

TEST_CASE("history: back leads to places, not through every step") {
  auto at = [](PassId pass, int64_t step) {
    Place place;
    place.pass = pass, place.step = step;
    return place;
  };
  History h;
  h.visit(at(1, 1));
  h.visit(at(1, 2)); // another step of the pass takes the place of the first
  h.visit(at(2, 1));
  CHECK(h.back() == at(1, 2));
  CHECK_FALSE(h.canGoBack());
  CHECK(h.forward() == at(2, 1));
  h.back();
  h.visit(at(3, 1));
  CHECK_FALSE(h.canGoForward());
}
