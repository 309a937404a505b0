// Draws a Picture with QPainter: on any thread, on any paint device, at any zoom. Detail falls with the scale
// (texts, then curves, then frames), so that ten thousand nodes seen from afar cost about what a hundred cost
// near by.
//
//   paintPicture(painter, picture, {palette(true), visible, scale});     // painter maps graph units to
//   pixels
#pragma once
#include "viz/models/graph/tinting.h"
#include "viz/scene/theme.h"

#include <QPainter>
#include <QPainterPath>
#include <QRectF>
#include <map>
#include <vector>

namespace uopscope {

struct PaintOptions {
  Palette palette;
  QRectF view;        ///< in graph units: nothing outside needs drawing
  double scale = 1;   ///< pixels per graph unit
  TintingPtr tinting; ///< null: coloured by operation
};

/// Emphasis that changes with the pointer; painted apart, over the picture.
struct Emphasis {
  int64_t hovered = -1, selected = -1;
  std::vector<int64_t> found;       ///< what a search has found
  int64_t current = -1;             ///< the found node one stands on
  std::map<int64_t, QString> notes; ///< "+x" fits, "!.." does not: drawn beside the node
};

void paintPicture(QPainter& painter, const Picture& picture, const PaintOptions& options);
void paintEmphasis(QPainter& painter, const Picture& picture, const Emphasis& emphasis,
                   const PaintOptions& options);

QRectF nodeRect(const PictureNode& node);
/// With a view, only the parts of the edge that may be seen in it.
QPainterPath edgePath(const Picture& picture, const PictureEdge& edge, const QRectF& view = {});
/// Smallest rectangle around the nodes the step touched; null where it touched none.
QRectF changedRect(const Picture& picture);
/// Around what that reads and what reads it.
QRectF besideChange(const Picture& picture);
/// Everything, ghosts included.
QRectF boundsOf(const Picture& picture);
/// The node at a point, -1 for none; the topmost where boxes touch.
int nodeAt(const Picture& picture, QPointF at, double slack = 0);

} // namespace uopscope
