// Edges with a layout run at right angles (Layout::bends), or along its curves (Layout::curved). All others are curves
// that are monotonous along the ranks, so they can be cut to the view.
#include "viz/scene/picture_geometry.h"

#include "viz/scene/picture_painter.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace uopscope {

QPointF exitOf(const Picture& p, const PictureNode& n) {
  return p.leftToRight ? QPointF(n.x + n.width / 2, n.y) : QPointF(n.x, n.y + n.height / 2);
}
double portsReach(const Picture& p, const PictureNode& n, uint32_t ports) {
  if (ports < 2) return 0;
  return p.leftToRight ? n.height * 0.55 : std::min<double>(n.width - 20, 26.0 * (ports - 1));
}
QPointF entryOf(const Picture& p, const PictureNode& n, uint32_t port, uint32_t ports) {
  const double at = ports < 2 ? 0 : (static_cast<double>(port) / (ports - 1) - 0.5);
  const double away = at * portsReach(p, n, ports);
  return p.leftToRight ? QPointF(n.x - n.width / 2, n.y + away) : QPointF(n.x + away, n.y - n.height / 2);
}
uint32_t portsPerNumber(const Picture& p, const PictureNode& n, uint32_t ports) {
  if (ports < 2) return 1;
  const double apart = portsReach(p, n, ports) / (ports - 1), digits = p.leftToRight ? 12
                                                                       : ports > 10  ? 18
                                                                                     : 11;
  return std::max(1u, static_cast<uint32_t>(std::ceil(digits / std::max(apart, 0.1))));
}

QRectF nodeRect(const PictureNode& n) {
  return {n.x - n.width / 2, n.y - n.height / 2, n.width, n.height};
}

namespace {

QPointF between(const QPointF& a, const QPointF& b, double t) {
  return a + (b - a) * t;
}

// Control points of a piece of a curve, without its beginning.
constexpr size_t kPerPiece = 3;
// Radius of the corners of edges, and the distance below which two points are one.
constexpr double kCorner = 6, kSamePlace = 0.3;

// Cuts a curve to the part within the view along the ranks, where the curve is much longer than that: the
// stroke of a line over a whole large graph costs a frame. A curve is monotonous along the ranks, so
// bisection finds its ends.
void cutToView(std::array<QPointF, 4>& curve, bool leftToRight, const QRectF& view) {
  auto along = [&](const QPointF& p) { return leftToRight ? p.x() : p.y(); };
  double low = leftToRight ? view.left() : view.top(), high = leftToRight ? view.right() : view.bottom();
  const double begin = along(curve[0]), end = along(curve[3]);
  if (std::abs(end - begin) < 2 * (high - low)) return;
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
}

} // namespace

void edgeCorners(const Picture& picture, const PictureEdge& e, std::vector<QPointF>& out) {
  out.clear();
  const bool lr = picture.leftToRight;
  QPointF at = exitOf(picture, picture.nodes[e.from]);
  const QPointF tip = entryOf(picture, picture.nodes[e.to], e.port, e.ports);
  out.push_back(at);
  auto add = [&](QPointF next) {
    if ((next - out.back()).manhattanLength() < kSamePlace) return;
    const size_t n = out.size();
    auto along = [&](const QPointF& a, const QPointF& b) { return a.x() == b.x() || a.y() == b.y(); };
    // Three points in a row are one line.
    if (n > 1 && along(out[n - 2], next) && along(out[n - 2], out[n - 1]) && along(out[n - 1], next) &&
        QPointF::dotProduct(out[n - 1] - out[n - 2], next - out[n - 1]) > 0)
      out.back() = next;
    else
      out.push_back(next);
  };
  if (picture.curved) { // the ends of the pieces of the curve
    for (size_t i = kPerPiece; i + kPerPiece < e.bends.size(); i += kPerPiece)
      out.emplace_back(e.bends[i].x, e.bends[i].y);
    out.push_back(tip);
    return;
  }
  for (size_t i = 0; i < e.bends.size(); ++i) {
    const QPointF bend(e.bends[i].x, e.bends[i].y);
    const QPointF next = i + 1 == e.bends.size() ? tip : bend;
    at = lr ? QPointF(bend.x(), at.y()) : QPointF(at.x(), bend.y());
    add(at);
    at = lr ? QPointF(at.x(), next.y()) : QPointF(next.x(), at.y());
    add(at);
  }
  out.push_back(tip);
}

