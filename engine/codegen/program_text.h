// Linear programs as text, for DEBUG=5 and 6 and for traces.
//
//      3 RANGE            dtypes.int                  [2]  (0, AxisType.LOOP)
#pragma once
#include "engine/uop/uop.h"

#include <span>
#include <string>

namespace uopscope {

/// One line per instruction: number, operation, type, numbers of its sources (constants by value), argument.
std::string programText(std::span<const UOp> program);

} // namespace uopscope
