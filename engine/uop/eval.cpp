// Evaluation of operations on constants. eval.h defines the cases that C leaves undefined.
#include "engine/uop/eval.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

int64_t truncateToInt(double v, bool isUnsigned64) {
  if (std::isnan(v)) return 0;
  if (isUnsigned64 && v >= 9223372036854775808.0)
    return v >= 18446744073709551616.0 ? -1 : static_cast<int64_t>(static_cast<uint64_t>(v));
  if (v >= 9223372036854775808.0) return std::numeric_limits<int64_t>::max();
  if (v < -9223372036854775808.0) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(v);
}

double intToFloat(DType from, DType to, int64_t v) {
  bool wide = from.kind() == Scalar::UInt64;
  // Rounds directly to float32: going through a double would round twice.
  if (to.kind() == Scalar::Float32)
    return wide ? static_cast<float>(static_cast<uint64_t>(v)) : static_cast<float>(v);
  return dtypes::roundFloat(to,
                            wide ? static_cast<double>(static_cast<uint64_t>(v)) : static_cast<double>(v));
}

ConstValue castConst(DType to, DType from, const ConstValue& v) {
  if (v.isInvalid()) return v;
  bool isFloat = v.kind == ConstValue::Kind::Float;
  if (to.isBool()) return ConstValue::ofBool(isFloat ? v.f != 0 : v.i != 0);
  if (to.isFloat())
    return ConstValue::ofFloat(isFloat ? dtypes::roundFloat(to, v.f) : intToFloat(from, to, v.i));
  int64_t i = isFloat ? truncateToInt(v.f, to.kind() == Scalar::UInt64) : v.i;
  return ConstValue::ofInt(dtypes::wrapInt(to, i));
}

uint64_t toBits(DType d, const ConstValue& v) {
  switch (d.kind()) {
  case Scalar::Float64: return std::bit_cast<uint64_t>(v.f);
  case Scalar::Float32: return std::bit_cast<uint32_t>(static_cast<float>(v.f));
  case Scalar::Float16: return dtypes::toHalf(v.f);
  case Scalar::BFloat16: return dtypes::toBFloat16(v.f);
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return dtypes::toFp8(d, v.f);
  default: return static_cast<uint64_t>(v.i);
  }
}

