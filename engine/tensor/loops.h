// Loops of a script over tensor operations: a RANGE that a tensor graph is indexed by, and that one node
// closes. They are loops over kernels, whatever type the range has: each turn is computed as if the script
// had written it.
//
//   i = UOp.range(3, -1, AxisType.OUTER)
//   Tensor((x @ mats[i]).uop.reduce(i, arg=Ops.ADD))               the sum of three products
//   (x[i] + 1).reshape(1, 10).expand(i, 10)                        the turns side by side: axis 0 is i
//   acc.uop.after(acc.uop.after(i).store(value).end(i))            acc after three stores, one after another
//
// A range that nothing closes stays what it is: an index.
#pragma once
#include "engine/uop/uop.h"

#include <functional>
#include <utility>
#include <vector>

namespace uopscope {

using Becomes = std::vector<std::pair<UOpRef, UOpRef>>;

/// Makes the stores of the first loop that closes stores and is in these graphs, turn by turn, since each
/// turn reads what the one before it wrote. Tensors that stood for the memory after the loop stand for the
/// memory, as `become` is told then. False where there is no such loop: ask again until there is none.
bool makeLoopStores(const std::vector<UOp>& roots, const std::function<void(const Becomes&)>& become);

/// What these graphs become without their other loops, as (node, what stands for it) pairs; none where there
/// are no loops.
Becomes withoutLoops(const std::vector<UOp>& roots);

/// The sum over the turns of those loops that `user` is in and `source` is not: a gradient of `source` that
/// came through `user`.
UOp summedOverLoops(UOp gradient, UOp user, UOp source);

} // namespace uopscope
