// Depth-first visit of a graph: each node once, before its sources, the last source first. It serves searches
// that look at a part of a graph and stop early. UOp::toposort lists the whole graph, sources first.
//
//   bool reads = !visitBelow(root, [](UOp u) {
//     return u.is(Op::LOAD) ? Visit::Stop : u.is(Op::AFTER) ? Visit::Past : Visit::Below;
//   });
#pragma once
#include "engine/base/id_map.h"
#include "engine/uop/uop.h"

namespace uopscope {

enum class Visit : uint8_t {
  Below, ///< go on to the sources of the node
  Past,  ///< skip the sources of the node
  Stop   ///< end the walk
};

/// Returns false if the visit was ended by Visit::Stop.
template <typename Enter>
bool visitBelow(std::span<const UOp> roots, Enter enter) {
  IdMap<bool> seen;
  std::vector<UOp> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (seen.contains(u.slot())) continue;
    seen.set(u.slot(), true);
    Visit next = enter(u);
    if (next == Visit::Stop) return false;
    if (next == Visit::Below) stack.insert(stack.end(), u.src().begin(), u.src().end());
  }
  return true;
}
template <typename Enter>
bool visitBelow(UOp root, Enter enter) {
  return visitBelow(std::span<const UOp>(&root, 1), enter);
}

} // namespace uopscope
