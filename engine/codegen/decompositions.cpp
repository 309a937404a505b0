// Decompositions of integer arithmetic and random bits, and the rules that choose operations of machines.
#include "engine/codegen/decompositions.h"

#include "engine/base/context_var.h"
#include "engine/base/integers.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/rules/variables.h"
#include "engine/uop/threefry.h"

#include <array>
#include <bit>
#include <optional>

namespace uopscope {

bool isNative(const Target& target, Op op) {
  return target.nativeOps.has(op);
}
bool isSupported(const Target& target, DType d) {
  return !target.supportsDtype || target.supportsDtype(d.scalar());
}

namespace {

using namespace pat;
using rules::x, rules::y;
constexpr PatVar c{"c"}, counter{"counter"}, key{"key"};

const Target& targetOf(const Match& m) {
  return m.ctx<TargetContext>().target;
}

/// The integer that all lanes of u have.
std::optional<int64_t> laneInt(UOp u) {
  UOp c = laneConst(u);
  return c && c.arg().kind() == ArgKind::Int ? std::optional(c.arg().i()) : std::nullopt;
}
bool isConstant(UOp u, double v) {
  UOp c = laneConst(u);
  return c && c.isConst(v);
}
int log2Of(int64_t v) {
  return std::countr_zero(static_cast<uint64_t>(v));
}
UOp shiftRight(UOp v, int by) {
  return v.alu(Op::SHR, {v.constLike(by)});
}
bool neverNegative(UOp v) {
  return v.dtype().isUnsigned() || v.vmin() >= 0;
}

// --- division by constants ---

struct Magic {
  __int128 factor;
  int shift;
};
/// A factor and a shift such that v / by == (v * factor) >> shift for 0 <= v <= largest. The factor is the
/// reciprocal rounded up: factor * by = 2^shift + error. The quotient is right as long as error * v stays
/// below 2^shift.
Magic magicFor(int64_t largest, int64_t by) {
  int bits = static_cast<int>(std::bit_width(static_cast<uint64_t>(largest)));
  for (int shift = 0; shift <= 2 * bits; ++shift) {
    __int128 power = __int128{1} << shift, factor = (power + by - 1) / by, error = factor * by - power;
    if (error * largest < power) return {factor, shift};
  }
  return {0, 0};
}

UOp divideByMultiply(UOp v, int64_t by, bool mayWiden) {
  DType type = v.dtype();
  int64_t low = v.vmin(), high = v.vmax();
  if (type.kind() == Scalar::UInt64 || low == INT64_MIN) return {};
  int64_t largest = std::max(high, -low);
  Magic magic = magicFor(largest, by);
  if (!magic.factor) return {};
  auto fits = [&](DType d) {
    return magic.factor * high <= static_cast<__int128>(dtypes::maxInt(d)) &&
           magic.factor * low >= dtypes::minInt(d) &&
           magic.factor <= static_cast<__int128>(dtypes::maxInt(d)) && magic.shift < d.bitsize();
  };
  // A shift rounds a negative value down: adding one makes it truncate.
  auto apply = [&](DType d) {
    UOp wide = v.cast(d.vec(laneCount(v)));
    UOp q = shiftRight(wide * wide.constLike(static_cast<int64_t>(magic.factor)), magic.shift).cast(type);
    return neverNegative(v) ? q : q + (v < v.constLike(0)).where(v.constLike(1), v.constLike(0));
  };
  if (fits(type.scalar())) return apply(type.scalar());
  if (int64_t even = by & -by; even > 1 && neverNegative(v))
    if (UOp r = divideByMultiply(shiftRight(v, log2Of(even)), by / even, false)) return r;
  if (mayWiden && type.scalar().itemsize() <= 4 && fits(dtypes::int64)) return apply(dtypes::int64);
  return {};
}

UOp divideByConstant(Match& m) {
  UOp v = m[x];
  auto by = laneInt(m[c]);
  if (!v.dtype().isInt() || v.dtype().kind() == Scalar::Index || !by || *by <= 1 ||
      !isNative(targetOf(m), Op::SHR))
    return m.decline("no integer by a constant above 1, or the device has no shift");
  if (isPowerOfTwo(*by)) {
    if (neverNegative(v)) return shiftRight(v, log2Of(*by));
    UOp bias = (v < v.constLike(0)).where(v.constLike(*by - 1), v.constLike(0));
    return shiftRight(v + bias, log2Of(*by));
  }
  return vars::disableFastIdiv ? m.decline("DISABLE_FAST_IDIV is set") : divideByMultiply(v, *by, true);
}
UOp moduloByConstant(Match& m) {
  UOp v = m[x];
  auto by = laneInt(m[c]);
  if (!v.dtype().isInt() || v.dtype().kind() == Scalar::Index || !by || *by <= 1)
    return m.decline("no integer by a constant above 1");
  if (isPowerOfTwo(*by) && neverNegative(v) && isNative(targetOf(m), Op::AND))
    return v.alu(Op::AND, {v.constLike(*by - 1)});
  if (!isNative(targetOf(m), Op::SHR) || (vars::disableFastIdiv && !isPowerOfTwo(*by)))
    return m.decline("the device has no shift, or DISABLE_FAST_IDIV is set");
  UOp quotient = v / v.constLike(*by);
  return v + quotient * v.constLike(-*by);
}
bool isPowerFromTwo(const Match& m) {
  auto by = laneInt(m[c]);
  return by && *by >= 2 && isPowerOfTwo(*by);
}
UOp exponentOfFactor(Match& m) {
  return m[x].constLike(log2Of(*laneInt(m[c])));
}

// --- quotients of bfloat16 ---
//
// Quotients of numbers of 8 bits lie 2**-17 of themselves and more away from what lies between two bfloat16s, or, in the range of subnormal
// results, exactly there. The product with a reciprocal errs by 2**-22 at most, and hits what float32 can hold, so it rounds to the same number.

constexpr DTypeMask kMaskBFloat16 = 1u << static_cast<unsigned>(Scalar::BFloat16);

/// Whether loops around the quotient leave the divisor as it is: its reciprocal is computed outside of them.
bool isDivisorShared(const Match& m) {
  return m[y].ranges().size() < m.root().ranges().size();
}
UOp asFloat32(UOp v) {
  return v.cast(dtypes::float32.vec(laneCount(v)));
}
UOp dividend(Match& m) {
  return asFloat32(m[x]);
}
/// A power of two by which the divisor's reciprocal becomes finite.
UOp scaleOfDivisor(Match& m) {
  const UOp by = asFloat32(m[y]);
  auto number = [&](double v) { return UOp::constant(by.dtype(), v); };
  return ((by < number(0x1p-126)) & (number(-0x1p-126) < by)).where(number(0x1p64), number(1.0));
}
UOp scaledReciprocal(Match& m) {
  return (asFloat32(m[y]) * scaleOfDivisor(m)).alu(Op::RECIPROCAL, {});
}

// --- operations of machines ---

template <Op o>
bool has(const Match& m) {
  return isNative(targetOf(m), o);
}
template <Op o>
bool lacks(const Match& m) {
  return !isNative(targetOf(m), o);
}
bool isByMinusOne(const Match& m) {
  return isConstant(m[c], -1) && !m[x].dtype().isBool();
}
bool isNegated(const Match& m) {
  return isConstant(m[c], 1);
}
/// Whether a comparison is of signed integers with a constant on its right, or left, side that has a neighbour.
bool isAtLeastConstant(const Match& m) {
  const DType type = m[x].dtype();
  const auto limit = laneInt(m[y]);
  return type.isInt() && !type.isUnsigned() && limit && *limit > dtypes::minInt(type);
}
bool isAtMostConstant(const Match& m) {
  const DType type = m[x].dtype();
  const auto limit = laneInt(m[x]);
  return type.isInt() && !type.isUnsigned() && limit && static_cast<uint64_t>(*limit) != dtypes::maxInt(type);
}
UOp beforeConstant(Match& m) {
  return m[y].constLike(*laneInt(m[y]) - 1);
}
UOp behindConstant(Match& m) {
  return m[x].constLike(*laneInt(m[x]) + 1);
}

/// Whether an unsigned value may come from a negative number of a smaller type, sign-extended and
/// reinterpreted.
bool mayWrapFromSmall(UOp u, int& budget) {
  if (--budget < 0) return true;
  if (u.is(Op::CAST) && u.src(0).dtype().isInt() && !u.src(0).dtype().isUnsigned())
    return u.src(0).dtype().itemsize() < u.dtype().itemsize() && !neverNegative(u.src(0));
  bool isBounded = u.in({Op::IDIV, Op::SHR}) || (u.vmin() >= 0 && u.vmax() <= INT32_MAX);
  if (!u.in(group::kElementwise) || !u.dtype().isUnsigned() || isBounded) return false;
  for (UOp s : u.src())
    if (s.dtype().isUnsigned() && mayWrapFromSmall(s, budget)) return true;
  return false;
}
/// LLVM 19 miscompiles the conversion of such a value to a float in vectors: it converts the number of the
/// smaller type. This uses a signed conversion instead. Where the value is too large for it, a float64 of 32 bits gets
/// what the sign took; any other conversion takes half of the value, with the last bit kept for rounding, and doubles
/// the result.
UOp floatOfWrapped(Match& m) {
  UOp v = m[x];
  DType to = m.root().dtype();
  int budget = 64;
  if (!to.isFloat() || !v.dtype().isUnsigned() || v.dtype().scalar().itemsize() < 4)
    return m.decline("no wide unsigned number to a float");
  if (!mayWrapFromSmall(v, budget)) return m.decline("it does not come from a small signed number");
  const bool isWord = v.dtype().scalar().itemsize() == 4;
  DType same = (isWord ? dtypes::int32 : dtypes::int64).vec(laneCount(v));
  UOp whole = v.cast(same), isLarge = whole < whole.constLike(0), plain = whole.cast(to);
  if (isWord && to.kind() == Scalar::Float64) return isLarge.where(plain + UOp::constant(to, 0x1p32), plain);
  UOp half = ((v / v.constLike(2)) | (v & v.constLike(1))).cast(same).cast(to);
  return isLarge.where(half * half.constLike(2), plain);
}

// --- Threefry-2x32 with 20 rounds, in 32-bit words ---

UOp threefry(Match& m) {
  if (isNative(targetOf(m), Op::THREEFRY)) return m.decline("the device draws random bits itself");
  int n = laneCount(m.root());
  DType word = dtypes::uint32.vec(n), both = dtypes::uint64.vec(n);
  auto split = [&](UOp v) {
    UOp low = v & v.constLike(0xffffffff),
        high = (v / v.constLike(int64_t{1} << 32)) & v.constLike(0xffffffff);
    return std::pair(low.cast(word), high.cast(word));
  };
  auto [a, b] = split(m[counter]);
  auto [k0, k1] = split(m[key]);
  struct {
    UOp add(UOp x, UOp y) const { return x + y; }
    UOp plus(UOp x, int64_t by) const { return x + x.constLike(by); }
    UOp exclusiveOr(UOp x, UOp y) const { return x ^ y; }
    UOp exclusiveOr(UOp x, int64_t by) const { return x ^ x.constLike(by); }
    UOp rotate(UOp v, int by) const {
      return v * v.constLike(int64_t{1} << by) + v / v.constLike(int64_t{1} << (32 - by));
    }
  } ops;
  auto [low, top] = threefryRounds(ops, a, b, k0, k1);
  UOp high = top.cast(both);
  return (high * high.constLike(int64_t{1} << 32)) | low.cast(both);
}

constexpr RuleDef kDecompositions[] = {
    RULE("threefry-rounds", op(Op::THREEFRY, counter, key), threefry),
    // A NaN in either operand is the result.
    RULE("float-max-by-compare", max(x, y).withDtype(kMaskFloats), where(op(Op::OR, x < y, y != y), y, x),
         guard::when(lacks<Op::MAX>, "the device has a maximum")),
    RULE("max-by-compare", max(x, y).withDtype(kMaskIntsBool), where(x < y, y, x),
         guard::when(lacks<Op::MAX>, "the device has a maximum")),
    RULE("divide-by-constant", x / c, divideByConstant),
    RULE("modulo-by-constant", x % c, moduloByConstant),
    RULE("modulo-by-division", x % y, x + x / y * y * -1,
         guard::when(lacks<Op::MOD>, "the device has a remainder")),
    RULE("multiply-by-shift", Pat(x).withDtype(kMaskInts & ~kMaskIndex) * c, x << made(exponentOfFactor),
         guard::when(isPowerFromTwo, "no power of two"),
         guard::when(has<Op::SHL>, "the device has no shift")),
    // Of integers, not (v < 3) is 2 < v, and not (3 < v) is v < 4.
    RULE("not-less", (x < y) != c, made(beforeConstant) < x, guard::when(isNegated, "not negated"),
         guard::when(isAtLeastConstant, "no signed integers, or no constant above the least"),
         guard::when(has<Op::CMPLT>, "the device says nothing of comparisons")),
    RULE("not-more", (x < y) != c, y < made(behindConstant), guard::when(isNegated, "not negated"),
         guard::when(isAtMostConstant, "no signed integers, or no constant below the largest"),
         guard::when(has<Op::CMPLT>, "the device says nothing of comparisons")),
    RULE("to-equality", op(Op::CMPNE, x, y) != c, op(Op::CMPEQ, x, y), guard::when(isNegated, "not negated"),
         guard::when(has<Op::CMPEQ>, "the device has no equality")),
    RULE("to-negation", x* c, op(Op::NEG, x), guard::when(isByMinusOne, "not by -1"),
         guard::when(has<Op::NEG>, "the device has no negation")),
    RULE("to-subtraction", x + op(Op::NEG, y), op(Op::SUB, x, y),
         guard::when(has<Op::SUB>, "the device has no subtraction")),
    RULE("to-division", recip(x), op(Op::FDIV, 1, x),
         guard::when(has<Op::FDIV>, "the device has no division of floats")),
    RULE("quotient-by-reciprocal", op(Op::FDIV, x, y).withDtype(kMaskBFloat16),
         toRoot(made(dividend) * made(scaledReciprocal) * made(scaleOfDivisor)),
         guard::when(isDivisorShared, "each quotient has a divisor of its own")),
    RULE("float-of-wrapped", op(Op::CAST, x), floatOfWrapped),
};
const KnownRules kDecompositionsKnown(kDecompositions);

} // namespace

std::span<const RuleDef> decompositionRules() {
  return kDecompositions;
}

} // namespace uopscope
