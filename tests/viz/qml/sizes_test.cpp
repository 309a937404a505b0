// The window at every size: no layout asks for its size for good, and no text is cut, hidden behind an edge or written
// over another. A text may end with dots; it may not end without a sign.
//
//   expectWhole(w, "graph at 900x600");   // fails with the path and the text of each item that is cut
#include "tests/viz/program.h"
#include "tests/viz/window_support.h"

#include <QFile>
#include <QRegularExpression>
#include <QTemporaryDir>

using namespace uopscope;
using namespace uopscope::test;

namespace {

constexpr double kFar = 1e7;

struct Shown {
  QString path, text;
  QRectF painted; ///< where its letters are, in the scene
  const QQuickItem* item = nullptr;
};

/// The letters of a text, which may be wider than the item.
QRectF lettersOf(const QQuickItem* item) {
  const double wide = item->property("contentWidth").toDouble(),
               tall = item->property("contentHeight").toDouble();
  const int align = item->property("horizontalAlignment").toInt();
  const double x = align & Qt::AlignRight     ? item->width() - wide
                   : align & Qt::AlignHCenter ? (item->width() - wide) / 2
                                              : 0;
  const int above = item->property("verticalAlignment").toInt();
  const double y = above & Qt::AlignVCenter  ? (item->height() - tall) / 2
                   : above & Qt::AlignBottom ? item->height() - tall
                                             : 0;
  return item->mapRectToScene(QRectF(x, y, wide, tall));
}

/// Collects all visible texts, and those that reach over an edge that cuts them. `room` is what is seen of a part of the
/// window; where a part scrolls it has no end.
struct Look {
  std::vector<Shown> shown;
  QStringList cut;

  void at(QQuickItem* item, QRectF room, const QString& path) {
    if (!item->isVisible() || item->opacity() == 0 || item->width() <= 0) return;
    const QString name = QString::fromLatin1(item->metaObject()->className()).section('_', 0, 0) +
                         (item->objectName().isEmpty() ? QString() : "(" + item->objectName() + ")");
    const QString here = path + "/" + name;
    const QVariant text = item->property("text");
    const bool isText =
        item->inherits("QQuickText") || item->inherits("QQuickTextEdit") || item->inherits("QQuickTextInput");
    if (isText && !text.toString().isEmpty()) look(item, room, here, text.toString());
    const QRectF own = item->mapRectToScene(item->boundingRect());
    if (item->inherits("QQuickAbstractButton") && !room.adjusted(-1.5, -2, 1.5, 2).contains(own))
      cut << QStringLiteral("the button %1 \"%2\" is at %3..%4, %5..%6 of %7..%8, %9..%10")
                 .arg(here, text.toString().isEmpty() ? item->property("tip").toString() : text.toString())
                 .arg(own.left())
                 .arg(own.right())
                 .arg(own.top())
                 .arg(own.bottom())
                 .arg(room.left())
                 .arg(room.right())
                 .arg(room.top())
                 .arg(room.bottom());
    if (item->inherits("QQuickFlickable")) {
      const bool across = item->property("contentWidth").toDouble() > item->width() + 1;
      const bool down = item->property("contentHeight").toDouble() > item->height() + 1;
      room = across ? QRectF(-kFar, room.y(), 2 * kFar, room.height())
                    : room.intersected(QRectF(own.x(), -kFar, own.width(), 2 * kFar));
      room = down ? QRectF(room.x(), -kFar, room.width(), 2 * kFar)
                  : room.intersected(QRectF(-kFar, own.y(), 2 * kFar, own.height()));
    } else if (item->clip() ||
               (item->inherits("QQuickRectangle") && item->width() > 12 && item->height() > 12)) {
      room = room.intersected(own);
    }
    for (QQuickItem* child : item->childItems()) at(child, room, here);
  }
  void look(QQuickItem* item, const QRectF& room, const QString& path, const QString& text) {
    const QRectF letters = lettersOf(item);
    shown.push_back({path, text.left(60), letters, item});
    // Where a field scrolls to its cursor, or a text is cut at the left on purpose, the item is what is seen.
    if (item->inherits("QQuickTextInput")) return;
    if (letters.width() < 1)
      cut << QStringLiteral("%1 \"%2\" has no room left").arg(path, text.left(60));
    else if (!room.adjusted(-1.5, -2, 1.5, 2).contains(letters))
      cut << QStringLiteral("%1 \"%2\" is at %3..%4, %5..%6 of %7..%8, %9..%10")
                 .arg(path, text.left(60))
                 .arg(letters.left())
                 .arg(letters.right())
                 .arg(letters.top())
                 .arg(letters.bottom())
                 .arg(room.left())
                 .arg(room.right())
                 .arg(room.top())
                 .arg(room.bottom());
  }
};

void expectWhole(Window& w, const QString& view) {
  Look look;
  look.at(w.window->contentItem(), QRectF(QPointF(), w.window->size()), {});
  CHECK(look.shown.size() > 5);
  if (qEnvironmentVariableIsSet("TMPSHOTS") && !look.cut.isEmpty())
    w.window->grabWindow().save("/tmp/a-shots/" +
                                QString(view).replace(QRegularExpression("[^A-Za-z0-9.]+"), "-") + ".png");
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

TEST_CASE("sizes: a decision at every width, in large text and for a projector, settles") {
  Window w(tiledTrace());
  w.session.setStepAlone(true);
  goToDecision(w);
  REQUIRE(w.item("decisionReason")->isVisible());
  for (const bool presenting : {false, true}) {
    w.theme.setPresenting(presenting);
    for (const double scale : {1.0, 1.7}) {
      w.theme.setTextScale(scale);
      for (int wide = 900; wide <= 1400; wide += 5) {
        w.window->resize(wide, 600 + (wide % 4) * 60);
        const DatabaseWatch watch;
        QTest::qWait(2);
      }
    }
  }
  w.settle();
  CHECK(warnings.isEmpty());
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
    for (const char* tab : {"graph", "source", "ir", "asm", "uops", "links", "script", "compare", "whatif",
                            "values", "rule", "story", "stats", "profile", "timeline", "sql"}) {
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
    w.session.showNotice(
        "A notice that says something about what was written, as long as such sentences are at most.");
    w.session.trigger("condition");
    w.settle();
    expectWhole(w, "talk, notice and condition" + size);
    w.key(Qt::Key_Escape);
    w.tools.bookmarks()->endTalk();
    while (w.tools.bookmarks()->count() > 0) w.tools.bookmarks()->remove(0);
    goToDecision(w);
  });
  QFile::remove(Bookmarks::fileFor(trace));
}
