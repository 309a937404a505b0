// The form of a node of each operation, as ops.def declares it: the number of its sources and the kind of its
// argument. Nodes that come from outside (Python, the parser, files) pass here; builds with a sanitizer check
// every node. The compiler itself relies on it: it reads sources and arguments without asking again.
//
//   checkNode(Op::ADD, {a}, {})      Error(Spec): UOp ADD takes 2 sources, 1 was given
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// Throws Error(Spec) that names the operation, the field, the value given and those allowed.
void checkNode(Op op, std::span<const UOp> src, Arg arg);

/// The node of these fields in the current pool, once it is checked.
UOp makeChecked(Op op, DType dtype, std::span<const UOp> src, Arg arg = {}, Arg tag = {});

} // namespace uopscope
