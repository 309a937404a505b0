// Levels of detail, by pixels per graph unit: below kTextScale no texts but the operation, below kTitleScale
// no texts at all and straight lines without anti-aliasing, below kDotScale boxes are at least two pixels so
// that marks stay visible.
#include "viz/scene/picture_painter.h"

#include <QFontMetricsF>
#include <QtMath>
#include <algorithm>
#include <array>
#include <cmath>

namespace uopscope {
namespace {

constexpr double kTextScale = 0.45, kTitleScale = 0.26, kDotScale = 0.1, kPortScale = 0.7;

QColor mix(const QColor& a, const QColor& b, double share) {
  return QColor::fromRgbF(static_cast<float>(a.redF() + (b.redF() - a.redF()) * share),
                          static_cast<float>(a.greenF() + (b.greenF() - a.greenF()) * share),
                          static_cast<float>(a.blueF() + (b.blueF() - a.blueF()) * share));
}
QColor faded(QColor c, double alpha) {
  c.setAlphaF(static_cast<float>(alpha));
  return c;
}

QString text(const std::string& s) {
  const QString q = QString::fromStdString(s);
  return q.size() > static_cast<qsizetype>(metrics::kMaxChars)
             ? q.left(static_cast<qsizetype>(metrics::kMaxChars) - 1) + QChar(0x2026)
             : q;
}

struct Fonts {
  QFont title, small, badge;
  explicit Fonts(const Palette& p) {
    auto make = [](const QString& family, double px, bool bold) {
      QFont f(family);
      f.setPixelSize(qRound(px));
      f.setBold(bold);
      f.setHintingPreference(QFont::PreferNoHinting);
      return f;
    };
    title = make(p.sans, metrics::kTitle, true);
    small = make(p.mono, metrics::kSmall, false);
    badge = make(p.sans, 12, true);
  }
};

QColor markColour(const Palette& p, Mark mark, const QColor& otherwise) {
  switch (mark) {
  case Mark::Added: return p.added;
  case Mark::Removed: return p.removed;
  case Mark::Changed: return p.changed;
  case Mark::Same: break;
  }
  return otherwise;
}

QPointF exitOf(const Picture& p, const PictureNode& n) {
  return p.leftToRight ? QPointF(n.x + n.width / 2, n.y) : QPointF(n.x, n.y + n.height / 2);
}
QPointF entryOf(const Picture& p, const PictureNode& n, uint32_t port, uint32_t ports) {
  const double at = ports < 2 ? 0 : (static_cast<double>(port) / (ports - 1) - 0.5);
  if (p.leftToRight) return {n.x - n.width / 2, n.y + at * n.height * 0.55};
  return {n.x + at * std::min<double>(n.width - 20, 26.0 * (ports - 1)), n.y - n.height / 2};
}

void drawBadge(QPainter& painter, const Fonts& fonts, const QRectF& r, QChar sign, const QColor& colour,
               const Palette& p) {
  const QRectF disc(r.left() - 7, r.top() - 7, 16, 16);
  painter.setPen(QPen(p.canvas, 2));
  painter.setBrush(colour);
  painter.drawEllipse(disc);
  painter.setFont(fonts.badge);
  painter.setPen(p.dark ? QColor("#10131a") : QColor("#ffffff"));
  painter.drawText(disc, Qt::AlignCenter, QString(sign));
}

void drawTexts(QPainter& painter, const Fonts& fonts, const PictureNode& n, const QRectF& r,
               const PaintOptions& o) {
  using namespace metrics;
  const Palette& p = o.palette;
  const bool ghost = n.mark == Mark::Removed;
  const double left = r.left() + kPadding + 3, right = r.right() - kPadding;
  double y = r.top() + kTop;
  const bool small = o.scale >= kTextScale;

  QFont title = fonts.title;
  title.setStrikeOut(ghost);
  painter.setFont(title);
  painter.setPen(ghost ? p.textMuted : p.text);
  const QString dtype = small ? text(n.dtype) : QString();
  const double dtypeWidth = dtype.isEmpty() ? 0 : QFontMetricsF(fonts.small).horizontalAdvance(dtype);
  const QRectF line(left, y, right - left - (dtypeWidth > 0 ? dtypeWidth + 8 : 0), kTitleLine);
  painter.drawText(line, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(title).elidedText(text(n.op), Qt::ElideRight, line.width() + 2));
  if (!small) return;
  painter.setFont(fonts.small);
  if (dtypeWidth > 0) {
    painter.setPen(p.textMuted);
    painter.drawText(QRectF(right - dtypeWidth, y + 0.5, dtypeWidth + 1, kTitleLine),
                     Qt::AlignVCenter | Qt::AlignLeft, dtype);
  }
  y += kTitleLine;
  const QFontMetricsF fm(fonts.small);
  if (!n.detail.empty()) {
    painter.setPen(ghost ? p.textMuted : mix(p.text, p.textMuted, 0.35));
    painter.drawText(QRectF(left, y, right - left + 2, kSmallLine), Qt::AlignVCenter | Qt::AlignLeft,
                     fm.elidedText(text(n.detail), Qt::ElideRight, right - left + 2));
    y += kSmallLine;
  }
  double x = left;
  for (const FoldedSource& f : n.folded) {
    const QString chip = QString::number(f.port) + QLatin1Char(' ') + text(f.text);
    const double w = fm.horizontalAdvance(chip) + 9;
    if (x + w > right + 4) {
      painter.setPen(p.textMuted);
      painter.drawText(QRectF(x, y, right - x + 6, kSmallLine), Qt::AlignVCenter, QStringLiteral("…"));
      break;
    }
    const QRectF pill(x, y + 1.5, w, kSmallLine - 2);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faded(p.text, p.dark ? 0.09 : 0.07));
    painter.drawRoundedRect(pill, 4, 4);
    painter.setPen(p.textFaint);
    painter.drawText(pill.adjusted(4, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, QString::number(f.port));
    painter.setPen(ghost ? p.textMuted : mix(p.text, p.textMuted, 0.2));
    painter.drawText(
        pill.adjusted(4 + fm.horizontalAdvance(QString::number(f.port) + QLatin1Char(' ')), 0, 0, 0),
        Qt::AlignVCenter | Qt::AlignLeft, text(f.text));
    x += w + 4;
  }
}

// What stood in this place before the step: a tab on the upper right edge.
void drawWas(QPainter& painter, const Fonts& fonts, const PictureNode& n, const QRectF& r, const Palette& p,
             uint32_t portsDrawn) {
  QFont struck = fonts.small;
  struck.setStrikeOut(true);
  const QFontMetricsF fm(struck);
  const QString was = fm.elidedText(text(n.was), Qt::ElideRight, 190);
  const double w = fm.horizontalAdvance(was) + 26;
  // Right of the last arrow, so that the numbers of the ports stay free.
  const double ports =
      std::min<double>(n.width - 20, 26.0 * static_cast<double>(std::max(portsDrawn, 1u) - 1));
  const QRectF tab(std::max(r.center().x() + ports / 2 + 20, r.right() - w + 8), r.top() - 17, w, 16);
  painter.setPen(QPen(p.removed, 1.2, Qt::DashLine));
  painter.setBrush(mix(p.canvas, p.removed, 0.12));
  painter.drawRoundedRect(tab, 5, 5);
  painter.setPen(p.removed);
  painter.setFont(fonts.badge);
  painter.drawText(tab.adjusted(6, -1, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, QString(QChar(0x2212)));
  painter.setFont(struck);
  painter.setPen(mix(p.text, p.removed, 0.45));
  painter.drawText(tab.adjusted(18, 0, 0, 0), Qt::AlignVCenter | Qt::AlignLeft, was);
}

// Colour of a node's kind, and the text that goes with it where the colours are not those of operations.
struct Tone {
  QColor colour;
  QString text;
};
Tone toneOf(const PictureNode& n, size_t index, const PaintOptions& o) {
  const Palette& p = o.palette;
  if (!o.tinting) return {p.family[static_cast<size_t>(n.family)], {}};
  const uint8_t at = index < o.tinting->of.size() ? o.tinting->of[index] : Tinting::kNone;
  if (at == Tinting::kNone || at >= o.tinting->legend.size()) return {p.textFaint, {}};
  const Tinting::Entry& e = o.tinting->legend[at];
  const auto colour = static_cast<size_t>(e.colour);
  return {o.tinting->ordered ? p.heat[colour % p.heat.size()] : p.tint[colour % p.tint.size()], e.text};
}

void drawNode(QPainter& painter, const Fonts& fonts, const PictureNode& n, size_t index, uint32_t ports,
              const PaintOptions& o) {
  const Palette& p = o.palette;
  const Tone tone = toneOf(n, index, o);
  const QColor& family = tone.colour;
  QRectF r = nodeRect(n);
  const QColor mark = markColour(p, n.mark, family);
  if (o.scale < kTitleScale) {
    const double least = 2 / o.scale;
    if (o.scale < kDotScale && n.mark != Mark::Same) r.adjust(-least, -least, least, least);
    if (n.mark == Mark::Removed) {
      painter.setPen(QPen(mark, 0, Qt::DashLine));
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(r);
    } else {
      painter.fillRect(r, n.mark == Mark::Same ? mix(p.canvas, family, 0.55) : mark);
    }
    return;
  }
  const bool ghost = n.mark == Mark::Removed;
  // Frames of marks keep their width on the screen: from afar they are all there is to see of them.
  const auto pixels = [&](double width, double least) { return std::max(width, least / o.scale); };
  const double strength = o.scale < kTextScale ? 0.2 : 0;
  switch (n.mark) {
  case Mark::Removed:
    painter.setBrush(mix(p.canvas, p.removed, 0.05));
    painter.setPen(QPen(mark, pixels(1.6, 1.6), Qt::DashLine));
    break;
  case Mark::Added:
    painter.setBrush(mix(p.raised, p.added, (p.dark ? 0.2 : 0.14) + strength));
    painter.setPen(QPen(mark, pixels(2.2, 2.4)));
    break;
  case Mark::Changed:
    painter.setBrush(mix(p.raised, p.changed, (p.dark ? 0.12 : 0.08) + strength));
    painter.setPen(QPen(mark, pixels(1.4, 1.8)));
    break;
  case Mark::Same:
    painter.setBrush(mix(p.raised, family, p.dark ? 0.13 : 0.09));
    painter.setPen(QPen(mix(p.lineStrong, family, 0.35), 1));
  }
  if (n.members) { // a group: something stands behind the box
    painter.save();
    painter.setBrush(mix(p.canvas, family, 0.2));
    painter.drawRoundedRect(r.translated(5, 5), 6, 6);
    painter.restore();
  }
  painter.drawRoundedRect(r, 6, 6);
  if (n.mark == Mark::Changed) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(QBrush(faded(mark, 0.3), Qt::BDiagPattern));
    painter.drawRoundedRect(QRectF(r.right() - 12, r.top() + 1, 11, r.height() - 2), 4, 4);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(mark, 1));
    painter.drawRoundedRect(r.adjusted(-3, -3, 3, 3), 8, 8);
  }
  if (!ghost) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(family);
    painter.drawRoundedRect(QRectF(r.left() + 4, r.top() + 6, 3, r.height() - 12), 1.5, 1.5);
  }
  drawTexts(painter, fonts, n, r, o);
  if (o.scale < kTextScale) return;
  if (!n.was.empty()) drawWas(painter, fonts, n, r, p, ports);
  if (!tone.text.isEmpty() || n.pinned) {
    painter.setFont(fonts.small);
    painter.setPen(mix(p.text, family, 0.55));
    painter.drawText(QPointF(r.left() + 2, r.bottom() + 12),
                     (n.pinned ? QStringLiteral("\u2316 ") : QString()) + tone.text);
  }
  if (n.mark == Mark::Added) drawBadge(painter, fonts, r, QLatin1Char('+'), mark, p);
  if (ghost) drawBadge(painter, fonts, r, QChar(0x2212), mark, p);
  if (n.mark == Mark::Changed) drawBadge(painter, fonts, r.translated(-2, -2), QLatin1Char('~'), mark, p);
  if (n.hub) {
    painter.setFont(fonts.small);
    painter.setPen(p.textFaint);
    painter.drawText(QPointF(r.right() - 4 - 6.5 * static_cast<double>(QString::number(n.users).size()) - 8,
                             r.bottom() + 12),
                     QStringLiteral("×%1").arg(n.users));
  }
}

