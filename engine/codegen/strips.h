// Kernels that are one store of one sum, and the part of their loops that runs inside the loop that goes through the terms: running
// sums (running.h) and scattered ones (scattered.h).
//
//   OneSum k;
//   if (findSum(sink, k)) Strip strip = stripOf(k, std::array{k.loops[0]}, nextRangeId(sink), StripKind::Shared);
//
// Invariant: strip.rest and strip.inner together go through the loops of the kernel without the carriers.
#pragma once
#include "engine/uop/uop.h"

#include <span>
#include <vector>

namespace uopscope {

constexpr int64_t kFewResults = 16; ///< computed anew just as well, in lanes

/// A kernel that is one store of one sum.
struct OneSum {
  UOp end, store, sum;
  std::vector<UOp> loops; ///< the loops around the store
};
/// False if the kernel is none.
bool findSum(UOp sink, OneSum& k);

/// The part of a loop that runs inside the loop that carries the sums.
struct Strip {
  UOp loop, inner;
  UOpMap<UOp> replace; ///< the loop, as an expression of its remaining outer part and the strip
  std::vector<UOp> rest;
};

/// Whether threads share a loop's strips, or it is one strip where it is not too long; whether strips may overlap, so that the last
/// one computes results again, where no large part divides the loop. A kernel that adds up in its results must not do that.
enum class StripKind : uint8_t { Shared, Whole, Overlapping };

/// Chooses a strip among the loops other than the `carriers`: the loop along which results are contiguous; without one, and where
/// strips may overlap, the longest loop, whose steps become lanes. `rows`: the loop of which a few steps are a strip where results are
/// contiguous along none; null: none is.
Strip stripOf(const OneSum& k, std::span<const UOp> carriers, int64_t nextId, StripKind kind, UOp rows = {});
/// The loops with the strip's inside of them.
std::vector<UOp> withInner(std::vector<UOp> loops, const Strip& s);

/// Whether the node is a read that gives the identity of the sum, or the identity as a constant.
bool isIdentity(UOp u, Op how);

} // namespace uopscope
