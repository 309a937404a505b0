// Opts of a reduction over a window of each channel alone: depthwise convolutions and poolings, whose rows are short or read in steps, and the
// gradients of such filters.
//
//   8 x 512 pictures of 7x7, windows of 5x5    a row is 8 lanes, of which one is nobody's; 7 rows at once; 5 terms of a window written out
//
//   480 filters of 3x3, their gradient on 14x14     a row of terms is 16 lanes, of which two are 0, for all 9 results of a filter
//
// A whole row becomes the lanes, padded to a power of two: margins and the steps of a stride are known then, vectors are loaded under
// masks, and what neighbours read in steps comes from the vectors that hold all of it. The model of tiles (tiling.h) pads
// only what fills two to four registers and lies side by side; it took 7 lanes as 4, 2 and 1, and those of a stride one by one.
#include "engine/base/integers.h"
#include "engine/codegen/heuristic.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/tiling.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace uopscope::heuristic {

namespace {

constexpr int64_t kLongestSide = 7, kMostTerms = 49; ///< of a window
constexpr int64_t kFewestLanes = 8, kMostLanes = 64;
constexpr int64_t kLongRow = 16; ///< a longer row that is read side by side has tiles of the model
constexpr int64_t kMostStride = 4, kMostRows = 8;
constexpr int64_t kManyFilters = 16; ///< results that share a read, from which on they are lanes themselves
constexpr double kWholeWindow = 1.3; ///< how much more places are worth without a loop over terms
constexpr int64_t kMostWhole =
    16; ///< terms of a window without a loop: of more, each waits for the one before

/// The loop along a row of results that may become lanes as a whole; null if there is none.
UOp rowOf(const KernelShape& k) {
  for (UOp range : k.outputs) {
    if (!writtenNextToEachOther(k, range)) continue;
    int64_t widest = 0;
    for (UOp read : k.reads) {
      const int64_t stride = strideOf(read, range);
      if (stride < 0 || stride > kMostStride) return {};
      if (!stride) continue;
      widest = std::max(widest, stride);
      // The window reaches along the row: what one lane reads, its neighbours read as well.
      if (std::ranges::none_of(k.summed, [&](UOp term) { return strideOf(read, term) == 1; })) return {};
    }
    const int64_t lanes = extentOf(range);
    return widest && lanes <= kMostLanes && (widest > 1 || lanes <= kLongRow) ? range : UOp();
  }
  return {};
}

bool isWindow(const KernelShape& k) {
  int64_t terms = 1;
  for (UOp term : k.summed) {
    const int64_t side = extentOf(term);
    if (side < 1 || side > kLongestSide) return false;
    terms *= side;
  }
  return !k.summed.empty() && terms <= kMostTerms;
}

/// Whether many filters read the same windows: that is a product, whose tiles use each element for several filters.
bool hasFilters(const KernelShape& k, UOp row) {
  return std::ranges::any_of(k.reads, [&](UOp read) {
    return strideOf(read, row) != 0 && std::ranges::any_of(k.outputs, [&](UOp o) {
             return extentOf(o) >= kManyFilters && !read.dependsOn(o);
           });
  });
}

/// How many rows are computed at once, and how many terms are written out, innermost first.
struct Plan {
  int64_t rows = 1;
  size_t sides = 0;
};
Plan planOf(const KernelShape& k, UOp rows, int64_t lanes, int64_t mostLanes) {
  Plan best;
  double most = 0;
  int64_t terms = 1;
  for (size_t sides = 0; sides <= k.summed.size(); ++sides) {
    if (sides) terms *= extentOf(k.summed[k.summed.size() - sides]);
    if (sides > 1 && terms > kMostWhole) break;
    for (int64_t n = 1; n <= kMostRows; ++n) {
      if (n > 1 && (!rows || extentOf(rows) % n)) continue;
      const int64_t places = lanes * n * terms;
      if (places >= kMostPlaces || lanes * n > mostLanes) continue;
      const double worth = static_cast<double>(places) * (sides == k.summed.size() ? kWholeWindow : 1);
      if (worth <= most) continue;
      most = worth;
      best = {n, sides};
    }
  }
  return best;
}

/// The sum of a filter's gradient, of each channel alone or of few: its terms lie along a row in all reads, and its results are the window.
struct WindowSum {
  UOp term; ///< along the row
  UOp next; ///< the terms of the next row
  std::vector<UOp>
      shared; ///< results that some read does not depend on; the window's along the row is the first
};

std::optional<WindowSum> windowSumOf(const KernelShape& k) {
  auto liesIn = [&](UOp term) {
    return std::ranges::all_of(
        k.reads, [&](UOp r) { return strideOf(r, term) >= 1 && strideOf(r, term) <= kMostStride; });
  };
  WindowSum found;
  for (UOp term : k.summed)
    if (liesIn(term))
      found.term = term;
    else if (std::ranges::all_of(k.reads, [&](UOp r) { return r.dependsOn(term); }))
      found.next = term;
  if (!found.term || k.reads.size() != 2) return {};
  UOp along;
  for (UOp o : k.outputs) {
    const auto reads = std::ranges::count_if(k.reads, [&](UOp r) { return r.dependsOn(o); });
    if (reads != 1) continue;
    if (extentOf(o) >= std::min(kManyFilters, extentOf(found.term) + 1))
      return {}; // a product: lanes of filters
    const bool isAlong = std::ranges::any_of(
        k.reads, [&](UOp r) { return strideOf(r, o) >= 1 && strideOf(r, o) <= kMostStride; });
    if (isAlong && extentOf(o) <= kLongestSide && !along)
      along = o;
    else
      found.shared.push_back(o);
  }
  if (!along || extentOf(found.term) <= extentOf(along)) return {};
  found.shared.insert(found.shared.begin(), along);
  return found;
}

} // namespace

