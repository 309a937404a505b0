// Elementwise operations: type promotion, broadcasting, and one primitive node each if there is one.
#include "engine/runtime/mapped_file.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace uopscope {

namespace {

/// A symbolic integer as a tensor: a scalar without a device, which fits any device.
Tensor fromSymbolic(UOp u) {
  PoolScope scope(tensorPool());
  return Tensor::fromUOp(u.cast(dtypes::int32), false);
}

/// A constant on the device of a tensor.
Tensor numberBeside(const Tensor& x, ConstValue value, DType d) {
  UOp where = deviceOf(x.uop());
  if (!where) return Tensor::scalar(value, {x.device(), d, false});
  return Tensor::fromUOp(UOp::make(Op::CONST, d, {where}, UOp::constant(d, value).arg()), false);
}

/// Broadcasts. Small floats are expanded in a wider type, so that the sum in their gradient is computed in
/// it.
Tensor expandTo(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  DType wide = sumAccDtype(x.dtype());
  if (!x.dtype().isFloat() || wide == x.dtype()) return x.broadcastTo(shape);
  return x.cast(wide).broadcastTo(shape).cast(x.dtype());
}

DType signedOfSize(int64_t bytes) {
  return bytes == 1 ? dtypes::int8 : bytes == 2 ? dtypes::int16 : bytes == 4 ? dtypes::int32 : dtypes::int64;
}

} // namespace

Broadcasted broadcasted(const Tensor& x, const Operand& operand, bool reverse, bool matchDtype) {
  Tensor a = x, b;
  if (operand.isTensor()) {
    b = operand.tensor();
  } else if (operand.isUOp()) {
    b = fromSymbolic(operand.uop());
  } else {
    bool whole = operand.value().kind != ConstValue::Kind::Float;
    DType d = a.dtype().isFloat() || (a.dtype().isInt() && whole) ? a.dtype() : dtypeOf(operand.value());
    b = numberBeside(a, operand.value(), d);
  }
  if (matchDtype && a.dtype() != b.dtype()) {
    DType common = dtypes::leastUpper(a.dtype(), b.dtype());
    a = a.cast(common);
    b = b.cast(common);
  }
  if (reverse) std::swap(a, b);
  auto shape = graph::broadcastShape({a.shape(), b.shape()});
  if (!shape)
    fail(ErrorKind::Shape,
         fmt::format("cannot broadcast {} with {}", shapeStr(a.shape()), shapeStr(b.shape())));
  return {expandTo(a, *shape), expandTo(b, *shape)};
}

Tensor Tensor::unary(Op op) const {
  return apply(UOp::make(op, dtype(), {uop()}));
}
Tensor Tensor::unaryFloat(Op op) const {
  return cast(dtypes::leastUpperFloat(dtype())).unary(op);
}

Tensor Tensor::binary(Op op, const Operand& operand, bool reverse) const {
  auto [a, b] = broadcasted(*this, operand, reverse);
  UOp here = deviceOf(a.uop()), there = deviceOf(b.uop());
  if (here && there && here != there && graph::base(b.uop()).isConst() &&
      splitDevices(a.device()).size() == 1) {
    b = b.to(a.device()); // as in the reference, a constant on one device moves to the device beside it
    there = here;
  }
  if (here && there && here != there)
    fail(ErrorKind::Device,
         fmt::format("all tensors must be on the same device, got {} and {}", a.device(), b.device()));
  return a.apply(a.uop().alu(op, {b.uop()}), {b});
}

Tensor Tensor::cast(DType to) const {
  OperationScope op("cast");
  if (to == dtype()) return *this;
  if (to.count() > 1)
    fail(ErrorKind::Type,
         fmt::format("elements of a tensor are scalars: use {} and one more axis of {} instead of {}",
                     to.scalar().name(), to.count(), to.name()));
  // Floats convert to the small unsigned types through int32, so values out of range wrap.
  if (dtype().isFloat() && (to == dtypes::uint8 || to == dtypes::uint16))
    return apply(uop().cast(dtypes::int32).cast(to));
  return apply(uop().cast(to));
}

