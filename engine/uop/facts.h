// Facts: properties of a node that are computed once: bounds, ranges in scope, shape, device. A fact is
// computed at its first use, for a whole graph without recursion, and stored with the node in its pool.
//
//   u.vmax()      // computes the bounds of u and of all its sources; the next call reads them
#pragma once
#include "engine/uop/sint.h"

#include <optional>

namespace uopscope {

struct Facts {
  bool hasBounds = false, hasShape = false, hasDevice = false;
  int64_t vmin = 0, vmax = 0;
  const std::vector<UOp>* ranges = nullptr; ///< owned by the pool; nodes with the same ranges share one list
  std::optional<Shape> shape;               ///< none: the node has no shape
  UOp device;                               ///< the DEVICE node, or null
};

/// The shape of a node from the shapes of its sources, whose facts must be computed already. None if the node
/// has no shape. Throws Error(Shape) if the sources do not fit. shape.cpp is the one place that knows how
/// each operation shapes its result.
std::optional<Shape> computeShape(UOp u);
/// The shape fact, computed if necessary.
const std::optional<Shape>& shapeOf(UOp u);

} // namespace uopscope
