// Mouse input of the canvas: a click selects, a drag pans, Shift and a drag move a node, the wheel zooms at
// the pointer, a double click goes to a node or shows the whole graph.
#include "viz/scene/graph_canvas.h"

#include <QCursor>
#include <QFocusEvent>
#include <QHoverEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <algorithm>
#include <cmath>

namespace uopscope {

void GraphCanvas::mousePressEvent(QMouseEvent* event) {
  pressedAt_ = lastAt_ = event->position();
  dragging_ = false;
  moving_ = -1;
  if (event->modifiers() & Qt::ShiftModifier && picture_)
    if (const int i = nodeAt(*picture_, toGraph(pressedAt_), 2 / scale_); i >= 0)
      moving_ = picture_->nodes[static_cast<size_t>(i)].id;
  glide_.stop();
  setEntered(false);
  forceActiveFocus(Qt::MouseFocusReason);
  event->accept();
}

void GraphCanvas::mouseMoveEvent(QMouseEvent* event) {
  if (!dragging_ && (event->position() - pressedAt_).manhattanLength() < 5) return;
  dragging_ = true;
  setCursor(Qt::ClosedHandCursor);
  if (moving_ >= 0) return;
  setView(scale_, offset_ + event->position() - lastAt_, false);
  lastAt_ = event->position();
}

void GraphCanvas::mouseReleaseEvent(QMouseEvent* event) {
  unsetCursor();
  if (dragging_ && moving_ >= 0) {
    const QPointF to = toGraph(event->position());
    Q_EMIT nodeMoved(moving_, to.x(), to.y());
    moving_ = -1;
    return;
  }
  if (dragging_ || !picture_) return;
  const int i = nodeAt(*picture_, toGraph(event->position()), 2 / scale_);
  if (i >= 0)
    Q_EMIT nodeClicked(picture_->nodes[static_cast<size_t>(i)].id);
  else
    Q_EMIT backgroundClicked();
}

void GraphCanvas::mouseDoubleClickEvent(QMouseEvent* event) {
  if (!picture_) return;
  const int i = nodeAt(*picture_, toGraph(event->position()), 2 / scale_);
  if (i >= 0) {
    const int64_t id = picture_->nodes[static_cast<size_t>(i)].id;
    focusNode(id);
    Q_EMIT nodeDoubleClicked(id);
  } else {
    fit();
  }
}

void GraphCanvas::setHovered(qlonglong id) {
  if (id == hovered_) return;
  hovered_ = id;
  overlayDirty_ = true;
  Q_EMIT hoveredChanged();
  redraw();
}

void GraphCanvas::hoverMoveEvent(QHoverEvent* event) {
  if (!picture_) return;
  const int i = nodeAt(*picture_, toGraph(event->position()), 1 / scale_);
  setHovered(i >= 0 ? picture_->nodes[static_cast<size_t>(i)].id : -1);
}

void GraphCanvas::hoverLeaveEvent(QHoverEvent*) {
  setHovered(-1);
}

void GraphCanvas::setEntered(bool on) {
  if (on == entered_) return;
  entered_ = on;
  Q_EMIT enteredChanged();
}
void GraphCanvas::focusInEvent(QFocusEvent* event) {
  setEntered(event->reason() == Qt::TabFocusReason || event->reason() == Qt::BacktabFocusReason);
}
void GraphCanvas::focusOutEvent(QFocusEvent*) {
  setEntered(false);
}

void GraphCanvas::wheelEvent(QWheelEvent* event) {
  glide_.stop();
  if (event->modifiers() & Qt::ShiftModifier) {
    panBy(event->angleDelta().y() / 2.0, 0);
  } else {
    const double s = std::clamp(scale_ * std::pow(1.0016, event->angleDelta().y()), kMinScale, kMaxScale);
    setView(s, event->position() - (event->position() - offset_) * (s / scale_), false);
  }
  event->accept();
}

} // namespace uopscope
