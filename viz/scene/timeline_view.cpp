// Paints only spans in the visible interval; rows and labels scale with the text size.
#include "viz/scene/timeline_view.h"

#include "viz/models/work/reports.h"
#include "viz/scene/picture_file.h"

#include <QHoverEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace uopscope {
namespace {

constexpr double kLabelGap = 14, kMostLabels = 0.3; ///< of the view's width
constexpr double kLabels = 132, kRuler = 24, kRow = 20, kMemory = 120, kFoot = 40;

// The moment with as many digits as tell it from its neighbours on the ruler.
QString momentText(double ns, double tick) {
  struct Unit {
    double ns;
    const char* name;
  };
  constexpr Unit kUnits[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}};
  for (const Unit& unit : kUnits)
    if (ns >= unit.ns) {
      const int digits = std::max(0, static_cast<int>(std::ceil(std::log10(unit.ns / tick) - 1e-9)));
      return QStringLiteral("%1 %2").arg(ns / unit.ns, 0, 'f', digits).arg(QString::fromUtf8(unit.name));
    }
  return QStringLiteral("%1 ns").arg(ns, 0, 'f', 0);
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
  if (model_) {
    connect(model_, &TimelineModel::changed, this, &TimelineView::measureLabels);
    for (auto signal :
         {&TimelineModel::changed, &TimelineModel::viewChanged, &TimelineModel::selectionChanged})
      connect(model_, signal, this, [this] { update(); });
  }
  measureLabels();
  Q_EMIT changed();
}
void TimelineView::setTheme(Theme* theme) {
  theme_ = theme;
  if (theme_)
    connect(theme_, &Theme::changed, this, [this] {
      measureLabels();
      update();
    });
  measureLabels();
  Q_EMIT changed();
}

double TimelineView::row() const {
  return kRow * (theme_ ? theme_->textScale() : 1);
}
double TimelineView::labels() const {
  return std::max(kLabels * (theme_ ? theme_->textScale() : 1),
                  std::min(longestLabel_, width() * kMostLabels));
}
// Names of lanes tell where the work ran, so a long one gets its room.
void TimelineView::measureLabels() {
  longestLabel_ = 0;
  if (!theme_ || !model_ || !model_->data()) return;
  QFont font(theme_->colours().sans);
  font.setPixelSize(theme_->small());
  const QFontMetricsF fm(font);
  for (const std::string& lane : model_->data()->lanes)
    longestLabel_ = std::max(longestLabel_, fm.horizontalAdvance(QString::fromStdString(lane)) + kLabelGap);
}
double TimelineView::timeAt(double x) const {
  return model_->from() +
         (x - labels()) / std::max(1.0, width() - labels()) * (model_->to() - model_->from());
}
double TimelineView::xOf(double time) const {
  return labels() +
         (time - model_->from()) / std::max(1.0, model_->to() - model_->from()) * (width() - labels());
}
double TimelineView::memoryTop() const {
  return kRuler + static_cast<double>(model_->data()->lanes.size()) * row() + 12 + top_;
}
double TimelineView::leastTop() const {
  const double tall = memoryTop() - top_ + kMemory + kFoot;
  return std::min(0.0, height() - tall);
}

