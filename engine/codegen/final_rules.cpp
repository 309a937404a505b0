// The rules of the pass "final rewrite".
#include "engine/codegen/final_rules.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/uop/eval.h"

#include <algorithm>
#include <bit>

namespace uopscope {

namespace {

using namespace pat;

UOp gatedIndexOf(UOp load) {
  UOp index = load.src(0);
  while (index.is(Op::CAST)) index = index.src(0);
  return index.is(Op::INDEX) && index.srcCount() == 3 ? index : UOp();
}
UOp giveAlternative(Match& m) {
  UOp load = m.root();
  if (!gatedIndexOf(load) || (load.srcCount() > 1 && !load.src(1).dtype().isVoid()))
    return m.decline("no gate, or an alternative is there");
  std::vector<UOp> src(load.src().begin(), load.src().end());
  src.insert(src.begin() + 1, UOp::constant(load.dtype(), int64_t{0}));
  return load.withSrc(src);
}
/// gate ? load : other, where the load has the same gate, becomes a load that gives `other` where the gate is
/// false.
UOp foldAlternative(UOp gate, UOp load, UOp other, bool inverted) {
  DType result = load.dtype();
  if (load.is(Op::CAST)) load = load.src(0);
  if (!load.is(Op::LOAD)) return {};
  UOp index = gatedIndexOf(load);
  if (!index) return {};
  UOp own = index.src(2);
  bool same = inverted ? own.is(Op::CMPNE) && own.src(0) == gate && own.src(1).isConst(1) : own == gate;
  if (!same || other.dependsOn(load)) return {};
  if (result != load.dtype()) { // a cast in between: the alternative is converted there and back
    if (!other.isConst()) return {};
    ConstValue before = convertConst(load.dtype(), other.constValue());
    if (!(convertConst(result, before) == other.constValue())) return {};
    other = UOp::constant(load.dtype(), before);
  }
  std::vector<UOp> src{load.src(0), other};
  for (UOp s : load.src().subspan(1))
    if (s.dtype().isVoid()) src.push_back(s);
  return load.withSrc(src).cast(result);
}
UOp whereOfLoad(Match& m) {
  UOp w = m.root();
  if (UOp r = foldAlternative(w.src(0), w.src(1), w.src(2), false)) return r;
  return foldAlternative(w.src(0), w.src(2), w.src(1), true);
}
UOp plainLanes(Match& m) {
  UOp root = m.root();
  if (root.isConst() && laneCount(root) == 1) return m.decline("one lane");
  if (root.is(Op::VECTORIZE)) return root.srcCount() == 1 ? root.src(0) : m.decline("more than one lane");
  std::vector<UOp> lanes;
  for (int i = 0; i < laneCount(root); ++i) lanes.push_back(lane(root, i));
  return lanes.size() == 1 ? (lanes[0] == root ? m.decline("it is one lane already") : lanes[0])
                           : UOp::vectorize(lanes);
}
/// Lanes of `a` and `b` in turns, those of the lower or the upper halves.
UOp interleaved(UOp a, UOp b, int64_t half) {
  std::vector<UOp> lanes;
  int64_t n = laneCount(a) / 2;
  for (int64_t k = half * n; k < (half + 1) * n; ++k) {
    lanes.push_back(UOp::make(Op::GEP, a.dtype().scalar(), {a}, Arg::of(std::vector<int64_t>{k})));
    lanes.push_back(UOp::make(Op::GEP, b.dtype().scalar(), {b}, Arg::of(std::vector<int64_t>{k})));
  }
  return UOp::vectorize(lanes);
}
/// Vector `at` after `rounds` in each of which vectors i and i + n/2 give vectors 2i and 2i+1.
UOp afterRounds(const std::vector<UOp>& rows, size_t at, int rounds) {
  if (rounds == 0) return rows[at];
  UOp a = afterRounds(rows, at / 2, rounds - 1), b = afterRounds(rows, at / 2 + rows.size() / 2, rounds - 1);
  return interleaved(a, b, static_cast<int64_t>(at % 2));
}
/// A column of a square whose rows are vectors: as many rounds of interleaving as the square has halves, which all
/// columns share, instead of taking every lane on its own.
UOp transposeByHalves(Match& m) {
  UOp root = m.root();
  size_t n = root.srcCount();
  const Target& target = m.ctx<TargetContext>().target;
  auto isLane = [&](UOp s) {
    return s.is(Op::GEP) && s.arg() == root.src(0).arg() && s.arg().ints().size() == 1 &&
           static_cast<size_t>(laneCount(s.src(0))) == n;
  };
  if (n < 4 || (n & (n - 1)) || !isLane(root.src(0))) return m.decline("no column of a square");
  std::vector<UOp> rows;
  for (UOp s : root.src()) {
    if (!isLane(s) || std::find(rows.begin(), rows.end(), s.src(0)) != rows.end())
      return m.decline("no column of a square");
    rows.push_back(s.src(0));
  }
  if (aluLanes(target, root.dtype()) < static_cast<int>(n) || target.extraMatcher)
    return m.decline("vectors of the target are shorter, or its rules put lanes together");
  return afterRounds(rows, static_cast<size_t>(root.src(0).arg().ints()[0]), std::countr_zero(n));
}
/// Integers that differ by constants, such as n+1, n+2, n+3, n+4, or numbers converted from such: n in every lane plus constants,
/// converted at once.
UOp countedLanes(Match& m) {
  UOp root = m.root();
  const Target& target = m.ctx<TargetContext>().target;
  const bool converts = root.src(0).is(Op::CAST);
  const auto integer = [&](UOp lane) { return converts ? lane.src(0) : lane; };
  const UOp first = integer(root.src(0));
  if (root.srcCount() < 4 || !first.dtype().isInt() || target.extraMatcher)
    return m.decline("few lanes, or no integers");
  for (const DType d : {root.dtype(), first.dtype()})
    if (aluLanes(target, d) < laneCount(root)) return m.decline("vectors of the target are shorter");
  const auto isSum = [](UOp u) { return u.is(Op::ADD) && u.src(1).isConst(); };
  const UOp base = isSum(first) ? first.src(0) : first;
  if (base.isConst()) return m.decline("a constant comes first");
  std::vector<ConstValue> steps;
  for (UOp lane : root.src()) {
    if (converts && !(lane.is(Op::CAST) && lane.src(0).dtype() == first.dtype()))
      return m.decline("lanes are converted from different types");
    const UOp u = integer(lane);
    if (u != base && !(isSum(u) && u.src(0) == base)) return m.decline("lanes differ by more than constants");
    steps.push_back(u == base ? convertConst(base.dtype(), ConstValue::ofInt(0)) : u.src(1).constValue());
  }
  if (std::ranges::all_of(root.src(), [&](UOp lane) { return lane == root.src(0); }))
    return m.decline("all lanes are the same");
  const DType type = first.dtype().vec(laneCount(root));
  const UOp sum =
      base.broadcast(laneCount(root)) + UOp::make(Op::VCONST, type, {}, Arg::of(std::move(steps)));
  return converts ? sum.cast(root.dtype()) : sum;
}
UOp splitEnd(Match& m) {
  UOp end = m.root();
  // A range that became a hardware index or a constant needs no END of its own, but its expression may
  // contain ranges.
  std::vector<UOp> ranges = rangesIn(end.src().subspan(1));
  if (end.srcCount() == 2 && ranges.size() == 1 && ranges[0] == end.src(1))
    return m.decline("it ends one range");
  // The innermost loop ends first. Ids order the ranges: inner loops have larger ids.
  std::sort(ranges.begin(), ranges.end(),
            [](UOp a, UOp b) { return a.arg().as<RangeArg>().ids > b.arg().as<RangeArg>().ids; });
  UOp result = end.src(0);
  for (UOp r : ranges) result = result.end({r});
  return result;
}

constexpr RuleDef kFinal[] = {
    RULE("alternative-of-gated-load", any(Op::LOAD), giveAlternative),
    RULE("where-of-gated-load", any(Op::WHERE), whereOfLoad),
    RULE("transpose-by-halves", any(Op::VECTORIZE), transposeByHalves),
    RULE("counted-lanes", any(Op::VECTORIZE), countedLanes),
    RULE("plain-lanes", any({Op::CONST, Op::VCONST, Op::GEP, Op::VECTORIZE, Op::CAT}), plainLanes),
    RULE("one-range-per-end", any(Op::END), splitEnd),
};
const KnownRules kFinalKnown(kFinal);

} // namespace

std::span<const RuleDef> finalRules() {
  return kFinal;
}

} // namespace uopscope
