// Asks whether a kernel is a sum along columns of memory that nothing reads twice, and makes the loop over its rows.
#include "engine/codegen/column_sums.h"

#include "engine/base/integers.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/strips.h"
#include "engine/codegen/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

namespace uopscope {

namespace {

using namespace pat;

constexpr int64_t kRowBytes = 2048;             ///< of a row's piece from which on memory is fetched ahead
constexpr int64_t kAccumulatorBytes = 16 << 10; ///< that stay in the first cache beside the rows that pass
constexpr int64_t kColumnLanes = 16;            ///< of which strips are multiples
constexpr int64_t kRowsAtOnce = 8;              ///< for each time that accumulators are read and written
constexpr int64_t kNodesAtOnce = 512;           ///< of the terms of these rows, which are written out
constexpr int64_t kFewRows = 64; ///< whose terms are few beside clearing accumulators and writing results
constexpr int64_t kFewBytes = 1 << 20; ///< that a near cache holds, where a tile of registers is as fast

/// A kernel that is a sum along columns.
struct ColumnSum {
  OneSum k;
  UOp column;              ///< the loop along which results and terms are contiguous
  std::vector<UOp> ranges; ///< of the sum, the one with the largest steps first
  int64_t width = 0;       ///< steps of that loop
  int64_t others = 1;      ///< steps of the other loops
};

/// Why the reads of a kernel are not rows that are each needed once; null if they are.
const char* notRows(ColumnSum& s) {
  UOp row;
  for (UOp read : s.k.sum.src(0).toposort()) {
    if (!read.is(Op::INDEX)) continue;
    const UOp at = read.src(1);
    if (at.is(Op::WHERE) || at.below().has(Op::INDEX))
      return "a read has a condition, or a place that memory names";
    if (!at.dependsOn(s.column)) continue;
    if (coefficientOf(at, s.column) != 1) return "the terms of neighbouring results do not lie side by side";
    auto isRead = [&](UOp loop) { return at.dependsOn(loop); };
    if (!std::ranges::all_of(s.k.loops, isRead)) return "results share what they read";
    if (std::ranges::all_of(s.ranges, isRead)) row = at;
  }
  if (!row) return "no read is a row for each term";
  for (UOp r : s.ranges)
    if (!coefficientOf(row, r)) return "the rows do not lie at even distances";
  std::ranges::stable_sort(s.ranges, std::greater{}, [&](UOp r) { return std::abs(*coefficientOf(row, r)); });
  return nullptr;
}

const char* notColumnSum(UOp sink, ColumnSum& s) {
  if (!findSum(sink, s.k)) return "not one store of one sum";
  const Op how = s.k.sum.arg().op();
  if (how != Op::ADD && how != Op::MAX) return "neither a sum nor a maximum";
  const UOp to = s.k.store.src(0).src(1);
  for (UOp l : s.k.loops)
    if (coefficientOf(to, l) == 1) s.column = l;
  if (!s.column) return "results are contiguous along no loop";
  s.ranges = rangesIn(s.k.sum.src().subspan(1));
  int64_t rows = 1;
  for (UOp r : s.ranges) {
    if (extentOf(r) < 1) return "the number of terms is not known";
    rows *= extentOf(r);
  }
  s.width = extentOf(s.column);
  for (UOp l : s.k.loops)
    if (l != s.column) s.others *= extentOf(l);
  const int64_t bytes = s.k.sum.dtype().itemsize();
  if (rows < kFewRows) return "few terms";
  if (s.width * bytes < 2 * kRowBytes) return "rows are short";
  if (s.width * s.others * rows * bytes < kFewBytes) return "a near cache holds all terms";
  return notRows(s);
}

/// The columns of a strip: threads share strips, the last of which overlaps the one before where they divide no row.
int64_t stripWidth(const ColumnSum& s, int64_t threads) {
  const int64_t bytes = s.k.sum.dtype().itemsize(), least = kRowBytes / bytes;
  const int64_t shares = ceilDiv(threads, s.others),
                parts = roundUp(ceilDiv(s.width * bytes, kAccumulatorBytes), shares);
  const int64_t width = std::max(least, ceilDiv(s.width, parts));
  return s.width % width == 0 ? width : roundUp(width, kColumnLanes);
}

/// The kernel with a loop over its rows, in the order of the terms.
class RowLoop {
public:
  RowLoop(UOp sink, const ColumnSum& s, int64_t width)
      : sink_(sink), s_(s), width_(width), nextId_(nextRangeId(sink)),
        memory_(registersOf(s.k.sum.dtype(), width, nextRegister(sink))) {
    const UOp outer = s.column.withSrc({UOp::index(ceilDiv(s.width, width))});
    start_ = startOfPart(outer, width, s.width);
    for (UOp l : s.k.loops)
      if (l != s.column) around_.push_back(l);
    around_.push_back(outer);
    const int64_t rows = extentOf(s.ranges.back());
    // Rows that are left over begin the accumulators, where there is one loop of rows.
    const auto nodes = static_cast<int64_t>(s.k.sum.src(0).toposort().size());
    together_ = std::clamp<int64_t>(kNodesAtOnce / nodes, 1, std::min(rows, kRowsAtOnce));
    if (s.ranges.size() > 1)
      while (rows % together_) --together_;
    first_ = rows % together_;
  }