void drawEdge(QPainter& painter, const Picture& picture, const PictureEdge& e, const QPen& pen, double scale,
              const QColor& arrow, const QRectF& view) {
  const PictureNode &a = picture.nodes[e.from], &b = picture.nodes[e.to];
  painter.setPen(pen);
  if (scale < kTitleScale) {
    QPolygonF line;
    line << exitOf(picture, a);
    for (const LayoutPoint& bend : e.bends) line << QPointF(bend.x, bend.y);
    line << entryOf(picture, b, e.port, e.ports);
    painter.drawPolyline(line);
    return;
  }
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(edgePath(picture, e, view));
  const QPointF tip = entryOf(picture, b, e.port, e.ports);
  QPolygonF head;
  if (picture.leftToRight)
    head << tip << tip + QPointF(-6, -3) << tip + QPointF(-6, 3);
  else
    head << tip << tip + QPointF(-3, -6) << tip + QPointF(3, -6);
  painter.setPen(Qt::NoPen);
  painter.setBrush(arrow);
  painter.drawPolygon(head);
}

QRectF edgeBox(const Picture& picture, const PictureEdge& e) {
  const PictureNode &a = picture.nodes[e.from], &b = picture.nodes[e.to];
  double left = std::min(a.x - a.width / 2, b.x - b.width / 2),
         right = std::max(a.x + a.width / 2, b.x + b.width / 2);
  double top = std::min(a.y, b.y) - a.height - b.height, bottom = std::max(a.y, b.y) + a.height + b.height;
  for (const LayoutPoint& bend : e.bends) {
    left = std::min<double>(left, bend.x), right = std::max<double>(right, bend.x);
    top = std::min<double>(top, bend.y), bottom = std::max<double>(bottom, bend.y);
  }
  return {left, top, right - left, bottom - top};
}

} // namespace

