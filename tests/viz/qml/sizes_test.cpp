// The tabs, popups and bars of an open trace at every size: no layout asks for its size for good, and nothing is cut.
#include "tests/viz/program.h"
#include "tests/viz/whole.h"

#include <QFile>
#include <QRegularExpression>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// The first step of the kernel that was chosen among alternatives.
void goToDecision(Window& w) {
  for (const ScopeInfo& s : w.session.trace()->scopes())
    if (s.kind == ScopeKind::Kernel)
      for (const DecidedStep& d : decidedSteps(readerOf(w.session), s.id))
        if (!d.made.others.empty()) {
          w.session.goTo(d.pass, d.k);
          w.settle();
          return;
        }
  FAIL("no decision");
}

} // namespace

TEST_CASE("sizes: every tab at every width, in large text and for a projector, settles") {
  Window w(tiledTrace());
  w.session.setStepAlone(true);
  goToDecision(w);
  REQUIRE(w.item("decisionReason")->isVisible());
  w.session.setNode(w.session.graph()->picture()->nodes.back().id);
  const auto sweep = [&](const std::string& view, int by) {
    for (int wide = 900; wide <= 1400; wide += by) {
      w.window->resize(wide, 600 + (wide % 4) * 60);
      const DatabaseWatch watch;
      QTest::qWait(2);
    }
    CHECK_MESSAGE(warnings.isEmpty(), view);
  };
  for (const bool presenting : {false, true}) {
    w.theme.setPresenting(presenting);
    for (const double scale : {1.0, 1.7}) {
      w.theme.setTextScale(scale);
      w.session.setTab("graph");
      sweep("graph", 5);
      if (presenting) continue;
      for (const char* tab : kTabs) {
        w.session.setTab(QLatin1String(tab));
        sweep(tab, 50);
      }
    }
  }
  w.settle();
}

TEST_CASE("sizes: columns that had no room beside each other stand beside each other when they have it") {
  Window w(compiledTrace());
  resize(w, QSize(1440, 900));
  const auto inView = [&](const char* name) {
    QQuickItem* list = w.item(QLatin1String(name));
    const QRectF at = list->mapRectToScene(QRectF(0, 0, list->width(), list->height()));
    CAPTURE(told(at).toStdString());
    CHECK(QRectF(QPointF(), w.window->size()).adjusted(-1, -1, 1, 1).contains(at));
    CHECK(at.width() > 60);
    CHECK(at.height() > 60);
  };
  // The pane of links takes the room of the right-hand pane, which it did not have while it was hidden.
  for (const QSize size : {QSize(1440, 900), QSize(900, 700), QSize(1600, 900)}) {
    w.session.setTab("graph");
    w.settle();
    resize(w, size);
    w.key(Qt::Key_3, Qt::ControlModifier);
    REQUIRE(w.session.tab() == "links");
    for (const char* name :
         {"linked-script", "linked-tensors", "linked-uops", "linked-source", "linked-assembly"})
      inView(name);
  }
}

TEST_CASE("sizes: nothing is cut in any tab") {
  Window w(tiledTrace());
  w.session.setStepAlone(true);
  goToDecision(w);
  w.session.setNode(w.session.graph()->picture()->nodes.back().id);
  w.settle();
  atEverySize(w, [&](const QString& size) {
    for (const char* tab : kTabs) {
      w.session.setTab(QLatin1String(tab));
      w.settle();
      QTest::qWait(40);
      expectWhole(w, QLatin1String(tab) + size);
    }
    w.tools.compare()->setWhat("tree");
    w.session.setTab("compare");
    w.settle();
    expectWhole(w, "compare as text" + size);
    w.tools.compare()->setWhat("graph");
    w.session.setTab("profile");
    for (const char* mode : {"treemap", "findings", "compare", "roofline", "flame"}) {
      w.click(w.item(QStringLiteral("profileMode-%1").arg(QLatin1String(mode))));
      expectWhole(w, QStringLiteral("profile, %1").arg(QLatin1String(mode)) + size);
    }
    w.session.setTab("stats");
    w.settle();
    w.item("statsTable")->forceActiveFocus();
    w.key(Qt::Key_Down);
    expectWhole(w, "a row of the statistics" + size);
    w.session.setTab("graph");
    w.theme.setPresenting(true);
    w.settle();
    expectWhole(w, "presenter" + size);
    w.theme.setPresenting(false);
  });
}

