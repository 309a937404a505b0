// The valid form of a node per operation, as ops.def declares it: the number of its sources and the kind of
// its argument. Nodes from outside (Python, the parser, files) are checked here; builds with a sanitizer
// check every node. The compiler relies on it: it reads sources and arguments without checking again.
//
//   checkNode(Op::ADD, {a}, {})      Error(Spec): UOp ADD takes 2 sources, 1 was given
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// How many sources a node of the operation may have; `most` is SIZE_MAX where there is no limit.
struct SourceLimits {
  size_t fewest, most;
};
SourceLimits sourceLimits(Op op);

/// Throws Error(Spec) that names the operation, the field, the given value and the allowed ones.
void checkNode(Op op, std::span<const UOp> src, Arg arg);

/// Checks these fields, then makes the node in the current pool.
UOp makeChecked(Op op, DType dtype, std::span<const UOp> src, Arg arg = {}, Arg tag = {});

} // namespace uopscope
