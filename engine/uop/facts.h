// Facts: properties of a node that are computed once: bounds, ranges in scope, shape, device.
// Computed on first use, for a whole graph without recursion, and kept with the node in its pool.
#pragma once
#include "engine/uop/sint.h"

#include <optional>

namespace uopscope {

struct Facts {
  bool hasBounds = false, hasShape = false, hasDevice = false;
  int64_t vmin = 0, vmax = 0;
  const std::vector<UOp>* ranges = nullptr; ///< owned by the pool; nodes with the same ranges share one list
  std::optional<Shape> shape;               ///< none: this node has no shape
  UOp device;                               ///< DEVICE node, or null
};

/// Shape of a node from the shapes of its sources (their facts are there). None where it has no shape; throws
/// Error(Shape) where sources do not fit. The one place that knows how each operation shapes its result:
/// shape.cpp.
std::optional<Shape> computeShape(UOp u);
/// The shape fact, computed if need be.
const std::optional<Shape>& shapeOf(UOp u);

} // namespace uopscope
