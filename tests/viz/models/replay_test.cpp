// The comparison of corpora and traces in the window's models, without a screen.
#include "tests/replay/compare/history.h"
#include "tests/viz/support.h"
#include "viz/models/compare/replay_model.h"
#include "viz/models/session/tools.h"

#include <doctest/doctest.h>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Two corpora of the small history: twelve kernels each. The second compiler lacks a rule, which changes
/// eight.
struct Compared {
  QGuiApplication& app = application();
  TempCorpus before, after;
  Session session;
  Tools tools{session};
  ReplayModel& replay = *tools.replay();

  explicit Compared(const Commit& second = commits::of(commits::kOff))
      : before(commits::of(commits::kFirst)), after(second) {
    replay.openFiles({QString::fromStdString(before.path), QString::fromStdString(after.path)});
    settle();
    REQUIRE(replay.state() == "ready");
  }
  void settle() {
    REQUIRE(waitFor([&] { return replay.settled(); }));
  }
  QStringList listed() {
    QStringList out;
    const ReplayList& list = *replay.list();
    for (int i = 0; i < list.rowCount(); ++i)
      if (!list.data(list.index(i), ReplayList::GroupRole).toBool())
        out << list.data(list.index(i), ReplayList::TextRole).toString();
    return out;
  }
  const ReplayRow& row() {
    return replay.detail()->rows()->rows().at(static_cast<size_t>(replay.detail()->row()));
  }
};

} // namespace

TEST_CASE("replay: causes come first, biggest first, with their kernels; the same ones last and closed") {
  Compared c;
  CHECK(c.replay.shown());
  CHECK(c.replay.headline().contains("8"));
  ReplayList& list = *c.replay.list();
  CHECK(list.data(list.index(0), ReplayList::GroupRole).toBool());
  CHECK(list.data(list.index(0), ReplayList::TextRole) == "rule 'mul-one' no longer applies");
  CHECK(list.data(list.index(0), ReplayList::CountRole) == "8");
  CHECK(c.listed().size() == 8);
  const int same = list.rowCount() - 1;
  CHECK(list.data(list.index(same), ReplayList::GroupRole).toBool());
  CHECK(list.data(list.index(same), ReplayList::CountRole) == "4");
  list.click(same);
  CHECK(c.listed().size() == 12);
  list.click(0);
  CHECK(c.listed().size() == 4);
  CHECK(list.shown() == 12);
}

TEST_CASE("replay: filters and the search leave what they say, in closed groups too") {
  Compared c;
  ReplayList& list = *c.replay.list();
  QStringList names;
  for (const QVariant& f : list.filters())
    names << f.toMap()["value"].toString() + f.toMap()["count"].toString();
  CHECK(names.contains("all12"));
  CHECK(names.contains("changed8"));
  CHECK(names.contains("same4"));
  CHECK_FALSE(names.join(' ').contains("failed"));
  list.setFilter("same");
  CHECK(c.listed().size() == 4);
  list.setFilter("changed");
  CHECK(c.listed().size() == 8);
  list.setFilter("all");
  list.setSearch("K11"); // upper and lower case are equal
  CHECK(c.listed() == QStringList{"k11"});
  list.setSearch("model.py:12");
  CHECK(c.listed() == QStringList{"k2"});
  list.setSearch("mul-one");
  CHECK(c.listed().size() == 8);
  list.setSearch("no such thing");
  CHECK(list.rowCount() == 0);
  CHECK(list.shown() == 0);
}

TEST_CASE("replay: a slower kernel is found by its filter") {
  TempCorpus before(commits::of(commits::kFirst), 3);
  CorpusDiff d = diffOf(before, before);
  d.changes[1].before->compileNs = 1'000'000;
  d.changes[1].after->compileNs = 9'000'000;
  d.changes[2].before->compileNs = 9'000'000;
  d.changes[2].after->compileNs = 1'000'000;
  ReplayList list;
  list.setDiff(std::make_shared<CorpusDiff>(d));
  list.setFilter("slower");
  REQUIRE(list.rowCount() == 2);
  CHECK(list.data(list.index(1), ReplayList::TextRole) == QString::fromStdString(d.changes[1].entry().name));
  CHECK(list.data(list.index(1), ReplayList::RatioRole).toDouble() == doctest::Approx(9));
  list.setFilter("faster");
  REQUIRE(list.rowCount() == 2);
  CHECK(list.data(list.index(1), ReplayList::TextRole) == QString::fromStdString(d.changes[2].entry().name));
}

TEST_CASE("replay: the first kernel opens where its compilations part, both sides drawn") {
  Compared c;
  const ReplayDetail& d = *c.replay.detail();
  REQUIRE(d.loaded());
  CHECK(c.replay.title()["status"] == "changed");
  CHECK(d.row() == d.parting());
  CHECK(c.row().mark == '-');
  CHECK(c.row().left == "mul-one");
  CHECK(c.row().right.isEmpty());
  CHECK(d.sentence().contains("rule 'mul-one' no longer applies"));
  REQUIRE(c.replay.detail()->left()->picture());
  REQUIRE(c.replay.detail()->right()->picture());
  CHECK(d.step()["rightStays"].toBool());
  CHECK(d.step()["leftHtml"].toString().contains("@removed"));
  // the left graph contains the rewrite, the right one does not
  CHECK(c.replay.detail()->left()->nodeCount() < c.replay.detail()->right()->nodeCount());
}

