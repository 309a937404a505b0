// Casts: those that do nothing, pairs that can be one, and arithmetic moved to a narrower type where bounds
// allow.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"
#include "engine/uop/eval.h"

#include <cstdint>

namespace uopscope::rules {

namespace {

constexpr Pat xCastCast = pat::op(Op::CAST, pat::op(Op::CAST, x).named(y));

UOp noChange(Match& m) {
  return m.root().dtype() == m[x].dtype() ? m[x] : m.decline("the types differ");
}
/// To a type that holds all values, and back.
UOp thereAndBack(Match& m) {
  bool same = m.root().dtype() == m[x].dtype();
  return same && losslessCast(m[x].dtype(), m[y].dtype())
             ? m[x]
             : m.decline("the type between holds fewer values, or the ends differ");
}
UOp skipMiddle(Match& m) {
  DType from = m[x].dtype(), middle = m[y].dtype();
  if (middle.isPtr() || !losslessCast(from, middle)) return m.decline("the type between holds fewer values");
  return m[x].cast(m.root().dtype());
}
/// Whether every value the node can have is a value of the type.
bool boundsFit(UOp u, DType d) {
  if (u.dtype().kind() == Scalar::UInt64 && u.vmax() == INT64_MAX) return d.kind() == Scalar::UInt64;
  if (d.kind() == Scalar::UInt64) return u.vmin() >= 0;
  return dtypes::minInt(d) <= u.vmin() && u.vmax() <= static_cast<int64_t>(dtypes::maxInt(d));
}
UOp skipFittingMiddle(Match& m) {
  if (!m[y].dtype().isInt() || !(m.root().dtype().isInt() || m.root().dtype().isFloat()))
    return m.decline("a type is no number");
  return boundsFit(m[x], m[y].dtype()) ? m[x].cast(m.root().dtype())
                                       : m.decline("the bounds do not fit the type between");
}
UOp boolThroughCast(Match& m) {
  return m[x].dtype().isBool() ? m[x] : m.decline("what is cast is no bool");
}
UOp notBoolThroughCast(Match& m) {
  return m[x].dtype().isBool() ? m[x].logicalNot() : m.decline("what is cast is no bool");
}

/// 64-bit arithmetic whose operands and result fit 32 bits.
UOp inInt(Match& m) {
  UOp u = m.root(), a = m[x], b = m[y];
  DType narrow = dtypes::int32.vec(a.dtype().count());
  bool resultFits = !u.dtype().isInt() || boundsFit(u, dtypes::int32);
  if (!resultFits || !boundsFit(a, dtypes::int32) || !boundsFit(b, dtypes::int32))
    return m.decline("the bounds do not fit 32 bits");
  UOp r = a.cast(narrow).alu(u.op(), {b.cast(narrow)});
  return r.cast(u.dtype());
}
/// (x + c) of index cast to an integer: the constant can fold into the next sum.
UOp castOfSum(Match& m) {
  DType d = m.root().dtype();
  if (!d.isInt() || d.isUnsigned() || d.kind() == Scalar::Index || d.count() != 1 || !isInt(m[c0]))
    return m.decline("no scalar signed integer, or no constant");
  if (!boundsFit(m[x], d) || !boundsFit(m[c0], d) || !boundsFit(m.root().src(0), d))
    return m.decline("the bounds do not fit the type");
  return m[x].cast(d) + UOp::constant(d, intOf(m[c0]));
}

constexpr RuleDef kCastRules[] = {
    RULE("cast-to-same", pat::op(OpSet{Op::CAST, Op::BITCAST}, x), noChange),
    RULE("cast-there-and-back", xCastCast, thereAndBack),
    RULE("bitcast-bitcast", pat::op(Op::BITCAST, pat::op(Op::BITCAST, x)), pat::toRoot(x, Op::BITCAST),
         guard::notPointer(x)),
    RULE("bool-cast-ne-zero", pat::op(Op::CAST, x) != 0, boolThroughCast),
    RULE("bool-cast-ne-one", pat::op(Op::CAST, x) != 1, notBoolThroughCast),
    RULE("bool-cast-lt-one", pat::op(Op::CMPLT, pat::op(Op::CAST, x), 1), notBoolThroughCast),
    RULE("zero-lt-bool-cast", pat::op(Op::CMPLT, 0, pat::op(Op::CAST, x)), boolThroughCast),
};

constexpr RuleDef kNarrowingRules[] = {
    RULE("cast-skip-lossless", xCastCast, skipMiddle),
    RULE("cast-skip-fitting", pat::op(Op::CAST, pat::op(Op::CAST, xn).named(y)), skipFittingMiddle),
    RULE("long-to-int",
         pat::op(group::kBinary - OpSet{Op::THREEFRY, Op::SHL, Op::SHR, Op::POW},
                 Pat(x).withDtype(dtypes::int64), Pat(y).withDtype(dtypes::int64))
             .withDtype(maskOf(dtypes::int64) | kMaskBool),
         inInt),
    RULE("cast-of-sum", pat::op(Op::CAST, xi + c0), castOfSum),
};

} // namespace

Family castRules() {
  return kCastRules;
}
Family narrowingRules() {
  return kNarrowingRules;
}

} // namespace uopscope::rules