  int64_t together() const { return together_; }

  UOp make() {
    const UOp begun = begin(), added = add(begun);
    const UOp column = range(width_), sum = s_.k.sum;
    UOpMap<UOp> at{{s_.column, start_ + column}};
    const UOp to = s_.k.store.src(0).substitute(at);
    at[sum] = memory_.after(std::span<const UOp>(&added, 1)).indexed({column}, sum.dtype());
    std::vector<UOp> loops = around_;
    loops.push_back(column);
    return sink_.withSrc({to.store(s_.k.store.src(1).substitute(at)).end(loops)});
  }

private:
  UOp range(int64_t steps, AxisType type = AxisType::Loop) { return UOp::range(steps, nextId_++, type); }
  UOp with(UOp sum, UOp term) const { return sum ? sum.alu(s_.k.sum.arg().op(), {term}) : term; }
  /// The sum of `count` rows from `row` on, of the innermost loop.
  UOp rows(UOpMap<UOp> at, UOp row, int64_t count) const {
    UOp sum;
    for (int64_t i = 0; i < count; ++i) {
      at[s_.ranges.back()] = row + i;
      sum = with(sum, s_.k.sum.src(0).substitute(at));
    }
    return sum;
  }
  UOp begin() {
    const UOp column = range(width_), sum = s_.k.sum;
    const UOp first = first_ > 0 ? rows({{s_.column, start_ + column}}, UOp::index(0), first_)
                                 : identityElement(sum.arg().op(), sum.dtype());
    return memory_.after(around_).indexed({column}).store(first).end({column});
  }
  UOp add(UOp begun) {
    UOpMap<UOp> at;
    std::vector<UOp> loops;
    for (UOp r : s_.ranges) {
      const bool isInner = r == s_.ranges.back();
      loops.push_back(range(isInner ? extentOf(r) / together_ : extentOf(r), AxisType::Reduce));
      at[r] = loops.back();
    }
    std::vector<UOp> before{begun};
    before.insert(before.end(), loops.begin(), loops.end());
    const UOp row = loops.back() * together_ + first_, column = range(width_);
    at[s_.column] = start_ + column;
    const UOp sum = memory_.after(before).indexed({column}, s_.k.sum.dtype());
    loops.push_back(column);
    return memory_.indexed({column}).store(with(sum, rows(at, row, together_))).end(loops);
  }

  UOp sink_;
  const ColumnSum& s_;
  int64_t width_, nextId_;
  UOp memory_, start_;
  std::vector<UOp> around_; ///< the loops around the rows
  int64_t together_ = 1, first_ = 0;
};

UOp sumByRows(Match& m) {
  ColumnSum s;
  if (const char* why = notColumnSum(m.root(), s)) return m.decline(why);
  const Target& target = m.ctx<TargetContext>().target;
  const int64_t threads = target.hasThreads ? target.globalMax[0] : 1, width = stripWidth(s, threads);
  if (ceilDiv(s.width, width) * s.others < threads)
    return m.decline("too few long pieces of rows for the threads");
  RowLoop loop(m.root(), s, width);
  because([&] {
    return fmt::format("rows of {} columns are read whole, {} at a time, into {} accumulators", s.width,
                       loop.together(), width);
  });
  return loop.make();
}

constexpr RuleDef kColumnSums[] = {RULE("sum-columns-by-rows", any(Op::SINK), sumByRows)};
const KnownRules kColumnSumsKnown(kColumnSums);

} // namespace

std::span<const RuleDef> columnSumRules() {
  return kColumnSums;
}

} // namespace uopscope
