// Looks at the reads of a reduction along each of its loops, and tries the tiles for each choice of strides.
#include "engine/codegen/strided_tile.h"

#include "engine/base/context_var.h"
#include "engine/base/cpu_count.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/panels.h"
#include "engine/codegen/tensor_core_layout.h"
#include "engine/codegen/tensor_core_product.h"
#include "engine/rules/algebra.h"

#include <algorithm>

namespace uopscope::heuristic {

namespace {

constexpr double kLanesOfPanel = 32; ///< that the price of a tile with dot products takes for granted
constexpr int64_t kMostWritten = 4;  ///< whose steps are written out

/// The terms that a dot product adds to each lane if `axis` becomes lanes: 1 where their operands would not come together.
int64_t termsTogether(const KernelShape& k, const std::vector<DotSum>& dots, UOp axis) {
  for (const DotSum& dot : dots) {
    const int64_t terms = termsOf(*dot.core);
    if (dot.term == axis && areSideBySide(dot.single, axis) && areSideBySide(dot.lanes, axis)) return terms;
    if (std::ranges::find(k.outputs, axis) == k.outputs.end() ||
        dot.single.dependsOn(axis) == dot.lanes.dependsOn(axis))
      continue;
    const UOp shared = dot.lanes.dependsOn(axis) ? dot.single : dot.lanes;
    if (areSideBySide(shared, dot.term)) return terms;
    int64_t reuse = 1, bytes = shared.dtype().itemsize();
    for (UOp r : k.outputs) reuse *= shared.dependsOn(r) ? 1 : extentOf(r);
    for (const auto* ranges : {&k.outputs, &k.summed})
      for (UOp r : *ranges) bytes *= shared.src(1).dependsOn(r) ? extentOf(r) : 1;
    if (servesShared(static_cast<double>(reuse) / kLanesOfPanel, bytes)) return terms;
  }
  return 1;
}

/// The loops that clauses of the gate, and terms of the address with divisions, depend on together with `range`.
std::vector<UOp> decidesWith(UOp index, UOp range) {
  std::vector<UOp> found;
  if (!index.is(Op::WHERE) && !index.below().intersects(OpSet{Op::IDIV, Op::MOD})) return found;
  auto add = [&](UOp u) {
    if (!u.dependsOn(range)) return;
    for (UOp r : u.ranges())
      if (r != range && std::ranges::find(found, r) == found.end()) found.push_back(r);
  };
  for (UOp clause : splitUop(validOf(index), Op::AND)) add(clause);
  for (UOp term : splitUop(indexOf(index), Op::ADD))
    if (term.below().has(Op::IDIV) || term.below().has(Op::MOD)) add(term);
  return found;
}

/// The steps of a stride (the inner loop of one that was split by it) say which terms there are, once both are written out: the axes of
/// those that can be, the inner ones first.
std::vector<size_t> stridesOf(const std::vector<TileAxis>& axes, int64_t width) {
  std::vector<size_t> found;
  int64_t taken = 1, terms = 1;
  for (const TileAxis& a : axes)
    if (a.isTerm) terms *= a.extent;
  auto isDivided = [](int64_t stride) { return stride == TileAxis::kNotLinear; };
  for (size_t i = axes.size(); i-- > 0;) {
    const TileAxis& a = axes[i];
    if (a.isTerm || a.oneByOne || a.extent > kMostWritten || std::ranges::none_of(a.strides, isDivided))
      continue;
    if (taken * a.extent * terms > mostWrittenOut(width)) continue;
    taken *= a.extent;
    found.push_back(i);
  }
  return found;
}

/// Adds the loops that say, together with the axis, what a read with a gate or with divisions reads.
void addDeciding(std::vector<UOp>& to, const TileAxis& axis) {
  for (size_t r = 0; r < axis.gates.size(); ++r)
    if (axis.gates[r] || axis.strides[r] == TileAxis::kNotLinear)
      to.insert(to.end(), axis.knownWith[r].begin(), axis.knownWith[r].end());
}

/// Whether a read is of numbers of fewer than four bytes, which most sums widen.
bool isNarrow(UOp read) {
  return read.src(0).dtype().base().scalar().itemsize() < 4;
}

/// Whether a panel may turn the terms of a read: it is of memory, not of a copy, and of no small numbers.
bool isTurned(UOp read) {
  return !isNarrow(read) && read.src(0).is(Op::DEFINE_GLOBAL);
}

constexpr double kWorthFilling = 1 << 20; ///< iterations of a kernel whose tiles need not divide its axes

/// Iterations of the reduction's loops.
double workOf(const KernelShape& k) {
  double work = 1;
  for (const auto* ranges : {&k.outputs, &k.summed})
    for (UOp r : *ranges) work *= static_cast<double>(std::max<int64_t>(1, extentOf(r)));
  return work;
}

/// Steps of a stride that lie side by side in memory: with them written out, so do the elements along the loop around them.
void joinSteps(std::vector<TileAxis>& axes, const TileAxis& stride) {
  for (TileAxis& a : axes)
    for (size_t r = 0; r < a.strides.size(); ++r)
      if (stride.strides[r] == 1 && a.strides[r] == stride.extent) a.strides[r] = 1;
}

} // namespace

bool areSideBySide(UOp read, UOp term) {
  return coefficientOf(read.src(1), term) == 1;
}

std::vector<TileAxis> tileAxes(const KernelOptimizer& s, const KernelShape& k, int64_t width) {
  std::vector<TileAxis> axes;
  std::vector<DotSum> dots;
  if (vars::tc && k.reduction) dots = dotSums(s.target(), std::span(&k.reduction, 1), s.stores());
  std::erase_if(dots, [&](const DotSum& d) { return !mayUse(s.target(), *d.core); });
  // A tile of six rows that overlap has half as many results again as one of four that divide, which is seen in kernels of some work.
  // Of 16 registers a plain product alone gains by it: windows lose more by rows that begin anywhere, small numbers by elements that
  // are widened one by one. Dot products of bytes keep what corrects their signs beside the sums, and 24 of these leave too few registers.
  const bool isProduct = k.summed.size() == 1 && k.reads.size() == 2 && k.reduction.src(0).is(Op::MUL) &&
                         std::ranges::none_of(k.reads, isNarrow);
  const bool fillsRegisters =
      workOf(k) >= kWorthFilling && dots.empty() && (isProduct || vectorRegisters(s.target()) >= 32);
  auto add = [&](UOp r, bool isTerm) {
    TileAxis a{r, extentOf(r), isTerm, !isTerm && writtenNextToEachOther(k, r), {}, {}};
    a.oneByOne = !s.mayBecomeLanes(r);
    for (UOp read : k.reads) {
      a.strides.push_back(strideOf(read, r));
      UOp index = read.src(1);
      a.gates.push_back(index.is(Op::WHERE) && index.src(0).dependsOn(r));
      a.knownWith.push_back(decidesWith(index, r));
    }
    const bool isWhole = a.extent % (2 * width) == 0;
    a.mayOverlap = isTerm ? !isWhole && s.mayPeel(r) : (!isWhole || fillsRegisters) && s.mayOverlap(r);
    if (fillsRegisters) a.wholeRows = 2;
    a.together = termsTogether(k, dots, r);
    axes.push_back(std::move(a));
  };
  for (UOp r : k.outputs) add(r, false);
  for (UOp r : k.summed) add(r, true);
  return axes;
}

TileMachine machineOf(const KernelOptimizer& s, const KernelShape& k, int64_t width) {
  const bool areMasked =
      std::ranges::all_of(k.reads, [&](UOp read) { return hasMasks(s.target(), read.src(0).dtype()); });
  const double work = workOf(k);
  int64_t threads = s.target().hasThreads ? std::min<int64_t>(cpuCount(), s.target().globalMax[0]) : 1;
  threads = std::clamp<int64_t>(
      threads, 1, std::max<int64_t>(1, static_cast<int64_t>(std::min(work / kWorkPerThread, 1e6))));
  return {k.reads.size(),
          width,
          areMasked,
          k.sums,
          threads,
          s.ast().below().has(Op::AFTER),
          vectorRegisters(s.target()),
          std::ranges::all_of(k.reads, isTurned),
          k.reduction && k.reduction.arg().op() == Op::MUL && k.reduction.dtype().isFloat()};
}

StridedTile chooseStridedTile(const std::vector<TileAxis>& axes, const TileMachine& machine,
                              bool listOthers) {
  const std::vector<size_t> all = stridesOf(axes, machine.registerLanes);
  std::optional<StridedTile> best;
  for (size_t count = all.size() + 1; count-- > 0;) {
    StridedTile t;
    t.axes = axes;
    for (size_t k = 0; k < count; ++k) {
      t.strides.insert(t.strides.begin(), axes[all[k]].range);
      t.written.steps *= axes[all[k]].extent;
      if (axes[all[k]].writtenInOrder) addDeciding(t.deciding, axes[all[k]]);
    }
    for (size_t k = 0; k < count; ++k) joinSteps(t.axes, axes[all[k]]);
    std::erase_if(
        t.axes, [&](const TileAxis& a) { return std::ranges::find(t.strides, a.range) != t.strides.end(); });
    for (const TileAxis& a : t.axes)
      if (a.isTerm && std::ranges::find(t.deciding, a.range) != t.deciding.end()) t.written.terms *= a.extent;
    t.tile = chooseTile(t.axes, machine, t.written, listOthers);
    if (!best || t.cycles() < best->cycles()) best = std::move(t);
  }
  return *best;
}

std::vector<UOp> decidingTerms(const StridedTile& chosen) {
  std::vector<UOp> found = chosen.deciding;
  if (chosen.tile.parts.empty()) return found;
  const Tile::Part& lanes = chosen.tile.parts.back();
  const auto axis = std::ranges::find(chosen.axes, lanes.range, &TileAxis::range);
  if (!lanes.isTerm && axis != chosen.axes.end() && lanes.amount == axis->extent) addDeciding(found, *axis);
  return found;
}

} // namespace uopscope::heuristic
