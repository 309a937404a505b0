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
// The shared memory has two stages that take turns, so one barrier a step is enough: no thread writes a stage
// before all threads have passed the barrier that follows its last read. staging_tile.h lays out a stage.
//
// Warps that feed tensor cores share operands in the same way. Where copies are asynchronous (async_copy.h), the
// copies of later steps begin before this step is computed. Three stages (staging_stages.h chooses how many):
//
//   shared[0], shared[1] = tiles of steps 0 and 1, each a group of copies
//   for ko:  wait until one group is under way, barrier
//            shared[(ko + 2) % 3] = tiles of step ko + 2, if there is one
//            results += products of shared[ko % 3]
//
// A core that reads shared memory itself (shared_operand.h) gets descriptors in place of its operands. Its products may be
// under way when the next step begins, so a stage is copied to one step later. Where the target has a memory engine, it copies
// the operands of such a core (async_boxes.h).
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

constexpr int64_t kStagingReuse = 8;        ///< fewest threads that must read the same element
constexpr int64_t kStagingReuseOfWarps = 2; ///< with tensor cores: fewest warps that read the same elements

/// The kernel with such reads served from shared memory; unchanged if it has none. Range ids from `nextId` on
/// are free.
UOp stageOperands(UOp ast, const Target& target, int64_t nextId);

} // namespace uopscope
