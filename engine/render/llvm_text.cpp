// The spelling of types, constants and operations in LLVM IR.
#include "engine/render/llvm_text.h"

#include "engine/base/error.h"
#include "engine/render/c_text.h"
#include "engine/render/llvm_renderer.h"
#include "engine/render/signature.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>

namespace uopscope {

namespace {

std::string scalarType(DType d) {
  switch (d.kind()) {
  case Scalar::Bool: return "i1";
  case Scalar::Int8:
  case Scalar::UInt8:
  case Scalar::Fp8E4M3:
  case Scalar::Fp8E5M2: return "i8";
  case Scalar::Int16:
  case Scalar::UInt16:
  case Scalar::BFloat16: return "i16";
  case Scalar::Int32:
  case Scalar::UInt32: return "i32";
  case Scalar::Int64:
  case Scalar::UInt64: return "i64";
  case Scalar::Float16: return "half";
  case Scalar::Float32: return "float";
  case Scalar::Float64: return "double";
  default:
    throw Error(ErrorKind::Compile,
                fmt::format("{} has no form in LLVM IR: it must be lowered before rendering", d.name()));
  }
}

/// The type as it appears in names of intrinsics: "v4f32".
std::string mangled(DType d) {
  const bool isFloat = d.isFloat() && !isEmulatedFloat(d.scalar());
  std::string s = isFloat ? fmt::format("f{}", 8 * d.scalar().itemsize()) : scalarType(d);
  return d.count() > 1 ? fmt::format("v{}{}", d.count(), s) : s;
}

std::string scalarConstant(DType type, ConstValue v) {
  if (type.isFloat()) {
    double d = dtypes::roundFloat(type, v.asDouble());
    if (type.kind() == Scalar::BFloat16) return fmt::format("{}", dtypes::toBFloat16(d));
    if (isEmulatedFloat(type)) return fmt::format("{}", dtypes::toFp8(type, d));
    if (type.kind() == Scalar::Float16) return fmt::format("0xH{:04X}", dtypes::toHalf(d));
    // A decimal if it is exact, else the bits.
    if (std::abs(d) < 1e6 && d * 1024 == std::trunc(d * 1024)) {
      std::string decimal = fmt::format("{}", d);
      if (decimal.find('e') == std::string::npos)
        return decimal.find('.') == std::string::npos ? decimal + ".0" : decimal;
    }
    return fmt::format("0x{:016X}", std::bit_cast<uint64_t>(d));
  }
  if (type.isBool()) return v.asDouble() != 0 ? "true" : "false";
  int64_t i = dtypes::wrapInt(type, v.kind == ConstValue::Kind::Float ? static_cast<int64_t>(v.f) : v.i);
  return fmt::format("{}", i);
}

/// Whether the operation on integers within these bounds cannot overflow, so that it may carry nsw.
bool cannotOverflow(Op op, UOp u, DType d) {
  if (!d.isInt() || d.isUnsigned() || d.itemsize() < 4 || d.count() > 1) return false;
  __int128 a = u.src(0).vmin(), b = u.src(0).vmax(), c = u.src(1).vmin(), e = u.src(1).vmax();
  __int128 low, high;
  if (op == Op::ADD)
    low = a + c, high = b + e;
  else if (op == Op::SUB)
    low = a - e, high = b - c;
  else
    low = std::min({a * c, a * e, b * c, b * e}), high = std::max({a * c, a * e, b * c, b * e});
  return low >= dtypes::minInt(d) && high <= static_cast<__int128>(dtypes::maxInt(d));
}

} // namespace

std::string llvmSplat(DType d, const std::string& scalar) {
  // One number: LLVM reads and converts each number of a vector that is spelled out.
  return d.count() == 1 ? scalar : fmt::format("splat ({} {})", scalarType(d), scalar);
}

std::string LlvmText::type(DType d) {
  return d.count() > 1 ? fmt::format("<{} x {}>", d.count(), scalarType(d)) : scalarType(d);
}
std::string LlvmText::memoryType(DType d) {
  return d.isBool() ? type(dtypes::uint8.vec(d.count())) : type(d);
}
std::string LlvmText::constant(DType d, ConstValue v) {
  return llvmSplat(d, scalarConstant(d.scalar(), v));
}

std::string LlvmText::emit(const char* prefix, const std::string& instruction) {
  std::string name = fmt::format("%{}{}", prefix, counters_[prefix]++);
  line(fmt::format("{} = {}", name, instruction));
  return name;
}

std::string LlvmText::declarations() const {
  std::string out;
  for (const std::string& d : declared_) out += d;
  return out;
}

std::string LlvmText::call(const char* prefix, DType result, const std::string& function, DType parameter,
                           std::span<const std::string> a) {
  std::string list, types;
  for (const std::string& v : a) {
    list += fmt::format("{}{} {}", list.empty() ? "" : ", ", type(parameter), v);
    types += fmt::format("{}{}", types.empty() ? "" : ", ", type(parameter));
  }
  declared_.insert(fmt::format("declare {} @{}({})\n", type(result), function, types));
  return emit(prefix, fmt::format("call {} @{}({})", type(result), function, list));
}

std::string LlvmText::fenced(DType type, const std::string& value) {
  if (!isOfProcessor) return value;
  return call("fence", type, fmt::format("llvm.arithmetic.fence.{}", mangled(type)), type,
              std::span<const std::string>(&value, 1));
}

std::string LlvmText::lanewiseCall(DType result, const std::string& function, DType parameter,
                                   const std::string& value) {
  if (result.count() == 1) return call("cast", result, function, parameter, std::span(&value, 1));
  std::string out = "poison";
  for (int i = 0; i < result.count(); ++i) {
    std::string lane = emit("gep", fmt::format("extractelement {} {}, i32 {}", type(parameter), value, i));
    std::string converted = call("cast", result.scalar(), function, parameter.scalar(), std::span(&lane, 1));
    out = emit("vec", fmt::format("insertelement {} {}, {} {}, i32 {}", type(result), out,
                                  type(result.scalar()), converted, i));
  }
  return out;
}

std::string LlvmText::cast(DType to, DType from, const std::string& value) {
  if (to == from) return value;
  int n = to.count();
  auto convert = [&](const char* how, DType a, DType b, const std::string& v) {
    return emit("cast", fmt::format("{} {} {} to {}", how, type(a), v, type(b)));
  };
  if (isEmulatedFloat(from)) {
    DType f = dtypes::float32.vec(n), i = dtypes::uint32.vec(n);
    std::string asFloat;
    if (from.kind() == Scalar::BFloat16) {
      std::string wide = convert("zext", from, i, value);
      asFloat = convert("bitcast", i, f,
                        emit("cast", fmt::format("shl {} {}, {}", type(i), wide, llvmSplat(i, "16"))));
    } else {
      bool e4 = from.kind() == Scalar::Fp8E4M3;
      asFloat =
          lanewiseCall(f, e4 ? llvm_support::kFp8E4M3ToFloat : llvm_support::kFp8E5M2ToFloat, from, value);
    }
    return cast(to, f, asFloat);
  }
  if (isEmulatedFloat(to)) {
    DType f = dtypes::float32.vec(n), i = dtypes::uint32.vec(n);
    std::string v = value;
    bool exactInFloat = from.isBool() || from.kind() == Scalar::Float32 || from.scalar().itemsize() < 3;
    if (!exactInFloat) {
      // The conversion to float rounds to odd, so that the second rounding gives the result of a single one.
      DType d = dtypes::float64.vec(n), bits = dtypes::bool_.vec(n);
      std::string wide = cast(d, from, v), near = cast(f, d, wide), back = cast(d, f, near);
      std::string exact = emit("cast", fmt::format("fcmp ueq {} {}, {}", type(d), back, wide));
      std::string a = call("cast", d, "llvm.fabs." + mangled(d), d, std::span(&back, 1));
      std::string b = call("cast", d, "llvm.fabs." + mangled(d), d, std::span(&wide, 1));
      std::string above = emit("cast", fmt::format("fcmp ogt {} {}, {}", type(d), a, b));
      std::string down = convert("zext", bits, i, above), u = convert("bitcast", f, i, near);
      std::string odd = emit("cast", fmt::format("or {} {}, {}", type(i),
                                                 emit("cast", fmt::format("sub {} {}, {}", type(i), u, down)),
                                                 llvmSplat(i, "1")));
      std::string chosen = emit(
          "cast", fmt::format("select {} {}, {} {}, {} {}", type(bits), exact, type(i), u, type(i), odd));
      v = convert("bitcast", i, f, chosen);
    } else {
      v = cast(f, from, v);
    }
    if (to.kind() != Scalar::BFloat16) {
      bool e4 = to.kind() == Scalar::Fp8E4M3;
      return lanewiseCall(to, e4 ? llvm_support::kFloatToFp8E4M3 : llvm_support::kFloatToFp8E5M2, f, v);
    }
    std::string u = convert("bitcast", f, i, v), t = type(i);
    std::string high = emit("cast", fmt::format("lshr {} {}, {}", t, u, llvmSplat(i, "16")));
    std::string lsb = emit("cast", fmt::format("and {} {}, {}", t, high, llvmSplat(i, "1")));
    std::string bias = emit("cast", fmt::format("add {} {}, {}", t, lsb, llvmSplat(i, "32767")));
    std::string sum = emit("cast", fmt::format("add {} {}, {}", t, u, bias));
    std::string rounded = emit("cast", fmt::format("lshr {} {}, {}", t, sum, llvmSplat(i, "16")));
    std::string quiet = emit("cast", fmt::format("or {} {}, {}", t, high, llvmSplat(i, "64")));
    std::string isNan = emit("cast", fmt::format("fcmp uno {} {}, {}", type(f), v, llvmSplat(f, "0.0")));
    std::string bits = emit("cast", fmt::format("select {} {}, {} {}, {} {}", type(dtypes::bool_.vec(n)),
                                                isNan, t, quiet, t, rounded));
    return convert("trunc", i, to, bits);
  }
  if (to.isBool()) {
    if (from.isFloat())
      return emit("cast", fmt::format("fcmp une {} {}, {}", type(from), value,
                                      llvmSplat(from, from.kind() == Scalar::Float16 ? "0xH0000" : "0.0")));
    return emit("cast", fmt::format("icmp ne {} {}, {}", type(from), value, llvmSplat(from, "0")));
  }
  if (from.isFloat() && to.isInt() && to.scalar().itemsize() < 8 && to.kind() != Scalar::Int32) {
    // The cast goes through a wider integer, so that a value that does not fit wraps.
    DType wide = (to.scalar().itemsize() < 4 ? dtypes::int32 : dtypes::int64).vec(n);
    return convert("trunc", wide, to, convert("fptosi", from, wide, value));
  }
  int toBits = 8 * to.scalar().itemsize(), fromBits = from.isBool() ? 1 : 8 * from.scalar().itemsize();
  const char* how;
  if (from.isFloat() && to.isFloat())
    how = toBits > fromBits ? "fpext" : "fptrunc";
  else if (from.isFloat())
    how = to.isUnsigned() ? "fptoui" : "fptosi";
  else if (to.isFloat())
    how = from.isUnsigned() || from.isBool() ? "uitofp" : "sitofp";
  else if (toBits == fromBits)
    return value;
  else if (toBits < fromBits)
    how = "trunc";
  else
    how = from.isUnsigned() || from.isBool() ? "zext" : "sext";
  return convert(how, from, to, value);
}

std::string LlvmText::bitcast(DType to, DType from, const std::string& value) {
  std::string v = toMemory(from, value);
  if (memoryType(to) != memoryType(from))
    v = emit("cast", fmt::format("bitcast {} {} to {}", memoryType(from), v, memoryType(to)));
  return fromMemory(to, v);
}

std::string LlvmText::maskedLoad(DType d, const std::string& pointer, int64_t alignment,
                                 const std::string& mask, const std::string& otherwise) {
  const std::string memory = memoryType(d),
                    function = fmt::format("llvm.masked.load.{}.p0",
                                           mangled(d.isBool() ? dtypes::uint8.vec(d.count()) : d));
  declare(fmt::format("declare {0} @{1}(ptr, i32, <{2} x i1>, {0})\n", memory, function, d.count()));
  return emit("val", fmt::format("call {0} @{1}(ptr {2}, i32 {3}, <{4} x i1> {5}, {0} {6})", memory, function,
                                 pointer, alignment, d.count(), mask, otherwise));
}
std::string LlvmText::pairOfLoads(DType d, const std::string& pointerType, const std::string& first,
                                  int alignment) {
  const std::string one = type(d.scalar()),
                    second = emit("ptr", fmt::format("getelementptr inbounds {}, {} {}, i64 1", one,
                                                     pointerType, first));
  std::string lanes = "poison";
  for (int i = 0; i < 2; ++i) {
    const std::string x =
        emit("val", fmt::format("load {}, {} {}, align {}", one, pointerType, i ? second : first, alignment));
    lanes = emit("vec", fmt::format("insertelement {} {}, {} {}, i32 {}", type(d), lanes, one, x, i));
  }
  return lanes;
}
void LlvmText::streamedStore(DType d, const std::string& value, const std::string& pointer, int alignment) {
  const std::string store = fmt::format("store {} {}, ptr {}", memoryType(d), value, pointer);
  const int size = d.itemsize(), id = number("stream");
  const std::string at = emit("address", fmt::format("ptrtoint ptr {} to i64", pointer)),
                    rest = emit("rest", fmt::format("and i64 {}, {}", at, size - 1)),
                    aligned = emit("aligned", fmt::format("icmp eq i64 {}, 0", rest));
  line(fmt::format("br i1 {}, label %stream_{}, label %keep_{}", aligned, id, id));
  label(fmt::format("stream_{}", id));
  line(fmt::format("{}, align {}, !nontemporal !{{i32 1}}", store, size));
  line(fmt::format("br label %stored_{}", id));
  label(fmt::format("keep_{}", id));
  line(fmt::format("{}, align {}", store, alignment));
  line(fmt::format("br label %stored_{}", id));
  label(fmt::format("stored_{}", id));
}
std::string LlvmText::toMemory(DType d, const std::string& value) {
  if (!d.isBool()) return value;
  return emit("cast", fmt::format("zext {} {} to {}", type(d), value, memoryType(d)));
}
std::string LlvmText::fromMemory(DType d, const std::string& value) {
  if (!d.isBool()) return value;
  return emit("cast", fmt::format("trunc {} {} to {}", memoryType(d), value, type(d)));
}

std::string LlvmText::alu(UOp u, std::span<const std::string> operands) {
  DType result = u.dtype(), from = u.srcCount() ? u.src(u.is(Op::WHERE) ? 1 : 0).dtype() : result;
  if (!isEmulatedFloat(from) || u.is(Op::WHERE)) return plain(u.op(), u, result, from, operands);
  DType f = dtypes::float32.vec(from.count());
  std::vector<std::string> floats;
  for (const std::string& o : operands) floats.push_back(cast(f, from, o));
  if (u.is(Op::MULACC)) { // product and sum are rounded separately
    std::string product = emit("alu", fmt::format("fmul {} {}, {}", type(f), floats[0], floats[1]));
    std::string rounded = cast(f, result, cast(result, f, product));
    return cast(result, f, emit("alu", fmt::format("fadd {} {}, {}", type(f), rounded, floats[2])));
  }
  std::string value = plain(u.op(), u, isEmulatedFloat(result) ? f : result, f, floats);
  return isEmulatedFloat(result) ? cast(result, f, value) : value;
}

std::string LlvmText::divide(UOp divisorNode, DType d, const std::string& x, const std::string& y,
                             bool wantQuotient) {
  DivisorFacts facts = divisorFacts(divisorNode);
  std::string t = type(d), flag = type(dtypes::bool_.vec(d.count())), divisor = y, isZero, isMinusOne;
  std::string unsafe;
  if (facts.mayBeZero)
    unsafe = isZero = emit("alu", fmt::format("icmp eq {} {}, {}", t, y, llvmSplat(d, "0")));
  if (facts.mayBeMinusOne) {
    isMinusOne = emit("alu", fmt::format("icmp eq {} {}, {}", t, y, llvmSplat(d, "-1")));
    unsafe = unsafe.empty() ? isMinusOne : emit("alu", fmt::format("or {} {}, {}", flag, isZero, isMinusOne));
  }
  if (!unsafe.empty())
    divisor =
        emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, unsafe, t, llvmSplat(d, "1"), t, y));
  const char* how = wantQuotient ? (d.isUnsigned() ? "udiv" : "sdiv") : (d.isUnsigned() ? "urem" : "srem");
  std::string result = emit("alu", fmt::format("{} {} {}, {}", how, t, x, divisor));
  if (!isMinusOne.empty() && wantQuotient) {
    std::string negated = emit("alu", fmt::format("sub {} {}, {}", t, llvmSplat(d, "0"), x));
    result = emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, isMinusOne, t, negated, t, result));
  }
  // A remainder needs no such step: the replaced divisor 1 gives 0, the result for 0 and -1.
  if (!isZero.empty() && wantQuotient)
    result =
        emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, isZero, t, llvmSplat(d, "0"), t, result));
  return result;
}

