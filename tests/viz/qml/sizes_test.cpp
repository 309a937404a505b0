// The window at every size: no layout asks for its size for good, and no text is cut, hidden behind an edge or written
// over another. A text may end with dots; it may not end without a sign.
//
//   expectWhole(w, "graph at 900x600");   // fails with the path and the text of each item that is cut
#include "tests/viz/program.h"
#include "tests/viz/window_support.h"

#include <QFile>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr double kFar = 1e7;
constexpr const char* kTabs[] = {"graph",  "source",  "ir",       "asm",    "uops", "links",
                                 "script", "compare", "whatif",   "values", "rule", "story",
                                 "stats",  "profile", "timeline", "sql"};

/// The letters of a text in the scene, which may be wider than the item.
QRectF lettersOf(const QQuickItem* item) {
  const QSizeF letters(item->property("contentWidth").toDouble(), item->property("contentHeight").toDouble());
  const Qt::Alignment across(item->property("horizontalAlignment").toInt());
  const Qt::Alignment down(item->property("verticalAlignment").toInt());
  const double right = item->width() - letters.width(), below = item->height() - letters.height();
  const double x = across & Qt::AlignRight ? right : across & Qt::AlignHCenter ? right / 2 : 0;
  const double y = down & Qt::AlignBottom ? below : down & Qt::AlignVCenter ? below / 2 : 0;
  return item->mapRectToScene(QRectF(QPointF(x, y), letters));
}

QString told(const QRectF& r) {
  return QStringLiteral("%1..%2, %3..%4").arg(r.left()).arg(r.right()).arg(r.top()).arg(r.bottom());
}

/// Walks over what is shown and notes each text and button that reaches over an edge. `room` is what is seen of a part of
/// the window; where a part scrolls, it has no end.
struct Look {
  int texts = 0;
  QStringList cut;

  void at(QQuickItem* item, QRectF room, const QString& path) {
    if (!item->isVisible() || item->opacity() == 0 || item->width() <= 0) return;
    const QString name = QString::fromLatin1(item->metaObject()->className()).section('_', 0, 0);
    const QString here =
        path + '/' + name + (item->objectName().isEmpty() ? QString() : '(' + item->objectName() + ')');
    const QRectF own = item->mapRectToScene(QRectF(0, 0, item->width(), item->height()));
    const QString text = item->property("text").toString();
    // A field scrolls to its cursor, so it is never cut.
    if ((item->inherits("QQuickText") || item->inherits("QQuickTextEdit")) && !text.isEmpty()) {
      ++texts;
      const QRectF letters = lettersOf(item);
      if (letters.width() < 1)
        cut << here + " \"" + text.left(60) + "\" has no room left";
      else if (item->property("elide").toInt() == Qt::ElideRight && letters.width() > item->width() + 2)
        cut << here + " \"" + text.left(60) + "\" is wider than its room, which is too small for dots";
      else
        expectInside(room, letters, here + " \"" + text.left(60) + '"');
    }
    if (item->inherits("QQuickAbstractButton"))
      expectInside(room, own, here + " \"" + item->property("tip").toString() + '"');
    if (item->inherits("QQuickFlickable")) {
      const bool across = item->property("contentWidth").toDouble() > item->width() + 1;
      const bool down = item->property("contentHeight").toDouble() > item->height() + 1;
      room = across ? QRectF(-kFar, room.y(), 2 * kFar, room.height())
                    : room.intersected(QRectF(own.x(), -kFar, own.width(), 2 * kFar));
      room = down ? QRectF(room.x(), -kFar, room.width(), 2 * kFar)
                  : room.intersected(QRectF(-kFar, own.y(), 2 * kFar, own.height()));
    } else if (item->clip() ||
               (item->inherits("QQuickRectangle") && std::min(item->width(), item->height()) > 12)) {
      room = room.intersected(own);
    }
    for (QQuickItem* child : item->childItems()) at(child, room, here);
  }
  void expectInside(const QRectF& room, const QRectF& what, const QString& name) {
    if (!room.adjusted(-1.5, -2, 1.5, 2).contains(what))
      cut << name + " is at " + told(what) + " of " + told(room);
  }
};

/// Rows that wrap settle in a few frames.
void expectWhole(Window& w, const QString& view) {
  Look look;
  waitFor(
      [&] {
        look = {};
        look.at(w.window->contentItem(), QRectF(QPointF(), w.window->size()), {});
        return look.cut.isEmpty();
      },
      600);
  CHECK(look.texts > 5);
  for (const QString& c : look.cut) FAIL_CHECK(view.toStdString(), ": ", c.toStdString());
}

/// Shows the window at this size, with the texts this large.
void resize(Window& w, QSize size) {
  w.window->resize(size);
  REQUIRE(waitFor([&] { return w.window->size() == size; }));
  w.settle();
}

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

namespace {

/// Every size that people have, each with normal and large texts.
template <typename F>
void atEverySize(Window& w, F view) {
  for (const QSize size : {QSize(900, 600), QSize(1440, 900), QSize(2560, 1440), QSize(3840, 2160)})
    for (const double scale : {1.0, 1.7}) {
      if (scale > 1 && size.width() > 2000) continue; // as much room as with normal texts on a laptop
      w.theme.setTextScale(scale);
      resize(w, size);
      view(QStringLiteral(" at %1x%2, text %3").arg(size.width()).arg(size.height()).arg(scale));
    }
}

} // namespace

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
  constexpr auto kCtrl = Qt::ControlModifier, kShift = Qt::ShiftModifier;
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
