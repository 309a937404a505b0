// Loops of a script over tensor operations: a RANGE that indexes a tensor graph, closed by one node. They are
// loops over kernels, whatever the type of the range: each iteration is computed as if the script had written
// it out.
//
//   i = UOp.range(3, -1, AxisType.OUTER)
//   Tensor((x @ mats[i]).uop.reduce(i, arg=Ops.ADD))               the sum of three products
//   (x[i] + 1).reshape(1, 10).expand(i, 10)                        the iterations concatenated: axis 0 is i
//   acc.uop.after(acc.uop.after(i).store(value).end(i))            acc after three stores in sequence
//
// A range that no node closes remains an index.
#pragma once
#include "engine/uop/uop.h"

#include <functional>
#include <utility>
#include <vector>

namespace uopscope {

using Becomes = std::vector<std::pair<UOpRef, UOpRef>>;

/// Finds the first loop in these graphs that closes stores, and runs its stores iteration by iteration, since
/// each iteration reads the results of the previous one. Tensors that stood for the memory after the loop
/// then stand for the memory; `become` is told. Returns false if there is no such loop; the caller repeats
/// the call until then.
bool makeLoopStores(const std::vector<UOp>& roots, const std::function<void(const Becomes&)>& become);

/// The replacements, as (node, new node) pairs, of these graphs by graphs with their remaining loops
/// unrolled; empty if there are no loops.
Becomes withoutLoops(const std::vector<UOp>& roots);

/// The gradient of `source` that came through `user`, summed over the loops that contain `user` and not
/// `source`.
UOp summedOverLoops(UOp gradient, UOp user, UOp source);

} // namespace uopscope