void TimelineView::paint(QPainter* painter) {
  if (!theme_ || !model_ || !model_->data()) return;
  const Palette& p = theme_->colours();
  const TimelineData& d = *model_->data();
  QFont font(p.sans);
  font.setPixelSize(theme_->small());
  painter->setFont(font);
  const QFontMetricsF fm(font);
  top_ = std::clamp(top_, leastTop(), 0.0);
  const double selectedFrom = xOf(model_->selectedFrom()), selectedTo = xOf(model_->selectedTo());
  if (selectedTo > selectedFrom) {
    QColor c = p.accent;
    c.setAlphaF(0.16f);
    painter->fillRect(QRectF(selectedFrom, 0, selectedTo - selectedFrom, height()), c);
  }
  // Ruler: about eight steps of 1, 2 or 5.
  const double wide = model_->to() - model_->from(), rough = wide / 8;
  const double power = std::pow(10, std::floor(std::log10(std::max(1.0, rough))));
  const double tick = rough / power < 2 ? 2 * power : rough / power < 5 ? 5 * power : 10 * power;
  const auto began = static_cast<double>(d.begin);
  const auto first = static_cast<int64_t>(std::ceil((model_->from() - began) / tick));
  const auto last = static_cast<int64_t>(std::floor((model_->to() - began) / tick));
  for (int64_t k = first; k <= last; ++k) {
    const double t = static_cast<double>(k) * tick;
    const double x = xOf(t + began);
    painter->setPen(p.grid);
    painter->drawLine(QPointF(x, kRuler), QPointF(x, height()));
    painter->setPen(p.textFaint);
    const QString at = momentText(t, tick);
    if (x + 3 + fm.horizontalAdvance(at) < width()) painter->drawText(QPointF(x + 3, kRuler - 8), at);
  }
  painter->setClipRect(QRectF(0, kRuler, width(), height() - kRuler));
  paintMemory(painter);
  paintSpans(painter);
  for (size_t lane = 0; lane < d.lanes.size(); ++lane) {
    if (d.lanes[lane].empty()) continue;
    painter->setPen(p.textMuted);
    painter->drawText(QRectF(4, kRuler + top_ + static_cast<double>(lane) * row(), labels() - 10, row()),
                      Qt::AlignVCenter | Qt::AlignLeft,
                      fm.elidedText(QString::fromStdString(d.lanes[lane]), Qt::ElideRight, labels() - 10));
  }
  if (!d.buffers.empty()) {
    painter->setPen(p.textMuted);
    painter->drawText(QRectF(4, memoryTop(), labels() - 10, row() * 2),
                      Qt::AlignTop | Qt::AlignLeft | Qt::TextWordWrap,
                      tr("memory, at most %1").arg(amount(d.peak)));
  }
  painter->setClipping(false);
}

void TimelineView::paintSpans(QPainter* painter) {
  const Palette& p = theme_->colours();
  const TimelineData& d = *model_->data();
  const QFontMetricsF fm(painter->font());
  std::vector<double> busyUntil(d.lanes.size(), -1);
  for (size_t i = 0; i < d.spans.size(); ++i) {
    const TimelineSpan& s = d.spans[i];
    const double left = std::max(labels(), xOf(static_cast<double>(s.begin))),
                 right = std::max(left + 1, xOf(static_cast<double>(s.end)));
    // A span under one pixel that lies on a drawn one is skipped: it would not be visible.
    if (xOf(static_cast<double>(s.end)) < labels() || left > width() || right <= busyUntil[s.lane]) continue;
    busyUntil[s.lane] = right;
    const QRectF r(left, kRuler + top_ + s.lane * row(), right - left, row() - 2);
    QColor c = p.tint[tintOf(s.kind)];
    c.setAlphaF(static_cast<int>(i) == hovered_ ? 0.85f : 0.5f);
    painter->fillRect(r, c);
    const QRectF text = r.intersected(QRectF(labels(), 0, width(), height())).adjusted(3, 0, -2, 0);
    if (text.width() < 26) continue;
    painter->setPen(p.text);
    painter->drawText(text, Qt::AlignVCenter | Qt::AlignLeft,
                      fm.elidedText(QString::fromStdString(s.name), Qt::ElideRight, text.width()));
  }
}

QRectF TimelineView::bufferRect(const TimelineData::Buffer& b) const {
  const double scale = kMemory / static_cast<double>(std::max<int64_t>(1, model_->data()->peak));
  const double left = std::max(labels(), xOf(static_cast<double>(b.begin))),
               right = std::max(left + 1, xOf(static_cast<double>(b.end)));
  const double tall = std::max(1.0, static_cast<double>(b.bytes) * scale);
  return {left, memoryTop() + kMemory - static_cast<double>(b.offset) * scale - tall, right - left, tall};
}

