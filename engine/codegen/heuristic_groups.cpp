// Opts for targets with work groups. A GPU wants tens of thousands of threads, neighbouring threads at
// neighbouring addresses, loads of 16 bytes, and several uses of each value held in registers:
//
//   a product of matrices   tensor cores where the types fit, else a tile of registers for each thread
//   a long sum              the threads of a group share it, and read neighbouring terms
//   any other kernel        four contiguous results for each thread, neighbouring threads along that axis
//
// Of the LOCAL axes of a group, the one applied last varies fastest in the number of a thread.
#include "engine/base/context_var.h"
#include "engine/base/integers.h"
#include "engine/codegen/heuristic_product.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::heuristic {

int64_t product(const std::vector<UOp>& ranges) {
  int64_t n = 1;
  for (UOp r : ranges) n *= std::max<int64_t>(1, extentOf(r));
  return n;
}

bool findProduct(const KernelShape& k, Product& p) {
  if (k.reads.size() != 2 || k.summed.empty()) return false;
  for (UOp column : k.outputs)
    for (UOp row : k.outputs)
      for (int left = 0; left < 2; ++left) {
        UOp a = k.reads[static_cast<size_t>(left)], b = k.reads[static_cast<size_t>(1 - left)];
        if (row == column || strideOf(a, column) != 0 || strideOf(b, row) != 0 || strideOf(a, row) == 0 ||
            strideOf(b, column) == 0)
          continue;
        if (p.row && !writtenNextToEachOther(k, column)) continue;
        p.row = row;
        p.column = column;
        p.term = k.summed.back();
        for (UOp t : k.summed)
          if (strideOf(a, t) == 1) p.term = t;
        p.columnsInMemory = writtenNextToEachOther(k, column) && strideOf(b, column) == 1;
        p.termsInMemory = strideOf(a, p.term) == 1 || strideOf(b, p.term) == 1;
        p.rowsInMemory = strideOf(a, row) == 1;
      }
  return static_cast<bool>(p.row);
}

