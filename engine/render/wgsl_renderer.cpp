// WGSL, the shading language of WebGPU. It has no 64-bit types, and no element of memory is smaller than 32
// bits: bools, bytes and 16-bit integers are parts of words, which stores change atomically.
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

class WgslText final : public GpuText {
public:
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
    default: noForm("WGSL", type.name());
    }
  }
  std::string constant(DType type, ConstValue v) override {
    if (type.isBool()) return v.asDouble() != 0 ? "true" : "false";
    if (type.kind() == Scalar::Float16) {
      double d = dtypes::roundFloat(type, v.asDouble());
      if (std::isfinite(d))
        return fmt::format("f16({})", GpuText::constant(dtypes::float32, ConstValue::ofFloat(d)));
    }
    if (type.isInt() && type.isUnsigned() && type.itemsize() < 4) return constantText(dtypes::uint32, v);
    return GpuText::constant(type, v);
  }
  std::string cast(DType to, DType from, const std::string& value) override {
    if (to == from) return value;
    if (to.isBool()) return fmt::format("({} != {})", value, constant(from, ConstValue::ofInt(0)));
    return narrowed(to, fmt::format("{}({})", name(to), bare(value)));
  }
  std::string bitcast(DType to, DType from, const std::string& value) override {
    if (to.isBool()) return fmt::format("(({} & 1) != 0)", value);
    if (from.isBool()) return cast(to, from, value);
    if (to.itemsize() < 4 && from.itemsize() < 4) {
      if (to.isFloat()) return fmt::format("bitcast<vec2<f16>>(u32({}) & 0xffffu).x", bare(value));
      if (from.isFloat())
        return narrowed(to, fmt::format("{}(bitcast<u32>(vec2<f16>({}, 0)))", name(to), bare(value)));
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
    }
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
    return fmt::format("for (var {0}: {1} = 0; {0} < {2}; {0}++) {{", variable, name(type), extent);
  }
  std::string when(const std::string& condition, const std::string& statement) override {
    return fmt::format("if ({}) {{ {} }}", condition, statement);
  }
  std::string barrier() override { return "workgroupBarrier();"; }
  std::string load(const CPlace& p) override {
    if (p.space != AddrSpace::Global || !isPacked(p.element))
      return fmt::format("{}[{}]", p.pointer, bare(p.index));
    Part part = partOf(p);
    std::string word = fmt::format("atomicLoad(&{}[{}])", p.pointer, part.word);
    std::string bits = fmt::format("(({} >> {}) & {}u)", word, part.shift, part.mask);
    if (p.element.isBool()) return fmt::format("({} != 0u)", bits);
    return p.element.isUnsigned() ? bits : narrowed(p.element, fmt::format("i32({})", bare(bits)));
  }
  std::string store(const CPlace& p, const std::string& value) override {
    if (p.space != AddrSpace::Global || !isPacked(p.element))
      return fmt::format("{}[{}] = {};", p.pointer, bare(p.index), value);
    Part part = partOf(p);
    return fmt::format("atomicAnd(&{0}[{1}], ~({2}u << {3})); atomicOr(&{0}[{1}], (u32({4}) & {2}u) << {3});",
                       p.pointer, part.word, part.mask, part.shift, value);
  }
  std::string function(const CFunction& f) override {
    std::string binding;
    size_t slot = 0;
    for (UOp g : f.signature.globals) {
      DType d = g.dtype().base();
      std::string element = isPacked(d) ? "atomic<u32>" : name(d);
      binding += fmt::format("@group(0) @binding({}) var<storage, read_write> {}: array<{}>;\n", slot++,
                             globalName(g), element);
    }
    for (UOp v : f.signature.vars)
      binding += fmt::format("@group(0) @binding({}) var<uniform> {}: {};\n", slot++,
                             identifier(v.arg().as<VarArg>().name), name(v.dtype()));
    std::vector<std::string> size;
    for (const Sint& s : f.kernel.localSize) size.push_back(s.isInt() ? fmt::format("{}", s.i()) : "1");
    if (size.empty()) size.emplace_back("1");
    // Extensions must be enabled before the first declaration.
    std::string enables, declared;
    for (const auto& [key, text] : typedefs_) (key[0] == '0' ? enables : declared) += text;
    return fmt::format("{}{}{}\n@compute @workgroup_size({}) fn {}(@builtin(workgroup_id) gid: vec3<u32>, "
                       "@builtin(local_invocation_id) lid: vec3<u32>, @builtin(global_invocation_id) all: "
                       "vec3<u32>) {{\n{}}}\n",
                       enables, binding, declared, fmt::join(size, ", "), f.name, f.body);
  }

