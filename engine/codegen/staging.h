// Staging: the threads of a group copy the elements that several of them read to shared memory once, and read
// them there.
//
// Each thread of a product reads a row of one operand and a column of the other operand, and its neighbours
// read the same rows and columns. A group of 16 by 16 threads with 8 by 8 results each needs 128 rows and 128
// columns, with 8 terms of each in a step:
//
//   for ko:  shared[ko % 2] = 8 terms of 128 rows, 8 terms of 128 columns
//            barrier
//            for k in 8:  64 sums += products of shared[ko % 2]
//
// The shared memory has two halves that take turns, so one barrier a step is enough: no thread writes a half
// before all threads have passed the barrier that follows its last read. staging_tile.h lays out a half.
//
// Warps that feed tensor cores share operands in the same way. Where copies are asynchronous (async_copy.h),
// the copy of the next step begins before this step is computed:
//
//   shared[0] = tiles of step 0
//   for ko:  wait for copies, barrier
//            shared[(ko + 1) % 2] = tiles of step ko + 1, unless ko was the last
//            results += products of shared[ko % 2]
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

constexpr int64_t kStagingReuse = 8;        ///< fewest threads that must read the same element
constexpr int64_t kStagingReuseOfWarps = 2; ///< with tensor cores: fewest warps that read the same elements

/// The kernel with such reads served from shared memory; unchanged if it has none. Range ids from `nextId` on
/// are free.
UOp stageOperands(UOp ast, const Target& target, int64_t nextId);

} // namespace uopscope