QRectF nodeRect(const PictureNode& n) {
  return {n.x - n.width / 2, n.y - n.height / 2, n.width, n.height};
}

namespace {

QPointF between(const QPointF& a, const QPointF& b, double t) {
  return a + (b - a) * t;
}

// The part of a curve that lies within the view along the ranks, where the curve is much longer than that:
// the stroke of a line over the whole of a large graph costs a frame. True if anything was cut off. A curve
// goes one way along the ranks, so its ends are found by halving.
bool cutToView(std::array<QPointF, 4>& curve, bool leftToRight, const QRectF& view) {
  auto along = [&](const QPointF& p) { return leftToRight ? p.x() : p.y(); };
  double low = leftToRight ? view.left() : view.top(), high = leftToRight ? view.right() : view.bottom();
  const double begin = along(curve[0]), end = along(curve[3]);
  if (std::abs(end - begin) < 2 * (high - low)) return false;
  auto at = [&](double t) {
    const double u = 1 - t;
    return u * u * u * begin + 3 * u * t * (begin + end) / 2 + t * t * t * end;
  };
  auto find = [&](double value) {
    double from = 0, to = 1;
    for (int i = 0; i < 30; ++i) {
      const double mid = (from + to) / 2;
      ((at(mid) < value) == (begin < end) ? from : to) = mid;
    }
    return from;
  };
  if (begin > end) std::swap(low, high);
  const double first = find(low), last = std::max(find(high), first + 1e-9);
  auto split = [&](double t, bool keepFirst) {
    const QPointF a = between(curve[0], curve[1], t), b = between(curve[1], curve[2], t),
                  c = between(curve[2], curve[3], t), d = between(a, b, t), f = between(b, c, t),
                  g = between(d, f, t);
    curve = keepFirst ? std::array{curve[0], a, d, g} : std::array{g, f, c, curve[3]};
  };
  split(last, true);
  split(first / last, false);
  return true;
}

} // namespace

