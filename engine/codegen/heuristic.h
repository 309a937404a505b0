// Opts chosen by looking at a kernel: its reads, its writes, its loops, and the stride of each access along
// each loop. heuristic.cpp and the files beside it choose for processors with vector lanes, heuristic_groups.cpp for targets with
// work groups.
//
//   KernelShape k = inspect(s);
//   UOp last = k.outputs.back();
//   if (strideOf(k.reads[0], last) == 1) tryApply(s, OptOp::UPCAST, axisOf(s, last), 4, why);
#pragma once
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"

#include <initializer_list>
#include <optional>
#include <vector>

namespace uopscope::heuristic {

/// Iterations that justify a thread of their own.
constexpr double kWorkPerThread = 128 << 10;

struct KernelShape {
  std::vector<UOp> reads, writes; ///< INDEX nodes; in a kernel with a reduction, those of the reduction
  std::vector<UOp> outputs;       ///< LOOP ranges of constant extent
  std::vector<UOp> summed;        ///< ranges of the main reduction
  UOp reduction;
  int64_t sums = 1; ///< reductions in the main one's loop, which reads what all of them read
};

KernelShape inspect(const KernelOptimizer& s);
/// Whether a range is open around a value.
bool isOpen(UOp value, UOp range);
/// Whether a loop belongs to a copy that a reduction reads, and not to the results.
bool isOfCopy(const KernelOptimizer& s, UOp loop);

/// The present axis of a range, -1 if it has none. A range that was split keeps its argument.
int axisOf(const KernelOptimizer& s, UOp range);
int64_t extentNow(const KernelOptimizer& s, UOp range);
/// The stride of an access along a range: 0 if it does not depend on it, TileAxis::kNotLinear if it is not
/// linear.
int64_t strideOf(UOp access, UOp range);
/// The first of `choices` above 1 that divides n; 0 if none does.
int64_t largestDivisor(int64_t n, std::initializer_list<int64_t> choices);
bool writtenNextToEachOther(const KernelShape& k, UOp range);
bool readsSuitLanes(const KernelShape& k, UOp range);
/// The axis number that UNROLL uses for a range.
int unrollAxis(const KernelOptimizer& s, UOp range);

/// Applies an Opt. Returns false if the Opt does not fit; any other error is thrown on.
bool tryApply(KernelOptimizer& s, const Opt& opt, const Decision& why);
bool tryApply(KernelOptimizer& s, OptOp op, int axis, int64_t amount, const Decision& why);
/// The same with tiles, or threads, that may overlap (kOverlap).
bool tryOverlap(KernelOptimizer& s, OptOp op, int axis, int64_t amount, const Decision& why);
Decision inWords(const char* words);

/// Opts of a kernel without a sum, of at most `most` lanes.
void chooseForElementwise(KernelOptimizer& s, const KernelShape& k, int64_t most);

/// Opts of a reduction over a window of each channel alone, whose rows are short or read in steps; false if it is none, or the target
/// loads no vectors under masks.
bool chooseForWindows(KernelOptimizer& s, const KernelShape& k, int64_t width);
/// Opts of the gradient of a filter that has one channel, or few: its terms are rows of a picture, its results a window.
bool chooseForWindowSums(KernelOptimizer& s, const KernelShape& k, int64_t width);

/// Whether the kernel stores sums in memory of its own and goes on from there, as a streamed softmax does.
bool hasStages(const KernelOptimizer& s);
/// Opts of such a kernel: a tile for each of its stages.
void chooseForStages(KernelOptimizer& s, int64_t width);

/// Chooses Opts for a target with work groups.
void chooseForGroups(KernelOptimizer& s, const KernelShape& k);

/// The model's price of these Opts of a kernel with a reduction, for a target with vector lanes: cycles a lane and step.
/// None where the Opts do not fit, or do more than make a tile (threads, groups, a second Opt on one loop).
std::optional<double> priceOfOpts(UOp ast, const Target& target, const std::vector<Opt>& opts);

} // namespace uopscope::heuristic
