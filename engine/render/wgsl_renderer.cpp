// WGSL, the shading language of WebGPU. No integer of memory is smaller than 32 bits: bools, bytes and 16-bit
// integers are parts of words, which stores change atomically, each its own bits alone. 64-bit types are those
// of wgpu-native, where the device has them.
//
//   @group(0) @binding(0) var<storage, read_write> data0_4: array<f32>;
//   @compute @workgroup_size(4, 1, 1) fn E_4(...) { ... }
#include "engine/render/gpu_text.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace uopscope {

namespace {

bool isPacked(DType d) {
  return d.scalar().itemsize() < 4 && d.kind() != Scalar::Float16;
}

/// Functions that a kernel declares if it calls them. One on f32 is also there with f64 in place of it.
struct WgslHelper {
  const char *name, *text;
};
constexpr WgslHelper kHelpers[] = {
    {"from_bits", "fn from_bits(bits: u32) -> f32 { return bitcast<f32>(bits); }\n"},
    {"long_from_bits", "fn long_from_bits(bits: u64) -> f64 { return bitcast<f64>(bits); }\n"},
    {"to_u32_f32", "fn to_u32_f32(x: f32) -> u32 { return select(u32(x), u32(i32(x)), x < 0); }\n"},
    // WGSL's % rounds the quotient. This subtracts the divisor times powers of two, each exactly.
    {"remainder_f32", R"(fn remainder_f32(x: f32, y: f32) -> f32 {
  let infinity = f32(from_bits(0x7f800000u));
  let b = abs(y);
  var rest = abs(x);
  if (!(rest < infinity) || !(b > 0)) { return f32(from_bits(0x7fc00000u)); }
  while (rest >= b) {
    var part = b;
    while (part + part <= rest) { part += part; }
    rest -= part;
  }
  return select(rest, -rest, x < 0);
}
)"}};

bool isLong(DType d) {
  return d.isInt() && d.itemsize() == 8;
}

class WgslText final : public GpuText {
public:
  explicit WgslText(WgslFeatures features) : features_(features) {}
  std::string name(DType type) override {
    switch (type.kind()) {
    case Scalar::Bool: return "bool";
    case Scalar::Int8:
    case Scalar::Int16:
    case Scalar::Int32: return "i32";
    case Scalar::UInt8:
    case Scalar::UInt16:
    case Scalar::UInt32: return "u32";
    case Scalar::Float16: typedefs_["0half"] = "enable f16;\n"; return "f16";
    case Scalar::Float32: return "f32";
    case Scalar::Int64:
      if (features_.int64) return "i64";
      break;
    case Scalar::UInt64:
      if (features_.int64) return "u64";
      break;
    case Scalar::Float64:
      if (features_.doubles) return "f64";
      break;
    default: break;
    }
    noForm("WGSL", type.name());
  }
  std::string constant(DType type, ConstValue v) override {
    if (type.isBool()) return v.asDouble() != 0 ? "true" : "false";
    if (type.isFloat()) {
      double d = dtypes::roundFloat(type, v.asDouble());
      if (!std::isfinite(d) || type.kind() == Scalar::Float32) return GpuText::constant(type, v);
      if (type.kind() == Scalar::Float16)
        return fmt::format("{}({})", name(type), GpuText::constant(dtypes::float32, ConstValue::ofFloat(d)));
      return std::signbit(d) ? fmt::format("(-{}lf)", -d) : fmt::format("{}lf", d);
    }
    if (isLong(type)) {
      int64_t i = v.kind == ConstValue::Kind::Float ? static_cast<int64_t>(v.f) : v.i;
      if (type.isUnsigned()) return fmt::format("{}lu", static_cast<uint64_t>(i));
      if (i == INT64_MIN) return "(-9223372036854775807li - 1li)";
      return i < 0 ? fmt::format("({}li)", i) : fmt::format("{}li", i);
    }
    if (type.isUnsigned() && type.itemsize() < 4) return constantText(dtypes::uint32, v);
    return GpuText::constant(type, v);
  }
  std::string cast(DType to, DType from, const std::string& value) override {
    if (to == from) return value;
    if (to.isBool()) return differ(from, value, constant(from, ConstValue::ofInt(0)));
    // naga extends an integer by the sign of the new type, C by that of the old one.
    if (from.isInt() && from.itemsize() < 8 && isLong(to) && from.isUnsigned() != to.isUnsigned())
      return fmt::format("{}({}({}))", name(to), from.isUnsigned() ? "u64" : "i64", bare(value));
    if (from.isBool() && to.itemsize() == 8)
      return select(value, constant(to, ConstValue::ofInt(1)), constant(to, ConstValue::ofInt(0)));
    // WGSL's conversion of a float to an unsigned integer makes 0 of a negative number, C's wraps it.
    if (from.isFloat() && to.isUnsigned() && to.itemsize() < 4)
      return narrowed(to, fmt::format("u32(i32({}))", bare(value)));
    if (from.isFloat() && to.kind() == Scalar::UInt32) {
      if (from.itemsize() == 2) return cast(to, dtypes::float32, cast(dtypes::float32, from, value));
      return helped("to_u32", from, bare(value));
    }
    return narrowed(to, fmt::format("{}({})", name(to), bare(value)));
  }
  std::string bitcast(DType to, DType from, const std::string& value) override {
    if (to.isBool()) return fmt::format("(({} & 1) != 0)", value);
    if (from.isBool()) return cast(to, from, value);
    if (to.itemsize() < 4 && from.itemsize() < 4) {
      // naga has no bitcast between a vector of halves and a word.
      if (to.isFloat()) return fmt::format("{}(unpack2x16float(u32({}) & 0xffffu).x)", name(to), bare(value));
      if (from.isFloat())
        return narrowed(to,
                        fmt::format("{}(pack2x16float(vec2<f32>(f32({}), 0.0f)))", name(to), bare(value)));
      return narrowed(to, fmt::format("{}({})", name(to), bare(value)));
    }
    return fmt::format("bitcast<{}>({})", name(to), bare(value));
  }
  std::string select(const std::string& condition, const std::string& yes, const std::string& no) override {
    return fmt::format("select({}, {}, {})", bare(no), bare(yes), bare(condition));
  }
  std::string alu(UOp u, DType type, DType from, std::span<const std::string> a) override {
    if (from.isBool()) { // WGSL's bool has & and | but no order, and != instead of ^
      if (u.is(Op::CMPLT)) return fmt::format("(!{} & {})", a[0], a[1]);
      if (u.is(Op::XOR) || u.is(Op::SUB) || u.is(Op::CMPNE)) return fmt::format("({} != {})", a[0], a[1]);
      if (u.is(Op::MOD)) return "false";
    } else if (u.is(Op::NEG) && type.isUnsigned()) { // WGSL negates signed numbers alone
      return narrowed(type, fmt::format("({} - {})", constant(type, ConstValue::ofInt(0)), a[0]));
    }
    if (from.isFloat() && u.is(Op::CMPNE)) return differ(from, a[0], a[1]);
    if (from.isFloat() && u.is(Op::MAX) && mayBeNan(u.src(1)))
      return select(fmt::format("{0} < {1} || !({1} == {1})", a[0], a[1]), a[1], a[0]);
    return GpuText::alu(u, type, from, a);
  }
  std::string declare(DType type, const std::string& variable, const std::string& value) override {
    return fmt::format("let {}: {} = {};", variable, name(type), value);
  }
  std::string array(DType element, const std::string& variable, int64_t size, AddrSpace space) override {
    if (space == AddrSpace::Reg) return fmt::format("var {}: array<{}, {}>;", variable, name(element), size);
    typedefs_["2" + variable] =
        fmt::format("var<workgroup> {}: array<{}, {}>;\n", variable, name(element), size);
    return fmt::format("// {} is shared by the work group", variable);
  }
  std::string loop(DType type, const std::string& variable, const std::string& extent) override {
    return fmt::format("for (var {0}: {1} = 0; {0} < {2}; {0}{3}) {{", variable, name(type), extent,
                       isLong(type) ? " += 1" : "++");
  }
  std::string when(const std::string& condition, const std::string& statement) override {
    return fmt::format("if ({}) {{ {} }}", condition, statement);
  }
  std::string barrier() override { return "workgroupBarrier();"; }
  std::string load(const CPlace& p) override {
    if (p.space != AddrSpace::Global || !isPacked(p.element))
      return fmt::format("{}[{}]", p.pointer, bare(indexOf(p)));
    Part part = partOf(p);
    std::string word = fmt::format("atomicLoad(&{}[{}])", p.pointer, part.word);
    std::string bits = fmt::format("(({} >> {}) & {}u)", word, part.shift, part.mask);
    if (p.element.isBool()) return fmt::format("({} != 0u)", bits);
    return p.element.isUnsigned() ? bits : narrowed(p.element, fmt::format("i32({})", bare(bits)));
  }
  std::string store(const CPlace& p, const std::string& value) override {
    if (p.space != AddrSpace::Global || !isPacked(p.element))
      return fmt::format("{}[{}] = {};", p.pointer, bare(indexOf(p)), value);
    Part part = partOf(p);
    // A negative constant has no type yet, and u32 takes none.
    std::string typed = value.starts_with('-') ? fmt::format("i32({})", value) : value;
    return fmt::format("atomicAnd(&{0}[{1}], ~({2}u << {3})); atomicOr(&{0}[{1}], (u32({4}) & {2}u) << {3});",
                       p.pointer, part.word, part.mask, part.shift, typed);
  }
  std::string function(const CFunction& f) override {
    std::string binding, variables;
    size_t slot = 0;
    for (UOp g : f.signature.globals) {
      DType d = g.dtype().base();
      std::string element = isPacked(d) ? "atomic<u32>" : name(d);
      binding += fmt::format("@group(0) @binding({}) var<storage, read_write> {}: array<{}>;\n", slot++,
                             globalName(g), element);
      if (features_.offsets) binding += fmt::format("override {}: i32 = 0;\n", firstOf(globalName(g)));
    }
    std::string members;
    for (UOp v : f.signature.vars) {
      std::string variable = identifier(v.arg().as<VarArg>().name), type = name(v.dtype());
      members += fmt::format("{}{}: {}", members.empty() ? "" : ", ", variable, type);
      variables += fmt::format("  let {0}: {1} = variables.{0};\n", variable, type);
    }
    if (!members.empty())
      binding += fmt::format("struct Variables {{ {} }}\nvar<immediate> variables: Variables;\n", members);
    std::vector<std::string> size;
    for (const Sint& s : f.kernel.localSize) size.push_back(s.isInt() ? fmt::format("{}", s.i()) : "1");
    if (size.empty()) size.emplace_back("1");
    // Extensions must be enabled before the first declaration.
    std::string enables, declared;
    for (const auto& [key, text] : typedefs_) (key[0] == '0' ? enables : declared) += text;
    for (auto [helper, text] : kHelpers) {
      if (helpers_.contains(helper)) declared += text;
      std::string longName = withF64(helper);
      if (longName != helper && helpers_.contains(longName)) declared += withF64(text);
    }
    return fmt::format(
        "{}{}{}\n@compute @workgroup_size({}) fn {}(@builtin(workgroup_id) group_id: vec3<u32>, "
        "@builtin(local_invocation_id) thread_id: vec3<u32>, @builtin(global_invocation_id) "
        "launch_id: vec3<u32>) {{\n{}{}}}\n",
        enables, binding, declared, fmt::join(size, ", "), gpuFunctionName(f.kernel.name), variables, f.body);
  }

protected:
  std::string notFinite(DType type, double v) override {
    // A constant expression must not be NaN or infinite, so the bits are passed as a parameter.
    bool wide = type.itemsize() == 8;
    helpers_.insert(wide ? "long_from_bits" : "from_bits");
    if (wide)
      return fmt::format("long_from_bits({}lu)", std::bit_cast<uint64_t>(std::isnan(v) ? std::abs(v) : v));
    std::string f = fmt::format("from_bits(0x{}u)", std::isnan(v) ? "7fc00000"
                                                    : v < 0       ? "ff800000"
                                                                  : "7f800000");
    return type.itemsize() == 4 ? f : fmt::format("{}({})", name(type), f);
  }
  std::string call(Op op, DType type, std::span<const std::string> a) override {
    if (op == Op::MOD) {
      helpers_.insert("from_bits");
      std::string x = bare(a[0]), y = bare(a[1]);
      if (type.itemsize() == 2)
        return fmt::format("{}({})", name(type),
                           helped("remainder", dtypes::float32, fmt::format("f32({}), f32({})", x, y)));
      return helped("remainder", type, x + ", " + y);
    }
    return fmt::format("{}({}{})", functionName(op), bare(a[0]), a.size() > 1 ? ", " + bare(a[1]) : "");
  }
  std::string forced(DType type, const std::string& value) override { return narrowed(type, value); }
  std::string shift(Op op, UOp u, DType type, std::span<const std::string> a) override {
    DType count = u.src(1).dtype();
    std::string by = u.src(1).isConst()                     ? fmt::format("{}u", u.src(1).arg().i())
                     : count.isUnsigned() && !isLong(count) ? a[1]
                                                            : fmt::format("u32({})", bare(a[1]));
    std::string s = narrowed(type, fmt::format("({} {} {})", a[0], op == Op::SHL ? "<<" : ">>", by));
    if (!mayShiftOut(type, u.src(1))) return s;
    std::string out = op == Op::SHR && !type.isUnsigned()
                          ? fmt::format("({} >> {}u)", a[0], type.bitsize() - 1)
                          : constant(type, ConstValue::ofInt(0));
    std::string distance = isLong(u.src(1).dtype())
                               ? fmt::format("u64({}) < {}lu", bare(a[1]), type.bitsize())
                               : fmt::format("u32({}) < {}u", bare(a[1]), type.bitsize());
    return select(distance, s, out);
  }
  std::string launchIndex(Index kind, int axis) override {
    return fmt::format("i32({}.{})",
                       kind == Index::Group   ? "group_id"
                       : kind == Index::Local ? "thread_id"
                                              : "launch_id",
                       "xyz"[axis]);
  }

private:
  struct Part {
    std::string word, shift;
    uint32_t mask;
  };
  static std::string withF64(std::string text) {
    for (size_t at = 0; (at = text.find("f32", at)) != std::string::npos; ++at) text.replace(at, 3, "f64");
    return text;
  }
  /// The call of a helper on f32 or f64.
  std::string helped(const char* helper, DType type, const std::string& arguments) {
    std::string function = fmt::format("{}_{}", helper, name(type));
    helpers_.insert(function);
    return fmt::format("{}({})", function, arguments);
  }
  /// naga, the compiler of wgpu-native, takes two NaNs for equal where "!=" is written.
  std::string differ(DType type, const std::string& x, const std::string& y) {
    return type.isFloat() ? fmt::format("!({} == {})", x, y) : fmt::format("({} != {})", x, y);
  }
  /// The constant that is the number of elements in a binding before the buffer.
  static std::string firstOf(std::string_view buffer) {
    return fmt::format("{}_at", buffer.substr(0, buffer.find('_')));
  }
  std::string indexOf(const CPlace& p) const {
    std::string index = p.isLongIndex ? fmt::format("i32({})", bare(p.index)) : p.index;
    bool moved = features_.offsets && p.space == AddrSpace::Global;
    return moved ? fmt::format("({} + {})", index, firstOf(p.pointer)) : index;
  }
  /// The position of a small element in its word.
  Part partOf(const CPlace& p) const {
    int bits = 8 * p.element.itemsize(), perWord = 32 / bits;
    int log = std::countr_zero(static_cast<unsigned>(perWord));
    std::string index = indexOf(p);
    return {fmt::format("{} >> {}u", index, log),
            fmt::format("(u32({} & {}) * {}u)", index, perWord - 1, bits), bits == 8 ? 0xffu : 0xffffu};
  }
  /// A small integer in 32 bits, wrapped to its own width.
  std::string narrowed(DType type, const std::string& value) {
    if (!type.isInt() || type.itemsize() >= 4) return value;
    return fmt::format("extractBits({}, 0u, {}u)", bare(value), type.bitsize());
  }