Tensor Tensor::bitcast(DType to) const {
  OperationScope op("bitcast");
  if (requiresGrad().value_or(false)) fail(ErrorKind::Runtime, "can't backprop through bitcast");
  if (to == dtype()) return *this;
  int64_t ns = to.itemsize(), os = dtype().itemsize();
  if (isFileDevice(device()))
    if (Tensor part = memoryView(to)) return part;
  if (ns == os) return apply(uop().bitcast(to));
  int64_t last = ndim() && shape().back().isInt() ? shape().back().i() : -1;
  if (last < 0 || last * os % ns)
    fail(ErrorKind::Runtime, fmt::format("unsupported size in bitcast: {} of {} to {}", shapeStr(shape()),
                                         dtype().name(), to.name()));
  auto unsignedOf = [](int64_t bytes) {
    return bytes == 1   ? dtypes::uint8
           : bytes == 2 ? dtypes::uint16
           : bytes == 4 ? dtypes::uint32
                        : dtypes::uint64;
  };
  Tensor bits = bitcast(unsignedOf(os));
  if (ns > os) {
    int64_t rate = ns / os;
    Shape apart(shape().begin(), shape().end() - 1);
    apart.push_back(last / rate);
    apart.push_back(rate);
    bits = bits.reshape(apart);
    Tensor sum;
    for (int64_t i = 0; i < rate; ++i) {
      std::vector<std::optional<std::pair<Sint, Sint>>> bounds(apart.size());
      bounds.back() = {Sint(i), Sint(i + 1)};
      Tensor part = bits.shrink(bounds).cast(unsignedOf(ns)).lshift(8 * i * os);
      sum = sum ? sum.add(part) : part;
    }
    return sum.squeeze(-1).bitcast(to);
  }
  std::vector<Tensor> parts;
  for (int64_t i = 0; i < os / ns; ++i) parts.push_back(bits.rshift(8 * i * ns));
  return stack(parts, -1).flatten(-2).cast(unsignedOf(ns)).bitcast(to);
}

Tensor Tensor::add(const Operand& x, bool reverse) const {
  OperationScope op("add");
  return binary(Op::ADD, x, reverse);
}
Tensor Tensor::mul(const Operand& x, bool reverse) const {
  OperationScope op("mul");
  return binary(Op::MUL, x, reverse);
}
Tensor Tensor::sub(const Operand& x, bool reverse) const {
  OperationScope op("sub");
  auto [a, b] = broadcasted(*this, x, reverse);
  return a.add(b.neg());
}

Tensor Tensor::idiv(const Operand& x, bool reverse) const {
  OperationScope op("idiv");
  return binary(Op::IDIV, x, reverse);
}

Tensor Tensor::div(const Operand& x, bool reverse, const std::string& rounding) const {
  OperationScope op("div");
  auto [n, d] = broadcasted(*this, x, reverse);
  if (!rounding.empty() && rounding != "trunc" && rounding != "floor")
    fail(ErrorKind::Runtime, fmt::format("rounding_mode='{}' is not supported", rounding));
  if (n.dtype().isInt() && !rounding.empty()) {
    Tensor quotient = n.idiv(d);
    if (rounding == "trunc") return quotient;
    Tensor rest = n.binary(Op::MOD, d, false);
    Tensor opposite = n.gt(0).bitAnd(d.lt(0)).bitOr(n.lt(0).bitAnd(d.gt(0)));
    return opposite.bitAnd(rest.ne(0)).where(quotient.sub(1), quotient);
  }
  // A division node, not a product with a reciprocal: it rounds once in every kernel, as in NumPy.
  DType type = dtypes::leastUpperFloat(n.dtype());
  Tensor result = n.cast(type).binary(Op::FDIV, d.cast(type), false);
  if (rounding.empty()) return result;
  DType out = n.dtype().isInt() ? n.dtype() : result.dtype();
  return (rounding == "trunc" ? result.trunc() : result.floor()).cast(out);
}

Tensor Tensor::mod(const Operand& x, bool reverse) const {
  OperationScope op("mod");
  auto [a, b] = broadcasted(*this, x, reverse);
  Tensor quotient = a.div(b, false, "floor");
  if (!a.isFloat()) return a.sub(quotient.mul(b));
  // A quotient of 0 (an infinite divisor) subtracts nothing. A quotient that was rounded up is one too large.
  Tensor rest = a.sub(quotient.eq(0).where(0, quotient.mul(b)));
  return rest.ne(0).bitAnd(rest.lt(0).ne(b.lt(0))).where(rest.add(b), rest);
}

