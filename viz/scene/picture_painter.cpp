// Levels of detail, by pixels per graph unit: below kTextScale only the operation's text is drawn; below
// kTitleScale no text, and lines are straight and not anti-aliased; below kDotScale boxes are at least two
// pixels, so that marks stay visible.
#include "viz/scene/picture_painter.h"

#include "viz/scene/picture_geometry.h"

#include <QFontMetricsF>
#include <QtMath>
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace uopscope {
namespace {

constexpr double kTextScale = 0.45, kTitleScale = 0.26, kDotScale = 0.1, kPortScale = 0.7;
// Most visible lines of one kind that are drawn smoothly, with round corners.
constexpr size_t kSmoothEdges = 150;

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

/// Where words below a box stand: a selection's frame reaches 7.5 units beyond the box.
constexpr double kBelow = 16;

/// A font with the measures needed to place texts, asked once per frame: measuring a text costs as much as
/// drawing it.
struct Face {
  QFont font;
  double ascent = 0, height = 0, advance = 0; ///< advance: width of a character of a monospaced font
  explicit Face(const QFont& f) : font(f) {
    const QFontMetricsF fm(font);
    ascent = fm.ascent(), height = fm.height();
    advance = fm.horizontalAdvance(QLatin1Char('0'));
  }
  /// Width of a text in a monospaced font.
  double width(const QString& text) const {
    const bool plain =
        std::all_of(text.begin(), text.end(), [](QChar c) { return c >= u' ' && c < u'\x7f'; });
    return plain ? advance * static_cast<double>(text.size()) : QFontMetricsF(font).horizontalAdvance(text);
  }
  QString elided(const QString& text, double width) const {
    return this->width(text) <= width ? text : QFontMetricsF(font).elidedText(text, Qt::ElideRight, width);
  }
  /// Draws one line in the middle of `height`, from a left edge. The painter has the font already.
  void draw(QPainter& painter, double left, double top, double lineHeight, const QString& text) const {
    painter.drawText(QPointF(left, top + (lineHeight - height) / 2 + ascent), text);
  }
};

struct Fonts {
  QFont badge;
  Face title, struckTitle, small;
  static QFont make(const QString& family, double px, bool bold, bool struck = false) {
    QFont f(family);
    f.setPixelSize(qRound(px));
    f.setBold(bold);
    f.setStrikeOut(struck);
    f.setHintingPreference(QFont::PreferNoHinting);
    return f;
  }
  explicit Fonts(const Palette& p)
      : badge(make(p.sans, 12, true)), title(make(p.sans, metrics::kTitle, true)),
        struckTitle(make(p.sans, metrics::kTitle, true, true)), small(make(p.mono, metrics::kSmall, false)) {}
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
  double y = r.top() + kTop + (n.was.empty() ? 0 : kWasLine);
  const bool small = o.scale >= kTextScale;

  const Face& title = ghost ? fonts.struckTitle : fonts.title;
  painter.setFont(title.font);
  painter.setPen(ghost ? p.textMuted : p.text);
  const QString dtype = small ? text(n.dtype) : QString();
  const double dtypeWidth = fonts.small.width(dtype);
  const double room = right - left - (dtypeWidth > 0 && !n.dtypeBelow ? dtypeWidth + 8 : 0) + 2;
  const QString op = text(n.op);
  // A box has room for the widest letters unless its width was cut; only then the name has to be measured.
  const bool fits = static_cast<double>(op.size()) * kTitle * kTitleAdvance <= room;
  title.draw(painter, left, y, kTitleLine,
             fits ? op : QFontMetricsF(title.font).elidedText(op, Qt::ElideRight, room));
  if (!small) return;
  painter.setFont(fonts.small.font);
  if (dtypeWidth > 0 && !n.dtypeBelow) {
    painter.setPen(p.textMuted);
    fonts.small.draw(painter, right - dtypeWidth, y + 0.5, kTitleLine, dtype);
  }
  y += kTitleLine;
  if (n.dtypeBelow) {
    painter.setPen(p.textMuted);
    fonts.small.draw(painter, left, y, kSmallLine, fonts.small.elided(dtype, right - left + 2));
    y += kSmallLine;
  }
  if (!n.detail.empty()) {
    painter.setPen(ghost ? p.textMuted : mix(p.text, p.textMuted, 0.35));
    fonts.small.draw(painter, left, y, kSmallLine, fonts.small.elided(text(n.detail), right - left + 2));
    y += kSmallLine;
  }
  double x = left;
  for (const FoldedSource& f : n.folded) {
    const QString port = QString::fromStdString(f.ports()), what = text(f.text);
    const double before = fonts.small.width(port) + fonts.small.advance;
    const double w = before + fonts.small.width(what) + 9;
    if (x + w > right + 4) {
      painter.setPen(p.textMuted);
      fonts.small.draw(painter, x, y, kSmallLine, QStringLiteral("…"));
      break;
    }
    const QRectF pill(x, y + 1.5, w, kSmallLine - 2);
    painter.setPen(Qt::NoPen);
    painter.setBrush(faded(p.text, p.dark ? 0.09 : 0.07));
    painter.drawRoundedRect(pill, 4, 4);
    painter.setPen(p.textFaint);
    fonts.small.draw(painter, x + 4, pill.top(), pill.height(), port);
    painter.setPen(ghost ? p.textMuted : mix(p.text, p.textMuted, 0.2));
    fonts.small.draw(painter, x + 4 + before, pill.top(), pill.height(), what);
    x += w + 4;
  }
}

// Draws the node that stood here before the step: a strip along the top of the box, struck through.
void drawWas(QPainter& painter, const Fonts& fonts, const PictureNode& n, const QRectF& r, const Palette& p) {
  const QRectF strip(r.left() + 1.5, r.top() + 1.5, r.width() - 3, metrics::kWasLine);
  painter.setPen(Qt::NoPen);
  painter.setBrush(mix(p.canvas, p.removed, 0.16));
  painter.drawRoundedRect(strip, 5, 5);
  painter.setPen(QPen(p.removed, 1.1, Qt::DashLine));
  painter.drawLine(strip.bottomLeft(), strip.bottomRight());
  QFont struck = fonts.small.font;
  struck.setStrikeOut(true);
  const double left = r.left() + metrics::kPadding + 3;
  painter.setPen(p.removed);
  painter.setFont(fonts.badge);
  painter.drawText(QRectF(left, strip.top() - 1, 10, strip.height()), Qt::AlignCenter,
                   QString(QChar(0x2212)));
  painter.setFont(struck);
  painter.setPen(mix(p.text, p.removed, 0.45));
  const QRectF words(left + 13, strip.top(), strip.right() - left - 15, strip.height());
  painter.drawText(words, Qt::AlignVCenter | Qt::AlignLeft,
                   QFontMetricsF(struck).elidedText(text(n.was), Qt::ElideRight, words.width()));
}

// Colour of a node's kind, and its text where colours do not stand for operations.
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

void drawNode(QPainter& painter, const Fonts& fonts, const PictureNode& n, size_t index,
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
  // Frames of marks keep their width on the screen: from afar nothing else of them is visible.
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
  if (n.members) { // a group: a second box behind the first
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
    const double was = n.was.empty() ? 0 : metrics::kWasLine;
    painter.drawRoundedRect(QRectF(r.left() + 4, r.top() + 6 + was, 3, r.height() - 12 - was), 1.5, 1.5);
  }
  if (!n.was.empty() && o.scale >= kTextScale) drawWas(painter, fonts, n, r, p);
  drawTexts(painter, fonts, n, r, o);
  if (o.scale < kTextScale) return;
  if (!tone.text.isEmpty() || n.pinned) {
    painter.setFont(fonts.small.font);
    painter.setPen(mix(p.text, family, 0.55));
    painter.drawText(QPointF(r.left() + 2, r.bottom() + kBelow),
                     (n.pinned ? QStringLiteral("\u2316 ") : QString()) + tone.text);
  }
  if (n.mark == Mark::Added) drawBadge(painter, fonts, r, QLatin1Char('+'), mark, p);
  if (ghost) drawBadge(painter, fonts, r, QChar(0x2212), mark, p);
  if (n.mark == Mark::Changed) drawBadge(painter, fonts, r.translated(-2, -2), QLatin1Char('~'), mark, p);
  if (n.hub) {
    painter.setFont(fonts.small.font);
    painter.setPen(p.textFaint);
    painter.drawText(QPointF(r.right() - 4 - 6.5 * static_cast<double>(QString::number(n.users).size()) - 8,
                             r.bottom() + kBelow),
                     QStringLiteral("×%1").arg(n.users));
  }
}

void drawHead(QPainter& painter, const Picture& picture, const PictureEdge& e, const QColor& arrow,
              const QRectF& view) {
  const QPointF tip = entryOf(picture, picture.nodes[e.to], e.port, e.ports);
  if (!view.isNull() && !view.contains(tip)) return;
  QPolygonF head;
  if (picture.leftToRight)
    head << tip << tip + QPointF(-6, -3) << tip + QPointF(-6, 3);
  else
    head << tip << tip + QPointF(-3, -6) << tip + QPointF(3, -6);
  painter.setPen(Qt::NoPen);
  painter.setBrush(arrow);
  painter.drawPolygon(head);
}

void drawEdge(QPainter& painter, const Picture& picture, const PictureEdge& e, const QPen& pen,
              const QColor& arrow, const QRectF& view) {
  painter.setPen(pen);
  painter.setBrush(Qt::NoBrush);
  painter.drawPath(edgePath(picture, e, view));
  drawHead(painter, picture, e, arrow, view);
}

// Adds the straight lines from corner to corner that may be visible.
void addStraight(std::vector<QLineF>& lines, const Picture& picture, const PictureEdge& e,
                 const QRectF& view) {
  thread_local std::vector<QPointF> corners;
  edgeCorners(picture, e, corners);
  for (size_t i = 1; i < corners.size(); ++i) {
    const QPointF &a = corners[i - 1], &b = corners[i];
    if (std::max(a.x(), b.x()) >= view.left() && std::min(a.x(), b.x()) <= view.right() &&
        std::max(a.y(), b.y()) >= view.top() && std::min(a.y(), b.y()) <= view.bottom())
      lines.emplace_back(a, b);
  }
}

// Edges share lanes and runs. Seen from afar, or where there are many, most of their lines coincide, so each
// line is drawn once, from pixel to pixel.
void drawMerged(QPainter& painter, std::vector<QLineF>& lines, const QRectF& view, double scale) {
  struct Stretch {
    bool down;
    int at;
    float low, high;
  };
  std::vector<Stretch> stretches;
  std::erase_if(lines, [&](const QLineF& l) {
    const bool down = l.x1() == l.x2();
    if (!down && l.y1() != l.y2()) return false;
    const double a = down ? l.y1() : l.x1(), b = down ? l.y2() : l.x2();
    const double first = down ? view.top() : view.left(), last = down ? view.bottom() : view.right();
    stretches.push_back({down, qRound((down ? l.x1() : l.y1()) * scale),
                         static_cast<float>(std::max(std::min(a, b), first)),
                         static_cast<float>(std::min(std::max(a, b), last))});
    return true;
  });
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
    return std::tie(a.down, a.at, a.low) < std::tie(b.down, b.at, b.low);
  });
  for (size_t i = 0; i < stretches.size();) {
    Stretch s = stretches[i++];
    for (; i < stretches.size() && stretches[i].down == s.down && stretches[i].at == s.at &&
           stretches[i].low <= s.high + 1 / scale;
         ++i)
      s.high = std::max(s.high, stretches[i].high);
    const double at = s.at / scale;
    lines.push_back(s.down ? QLineF(at, s.low, at, s.high) : QLineF(s.low, at, s.high, at));
  }
  painter.drawLines(lines.data(), static_cast<int>(lines.size()));
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

void paintPicture(QPainter& painter, const Picture& picture, const PaintOptions& o) {
  const Palette& p = o.palette;
  painter.setRenderHint(QPainter::Antialiasing, o.scale >= kTitleScale);
  const Fonts fonts(p);
  const double width = o.scale < kTitleScale ? 0 : 1.3;
  const QColor quiet = o.scale < kTitleScale ? mix(p.canvas, p.edge, 0.55) : p.edge;
  const QRectF view = o.view.adjusted(-8, -8, 8, 8);
  std::array<std::vector<const PictureEdge*>, 4> seen;
  std::vector<QLineF> lines;
  for (const PictureEdge& e : picture.edges)
    if (!e.quiet && o.view.intersects(edgeBox(picture, e))) seen[static_cast<size_t>(e.mark)].push_back(&e);
  for (Mark mark : {Mark::Same, Mark::Removed, Mark::Changed, Mark::Added}) {
    const auto& edges = seen[static_cast<size_t>(mark)];
    const QColor colour = markColour(p, mark, quiet);
    // So many lines are a texture: smooth edges would cost a frame with no visible gain.
    const bool many = edges.size() > kSmoothEdges;
    if (many) painter.setRenderHint(QPainter::Antialiasing, false);
    const QPen pen(colour,
                   many                 ? 0
                   : mark == Mark::Same ? width
                                        : width * 1.5,
                   mark == Mark::Removed ? Qt::DashLine : Qt::SolidLine);
    painter.setPen(pen);
    if (o.scale < kTitleScale || many) {
      lines.clear();
      for (const PictureEdge* e : edges) addStraight(lines, picture, *e, view);
      drawMerged(painter, lines, view, o.scale);
      painter.setRenderHint(QPainter::Antialiasing, o.scale >= kTitleScale);
      if (o.scale >= kTextScale)
        for (const PictureEdge* e : edges) drawHead(painter, picture, *e, colour, view);
    } else {
      for (const PictureEdge* e : edges) drawEdge(painter, picture, *e, pen, colour, view);
    }
    if (many) painter.setRenderHint(QPainter::Antialiasing, o.scale >= kTitleScale);
  }
  const QRectF near = o.view.adjusted(-20, -20, 20, 20);
  for (bool marked : {false, true})
    for (size_t i = 0; i < picture.nodes.size(); ++i) {
      const PictureNode& n = picture.nodes[i];
      if ((n.mark != Mark::Same) == marked && near.intersects(nodeRect(n))) drawNode(painter, fonts, n, i, o);
    }
  if (o.scale < kPortScale) return;
  painter.setFont(fonts.small.font);
  painter.setPen(p.textFaint);
  for (const PictureEdge& e : picture.edges) {
    const PictureNode& to = picture.nodes[e.to];
    const bool numbered = e.ports > 1 && e.port % portsPerNumber(picture, to, e.ports) == 0;
    if (e.quiet || (e.times < 2 && !numbered)) continue;
    // The port number of a removed edge would stand among those of present edges.
    if (e.mark == Mark::Removed && to.mark != Mark::Removed) continue;
    const QPointF tip = entryOf(picture, to, e.port, e.ports);
    if (!near.contains(tip)) continue;
    painter.drawText(tip + (picture.leftToRight ? QPointF(-14, -4) : QPointF(4, -3)),
                     e.times > 1 ? QStringLiteral("×%1").arg(e.times)
                                 : QString::number(e.number == UINT32_MAX ? e.port : e.number));
  }
}

void paintEmphasis(QPainter& painter, const Picture& picture, const Emphasis& em, const PaintOptions& o) {
  const Palette& p = o.palette;
  painter.setRenderHint(QPainter::Antialiasing, true);
  auto around = [&](int64_t id, const QColor& colour, double width, double space,
                    Qt::PenStyle style = Qt::SolidLine) {
    const PictureNode* n = picture.find(id);
    if (!n) return;
    const double s = std::max(1.0, 0.6 / o.scale);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, width * s, style));
    painter.drawRoundedRect(nodeRect(*n).adjusted(-space, -space, space, space), 8, 8);
  };
  auto neighbours = [&](int64_t id, double strength) {
    const auto it = picture.byId.find(id);
    if (it == picture.byId.end()) return;
    QPen pen(faded(p.accent, strength), std::max(2.0, 1.2 / o.scale));
    for (const PictureEdge& e : picture.edges) {
      if (e.from != it->second && e.to != it->second) continue;
      drawEdge(painter, picture, e, pen, faded(p.accent, strength), o.view.adjusted(-8, -8, 8, 8));
      around(picture.nodes[e.from == it->second ? e.to : e.from].id, faded(p.accent, strength * 0.8), 1.6,
             2.5);
    }
  };
  // A node that is written into its user's label has its note there; several notes stack.
  std::map<int64_t, int> below;
  auto reader = [&](int64_t id) -> const PictureNode* {
    const auto reads = [&](const PictureNode& n) {
      return n.mark != Mark::Removed &&
             std::ranges::any_of(n.folded, [&](const FoldedSource& f) { return f.id == id; });
    };
    for (const PictureNode& n : picture.nodes)
      if (em.notes.contains(n.id) && reads(n)) return &n;
    return nullptr;
  };
  for (const auto& [id, note] : em.notes) {
    const PictureNode* drawn = picture.find(id);
    const PictureNode* n = drawn ? drawn : reader(id);
    if (!n) continue;
    const bool bad = note.startsWith(QLatin1Char('!'));
    // A selection has a full line, so a node that fits the pattern has a dotted one.
    const QColor colour = bad ? p.error : p.added;
    if (drawn) around(id, colour, 2.2, 5, bad ? Qt::SolidLine : Qt::DotLine);
    const int line = drawn && !below.contains(n->id) ? 0 : ++below[n->id];
    if (note.size() < 2 || o.scale < kTitleScale) continue;
    QFont font(p.mono);
    font.setPixelSize(11);
    font.setBold(true);
    const QString text = (bad ? QStringLiteral("\u2717 ") : QStringLiteral("\u2713 ")) + note.mid(1);
    const double w = QFontMetricsF(font).horizontalAdvance(text) + 12;
    const QRectF tab(n->x + n->width / 2 + 9, n->y - 9 + 20.0 * line, w, 18);
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