QPainterPath edgePath(const Picture& picture, const PictureEdge& e, const QRectF& view) {
  QPainterPath path;
  QPointF at = exitOf(picture, picture.nodes[e.from]);
  bool drawn = false;
  auto to = [&](QPointF next) {
    // A part lies within the box of its ends; what is far away would only cost.
    if (!view.isNull() &&
        (std::max(at.x(), next.x()) < view.left() || std::min(at.x(), next.x()) > view.right() ||
         std::max(at.y(), next.y()) < view.top() || std::min(at.y(), next.y()) > view.bottom())) {
      at = next;
      drawn = false;
      return;
    }
    std::array<QPointF, 4> curve{at, at, next, next};
    if (picture.leftToRight)
      curve[1].rx() = curve[2].rx() = (at.x() + next.x()) / 2;
    else
      curve[1].ry() = curve[2].ry() = (at.y() + next.y()) / 2;
    const bool cut = !view.isNull() && cutToView(curve, picture.leftToRight, view);
    if (!drawn || cut) path.moveTo(curve[0]);
    path.cubicTo(curve[1], curve[2], curve[3]);
    drawn = !cut;
    at = next;
  };
  for (const LayoutPoint& bend : e.bends) to({bend.x, bend.y});
  to(entryOf(picture, picture.nodes[e.to], e.port, e.ports));
  return path;
}