Tensor Tensor::pow(const Operand& x, bool reverse) const {
  OperationScope op("pow");
  auto [base, exponent] = broadcasted(*this, x, reverse);
  bool wholePower =
      !x.isTensor() && !x.isUOp() && x.value().kind != ConstValue::Kind::Float && x.value().i >= 0;
  if (!base.isFloat() && !wholePower)
    fail(ErrorKind::Runtime, fmt::format("base needs to be float, got {}", base.dtype().name()));
  Tensor result = base.apply(base.uop().alu(Op::POW, {exponent.uop()}), {exponent});
  return !reverse && !isFloat() && exponent.isFloat() ? result.round().cast(dtype()) : result;
}

Tensor Tensor::maximum(const Operand& x) const {
  OperationScope op("maximum");
  return binary(Op::MAX, x, false);
}

Tensor Tensor::inverse() const {
  return isFloat() ? neg() : dtype().isInt() ? bitNot() : logicalNot();
}

Tensor Tensor::minimum(const Operand& x) const {
  OperationScope op("minimum");
  auto [a, b] = broadcasted(*this, x);
  return a.inverse().maximum(b.inverse()).inverse();
}

namespace {
void checkBits(const Tensor& t) {
  if (!t.dtype().isBool() && !t.dtype().isInt())
    fail(ErrorKind::Runtime, fmt::format("{} is not supported", t.dtype().name()));
}
} // namespace

Tensor Tensor::bitAnd(const Operand& x, bool reverse) const {
  OperationScope op("bitwise_and");
  checkBits(*this);
  return binary(Op::AND, x, reverse);
}
Tensor Tensor::bitOr(const Operand& x, bool reverse) const {
  OperationScope op("bitwise_or");
  checkBits(*this);
  return binary(Op::OR, x, reverse);
}
Tensor Tensor::bitXor(const Operand& x, bool reverse) const {
  OperationScope op("bitwise_xor");
  checkBits(*this);
  return binary(Op::XOR, x, reverse);
}
Tensor Tensor::bitNot() const {
  OperationScope op("bitwise_not");
  checkBits(*this);
  return dtype().isBool() ? logicalNot() : bitXor(-1);
}

Tensor Tensor::lshift(int64_t n) const {
  OperationScope op("lshift");
  if (!dtype().isUnsigned() || n < 0)
    fail(ErrorKind::Shape, fmt::format("not supported dtype={} x={}", dtype().name(), n));
  return mul(ConstValue::ofInt(static_cast<int64_t>(uint64_t{1} << n)));
}
Tensor Tensor::rshift(int64_t n) const {
  OperationScope op("rshift");
  if (!dtype().isUnsigned() || n < 0)
    fail(ErrorKind::Shape, fmt::format("not supported dtype={} x={}", dtype().name(), n));
  return idiv(ConstValue::ofInt(static_cast<int64_t>(uint64_t{1} << n)));
}

namespace {
/// "or equal" as a comparison that is false if either operand is NaN.
Tensor orEqual(const Tensor& x, const Operand& y, const Tensor& strictly, const Tensor& reversed) {
  bool number = !y.isTensor() && !y.isUOp();
  bool mayBeNan = x.isFloat() || (y.isTensor() && y.tensor().isFloat()) ||
                  (number && y.value().kind == ConstValue::Kind::Float);
  return mayBeNan ? strictly.bitOr(x.eq(y)) : reversed.logicalNot();
}
} // namespace

Tensor Tensor::lt(const Operand& x) const {
  OperationScope op("__lt__");
  return binary(Op::CMPLT, x, false);
}
Tensor Tensor::gt(const Operand& x) const {
  OperationScope op("__gt__");
  return binary(Op::CMPLT, x, true);
}
Tensor Tensor::le(const Operand& x) const {
  OperationScope op("__le__");
  return orEqual(*this, x, lt(x), gt(x));
}
Tensor Tensor::ge(const Operand& x) const {
  OperationScope op("__ge__");
  return orEqual(*this, x, gt(x), lt(x));
}
Tensor Tensor::ne(const Operand& x) const {
  OperationScope op("ne");
  return binary(Op::CMPNE, x, false);
}
Tensor Tensor::eq(const Operand& x) const {
  OperationScope op("eq");
  return ne(x).logicalNot();
}
Tensor Tensor::logicalNot() const {
  OperationScope op("logical_not");
  return cast(dtypes::bool_).binary(Op::CMPNE, true, false);
}
Tensor Tensor::neg() const {
  OperationScope op("neg");
  return dtype().isBool() ? logicalNot() : mul(-1);
}