protected:
  std::string notFinite(DType type, double v) override {
    // A constant expression must not be NaN or infinite, so the bits are passed as a parameter.
    typedefs_["1bits"] = "fn from_bits(bits: u32) -> f32 { return bitcast<f32>(bits); }\n";
    std::string f = fmt::format("from_bits(0x{}u)", std::isnan(v) ? "7fc00000"
                                                    : v < 0       ? "ff800000"
                                                                  : "7f800000");
    return type.itemsize() == 4 ? f : fmt::format("f16({})", f);
  }
  std::string call(Op op, DType, std::span<const std::string> a) override {
    if (op == Op::MOD) return fmt::format("({} % {})", a[0], a[1]);
    return fmt::format("{}({}{})", functionName(op), bare(a[0]), a.size() > 1 ? ", " + bare(a[1]) : "");
  }
  std::string forced(DType type, const std::string& value) override { return narrowed(type, value); }
  std::string shift(Op op, UOp u, DType type, std::span<const std::string> a) override {
    std::string by = u.src(1).isConst()              ? fmt::format("{}u", u.src(1).arg().i())
                     : u.src(1).dtype().isUnsigned() ? a[1]
                                                     : fmt::format("u32({})", bare(a[1]));
    std::string s = narrowed(type, fmt::format("({} {} {})", a[0], op == Op::SHL ? "<<" : ">>", by));
    if (!mayShiftOut(type, u.src(1))) return s;
    std::string out = op == Op::SHR && !type.isUnsigned()
                          ? fmt::format("({} >> {}u)", a[0], type.bitsize() - 1)
                          : constant(type, ConstValue::ofInt(0));
    return select(fmt::format("u32({}) < {}u", bare(a[1]), type.bitsize()), s, out);
  }
  std::string launchIndex(Index kind, int axis) override {
    return fmt::format("i32({}.{})",
                       kind == Index::Group   ? "gid"
                       : kind == Index::Local ? "lid"
                                              : "all",
                       "xyz"[axis]);
  }

private:
  struct Part {
    std::string word, shift;
    uint32_t mask;
  };
  /// The position of a small element in its word.
  static Part partOf(const CPlace& p) {
    int bits = 8 * p.element.itemsize(), perWord = 32 / bits;
    int log = std::countr_zero(static_cast<unsigned>(perWord));
    return {fmt::format("{} >> {}u", p.index, log),
            fmt::format("(u32({} & {}) * {}u)", p.index, perWord - 1, bits), bits == 8 ? 0xffu : 0xffffu};
  }
  /// A small integer in 32 bits, wrapped to its own width.
  std::string narrowed(DType type, const std::string& value) {
    if (!type.isInt() || type.itemsize() >= 4) return value;
    int unused = 32 - type.bitsize();
    if (type.isUnsigned()) return fmt::format("({} & {}u)", value, type.bitsize() == 8 ? 255 : 65535);
    return fmt::format("(({} << {}u) >> {}u)", value, unused, unused);
  }
};

} // namespace

GpuLanguage wgslLanguage() {
  return {"WGSL",
          [] {
            Target t = gpuTarget("WGSL");
            t.supportsVectors = false;
            t.localMax = {256, 256, 64};
            t.globalMax = {65535, 65535, 65535};
            t.sharedMax = 16384;
            t.supportsDtype = [](DType d) {
              return !d.isVoid() && d.kind() != Scalar::Index && d.scalar().itemsize() <= 4 &&
                     !isEmulatedFloat(d);
            };
            return t;
          },
          []() -> std::unique_ptr<CText> { return std::make_unique<WgslText>(); }};
}

} // namespace uopscope
