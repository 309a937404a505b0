// The rules of loads, wide accesses, lanes and the final rewrite.
#include "engine/codegen/memory.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/ranges.h"
#include "engine/uop/eval.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

namespace uopscope {

int aluLanes(const Target& target, DType d) {
  if (d.kind() == Scalar::Index || d.isBool() || d.isVoid()) return 1;
  return target.aluLanes;
}

int registerLanes(const Target& target, DType d) {
  return std::max(1, aluLanes(target, d) * 4 / std::max(4, d.scalar().itemsize()));
}

int accessLanes(const Target& target, DType d, AddrSpace space) {
  if (!target.supportsVectors) return 1;
  if (space == AddrSpace::Reg) return aluLanes(target, d); // registers are as wide as the arithmetic on them
  if (d.isBool()) return 1;
  int bytes = target.maxVectorLanes * 4;
  return std::max(1, std::min(bytes / std::max(1, d.scalar().itemsize()), target.vectorLimit));
}

namespace {

using namespace pat;
constexpr PatVar x{"x"}, at{"at"}, value{"value"};

// --- add loads ---

UOp addLoad(Match& m) {
  UOp index = m.root();
  if (index.dtype().isPtr() || !index.src(0).dtype().isPtr()) return m.decline("an address, or no memory");
  int n = laneCount(index);
  UOp address = index.withDtype(withLanes(index.src(0).dtype(), n));
  return address.load({}, index.dtype());
}
constexpr RuleDef kAddLoads[] = {
    RULE("add-load", any(Op::INDEX), addLoad),
    RULE("store-through-load", op(Op::STORE, op(Op::LOAD, at).more()).more(), rootWith(at)),
};

// --- wide accesses ---

struct LaneAddress {
  UOp gate, base; ///< null gate: always accessed; null base: a constant address
  int64_t offset;
};

/// Takes "valid ? base + offset : Invalid" apart. Returns false if the lane is never accessed.
bool takeApart(UOp index, UOp gate, LaneAddress& out) {
  out = {gate, index, 0};
  if (index.isInvalidConst()) return false;
  if (index.is(Op::WHERE) && index.src(2).isInvalidConst()) {
    out.gate = gate ? gate & index.src(0) : index.src(0);
    out.base = index.src(1);
  }
  if (out.base.is(Op::ADD)) {
    for (size_t k = 0; k < 2; ++k)
      if (out.base.src(k).isConst() && !out.base.src(k).isInvalidConst()) {
        out.offset = out.base.src(k).arg().i();
        out.base = out.base.src(1 - k);
        break;
      }
  } else if (out.base.isConst()) {
    out.offset = out.base.arg().i();
    out.base = {};
  }
  if (out.gate && out.gate.isConst()) {
    if (!out.gate.arg().i()) return false;
    out.gate = {};
  }
  return true;
}

/// The largest power of two up to `limit` that divides u.
int64_t powerOfTwoIn(UOp u, int64_t limit) {
  auto ofNumber = [&](int64_t v) {
    int64_t p = limit;
    while (p > 1 && v % p) p /= 2;
    return p;
  };
  switch (u.op()) {
  case Op::CONST: return u.arg().isNumber() ? ofNumber(u.arg().i()) : 1;
  case Op::ADD: return std::min(powerOfTwoIn(u.src(0), limit), powerOfTwoIn(u.src(1), limit));
  case Op::MUL: return std::min(limit, powerOfTwoIn(u.src(0), limit) * powerOfTwoIn(u.src(1), limit));
  case Op::WHERE: return std::min(powerOfTwoIn(u.src(1), limit), powerOfTwoIn(u.src(2), limit));
  default: return 1;
  }
}

/// A run of lanes that are contiguous in memory.
struct Access {
  LaneAddress at;
  int64_t lanes;
  UOp address; ///< the pointer of the load or store
};

/// An access of many lanes, cut into accesses of widths that the target has.
struct AccessPlan {
  std::vector<Access> accesses;
  std::vector<int64_t>
      laneAt; ///< position of each original lane among all lanes of the accesses; -1: not accessed
};

AccessPlan planAccess(const Target& target, UOp index) {
  UOp buffer = index.src(0), gate = index.srcCount() == 3 ? index.src(2) : UOp();
  int n = laneCount(index.src(1));
  DType element = buffer.dtype().base().scalar();
  AddrSpace space = buffer.dtype().addrspace();
  int64_t widest = accessLanes(target, element, space);

  // Lanes are grouped by base in order of first appearance, and by offset within a base.
  struct Group {
    UOp gate, base;
    std::map<int64_t, std::vector<int>> lanesAtOffset;
  };
  std::vector<Group> groups;
  std::map<std::pair<const Node*, const Node*>, size_t> groupOf;
  AccessPlan plan;
  plan.laneAt.assign(static_cast<size_t>(n), -1);
  for (int i = 0; i < n; ++i) {
    LaneAddress a;
    if (!takeApart(lane(index.src(1), i), gate ? lane(gate, i) : UOp(), a)) continue;
    auto [hit, fresh] = groupOf.emplace(std::pair(a.gate.node(), a.base.node()), groups.size());
    if (fresh) groups.push_back({a.gate, a.base, {}});
    groups[hit->second].lanesAtOffset[a.offset].push_back(i);
  }
  int64_t place = 0;
  for (Group& g : groups) {
    std::vector<int64_t> offsets;
    for (auto& [offset, lanes] : g.lanesAtOffset) offsets.push_back(offset);
    for (size_t first = 0; first < offsets.size();) {
      size_t run = 1;
      while (first + run < offsets.size() &&
             offsets[first + run] == offsets[first] + static_cast<int64_t>(run))
        ++run;
      while (run) {
        int64_t width = 1;
        while (width * 2 <= widest && width * 2 <= static_cast<int64_t>(run)) width *= 2;
        if (target.alignedVectors && width > 1) {
          int64_t aligned = g.base ? powerOfTwoIn(g.base, width) : width;
          while (width > 1 && (aligned < width || offsets[first] % width)) width /= 2;
        }
        UOp flat = g.base ? (offsets[first] ? g.base + offsets[first] : g.base)
                          : UOp::constant(index.src(1).dtype().scalar(), offsets[first]);
        UOp address =
            buffer.indexed({g.gate && flat.dtype() == dtypes::index ? flat.validWhere(g.gate) : flat});
        if (g.gate && flat.dtype() != dtypes::index) address = buffer.indexed({flat, g.gate});
        if (width > 1)
          address = address.cast(element.vec(static_cast<int>(width)).ptr(buffer.dtype().size(), space));
        plan.accesses.push_back({{g.gate, g.base, offsets[first]}, width, address});
        for (int64_t k = 0; k < width; ++k)
          for (int i : g.lanesAtOffset[offsets[first + static_cast<size_t>(k)]])
            plan.laneAt[static_cast<size_t>(i)] = place + k;
        place += width;
        first += static_cast<size_t>(width);
        run -= static_cast<size_t>(width);
      }
    }
  }
  return plan;
}

bool manyLanes(UOp index) {
  return index.is(Op::INDEX) && laneCount(index.src(1)) > 1;
}

UOp splitLoad(Match& m) {
  UOp load = m.root(), index = m[at];
  if (!manyLanes(index)) return m.decline("one lane");
  AccessPlan plan = planAccess(m.ctx<TargetContext>().target, index);
  DType element = load.dtype().scalar();
  std::vector<UOp> rest;
  if (load.srcCount() > 1 && !load.src(1).dtype().isVoid())
    throw Error(ErrorKind::Compile,
                "a load of many lanes cannot have an alternative value yet when it is split");
  for (UOp s : load.src().subspan(1)) rest.push_back(s);
  std::vector<UOp> parts, lanes;
  for (const Access& a : plan.accesses)
    parts.push_back(a.address.load(rest, element.vec(static_cast<int>(a.lanes))));
  UOp zero = UOp::constant(element, int64_t{0});
  if (parts.empty()) return zero.broadcast(laneCount(load));
  UOp all = joinLanes(parts);
  for (int64_t p : plan.laneAt) lanes.push_back(p < 0 ? zero : lane(all, p));
  return joinLanes(lanes);
}

UOp splitStore(Match& m) {
  UOp store = m.root(), index = m[at];
  if (!manyLanes(index)) return m.decline("one lane");
  AccessPlan plan = planAccess(m.ctx<TargetContext>().target, index);
  // If several lanes write to the same place, the last lane wins.
  int64_t total = 0;
  for (const Access& a : plan.accesses) total += a.lanes;
  std::vector<UOp> written(static_cast<size_t>(total));
  for (size_t i = 0; i < plan.laneAt.size(); ++i)
    if (plan.laneAt[i] >= 0)
      written[static_cast<size_t>(plan.laneAt[i])] = lane(m[value], static_cast<int64_t>(i));
  std::vector<UOp> stores;
  size_t from = 0;
  for (const Access& a : plan.accesses) {
    std::vector<UOp> part(written.begin() + static_cast<std::ptrdiff_t>(from),
                          written.begin() + static_cast<std::ptrdiff_t>(from + static_cast<size_t>(a.lanes)));
    from += static_cast<size_t>(a.lanes);
    std::vector<UOp> rest(store.src().begin() + 2, store.src().end());
    stores.push_back(a.address.store(joinLanes(part), rest));
  }
  return UOp::make(Op::GROUP, dtypes::void_, stores);
}

/// A scalar access with an Invalid index: a load gives 0, a store does nothing.
UOp gateOfLoad(Match& m) {
  UOp load = m.root(), index = m[at];
  if (index.srcCount() < 2 || laneCount(index.src(1)) != 1 || !index.src(1).isInvalidConst())
    return m.decline("the index may be valid");
  return load.is(Op::STORE) ? UOp::make(Op::GROUP, dtypes::void_, std::initializer_list<UOp>{})
                            : UOp::constant(load.dtype(), int64_t{0});
}
UOp noEffect(Match& m) {
  // Effects that were removed leave an empty GROUP inside a GROUP or END.
  UOp root = m.root();
  std::vector<UOp> kept;
  for (UOp s : root.src()) {
    if (s.is(Op::GROUP))
      kept.insert(kept.end(), s.src().begin(), s.src().end());
    else
      kept.push_back(s);
  }
  if (kept.size() == root.srcCount() && std::equal(kept.begin(), kept.end(), root.src().begin()))
    return m.decline("no effect came to nothing");
  return kept.size() == 1 && root.is(Op::GROUP) ? kept[0] : root.withSrc(kept);
}

constexpr RuleDef kAccess[] = {
    RULE("split-load", op(Op::LOAD, any(Op::INDEX).named(at)).more(), splitLoad),
    RULE("split-store", op(Op::STORE, any(Op::INDEX).named(at), value).more(), splitStore),
    RULE("never-accessed", op(OpSet{Op::LOAD, Op::STORE}, any(Op::INDEX).named(at)).more(), gateOfLoad),
    RULE("index-gate-true", op(Op::INDEX, x, at, Pat(true)), rootOf(x, at)),
    RULE("flatten-group", any({Op::GROUP, Op::SINK}), noEffect),
};

// --- lanes ---

UOp knownLanes(Match& m) {
  UOp gep = m.root(), from = gep.src(0);
  constexpr OpSet kThrough{Op::VECTORIZE, Op::VCONST, Op::GEP, Op::CAT, Op::PTRCAT};
  const auto& picked = gep.arg().ints();
  if (from.is(Op::AFTER)) return m.decline("lanes of an AFTER stay");
  if (!from.in(kThrough)) {
    UOp same = pickLanes(from, picked);
    return same == gep ? m.decline("it is known already") : same;
  }
  UOp result = pickLanes(from, picked);
  return result == gep ? m.decline("it is known already") : result;
}

/// A lane of arithmetic, a cast or a vector becomes the same operation on lanes of its sources.
UOp laneOfArithmetic(Match& m) {
  UOp gep = m.root(), from = gep.src(0);
  std::vector<UOp> sources;
  for (UOp s : from.src()) sources.push_back(pickLanes(s, gep.arg().ints()));
  return UOp::make(from.op(), withLanes(from.dtype(), static_cast<int>(gep.arg().ints().size())), sources,
                   from.arg());
}
/// Whether a condition compares values: it is computed for many lanes at once, as they are.
bool comparesValues(UOp condition) {
  return !visitBelow(condition, [](UOp u) {
    if (u.in(group::kComparison) && !u.src(0).dtype().isBool())
      return u.src(0).dtype().kind() == Scalar::Index ? Visit::Past : Visit::Stop;
    return u.in(group::kElementwise) ? Visit::Below : Visit::Past;
  });
}
UOp laneOfIndexArithmetic(Match& m) {
  UOp from = m.root().src(0);
  if (from.dtype().kind() != Scalar::Index && !from.dtype().isBool())
    return m.decline("no index and no condition");
  if (comparesValues(from)) return m.decline("a condition on values");
  return laneOfArithmetic(m);
}

/// Lanes of a condition that the target decides at once: as many as of what is compared. Conditions on addresses have
/// one, so that each lane of an access has a gate of its own.
int conditionLanes(const Target& target, UOp condition) {
  int lanes = 1;
  visitBelow(condition, [&](UOp u) {
    bool isVector = laneCount(u) > 1 || u.is(Op::GEP);
    if (!isVector || !u.dtype().isBool()) return Visit::Past;
    if (!u.in(group::kElementwise | OpSet{Op::CAT, Op::GEP, Op::VECTORIZE})) return Visit::Past;
    if (u.src(0).dtype().isBool()) return Visit::Below;
    lanes = std::max(lanes, aluLanes(target, u.src(0).dtype()));
    return Visit::Past;
  });
  return lanes;
}

/// Arithmetic on more lanes than the target does at once is cut.
UOp cutArithmetic(Match& m) {
  UOp root = m.root();
  int n = laneCount(root);
  if (n == 1 || root.dtype().isPtr()) return m.decline("one lane");
  const Target& target = m.ctx<TargetContext>().target;
  int width = root.dtype().isBool() ? conditionLanes(target, root) : aluLanes(target, root.dtype());
  for (UOp s : root.src()) width = std::min(width, s.dtype().isBool() ? width : aluLanes(target, s.dtype()));
  if (width >= n) return m.decline("the device does all lanes at once");
  std::vector<UOp> parts;
  for (int first = 0; first < n; first += width) {
    int count = std::min(width, n - first);
    std::vector<UOp> sources;
    for (UOp s : root.src()) sources.push_back(sliceLanes(s, first, count));
    parts.push_back(UOp::make(root.op(), withLanes(root.dtype(), count), sources, root.arg()));
  }
  return joinLanes(parts);
}
/// Neighbouring tiles are computed one after the other by the tensor core.
UOp cutTensorCore(Match& m) {
  UOp root = m.root();
  const WmmaArg& arg = root.arg().as<WmmaArg>();
  if (arg.upcastAxes.size() != 3 || root.srcCount() != 3) return m.decline("the operands have no axes");
  std::array<int64_t, 3> lanes{1, 1, 1};
  for (size_t s = 0; s < 3; ++s)
    for (auto [axis, size] : arg.upcastAxes[s]) lanes[s] *= size;
  if (laneCount(root) <= lanes[2]) return m.decline("one tile");
  std::vector<UOp> parts;
  for (int64_t n = 0; n < laneCount(root) / lanes[2]; ++n) {
    std::vector<UOp> sources;
    for (size_t s = 0; s < 3; ++s) sources.push_back(sliceLanes(root.src(s), n * lanes[s], lanes[s]));
    parts.push_back(
        UOp::make(Op::WMMA, withLanes(root.dtype(), static_cast<int>(lanes[2])), sources, root.arg()));
  }
  return joinLanes(parts);
}
UOp flatCat(Match& m) {
  std::vector<UOp> lanes;
  for (UOp s : m.root().src()) {
    if (laneCount(s) == 1)
      lanes.push_back(s);
    else if (s.is(Op::VECTORIZE))
      lanes.insert(lanes.end(), s.src().begin(), s.src().end());
    else
      return m.decline("a source is no list of lanes");
  }
  return UOp::vectorize(lanes);
}
UOp constantLanes(Match& m) {
  std::vector<UOp> lanes;
  for (int i = 0; i < laneCount(m.root()); ++i) lanes.push_back(lane(m.root(), i));
  return UOp::vectorize(lanes);
}

constexpr RuleDef kLanes[] = {
    RULE("gep-known-lanes", any(Op::GEP), knownLanes),
    RULE("gep-of-index-arithmetic", op(Op::GEP, any(group::kElementwise)), laneOfIndexArithmetic),
    RULE("cut-tensor-core", any(Op::WMMA), cutTensorCore),
    RULE("cat-of-vectors", any(Op::CAT), flatCat),
    RULE("vconst-lanes", any(Op::VCONST), constantLanes),
    RULE("cut-arithmetic", any(group::kElementwise), cutArithmetic),
};

// --- the last rewrite ---

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
/// Integers of which each is one more than the lane before it, or another fixed amount: their first one in every lane
/// plus constants.
UOp countedLanes(Match& m) {
  UOp root = m.root();
  const Target& target = m.ctx<TargetContext>().target;
  if (root.srcCount() < 4 || !root.dtype().isInt() || target.extraMatcher)
    return m.decline("few lanes, or no integers");
  if (aluLanes(target, root.dtype()) < laneCount(root)) return m.decline("vectors of the target are shorter");
  UOp base = root.src(0);
  if (base.isConst()) return m.decline("a constant comes first");
  std::vector<ConstValue> steps;
  for (UOp s : root.src()) {
    bool more = s.is(Op::ADD) && s.src(0) == base && s.src(1).isConst();
    if (s != base && !more) return m.decline("lanes differ by more than constants");
    steps.push_back(more ? s.src(1).constValue() : convertConst(base.dtype(), ConstValue::ofInt(0)));
  }
  if (std::all_of(root.src().begin(), root.src().end(), [&](UOp s) { return s == base; }))
    return m.decline("all lanes are the same");
  return base.broadcast(laneCount(root)) + UOp::make(Op::VCONST, root.dtype(), {}, Arg::of(std::move(steps)));
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
    RULE("plain-lanes", any({Op::VCONST, Op::GEP, Op::VECTORIZE, Op::CAT}), plainLanes),
    RULE("one-range-per-end", any(Op::END), splitEnd),
};

} // namespace

std::span<const RuleDef> addLoadRules() {
  return kAddLoads;
}
std::span<const RuleDef> accessRules() {
  return kAccess;
}
std::span<const RuleDef> laneRules() {
  return kLanes;
}
std::span<const RuleDef> finalRules() {
  return kFinal;
}

} // namespace uopscope
