// Values of a schedule seen through what stores them: a rule that writes several stored values as one expression looks at the computation
// below their memory.
//
//   Opened open(state);
//   UOp sum = open(INDEX(BUFFERIZE(REDUCE(...), r0), i));     // the REDUCE, at i
//   open.stored()                                             // the values whose memory the expression does without
#pragma once
#include "engine/schedule/passes.h"

#include <set>

namespace uopscope::sched {

/// The node below conversions between floats of up to 32 bits.
UOp withoutCasts(UOp u);
/// The same expression computed in float32, without rounding to smaller floats on the way; conditions on such numbers too.
UOp inFloat(UOp u);

/// Sees through values that are stored, or kept along a row, and through conversions between floats, and notes the former.
class Opened {
public:
  explicit Opened(ScheduleState& state) : state_(&state) {}

  /// What such a node is computed from, in the loops of the reader; any other node as it is.
  UOp operator()(UOp read);
  /// The score with the products that are stored for it inside, over ranges of their own; null if it has none.
  UOp score(UOp score, UOp key);
  /// Numbers of the stored values seen through.
  const std::set<size_t>& stored() const { return stored_; }

private:
  ScheduleState* state_;
  std::set<size_t> stored_;
};

} // namespace uopscope::sched
