// Arithmetic of symbolic integers, and shapes as sources of movement operations. linear.h brings sums of
// symbols into a normal form, so equal shapes are equal nodes however they were computed.
#include "engine/uop/sint.h"

#include "engine/base/error.h"
#include "engine/base/integers.h"
#include "engine/uop/linear.h"

#include <fmt/format.h>

namespace uopscope {

namespace {
int64_t divided(int64_t a, int64_t b) {
  if (b == 0) throw Error(ErrorKind::Value, fmt::format("division of the dimension {} by zero", a));
  return floorDiv(a, b);
}
int64_t checked(bool overflow, int64_t value, int64_t a, int64_t b) {
  if (overflow)
    throw Error(ErrorKind::Value, fmt::format("dimensions {} and {} do not combine within 64 bits", a, b));
  return value;
}
/// The quotient rounded down. IDIV truncates, so the quotient is corrected where the signs may differ.
UOp floorQuotient(UOp a, UOp b) {
  UOp quotient = a / b;
  if (a.vmin() >= 0 && b.vmin() > 0) return quotient;
  UOp zero = a.constLike(0), inexact = ne(a % b, zero), signs = (a < zero) ^ (b < b.constLike(0));
  return (inexact & signs).where(quotient - 1, quotient);
}
} // namespace

Sint Sint::operator+(const Sint& o) const {
  if (isInt() && o.isInt()) {
    int64_t r;
    bool overflow = __builtin_add_overflow(value_, o.value_, &r);
    return checked(overflow, r, value_, o.value_);
  }
  if (o.isInt() && o.value_ == 0) return *this;
  if (isInt() && value_ == 0) return o;
  return addTerms(uop(), o.uop());
}

Sint Sint::operator-(const Sint& o) const {
  if (isInt() && o.isInt()) {
    int64_t r;
    bool overflow = __builtin_sub_overflow(value_, o.value_, &r);
    return checked(overflow, r, value_, o.value_);
  }
  if (*this == o) return 0;
  return *this + o * Sint(-1);
}

Sint Sint::operator*(const Sint& o) const {
  if (isInt() && o.isInt()) {
    int64_t r;
    bool overflow = __builtin_mul_overflow(value_, o.value_, &r);
    return checked(overflow, r, value_, o.value_);
  }
  if (isInt()) return o * *this;
  if (o.isInt() && o.value_ == 0) return 0;
  if (o.isInt() && o.value_ == 1) return *this;
  return multiplyTerms(uop(), o.uop());
}

Sint Sint::operator/(const Sint& o) const {
  if (isInt() && o.isInt()) return divided(value_, o.value_);
  if (o.isInt() && o.value_ == 1) return *this;
  if (*this == o) return 1;
  if (UOp exact = divideTerms(uop(), o.uop())) return exact;
  return floorQuotient(uop(), o.uop());
}

Sint Sint::operator%(const Sint& o) const {
  if (isInt() && o.isInt()) return value_ - divided(value_, o.value_) * o.value_;
  if ((o.isInt() && o.value_ == 1) || *this == o) return 0;
  if (divideTerms(uop(), o.uop())) return 0;
  if (uop().vmin() >= 0 && o.uop().vmin() > 0) return uop() % o.uop();
  return *this - Sint(floorQuotient(uop(), o.uop())) * o;
}

Sint prod(std::span<const Sint> v) {
  Sint p = 1;
  for (const Sint& s : v) p = p * s;
  return p;
}

std::string shapeStr(std::span<const Sint> shape) {
  std::string s = "(";
  for (size_t i = 0; i < shape.size(); ++i) s += (i ? ", " : "") + shape[i].str();
  return s + (shape.size() == 1 ? ",)" : ")");
}

UOp shapeToUOp(std::span<const Sint> shape) {
  if (shape.size() == 1) return shape[0].uop();
  std::vector<UOp> dims;
  for (const Sint& s : shape) dims.push_back(s.uop());
  if (dims.empty()) return UOp::make(Op::VECTORIZE, dtypes::index, {});
  return UOp::vectorize(dims);
}

Shape uopToShape(UOp u) {
  Shape shape;
  if (u.is(Op::VECTORIZE)) {
    for (UOp s : u.src()) shape.emplace_back(s);
  } else if (u.is(Op::VCONST)) {
    for (const ConstValue& c : u.arg().as<std::vector<ConstValue>>()) shape.emplace_back(c.i);
  } else {
    shape.emplace_back(u);
  }
  return shape;
}

} // namespace uopscope