QRectF changedRect(const Picture& picture) {
  QRectF r;
  // What was added or removed is where the step happened; rebuilt users run all the way to the sink.
  for (const PictureNode& n : picture.nodes)
    if (n.mark == Mark::Added || n.mark == Mark::Removed) r |= nodeRect(n);
  if (r.isNull())
    for (const PictureNode& n : picture.nodes)
      if (n.mark == Mark::Changed) r |= nodeRect(n);
  return r;
}

QRectF boundsOf(const Picture& picture) {
  QRectF r;
  for (const PictureNode& n : picture.nodes) r |= nodeRect(n);
  return r;
}

int nodeAt(const Picture& picture, QPointF at, double slack) {
  for (size_t i = picture.nodes.size(); i-- > 0;)
    if (nodeRect(picture.nodes[i]).adjusted(-slack, -slack, slack, slack).contains(at))
      return static_cast<int>(i);
  return -1;
}

void paintPicture(QPainter& painter, const Picture& picture, const PaintOptions& o) {
  const Palette& p = o.palette;
  painter.setRenderHint(QPainter::Antialiasing, o.scale >= kTitleScale);
  const Fonts fonts(p);
  const double width = o.scale < kTitleScale ? 0 : 1.3;
  const QColor quiet = o.scale < kTitleScale ? mix(p.canvas, p.edge, 0.55) : p.edge;
  const QRectF view = o.view.adjusted(-8, -8, 8, 8);
  auto edges = [&](Mark mark) {
    const QColor colour = markColour(p, mark, quiet);
    QPen pen(colour, mark == Mark::Same ? width : width * 1.5,
             mark == Mark::Removed ? Qt::DashLine : Qt::SolidLine);
    for (const PictureEdge& e : picture.edges)
      if (e.mark == mark && !e.quiet && o.view.intersects(edgeBox(picture, e)))
        drawEdge(painter, picture, e, pen, o.scale, colour, view);
  };
  for (Mark mark : {Mark::Same, Mark::Removed, Mark::Changed, Mark::Added}) edges(mark);
  const QRectF near = o.view.adjusted(-20, -20, 20, 20);
  std::vector<uint32_t> ports(picture.nodes.size(), 0);
  for (const PictureEdge& e : picture.edges) ports[e.to] = std::max(ports[e.to], e.ports);
  for (bool marked : {false, true})
    for (size_t i = 0; i < picture.nodes.size(); ++i) {
      const PictureNode& n = picture.nodes[i];
      if ((n.mark != Mark::Same) == marked && near.intersects(nodeRect(n)))
        drawNode(painter, fonts, n, i, ports[i], o);
    }
  if (o.scale < kPortScale) return;
  painter.setFont(fonts.small);
  painter.setPen(p.textFaint);
  for (const PictureEdge& e : picture.edges) {
    if (e.quiet || e.ports < 2) continue;
    const QPointF tip = entryOf(picture, picture.nodes[e.to], e.port, e.ports);
    if (!near.contains(tip)) continue;
    painter.drawText(tip + (picture.leftToRight ? QPointF(-14, -4) : QPointF(4, -3)),
                     QString::number(e.port));
  }
}