std::string LlvmText::shift(UOp u, DType d, std::span<const std::string> a) {
  DType by = u.src(1).dtype();
  std::string t = type(d), how = u.is(Op::SHL) ? "shl" : d.isUnsigned() ? "lshr" : "ashr";
  std::string distance = by == d ? a[1] : cast(d, by, a[1]);
  if (!mayShiftOut(d, u.src(1))) return emit("alu", fmt::format("{} {} {}, {}", how, t, a[0], distance));
  std::string flag = type(dtypes::bool_.vec(d.count())),
              last = llvmSplat(d, fmt::format("{}", d.bitsize() - 1));
  std::string fits = emit("alu", fmt::format("icmp ule {} {}, {}", type(by), a[1],
                                             llvmSplat(by, fmt::format("{}", d.bitsize() - 1))));
  std::string safe = emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, fits, t, distance, t, last));
  std::string shifted = emit("alu", fmt::format("{} {} {}, {}", how, t, a[0], safe));
  if (how == "ashr") return shifted; // the largest shift leaves the sign alone
  return emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, fits, t, shifted, t, llvmSplat(d, "0")));
}

std::string LlvmText::integerPower(UOp u, DType d, std::span<const std::string> a) {
  DType exponent = u.src(1).dtype(), one = d.scalar();
  DType wide = one.isUnsigned() ? dtypes::uint64 : dtypes::int64;
  auto power = [&](const std::string& base, const std::string& by) {
    std::array<std::string, 2> operands{cast(wide, one, base), cast(wide, exponent.scalar(), by)};
    const char* function = one.isUnsigned() ? llvm_support::kUnsignedPower : llvm_support::kIntegerPower;
    return cast(one, wide, call("alu", wide, function, wide, operands));
  };
  if (d.count() == 1) return power(a[0], a[1]);
  std::string all = "poison"; // a call has no vector form: one call per lane
  for (int lane = 0; lane < d.count(); ++lane) {
    std::string x = emit("alu", fmt::format("extractelement {} {}, i32 {}", type(d), a[0], lane));
    std::string y = emit("alu", fmt::format("extractelement {} {}, i32 {}", type(exponent), a[1], lane));
    all = emit("alu",
               fmt::format("insertelement {} {}, {} {}, i32 {}", type(d), all, type(one), power(x, y), lane));
  }
  return all;
}