namespace {

// The curve of Graphviz, from our place of departure to our place of arrival: its ends are bent there, the rest stays.
QPainterPath curvedPath(const Picture& picture, const PictureEdge& e) {
  std::vector<QPointF> at;
  for (const LayoutPoint& p : e.bends) at.emplace_back(p.x, p.y);
  const QPointF first = exitOf(picture, picture.nodes[e.from]) - at.front(),
                last = entryOf(picture, picture.nodes[e.to], e.port, e.ports) - at.back();
  for (size_t i : {size_t{0}, size_t{1}}) at[i] += first;
  for (size_t i : {at.size() - 2, at.size() - 1}) at[i] += last;
  QPainterPath path(at.front());
  for (size_t i = 1; i + 2 < at.size(); i += kPerPiece) path.cubicTo(at[i], at[i + 1], at[i + 2]);
  return path;
}

QPainterPath corneredPath(const Picture& picture, const PictureEdge& e, const QRectF& view) {
  thread_local std::vector<QPointF> at;
  edgeCorners(picture, e, at);
  QPainterPath path;
  const QRectF seen =
      view.isNull() ? QRectF() : view.adjusted(-2 * kCorner, -2 * kCorner, 2 * kCorner, 2 * kCorner);
  bool drawn = false;
  QPointF from = at.front();
  for (size_t i = 1; i < at.size(); ++i) {
    const QPointF corner = at[i];
    QPointF to = corner, on = corner;
    if (i + 1 < at.size()) {
      const QPointF in = corner - at[i - 1], off = at[i + 1] - corner;
      const double a = std::hypot(in.x(), in.y()), b = std::hypot(off.x(), off.y());
      const double r = std::min({kCorner, a / 2, b / 2});
      to = corner - in * (r / a);
      on = corner + off * (r / b);
    }
    QPointF first = from, last = to;
    from = on;
    if (!seen.isNull()) {
      if (std::max(first.x(), last.x()) < seen.left() || std::min(first.x(), last.x()) > seen.right() ||
          std::max(first.y(), last.y()) < seen.top() || std::min(first.y(), last.y()) > seen.bottom()) {
        drawn = false;
        continue;
      }
      if (first.x() == last.x() || first.y() == last.y()) // distant parts would only cost time
        for (QPointF* end : {&first, &last}) {
          end->setX(std::clamp(end->x(), seen.left(), seen.right()));
          end->setY(std::clamp(end->y(), seen.top(), seen.bottom()));
        }
    }
    if (!drawn) path.moveTo(first);
    path.lineTo(last);
    drawn = last == to;
    if (drawn && on != to) path.quadTo(corner, on);
  }
  return path;
}

} // namespace

QPainterPath edgePath(const Picture& picture, const PictureEdge& e, const QRectF& view) {
  if (picture.curved && e.bends.size() > kPerPiece) return curvedPath(picture, e);
  if (!e.bends.empty()) return corneredPath(picture, e, view);
  const QPointF from = exitOf(picture, picture.nodes[e.from]),
                to = entryOf(picture, picture.nodes[e.to], e.port, e.ports);
  QPainterPath path;
  // A curve lies within the box of its ends.
  if (!view.isNull() &&
      (std::max(from.x(), to.x()) < view.left() || std::min(from.x(), to.x()) > view.right() ||
       std::max(from.y(), to.y()) < view.top() || std::min(from.y(), to.y()) > view.bottom()))
    return path;
  std::array<QPointF, 4> curve{from, from, to, to};
  if (picture.leftToRight)
    curve[1].rx() = curve[2].rx() = (from.x() + to.x()) / 2;
  else
    curve[1].ry() = curve[2].ry() = (from.y() + to.y()) / 2;
  if (!view.isNull()) cutToView(curve, picture.leftToRight, view);
  path.moveTo(curve[0]);
  path.cubicTo(curve[1], curve[2], curve[3]);
  return path;
}

QRectF changedRect(const Picture& picture) {
  QRectF r;
  // Added and removed nodes mark the place of the step; rebuilt users reach all the way to the sink.
  for (const PictureNode& n : picture.nodes)
    if (n.mark == Mark::Added || n.mark == Mark::Removed) r |= nodeRect(n);
  if (r.isNull())
    for (const PictureNode& n : picture.nodes)
      if (n.mark == Mark::Changed) r |= nodeRect(n);
  return r;
}

QRectF besideChange(const Picture& picture) {
  QRectF r;
  auto central = [](const PictureNode& n) { return n.mark == Mark::Added || n.mark == Mark::Removed; };
  for (const PictureEdge& e : picture.edges) {
    const PictureNode &from = picture.nodes[e.from], &to = picture.nodes[e.to];
    if (!e.quiet && central(from) != central(to)) r |= nodeRect(central(from) ? to : from);
  }
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

} // namespace uopscope