bool chooseForWindowSums(KernelOptimizer& s, const KernelShape& k, int64_t width) {
  const auto isMasked = [&](UOp read) { return hasMasks(s.target(), read.src(0).dtype()); };
  if (k.sums != 1 || k.reduction.arg().op() != Op::ADD || !std::ranges::all_of(k.reads, isMasked))
    return false;
  const auto sum = windowSumOf(k);
  if (!sum) return false;
  const int64_t extent = extentOf(sum->term);
  const auto lanes =
      std::max(kFewestLanes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))));
  const int64_t rowsInRegister = std::max<int64_t>(1, width / lanes);
  if (lanes > kMostLanes || 5 * lanes > 8 * extent || (rowsInRegister > 1 && !sum->next)) return false;
  int64_t most = mostKeptRegisters(vectorRegisters(s.target())) / std::max<int64_t>(1, lanes / width);
  if (extentOf(sum->shared[0]) > most) return false;
  if (lanes != extent && !tryApply(s, OptOp::PADTO, axisOf(s, sum->term), lanes,
                                   inWords("a whole row of terms becomes the lanes")))
    return false;
  if (rowsInRegister > 1)
    tryApply(s, OptOp::PADTO, axisOf(s, sum->next), rowsInRegister, inWords("rows of terms fill a register"));
  // The window along the row first, since its reads are one run of memory; then whatever gives the most results.
  std::vector<UOp> results = sum->shared;
  for (bool isFirst = true; !results.empty(); isFirst = false) {
    auto gain = [&](UOp r) { return divisorUpTo(extentOf(r), most); };
    const auto best = isFirst ? results.begin() : std::ranges::max_element(results, {}, gain);
    const int64_t amount = gain(*best);
    if (amount < 2) break;
    if (tryApply(s, OptOp::UPCAST, axisOf(s, *best), amount,
                 inWords("results share the rows that they are summed from")))
      most /= amount;
    results.erase(best);
  }
  if (rowsInRegister > 1)
    tryApply(s, OptOp::UNROLL, unrollAxis(s, sum->next), rowsInRegister,
             inWords("rows of terms fill a register"));
  tryApply(s, OptOp::UNROLL, unrollAxis(s, sum->term), lanes,
           inWords("a whole row of terms: its margins are known"));
  return true;
}

bool chooseForWindows(KernelOptimizer& s, const KernelShape& k, int64_t width) {
  const auto isMasked = [&](UOp read) { return hasMasks(s.target(), read.src(0).dtype()); };
  if (k.sums != 1 || !isWindow(k) || !std::ranges::any_of(k.reads, isMasked)) return false;
  const UOp row = rowOf(k);
  if (!row || !s.mayBecomeLanes(row) || hasFilters(k, row)) return false;
  const int64_t extent = extentOf(row);
  const auto lanes =
      std::max(kFewestLanes, static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent))));
  if (5 * lanes > 8 * extent) return false;
  const auto at = std::ranges::find(k.outputs, row);
  const Plan plan = planOf(k, at == k.outputs.begin() ? UOp() : *(at - 1), lanes,
                           mostTileRegisters(vectorRegisters(s.target())) * width);
  if (lanes != extent &&
      !tryApply(s, OptOp::PADTO, axisOf(s, row), lanes, inWords("a whole row of results becomes the lanes")))
    return false;
  if (plan.rows > 1)
    tryApply(s, OptOp::UPCAST, axisOf(s, *(at - 1)), plan.rows,
             inWords("rows share what their windows read"));
  tryApply(s, OptOp::UPCAST, axisOf(s, row), lanes, inWords("a whole row: its margins are known"));
  for (size_t side = 0; side < plan.sides; ++side)
    tryApply(s, OptOp::UNROLL, unrollAxis(s, k.summed[k.summed.size() - 1 - side]), 0,
             inWords("a window's terms are written out: neighbours read the same vectors"));
  return true;
}

} // namespace uopscope::heuristic
