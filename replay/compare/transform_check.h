// Steps of transforms: a value became the same for a batch ("vmap"), or its tangent ("jvp"). Such a step does not claim
// equality. It claims a relation to the new values of the sources, which earlier steps of the pass made:
//
//   vmap   element b of its new value is the operation on elements b of its sources' new values
//   jvp    its new value is the sum over its sources of derivative times tangent
//
// A source without a new value depends on no argument: it is in every element, and has tangent zero.
#pragma once
#include "replay/compare/rewrite_check.h"

#include <string_view>

namespace uopscope {

/// The new values of a pass so far.
using TransformMemory = UOpMap<UOp>;

/// Whether steps of a pass of this name are checked here.
bool isTransform(std::string_view pass);
ValueCheck checkTransform(RewriteChecker& checker, std::string_view pass, UOp before, UOp after,
                          const TransformMemory& known, const CheckLimits& limits);

} // namespace uopscope
