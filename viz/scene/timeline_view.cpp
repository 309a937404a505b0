#include "viz/scene/timeline_view.h"

#include "viz/models/reports.h"

#include <QHoverEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

constexpr double kLabels = 132, kRuler = 24, kMemory = 120;

size_t toneOf(const std::string& kind) {
  return kind == "kernel"     ? 2
         : kind == "schedule" ? 0
         : kind == "pass"     ? 6
         : kind == "phase"    ? 4
         : kind == "launch"   ? 1
                              : 7;
}

} // namespace

TimelineView::TimelineView(QQuickItem* parent) : QQuickPaintedItem(parent) {
  setActiveFocusOnTab(true);
  setAcceptHoverEvents(true);
  setAcceptedMouseButtons(Qt::LeftButton);
}

void TimelineView::setModel(TimelineModel* model) {
  if (model == model_) return;
  if (model_) model_->disconnect(this);
  model_ = model;
  if (model_)
    for (auto signal :
         {&TimelineModel::changed, &TimelineModel::viewChanged, &TimelineModel::selectionChanged})
      connect(model_, signal, this, [this] { update(); });
  Q_EMIT changed();
}
void TimelineView::setTheme(Theme* theme) {
  theme_ = theme;
  if (theme_) connect(theme_, &Theme::changed, this, [this] { update(); });
  Q_EMIT changed();
}

double TimelineView::row() const {
  return 20 * (theme_ ? theme_->textScale() : 1);
}
double TimelineView::timeAt(double x) const {
  return model_->from() + (x - kLabels) / std::max(1.0, width() - kLabels) * (model_->to() - model_->from());
}
double TimelineView::xOf(double time) const {
  return kLabels +
         (time - model_->from()) / std::max(1.0, model_->to() - model_->from()) * (width() - kLabels);
}

void TimelineView::paint(QPainter* painter) {
  if (!theme_ || !model_ || !model_->data()) return;
  const Palette& p = theme_->colours();
  const TimelineData& d = *model_->data();
  QFont font(p.sans);
  font.setPixelSize(theme_->small());
  painter->setFont(font);
  const QFontMetricsF fm(font);
  // Ruler: about eight steps of 1, 2 or 5.
  const double wide = model_->to() - model_->from(), rough = wide / 8;
  const double power = std::pow(10, std::floor(std::log10(std::max(1.0, rough))));
  const double tick = rough / power < 2 ? 2 * power : rough / power < 5 ? 5 * power : 10 * power;
  for (double t = std::ceil((model_->from() - static_cast<double>(d.begin)) / tick) * tick;
       t + static_cast<double>(d.begin) <= model_->to(); t += tick) {
    const double x = xOf(t + static_cast<double>(d.begin));
    painter->setPen(p.grid);
    painter->drawLine(QPointF(x, kRuler), QPointF(x, height()));
    painter->setPen(p.textFaint);
    const QString at = duration(static_cast<int64_t>(t));
    if (x + 3 + fm.horizontalAdvance(at) < width()) painter->drawText(QPointF(x + 3, kRuler - 8), at);
  }
  const double selectedFrom = xOf(model_->selectedFrom()), selectedTo = xOf(model_->selectedTo());
  if (model_->selectedTo() > model_->selectedFrom()) {
    QColor c = p.accent;
    c.setAlphaF(0.16f);
    painter->fillRect(QRectF(selectedFrom, 0, selectedTo - selectedFrom, height()), c);
  }
  painter->setClipRect(QRectF(kLabels, 0, width() - kLabels, height()));
  std::vector<double> busyUntil(d.lanes.size(), -1);
  for (size_t i = 0; i < d.spans.size(); ++i) {
    const TimelineSpan& s = d.spans[i];
    const double left = xOf(static_cast<double>(s.begin)),
                 right = std::max(left + 1, xOf(static_cast<double>(s.end)));
    // Spans under a pixel that stand where one has been drawn add nothing to see.
    if (right < kLabels || left > width() || right <= busyUntil[s.lane]) continue;
    busyUntil[s.lane] = right;
    const QRectF r(left, kRuler + s.lane * row(), right - left, row() - 2);
    QColor c = p.tint[toneOf(s.kind)];
    c.setAlphaF(static_cast<int>(i) == hovered_ ? 0.85f : 0.5f);
    painter->fillRect(r, c);
    const QRectF text = r.intersected(QRectF(kLabels, 0, width(), height())).adjusted(3, 0, -2, 0);
    if (text.width() < 26) continue;
    painter->setPen(p.text);
    painter->drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                      fm.elidedText(QString::fromStdString(s.name), Qt::ElideRight, text.width()));
  }
  const double top = kRuler + static_cast<double>(d.lanes.size()) * row() + 12;
  paintMemory(painter, top);
  painter->setClipping(false);
  for (size_t lane = 0; lane < d.lanes.size(); ++lane) {
    if (d.lanes[lane].empty()) continue;
    painter->setPen(p.textMuted);
    painter->drawText(QRectF(4, kRuler + static_cast<double>(lane) * row(), kLabels - 10, row()),
                      Qt::AlignVCenter | Qt::AlignLeft,
                      fm.elidedText(QString::fromStdString(d.lanes[lane]), Qt::ElideRight, kLabels - 10));
  }
  if (!d.buffers.empty()) {
    painter->setPen(p.textMuted);
    painter->drawText(QRectF(4, top, kLabels - 10, row() * 2),
                      Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
                      tr("memory, at most %1").arg(amount(d.peak)));
  }
}