  WgslFeatures features_;
};

template <bool kHalf, bool kInt64, bool kDoubles>
bool hasType(DType d) {
  if (d.isVoid() || d.kind() == Scalar::Index || isEmulatedFloat(d)) return false;
  if (d.kind() == Scalar::Float16) return kHalf;
  if (d.scalar().itemsize() == 8) return d.isFloat() ? kDoubles : kInt64;
  return true;
}

} // namespace

GpuLanguage wgslLanguage(WgslFeatures features) {
  auto target = [features] {
    static constexpr bool (*kTypes[])(DType) = {hasType<false, false, false>, hasType<false, false, true>,
                                                hasType<false, true, false>,  hasType<false, true, true>,
                                                hasType<true, false, false>,  hasType<true, false, true>,
                                                hasType<true, true, false>,   hasType<true, true, true>};
    Target t = gpuTarget("WGSL");
    t.supportsVectors = false;
    t.mayReassociate = true;
    t.localMax = {256, 256, 64};
    t.globalMax = {65535, 65535, 65535};
    t.sharedMax = 16384;
    // WGSL has these functions, but allows sin an error of 2^-11 and log2 one of 2^-21, and lacks them for f64.
    t.nativeOps = t.nativeOps - OpSet{Op::EXP2, Op::LOG2, Op::SIN};
    t.supportsDtype = kTypes[(features.half ? 4 : 0) + (features.int64 ? 2 : 0) + (features.doubles ? 1 : 0)];
    return t;
  };
  return {"WGSL", target,
          [features]() -> std::unique_ptr<CText> { return std::make_unique<WgslText>(features); }};
}

} // namespace uopscope
