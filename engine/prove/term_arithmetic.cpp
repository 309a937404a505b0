// Arithmetic on terms: the semantics of engine/uop/eval.cpp, in the logic of bit-vectors and integers.
#ifdef UOPSCOPE_HAVE_Z3
#include "engine/prove/terms.h"

#include <fmt/format.h>

namespace uopscope::prove {

namespace {
constexpr int64_t kMostProducts = 64; ///< a power by a larger constant is not written as products
constexpr OpSet kBitOps{Op::AND, Op::OR, Op::XOR, Op::SHL, Op::SHR};
} // namespace

z3::expr Terms::alu(UOp u, const std::vector<z3::expr>& v, z3::expr& defined) {
  DType d = u.dtype().scalar(), from = u.src(0).dtype().scalar();
  if (u.is(Op::CAST)) return converted(from, d, v[0]);
  if (u.is(Op::BITCAST)) {
    if (d.isInt() && from.isInt() && d.bitsize() == from.bitsize()) return v[0];
    return d == from ? v[0] : function(fmt::format("bits {} {}", from.name(), d.name()), v, d);
  }
  if (group::kComparison.has(u.op())) return compared(u.op(), from, v[0], v[1]);
  if (d.isBool()) return boolean(u.op(), v, defined);
  if (u.is(Op::POW) && d.isInt() && u.src(1).isConst() && u.src(1).arg().kind() == ArgKind::Int) {
    int64_t n = u.src(1).arg().i();
    if (n < 0 || n > kMostProducts) throw NoTerm{"a power by a large number"};
    z3::expr product = number(d, ConstValue::ofInt(1));
    for (; n > 0; --n) product = product * v[0];
    return isBits(d) ? product : wrapped(d, product);
  }
  if (d.isFloat() || u.in({Op::THREEFRY, Op::POW}))
    return function(fmt::format("{} {}", opName(u.op()), d.name()), v, d);
  return isBits(d) ? integer(u.op(), d, v, defined) : unbounded(u.op(), d, v, defined);
}

z3::expr Terms::compared(Op op, DType operand, const z3::expr& a, const z3::expr& b) {
  if (operand.isFloat()) {
    // The order of floats is unknown, and so is whether a value equals itself.
    z3::expr less = function(fmt::format("{} {}", op == Op::CMPLT ? "<" : "==", operand.scalar().name()),
                             {a, b}, dtypes::bool_);
    return op == Op::CMPNE ? !less : less;
  }
  if (op == Op::CMPEQ) return a == b;
  if (op == Op::CMPNE) return a != b;
  if (operand.isBool()) return !a && b;
  return operand.isUnsigned() && isBits(operand) ? z3::ult(a, b) : a < b;
}

z3::expr Terms::boolean(Op op, const std::vector<z3::expr>& v, z3::expr& defined) {
  switch (op) {
  case Op::ADD:
  case Op::OR:
  case Op::MAX: return v[0] || v[1];
  case Op::MUL:
  case Op::AND: return v[0] && v[1];
  case Op::XOR:
  case Op::SUB: return v[0] != v[1];
  case Op::NEG:
  case Op::TRUNC: return v[0];
  case Op::MULACC: return (v[0] && v[1]) || v[2];
  case Op::IDIV:
  case Op::FDIV: defined = defined && v[1]; return v[0] && v[1];
  case Op::MOD: defined = defined && v[1]; return c_.bool_val(false);
  default: throw NoTerm{fmt::format("{} of bool", opName(op))};
  }
}

z3::expr Terms::integer(Op op, DType d, const std::vector<z3::expr>& v, z3::expr& defined) {
  bool isUnsigned = d.isUnsigned();
  z3::expr zero = number(d, ConstValue::ofInt(0));
  switch (op) {
  case Op::ADD: return v[0] + v[1];
  case Op::SUB: return v[0] - v[1];
  case Op::MUL: return v[0] * v[1];
  case Op::NEG: return -v[0];
  case Op::TRUNC: return v[0];
  case Op::MULACC: return v[0] * v[1] + v[2];
  case Op::AND: return v[0] & v[1];
  case Op::OR: return v[0] | v[1];
  case Op::XOR: return v[0] ^ v[1];
  case Op::MAX: return z3::ite(compared(Op::CMPLT, d, v[0], v[1]), v[1], v[0]);
  case Op::IDIV: defined = defined && v[1] != zero; return isUnsigned ? z3::udiv(v[0], v[1]) : v[0] / v[1];
  case Op::MOD:
    defined = defined && v[1] != zero;
    return isUnsigned ? z3::urem(v[0], v[1]) : z3::srem(v[0], v[1]);
  case Op::SHL:
  case Op::SHR: {
    // The amount may have a different type. A shift by the width or more shifts everything out.
    if (!v[0].is_bv() || !v[1].is_bv()) throw NoTerm{"a shift of an unbounded integer"};
    unsigned width = v[0].get_sort().bv_size(), by = v[1].get_sort().bv_size();
    if (by > width) throw NoTerm{"a shift by a wider number"};
    z3::expr amount = by < width ? z3::zext(v[1], width - by) : v[1];
    if (op == Op::SHL) return z3::shl(v[0], amount);
    return isUnsigned ? z3::lshr(v[0], amount) : z3::ashr(v[0], amount);
  }
  default: throw NoTerm{fmt::format("{} of integers", opName(op))};
  }
}

/// A number wrapped to a type with a width; an index is not wrapped.
z3::expr Terms::wrapped(DType d, const z3::expr& v) {
  if (d.kind() == Scalar::Index) return v;
  z3::expr whole = c_.int_val((uint64_t{1} << (d.bitsize() - 1))) * 2;
  if (d.isUnsigned()) return z3::mod(v, whole);
  z3::expr half = c_.int_val(uint64_t{1} << (d.bitsize() - 1));
  return z3::ite(v >= -half && v < half, v, z3::mod(v + half, whole) - half);
}

z3::expr Terms::unbounded(Op op, DType d, const std::vector<z3::expr>& v, z3::expr& defined) {
  if (kBitOps.has(op)) throw NoTerm{"bits of an unbounded integer"};
  // Z3 rounds a quotient so that the remainder is never negative. For a dividend of at least 0 this is
  // truncation, for any divisor; a negative dividend is negated first.
  auto quotient = [&] { return z3::ite(v[0] >= 0, v[0] / v[1], -(-v[0] / v[1])); };
  switch (op) {
  case Op::ADD: return wrapped(d, v[0] + v[1]);
  case Op::SUB: return wrapped(d, v[0] - v[1]);
  case Op::MUL: return wrapped(d, v[0] * v[1]);
  case Op::NEG: return wrapped(d, -v[0]);
  case Op::TRUNC: return v[0];
  case Op::MULACC: return wrapped(d, v[0] * v[1] + v[2]);
  case Op::MAX: return z3::ite(v[0] < v[1], v[1], v[0]);
  case Op::IDIV: defined = defined && v[1] != 0; return wrapped(d, quotient());
  case Op::MOD:
    defined = defined && v[1] != 0;
    return z3::ite(v[0] >= 0, z3::mod(v[0], v[1]), -z3::mod(-v[0], v[1]));
  default: throw NoTerm{fmt::format("{} of index", opName(op))};
  }
}

z3::expr Terms::converted(DType from, DType to, const z3::expr& v) {
  if (from == to) return v;
  auto one = [&](int n) { return number(to, to.isFloat() ? ConstValue::ofFloat(n) : ConstValue::ofInt(n)); };
  if (from.isBool()) return z3::ite(v, one(1), one(0));
  if (to.isFloat() || from.isFloat()) {
    if (to.isBool()) return !compared(Op::CMPEQ, from, v, number(from, ConstValue::ofFloat(0)));
    return function(fmt::format("{} to {}", from.name(), to.name()), {v}, to);
  }
  if (to.isBool()) return v != number(from, ConstValue::ofInt(0));
  if (numbers_ == Numbers::Wrapped) return wrapped(to, v);
  if (!isBits(from) || !isBits(to)) throw NoTerm{"an unbounded integer of a width"};
  const z3::sort target = sortOf(to);
  if (!v.is_bv() || !target.is_bv()) throw NoTerm{"an unbounded integer of a width"};
  unsigned a = v.get_sort().bv_size(), b = target.bv_size();
  if (b <= a) return b == a ? v : v.extract(b - 1, 0);
  return from.isUnsigned() ? z3::zext(v, b - a) : z3::sext(v, b - a);
}

} // namespace uopscope::prove
#endif
