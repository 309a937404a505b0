// A stored value as an expression in the loops of a reader, for passes that let readers compute it themselves.
//
//   valueAt(BUFFERIZE(a[r0] + 1, r0), a[r0] + 1, INDEX(that, i * 2), next)  ->  a[i * 2] + 1
//
// Conditions of the reader's indices come to the reads below, and the value's inner reductions get ranges of their own, since two
// readers of one kernel may have a copy each.
#pragma once
#include "engine/uop/uop.h"

namespace uopscope::sched {

/// `value`, computed in the loops of `buffer` (a BUFFERIZE), at the indices of `reader` (an INDEX into it). `nextRange` numbers new ranges.
UOp valueAt(UOp buffer, UOp value, UOp reader, int64_t& nextRange);

} // namespace uopscope::sched