void paintEmphasis(QPainter& painter, const Picture& picture, const Emphasis& em, const PaintOptions& o) {
  const Palette& p = o.palette;
  painter.setRenderHint(QPainter::Antialiasing, true);
  auto around = [&](int64_t id, const QColor& colour, double width, double space) {
    const PictureNode* n = picture.find(id);
    if (!n) return;
    const double s = std::max(1.0, 0.6 / o.scale);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, width * s));
    painter.drawRoundedRect(nodeRect(*n).adjusted(-space, -space, space, space), 8, 8);
  };
  auto neighbours = [&](int64_t id, double strength) {
    const auto it = picture.byId.find(id);
    if (it == picture.byId.end()) return;
    QPen pen(faded(p.accent, strength), std::max(2.0, 1.2 / o.scale));
    for (const PictureEdge& e : picture.edges) {
      if (e.from != it->second && e.to != it->second) continue;
      drawEdge(painter, picture, e, pen, std::max(o.scale, kTitleScale), faded(p.accent, strength),
               o.view.adjusted(-8, -8, 8, 8));
      around(picture.nodes[e.from == it->second ? e.to : e.from].id, faded(p.accent, strength * 0.8), 1.6,
             2.5);
    }
  };
  for (const auto& [id, note] : em.notes) {
    const PictureNode* n = picture.find(id);
    if (!n) continue;
    const bool bad = note.startsWith(QLatin1Char('!'));
    const QColor colour = bad ? p.error : p.accent;
    around(id, colour, 2.6, 5);
    if (note.size() < 2 || o.scale < kTitleScale) continue;
    QFont font(p.mono);
    font.setPixelSize(11);
    font.setBold(true);
    const QString text = (bad ? QStringLiteral("\u2717 ") : QStringLiteral("\u2713 ")) + note.mid(1);
    const double w = QFontMetricsF(font).horizontalAdvance(text) + 12;
    const QRectF tab(n->x + n->width / 2 + 9, n->y - 9, w, 18);
    painter.setPen(QPen(colour, 1.4));
    painter.setBrush(mix(p.canvas, colour, 0.16));
    painter.drawRoundedRect(tab, 4, 4);
    painter.setPen(p.text);
    painter.setFont(font);
    painter.drawText(tab, Qt::AlignCenter, text);
  }
  for (int64_t id : em.found) around(id, p.warning, id == em.current ? 3.2 : 1.8, 4);
  if (em.selected >= 0) {
    neighbours(em.selected, 0.95);
    around(em.selected, faded(p.accent, 0.35), 7, 4);
    around(em.selected, p.accent, 2.6, 3);
  }
  if (em.hovered >= 0 && em.hovered != em.selected) {
    neighbours(em.hovered, 0.6);
    around(em.hovered, p.accent, 1.8, 2);
  }
}

} // namespace uopscope
