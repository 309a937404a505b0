// Vectors: GEP of vectors with known lanes, and arithmetic whose lanes are all equal.
#include "engine/rules/families.h"
#include "engine/rules/rounding.h"
#include "engine/rules/variables.h"

#include <algorithm>
#include <numeric>

namespace uopscope::rules {

namespace {

constexpr PatVar g{"g"}, v{"v"};

const std::vector<int64_t>& lanesOf(UOp gep) {
  return gep.arg().ints();
}

UOp gepOfGep(Match& m) {
  const auto &outer = lanesOf(m.root()), &inner = lanesOf(m[g]);
  std::vector<int64_t> lanes;
  for (int64_t i : outer) lanes.push_back(inner[static_cast<size_t>(i)]);
  return UOp::make(Op::GEP, m.root().dtype(), {m[x]}, Arg::of(std::move(lanes)));
}
UOp gepOfVectorize(Match& m) {
  const auto& lanes = lanesOf(m.root());
  if (m[v].dtype().isPtr()) return m.decline("a vector of pointers");
  std::vector<UOp> picked;
  for (int64_t i : lanes) picked.push_back(m[v].src(static_cast<size_t>(i)));
  return picked.size() == 1 ? picked[0] : UOp::make(Op::VECTORIZE, m.root().dtype(), picked);
}
UOp gepOfConst(Match& m) {
  UOp c = m[c0];
  if (c.isConst()) return c.isInvalidConst() ? c : UOp::constant(m.root().dtype(), c.constValue());
  const auto& values = c.arg().as<std::vector<ConstValue>>();
  std::vector<ConstValue> picked;
  for (int64_t i : lanesOf(m.root())) picked.push_back(values[static_cast<size_t>(i)]);
  if (picked.size() == 1) return UOp::constant(c.dtype().scalar(), picked[0]);
  return UOp::make(Op::VCONST, m.root().dtype(), {}, Arg::of(std::move(picked)));
}
bool takesAllInOrder(const Match& m) {
  const auto& lanes = lanesOf(m.root());
  if (m.root().dtype().isPtr() || static_cast<int>(lanes.size()) != m[x].dtype().count()) return false;
  for (size_t i = 0; i < lanes.size(); ++i)
    if (lanes[i] != static_cast<int64_t>(i)) return false;
  return true;
}
UOp gepThroughAlu(Match& m) {
  UOp alu = m[v], gep = m.root();
  if (gep.dtype().isPtr() || alu.dtype().isPtr()) return m.decline("a pointer");
  std::vector<UOp> src;
  for (UOp s : alu.src()) {
    if (s.dtype().isPtr()) return m.decline("a source is a pointer");
    src.push_back(UOp::make(Op::GEP, s.dtype().scalar().vec(gep.dtype().count()), {s}, gep.arg()));
  }
  return UOp::make(alu.op(), alu.dtype().scalar().vec(gep.dtype().count()), src, alu.arg(), alu.tag());
}
UOp catAsVectorize(Match& m) {
  UOp cat = m.root();
  if (cat.dtype().isPtr()) return m.decline("a pointer");
  std::vector<UOp> lanes;
  for (UOp s : cat.src())
    for (int64_t i = 0; i < s.dtype().count(); ++i)
      lanes.push_back(
          s.dtype().count() == 1 ? s : UOp::make(Op::GEP, s.dtype().scalar(), {s}, Arg::of(std::vector{i})));
  return UOp::make(Op::VECTORIZE, cat.dtype(), lanes);
}
/// A VECTORIZE of single lanes of one vector becomes one GEP of that vector.
UOp gepsOfOne(Match& m) {
  std::vector<int64_t> lanes;
  for (UOp s : m.root().src()) {
    if (lanesOf(s).size() != 1) return m.decline("a source takes several lanes");
    lanes.push_back(lanesOf(s)[0]);
  }
  if (lanes.empty() || m[x].dtype().isPtr()) return m.decline("no lanes, or a pointer");
  return UOp::make(Op::GEP, m.root().dtype(), {m[x]}, Arg::of(std::move(lanes)));
}
/// A GEP of whole groups of the lanes of a WMMA becomes a WMMA on the same groups of its operands.
UOp gepThroughWmma(Match& m) {
  UOp wmma = m[v], gep = m.root();
  const auto& axes = wmma.arg().as<WmmaArg>().upcastAxes;
  if (axes.size() != wmma.srcCount()) return m.decline("the operands have no axes");
  auto sizeOf = [&](size_t i) {
    int64_t n = 1;
    for (auto [axis, size] : axes[i]) n *= size;
    return n;
  };
  const auto& lanes = lanesOf(gep);
  auto out = static_cast<size_t>(sizeOf(axes.size() - 1));
  if (out == 1) return m.decline("each lane is a result of its own: a vector of them takes as long as one");
  if (out == 0 || lanes.size() % out) return m.decline("the lanes are no whole groups");
  std::vector<int64_t> groups;
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (i % out == 0) {
      if (lanes[i] % static_cast<int64_t>(out)) return m.decline("a group begins inside another");
      groups.push_back(lanes[i] / static_cast<int64_t>(out));
    } else if (lanes[i] != lanes[i - i % out] + static_cast<int64_t>(i % out)) {
      return m.decline("a group is not in order");
    }
  }
  if (static_cast<int>(lanes.size()) == wmma.dtype().count()) return m.decline("all lanes are taken");
  std::vector<UOp> src;
  for (size_t s = 0; s < wmma.srcCount(); ++s) {
    std::vector<int64_t> wanted;
    int64_t size = sizeOf(s);
    for (int64_t group : groups)
      for (int64_t k = 0; k < size; ++k) wanted.push_back(group * size + k);
    DType d = wmma.src(s).dtype().scalar().vec(static_cast<int>(wanted.size()));
    src.push_back(UOp::make(Op::GEP, d, {wmma.src(s)}, Arg::of(std::move(wanted))));
  }
  return UOp::make(Op::WMMA, gep.dtype(), src, wmma.arg(), wmma.tag());
}

/// The value that all lanes have; null if they differ. A scalar is its own lane.
UOp oneLane(UOp u) {
  if (u.isConst()) return u.withDtype(u.dtype().scalar());
  if (!u.is(Op::VECTORIZE) || u.srcCount() < 2) return {};
  for (UOp s : u.src())
    if (s != u.src(0)) return {};
  return u.src(0);
}
UOp aluOfBroadcasts(Match& m) {
  UOp u = m.root();
  if (u.dtype().isPtr() || u.dtype().count() < 2) return m.decline("a scalar or a pointer");
  std::vector<UOp> src;
  for (UOp s : u.src()) {
    UOp lane = s.dtype().count() == 1 ? s : oneLane(s);
    if (!lane) return m.decline("a source has lanes that differ");
    src.push_back(lane);
  }
  return UOp::make(u.op(), u.dtype().scalar(), src, u.arg(), u.tag()).broadcast(u.dtype().count());
}
/// One constant in every lane is a CONST, others are a VCONST.
UOp vectorOfConstants(Match& m) {
  UOp u = m.root();
  if (u.srcCount() < 2 || u.src(0).dtype().isPtr()) return m.decline("one lane, or pointers");
  if (UOp c = oneLane(u)) return c.broadcast(u.dtype().count());
  std::vector<ConstValue> lanes;
  for (UOp s : u.src()) lanes.push_back(s.constValue());
  return UOp::make(Op::VCONST, u.dtype(), {}, Arg::of(std::move(lanes)));
}
constexpr OpSet kThrough = group::kElementwise;
constexpr Pat gepOf(const Pat& source) {
  return pat::op(Op::GEP, source);
}
constexpr Pat kVectorize = pat::any(OpSet{Op::VECTORIZE});
constexpr Pat kLanes = pat::any(OpSet{Op::VECTORIZE, Op::CONST});

constexpr RuleDef kVectorRules[] = {
    RULE("gep-of-gep", gepOf(pat::op(Op::GEP, x).named(g)), gepOfGep),
    RULE("gep-of-vectorize", gepOf(kVectorize.named(v)), gepOfVectorize),
    RULE("gep-of-const", gepOf(c0), gepOfConst),
    RULE("gep-of-void", gepOf(Pat(x).withDtype(kMaskVoid)), x),
    RULE("gep-in-order", gepOf(x), x, guard::when(takesAllInOrder, "not all lanes, or not in order")),
    RULE("gep-through-alu", gepOf(pat::any(kThrough).named(v)), gepThroughAlu),
    RULE("cat-as-vectorize", pat::any(OpSet{Op::CAT}), catAsVectorize),
    RULE("geps-of-one-vector", pat::each(OpSet{Op::VECTORIZE}, pat::op(Op::GEP, x)), gepsOfOne),
    RULE("gep-through-wmma", gepOf(pat::any(OpSet{Op::WMMA}).named(v)), gepThroughWmma),
};
const KnownRules kVectorRulesKnown(kVectorRules);

constexpr RuleDef kBroadcastRules[] = {
    RULE("vector-of-constants", pat::each(OpSet{Op::VECTORIZE}, pat::any(OpSet{Op::CONST})),
         vectorOfConstants),
    RULE("alu-of-broadcasts",
         pat::oneOf(pat::op(group::kUnary | OpSet{Op::CAST}, kVectorize),
                    pat::op(group::kBinary, kLanes, kLanes),
                    pat::op(group::kTernary, kLanes, kLanes, kLanes)),
         aluOfBroadcasts),
};
const KnownRules kBroadcastRulesKnown(kBroadcastRules);

} // namespace

Family vectorRules() {
  return kVectorRules;
}
Family broadcastRules() {
  return kBroadcastRules;
}

} // namespace uopscope::rules
