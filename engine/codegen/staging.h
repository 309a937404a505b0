// Staging: the threads of a group copy what all of them read into shared memory once, and read it from there.
//
// Each thread of a product reads a row of one operand and a column of the other; its neighbours read the
// same. A group of 16 by 16 threads with 8 by 8 results each needs 128 rows and 128 columns, 8 terms of each
// at a time:
//
//   for ko:  shared[ko % 2] = 8 terms of 128 rows, 8 terms of 128 columns
//            barrier
//            for k in 8:  64 sums += products of shared[ko % 2]
//
// Two halves take turns, so that one barrier a step is enough: nobody writes a half before everybody has
// passed the barrier that follows its last read. What a thread reads as a vector lies side by side in shared
// memory, and rows of terms are 16 bytes longer than they need be, so that the threads that write fall into
// different banks.
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

constexpr int64_t kStagingReuse = 8; ///< fewest threads that read the same element

/// The kernel with such reads served from shared memory, or as it was. Ranges from `nextId` on are free.
UOp stageOperands(UOp ast, const Target& target, int64_t nextId);

} // namespace uopscope
