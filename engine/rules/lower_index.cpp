// dtype index becomes int32, or int64 if bounds require it. Each index node becomes its lowered form, cast
// back to index. Users remove the cast of their sources, until no cast to index is left.
//
//   INDEX(p, WHERE(r0 < 3, r0 + 1, Invalid))   becomes   INDEX(p, r0:int + 1, r0:int < 3)
#include "engine/rules/families.h"
#include "engine/rules/variables.h"
#include "engine/uop/eval.h"

#include <array>
#include <limits>

namespace uopscope::rules {

namespace {

bool isIndex(UOp u) {
  return u.dtype().kind() == Scalar::Index && !u.dtype().isPtr();
}
/// Whether the node is a lowered form: a CAST of an integer to index.
bool isLowered(UOp u) {
  if (!u.is(Op::CAST) || !isIndex(u)) return false;
  DType from = u.src(0).dtype(); // uint64 is cast to int64 first: no signed type holds all its values
  return !isIndex(u.src(0)) && !from.isFloat() && from.kind() != Scalar::UInt64;
}
UOp stripped(UOp u) {
  return isLowered(u) ? u.src(0) : u;
}

DType fitting(UOp u) {
  constexpr int64_t low = std::numeric_limits<int32_t>::min(), high = std::numeric_limits<int32_t>::max();
  DType d = u.vmin() < low || u.vmax() > high ? dtypes::int64 : dtypes::int32;
  return d.vec(u.dtype().count());
}
/// A constant or a variable gets the integer type that its bounds require.
UOp inMachineType(Match& m) {
  return m.root().withDtype(fitting(m.root()));
}
UOp lowerBind(Match& m) {
  UOp u = m.root();
  if (!isLowered(u.src(0)) || !isLowered(u.src(1))) return m.decline("a source is not lowered yet");
  UOp var = u.src(0).src(0);
  return u.withSrc({var, u.src(1).src(0).withDtype(var.dtype())}).withDtype(var.dtype()).cast(u.dtype());
}
UOp lowerLoop(Match& m) {
  UOp u = m.root();
  if (!isLowered(u.src(0))) return m.decline("the extent is not lowered yet");
  std::vector<UOp> src;
  for (UOp s : u.src()) src.push_back(stripped(s));
  bool counts =
      !u.is(Op::SPECIAL) && src[0].dtype().isInt(); // an extent may be a condition, whose type cannot count
  DType d = counts ? src[0].dtype() : dtypes::int32;
  src[0] = src[0].cast(d);
  return UOp::make(u.op(), d, src, u.arg(), u.tag()).cast(u.dtype());
}
/// Arithmetic gets the least type that holds its operands and its result.
UOp lowerAlu(Match& m) {
  UOp u = m.root();
  size_t first = u.is(Op::WHERE) ? 1 : 0;
  DType d = isIndex(u) ? fitting(u).scalar() : dtypes::int32;
  for (size_t i = first; i < u.srcCount(); ++i) {
    if (!isLowered(u.src(i))) return m.decline("a source is not lowered yet");
    d = dtypes::leastUpper(d, u.src(i).src(0).dtype().scalar());
  }
  std::array<UOp, 3> src;
  if (first) src[0] = u.src(0);
  for (size_t i = first; i < u.srcCount(); ++i)
    src[i] = u.src(i).src(0).cast(d.vec(u.src(i).dtype().count()));
  DType type = isIndex(u) ? d.vec(u.dtype().count()) : u.dtype();
  return UOp::make(u.op(), type, std::span<const UOp>(src.data(), u.srcCount()), u.arg(), u.tag())
      .cast(u.dtype());
}
/// The 32-bit integer that was made longer; null for any other node.
UOp shortOf(UOp u) {
  return u.is(Op::CAST) && u.src(0).dtype() == dtypes::int32 ? u.src(0) : UOp();
}
/// p + q < c, whose sum needs 64 bits since p may be any number, as one read from memory: p < c - q where that fits 32 bits.
UOp compareApart(Match& m) {
  UOp u = m.root();
  for (size_t side : {size_t{0}, size_t{1}}) {
    UOp sum = stripped(u.src(side)), number = stripped(u.src(1 - side));
    if (!sum.is(Op::ADD) || sum.dtype() != dtypes::int64 || !number.isConst()) continue;
    for (size_t k : {size_t{0}, size_t{1}}) {
      UOp p = shortOf(sum.src(k)), q = shortOf(sum.src(1 - k));
      if (!p || !q || q.vmin() == std::numeric_limits<int32_t>::min()) continue;
      const __int128 c = number.arg().i();
      auto fits = [](__int128 v) {
        return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
      };
      if (!fits(c) || !fits(c - q.vmin()) || !fits(c - q.vmax())) continue;
      UOp rest = -q + number.arg().i();
      return side == 0 ? p < rest : rest < p;
    }
  }
  return m.decline("no sum that needs 64 bits beside a constant");
}
UOp lowerVectorize(Match& m) {
  UOp u = m.root();
  if (u.srcCount() == 0) return m.decline("no lanes");
  DType d = fitting(u).scalar();
  for (UOp s : u.src()) {
    if (!isLowered(s)) return m.decline("a lane is not lowered yet");
    d = dtypes::leastUpper(d, s.src(0).dtype());
  }
  std::vector<UOp> src;
  for (UOp s : u.src()) src.push_back(s.src(0).cast(d));
  return UOp::make(Op::VECTORIZE, d.vec(u.dtype().count()), src, u.arg(), u.tag()).cast(u.dtype());
}
UOp lowerGep(Match& m) {
  UOp u = m.root();
  if (!isLowered(u.src(0))) return m.decline("the vector is not lowered yet");
  UOp inner = u.src(0).src(0);
  return UOp::make(Op::GEP, inner.dtype().scalar().vec(u.dtype().count()), {inner}, u.arg(), u.tag())
      .cast(u.dtype());
}
bool castIsLowered(const Match& m) {
  return isLowered(m.root().src(0));
}

/// INDEX(buffer, WHERE(gate, index, Invalid)): the gate becomes the third source.
UOp gateOfIndex(Match& m) {
  UOp u = m.root(), gate = m[cond];
  if (u.srcCount() == 3 && u.src(2).dtype().isBool())
    gate = gate & u.src(2);
  else if (u.srcCount() != 2)
    return m.decline("the index has a gate of another kind");
  return u.withSrc({u.src(0), m[x], gate});
}
UOp stripSources(Match& m) {
  UOp u = m.root();
  std::vector<UOp> src;
  bool changed = false;
  for (UOp s : u.src()) {
    src.push_back(stripped(s));
    changed |= src.back() != s;
  }
  return changed ? u.withSrc(src) : m.decline("no source is a lowered index");
}

constexpr OpSet kTakesAny{Op::SINK, Op::NOOP,   Op::END,    Op::GROUP,   Op::AFTER, Op::STORE,  Op::LOAD,
                          Op::IF,   Op::REDUCE, Op::CUSTOM, Op::CUSTOMI, Op::INDEX, Op::BARRIER};
constexpr Pat kLoweredSrc = pat::any(OpSet{Op::CAST}).withDtype(kMaskIndex);

constexpr RuleDef kLowerIndexRules[] = {
    RULE("lower-const", pat::any(OpSet{Op::CONST}).withDtype(kMaskIndex).named(x),
         pat::toRoot(pat::made(inMachineType)), guard::notInvalid(x)),
    RULE("lower-var", pat::any(OpSet{Op::DEFINE_VAR}).withDtype(kMaskIndex),
         pat::toRoot(pat::made(inMachineType))),
    RULE("lower-bind", pat::op(Op::BIND, kLoweredSrc, kLoweredSrc).withDtype(kMaskIndex), lowerBind),
    RULE("lower-loop", pat::op(OpSet{Op::RANGE, Op::SPECIAL}, kLoweredSrc).more().withDtype(kMaskIndex),
         lowerLoop),
    // A float or an unsigned 64-bit number may not fit int32, so it goes through int64.
    RULE("cast-through-long",
         pat::op(Op::CAST, Pat(x).withDtype(kMaskFloats | maskOf(dtypes::uint64))).withDtype(kMaskIndex),
         pat::toRoot(pat::to(dtypes::int64, x))),
    RULE("lower-unary", pat::op(group::kUnary, kLoweredSrc), lowerAlu),
    RULE("compare-apart", pat::op(Op::CMPLT, kLoweredSrc, kLoweredSrc), compareApart),
    RULE("lower-binary", pat::op(group::kBinary, kLoweredSrc, kLoweredSrc), lowerAlu),
    RULE("lower-where", pat::op(Op::WHERE, z, kLoweredSrc, kLoweredSrc), lowerAlu),
    RULE("lower-mulacc", pat::op(Op::MULACC, kLoweredSrc, kLoweredSrc, kLoweredSrc), lowerAlu),
    RULE("lower-vectorize", pat::each(OpSet{Op::VECTORIZE}, kLoweredSrc), lowerVectorize),
    RULE("lower-gep", pat::op(Op::GEP, kLoweredSrc), lowerGep),
    RULE("cast-out-of-index", pat::op(Op::CAST, pat::op(Op::CAST, x).withDtype(kMaskIndex)), pat::toRoot(x),
         guard::when(castIsLowered, "the source is not lowered yet")),
    RULE("gate-of-index", pat::op(Op::INDEX, y, kGated).more(), gateOfIndex),
    RULE("strip-index-casts", pat::any(kTakesAny), stripSources),
};
const KnownRules kLowerIndexRulesKnown(kLowerIndexRules);

} // namespace

Family lowerIndexRules() {
  return kLowerIndexRules;
}

} // namespace uopscope::rules
