// Kernels whose sums read the same memory in the same order, and wait for nothing of each other: one kernel with one loop reads
// it once.
//
//   Tensor.realize(x.mean(1), x.max(1))      one kernel with two outputs
//   dy.sum((0, 2, 3)), (dy*y).sum((0, 2, 3)) gradients of a normalization: dy is read once
//
// A price decides (priceOf): each sum keeps an accumulator in a register. Where there are more sums than registers, every step
// writes accumulators to memory and reads them back, and the sums that are too many stay in a kernel of their own.
#pragma once
#include "engine/schedule/passes.h"

#include <optional>

namespace uopscope::sched {

/// A read below a sum, at which every step finds another element.
struct SummedRead {
  UOp at;                  ///< the INDEX
  std::vector<UOp> ranges; ///< the kernel's loops, and those of the sum
  double elements = 0;
};

/// A kernel that sums.
struct SumKernel {
  std::vector<UOp> loops;
  std::vector<SummedRead> reads;
  size_t sums = 0;
};

/// What the loops of a store sum. There are no reads if no other sum may come into these loops: they sum nothing, carry a sum from
/// result to result, or run on a device with many threads.
SumKernel sumKernelOf(UOp end, const StoredValue& value);

/// Whether a kernel has as many sums as one that LLVM compiles in reasonable time.
bool isFull(const SumKernel& kernel);

/// How `guest` shares the loops of `host`.
struct Sharing {
  UOpMap<UOp> loops;   ///< of the guest -> of the host
  double elements = 0; ///< of memory that is read once instead of twice
};
std::optional<Sharing> sharingOf(const SumKernel& host, const SumKernel& guest);

/// The prices of one kernel and of two.
struct SharePrice {
  double together = 0, apart = 0;
  bool isWorthwhile() const { return together < apart; }
};
SharePrice priceOf(const SumKernel& host, const SumKernel& guest, const Sharing& sharing);
/// An expression in the loops of another kernel. None of its loops is open in what it reads from memory.
UOp inLoops(UOp expression, const UOpMap<UOp>& loops);
/// Adds the sums of the guest, in loops of the host.
void join(SumKernel& host, const SumKernel& guest, const Sharing& sharing);

} // namespace uopscope::sched
