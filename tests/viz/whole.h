// Whether all of the window can be read at its present size: no text and no button is cut, hidden behind an edge or wider
// than its room. A text may end with dots; it may not end without a sign. Nor does a text count "1 nodes".
//
//   atEverySize(w, [&](const QString& size) { expectWhole(w, "graph" + size); });   // names each item that is cut
#pragma once
#include "tests/viz/window_support.h"

#include <QRegularExpression>

namespace uopscope::test {

/// The tabs of an open trace, as Session names them.
inline constexpr const char* kTabs[] = {"graph",  "source",  "ir",       "asm",    "uops", "links",
                                        "script", "compare", "whatif",   "values", "rule", "story",
                                        "stats",  "profile", "timeline", "sql"};

constexpr double kFar = 1e7;

/// The letters of a text in the scene, which may be wider than the item.
inline QRectF lettersOf(const QQuickItem* item) {
  const QSizeF letters(item->property("contentWidth").toDouble(), item->property("contentHeight").toDouble());
  const Qt::Alignment across(item->property("horizontalAlignment").toInt());
  const Qt::Alignment down(item->property("verticalAlignment").toInt());
  const double right = item->width() - letters.width(), below = item->height() - letters.height();
  const double x = across & Qt::AlignRight ? right : across & Qt::AlignHCenter ? right / 2 : 0;
  const double y = down & Qt::AlignBottom ? below : down & Qt::AlignVCenter ? below / 2 : 0;
  return item->mapRectToScene(QRectF(QPointF(x, y), letters));
}

inline QString told(const QRectF& r) {
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
      static const QRegularExpression oneOfMany(
          QStringLiteral(R"((?<![\d.,×#/]|of )\b1 (?!is|has|was|us|ns|ms|as)[a-z]+s\b)"));
      if (oneOfMany.match(text).hasMatch()) cut << here + " \"" + text.left(60) + "\" counts one as many";
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
inline void expectWhole(Window& w, const QString& view) {
  Look look;
  waitFor(
      [&] {
        look = {};
        look.at(w.window->contentItem(), QRectF(QPointF(), w.window->size()), {});
        return look.cut.isEmpty();
      },
      600);
  CHECK(look.texts > 2);
  for (const QString& c : look.cut) FAIL_CHECK(view.toStdString(), ": ", c.toStdString());
}

/// Shows the window at this size, with the texts this large.
inline void resize(Window& w, QSize size) {
  w.window->resize(size);
  REQUIRE(waitFor([&] { return w.window->size() == size; }));
  w.settle();
}

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

} // namespace uopscope::test
