// Curves go one way along the ranks, which is what lets them be cut to the view.
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

} // namespace uopscope
