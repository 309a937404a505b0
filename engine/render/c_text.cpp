// The spelling of types, constants and operations in C.
#include "engine/render/c_text.h"

#include "engine/base/error.h"
#include "engine/codegen/dot_products.h"
#include "engine/codegen/tile_cores.h"
#include "engine/render/c_prelude.h"
#include "engine/render/c_vector.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>

namespace uopscope {

namespace {

struct Spelling {
  const char *c, *shortName;
};
Spelling spelling(DType d) {
  switch (d.kind()) {
  case Scalar::Bool: return {"_Bool", "bool"};
  case Scalar::Int8: return {"signed char", "char"};
  case Scalar::UInt8: return {"unsigned char", "uchar"};
  case Scalar::Int16: return {"short", "short"};
  case Scalar::UInt16: return {"unsigned short", "ushort"};
  case Scalar::Int32: return {"int", "int"};
  case Scalar::UInt32: return {"unsigned int", "uint"};
  case Scalar::Int64: return {"long long", "long"};
  case Scalar::UInt64: return {"unsigned long long", "ulong"};
  case Scalar::Fp8E4M3: return {"fp8e4m3", "fp8e4m3"};
  case Scalar::Fp8E5M2: return {"fp8e5m2", "fp8e5m2"};
  case Scalar::Float16: return {"half", "half"};
  case Scalar::BFloat16: return {"bf16", "bf16"};
  case Scalar::Float32: return {"float", "float"};
  case Scalar::Float64: return {"double", "double"};
  default:
    throw Error(ErrorKind::Compile,
                fmt::format("{} has no form in C: it must be lowered before rendering", d.name()));
  }
}

std::string floatText(double v, const char* suffix) {
  std::string s = *suffix ? fmt::format("{}", static_cast<float>(v)) : fmt::format("{}", v);
  if (s.find_first_of(".e") == std::string::npos) s += ".0";
  return s + suffix;
}

/// Whether the first and the last parenthesis of the text belong together.
bool isWrapped(const std::string& s) {
  if (s.size() < 2 || s.front() != '(' || s.back() != ')') return false;
  int depth = 0;
  for (size_t i = 0; i + 1 < s.size(); ++i) {
    if (s[i] == '(') ++depth;
    if (s[i] == ')' && --depth == 0) return false;
  }
  return true;
}

} // namespace

std::string bare(const std::string& s) {
  return isWrapped(s) ? s.substr(1, s.size() - 2) : s;
}

DivisorFacts divisorFacts(UOp divisor) {
  int64_t low = divisor.vmin(), high = divisor.vmax();
  return {low <= 0 && high >= 0, !divisor.dtype().isUnsigned() && low <= -1 && high >= -1};
}

bool mayBeNan(UOp v) {
  return !v.isConst() || std::isnan(v.arg().number());
}

bool mayShiftOut(DType type, UOp distance) {
  return distance.vmin() < 0 || distance.vmax() >= type.bitsize();
}

std::string constantText(DType type, ConstValue v) {
  if (type.isFloat()) {
    double d = dtypes::roundFloat(type, v.asDouble());
    if (type.kind() == Scalar::Float64) {
      if (std::isnan(d)) return "__builtin_nan(\"\")";
      if (std::isinf(d)) return d < 0 ? "(-__builtin_inf())" : "__builtin_inf()";
      return std::signbit(d) ? fmt::format("({})", floatText(d, "")) : floatText(d, "");
    }
    if (type.kind() == Scalar::BFloat16) return fmt::format("{}", dtypes::toBFloat16(d));
    if (isEmulatedFloat(type)) return fmt::format("{}", dtypes::toFp8(type, d));
    std::string s = std::isnan(d)   ? "__builtin_nanf(\"\")"
                    : std::isinf(d) ? (d < 0 ? "-__builtin_inff()" : "__builtin_inff()")
                                    : floatText(d, "f");
    if (type.kind() == Scalar::Float16) return fmt::format(FMT_COMPILE("((half){})"), s);
    return std::signbit(d) && s[0] == '-' ? fmt::format(FMT_COMPILE("({})"), s) : s;
  }
  if (type.isBool()) return v.asDouble() != 0 ? "1" : "0";
  int64_t i = dtypes::wrapInt(type, v.kind == ConstValue::Kind::Float ? static_cast<int64_t>(v.f) : v.i);
  switch (type.kind()) {
  case Scalar::UInt32: return fmt::format(FMT_COMPILE("{}u"), static_cast<uint32_t>(i));
  case Scalar::UInt64: return fmt::format(FMT_COMPILE("{}ull"), static_cast<uint64_t>(i));
  case Scalar::Int64:
    if (i == INT64_MIN) return "(-9223372036854775807ll - 1)";
    return i < 0 ? fmt::format(FMT_COMPILE("({}ll)"), i) : fmt::format(FMT_COMPILE("{}ll"), i);
  default:
    if (i == INT32_MIN) return "(-2147483647 - 1)";
    return i < 0 ? fmt::format(FMT_COMPILE("({})"), i) : fmt::format(FMT_COMPILE("{}"), i);
  }
}

std::string CText::name(DType type) {
  Spelling s = spelling(type);
  switch (type.kind()) {
  case Scalar::Float16: typedefs_["0half"] = "typedef _Float16 half;\n"; break;
  case Scalar::BFloat16: typedefs_["0bf16"] = "typedef unsigned short bf16;\n"; break;
  case Scalar::Fp8E4M3: typedefs_["0fp8e4m3"] = "typedef unsigned char fp8e4m3;\n"; break;
  case Scalar::Fp8E5M2: typedefs_["0fp8e5m2"] = "typedef unsigned char fp8e5m2;\n"; break;
  default: break;
  }
  if (type.count() == 1) return s.c;
  // The lanes of a vector of bools are bytes, as in memory; clang's vectors of _Bool are bits.
  const char* element = type.isBool() ? "unsigned char" : s.c;
  std::string vector = fmt::format(FMT_COMPILE("{}{}"), s.shortName, type.count());
  typedefs_["1" + vector] = fmt::format("typedef {} {} __attribute__((ext_vector_type({}), aligned({})));\n",
                                        element, vector, type.count(), type.scalar().itemsize());
  return vector;
}

std::string CText::declarations() const {
  std::string out;
  for (const auto& [key, text] : typedefs_) out += text;
  return out + prelude();
}

std::string CText::prelude() const {
  return cPrelude(helpers_);
}

std::string CText::toFloat(DType from, const std::string& value) {
  std::string helper = fmt::format(FMT_COMPILE("{}_to_float"), name(from.scalar()));
  helpers_.insert(helper);
  return fmt::format(FMT_COMPILE("{}({})"), helper, bare(value));
}

std::string CText::fromFloat(DType to, const std::string& value) {
  std::string helper = fmt::format(FMT_COMPILE("float_to_{}"), name(to.scalar()));
  helpers_.insert(helper);
  return fmt::format(FMT_COMPILE("{}({})"), helper, bare(value));
}

std::string CText::cast(DType to, DType from, const std::string& value) {
  if (to == from) return value;
  if (isComputedAsFloat(from)) return cast(to, dtypes::float32, toFloat(from, value));
  if (to.isBool()) return fmt::format(FMT_COMPILE("({} != 0)"), value);
  if (from.isFloat() && to.isInt() && to.itemsize() < 8 && to.kind() != Scalar::Int32) {
    // The cast goes through a wider integer, so that a value that does not fit wraps.
    return fmt::format(FMT_COMPILE("(({})({}){})"), name(to),
                       to.itemsize() < 4 ? name(dtypes::int32) : name(dtypes::int64), value);
  }
  if (!isComputedAsFloat(to)) return fmt::format(FMT_COMPILE("(({}){})"), name(to), value);
  bool viaFloat = from.kind() == Scalar::Float32 || from.kind() == Scalar::Float16 || from.isBool() ||
                  from.itemsize() < 3;
  if (viaFloat) return fromFloat(to, value);
  helpers_.insert("odd_float");
  return fromFloat(to, fmt::format(FMT_COMPILE("odd_float({})"), bare(value)));
}

std::string CText::bitcast(DType to, DType from, const std::string& value) {
  if (to.isBool() && to.count() == 1) return fmt::format(FMT_COMPILE("({} & 1)"), value);
  return fmt::format(FMT_COMPILE("__builtin_bit_cast({}, ({}){})"), name(to), name(from), value);
}

std::string CText::alu(UOp u, DType type, DType from, std::span<const std::string> operands) {
  if (!isComputedAsFloat(from) || u.is(Op::WHERE)) return plain(u.op(), u, type, operands);
  std::vector<std::string> floats;
  for (const std::string& o : operands) floats.push_back(toFloat(from, o));
  if (u.is(Op::MULACC)) { // product and sum are rounded separately
    std::string product = fromFloat(type, fmt::format(FMT_COMPILE("{} * {}"), floats[0], floats[1]));
    return fromFloat(type, fmt::format(FMT_COMPILE("{} + {}"), toFloat(type, product), floats[2]));
  }
  std::string result = plain(u.op(), u, isComputedAsFloat(type) ? dtypes::float32 : type, floats);
  return isComputedAsFloat(type) ? fromFloat(type, result) : result;
}

std::string CText::quotient(DType type, DivisorFacts facts, std::string_view op, const std::string& x,
                            const std::string& y) {
  std::string safe = fmt::format(FMT_COMPILE("({} {} {})"), x, op, y);
  if (facts.mayBeMinusOne)
    safe = select(fmt::format(FMT_COMPILE("{} == -1"), y),
                  op == "/" ? fmt::format(FMT_COMPILE("(-{})"), x) : "0", safe);
  if (facts.mayBeZero) safe = select(fmt::format(FMT_COMPILE("{} == 0"), y), "0", safe);
  return type.itemsize() < 4 ? forced(type, safe) : safe;
}

std::string CText::shift(Op op, UOp u, DType type, std::span<const std::string> a) {
  std::string s = fmt::format(FMT_COMPILE("({} {} {})"), a[0], op == Op::SHL ? "<<" : ">>", a[1]);
  if (type.itemsize() < 4 && op == Op::SHL && type.count() == 1)
    s = fmt::format(FMT_COMPILE("(({}){})"), name(type), s);
  if (!mayShiftOut(type, u.src(1))) return s;
  std::string unsignedType = name(u.src(1).dtype().itemsize() == 8 ? dtypes::uint64 : dtypes::uint32);
  std::string out = op == Op::SHR && !type.isUnsigned()
                        ? fmt::format(FMT_COMPILE("({} >> {})"), a[0], type.bitsize() - 1)
                        : "0";
  return select(fmt::format(FMT_COMPILE("({}){} < {}"), unsignedType, a[1], type.bitsize()), s, out);
}

std::string CText::boolean(Op op, std::span<const std::string> a) {
  switch (op) {
  case Op::ADD:
  case Op::OR:
  case Op::MAX: return fmt::format(FMT_COMPILE("({} | {})"), a[0], a[1]);
  case Op::MUL:
  case Op::AND:
  case Op::IDIV:
  case Op::FDIV: return fmt::format(FMT_COMPILE("({} & {})"), a[0], a[1]);
  case Op::SUB:
  case Op::XOR: return fmt::format(FMT_COMPILE("({} ^ {})"), a[0], a[1]);
  case Op::MULACC: return fmt::format(FMT_COMPILE("(({} & {}) | {})"), a[0], a[1], a[2]);
  case Op::NEG:
  case Op::TRUNC: return a[0];
  case Op::MOD: return "0";
  default: return {};
  }
}

std::string CText::plain(Op op, UOp u, DType type, std::span<const std::string> a) {
  bool isFloat = type.isFloat(), isBool = type.isBool(), vector = type.count() > 1;
  // C computes small integers as int: a result that can leave the type is cast back at once.
  auto wrapped = [&](const std::string& s) {
    return type.isInt() && type.itemsize() < 4 && !vector ? forced(type, s) : s;
  };
  auto infix = [&](const char* symbol) {
    bool chain = u.srcCount() && throughAfter(u.src(0)).is(op) &&
                 (op == Op::ADD || op == Op::MUL || op == Op::AND || op == Op::OR || op == Op::XOR);
    return fmt::format(FMT_COMPILE("({} {} {})"), chain ? bare(a[0]) : a[0], symbol, a[1]);
  };
  if (isBool && !group::kComparison.has(op) && op != Op::WHERE) {
    if (std::string s = boolean(op, a); !s.empty()) return s;
  }
  switch (op) {
  case Op::ADD: return wrapped(infix("+"));
  case Op::SUB: return wrapped(infix("-"));
  case Op::MUL: return wrapped(infix("*"));
  case Op::AND: return infix("&");
  case Op::OR: return infix("|");
  case Op::XOR: return infix("^");
  case Op::SHL:
  case Op::SHR: return shift(op, u, type, a);
  case Op::CMPLT: return infix("<");
  case Op::CMPNE: return infix("!=");
  case Op::CMPEQ: return infix("==");
  case Op::NEG: return wrapped(fmt::format(FMT_COMPILE("(-{})"), a[0]));
  case Op::MULACC:
    if (type.kind() == Scalar::Float32 || type.kind() == Scalar::Float64)
      return fmt::format(FMT_COMPILE("__builtin_elementwise_fma({}, {}, {})"), bare(a[0]), bare(a[1]),
                         bare(a[2]));
    return wrapped(fmt::format(FMT_COMPILE("({} * {} + {})"), a[0], a[1], a[2]));
  case Op::WHERE: return select(a[0], a[1], a[2]);
  case Op::MAX:
    // A NaN in either operand is the result; the second test is for one on the right.
    if (isFloat && mayBeNan(u.src(1)))
      return select(fmt::format(FMT_COMPILE("{0} < {1} || {1} != {1}"), a[0], a[1]), a[1], a[0]);
    return select(fmt::format(FMT_COMPILE("{} < {}"), a[0], a[1]), a[1], a[0]);
  case Op::FDIV:
    if (isFloat) return infix("/");
    return quotient(type, divisorFacts(u.src(1)), "/", a[0], a[1]);
  case Op::IDIV: return quotient(type, divisorFacts(u.src(1)), "/", a[0], a[1]);
  case Op::MOD:
    if (isFloat) return call(op, type, a);
    return quotient(type, divisorFacts(u.src(1)), "%", a[0], a[1]);
  case Op::RECIPROCAL:
    if (!isFloat) return quotient(type, divisorFacts(u.src(0)), "/", "1", a[0]);
    return type.kind() == Scalar::Float16 && !vector ? fmt::format(FMT_COMPILE("((half)1 / {})"), a[0])
                                                     : fmt::format(FMT_COMPILE("(1 / {})"), a[0]);
  case Op::TRUNC: return isFloat ? call(op, type, a) : a[0];
  case Op::SQRT:
  case Op::EXP2:
  case Op::LOG2:
  case Op::SIN: return call(op, type, a);
  case Op::POW:
    if (isFloat) return call(op, type, a);
    helpers_.insert("integer_power");
    return fmt::format(FMT_COMPILE("(({})integer_power({}, {}, {}))"), name(type), bare(a[0]), bare(a[1]),
                       type.isUnsigned() ? 1 : 0);
  case Op::THREEFRY:
    helpers_.insert("threefry");
    return fmt::format(FMT_COMPILE("threefry({}, {})"), bare(a[0]), bare(a[1]));
  default: break;
  }
  throw Error(
      ErrorKind::Compile,
      fmt::format("{} of {} has no form in C: it must be lowered before rendering", opName(op), type.name()));
}

const char* functionName(Op op) {
  switch (op) {
  case Op::SQRT: return "sqrt";
  case Op::TRUNC: return "trunc";
  case Op::EXP2: return "exp2";
  case Op::LOG2: return "log2";
  case Op::SIN: return "sin";
  case Op::MOD: return "fmod";
  default: return "pow";
  }
}

std::string CText::call(Op op, DType type, std::span<const std::string> a) {
  const char* suffix = type.kind() == Scalar::Float64 ? "" : "f";
  std::string s = fmt::format(FMT_COMPILE("__builtin_{}{}({}{})"), functionName(op), suffix, bare(a[0]),
                              a.size() > 1 ? ", " + bare(a[1]) : "");
  return type.kind() == Scalar::Float16 ? fmt::format(FMT_COMPILE("(({}){})"), name(type), s) : s;
}

std::string CText::forced(DType type, const std::string& value) {
  return fmt::format(FMT_COMPILE("(({}){})"), name(type), value);
}
std::string CText::constant(DType type, ConstValue value) {
  return constantText(type, value);
}
std::string CText::select(const std::string& condition, const std::string& yes, const std::string& no) {
  return fmt::format(FMT_COMPILE("({} ? {} : {})"), condition, yes, no);
}
std::string CText::vectorOf(DType type, std::span<const std::string> lanes) {
  return fmt::format("({}){{{}}}", name(type), fmt::join(lanes, ", "));
}
std::string CText::lane(const std::string& vector, int i) {
  return fmt::format(FMT_COMPILE("{}[{}]"), vector, i);
}
bool CText::hasVector(UOp u) {
  return isNativeVector(u);
}

std::string CText::declare(DType type, const std::string& variable, const std::string& value) {
  return fmt::format(FMT_COMPILE("{} {} = {};"), name(type), variable, value);
}
std::string CText::array(DType element, const std::string& variable, int64_t size, AddrSpace) {
  return fmt::format(FMT_COMPILE("{} {}[{}];"), name(element), variable, size);
}
std::string CText::loop(DType type, const std::string& variable, const std::string& extent) {
  return fmt::format(FMT_COMPILE("for ({0} {1} = 0; {1} < {2}; {1}++) {{"), name(type), variable, extent);
}
std::string CText::when(const std::string& condition, const std::string& statement) {
  return fmt::format(FMT_COMPILE("if ({}) {}"), condition, statement);
}
std::string CPlace::address() const {
  return fmt::format(FMT_COMPILE("{} + {}"), pointer, indexIsSum ? bare(index) : index);
}
std::string CText::load(const CPlace& p) {
  if (p.element == p.type) return fmt::format(FMT_COMPILE("{}[{}]"), p.pointer, bare(p.index));
  if (p.index == "0") return fmt::format(FMT_COMPILE("*({}*){}"), name(p.type), p.pointer);
  return fmt::format(FMT_COMPILE("*({}*)({})"), name(p.type), p.address());
}
std::string CText::store(const CPlace& place, const std::string& value) {
  return fmt::format(FMT_COMPILE("{} = {};"), load(place), value);
}
std::string CText::streamedStore(const CPlace& place, const std::string& value) {
  helpers_.insert("STREAM");
  return fmt::format(FMT_COMPILE("STREAM({}, {}, {});"), name(place.type), place.address(), value);
}
std::string CText::special(const LoweredKernel& kernel, UOp u) {
  checkCpuIndex(kernel, u);
  return "core_id";
}
std::string CText::tileProduct(UOp u, std::span<const std::string> a) {
  const auto& w = u.arg().as<WmmaArg>();
  const int64_t terms = w.dims[2], together = terms / kTileLines;
  const std::string left = fmt::format("a[i * {} + k]", terms),
                    right = fmt::format("b[(k / {0} * {1} + j) * {0} + k % {0}]", together, kTileLines),
                    sum = fmt::format("c[i * {} + j]", kTileLines);
  auto wide = [&](const std::string& element) {
    return w.dtypeIn == dtypes::bfloat16
               ? fmt::format("__builtin_bit_cast(float, (unsigned int){} << 16)", element)
           : u.dtype().isFloat() ? fmt::format("(float){}", element)
                                 : fmt::format("(unsigned int){}", element);
  };
  const std::string body =
      u.dtype().isFloat()
          ? fmt::format("      float s[2] = {{0, 0}}; // even and odd terms\n"
                        "      for (int k = 0; k < {}; ++k) s[k % 2] = __builtin_fmaf({}, {}, s[k % 2]);\n"
                        "      {} += s[0] + s[1];\n",
                        terms, wide(left), wide(right), sum)
          : fmt::format("      unsigned int s = (unsigned int){3};\n"
                        "      for (int k = 0; k < {0}; ++k) s += {1} * {2};\n"
                        "      {3} = (int)s;\n",
                        terms, wide(left), wide(right), sum);
  typedefs_["3" + w.name] = fmt::format(
      "static inline {0} {1}({2} a, {3} b, {0} c) {{\n  for (int i = 0; i < {4}; ++i)\n    for (int j = 0; j "
      "< {4}; ++j) {{\n{5}    }}\n  return c;\n}}\n",
      name(u.dtype()), w.name, name(u.src(0).dtype()), name(u.src(1).dtype()), kTileLines, body);
  return fmt::format("{}({})", w.name, fmt::join(a, ", "));
}
std::string CText::wmma(UOp u, std::span<const std::string> a) {
  const auto& w = u.arg().as<WmmaArg>();
  if (isTileProduct(u)) return tileProduct(u, a);
  if (!isDotProduct(u))
    throw Error(ErrorKind::Compile, fmt::format("{}: this language has no tensor cores", w.name));
  // The instruction, in words of C: the later term of a lane comes first.
  const int lanes = u.dtype().count();
  const std::string function = fmt::format("{}_{}", w.name, lanes), sum = name(u.dtype());
  const bool isFloat = u.dtype().isFloat();
  auto term = [&](const char* operand) {
    const std::string at = fmt::format("{}[i * {} + k]", operand, termsOfDot(u));
    return isFloat ? fmt::format("__builtin_bit_cast(float, (unsigned int){} << 16)", at)
                   : fmt::format("(unsigned int){}", at);
  };
  const std::string to = lanes == 1 ? "c" : "c[i]", x = term("a"), y = term("b");
  typedefs_["3" + function] =
      fmt::format("static inline {0} {1}({2} a, {3} b, {0} c) {{\n  for (int i = 0; i < {4}; ++i)\n"
                  "    for (int k = {5}; k >= 0; --k) {6} = {7};\n  return c;\n}}\n",
                  sum, function, name(u.src(0).dtype()), name(u.src(1).dtype()), lanes, termsOfDot(u) - 1, to,
                  isFloat ? fmt::format("__builtin_fmaf({}, {}, {})", x, y, to)
                          : fmt::format("(int)((unsigned int){} + {} * {})", to, x, y));
  return fmt::format("{}({})", function, fmt::join(a, ", "));
}

std::string CText::machineCall(MachineFunction f, DType type, std::span<const std::string> a) {
  return fmt::format("{}({})", machineFunction(f, type), fmt::join(a, ", "));
}
std::string CText::machineFunction(MachineFunction f, DType type) {
  const int bits = type.count() * type.scalar().itemsize() * 8;
  const bool isScaled = f == MachineFunction::Scaled;
  const std::string t = name(type), function = fmt::format("{}_{}", instructionName(f), t);
  std::string body;
  if (bits > kMachineVector * 8) {
    const std::string half = machineFunction(f, type.scalar().vec(type.count() / 2));
    body = fmt::format("{0} r; r.lo = {1}(x.lo{2}); r.hi = {1}(x.hi{3}); return r;", t, half,
                       isScaled ? ", n.lo" : "", isScaled ? ", n.hi" : "");
  } else {
    const std::string form = f == MachineFunction::Mantissa ? fmt::format(", {}", kMantissaForm) : "";
    body = fmt::format("return __builtin_ia32_{}p{}{}_mask(x{}{}, x, -1{});", instructionName(f),
                       type.kind() == Scalar::Float64 ? 'd' : 's', bits, form, isScaled ? ", n" : "",
                       bits == kMachineVector * 8 ? ", 4" : "");
  }
  typedefs_[fmt::format("3{:05}{}", bits, function)] =
      fmt::format("static inline {0} {1}({0} x{2}) {{ {3} }}\n", t, function,
                  isScaled ? fmt::format(", {} n", t) : "", body);
  return function;
}

std::string CText::function(const CFunction& f) {
  std::vector<std::string> list;
  for (UOp g : f.signature.globals)
    list.push_back(fmt::format(FMT_COMPILE("{}{}* restrict {}"), f.stored.contains(g.id()) ? "" : "const ",
                               name(g.dtype().base()), globalName(g)));
  for (UOp v : f.signature.vars)
    list.push_back(fmt::format(FMT_COMPILE("{} {}"), name(v.dtype()), identifier(v.arg().as<VarArg>().name)));
  if (f.signature.hasCoreId()) list.push_back("int core_id");
  std::string head = declarations();
  if (!head.empty()) head += '\n';
  return fmt::format("{}void {}({}) {{\n{}}}\n", head, f.name, fmt::join(list, ", "), f.body);
}

} // namespace uopscope
