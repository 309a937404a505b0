#include "app/gui/film.h"

#include "viz/models/session/actions.h"
#include "viz/scene/gif_file.h"
#include "viz/scene/graph_canvas.h"
#include "viz/scene/mp4_file.h"
#include "viz/scene/slides_file.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cstdio>

namespace uopscope {
namespace {

// A script for a screenshot is recorded first, which may take long.
constexpr int kPatienceMs = 120'000, kSettleMs = 150;
constexpr int kStepMs = 1100, kMoveMs = 2200, kPauseMs = 1500;

bool hasDrawn(const QQuickItem* item) {
  const auto* canvas = qobject_cast<const GraphCanvas*>(item);
  if (canvas && canvas->isVisible() && !canvas->settled()) return false;
  return std::ranges::all_of(item->childItems(), hasDrawn);
}

/// Whether nothing is outstanding and every visible canvas has drawn the current state.
bool isSettled(const FilmStage& s) {
  return s.session.settled() && s.tools.replay()->settled() && s.tools.experiment()->settled() &&
         !s.tools.whatIf()->busy() && !s.tools.hand()->busy() && !s.tools.rule()->busy() &&
         hasDrawn(s.window.contentItem());
}

bool shows(const QQuickItem* item, const QString& text) {
  return item->property("text").toString() == text || item->objectName() == text;
}

/// The topmost visible item that shows the text, as a person would click it. Items behind others come first in the list.
QQuickItem* itemThatShows(QQuickItem* root, const QString& text) {
  if (!root->isVisible() || root->opacity() <= 0 || !root->isEnabled()) return nullptr;
  QList<QQuickItem*> children = root->childItems();
  std::ranges::stable_sort(children, std::greater(), [](const QQuickItem* i) { return i->z(); });
  for (auto child = children.crbegin(); child != children.crend(); ++child)
    if (QQuickItem* found = itemThatShows(*child, text)) return found;
  return shows(root, text) && root->width() > 0 && root->height() > 0 ? root : nullptr;
}

void press(QQuickWindow& window, QPointF at, QEvent::Type type) {
  const bool up = type == QEvent::MouseButtonRelease;
  QMouseEvent event(type, at, window.mapToGlobal(at), Qt::LeftButton, up ? Qt::NoButton : Qt::LeftButton,
                    Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &event);
}

QString click(FilmStage& stage, const QString& text, bool twice) {
  const QQuickItem* item = itemThatShows(stage.window.contentItem(), text);
  if (!item) return QStringLiteral("nothing in the window shows \"%1\", so it cannot be clicked").arg(text);
  const QPointF at = item->mapToScene(QPointF(item->width() / 2, item->height() / 2));
  for (int k = 0; k < (twice ? 2 : 1); ++k) {
    press(stage.window, at, k == 0 ? QEvent::MouseButtonPress : QEvent::MouseButtonDblClick);
    press(stage.window, at, QEvent::MouseButtonRelease);
  }
  return {};
}

void type(QQuickWindow& window, const QString& text) {
  for (const QChar c : text)
    for (const QEvent::Type kind : {QEvent::KeyPress, QEvent::KeyRelease}) {
      const bool line = c == QLatin1Char('\n');
      QKeyEvent event(kind, line ? Qt::Key_Return : 0, Qt::NoModifier,
                      line ? QStringLiteral("\r") : QString(c));
      QCoreApplication::sendEvent(&window, &event);
    }
}

} // namespace

void say(const QString& text) {
  std::fprintf(stderr, "uopscope: %s\n", qPrintable(text));
}

bool waitUntilDrawn(FilmStage& s, const QString& link) {
  QElapsedTimer clock, calm;
  clock.start();
  calm.start();
  bool followed = link.isEmpty();
  while (clock.elapsed() < kPatienceMs) {
    QCoreApplication::processEvents(QEventLoop::AllEvents, 20);
    const bool recording = s.session.recorder()->running() || s.session.state() == QLatin1String("recording");
    if (recording || !isSettled(s)) calm.restart();
    if (!recording && !followed && s.session.settled()) {
      if (s.session.state() == QLatin1String("ready") && !s.session.follow(link)) {
        say(s.session.notice());
        return false;
      }
      followed = true;
      calm.restart();
      continue; // the newest question has no answer yet, however long it took
    }
    if (calm.elapsed() > kSettleMs) break;
  }
  return true;
}

QString makeMove(FilmStage& stage, const QString& move) {
  const QString what = move.section(QLatin1Char('='), 0, 0), with = move.section(QLatin1Char('='), 1);
  if (move == QLatin1String("wait")) return {};
  if (what == QLatin1String("do")) {
    if (!findAction(with))
      return QStringLiteral(
                 "there is no action \"%1\"; the sheet of keys (?) has them all, by these names: %2")
          .arg(with, QStringLiteral("next-step, next-pass, next-kernel, tab-stats, numbers, what-if …"));
    stage.session.trigger(with);
  } else if (what == QLatin1String("click") || what == QLatin1String("double")) {
    return click(stage, with, what == QLatin1String("double"));
  } else if (what == QLatin1String("type")) {
    type(stage.window, QString(with).replace(QLatin1String("\\n"), QLatin1String("\n")));
  } else if (!stage.session.follow(move)) {
    return stage.session.notice();
  }
  return {};
}

QString takeFilm(FilmStage& stage, const QString& path, const QStringList& moves, int steps, double seconds) {
  const bool tour = !moves.isEmpty();
  const int each = tour ? kMoveMs : kStepMs;
  std::vector<FilmFrame> frames{{stage.window.grabWindow(), each}};
  for (const QString& move : moves) {
    if (QString fault = makeMove(stage, move); !fault.isEmpty()) return fault;
    waitUntilDrawn(stage);
    frames.push_back({stage.window.grabWindow(), each});
  }
  for (int k = 0; k < (tour ? 0 : steps); ++k) {
    const QString before = stage.session.link();
    stage.session.trigger(QStringLiteral("next-step"));
    if (stage.session.link() == before) break; // the end of the trace
    waitUntilDrawn(stage);
    frames.push_back({stage.window.grabWindow(), each});
  }
  frames.back().ms += kPauseMs;
  if (seconds > 0) {
    int all = 0;
    for (const FilmFrame& f : frames) all += f.ms;
    for (FilmFrame& f : frames) f.ms = static_cast<int>(f.ms * seconds * 1000 / all);
  }
  if (path.endsWith(QLatin1String(".mp4"))) return saveMp4(path, frames);
  GifFilm film(path, frames.front().ms);
  for (const FilmFrame& frame : frames) {
    film.add(frame.image);
    if (frame.ms > frames.front().ms) film.hold(frame.ms - frames.front().ms);
  }
  return film.save();
}

QString takeSlides(FilmStage& stage, const QString& path) {
  Bookmarks& marks = *stage.tools.bookmarks();
  if (marks.count() == 0)
    return QStringLiteral("%1 has no bookmarks, so there is no slide: Ctrl D in the window makes them, in %2")
        .arg(stage.session.path(), Bookmarks::fileFor(stage.session.path()));
  std::vector<Slide> slides;
  for (int row = 0; row < marks.count(); ++row) {
    marks.goTo(row);
    waitUntilDrawn(stage);
    auto text = [&](int role) { return marks.data(marks.index(row), role).toString(); };
    slides.push_back({stage.window.grabWindow(), text(Bookmarks::NoteRole), text(Bookmarks::PlaceRole)});
  }
  return saveSlides(path, stage.session.fileName(), slides);
}

} // namespace uopscope