ConstValue fromBits(DType d, uint64_t bits) {
  switch (d.kind()) {
  case Scalar::Float64: return ConstValue::ofFloat(std::bit_cast<double>(bits));
  case Scalar::Float32: return ConstValue::ofFloat(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  case Scalar::Float16: return ConstValue::ofFloat(dtypes::fromHalf(static_cast<uint16_t>(bits)));
  case Scalar::BFloat16: return ConstValue::ofFloat(dtypes::fromBFloat16(static_cast<uint16_t>(bits)));
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return ConstValue::ofFloat(dtypes::fromFp8(d, static_cast<uint8_t>(bits)));
  case Scalar::Bool: return ConstValue::ofBool(bits & 1);
  default: return ConstValue::ofInt(dtypes::wrapInt(d, static_cast<int64_t>(bits)));
  }
}

[[noreturn]] void unsupported(Op op, DType d) {
  throw Error(ErrorKind::Unsupported,
              fmt::format("{} of {} has no value that could be computed", opName(op), d.name()));
}

/// Rounded once where devices do so; small floats round the product, too.
double multiplyAdd(DType d, double x, double y, double z) {
  if (d.kind() == Scalar::Float64) return std::fma(x, y, z);
  if (d.kind() == Scalar::Float32)
    return std::fma(static_cast<float>(x), static_cast<float>(y), static_cast<float>(z));
  return dtypes::roundFloat(d, x * y) + z;
}

double evalFloat(Op op, DType d, std::span<const ConstValue> v) {
  double x = v[0].asDouble(), y = v.size() > 1 ? v[1].asDouble() : 0;
  switch (op) {
  case Op::EXP2: return std::exp2(x);
  case Op::LOG2: return std::log2(x);
  case Op::SIN: return std::sin(x);
  case Op::SQRT: return std::sqrt(x);
  case Op::RECIPROCAL: return 1 / x;
  case Op::NEG: return -x;
  case Op::TRUNC: return std::trunc(x);
  case Op::ADD: return x + y;
  case Op::SUB: return x - y;
  case Op::MUL: return x * y;
  case Op::FDIV: return x / y;
  case Op::POW: return std::pow(x, y);
  case Op::MAX: return x < y || std::isnan(y) ? y : x; // a NaN in either operand is the result
  case Op::MOD: return std::fmod(x, y);
  case Op::MULACC: return multiplyAdd(d, x, y, v[2].asDouble());
  default: unsupported(op, d);
  }
}

int64_t shiftLeft(uint64_t x, int64_t y, int width) {
  return y < 0 || y >= width ? 0 : static_cast<int64_t>(x << y);
}
int64_t shiftRight(DType d, int64_t x, int64_t y) {
  bool out = y < 0 || y >= d.bitsize();
  if (d.isUnsigned()) return out ? 0 : static_cast<int64_t>(static_cast<uint64_t>(x) >> y);
  return out ? (x < 0 ? -1 : 0) : x >> y;
}
int64_t divide(DType d, int64_t x, int64_t y) {
  if (y == 0) return 0;
  if (d.isUnsigned()) return static_cast<int64_t>(static_cast<uint64_t>(x) / static_cast<uint64_t>(y));
  return y == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x / y;
}
int64_t remainder(DType d, int64_t x, int64_t y) {
  if (y == 0 || (y == -1 && !d.isUnsigned())) return 0;
  if (d.isUnsigned()) return static_cast<int64_t>(static_cast<uint64_t>(x) % static_cast<uint64_t>(y));
  return x % y;
}
int64_t power(DType d, int64_t x, int64_t y) {
  if (y < 0 && !d.isUnsigned()) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t result = 1, base = static_cast<uint64_t>(x);
  for (auto n = static_cast<uint64_t>(y); n; n >>= 1, base *= base)
    if (n & 1) result *= base;
  return static_cast<int64_t>(result);
}
bool lessInt(DType d, int64_t x, int64_t y) {
  return d.isUnsigned() ? static_cast<uint64_t>(x) < static_cast<uint64_t>(y) : x < y;
}

int64_t evalInt(Op op, DType d, std::span<const ConstValue> v) {
  int64_t x = v[0].i, y = v.size() > 1 ? v[1].i : 0;
  auto ux = static_cast<uint64_t>(x), uy = static_cast<uint64_t>(y);
  switch (op) {
  case Op::ADD: return static_cast<int64_t>(ux + uy);
  case Op::SUB: return static_cast<int64_t>(ux - uy);
  case Op::MUL: return static_cast<int64_t>(ux * uy);
  case Op::NEG: return static_cast<int64_t>(0 - ux);
  case Op::TRUNC: return x;
  case Op::IDIV:
  case Op::FDIV: return divide(d, x, y);
  case Op::MOD: return remainder(d, x, y);
  case Op::RECIPROCAL: return divide(d, 1, x);
  case Op::MAX: return lessInt(d, x, y) ? y : x;
  case Op::SHL: return shiftLeft(ux, y, d.bitsize());
  case Op::SHR: return shiftRight(d, x, y);
  case Op::XOR: return x ^ y;
  case Op::OR: return x | y;
  case Op::AND: return x & y;
  case Op::POW: return power(d, x, y);
  case Op::THREEFRY: return static_cast<int64_t>(threefry2x32(ux, uy));
  case Op::MULACC: return static_cast<int64_t>(ux * uy + static_cast<uint64_t>(v[2].i));
  default: unsupported(op, d);
  }
}

bool evalBool(Op op, DType d, std::span<const ConstValue> v) {
  bool x = v[0].i != 0, y = v.size() > 1 && v[1].i != 0;
  switch (op) {
  case Op::ADD:
  case Op::OR:
  case Op::MAX: return x || y;
  case Op::MUL:
  case Op::AND: return x && y;
  case Op::XOR:
  case Op::SUB: return x != y;
  case Op::NEG:
  case Op::TRUNC: return x;
  case Op::MULACC: return (x && y) || v[2].i != 0;
  case Op::IDIV:
  case Op::FDIV: return x && y;
  case Op::MOD: return false;
  default: unsupported(op, d);
  }
}

bool evalCompare(Op op, DType d, const ConstValue& x, const ConstValue& y) {
  if (d.isFloat()) {
    double a = x.asDouble(), b = y.asDouble();
    return op == Op::CMPLT ? a < b : op == Op::CMPEQ ? a == b : a != b;
  }
  return op == Op::CMPLT ? lessInt(d, x.i, y.i) : op == Op::CMPEQ ? x.i == y.i : x.i != y.i;
}

size_t operandCount(Op op) {
  if (group::kTernary.has(op)) return 3;
  return group::kBinary.has(op) ? 2 : 1;
}

} // namespace

