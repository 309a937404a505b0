// Collects the reads, the writes and the loops of a kernel for the heuristics.
#include "engine/base/error.h"
#include "engine/codegen/heuristic.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tiling.h"
#include "engine/uop/visit.h"

#include <algorithm>

namespace uopscope::heuristic {

int axisOf(const KernelOptimizer& s, UOp range) {
  // A range that was split keeps its argument, while its extent changes.
  for (size_t i = 0; i < s.ranges().size(); ++i)
    if (s.ranges()[i].arg() == range.arg()) return static_cast<int>(i);
  return -1;
}
int64_t extentNow(const KernelOptimizer& s, UOp range) {
  int axis = axisOf(s, range);
  return axis < 0 ? 1 : s.extent(static_cast<size_t>(axis));
}

int64_t strideOf(UOp access, UOp range) {
  UOp index = access.src(1);
  if (index.is(Op::WHERE) && index.src(2).isInvalidConst()) index = index.src(1);
  auto stride = coefficientOf(index, range);
  return stride ? *stride : TileAxis::kNotLinear;
}

int64_t largestDivisor(int64_t n, std::initializer_list<int64_t> choices) {
  for (int64_t c : choices)
    if (c > 1 && n % c == 0) return c;
  return 0;
}

bool isOpen(UOp value, UOp range) {
  const auto& open = value.ranges();
  return std::find(open.begin(), open.end(), range) != open.end();
}

bool isOfCopy(const KernelOptimizer& s, UOp loop) {
  if (loop.axisType() != AxisType::Loop || !s.ast().below().has(Op::AFTER)) return false;
  for (UOp effect : s.ast().src())
    for (UOp r : rangesIn(effect.src().subspan(std::min<size_t>(1, effect.srcCount()))))
      if (r == loop) return false;
  return true;
}

KernelShape inspect(const KernelOptimizer& s) {
  KernelShape k;
  int64_t most = 0;
  for (UOp red : s.reduces()) {
    int64_t steps = 1;
    for (UOp r : red.src().subspan(1)) steps *= std::max<int64_t>(1, extentOf(r));
    for (UOp r : red.ranges()) steps *= std::max<int64_t>(1, extentOf(r));
    if (steps > most) {
      most = steps;
      k.reduction = red;
    }
  }
  std::vector<UOp> stored;
  for (UOp u : s.ast().toposort())
    if (u.is(Op::STORE) && u.src(0).is(Op::INDEX)) stored.push_back(u.src(0));
  // The copies that a reduction reads have accesses and loops of their own, which are left out.
  UOpMap<bool> own;
  std::vector<UOp> terms;
  for (UOp red : s.reduces())
    if (std::ranges::equal(red.src().subspan(1), k.reduction.src().subspan(1))) terms.push_back(red.src(0));
  k.sums = std::max<int64_t>(1, static_cast<int64_t>(terms.size()));
  visitBelow(terms, [&](UOp u) {
    if (u.is(Op::INDEX)) own[u] = true;
    return u.is(Op::AFTER) ? Visit::Past : Visit::Below;
  });
  for (UOp a : s.accesses()) {
    bool isWrite = std::find(stored.begin(), stored.end(), a) != stored.end();
    if (isWrite && (!k.reduction || a.bufferOf().is(Op::DEFINE_GLOBAL)))
      k.writes.push_back(a);
    else if (!isWrite && (!k.reduction || own.contains(a)))
      k.reads.push_back(a);
  }
  for (UOp r : s.ranges()) {
    if (extentOf(r) <= 1) continue;
    if (k.reduction && isOfCopy(s, r)) continue;
    if (r.axisType() == AxisType::Loop || r.axisType() == AxisType::Global) k.outputs.push_back(r);
    if (k.reduction && r.axisType() == AxisType::Reduce)
      for (UOp own : k.reduction.src().subspan(1))
        if (own == r) k.summed.push_back(r);
  }
  return k;
}

bool writtenNextToEachOther(const KernelShape& k, UOp range) {
  return !k.writes.empty() &&
         std::all_of(k.writes.begin(), k.writes.end(), [&](UOp w) { return strideOf(w, range) == 1; });
}
bool readsSuitLanes(const KernelShape& k, UOp range) {
  return std::all_of(k.reads.begin(), k.reads.end(), [&](UOp r) {
    int64_t stride = strideOf(r, range);
    return stride == 0 || stride == 1;
  });
}
bool tryApply(KernelOptimizer& s, const Opt& opt, const Decision& why) {
  try {
    return s.apply(opt, why);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Compile) throw;
    return false;
  }
}
bool tryApply(KernelOptimizer& s, OptOp op, int axis, int64_t amount, const Decision& why) {
  return axis >= 0 && tryApply(s, Opt{op, axis, {amount}}, why);
}
bool tryOverlap(KernelOptimizer& s, OptOp op, int axis, int64_t amount, const Decision& why) {
  return axis >= 0 && tryApply(s, Opt{op, axis, {amount, kOverlap}}, why);
}
Decision inWords(const char* words) {
  return {.reason = words};
}
int unrollAxis(const KernelOptimizer& s, UOp range) {
  int n = 0;
  for (size_t a : s.axesOf({AxisType::GroupReduce, AxisType::Reduce})) {
    if (s.extent(a) <= 1) continue;
    if (s.ranges()[a].arg() == range.arg()) return n;
    ++n;
  }
  return -1;
}

} // namespace uopscope::heuristic
