// The work of one element of a value, in quarters of a simple vector operation, for the choices between storing a value and computing
// it again (prices.h).
//
//   workOf(a * b + 1)     two operations: total 4, and 4 for each load; nodes below a REDUCE count once for each of its iterations
#pragma once
#include "engine/uop/uop.h"

namespace uopscope::sched {

/// The work of one operation; 0 for what computes nothing, and for loads.
double weightOf(UOp u);

struct Work {
  double total = 0;
  int loads = 0;
  bool reducesMemory = false;
  bool readsRow = false; ///< that its kernel keeps
  bool isGated = false,
       isFilled =
           false; ///< reads memory below a condition; has an infinite constant, as margins of maxima do
  bool tooLarge = false;
};

/// The work of one element. Index expressions do not count. Values that have memory count as loads.
Work workOf(UOp root);

} // namespace uopscope::sched
