// Arithmetic of constants, and nodes whose bounds leave one value.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"
#include "engine/uop/eval.h"

#include <algorithm>
#include <array>
#include <limits>

namespace uopscope::rules {

namespace {

constexpr Pat kConst = pat::any(OpSet{Op::CONST, Op::VCONST});

/// The operation on constant vectors, lane by lane.
UOp foldLanes(UOp u) {
  if (u.dtype().count() < 2 || (u.is(Op::BITCAST) && u.dtype().itemsize() != u.src(0).dtype().itemsize()))
    return {};
  DType operand = u.src(u.is(Op::WHERE) ? 1 : 0).dtype();
  std::vector<ConstValue> lanes;
  for (size_t lane = 0; lane < static_cast<size_t>(u.dtype().count()); ++lane) {
    std::array<ConstValue, 3> v;
    for (size_t i = 0; i < u.srcCount(); ++i) {
      UOp s = u.src(i);
      v[i] = s.isConst() ? s.constValue() : s.arg().as<std::vector<ConstValue>>()[lane];
      if (v[i].isInvalid() && u.dtype().kind() != Scalar::Index) return {};
    }
    lanes.push_back(evalAlu(u.op(), u.dtype(), operand, std::span(v.data(), u.srcCount())));
  }
  bool alike = std::all_of(lanes.begin(), lanes.end(), [&](const ConstValue& v) { return v == lanes[0]; });
  return alike ? UOp::constant(u.dtype(), lanes[0])
               : UOp::make(Op::VCONST, u.dtype(), {}, Arg::of(std::move(lanes)));
}

/// The operation on constants.
UOp foldConstants(Match& m) {
  UOp u = m.root();
  for (UOp s : u.src())
    if (s.is(Op::VCONST)) return foldLanes(u);
  std::array<ConstValue, 3> v;
  for (size_t i = 0; i < u.srcCount(); ++i) {
    UOp c = laneConst(u.src(i));
    if (!c) return m.decline("a lane differs");
    v[i] = c.constValue();
    if (v[i].isInvalid() && u.dtype().kind() != Scalar::Index) return m.decline("Invalid is no number");
  }
  DType operand = u.src(u.is(Op::WHERE) ? 1 : 0).dtype();
  if (u.is(Op::BITCAST) && u.dtype().itemsize() != operand.itemsize())
    return m.decline("a bitcast between sizes");
  return UOp::constant(u.dtype(), evalAlu(u.op(), u.dtype(), operand, std::span(v.data(), u.srcCount())));
}

/// A number converted; a constant of an index that is Invalid has no other type.
UOp foldCast(Match& m) {
  if (m.root().dtype().isPtr() || m[x].isInvalidConst() || m.root().dtype().isVoid())
    return m.decline("a pointer, Invalid or nothing is no number");
  return foldConstants(m);
}

UOp onlyValue(Match& m) {
  UOp u = m.root();
  if (u.is(Op::WHERE) && (u.src(1).isInvalidConst() || u.src(2).isInvalidConst()))
    return m.decline("a branch is Invalid");
  // Empty loops are folded by nobody: their variable has no value at all.
  if (u.is(Op::RANGE) && !u.src(0).isConst(1)) return m.decline("the loop may be empty");
  int64_t v = u.vmin();
  if (v != u.vmax() || v == std::numeric_limits<int64_t>::max() || v == std::numeric_limits<int64_t>::min())
    return m.decline("it has more than one value");
  return UOp::constant(u.dtype(), v);
}

constexpr RuleDef kFoldingRules[] = {
    RULE("fold-unary", pat::op(group::kUnary, kConst), foldConstants),
    RULE("fold-binary", pat::op(group::kBinary, kConst, kConst), foldConstants),
    RULE("fold-ternary", pat::op(group::kTernary, kConst, kConst, kConst), foldConstants),
    RULE("fold-cast", pat::op(OpSet{Op::CAST, Op::BITCAST}, kConst.named(x)), foldCast),
};

constexpr RuleDef kBoundsRules[] = {
    RULE("one-value",
         pat::any(group::kAlu | OpSet{Op::DEFINE_VAR, Op::SPECIAL, Op::RANGE}).withDtype(kMaskIntsBool),
         onlyValue),
};

} // namespace

Family foldingRules() {
  return kFoldingRules;
}
Family boundsRules() {
  return kBoundsRules;
}

} // namespace uopscope::rules
