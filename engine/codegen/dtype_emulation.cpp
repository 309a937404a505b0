// Small floats on a target without them: memory holds their bits as unsigned integers, arithmetic is in
// float32, and a store rounds to nearest even.
//
// A target that has halves without arithmetic on them keeps their memory, and converts around each operation.
//
//   LOAD bf16  ->  BITCAST(CAST(LOAD uint16) << 16)        STORE bf16  <-  round((BITCAST x) >> 16)
#include "engine/codegen/decompositions.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/rules/variables.h"

namespace uopscope {

namespace {

using namespace pat;
using rules::x, rules::at, rules::value;

bool isEmulated(Match& m, DType d) {
  Scalar k = d.kind();
  bool small = k == Scalar::Float16 || k == Scalar::BFloat16 || k == Scalar::Fp8E4M3 || k == Scalar::Fp8E5M2;
  return small && !isSupported(m.ctx<TargetContext>().target, d);
}
DType bitsOf(DType d) {
  return d.scalar().itemsize() == 1 ? dtypes::uint8 : dtypes::uint16;
}

/// The fields of a small float.
struct Format {
  int mantissa, exponentBits, bias;
  bool hasInfinity;
};
Format formatOf(DType d) {
  switch (d.kind()) {
  case Scalar::Float16: return {10, 5, 15, true};
  case Scalar::BFloat16: return {7, 8, 127, true};
  case Scalar::Fp8E5M2: return {2, 5, 15, true};
  default: return {3, 4, 7, false};
  }
}
UOp number(UOp like, int64_t v) {
  return like.constLike(v);
}
UOp shl(UOp v, int by) {
  return v * number(v, int64_t{1} << by);
}
UOp shr(UOp v, int by) {
  return v / number(v, int64_t{1} << by);
}

/// The bits (unsigned) of a small float as a float32. A multiplication by a power of two moves the exponent;
/// it also normalises denormals.
UOp widen(UOp bits, DType from) {
  int n = laneCount(bits);
  Format f = formatOf(from);
  DType word = dtypes::uint32.vec(n), real = dtypes::float32.vec(n);
  UOp w = bits.cast(word);
  int width = 1 + f.exponentBits + f.mantissa;
  UOp sign = shl(shr(w, width - 1), 31), rest = w & number(w, (int64_t{1} << (width - 1)) - 1);
  if (from.kind() == Scalar::BFloat16) return shl(w, 16).bitcast(real);
  UOp magnitude = shl(rest, 23 - f.mantissa).bitcast(real);
  UOp scaled = magnitude * UOp::constant(real, __builtin_ldexp(1.0, 127 - f.bias));
  UOp scaledBits = scaled.bitcast(word);
  int64_t top = ((int64_t{1} << f.exponentBits) - 1) << f.mantissa;
  if (f.hasInfinity) {
    UOp special = number(rest, top - 1) < rest;
    scaledBits = special.where(shl(rest, 23 - f.mantissa) | number(rest, 0x7f800000), scaledBits);
  } else {
    UOp nan = eq(rest, number(rest, (int64_t{1} << (width - 1)) - 1));
    scaledBits = nan.where(number(rest, 0x7fc00000), scaledBits);
  }
  return (scaledBits | sign).bitcast(real);
}

/// The bits of a float32, rounded to a small float.
UOp narrow(UOp v, DType to) {
  int n = laneCount(v);
  Format f = formatOf(to);
  DType word = dtypes::uint32.vec(n), real = dtypes::float32.vec(n);
  UOp w = v.bitcast(word);
  UOp sign = shr(w, 31), rest = w & number(w, 0x7fffffff);
  UOp isNan = number(rest, 0x7f800000) < rest;
  int drop = 23 - f.mantissa, width = 1 + f.exponentBits + f.mantissa;
  auto roundOff = [&](UOp bits) {
    UOp odd = shr(bits, drop) & number(bits, 1);
    return shr(bits + odd + number(bits, (int64_t{1} << (drop - 1)) - 1), drop);
  };
  UOp result;
  int64_t top = ((int64_t{1} << f.exponentBits) - 1) << f.mantissa;
  if (to.kind() == Scalar::BFloat16) {
    result = isNan.where(number(rest, 0x7fc0), roundOff(rest));
  } else {
    // For a normal result the exponent is moved and the mantissa rounded. For a denormal one, adding a
    // constant aligns and rounds the mantissa.
    UOp moved = rest + number(rest, -(int64_t{127 - f.bias} << 23));
    UOp normal = roundOff(moved);
    double align = __builtin_ldexp(1.0, 1 - f.bias + drop);
    UOp denormal = (rest.bitcast(real) + UOp::constant(real, align)).bitcast(word) +
                   number(rest, -(int64_t{1 - f.bias + drop + 127} << 23));
    UOp isDenormal = rest < number(rest, int64_t{127 - f.bias + 1} << 23);
    result = isDenormal.where(denormal, normal);
    int64_t largest = f.hasInfinity ? top : (int64_t{1} << (width - 1)) - 1;
    UOp tooBig = ne(isDenormal, number(isDenormal, 1)) & (number(result, largest - 1) < result);
    result = tooBig.where(number(result, largest), result);
    int64_t nan = f.hasInfinity ? top | (int64_t{1} << (f.mantissa - 1)) : (int64_t{1} << (width - 1)) - 1;
    result = isNan.where(number(result, nan), result);
  }
  return (result | shl(sign, width - 1)).cast(bitsOf(to).vec(n));
}

DType wideType(UOp u) {
  return dtypes::float32.vec(laneCount(u));
}

UOp emulatedMemory(Match& m) {
  UOp u = m.root();
  if (!u.dtype().isPtr() || !isEmulated(m, u.dtype())) return m.decline("the device has the type");
  DType base = bitsOf(u.dtype()).vec(u.dtype().base().count());
  DType type = base.ptr(u.dtype().size(), u.dtype().addrspace());
  return u.withDtype(u.dtype().vcount() > 1 ? type.vec(u.dtype().vcount()) : type);
}
UOp emulatedLoad(Match& m) {
  UOp load = m.root();
  if (!isEmulated(m, load.dtype())) return m.decline("the device has the type");
  std::vector<UOp> src(load.src().begin(), load.src().end());
  if (src.size() > 1 && !src[1].dtype().isVoid()) src[1] = narrow(src[1].cast(wideType(load)), load.dtype());
  UOp bits = UOp::make(Op::LOAD, bitsOf(load.dtype()).vec(laneCount(load)), src);
  return widen(bits, load.dtype()).cast(load.dtype());
}
UOp emulatedStore(Match& m) {
  UOp store = m.root(), v = m[value];
  if (!isEmulated(m, v.dtype())) return m.decline("the device has the type");
  std::vector<UOp> src(store.src().begin(), store.src().end());
  src[1] = narrow(v.cast(wideType(v)), v.dtype());
  return store.withSrc(src);
}
/// Whether arithmetic on the type is done in float32.
bool isWidened(Match& m, DType d) {
  return isEmulated(m, d) ||
         (d.kind() == Scalar::Float16 && !d.isPtr() && !m.ctx<TargetContext>().target.computesHalf);
}
/// Arithmetic on small floats becomes arithmetic on float32 between casts. Where the target has no such type, emulatedCast
/// then removes these.
UOp emulatedArithmetic(Match& m) {
  UOp u = m.root();
  bool any = isWidened(m, u.dtype());
  for (UOp s : u.src()) any |= !s.dtype().isPtr() && isWidened(m, s.dtype());
  if (!any) return m.decline("the device has the types");
  std::vector<UOp> src;
  for (UOp s : u.src()) src.push_back(isWidened(m, s.dtype()) ? s.cast(wideType(s)) : s);
  bool result = isWidened(m, u.dtype());
  if (u.is(Op::MULACC) && result) { // product and sum are rounded separately
    UOp product = UOp::make(Op::MUL, wideType(u), {src[0], src[1]}).cast(u.dtype()).cast(wideType(u));
    return UOp::make(Op::ADD, wideType(u), {product, src[2]}).cast(u.dtype());
  }
  UOp wide = UOp::make(u.op(), result ? wideType(u) : u.dtype(), src, u.arg());
  return result ? wide.cast(u.dtype()) : wide;
}
/// The cast float32 -> small -> any type: it rounds through the bits of the small type.
UOp emulatedCast(Match& m) {
  UOp outer = m.root(), inner = outer.src(0);
  if (!isEmulated(m, inner.dtype())) return m.decline("the device has the type");
  UOp v = inner.is(Op::CAST) ? inner.src(0) : UOp();
  if (inner.is(Op::CONST)) return UOp::constant(outer.dtype(), inner.constValue());
  if (!v) return m.decline("its value is neither cast nor constant");
  UOp rounded = widen(narrow(v.cast(wideType(v)), inner.dtype()), inner.dtype());
  // A value widened by a load is exact already and needs no rounding.
  if (v.is(Op::BITCAST) && v.dtype().kind() == Scalar::Float32 && outer.dtype().kind() == Scalar::Float32)
    return v;
  return rounded.cast(outer.dtype());
}
UOp emulatedBitcast(Match& m) {
  UOp u = m.root(), from = m[x];
  if (isEmulated(m, from.dtype())) return narrow(from.cast(wideType(from)), from.dtype()).bitcast(u.dtype());
  if (isEmulated(m, u.dtype())) {
    DType bits = bitsOf(u.dtype()).vec(laneCount(u));
    return widen(from.bitcast(bits), u.dtype()).cast(u.dtype());
  }
  return m.decline("the device has the types");
}

constexpr OpSet kPointers = group::kDefines | OpSet{Op::INDEX, Op::AFTER, Op::CAST};
constexpr RuleDef kEmulation[] = {
    RULE("small-float-memory", any(kPointers), emulatedMemory),
    RULE("small-float-load", any(Op::LOAD), emulatedLoad),
    RULE("small-float-store", op(Op::STORE, at, value).more(), emulatedStore),
    RULE("small-float-arithmetic", any(group::kAlu), emulatedArithmetic),
    RULE("small-float-cast", any(Op::CAST), emulatedCast),
    RULE("small-float-bitcast", op(Op::BITCAST, x), emulatedBitcast),
};
const KnownRules kEmulationKnown(kEmulation);

} // namespace

std::span<const RuleDef> dtypeEmulationRules() {
  return kEmulation;
}

} // namespace uopscope
