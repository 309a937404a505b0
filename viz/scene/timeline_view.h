// The timeline drawn: wheel zooms at the pointer, drag pans, Shift-drag selects a stretch, a click selects a
// span, a double click goes to it.
#pragma once
#include "viz/models/timeline.h"
#include "viz/scene/theme.h"

#include <QPointer>
#include <QQuickPaintedItem>

namespace uopscope {

class TimelineView : public QQuickPaintedItem {
  Q_OBJECT
  Q_PROPERTY(uopscope::TimelineModel* model READ model WRITE setModel NOTIFY changed)
  Q_PROPERTY(uopscope::Theme* theme READ theme WRITE setTheme NOTIFY changed)
  Q_PROPERTY(int hovered READ hovered NOTIFY hoveredChanged)

public:
  explicit TimelineView(QQuickItem* parent = nullptr);
  TimelineModel* model() const { return model_; }
  void setModel(TimelineModel* model);
  Theme* theme() const { return theme_; }
  void setTheme(Theme* theme);
  int hovered() const { return hovered_; }
  void paint(QPainter* painter) override;
  Q_INVOKABLE int spanAt(qreal x, qreal y) const;

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
  void paintMemory(QPainter* painter, double top);
  QPointer<TimelineModel> model_;
  QPointer<Theme> theme_;
  int hovered_ = -1;
  double pressedX_ = 0, lastX_ = 0;
  bool selecting_ = false, moved_ = false;
};

} // namespace uopscope