Tensor Tensor::where(const Operand& ifTrue, const Operand& ifFalse) const {
  OperationScope op("where");
  Tensor x, y;
  if (ifTrue.isTensor()) {
    auto both = broadcasted(ifTrue.tensor(), ifFalse);
    x = both.x, y = both.y;
  } else if (ifFalse.isTensor()) {
    auto both = broadcasted(ifFalse.tensor(), ifTrue);
    x = both.y, y = both.x;
  } else {
    // Both operands are numbers: each is typed as if it met this tensor, then they are promoted together.
    auto value = [&](const Operand& o) {
      if (o.isUOp()) return fromSymbolic(o.uop());
      bool whole = o.value().kind != ConstValue::Kind::Float;
      DType d = isFloat() || (dtype().isInt() && whole) ? dtype() : dtypeOf(o.value());
      return numberBeside(*this, o.value(), d);
    };
    auto both = broadcasted(value(ifTrue), value(ifFalse));
    x = both.x, y = both.y;
  }
  auto shape = graph::broadcastShape({this->shape(), x.shape()});
  if (!shape)
    fail(ErrorKind::Shape,
         fmt::format("cannot broadcast condition {} with {}", shapeStr(this->shape()), shapeStr(x.shape())));
  Tensor condition = cast(dtypes::bool_).broadcastTo(*shape);
  x = expandTo(x, *shape);
  y = expandTo(y, *shape);
  return condition.apply(condition.uop().where(x.uop(), y.uop()), {x, y});
}

#define UOPSCOPE_UNARY(function, name, OP)                                                                   \
  Tensor Tensor::function() const {                                                                          \
    OperationScope op(name);                                                                                 \
    return unaryFloat(Op::OP);                                                                               \
  }
UOPSCOPE_UNARY(reciprocal, "reciprocal", RECIPROCAL)
UOPSCOPE_UNARY(sqrt, "sqrt", SQRT)
UOPSCOPE_UNARY(exp2, "exp2", EXP2)
UOPSCOPE_UNARY(log2, "log2", LOG2)
UOPSCOPE_UNARY(sin, "sin", SIN)
#undef UOPSCOPE_UNARY

