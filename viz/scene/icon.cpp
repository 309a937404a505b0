// A path is a string of commands in the manner of SVG: M, L, Z, C (cubic), O x y r (circle), all absolute.
#include "viz/scene/icon.h"

#include <QHash>
#include <QPainter>
#include <QPainterPath>
#include <QStringList>
#include <algorithm>

namespace uopscope {
namespace {

const QHash<QString, QString>& paths() {
  static const QHash<QString, QString> table = {
      {"open", "M 2 4 L 6 4 L 7.5 6 L 14 6 L 14 13 L 2 13 Z"},
      {"search", "O 7 7 4.2 M 10.2 10.2 L 14 14"},
      {"fit", "M 2 6 L 2 2 L 6 2 M 10 2 L 14 2 L 14 6 M 14 10 L 14 14 L 10 14 M 6 14 L 2 14 L 2 10"},
      {"plus", "M 8 3 L 8 13 M 3 8 L 13 8"},
      {"minus", "M 3 8 L 13 8"},
      {"previous", "M 10 3 L 5 8 L 10 13"},
      {"next", "M 6 3 L 11 8 L 6 13"},
      {"previous-pass", "M 8 3 L 3 8 L 8 13 M 13 3 L 8 8 L 13 13"},
      {"next-pass", "M 3 3 L 8 8 L 3 13 M 8 3 L 13 8 L 8 13"},
      {"first", "M 4 3 L 4 13 M 12 3 L 7 8 L 12 13"},
      {"last", "M 12 3 L 12 13 M 4 3 L 9 8 L 4 13"},
      {"up", "M 4 10 L 8 6 L 12 10"},
      {"down", "M 4 6 L 8 10 L 12 6"},
      {"right", "M 6 4 L 10 8 L 6 12"},
      {"number", "M 6 2 L 4.5 14 M 11.5 2 L 10 14 M 2.5 5.5 L 14 5.5 M 2 10.5 L 13.5 10.5"},
      {"close", "M 4 4 L 12 12 M 12 4 L 4 12"},
      {"link",
       "M 6.5 9.5 L 9.5 6.5 M 7 5 L 9 3 C 12 0.5 15.5 4 13 7 L 11 9 M 9 11 L 7 13 C 4 15.5 0.5 12 3 9 L 5 7"},
      {"copy", "M 6 6 L 14 6 L 14 14 L 6 14 Z M 10 6 L 10 2 L 2 2 L 2 10 L 6 10"},
      {"theme", "O 8 8 5 M 8 3 L 8 13 M 10 3.6 L 10 12.4 M 12 5.2 L 12 10.8"},
      {"text", "M 2 13 L 6 3 L 10 13 M 3.6 9.5 L 8.4 9.5 M 11 8 L 15 8 M 13 6 L 13 10"},
      {"keys", "M 1.5 4 L 14.5 4 L 14.5 12 L 1.5 12 Z M 4 7 L 4.2 7 M 6.6 7 L 6.8 7 M 9.2 7 L 9.4 7 M 11.8 7 "
               "L 12 7 M 5 9.7 L 11 9.7"},
      {"back", "M 7 3 L 2 8 L 7 13 M 2 8 L 14 8"},
      {"forward", "M 9 3 L 14 8 L 9 13 M 14 8 L 2 8"},
      {"target", "O 8 8 5 O 8 8 1.2 M 8 1 L 8 4 M 8 12 L 8 15 M 1 8 L 4 8 M 12 8 L 15 8"},
      {"compact", "M 2 5 L 6 5 L 6 2 M 14 5 L 10 5 L 10 2 M 2 11 L 6 11 L 6 14 M 14 11 L 10 11 L 10 14"},
      {"turn", "M 3 3 L 3 9 L 11 9 M 8 6 L 11 9 L 8 12 M 13 13 L 13 13.1"},
      {"warning", "M 8 2 L 15 14 L 1 14 Z M 8 6.5 L 8 10 M 8 12 L 8 12.1"},
      {"stop", "M 4 4 L 12 4 L 12 12 L 4 12 Z"},
      {"record", "O 8 8 4.5"},
      {"script",
       "M 4 2 L 10 2 L 13 5 L 13 14 L 4 14 Z M 6.5 7 L 10.5 7 M 6.5 9.5 L 10.5 9.5 M 6.5 12 L 9 12"},
      {"kernel", "M 4 4 L 12 4 L 12 12 L 4 12 Z M 6 1.5 L 6 4 M 10 1.5 L 10 4 M 6 12 L 6 14.5 M 10 12 L 10 "
                 "14.5 M 1.5 6 L 4 6 M 1.5 10 L 4 10 M 12 6 L 14.5 6 M 12 10 L 14.5 10"},
      {"schedule", "M 2 3 L 8 3 M 5 8 L 12 8 M 8 13 L 14 13"},
      {"pass", "O 8 8 2.2 M 8 2 L 8 5.8 M 8 10.2 L 8 14"},
      {"legend", "M 2 4 L 4 4 L 4 6 L 2 6 Z M 7 5 L 14 5 M 2 10 L 4 10 L 4 12 L 2 12 Z M 7 11 L 14 11"},
      {"fold", "M 8 1.5 L 8 5.5 M 5.8 3.8 L 8 6 L 10.2 3.8 M 2 8 L 14 8 M 8 14.5 L 8 10.5 M 5.8 12.2 L 8 10 "
               "L 10.2 12.2"},
      {"map", "M 2 3 L 14 3 L 14 13 L 2 13 Z M 7 6 L 12 6 L 12 10 L 7 10 Z"},
      {"play", "M 5 3 L 13 8 L 5 13 Z"},
      {"check", "M 3 8.5 L 6.5 12 L 13 4.5"},
  };
  return table;
}

QPainterPath parse(const QString& text) {
  QPainterPath path;
  const QStringList words = text.split(QLatin1Char(' '), Qt::SkipEmptyParts);
  qsizetype i = 0;
  auto number = [&] { return i < words.size() ? words[i++].toDouble() : 0.0; };
  auto point = [&] {
    const double x = number();
    return QPointF(x, number());
  };
  while (i < words.size()) {
    const QString& c = words[i++];
    if (c == QLatin1String("M"))
      path.moveTo(point());
    else if (c == QLatin1String("L"))
      path.lineTo(point());
    else if (c == QLatin1String("Z"))
      path.closeSubpath();
    else if (c == QLatin1String("O")) {
      const QPointF centre = point();
      const double r = number();
      path.addEllipse(centre, r, r);
    } else if (c == QLatin1String("C")) {
      const QPointF a = point(), b = point();
      path.cubicTo(a, b, point());
    }
  }
  return path;
}

} // namespace

Icon::Icon(QQuickItem* parent) : QQuickPaintedItem(parent) {
  setAntialiasing(true);
}

void Icon::setName(const QString& name) {
  if (name == name_) return;
  name_ = name;
  Q_EMIT changed();
  update();
}

void Icon::setColor(const QColor& color) {
  if (color == color_) return;
  color_ = color;
  Q_EMIT changed();
  update();
}

void Icon::paint(QPainter* painter) {
  const double s = std::min(width(), height()) / 16;
  painter->setRenderHint(QPainter::Antialiasing);
  painter->translate((width() - 16 * s) / 2, (height() - 16 * s) / 2);
  painter->scale(s, s);
  painter->setPen(QPen(color_, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  if (name_ == QLatin1String("record")) painter->setBrush(color_);
  painter->drawPath(parse(paths().value(name_)));
}

} // namespace uopscope