// Each buffer a block as tall as it is large, and the sum as a line over all.
void TimelineView::paintMemory(QPainter* painter, double top) {
  const TimelineData& d = *model_->data();
  if (d.buffers.empty() || d.peak <= 0) return;
  const Palette& p = theme_->colours();
  const double scale = kMemory / static_cast<double>(d.peak);
  size_t k = 0;
  for (const auto& b : d.buffers) {
    const double left = xOf(static_cast<double>(b.begin)),
                 right = std::max(left + 1, xOf(static_cast<double>(b.end)));
    QColor c = p.tint[k++ % p.tint.size()];
    c.setAlphaF(0.45f);
    const double tall = std::max(1.0, static_cast<double>(b.bytes) * scale);
    if (right >= kLabels && left <= width())
      painter->fillRect(
          QRectF(left, top + kMemory - static_cast<double>(b.offset) * scale - tall, right - left, tall), c);
  }
  painter->setPen(QPen(p.text, 1.2));
  QPolygonF line;
  double y = top + kMemory;
  for (const auto& [at, bytes] : d.memory) {
    const double x = xOf(static_cast<double>(at));
    line << QPointF(x, y);
    y = top + kMemory - static_cast<double>(bytes) * scale;
    line << QPointF(x, y);
  }
  painter->drawPolyline(line);
}

int TimelineView::spanAt(qreal x, qreal y) const {
  if (!model_ || !model_->data() || x < kLabels || y < kRuler) return -1;
  const auto lane = static_cast<uint32_t>((y - kRuler) / row());
  const double slack = 2 / std::max(1.0, width()) * (model_->to() - model_->from()), at = timeAt(x);
  int best = -1;
  double shortest = 1e300;
  for (size_t i = 0; i < model_->data()->spans.size(); ++i) {
    const TimelineSpan& s = model_->data()->spans[i];
    const auto begin = static_cast<double>(s.begin), end = static_cast<double>(s.end);
    if (s.lane == lane && at >= begin - slack && at <= end + slack && end - begin < shortest)
      best = static_cast<int>(i), shortest = end - begin;
  }
  return best;
}

void TimelineView::hoverMoveEvent(QHoverEvent* event) {
  const int now = spanAt(event->position().x(), event->position().y());
  if (now == hovered_) return;
  hovered_ = now;
  Q_EMIT hoveredChanged();
  update();
}
void TimelineView::hoverLeaveEvent(QHoverEvent*) {
  hovered_ = -1;
  Q_EMIT hoveredChanged();
  update();
}
void TimelineView::mousePressEvent(QMouseEvent* event) {
  pressedX_ = lastX_ = event->position().x();
  selecting_ = event->modifiers() & Qt::ShiftModifier;
  moved_ = false;
  event->accept();
}
void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (!model_ || !model_->data()) return;
  const double x = event->position().x();
  moved_ = moved_ || std::abs(x - pressedX_) > 4;
  if (selecting_) {
    model_->select(timeAt(pressedX_), timeAt(x));
  } else if (moved_) {
    const double by = (lastX_ - x) / std::max(1.0, width() - kLabels) * (model_->to() - model_->from());
    model_->show(model_->from() + by, model_->to() + by);
  }
  lastX_ = x;
}
void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (moved_ || !model_ || !model_->data()) return;
  const int span = spanAt(event->position().x(), event->position().y());
  if (span < 0) return model_->select(0, 0);
  const TimelineSpan& s = model_->data()->spans[static_cast<size_t>(span)];
  model_->select(static_cast<double>(s.begin), static_cast<double>(s.end));
}
void TimelineView::mouseDoubleClickEvent(QMouseEvent* event) {
  if (model_) model_->follow(spanAt(event->position().x(), event->position().y()));
}
void TimelineView::wheelEvent(QWheelEvent* event) {
  if (!model_ || !model_->data()) return;
  const double at = timeAt(event->position().x()), s = std::pow(0.9985, event->angleDelta().y());
  model_->show(at - (at - model_->from()) * s, at + (model_->to() - at) * s);
  event->accept();
}

} // namespace uopscope
