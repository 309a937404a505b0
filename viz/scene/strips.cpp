// Both items are drawn in full only when their data changes; a moved view or step costs one rectangle.
#include "viz/scene/strips.h"

#include "viz/scene/picture_painter.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

constexpr double kMaxBar = 22;

} // namespace

void MiniMap::setSource(GraphSource* source) {
  if (source == source_) return;
  if (source_) source_->disconnect(this);
  source_ = source;
  if (source_)
    connect(source_, &GraphSource::pictureChanged, this, [this] {
      stale_ = true;
      update();
    });
  stale_ = true;
  Q_EMIT changed();
  update();
}

void MiniMap::setTheme(Theme* theme) {
  theme_ = theme;
  if (theme_)
    connect(theme_, &Theme::changed, this, [this] {
      stale_ = true;
      update();
    });
  Q_EMIT changed();
}

void MiniMap::setViewRect(const QRectF& view) {
  if (view == view_) return;
  view_ = view;
  Q_EMIT changed();
  update();
}

const Picture* MiniMap::whole() const {
  if (!source_ || !source_->picture()) return nullptr;
  const Picture& p = *source_->picture();
  return p.map ? p.map.get() : &p;
}

QPair<double, QPointF> MiniMap::mapping() const {
  const QRectF b = whole() ? boundsOf(*whole()) : QRectF(0, 0, 1, 1);
  const double s =
      std::min((width() - 10) / std::max(1.0, b.width()), (height() - 10) / std::max(1.0, b.height()));
  return {s, QPointF(width() / 2, height() / 2) - b.center() * s};
}

QPointF MiniMap::toGraph(qreal x, qreal y) const {
  const auto [s, offset] = mapping();
  return (QPointF(x, y) - offset) / s;
}

qlonglong MiniMap::nearest(qreal x, qreal y) const {
  const QPointF at = toGraph(x, y);
  qlonglong best = -1;
  double away = 0;
  if (whole())
    for (const PictureNode& n : whole()->nodes)
      if (const double d = (QPointF(n.x, n.y) - at).manhattanLength(); best < 0 || d < away)
        best = n.id, away = d;
  return best;
}

void MiniMap::paint(QPainter* painter) {
  if (!source_ || !source_->picture() || !theme_) return;
  const auto [s, offset] = mapping();
  const QSize size = (QSizeF(width(), height()) * 2).toSize();
  if (stale_ || graph_.size() != size) {
    stale_ = false;
    graph_ = QImage(size, QImage::Format_ARGB32_Premultiplied);
    graph_.fill(Qt::transparent);
    QPainter p(&graph_);
    p.scale(2, 2);
    const Palette& c = theme_->colours();
    const double least = 1;
    for (bool marked : {false, true})
      for (const PictureNode& n : whole()->nodes) {
        if ((n.mark != Mark::Same) != marked) continue;
        QColor colour = c.family[static_cast<size_t>(n.family)];
        if (n.mark == Mark::Added) colour = c.added;
        if (n.mark == Mark::Removed) colour = c.removed;
        if (n.mark == Mark::Changed) colour = c.changed;
        // Nodes that the picture leaves out are paler.
        if (source_->picture()->map && n.mark == Mark::Same && !source_->picture()->find(n.id))
          colour.setAlphaF(0.4f);
        const QRectF r = nodeRect(n);
        p.fillRect(QRectF(r.topLeft() * s + offset,
                          QSizeF(std::max(least, r.width() * s), std::max(least, r.height() * s))),
                   colour);
      }
  }
  painter->drawImage(QRectF(0, 0, width(), height()), graph_);
  painter->setRenderHint(QPainter::Antialiasing);
  QColor veil = theme_->accent();
  veil.setAlphaF(0.12f);
  painter->setBrush(veil);
  painter->setPen(QPen(theme_->accent(), 1.2));
  const Picture& shown = *source_->picture();
  const QRectF view = !shown.map ? view_
                                 : QRectF(QPointF(shown.mapView.left, shown.mapView.top),
                                          QPointF(shown.mapView.right, shown.mapView.bottom));
  QRectF v(view.topLeft() * s + offset, view.size() * s);
  painter->drawRoundedRect(v.intersected(QRectF(1, 1, width() - 2, height() - 2)), 2, 2);
}

void DensityStrip::setTimes(const QList<qreal>& times) {
  times_ = times;
  Q_EMIT changed();
  update();
}
void DensityStrip::setRules(const QList<int>& rules) {
  rules_ = rules;
  Q_EMIT changed();
  update();
}
void DensityStrip::setStep(int step) {
  if (step == step_) return;
  step_ = step;
  Q_EMIT changed();
  update();
}
void DensityStrip::setHits(const QList<int>& hits) {
  hits_ = hits;
  Q_EMIT changed();
  update();
}
void DensityStrip::setTheme(Theme* theme) {
  theme_ = theme;
  if (theme_) connect(theme_, &Theme::changed, this, [this] { update(); });
  Q_EMIT changed();
}

void DensityStrip::paint(QPainter* painter) {
  if (!theme_ || times_.isEmpty() || width() < 2) return;
  static constexpr int kHues[] = {3, 6, 5, 1,
                                  4, 7, 2, 8}; // families of the palette, told apart by position too
  const double n = static_cast<double>(times_.size());
  const int bins = static_cast<int>(std::min(n, std::floor(width() / 2)));
  const double w = width() / bins;
  for (int b = 0; b < bins; ++b) {
    const auto from = static_cast<qsizetype>(b * n / bins),
               to = std::max(from + 1, static_cast<qsizetype>((b + 1) * n / bins));
    double sum = 0, most = -1;
    qsizetype top = from;
    for (qsizetype i = from; i < to && i < times_.size(); ++i) {
      sum += times_[i];
      if (times_[i] > most) most = times_[i], top = i;
    }
    const double tall = std::clamp(std::log10(1 + sum / 100) / 5, 0.12, 1.0) * (height() - 2);
    const int rule = top < rules_.size() ? rules_[top] : 0;
    QColor colour = theme_->colours().family[static_cast<size_t>(kHues[rule & 7])];
    if (to <= step_)
      colour.setAlphaF(0.95f);
    else
      colour.setAlphaF(0.38f);
    // The bar of a finished step ends at the slider.
    const double wide = std::clamp(w - (w > 4 ? 1 : 0), 1.0, kMaxBar);
    painter->fillRect(QRectF((b + 1) * w - wide, height() - tall, wide, tall), colour);
  }
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(Qt::NoPen);
  painter->setBrush(theme_->colours().warning);
  for (const int k : hits_) {
    const double x = k / n * width();
    painter->drawPolygon(QPolygonF({{x - 4, 0}, {x + 4, 0}, {x, 6}}));
  }
}

} // namespace uopscope