uint64_t threefry2x32(uint64_t counter, uint64_t key) {
  constexpr int rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  const uint32_t schedule[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  uint32_t x0 = static_cast<uint32_t>(counter) + schedule[0],
           x1 = static_cast<uint32_t>(counter >> 32) + schedule[1];
  for (uint32_t block = 0; block < 5; ++block) {
    for (int r : rotations[block % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, r) ^ x0;
    }
    x0 += schedule[(block + 1) % 3];
    x1 += schedule[(block + 2) % 3] + block + 1;
  }
  return uint64_t{x1} << 32 | x0;
}

ConstValue convertConst(DType type, ConstValue value) {
  DType from = value.kind == ConstValue::Kind::Float ? dtypes::float64 : dtypes::int64;
  return castConst(type.scalar(), from, value);
}

ConstValue asWritten(DType type, ConstValue value) {
  constexpr int kMostDigits = 6;
  if (value.kind != ConstValue::Kind::Float || type.scalar() != dtypes::float32 || !std::isfinite(value.f))
    return value;
  const double written = std::stod(fmt::format("{:.{}g}", value.f, kMostDigits));
  return dtypes::roundFloat(dtypes::float32, written) == value.f ? ConstValue::ofFloat(written) : value;
}

ConstValue evalAlu(Op op, DType result, DType operand, std::span<const ConstValue> v) {
  result = result.scalar();
  operand = operand.scalar();
  if (v.size() != operandCount(op))
    throw Error(ErrorKind::Value,
                fmt::format("{} takes {} operands, not {}", opName(op), operandCount(op), v.size()));
  if (op == Op::WHERE) {
    if (v[0].isInvalid()) return v[0];
    return v[0].asDouble() != 0 ? v[1] : v[2];
  }
  for (const ConstValue& x : v)
    if (x.isInvalid()) return x;
  if (op == Op::CAST) return castConst(result, operand, v[0]);
  if (op == Op::BITCAST) {
    if (result.itemsize() != operand.itemsize()) unsupported(op, result);
    return fromBits(result, toBits(operand, v[0]));
  }
  if (group::kComparison.has(op)) return ConstValue::ofBool(evalCompare(op, operand, v[0], v[1]));
  if (!group::kAlu.has(op)) unsupported(op, result);
  if (result.isFloat()) return ConstValue::ofFloat(dtypes::roundFloat(result, evalFloat(op, result, v)));
  if (result.isBool()) return ConstValue::ofBool(evalBool(op, result, v));
  return ConstValue::ofInt(dtypes::wrapInt(result, evalInt(op, result, v)));
}

bool losslessCast(DType from, DType to) {
  if (from.isPtr() || to.isPtr()) return from == to;
  from = from.scalar();
  to = to.scalar();
  if (from == to || from.isBool()) return true;
  if (to.isBool() || from.kind() == Scalar::Index || from.isVoid() || to.isVoid()) return false;
  if (to.kind() == Scalar::Index) return from.isInt() && from.kind() != Scalar::UInt64;
  if (from.isFloat()) {
    if (!to.isFloat()) return false;
    bool halfPair = to.kind() == Scalar::BFloat16 && from.kind() == Scalar::Float16;
    bool fp8Pair = to.kind() == Scalar::Fp8E5M2;
    return from.kind() < to.kind() && !halfPair && !fp8Pair;
  }
  if (to.isFloat()) {
    int digits = from.bitsize() - !from.isUnsigned();
    switch (to.kind()) {
    case Scalar::Float64: return digits <= 53;
    case Scalar::Float32: return digits <= 24;
    case Scalar::Float16: return digits <= 11;
    case Scalar::BFloat16: return digits <= 8;
    default: return false;
    }
  }
  if (from.isUnsigned()) return from.bitsize() < to.bitsize();
  return !to.isUnsigned() && from.bitsize() < to.bitsize();
}

UOp evalConstants(Op op, DType result, std::span<const UOp> operands) {
  DType operand = operands[op == Op::WHERE ? 1 : 0].dtype();
  if (op == Op::BITCAST && result.itemsize() != operand.itemsize()) return {};
  bool hasLanes = false;
  for (UOp u : operands) hasLanes |= u.is(Op::VCONST);
  auto evaluated = [&](size_t lane, ConstValue& out) {
    std::array<ConstValue, 3> v;
    for (size_t i = 0; i < operands.size(); ++i) {
      UOp u = operands[i].is(Op::VCONST) ? operands[i] : laneConst(operands[i]);
      if (!u) return false;
      v[i] = u.isConst() ? u.constValue() : u.arg().as<std::vector<ConstValue>>()[lane];
      if (v[i].isInvalid() && result.kind() != Scalar::Index) return false;
    }
    out = evalAlu(op, result, operand, std::span(v.data(), operands.size()));
    return true;
  };
  if (ConstValue value; !hasLanes) return evaluated(0, value) ? UOp::constant(result, value) : UOp();
  std::vector<ConstValue> lanes(static_cast<size_t>(result.count()));
  for (size_t lane = 0; lane < lanes.size(); ++lane)
    if (!evaluated(lane, lanes[lane])) return {};
  bool alike = std::all_of(lanes.begin(), lanes.end(), [&](const ConstValue& v) { return v == lanes[0]; });
  return alike ? UOp::constant(result, lanes[0])
               : UOp::make(Op::VCONST, result, {}, Arg::of(std::move(lanes)));
}

} // namespace uopscope
