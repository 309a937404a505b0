// Sets a tall layout in columns, as a newspaper sets text: its ranks are cut into bands of equal height, side by side.
// The chain of a model's layers is one box wide and dozens of boxes tall, and no pane is.
//
//   Layout l = layoutLayered(nodes, edges);
//   setInColumns(l, nodes, edges, 900, 500);    // the pane that it has to fit: fewest columns of the largest zoom
#pragma once
#include "viz/layout/layered.h"

namespace uopscope {

/// Changes centres, bends and size of a layout from top to bottom. Edges between two columns run through the gap
/// between them. A layout that fits as well in one column stays as it is.
void setInColumns(Layout& layout, std::span<const LayoutNode> nodes, std::span<const LayoutEdge> edges,
                  float paneWidth, float paneHeight);

} // namespace uopscope