std::string LlvmText::constants(DType d, std::span<const ConstValue> lanes) {
  std::string all;
  for (const ConstValue& v : lanes)
    all += fmt::format("{}{} {}", all.empty() ? "" : ", ", type(d.scalar()), constant(d.scalar(), v));
  return "<" + all + ">";
}

std::string LlvmText::anyLane(DType d, const std::string& value) {
  const std::string function = fmt::format("llvm.vector.reduce.or.v{}i1", d.count());
  declare(fmt::format("declare i1 @{}({})\n", function, type(d)));
  return emit("alu", fmt::format("call i1 @{}({} {})", function, type(d), value));
}

std::string LlvmText::boolean(Op op, DType d, std::span<const std::string> a) {
  auto binary = [&](const char* how) {
    return emit("alu", fmt::format("{} {} {}, {}", how, type(d), a[0], a[1]));
  };
  switch (op) {
  case Op::ADD:
  case Op::OR:
  case Op::MAX: return binary("or");
  case Op::MUL:
  case Op::AND:
  case Op::IDIV:
  case Op::FDIV: return binary("and");
  case Op::SUB:
  case Op::XOR: return binary("xor");
  case Op::MULACC: return emit("alu", fmt::format("or {} {}, {}", type(d), binary("and"), a[2]));
  case Op::NEG:
  case Op::TRUNC: return a[0];
  case Op::MOD: return llvmSplat(d, "false");
  default: return {};
  }
}