TEST_CASE("replay: next and previous move both sides, over passes and differences too") {
  Compared c;
  ReplayDetail& d = *c.replay.detail();
  const int here = d.row();
  CHECK(c.replay.trigger("next-step"));
  CHECK(d.row() == here + 1);
  c.settle();
  const QString left = d.step()["leftPlace"].toString(), right = d.step()["rightPlace"].toString();
  CHECK_FALSE(left.isEmpty());
  CHECK(c.replay.trigger("next-pass"));
  CHECK(c.row().pass);
  c.settle();
  CHECK(d.step()["leftPlace"].toString().contains("devectorize"));
  CHECK(d.step()["rightPlace"].toString().contains("devectorize"));
  CHECK(c.replay.trigger("show-change"));
  CHECK(d.row() == here);
  CHECK(c.replay.trigger("first-step"));
  CHECK(d.row() == 0);
  CHECK(c.replay.trigger("previous-step"));
  CHECK(d.row() == 0);
  CHECK(c.replay.trigger("next-changing"));
  CHECK(c.row().mark != ' ');
  CHECK(c.replay.trigger("last-step"));
  CHECK(d.row() == d.rows()->rowCount() - 1);
  c.settle();
}

TEST_CASE("replay: the next kernel of the list is one key away, and opens at its own difference") {
  Compared c;
  const QString first = c.replay.title()["name"].toString();
  CHECK(c.replay.trigger("next-kernel"));
  c.settle();
  CHECK(c.replay.title()["name"].toString() != first);
  CHECK(c.replay.detail()->row() == c.replay.detail()->parting());
  CHECK(c.replay.trigger("previous-kernel"));
  c.settle();
  CHECK(c.replay.title()["name"].toString() == first);
}

TEST_CASE("replay: texts and graphs side by side; renaming is forgiven on request") {
  Compared c;
  ReplayDetail& d = *c.replay.detail();
  CHECK(c.replay.trigger("tab-source"));
  c.settle();
  CHECK(d.what() == "source");
  REQUIRE(d.lines()->rowCount() > 0);
  bool marked = false;
  for (const TextRow& r : d.lines()->rows()) marked |= r.mark == '~' && r.rightHtml.contains("@added");
  CHECK(marked);
  CHECK(c.replay.trigger("tab-compare"));
  c.settle();
  CHECK(d.what() == "graph");
  REQUIRE(d.together()->picture());
  CHECK(d.summary().contains("added"));
  d.setWhere("begin");
  c.settle();
  CHECK(d.summary() == "The graphs are the same.");
  d.setWhat("asm");
  c.settle();
  CHECK(d.summary().contains("--asm"));
  c.replay.setIgnoreNames(true);
  c.settle();
  CHECK(c.replay.state() == "ready");
  CHECK(c.replay.ignoreNames());
}

TEST_CASE("replay: facts stand before and after") {
  Compared c;
  QStringList names;
  for (const QVariant& f : c.replay.detail()->facts()) {
    const QVariantMap m = f.toMap();
    names << m["name"].toString();
    if (m["name"] == "rewrites") CHECK(m["differs"].toBool());
  }
  for (const char* name : {"global size", "local size", "FLOPs", "bytes", "compile time", "rewrites"})
    CHECK(names.contains(name));
}

TEST_CASE("replay: a side leads to the debugger at the same rewrite, and a key leads back") {
  Compared c;
  c.replay.detail()->askLink(true);
  c.settle();
  REQUIRE(waitFor([&] { return c.session.settled(); }));
  CHECK_FALSE(c.replay.shown());
  CHECK(c.session.state() == "ready");
  CHECK(c.session.passName() == "initial symbolic");
  CHECK(c.session.stepInfo()["rule"] == "mul-one");
  c.session.trigger("replay");
  CHECK(c.replay.shown());
  CHECK(c.replay.state() == "ready");
}

TEST_CASE("replay: a side leads to its own pass and rewrite from any row, whether its trace is open or not") {
  Compared c;
  const int rows = c.replay.detail()->rows()->rowCount();
  REQUIRE(rows > 3);
  int passes = 0;
  QString last;
  for (const int row : {rows - 1, 0, rows / 2, rows - 2}) {
    c.replay.setShown(true);
    c.replay.detail()->setRow(row);
    c.settle();
    const QString place = c.replay.detail()->step()["leftPlace"].toString();
    if (!place.contains(", rewrite ")) continue; // a pass begins
    c.replay.detail()->askLink(true);
    c.settle();
    REQUIRE(waitFor([&] { return c.session.settled(); }));
    CAPTURE(row);
    CHECK(QStringLiteral("%1, rewrite %2 of %3")
              .arg(c.session.passName())
              .arg(c.session.step())
              .arg(c.session.stepCount()) == place);
    passes += c.session.passName() != last;
    last = c.session.passName();
  }
  CHECK(passes > 1);
}

