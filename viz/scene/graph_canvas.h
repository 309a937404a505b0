// The graph canvas: one QQuickItem for the whole graph. QPainter draws the visible part into an image, for
// small graphs at once and for large ones on a worker thread. The scene graph shows that image, moved and
// scaled by the current view. Pan and zoom therefore never wait for drawing, whatever the size. The canvas
// works the same on a GPU and with the software renderer of headless machines.
//
//   GraphCanvas { source: session.graph; onNodeClicked: (id) => session.node = id }
#pragma once
#include "viz/models/graph/graph_source.h"
#include "viz/scene/picture_painter.h"

#include <qqml.h>

#include <QImage>
#include <QPointer>
#include <QQuickItem>
#include <QThreadPool>
#include <QVariantAnimation>

namespace uopscope {

class GraphCanvas : public QQuickItem {
  Q_OBJECT
  QML_ELEMENT
  Q_PROPERTY(uopscope::GraphSource* source READ source WRITE setSource NOTIFY sourceChanged)
  Q_PROPERTY(uopscope::Theme* theme READ theme WRITE setTheme NOTIFY themeChanged)
  Q_PROPERTY(qreal zoom READ zoom NOTIFY viewChanged)
  Q_PROPERTY(QRectF viewRect READ viewRect NOTIFY viewChanged)
  Q_PROPERTY(QRectF bounds READ bounds NOTIFY boundsChanged)
  /// Of the layout that steps share, at actual size.
  Q_PROPERTY(QSizeF whole READ whole NOTIFY boundsChanged)
  Q_PROPERTY(qlonglong hovered READ hovered NOTIFY hoveredChanged)
  Q_PROPERTY(bool follow READ follow WRITE setFollow NOTIFY followChanged)
  /// Whether Tab brought the keyboard here: a frame shows it.
  Q_PROPERTY(bool entered READ entered NOTIFY enteredChanged)
  /// Whether all requested data is on the screen; screenshots wait for it.
  Q_PROPERTY(bool settled READ settled NOTIFY settledChanged)

public:
  explicit GraphCanvas(QQuickItem* parent = nullptr);

  GraphSource* source() const { return source_; }
  void setSource(GraphSource* source);
  Theme* theme() const { return theme_; }
  void setTheme(Theme* theme);
  qreal zoom() const { return scale_; }
  QRectF viewRect() const; ///< what is visible, in graph units
  QRectF bounds() const { return bounds_; }
  QSizeF whole() const { return picture_ ? QSizeF(picture_->width, picture_->height) : QSizeF(); }
  qlonglong hovered() const { return hovered_; }
  bool follow() const { return follow_; }
  void setFollow(bool on);
  bool entered() const { return entered_; }
  bool settled() const;

  Q_INVOKABLE void fit();
  /// Brings the step's change into view at a readable size.
  Q_INVOKABLE void showChange();
  Q_INVOKABLE void focusNode(qlonglong id);
  Q_INVOKABLE void zoomBy(qreal factor);
  Q_INVOKABLE void panBy(qreal dx, qreal dy);
  Q_INVOKABLE void lookAtPoint(qreal x, qreal y);
  Q_INVOKABLE void resetZoom();
  /// Writes the whole graph as .svg or .png. Returns an error text, empty on success.
  Q_INVOKABLE QString exportTo(const QString& path) const;
  /// The place of a node, in item coordinates; for tests and tooltips.
  Q_INVOKABLE QRectF nodeOnScreen(qlonglong id) const;
  /// The neighbour that an arrow key leads to: "source", "user", "left" or "right"; -1 if there is none.
  Q_INVOKABLE qlonglong neighbour(qlonglong id, const QString& where) const;

Q_SIGNALS:
  void sourceChanged();
  void themeChanged();
  void viewChanged();
  void boundsChanged();
  void hoveredChanged();
  void followChanged();
  void settledChanged();
  void enteredChanged();
  void nodeClicked(qlonglong id);
  void nodeDoubleClicked(qlonglong id);
  /// A node was dragged with Shift held and is to stay there.
  void nodeMoved(qlonglong id, qreal x, qreal y);
  void backgroundClicked();

protected:
  QSGNode* updatePaintNode(QSGNode* old, UpdatePaintNodeData* data) override;
  void updatePolish() override;
  void geometryChange(const QRectF& now, const QRectF& before) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void hoverEnterEvent(QHoverEvent* event) override { hoverMoveEvent(event); }
  void hoverMoveEvent(QHoverEvent* event) override;
  void hoverLeaveEvent(QHoverEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void itemChange(ItemChange change, const ItemChangeData& data) override;

private:
  static constexpr double kMinScale = 0.01, kMaxScale = 4;
  /// A drawing of a part of the graph at a scale.
  struct Frame {
    QImage image;
    QRectF area; ///< in graph units
    double scale = 0;
  };
  void onPicture();
  void moveFrom(const Picture& before, double scale, QPointF offset);
  PicturePtr moving() const;
  void showRoot();
  void setView(double scale, QPointF offset, bool animate);
  void redraw();
  void show(Frame frame, PicturePtr picture);
  void drawBase();
  void drawOverlay();
  QRectF toScreen(const QRectF& graph) const {
    return {graph.topLeft() * scale_ + offset_, graph.size() * scale_};
  }
  QPointF toGraph(QPointF screen) const { return (screen - offset_) / scale_; }
  QPointF middle() const; ///< of the part that nothing floats over
  QPointF inside(double scale, QPointF offset) const;
  double larger() const; ///< of a presentation
  void resized(const QSizeF& before);
  bool cheap(const QRectF& area) const;
  static Frame draw(const Picture& picture, const Palette& palette, const TintingPtr& tinting,
                    const QRectF& area, double scale, double dpr);
  void setHovered(qlonglong id);
  void setEntered(bool on);

  QPointer<GraphSource> source_;
  QPointer<Theme> theme_;
  PicturePtr picture_;
  QRectF bounds_;
  double scale_ = 1;
  QPointF offset_;
  bool follow_ = true, fitted_ = false;
  int64_t shownPass_ = -2, anchor_ = -1;
  bool shownAlone_ = false; ///< the picture is of a step with a layout of its own
  uint64_t shownLayout_ = 0;
  qlonglong hovered_ = -1;
  QPointF pressedAt_, lastAt_;
  bool dragging_ = false, entered_ = false;
  QSizeF sizeBefore_; ///< the canvas has another size by now, which it has not answered yet
  qlonglong moving_ = -1;

  Frame base_, overlay_;
  Frame before_;     ///< the frame before the step, while the step's additions fade in
  PicturePtr drawn_; ///< the picture of base_
  QVariantAnimation fade_;
  QVariantAnimation move_;                     ///< moves nodes from one layout to the next
  std::unordered_map<int64_t, QPointF> moved_; ///< by node: its old place, in units of the present graph
  bool baseDirty_ = true, overlayDirty_ = true, newTextures_ = false;
  bool drawing_ = false; ///< a worker draws
  bool again_ = false;   ///< the running drawing is already out of date
  QVariantAnimation glide_;
  double fromScale_ = 1, toScale_ = 1;
  QPointF fromOffset_, toOffset_;
  QThreadPool painters_; ///< declared last and so destroyed first: it waits for running drawings
};

} // namespace uopscope
