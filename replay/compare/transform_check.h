// Steps of transforms: a value became the same for a batch ("vmap"), or its tangent ("jvp"). That is no claim of
// equality, and a claim all the same, by what the sources became before it in its pass:
//
//   vmap   element b of what it became is the operation on elements b of what its sources became
//   jvp    what it became is the sum over its sources of derivative times tangent
//
// A source that became nothing in the pass depends on no argument: it is in every element, and has tangent zero.
#pragma once
#include "replay/compare/rewrite_check.h"

#include <string_view>

namespace uopscope {

/// What became of the values of a pass so far.
using TransformMemory = UOpMap<UOp>;

/// Whether steps of a pass of this name are checked here.
bool isTransform(std::string_view pass);
ValueCheck checkTransform(RewriteChecker& checker, std::string_view pass, UOp before, UOp after,
                          const TransformMemory& known, const CheckLimits& limits);

} // namespace uopscope
