// Where edges leave and enter boxes. What painting, picking and exporting share besides is in
// picture_painter.h.
//
//   const QPointF tip = entryOf(picture, node, /*port=*/1, /*ports=*/3);
#pragma once
#include "viz/pictures/picture.h"

#include <QPointF>

namespace uopscope {

/// Where an edge turns, both its ends included; of an edge without bends only those.
void edgeCorners(const Picture& picture, const PictureEdge& edge, std::vector<QPointF>& out);
QPointF exitOf(const Picture& picture, const PictureNode& node);
QPointF entryOf(const Picture& picture, const PictureNode& node, uint32_t port, uint32_t ports);
/// How far the first and the last arrow into a node are apart.
double portsReach(const Picture& picture, const PictureNode& node, uint32_t ports);
/// Arrows that stand closer than their numbers are wide: every how many has one.
uint32_t portsPerNumber(const Picture& picture, const PictureNode& node, uint32_t ports);

} // namespace uopscope
