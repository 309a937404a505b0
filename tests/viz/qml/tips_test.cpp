// What a control says when one points at it: every sign without a text says something, in the window and in German, and what
// a key does too says the key.
#include "tests/replay/compare/history.h"
#include "tests/replay/experiment/made_experiment.h"
#include "tests/viz/whole.h"
#include "viz/models/session/actions.h"
#include "viz/models/session/dictionary.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QSet>

using namespace uopscope;
using namespace uopscope::test;

namespace {

/// Texts of the window, each as the pattern of what it may become: "%1" stands for anything.
class Texts {
public:
  Texts() {
    loadQmlResources();
    Dictionary german;
    REQUIRE(german.read("de"));
    for (const QString& text : german.texts().keys()) {
      if (!text.contains(QLatin1Char('%'))) {
        whole_.insert(text);
        continue;
      }
      static const QRegularExpression place(QStringLiteral("%\\d"));
      QStringList parts;
      for (const QString& part : text.split(place)) parts << QRegularExpression::escape(part);
      patterns_ << QRegularExpression(QRegularExpression::anchoredPattern(parts.join(QStringLiteral(".+"))));
    }
  }
  bool has(const QString& text) const {
    return whole_.contains(text) || std::ranges::any_of(patterns_, [&](const QRegularExpression& p) {
             return p.match(text).hasMatch();
           });
  }

private:
  QSet<QString> whole_;
  QList<QRegularExpression> patterns_;
};

/// The tip of an item, where it has one.
QObject* tipOf(const QQuickItem* item) {
  for (QObject* child : item->children())
    if (child->inherits("QQuickToolTip")) return child;
  return nullptr;
}

QRectF areaOf(QQuickItem* item) {
  return item->mapRectToScene(QRectF(0, 0, item->width(), item->height()));
}

/// Points at everything of the window that has a tip or needs one, each once.
class Hand {
public:
  explicit Hand(Window& w) : w_(w) {}
  /// Of a popup that is open, only what is in it: the rest of the window does not answer.
  void look(const QString& view, bool popup = false) {
    view_ = view;
    QQuickItem* root = w_.window->contentItem();
    if (popup)
      for (QQuickItem* child : root->childItems())
        if (child->inherits("QQuickOverlay")) root = child;
    at(root, QRectF(QPointF(), w_.window->size()));
  }
  int shown = 0;

private:
  void at(QQuickItem* item, QRectF room) {
    if (!item->isVisible() || item->opacity() <= 0) return;
    if (item->clip()) room = room.intersected(areaOf(item));
    if (!seen_.contains(item) && item->width() > 0 && room.contains(areaOf(item).center())) {
      const bool button = item->inherits("QQuickAbstractButton");
      QObject* tip = tipOf(item);
      if (button || tip) seen_.insert(item), point(item, tip, button);
    }
    for (QQuickItem* child : item->childItems()) at(child, room);
  }
  void point(QQuickItem* item, QObject* tip, bool button) {
    const QString text = item->property("text").toString(), says = item->property("tip").toString();
    const std::string name = (view_ + ": " + (text.isEmpty() ? says : text)).toStdString();
    if (button) {
      CHECK_MESSAGE((!text.isEmpty() || !says.isEmpty()), name, ": a sign without a word, ",
                    item->property("icon16").toString().toStdString());
      if (says.isEmpty()) return;
      CHECK_MESSAGE(texts_.has(says), name, ": not a text of the window: ", says.toStdString());
    }
    if (!tip || !item->isEnabled()) return;
    tip->setProperty("delay", 0);
    const auto visible = [&] { return tip->property("visible").toBool(); };
    const QPoint centre = areaOf(item).center().toPoint();
    QTest::mouseMove(w_.window, centre - QPoint(1, 0));
    QTest::mouseMove(w_.window, centre);
    const bool came = waitFor(visible, button ? 1500 : 60);
    if (button) CHECK_MESSAGE(came, name, ": shows no tip when one points at it");
    if (!came) return;
    ++shown;
    auto* frame = tip->property("background").value<QQuickItem*>();
    REQUIRE(frame);
    const QRectF window(QPointF(), w_.window->size());
    waitFor([&] { return window.contains(areaOf(frame)); }, 300);
    CHECK_MESSAGE(window.adjusted(-1, -1, 1, 1).contains(areaOf(frame)), name, ": its tip is at ",
                  told(areaOf(frame)).toStdString());
    CHECK_MESSAGE(!tip->property("text").toString().trimmed().isEmpty(), name, ": an empty tip");
    QTest::mouseMove(w_.window, QPoint(1, 1));
  }
  Window& w_;
  const Texts texts_;
  QString view_;
  QSet<QQuickItem*> seen_;
};

/// "Ctrl P" of "Jump (Ctrl P)", with the names of arrows as signs.
bool saysKey(QString tip, const Action& action) {
  for (const QString& keys : QString::fromLatin1(action.keys).split(QLatin1Char(' '), Qt::SkipEmptyParts))
    if (tip.contains(QRegularExpression(
            QStringLiteral("(^|[( ])%1($|[), :])").arg(QRegularExpression::escape(keyCaps(keys))))))
      return true;
  return false;
}

} // namespace

