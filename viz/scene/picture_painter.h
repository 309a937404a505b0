// Draws a Picture with QPainter: on any thread, on any paint device, at any zoom. Detail falls with the scale
// (first texts, then curves, then frames), so ten thousand nodes from afar cost about as much as a hundred
// near by.
//
//   paintPicture(painter, picture, {palette(true), visible, scale});   // painter maps graph units to pixels
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
  QRectF view;        ///< in graph units: nothing outside is drawn
  double scale = 1;   ///< pixels per graph unit
  TintingPtr tinting; ///< null: coloured by operation
};

/// Emphasis that changes with the pointer, painted separately over the picture.
struct Emphasis {
  int64_t hovered = -1, selected = -1;
  std::vector<int64_t> found;       ///< nodes that a search has found
  int64_t current = -1;             ///< the current found node
  std::map<int64_t, QString> notes; ///< drawn beside the node: "+x" fits, "!.." does not
};

void paintPicture(QPainter& painter, const Picture& picture, const PaintOptions& options);
void paintEmphasis(QPainter& painter, const Picture& picture, const Emphasis& emphasis,
                   const PaintOptions& options);

QRectF nodeRect(const PictureNode& node);
/// The path of an edge; with a view, only parts that may be visible in it.
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
