// Draws the number of each node over the upper right corner of its box, where no line arrives.
//
//   paintNumbers(painter, picture, source->numbers(), {palette, view, scale, nullptr});
#pragma once
#include "viz/models/graph/graph_source.h"
#include "viz/scene/picture_painter.h"

namespace uopscope {

void paintNumbers(QPainter& painter, const Picture& picture, const std::map<int64_t, CanvasNumber>& numbers,
                  const PaintOptions& options);

} // namespace uopscope