TEST_CASE("tips: every sign says what it does, inside the window, in every tab, popup and bar") {
  const QString trace = tiledTrace();
  QFile::remove(Bookmarks::fileFor(trace));
  Window w(trace);
  w.session.setStepAlone(true);
  w.session.setNode(w.session.graph()->picture()->nodes.back().id);
  resize(w, QSize(900, 600));
  Hand hand(w);
  for (const char* tab : kTabs) {
    w.session.setTab(QLatin1String(tab));
    w.settle();
    hand.look(QLatin1String(tab));
  }
  w.session.setTab("profile");
  for (const char* mode : {"treemap", "findings", "compare", "roofline", "flame"}) {
    w.click(w.item(QStringLiteral("profileMode-%1").arg(QLatin1String(mode))));
    hand.look(QStringLiteral("profile, ") + QLatin1String(mode));
  }
  w.session.setTab("stats");
  w.item("statsTable")->forceActiveFocus();
  w.key(Qt::Key_Down);
  hand.look("a row of the statistics");
  w.session.setTab("graph");
  w.settle();
  for (const char* popup : {"jump", "commands", "keys", "follow-link", "open", "export"}) {
    w.session.trigger(QLatin1String(popup));
    w.settle();
    QTest::qWait(40);
    hand.look(QLatin1String(popup), true);
    w.key(Qt::Key_Escape);
  }
  for (const char* bar : {"search", "legend", "numbers", "why", "check", "bookmark", "condition", "talk"}) {
    w.session.trigger(QLatin1String(bar) == "talk" ? "next-mark" : bar);
    w.settle();
    QTest::qWait(40);
    hand.look(QLatin1String(bar));
    w.key(Qt::Key_Escape);
  }
  w.theme.setPresenting(true);
  w.settle();
  hand.look("presenter");
  CHECK(hand.shown > 60);
  while (w.tools.bookmarks()->count() > 0) w.tools.bookmarks()->remove(0);
  QFile::remove(Bookmarks::fileFor(trace));
}

TEST_CASE(
    "tips: every sign says what it does on the pages of compilations and of experiments, and on the first") {
  const TempCorpus before{commits::of(commits::kFirst)}, after{commits::of(commits::kOff)};
  const MadeExperiment cells, later({.factor = 1.05, .failing = true});
  Window w;
  resize(w, QSize(900, 600));
  Hand hand(w);
  hand.look("first page");
  ReplayModel& replay = *w.tools.replay();
  replay.openFiles({QString::fromStdString(before.path), QString::fromStdString(after.path)});
  REQUIRE(waitFor([&] { return replay.settled(); }));
  w.settle();
  for (const char* what : {"rewrites", "graph", "source"}) {
    replay.detail()->setWhat(QLatin1String(what));
    REQUIRE(waitFor([&] { return replay.settled(); }));
    w.settle();
    hand.look(QStringLiteral("compared, ") + QLatin1String(what));
  }
  w.key(Qt::Key_Escape);
  ExperimentModel& e = *w.tools.experiment();
  e.openFiles({QString::fromStdString(cells.path), QString::fromStdString(later.path)});
  REQUIRE(waitFor([&] { return e.settled(); }));
  w.settle();
  hand.look("experiment");
  CHECK(hand.shown > 12);
}

TEST_CASE("tips: a button that does what a key does says the key") {
  static const QRegularExpression button(QStringLiteral(
      R"re(\btip: (?:[^;"]*\? )?qsTr\("((?:[^"\\]|\\.)*)"\)(.*)onClicked: Session\.trigger\("([a-z-]+)"\))re"));
  int looked = 0;
  QDirIterator files(QStringLiteral(UOPSCOPE_SOURCE_DIR "/viz/qml"), {"*.qml"}, QDir::Files);
  while (files.hasNext()) {
    QFile file(files.next());
    REQUIRE(file.open(QIODevice::ReadOnly));
    for (const QString& line : QString::fromUtf8(file.readAll()).split(QLatin1Char('\n'))) {
      const auto found = button.match(line);
      if (!found.hasMatch()) continue;
      const Action* action = findAction(found.captured(3));
      REQUIRE_MESSAGE(action, line.toStdString());
      if (QLatin1String(action->keys).isEmpty()) continue;
      ++looked;
      CHECK_MESSAGE(saysKey(found.captured(1), *action), file.fileName().toStdString(), ": \"",
                    found.captured(1).toStdString(), "\" lacks the key of ", action->id, ": ", action->keys);
    }
  }
  CHECK(looked > 12);
}