TEST_CASE("sizes: nothing is cut in any popup or bar") {
  const QString trace = tiledTrace();
  QFile::remove(Bookmarks::fileFor(trace));
  Window w(trace);
  w.session.setStepAlone(true);
  goToDecision(w);
  w.session.setNode(w.session.graph()->picture()->nodes.back().id);
  atEverySize(w, [&](const QString& size) {
    for (const char* picker : {"colourPicker", "groupPicker", "layoutPicker"}) {
      w.click(w.item(QLatin1String(picker)));
      expectWhole(w, QLatin1String(picker) + size);
      w.key(Qt::Key_Escape);
    }
    for (const char* popup : {"jump", "commands", "keys", "follow-link", "open", "export"}) {
      w.session.trigger(QLatin1String(popup));
      w.settle();
      QTest::qWait(40);
      expectWhole(w, QLatin1String(popup) + size);
      w.key(Qt::Key_Escape);
    }
    for (const auto& [key, mods, name] : {std::tuple(Qt::Key_Slash, Qt::KeyboardModifiers(), "search"),
                                          {Qt::Key_L, kShift, "legend"},
                                          {Qt::Key_Y, Qt::NoModifier, "numbers"},
                                          {Qt::Key_W, Qt::NoModifier, "why"},
                                          {Qt::Key_V, Qt::NoModifier, "check"},
                                          {Qt::Key_D, kCtrl, "a mark with its note"}}) {
      w.key(key, mods);
      QTest::qWait(40);
      w.settle();
      expectWhole(w, QLatin1String(name) + size);
      if (std::string_view(name) == "legend" || std::string_view(name) == "numbers")
        w.key(key, mods);
      else
        w.key(Qt::Key_Escape);
    }
    w.session.trigger("next-mark");
    w.settle();
    expectWhole(w, "a talk" + size);
    w.tools.bookmarks()->endTalk();
    w.session.showNotice(
        "A notice that says something about what was written, as long as such sentences are at most.");
    w.session.trigger("condition");
    w.settle();
    expectWhole(w, "notice and condition" + size);
    w.key(Qt::Key_Escape);
    while (w.tools.bookmarks()->count() > 0) w.tools.bookmarks()->remove(0);
    goToDecision(w);
  });
  QFile::remove(Bookmarks::fileFor(trace));
}

TEST_CASE("sizes: the number of steps and the name of a rule are not cut, and a price names loops as their "
          "boxes do") {
  Window w(tiledTrace());
  goToDecision(w);
  for (const auto& [size, scale] :
       {std::pair(QSize(900, 600), 1.0), {QSize(1440, 900), 1.0}, {QSize(1440, 900), 1.7}}) {
    w.theme.setTextScale(scale);
    resize(w, size);
    CAPTURE(size.width() * scale);
    CHECK_FALSE(w.item("paneDetail")->property("truncated").toBool());
    CHECK(w.item("paneDetail")->property("text").toString().endsWith(" steps"));
    CHECK_FALSE(w.item("stepRule")->property("truncated").toBool());
  }
  static const QRegularExpression engines(QStringLiteral("\\br\\d+\\b")),
      boxes(QStringLiteral("\\b[LR]\\d+\\b"));
  const QString reason = w.item("decisionReason")->property("text").toString();
  INFO(reason.toStdString());
  CHECK_FALSE(reason.contains(engines));
  bool named = false;
  for (const QVariant& decision : w.session.stepInfo()["decisions"].toList())
    for (const QVariant& bar : decision.toMap()["bars"].toList()) {
      CHECK_FALSE(bar.toMap()["what"].toString().contains(engines));
      named |= bar.toMap()["what"].toString().contains(boxes);
    }
  CHECK(named);
}
