// Points where edges leave and enter boxes. picture_painter.h holds the other functions that painting,
// picking and exporting share.
//
//   const QPointF tip = entryOf(picture, node, /*port=*/1, /*ports=*/3);
#pragma once
#include "viz/pictures/picture.h"

#include <QPointF>

namespace uopscope {

/// The turns of an edge, with both its ends; an edge without bends has only the ends.
void edgeCorners(const Picture& picture, const PictureEdge& edge, std::vector<QPointF>& out);
QPointF exitOf(const Picture& picture, const PictureNode& node);
QPointF entryOf(const Picture& picture, const PictureNode& node, uint32_t port, uint32_t ports);
/// The distance between the first and the last arrow into a node.
double portsReach(const Picture& picture, const PictureNode& node, uint32_t ports);
/// Arrows may stand closer than their numbers are wide: then only every n-th arrow has a number. Returns n.
uint32_t portsPerNumber(const Picture& picture, const PictureNode& node, uint32_t ports);

} // namespace uopscope