TEST_CASE("replay: a side is called what its corpus says it is, or else by its file") {
  Compared c;
  CHECK(c.replay.afterName() == QString::fromStdString(c.after.path).section('/', -1));
  Corpus::append(c.after.path).setMeta("title", "/models/before.uopcorpus without mul-one");
  c.replay.openFiles({QString::fromStdString(c.before.path), QString::fromStdString(c.after.path)});
  c.settle();
  REQUIRE(c.replay.state() == "ready");
  CHECK(c.replay.afterName() == "before.uopcorpus without mul-one");
}

TEST_CASE("replay: two traces of one script are compared in place") {
  application();
  TempTrace first, second;
  auto record = [](const std::string& path, const PatternMatcher& rules) {
    recordTo(path, [&] {
      Pool pool;
      PoolScope scope(pool);
      const UOp r0 = UOp::range(4, 0), r1 = UOp::range(7, 1);
      const UOp root = UOp::sink(std::vector<UOp>{(r0 + 0) * 1 + (r1 + 2 + 3)});
      ObservedScope kernel({.kind = ScopeKind::Kernel, .name = "r_4", .script = {"m.py", 2}, .root = root});
      graphRewrite(root, rules, {.name = "shrink"});
      Observer::current()->onArtifact({.kind = "source", .text = "void r_4() {}\n"});
      Observer::current()->poolRetired(pool);
    });
  };
  static constexpr RuleDef few[] = {RULE("add-zero", x + 0, x)};
  record(first.path, shrinking());
  record(second.path, PatternMatcher({few}));
  Session session;
  Tools tools{session};
  ReplayModel& replay = *tools.replay();
  replay.openFiles({QString::fromStdString(first.path), QString::fromStdString(second.path)});
  REQUIRE(waitFor([&] { return replay.settled(); }));
  REQUIRE(replay.state() == "ready");
  REQUIRE(replay.detail()->loaded());
  CHECK(replay.detail()->sentence().contains("mul-one"));
  replay.detail()->askLink(false);
  REQUIRE(waitFor([&] { return replay.settled() && session.settled(); }));
  CHECK(session.path() == QString::fromStdString(second.path)); // the file itself, not a copy
}

TEST_CASE("replay: files that cannot be compared are said to be so, and others can be chosen") {
  application();
  TempCorpus corpus(commits::of(commits::kFirst), 2);
  Session session;
  Tools tools{session};
  ReplayModel& replay = *tools.replay();
  const QString good = QString::fromStdString(corpus.path);
  for (const QString& bad :
       {QStringLiteral("/no/such.uopcorpus"), QStringLiteral(UOPSCOPE_SOURCE_DIR "/README.md")}) {
    replay.openFiles({good, bad});
    REQUIRE(waitFor([&] { return replay.settled(); }));
    CHECK(replay.state() == "error");
    CHECK_FALSE(replay.errorText().isEmpty());
  }
  session.open(good);
  CHECK(replay.shown());
  CHECK(replay.state() == "choosing");
  CHECK(replay.before() == good);
  replay.openFiles({good}); // the second file
  REQUIRE(waitFor([&] { return replay.settled(); }));
  CHECK(replay.state() == "ready");
  CHECK(replay.list()->rowCount() == 1); // all are the same
}

TEST_CASE("replay: a comparison that is cancelled asks for files again, and a new one starts afresh") {
  Compared c;
  c.replay.openFiles({QString::fromStdString(c.before.path), QString::fromStdString(c.after.path)});
  CHECK(c.replay.state() == "working");
  CHECK(c.replay.trigger("escape"));
  CHECK(c.replay.state() == "choosing");
  c.settle();
  CHECK(c.replay.state() == "choosing");
  c.replay.openFiles({QString::fromStdString(c.after.path)});
  c.settle();
  CHECK(c.replay.state() == "ready");
  CHECK(c.replay.trigger("escape"));
  CHECK_FALSE(c.replay.shown());
}

TEST_CASE("replay: a program that cannot replay is said to be so") {
  Compared c;
  c.replay.clear();
  c.replay.openFiles({QString::fromStdString(c.before.path)});
  c.replay.setProgram("/no/such/program");
  c.replay.compareWithBuild();
  REQUIRE(waitFor([&] { return c.replay.settled(); }));
  CHECK(c.replay.state() == "error");
  CHECK(c.replay.errorText().contains("/no/such/program"));
  c.replay.setProgram("/bin/false"); // exit code 1: inputs failed, but there is no result
  c.replay.compareWithBuild();
  REQUIRE(waitFor([&] { return c.replay.state() != "working" && c.replay.settled(); }));
  CHECK(c.replay.state() == "error");
}