std::string LlvmText::plain(Op op, UOp u, DType d, DType from, std::span<const std::string> a) {
  bool isFloat = d.isFloat(), fromFloat = from.isFloat(), isSigned = !from.isUnsigned() && !from.isBool();
  std::string t = type(d), ft = type(from), flag = type(dtypes::bool_.vec(d.count()));
  if (d.isBool() && !group::kComparison.has(op) && op != Op::WHERE) {
    if (std::string result = boolean(op, d, a); !result.empty()) return result;
  }
  auto binary = [&](const std::string& how) {
    return emit("alu", fmt::format("{} {} {}, {}", how, ft, a[0], a[1]));
  };
  // LLVM would compare widened halves as halves, which processors do one lane at a time. It looks through no fence, and a
  // fence is no instruction.
  auto widened = [&](size_t i) {
    const UOp s = u.src(i);
    const bool isWidened = s.is(Op::CAST) && s.src(0).dtype().kind() == Scalar::Float16 && from.isFloat();
    return isWidened ? fenced(from, a[i]) : a[i];
  };
  auto compared = [&](const char* how) {
    const std::string left = widened(0), right = widened(1);
    return emit("alu", fmt::format("{} {} {}, {}", how, ft, left, right));
  };
  auto arithmetic = [&](const char* floatOp, const char* intOp) {
    if (isFloat) return emit("alu", fmt::format("{} {} {}, {}", floatOp, t, a[0], a[1]));
    return binary(fmt::format("{}{}", intOp, cannotOverflow(op, u, d) ? " nsw" : ""));
  };
  auto intrinsic = [&](const char* name) {
    return call("alu", d, fmt::format("llvm.{}.{}", name, mangled(d)), d, a);
  };
  auto one = [&] { return llvmSplat(d, d.kind() == Scalar::Float16 ? "0xH3C00" : "1.0"); };
  switch (op) {
  case Op::ADD: return arithmetic("fadd", "add");
  case Op::SUB: return arithmetic("fsub", "sub");
  case Op::MUL: return arithmetic("fmul", "mul");
  case Op::FDIV:
    if (!isFloat) return divide(u.src(1), d, a[0], a[1], true);
    return emit("alu", fmt::format("fdiv {} {}, {}", t, a[0], a[1]));
  case Op::RECIPROCAL:
    if (!isFloat) return divide(u.src(0), d, llvmSplat(d, "1"), a[0], true);
    return emit("alu", fmt::format("fdiv {} {}, {}", t, one(), a[0]));
  case Op::NEG:
    if (isFloat) return emit("alu", fmt::format("fneg {} {}", t, a[0]));
    return emit("alu", fmt::format("sub {} {}, {}", t, llvmSplat(d, "0"), a[0]));
  case Op::AND: return binary("and");
  case Op::OR: return binary("or");
  case Op::XOR: return binary("xor");
  case Op::SHL:
  case Op::SHR: return shift(u, d, a);
  case Op::CMPLT: return compared(fromFloat ? "fcmp olt" : isSigned ? "icmp slt" : "icmp ult");
  case Op::CMPNE: return compared(fromFloat ? "fcmp une" : "icmp ne");
  case Op::CMPEQ: return compared(fromFloat ? "fcmp oeq" : "icmp eq");
  case Op::WHERE: {
    DType gate = u.src(0).dtype();
    return emit("alu", fmt::format("select {} {}, {} {}, {} {}", type(gate), a[0], t, a[1], t, a[2]));
  }
  case Op::MAX:
    if (!isFloat) return intrinsic(d.isUnsigned() ? "umax" : "smax");
    {
      // a, unless a < b or b is NaN: a NaN in either operand is the result. The first choice is one instruction of x86,
      // unless LLVM joins both.
      const std::string right = widened(1),
                        less = emit("alu", fmt::format("fcmp olt {} {}, {}", t, widened(0), right));
      std::string larger =
          emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, less, t, a[1], t, a[0]));
      if (!mayBeNan(u.src(1))) return larger;
      const std::string isNan = emit("alu", fmt::format("fcmp uno {} {}, {}", t, right, right));
      return emit("alu", fmt::format("select {} {}, {} {}, {} {}", flag, isNan, t, a[1], t,
                                     d.count() > 1 && t == type(d) ? fenced(d, larger) : larger));
    }
  case Op::IDIV: return divide(u.src(1), d, a[0], a[1], true);
  case Op::MOD:
    if (isFloat) return emit("alu", fmt::format("frem {} {}, {}", t, a[0], a[1]));
    return divide(u.src(1), d, a[0], a[1], false);
  case Op::MULACC: {
    if (!isFloat) {
      std::string product = emit("alu", fmt::format("mul {} {}, {}", t, a[0], a[1]));
      return emit("alu", fmt::format("add {} {}, {}", t, product, a[2]));
    }
    if (d.kind() != Scalar::Float16) return intrinsic("fma");
    std::string product =
        emit("alu", fmt::format("fmul {} {}, {}", t, a[0], a[1])); // halves round after every operation
    return emit("alu", fmt::format("fadd {} {}, {}", t, product, a[2]));
  }
  case Op::SQRT: return intrinsic("sqrt");
  case Op::TRUNC: return isFloat ? intrinsic("trunc") : a[0];
  case Op::EXP2: return intrinsic("exp2");
  case Op::LOG2: return intrinsic("log2");
  case Op::SIN: return intrinsic("sin");
  case Op::POW:
    if (isFloat) return intrinsic("pow");
    return integerPower(u, d, a);
  case Op::THREEFRY:
    if (d.count() == 1) return call("alu", d, llvm_support::kThreefry, d, a);
    break;
  default: break;
  }
  throw Error(ErrorKind::Compile,
              fmt::format("{} of {} has no form in LLVM IR: it must be lowered before rendering", opName(op),
                          d.name()));
}

} // namespace uopscope