Tensor Tensor::rsqrt() const {
  OperationScope op("rsqrt");
  return sqrt().reciprocal();
}
Tensor Tensor::exp() const {
  OperationScope op("exp");
  if (!isFloat()) return mul(1 / std::numbers::ln2).exp2();
  return cast(dtypes::leastUpper(dtype(), dtypes::float32)).mul(1 / std::numbers::ln2).exp2().cast(dtype());
}
Tensor Tensor::log() const {
  OperationScope op("log");
  return log2().mul(std::numbers::ln2);
}
Tensor Tensor::log10() const {
  OperationScope op("log10");
  return log2().mul(std::log10(2.0));
}
Tensor Tensor::cos() const {
  OperationScope op("cos");
  // 1 - 2 sin(x/2)^2: halving is exact for any argument, while pi/2 - x is rounded.
  Tensor half = cast(dtypes::leastUpper(dtypes::leastUpperFloat(dtype()), dtypes::float32)).mul(0.5).sin();
  Tensor result = half.mul(half).mul(-2).add(1);
  return isFloat() ? result.cast(dtype()) : result;
}
Tensor Tensor::tan() const {
  OperationScope op("tan");
  return sin().div(cos());
}
Tensor Tensor::trunc() const {
  OperationScope op("trunc");
  return unary(Op::TRUNC);
}
Tensor Tensor::floor() const {
  OperationScope op("floor");
  Tensor b = trunc();
  return lt(b).where(b.sub(1), b);
}
Tensor Tensor::ceil() const {
  OperationScope op("ceil");
  Tensor b = trunc();
  return gt(b).where(b.add(1), b);
}
Tensor Tensor::round() const {
  OperationScope op("round");
  // Halves round to the even neighbour. The cut-off part is exact, and a zero keeps its sign.
  Tensor whole = trunc(), half = whole.div(2.0), rest = sub(whole).abs();
  Tensor away = rest.gt(0.5).bitOr(rest.eq(0.5).bitAnd(half.trunc().ne(half)));
  return away.where(lt(0).where(whole.sub(1), whole.add(1)), whole);
}
Tensor Tensor::sign() const {
  OperationScope op("sign");
  auto constant = [&](int64_t v) { return scalar(ConstValue::ofInt(v), {device(), dtype(), false}); };
  Tensor direction = lt(0).where(constant(-1), constant(1));
  if (isFloat()) direction = ne(*this).where(NAN, direction); // no value of x: the gradient is 0 everywhere
  return ne(0).where(direction, constant(0));
}
Tensor Tensor::abs() const {
  OperationScope op("abs");
  if (!isFloat()) return mul(sign());
  return eq(0).where(0, lt(0).where(neg(), *this)); // 0 for -0, with gradient 0
}
Tensor Tensor::square() const {
  OperationScope op("square");
  return mul(*this);
}
Tensor Tensor::clamp(const std::optional<Operand>& low, const std::optional<Operand>& high) const {
  OperationScope op("clamp");
  if (!low && !high) fail(ErrorKind::Runtime, "at least one of 'min_' or 'max_' must not be None");
  Tensor x = *this;
  // A NaN in a bound gives NaN, as a NaN in the tensor does.
  auto beyond = [](const Tensor& is, const Operand& bound) {
    bool mayBeNan = bound.isTensor() && bound.tensor().isFloat();
    return mayBeNan ? is.bitOr(bound.tensor().ne(bound)) : is;
  };
  if (low) x = beyond(x.lt(*low), *low).where(*low, x);
  if (high) x = beyond(x.gt(*high), *high).where(*high, x);
  return x;
}
Tensor Tensor::isnan() const {
  OperationScope op("isnan");
  return ne(*this);
}
Tensor Tensor::isinf(bool positive, bool negative) const {
  OperationScope op("isinf");
  return eq(INFINITY).mul(positive).add(eq(-INFINITY).mul(negative));
}
Tensor Tensor::isfinite() const {
  OperationScope op("isfinite");
  return isinf().bitOr(isnan()).logicalNot();
}
Tensor Tensor::isclose(const Tensor& o, double rtol, double atol, bool equalNan) const {
  OperationScope op("isclose");
  Tensor finite = isfinite().bitAnd(o.isfinite()).bitAnd(sub(o).abs().le(o.abs().mul(rtol).add(atol)));
  Tensor infinite = isinf().bitOr(o.isinf()).bitAnd(eq(o));
  Tensor nan = isnan().bitAnd(o.isnan()).bitAnd(equalNan);
  return finite.bitOr(infinite).bitOr(nan);
}
Tensor Tensor::lerp(const Tensor& end, const Operand& weight) const {
  OperationScope op("lerp");
  if (dtype() != dtypes::uint8 || !weight.isTensor()) return add(end.sub(*this).mul(weight));
  constexpr int64_t kPrecision = 7; // bits of the weight in fixed point
  Tensor w = weight.tensor().mul(1 << kPrecision).add(0.5).cast(dtypes::int16);
  Tensor step = end.sub(*this)
                    .cast(dtypes::int8)
                    .mul(w)
                    .add(1 << (kPrecision - 1))
                    .cast(dtypes::uint16)
                    .rshift(kPrecision);
  return add(step).cast(dtypes::uint8);
}
Tensor Tensor::copysign(const Operand& o) const {
  OperationScope op("copysign");
  auto [x, other] = broadcasted(*this, o);
  if (!x.isFloat()) return other.lt(0).where(x.abs().neg(), x.abs());
  // The sign bit is tested, since -0 is not less than 0.
  DType bits = signedOfSize(other.dtype().itemsize());
  return other.apply(other.uop().bitcast(bits)).lt(0).where(x.abs().neg(), x.abs());
}
Tensor Tensor::logaddexp(const Operand& o) const {
  OperationScope op("logaddexp");
  auto [a, b] = broadcasted(*this, o);
  DType type = dtypes::leastUpperFloat(a.dtype());
  Tensor x = a.cast(type), y = b.cast(type);
  Tensor apart = x.eq(y).where(0, x.sub(y)); // equal infinities have distance 0
  return x.maximum(y).add(apart.abs().neg().exp().add(1).log());
}
Tensor Tensor::threefry(const Tensor& key) const {
  OperationScope op("threefry");
  return apply(uop().alu(Op::THREEFRY, {key.uop()}), {key});
}

Tensor Tensor::alu(Op op, const std::vector<Tensor>& others) const {
  OperationScope scope("alu");
  std::vector<UOp> src;
  bool any = requiresGrad().value_or(false);
  for (const Tensor& t : others) {
    src.push_back(t.uop());
    any = any || t.requiresGrad().value_or(false);
  }
  return fromUOp(uop().alu(op, src), any ? RequiresGrad(true) : RequiresGrad());
}

} // namespace uopscope
