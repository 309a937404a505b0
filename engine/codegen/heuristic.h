// Choosing Opts by looking at a kernel: its reads, writes and loops, and how an access moves with a loop.
// heuristic.cpp chooses for processors with lanes, heuristic_groups.cpp for targets with work groups.
//
//   KernelShape k = inspect(s);
//   if (strideOf(k.reads[0], k.outputs.back()) == 1) tryApply(s, OptOp::UPCAST, axisOf(s, k.outputs.back()),
//   4, why);
#pragma once
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"

#include <initializer_list>
#include <vector>

namespace uopscope::heuristic {

struct KernelShape {
  std::vector<UOp> reads, writes; ///< INDEX nodes; reads of the reduction where there is one
  std::vector<UOp> outputs;       ///< LOOP ranges of constant extent
  std::vector<UOp> summed;        ///< ranges of the main reduction
  UOp reduction;
};

KernelShape inspect(const KernelOptimizer& s);
/// Whether a loop is one of a copy that a reduction waits for, and not one over results.
bool isOfCopy(const KernelOptimizer& s, UOp loop);

/// The axis that a range is now, -1 where it is gone; a range that was split keeps its argument.
int axisOf(const KernelOptimizer& s, UOp range);
int64_t extentNow(const KernelOptimizer& s, UOp range);
/// How an access moves with a range: 0 not at all, TileAxis::kNotLinear in no simple way.
int64_t strideOf(UOp access, UOp range);
/// The first of `choices` above 1 that divides n; 0 where none does.
int64_t largestDivisor(int64_t n, std::initializer_list<int64_t> choices);
bool writtenNextToEachOther(const KernelShape& k, UOp range);
bool readsSuitLanes(const KernelShape& k, UOp range);
/// The number that UNROLL has for a range.
int unrollAxis(const KernelOptimizer& s, UOp range);

/// False where the Opt does not fit, which is an answer here; any other error goes on.
bool tryApply(KernelOptimizer& s, const Opt& opt, const Decision& why);
bool tryApply(KernelOptimizer& s, OptOp op, int axis, int64_t amount, const Decision& why);
Decision inWords(const char* words);

/// Opts for a target with work groups.
void chooseForGroups(KernelOptimizer& s, const KernelShape& k);

} // namespace uopscope::heuristic
