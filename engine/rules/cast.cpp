// Casts: casts without an effect are removed, pairs become one, and arithmetic moves to a narrower type if
// bounds allow.
#include "engine/rules/families.h"
#include "engine/rules/variables.h"
#include "engine/uop/eval.h"

#include <cstdint>

namespace uopscope::rules {

namespace {

constexpr Pat xCastCast = pat::op(Op::CAST, pat::op(Op::CAST, x).named(y));

bool middleHolds(const Match& m) {
  return losslessCast(m[x].dtype(), m[y].dtype());
}
/// Whether every value that the node can have is a value of the type.
bool boundsFit(UOp u, DType d) {
  if (u.dtype().kind() == Scalar::UInt64 && u.vmax() == INT64_MAX) return d.kind() == Scalar::UInt64;
  if (d.kind() == Scalar::UInt64) return u.vmin() >= 0;
  return dtypes::minInt(d) <= u.vmin() && u.vmax() <= static_cast<int64_t>(dtypes::maxInt(d));
}
bool middleHoldsBounds(const Match& m) {
  return boundsFit(m[x], m[y].dtype());
}
bool fitsInt(const Match& m) {
  UOp u = m.root();
  return (!u.dtype().isInt() || boundsFit(u, dtypes::int32)) && boundsFit(m[x], dtypes::int32) &&
         boundsFit(m[y], dtypes::int32);
}
bool isSignedScalar(const Match& m) {
  DType d = m.root().dtype();
  return d.isInt() && !d.isUnsigned() && d.kind() != Scalar::Index && d.count() == 1 && isInt(m[c0]);
}
bool sumFits(const Match& m) {
  DType d = m.root().dtype();
  return boundsFit(m[x], d) && boundsFit(m[c0], d) && boundsFit(m[y], d);
}

constexpr Pat castBool = pat::op(Op::CAST, xb);
constexpr DTypeMask kNumbers = kMaskInts | kMaskFloats;
constexpr Guard kMiddleHolds = guard::when(middleHolds, "the type between holds fewer values"),
                kFitsInt = guard::when(fitsInt, "the bounds do not fit 32 bits");

constexpr RuleDef kCastRules[] = {
    RULE("cast-to-same", pat::op(OpSet{Op::CAST, Op::BITCAST}, x), x, guard::likeRoot(x)),
    RULE("cast-there-and-back", xCastCast, x, guard::likeRoot(x), kMiddleHolds),
    RULE("bitcast-bitcast", pat::op(Op::BITCAST, pat::op(Op::BITCAST, x)), pat::toRoot(x, Op::BITCAST),
         guard::notPointer(x)),
    RULE("bool-cast-ne-zero", castBool != 0, x),
    RULE("bool-cast-ne-one", castBool != 1, pat::logicalNot(x)),
    RULE("bool-cast-lt-one", pat::op(Op::CMPLT, castBool, 1), pat::logicalNot(x)),
    RULE("zero-lt-bool-cast", pat::op(Op::CMPLT, 0, castBool), x),
};
const KnownRules kCastRulesKnown(kCastRules);

constexpr RuleDef kNarrowingRules[] = {
    RULE("cast-skip-lossless", xCastCast, pat::toRoot(x), guard::notPointer(y), kMiddleHolds),
    RULE("cast-skip-fitting",
         pat::op(Op::CAST, pat::op(Op::CAST, xn).withDtype(kMaskInts).named(y)).withDtype(kNumbers),
         pat::toRoot(x), guard::when(middleHoldsBounds, "the bounds do not fit the type between")),
    RULE("long-to-int",
         pat::op(group::kBinary - OpSet{Op::THREEFRY, Op::SHL, Op::SHR, Op::POW},
                 Pat(x).withDtype(dtypes::int64), Pat(y).withDtype(dtypes::int64))
             .withDtype(maskOf(dtypes::int64) | kMaskBool),
         pat::toRoot(pat::sameOp(pat::to(dtypes::int32, x), pat::to(dtypes::int32, y))), kFitsInt),
    // The constant can then fold into the next sum.
    RULE("cast-of-sum", pat::op(Op::CAST, (xi + c0).named(y)), pat::toRoot(x) + pat::fold(pat::toRoot(c0)),
         guard::when(isSignedScalar, "no scalar signed integer, or no constant"),
         guard::when(sumFits, "the bounds do not fit the type")),
};
const KnownRules kNarrowingRulesKnown(kNarrowingRules);

} // namespace

Family castRules() {
  return kCastRules;
}
Family narrowingRules() {
  return kNarrowingRules;
}

} // namespace uopscope::rules
