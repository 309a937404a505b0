// Two small pictures beside the canvas: MiniMap shows the whole graph with the visible part, DensityStrip the
// steps of a pass with their times.
#pragma once
#include "viz/models/graph/graph_source.h"
#include "viz/scene/theme.h"

#include <qqml.h>

#include <QImage>
#include <QPointer>
#include <QQuickPaintedItem>

namespace uopscope {

class MiniMap : public QQuickPaintedItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(uopscope::GraphSource* source READ source WRITE setSource NOTIFY changed)
  Q_PROPERTY(uopscope::Theme* theme READ theme WRITE setTheme NOTIFY changed)
  Q_PROPERTY(QRectF viewRect READ viewRect WRITE setViewRect NOTIFY changed)

public:
  using QQuickPaintedItem::QQuickPaintedItem;
  GraphSource* source() const { return source_; }
  void setSource(GraphSource* source);
  Theme* theme() const { return theme_; }
  void setTheme(Theme* theme);
  QRectF viewRect() const { return view_; }
  void setViewRect(const QRectF& view);
  /// The point of the graph under a point of this item.
  Q_INVOKABLE QPointF toGraph(qreal x, qreal y) const;
  /// The node drawn nearest to a point of this item; -1 if there is none.
  Q_INVOKABLE qlonglong nearest(qreal x, qreal y) const;
  void paint(QPainter* painter) override;

Q_SIGNALS:
  void changed();

private:
  /// The layout of the pass; for a step with a layout of its own, its map.
  const Picture* whole() const;
  QPair<double, QPointF> mapping() const;
  QPointer<GraphSource> source_;
  QPointer<Theme> theme_;
  QRectF view_;
  QImage graph_;
  bool stale_ = true;
};

/// Bars over the steps of a pass: the height is the time (log scale), the colour the step's rule.
class DensityStrip : public QQuickPaintedItem {
  Q_OBJECT
  QML_ELEMENT
  /// Time of each step in ns; for its colour a rule's number modulo 8.
  Q_PROPERTY(QList<qreal> times READ times WRITE setTimes NOTIFY changed)
  Q_PROPERTY(QList<int> rules READ rules WRITE setRules NOTIFY changed)
  Q_PROPERTY(int step READ step WRITE setStep NOTIFY changed)
  /// Steps with a mark above: a condition holds there.
  Q_PROPERTY(QList<int> hits READ hits WRITE setHits NOTIFY changed)
  Q_PROPERTY(uopscope::Theme* theme READ theme WRITE setTheme NOTIFY changed)

public:
  using QQuickPaintedItem::QQuickPaintedItem;
  QList<qreal> times() const { return times_; }
  void setTimes(const QList<qreal>& times);
  QList<int> rules() const { return rules_; }
  void setRules(const QList<int>& rules);
  int step() const { return step_; }
  void setStep(int step);
  QList<int> hits() const { return hits_; }
  void setHits(const QList<int>& hits);
  Theme* theme() const { return theme_; }
  void setTheme(Theme* theme);
  void paint(QPainter* painter) override;

Q_SIGNALS:
  void changed();

private:
  QList<int> hits_;
  QList<qreal> times_;
  QList<int> rules_;
  int step_ = 0;
  QPointer<Theme> theme_;
};

} // namespace uopscope