// Draws each buffer as a block of proportional height, and the sum as a line over all.
void TimelineView::paintMemory(QPainter* painter) {
  const TimelineData& d = *model_->data();
  if (d.buffers.empty() || d.peak <= 0) return;
  const Palette& p = theme_->colours();
  const std::vector<int64_t>& chosen = model_->buffers();
  for (size_t k = 0; k < d.buffers.size(); ++k) {
    const auto& b = d.buffers[k];
    if (xOf(static_cast<double>(b.end)) < labels() || xOf(static_cast<double>(b.begin)) > width()) continue;
    QColor c = p.tint[k % p.tint.size()];
    const bool own = std::binary_search(chosen.begin(), chosen.end(), b.id);
    c.setAlphaF(static_cast<int>(k) == hoveredBuffer_ || own ? 0.9f : chosen.empty() ? 0.45f : 0.2f);
    painter->fillRect(bufferRect(b), c);
  }
  painter->setPen(QPen(p.text, 1.2));
  QPolygonF line;
  double y = memoryTop() + kMemory;
  for (const auto& [at, bytes] : d.memory) {
    const double x = std::max(labels(), xOf(static_cast<double>(at)));
    line << QPointF(x, y);
    y = memoryTop() + kMemory -
        static_cast<double>(bytes) * kMemory / static_cast<double>(std::max<int64_t>(1, d.peak));
    line << QPointF(x, y);
  }
  painter->drawPolyline(line);
}

int TimelineView::spanAt(qreal x, qreal y) const {
  if (!model_ || !model_->data() || x < labels() || y < kRuler) return -1;
  const double row = std::floor((y - kRuler - top_) / this->row());
  const double slack = 2 / std::max(1.0, width()) * (model_->to() - model_->from()), at = timeAt(x);
  int best = -1;
  double shortest = 1e300;
  for (size_t i = 0; i < model_->data()->spans.size(); ++i) {
    const TimelineSpan& s = model_->data()->spans[i];
    const auto begin = static_cast<double>(s.begin), end = static_cast<double>(s.end);
    if (s.lane == row && at >= begin - slack && at <= end + slack && end - begin < shortest)
      best = static_cast<int>(i), shortest = end - begin;
  }
  return best;
}

int TimelineView::bufferAt(qreal x, qreal y) const {
  if (!model_ || !model_->data() || x < labels() || y < memoryTop()) return -1;
  const auto& buffers = model_->data()->buffers;
  for (size_t k = buffers.size(); k-- > 0;) // the last drawn block is on top
    if (bufferRect(buffers[k]).contains(x, y)) return static_cast<int>(k);
  return -1;
}

QString TimelineView::exportTo(const QString& path) {
  if (!theme_ || !model_ || !model_->data()) return tr("There is no timeline to export yet.");
  return savePainted(path, size(), theme_->colours().canvas, [this](QPainter& p) { paint(&p); });
}

void TimelineView::setHovered(int span, int buffer) {
  if (span == hovered_ && buffer == hoveredBuffer_) return;
  hovered_ = span;
  hoveredBuffer_ = buffer;
  Q_EMIT hoveredChanged();
  update();
}
void TimelineView::hoverMoveEvent(QHoverEvent* event) {
  const double x = event->position().x(), y = event->position().y();
  setHovered(spanAt(x, y), bufferAt(x, y));
}
void TimelineView::hoverLeaveEvent(QHoverEvent*) {
  setHovered(-1, -1);
}
void TimelineView::mousePressEvent(QMouseEvent* event) {
  forceActiveFocus(Qt::MouseFocusReason);
  pressedX_ = lastX_ = event->position().x();
  pressedY_ = lastY_ = event->position().y();
  selecting_ = event->modifiers() & Qt::ShiftModifier;
  moved_ = false;
  event->accept();
}
void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  if (!model_ || !model_->data()) return;
  const double x = event->position().x(), y = event->position().y();
  moved_ = moved_ || std::abs(x - pressedX_) > 4 || std::abs(y - pressedY_) > 4;
  if (selecting_) {
    model_->select(timeAt(pressedX_), timeAt(x));
  } else if (moved_) {
    const double by = (lastX_ - x) / std::max(1.0, width() - labels()) * (model_->to() - model_->from());
    top_ = std::clamp(top_ + y - lastY_, leastTop(), 0.0);
    model_->show(model_->from() + by, model_->to() + by);
    update();
  }
  lastX_ = x;
  lastY_ = y;
}
void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  if (moved_ || !model_ || !model_->data()) return;
  const double x = event->position().x(), y = event->position().y();
  if (const int buffer = bufferAt(x, y); buffer >= 0)
    model_->selectBuffer(buffer);
  else
    model_->selectSpan(spanAt(x, y));
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
