// Draws the timeline: the wheel zooms at the pointer, a drag pans, a Shift-drag selects an interval, a click
// selects a span, a double click goes to it.
#pragma once
#include "viz/models/numbers/timeline.h"
#include "viz/scene/theme.h"

#include <qqml.h>

#include <QPointer>
#include <QQuickPaintedItem>

namespace uopscope {

class TimelineView : public QQuickPaintedItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(uopscope::TimelineModel* model READ model WRITE setModel NOTIFY changed)
  Q_PROPERTY(uopscope::Theme* theme READ theme WRITE setTheme NOTIFY changed)
  /// Span or buffer under the pointer; -1: none.
  Q_PROPERTY(int hovered READ hovered NOTIFY hoveredChanged)
  Q_PROPERTY(int hoveredBuffer READ hoveredBuffer NOTIFY hoveredChanged)

public:
  explicit TimelineView(QQuickItem* parent = nullptr);
  TimelineModel* model() const { return model_; }
  void setModel(TimelineModel* model);
  Theme* theme() const { return theme_; }
  void setTheme(Theme* theme);
  int hovered() const { return hovered_; }
  int hoveredBuffer() const { return hoveredBuffer_; }
  void paint(QPainter* painter) override;
  Q_INVOKABLE int spanAt(qreal x, qreal y) const;
  Q_INVOKABLE int bufferAt(qreal x, qreal y) const;
  /// Writes the visible part as .svg or .png. Returns an error text, empty on success.
  Q_INVOKABLE QString exportTo(const QString& path);

Q_SIGNALS:
  void changed();
  void hoveredChanged();

protected:
  void hoverEnterEvent(QHoverEvent* event) override { hoverMoveEvent(event); }
  void hoverMoveEvent(QHoverEvent* event) override;
  void hoverLeaveEvent(QHoverEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

private:
  double row() const;
  double timeAt(double x) const;
  double xOf(double time) const;
  double labels() const;
  void measureLabels();
  /// Top of the memory chart; with many lanes it lies below the view until a person drags it up.
  double memoryTop() const;
  double leastTop() const;
  QRectF bufferRect(const TimelineData::Buffer& buffer) const;
  void setHovered(int span, int buffer);
  void paintSpans(QPainter* painter);
  void paintMemory(QPainter* painter);
  QPointer<TimelineModel> model_;
  QPointer<Theme> theme_;
  int hovered_ = -1, hoveredBuffer_ = -1;
  double pressedX_ = 0, lastX_ = 0, pressedY_ = 0, lastY_ = 0;
  double longestLabel_ = 0; ///< pixels that the longest name of a lane takes
  double top_ = 0;          ///< 0, or less where lanes are dragged up
  bool selecting_ = false, moved_ = false;
};

} // namespace uopscope