namespace {

// These values were found by trying several on an H100 (docs/guide/devices.md has the figures): no model
// prices them yet.
constexpr int64_t kEnoughThreads = 16384; ///< threads that keep a large GPU busy
constexpr int64_t kShortestShared = 128;  ///< fewest terms of a sum that threads share

int64_t groupDivisor(int64_t n, int64_t most) {
  for (int64_t d = std::min<int64_t>(most, n); d > 1; --d)
    if (n % d == 0 && (isPowerOfTwo(d) || most < 16)) return d;
  return 1;
}

/// The axis number that GROUP uses for a range.
int groupAxis(const KernelOptimizer& s, UOp range) {
  int n = 0;
  for (size_t a : s.axesOf({AxisType::Reduce})) {
    if (s.ranges()[a].arg() == range.arg()) return n;
    ++n;
  }
  return -1;
}

/// Makes output loops threads, up to `most` in a group. Neighbouring threads take neighbouring steps of the
/// loop `sideBySide` (null: the innermost loop).
void spreadOverThreads(KernelOptimizer& s, const KernelShape& k, int64_t most, UOp sideBySide = {}) {
  std::vector<UOp> order(k.outputs.rbegin(), k.outputs.rend());
  if (sideBySide) std::stable_partition(order.begin(), order.end(), [&](UOp r) { return r == sideBySide; });
  std::vector<std::pair<UOp, int64_t>> amounts;
  for (UOp r : order) {
    int64_t amount = groupDivisor(extentNow(s, r), most);
    if (amount <= 1) continue;
    amounts.emplace_back(r, amount);
    most /= amount;
    if (most <= 1) break;
  }
  for (auto a = amounts.rbegin(); a != amounts.rend(); ++a)
    tryApply(s, OptOp::LOCAL, axisOf(s, a->first), a->second,
             inWords("neighbouring threads take neighbouring results"));
}

/// Pads an output loop whose extent has no divisor suitable for threads.
void padForThreads(KernelOptimizer& s, const KernelShape& k) {
  if (product(k.outputs) < 1024) return;
  for (UOp r : k.outputs)
    if (groupDivisor(extentOf(r), 32) >= 8) return;
  UOp longest = *std::max_element(k.outputs.begin(), k.outputs.end(),
                                  [](UOp a, UOp b) { return extentOf(a) < extentOf(b); });
  tryApply(s, OptOp::PADTO, axisOf(s, longest), 32, inWords("no loop of output divides into threads"));
}

/// Each thread computes a tile of `rows * columns` results, which share the operands held in registers.
bool chooseForProduct(KernelOptimizer& s, const KernelShape& k) {
  Product p;
  if (!findProduct(k, p)) return false;
  int64_t rows = extentOf(p.row), columns = extentOf(p.column);
  if (product(k.outputs) < kEnoughThreads && product(k.summed) >= kShortestShared)
    return false; // chooseForLongSum lets threads share the sum
  struct Size {
    int64_t rows, columns;
  };
  Size tile{1, 1};
  for (Size t : {Size{8, 8}, Size{8, 4}, Size{4, 4}, Size{2, 4}, Size{2, 2}})
    if (rows % t.rows == 0 && columns % t.columns == 0 &&
        product(k.outputs) / (t.rows * t.columns) >= kEnoughThreads) {
      tile = t;
      break;
    }
  if (tile.rows == 1) {
    tile.rows = largestDivisor(rows, {2});
    tile.columns = largestDivisor(columns, {4, 2});
    if (!tile.rows || !tile.columns || product(k.outputs) < 4096) return false;
  }
  std::string used = fmt::format("{} loads a step give {} products of a thread", tile.rows + tile.columns,
                                 tile.rows * tile.columns);
  Decision why{.reason = used};
  if (int64_t terms = largestDivisor(extentOf(p.term), {16, 8, 4}))
    tryApply(s, OptOp::UNROLL, unrollAxis(s, p.term), terms, inWords("several terms are loaded at once"));
  // Four contiguous results are one load. A second four lie as far away as the threads of the group reach.
  int64_t sideBySide = std::min<int64_t>(4, tile.columns), below = std::min<int64_t>(4, tile.rows);
  tryApply(s, OptOp::UPCAST, axisOf(s, p.column), sideBySide, why);
  tryApply(s, OptOp::UPCAST, axisOf(s, p.row), below, why);
  int64_t across = groupDivisor(extentNow(s, p.column) / (tile.columns / sideBySide), 16);
  int64_t down =
      groupDivisor(extentNow(s, p.row) / (tile.rows / below), kThreads / std::max<int64_t>(16, across));
  if (down > 1)
    tryApply(s, OptOp::LOCAL, axisOf(s, p.row), down,
             inWords("threads of a group share columns of the right operand"));
  if (across > 1)
    tryApply(s, OptOp::LOCAL, axisOf(s, p.column), across,
             inWords("threads of a group share rows of the left operand"));
  if (tile.columns > sideBySide)
    tryApply(s, OptOp::UPCAST, axisOf(s, p.column), tile.columns / sideBySide, why);
  if (tile.rows > below) tryApply(s, OptOp::UPCAST, axisOf(s, p.row), tile.rows / below, why);
  return true;
}

/// For few results of many terms: each thread of a group sums a part of the terms.
bool chooseForLongSum(KernelOptimizer& s, const KernelShape& k) {
  int64_t outputs = product(k.outputs), terms = product(k.summed);
  if (terms < kShortestShared) return false;
  UOp along; // a loop along which the terms are contiguous
  for (UOp t : k.summed) {
    bool suits = extentOf(t) >= 32 && std::all_of(k.reads.begin(), k.reads.end(), [&](UOp r) {
                   return strideOf(r, t) == 1 || strideOf(r, t) == 0;
                 });
    if (suits && std::any_of(k.reads.begin(), k.reads.end(), [&](UOp r) { return strideOf(r, t) == 1; }))
      along = t;
  }
  if (along) {
    int64_t n = extentOf(along);
    if (n % 4 == 0 && n / 4 >= 32 &&
        tryApply(s, OptOp::UNROLL, unrollAxis(s, along), 4, inWords("four terms are loaded at once")))
      n /= 4;
    int64_t group = groupDivisor(n, outputs >= 2 * kEnoughThreads / 32 ? 64 : kThreads);
    if (group < 8) return false;
    if (group < 128) spreadOverThreads(s, k, 128 / group); // before GROUP, whose threads must be neighbours
    return tryApply(
        s, OptOp::GROUP, groupAxis(s, along), group,
        {.reason = fmt::format("{} results of {} terms: threads share each sum and read side by side",
                               outputs, terms)});
  }
  if (outputs >= kEnoughThreads) return false;
  UOp sideBySide; // a loop of results along which every read is contiguous or constant
  for (UOp r : k.outputs)
    if (readsSuitLanes(k, r)) sideBySide = r;
  UOp longest = *std::max_element(k.summed.begin(), k.summed.end(),
                                  [](UOp a, UOp b) { return extentOf(a) < extentOf(b); });
  int64_t across = sideBySide ? groupDivisor(extentOf(sideBySide), 32) : 1;
  int64_t group = groupDivisor(extentOf(longest), across >= 8 ? 16 : 64);
  if (group < 4) return false;
  if (!tryApply(s, OptOp::GROUP, groupAxis(s, longest), group,
                {.reason = fmt::format("{} results of {} terms: threads share each sum", outputs, terms)}))
    return false;
  if (across > 1)
    tryApply(s, OptOp::LOCAL, axisOf(s, sideBySide), across,
             inWords("neighbouring threads read side by side"));
  return true;
}

void chooseForResults(KernelOptimizer& s, const KernelShape& k) {
  UOp sideBySide;
  for (UOp r : k.outputs) {
    if (!writtenNextToEachOther(k, r)) continue;
    sideBySide = r;
    bool wide = extentOf(r) % 4 == 0 && product(k.outputs) / 4 >= kEnoughThreads &&
                (k.reduction || readsSuitLanes(k, r));
    if (wide) tryApply(s, OptOp::UPCAST, axisOf(s, r), 4, inWords("results lie next to each other along it"));
    break;
  }
  spreadOverThreads(s, k, k.reduction ? kThreads / 2 : kThreads, sideBySide);
}

} // namespace

void chooseForGroups(KernelOptimizer& s, const KernelShape& k) {
  if (vars::nolocals) {
    s.apply({OptOp::NOLOCALS, -1, {}}, inWords("NOLOCALS=1"));
    return;
  }
  if (chooseTensorCores(s, k)) return;
  if (k.reduction && (chooseForProduct(s, k) || chooseForLongSum(s, k))) return;
  if (k.outputs.empty()) return;
  padForThreads(s, k);
  chooseForResults(s, inspect(s));
}

} // namespace uopscope::heuristic
