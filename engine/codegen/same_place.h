// Whether two steps of a loop may use one place of a buffer. Such steps keep their order: they become no lanes and no
// threads.
//
//   mayCoincide(r * 4 + s, r)         // false: a place for each r
//   mayCoincide(r / 2, r)             // true: steps 0 and 1
//   mayCoincide(load(indices, r), r)  // true: the memory may hold a number twice
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// `place`: an index without its gate. True if two steps of `range` may have the same place while all other ranges stay;
/// false if they have not, as far as the first 256 steps show where the index is no plain sum.
bool mayCoincide(UOp place, UOp range);

} // namespace uopscope
