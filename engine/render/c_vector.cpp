// Operations on whole vectors in C.
#include "engine/render/c_vector.h"

#include "engine/render/signature.h"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace uopscope {

namespace {

constexpr OpSet kArithmetic{Op::ADD, Op::SUB, Op::MUL, Op::NEG, Op::AND, Op::OR, Op::XOR, Op::MULACC};
constexpr OpSet kFunctions{Op::SQRT, Op::TRUNC, Op::EXP2, Op::LOG2, Op::SIN, Op::POW};
constexpr OpSet kBoolean{Op::ADD, Op::OR, Op::MAX, Op::MUL, Op::AND, Op::SUB, Op::XOR};

} // namespace

bool isSplat(UOp u) {
  if (!u.is(Op::VECTORIZE) || u.srcCount() < 2) return false;
  for (UOp s : u.src())
    if (s != u.src(0)) return false;
  return true;
}

bool scalarMayStandForSplat(DType d) {
  return d.scalar().itemsize() >= 4 || d.kind() == Scalar::Float16;
}

DType maskType(int bytes, int lanes) {
  DType d = bytes == 1   ? dtypes::int8
            : bytes == 2 ? dtypes::int16
            : bytes == 4 ? dtypes::int32
                         : dtypes::int64;
  return d.vec(lanes);
}

bool isNativeVector(UOp u) {
  DType type = u.dtype(), from = u.src(u.is(Op::WHERE) ? 1 : 0).dtype();
  if (type.count() == 1) return false;
  if (u.is(Op::WHERE)) return true;
  if (u.is(Op::CAST)) return !isEmulatedFloat(type) && !isEmulatedFloat(from);
  if (isEmulatedFloat(from)) return false;
  if (group::kComparison.has(u.op()) || u.is(Op::MAX) || kArithmetic.has(u.op()))
    return !type.isBool() || group::kComparison.has(u.op()) || kBoolean.has(u.op());
  if (type.isBool()) return false;
  if (u.is(Op::SHL) || u.is(Op::SHR)) return u.src(1).dtype() == type && !mayShiftOut(type, u.src(1));
  if (u.is(Op::FDIV) || u.is(Op::RECIPROCAL)) return type.isFloat();
  return kFunctions.has(u.op()) && (type.kind() == Scalar::Float32 || type.kind() == Scalar::Float64);
}

bool selectsByMask(UOp select) {
  UOp condition = throughAfter(select.src(0));
  return select.is(Op::WHERE) && condition.dtype().count() > 1 && group::kComparison.has(condition.op()) &&
         isNativeVector(condition) && !condition.src(0).dtype().isBool() &&
         condition.src(0).dtype().scalar().itemsize() == select.dtype().scalar().itemsize();
}

std::string vectorExpression(CText& types, UOp u, std::span<const std::string> a, const std::string& mask) {
  DType type = u.dtype(), from = u.src(0).dtype();
  auto infix = [&](const char* symbol) {
    constexpr OpSet kChains{Op::ADD, Op::MUL, Op::AND, Op::OR, Op::XOR};
    bool chain = kChains.has(u.op()) && throughAfter(u.src(0)).is(u.op());
    return fmt::format(FMT_COMPILE("({} {} {})"), chain ? bare(a[0]) : a[0], symbol, a[1]);
  };
  auto call = [&](const char* name) {
    return fmt::format(FMT_COMPILE("__builtin_elementwise_{}({}{})"), name, bare(a[0]),
                       a.size() > 1 ? ", " + bare(a[1]) : "");
  };
  auto negated = [&](const std::string& bools) {
    return fmt::format(FMT_COMPILE("({} ^ ({})1)"), bools, types.name(from));
  };
  bool bools = from.isBool();
  switch (u.op()) {
  case Op::ADD: return infix(bools ? "|" : "+");
  case Op::SUB: return infix(bools ? "^" : "-");
  case Op::MUL: return infix(bools ? "&" : "*");
  case Op::AND: return infix("&");
  case Op::OR: return infix("|");
  case Op::XOR: return infix("^");
  case Op::SHL: return infix("<<");
  case Op::SHR: return infix(">>");
  case Op::FDIV: return infix("/");
  case Op::RECIPROCAL: return fmt::format(FMT_COMPILE("(({})1 / {})"), types.name(type), a[0]);
  case Op::NEG: return fmt::format(FMT_COMPILE("(-{})"), a[0]);
  case Op::MULACC:
    if (type.isFloat())
      return fmt::format(FMT_COMPILE("__builtin_elementwise_fma({}, {}, {})"), bare(a[0]), bare(a[1]),
                         bare(a[2]));
    return fmt::format(FMT_COMPILE("({} * {} + {})"), a[0], a[1], a[2]);
  case Op::CMPLT: return bools ? fmt::format(FMT_COMPILE("({} & {})"), negated(a[0]), a[1]) : infix("<");
  case Op::CMPNE: return bools ? infix("^") : infix("!=");
  case Op::CMPEQ: return bools ? negated(infix("^")) : infix("==");
  case Op::WHERE: return fmt::format(FMT_COMPILE("({} ? {} : {})"), mask.empty() ? a[0] : mask, a[1], a[2]);
  case Op::MAX:
    if (bools) return infix("|");
    if (type.isFloat() && mayBeNan(isSplat(u.src(1)) ? u.src(1).src(0) : u.src(1)))
      return fmt::format(FMT_COMPILE("(({0} < {1}) | ({1} != {1}) ? {1} : {0})"), a[0], a[1]);
    return fmt::format(FMT_COMPILE("({0} < {1} ? {1} : {0})"), a[0], a[1]);
  case Op::CAST:
    if (type.isBool())
      return fmt::format(FMT_COMPILE("__builtin_convertvector(-({} != 0), {})"), a[0], types.name(type));
    return fmt::format(FMT_COMPILE("__builtin_convertvector({}, {})"), bare(a[0]), types.name(type));
  case Op::SQRT: return call("sqrt");
  case Op::TRUNC: return call("trunc");
  case Op::EXP2: return call("exp2");
  case Op::LOG2: return call("log2");
  case Op::SIN: return call("sin");
  case Op::POW: return call("pow");
  default: return {};
  }
}

} // namespace uopscope
