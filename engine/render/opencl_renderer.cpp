// OpenCL C: kernels get __global pointers; bools are bytes in memory, since OpenCL has no pointers to bool.
//
//   __kernel void E_4(__global float* restrict data0_4, const __global float* restrict data1_4) { ... }
#include "engine/render/c_prelude.h"
#include "engine/render/gpu_text.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace uopscope {

namespace {

/// Functions that the shared helpers use and OpenCL C spells differently from C.
constexpr std::pair<std::string_view, std::string_view> kSpelledDifferently[] = {
    {"__builtin_bit_cast(float, ", "as_float("},
    {"__builtin_bit_cast(unsigned int, ", "as_uint("},
    {"__builtin_ldexpf", "ldexp"},
    {"__builtin_ilogbf", "ilogb"},
    {"__builtin_rintf", "rint"},
    {"__builtin_fabsf", "fabs"},
    {"__builtin_fabs", "fabs"},
    {"__builtin_signbit", "signbit"},
    {"__builtin_nanf(\"\")", "NAN"},
    {"__builtin_inff()", "INFINITY"},
    {"static inline", "static"},
};

/// Helpers for halves on a device without half arithmetic: every OpenCL device can load and store them.
constexpr std::pair<const char*, const char*> kHalfHelpers[] = {
    {"f16_to_float",
     "static float f16_to_float(f16 x) { return vload_half(0, (const __private half*)&x); }\n"},
    {"float_to_f16", "static f16 float_to_f16(float x) {\n  f16 h;\n"
                     "  vstore_half_rte(x, 0, (__private half*)&h);\n  return h;\n}\n"},
};

class OpenClText final : public GpuText {
public:
  explicit OpenClText(OpenClFeatures features) : features_(features) {}

  std::string name(DType type) override {
    std::string n = std::string(type.scalar().cName());
    switch (type.kind()) {
    case Scalar::Bool: n = type.count() > 1 ? "uchar" : "bool"; break; // OpenCL has no vectors of bool
    case Scalar::Int8: n = "char"; break;
    case Scalar::UInt8: n = "uchar"; break;
    case Scalar::UInt16: n = "ushort"; break;
    case Scalar::UInt32: n = "uint"; break;
    case Scalar::Int64: n = "long"; break;
    case Scalar::UInt64: n = "ulong"; break;
    case Scalar::Float16:
      if (!features_.half) return stored(type, "f16", "ushort");
      typedefs_["half"] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n";
      break;
    case Scalar::BFloat16: return stored(type, "bf16", "ushort");
    case Scalar::Fp8E4M3: return stored(type, "fp8e4m3", "uchar");
    case Scalar::Fp8E5M2: return stored(type, "fp8e5m2", "uchar");
    case Scalar::Float64: typedefs_["double"] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"; break;
    case Scalar::Int16:
    case Scalar::Int32:
    case Scalar::Float32: break;
    default: noForm("OpenCL C", type.name());
    }
    return type.count() > 1 ? fmt::format("{}{}", n, type.count()) : n;
  }
  std::string constant(DType type, ConstValue value) override {
    if (!isComputedAsFloat(type)) return GpuText::constant(type, value);
    if (type.kind() != Scalar::Float16) return constantText(type, value);
    return fmt::format("{}", dtypes::toHalf(value.asDouble()));
  }
  std::string bitcast(DType to, DType from, const std::string& value) override {
    if (from.isBool()) return cast(to, from, value);
    if (to.isBool()) return fmt::format("(({} & 1) != 0)", value);
    // Arithmetic on small integers has type int; the cast restores the type whose bits are meant.
    return fmt::format("as_{}(({}){})", bits(to), bits(from), value);
  }
  /// A product and a sum round separately, as in every renderer; only MULACC rounds once.
  std::string alu(UOp u, DType type, DType from, std::span<const std::string> a) override {
    if (u.is(Op::MUL) && type.isFloat()) typedefs_["contract"] = "#pragma OPENCL FP_CONTRACT OFF\n";
    bool fused = u.is(Op::MULACC) && (type.kind() == Scalar::Float32 || type.kind() == Scalar::Float64);
    if (fused) return fmt::format("fma({}, {}, {})", bare(a[0]), bare(a[1]), bare(a[2]));
    return GpuText::alu(u, type, from, a);
  }
  std::string vectorOf(DType type, std::span<const std::string> lanes) override {
    return fmt::format("({})({})", name(type), fmt::join(lanes, ", "));
  }
  std::string lane(const std::string& vector, int i) override { return fmt::format("{}.s{:x}", vector, i); }
  std::string array(DType element, const std::string& variable, int64_t size, AddrSpace space) override {
    const char* local = space == AddrSpace::Local ? "__attribute__((aligned(16))) __local " : "";
    return fmt::format("{}{} {}[{}];", local, memoryName(element), variable, size);
  }
  std::string barrier() override { return "barrier(CLK_LOCAL_MEM_FENCE);"; }
  std::string load(const CPlace& p) override {
    std::string value = at(p);
    return p.type.isBool() && p.type.count() == 1 ? fmt::format("({} != 0)", value) : value;
  }
  std::string store(const CPlace& p, const std::string& value) override {
    return fmt::format("{} = {};", at(p), value);
  }
  std::string function(const CFunction& f) override {
    std::vector<std::string> list;
    for (UOp g : f.signature.globals)
      list.push_back(fmt::format("{}__global {}* restrict {}", f.stored.contains(g.id()) ? "" : "const ",
                                 memoryName(g.dtype().base()), globalName(g)));
    for (UOp v : f.signature.vars)
      list.push_back(fmt::format("const {} {}", name(v.dtype()), identifier(v.arg().as<VarArg>().name)));
    return fmt::format("{}__kernel void {}({}) {{\n{}}}\n", declarations(), gpuFunctionName(f.kernel.name),
                       fmt::join(list, ", "), f.body);
  }

protected:
  bool isComputedAsFloat(DType d) override {
    return isEmulatedFloat(d) || (d.kind() == Scalar::Float16 && !features_.half);
  }
  std::string prelude() const override {
    std::string text = cPrelude(helpers_);
    for (auto [c, openCl] : kSpelledDifferently)
      for (size_t at = 0; (at = text.find(c, at)) != std::string::npos; at += openCl.size())
        text.replace(at, c.size(), openCl);
    for (auto [helper, body] : kHalfHelpers)
      if (helpers_.contains(helper)) text += body;
    return text;
  }
  std::string call(Op op, DType, std::span<const std::string> a) override {
    return fmt::format("{}({}{})", functionName(op), bare(a[0]), a.size() > 1 ? ", " + bare(a[1]) : "");
  }
  std::string launchIndex(Index kind, int axis) override {
    const char* function = kind == Index::Group   ? "get_group_id"
                           : kind == Index::Local ? "get_local_id"
                                                  : "get_global_id";
    return fmt::format("{}({})", function, axis);
  }

private:
  /// The type name of a float stored as an integer: the name its helpers use, or a vector of that integer.
  std::string stored(DType type, const char* shortName, const char* integer) {
    if (type.count() > 1) return fmt::format("{}{}", integer, type.count());
    typedefs_[shortName] = fmt::format("typedef {} {};\n", integer, shortName);
    return shortName;
  }
  /// The type that as_...() needs for the bits of a value.
  std::string bits(DType type) {
    if (!isComputedAsFloat(type)) return name(type);
    DType integer = type.itemsize() / type.count() == 2 ? dtypes::uint16 : dtypes::uint8;
    return name(type.count() > 1 ? integer.vec(type.count()) : integer);
  }
  std::string memoryName(DType d) { return d.isBool() ? name(dtypes::uint8) : name(d); }
  std::string at(const CPlace& p) {
    if (p.element == p.type) return fmt::format("{}[{}]", p.pointer, bare(p.index));
    const char* space = p.space == AddrSpace::Global  ? "__global "
                        : p.space == AddrSpace::Local ? "__local "
                                                      : "";
    return fmt::format("*(({}{}*)({}))", space, name(p.type), p.address());
  }

  OpenClFeatures features_;
};

} // namespace

GpuLanguage openClLanguage(OpenClFeatures features) {
  auto target = [features] {
    Target t = gpuTarget("CL");
    t.vectorLimit = 16;
    t.nativeOps = t.nativeOps | OpSet{Op::MULACC};
    t.supportsDtype = [](DType d) { return !d.isVoid() && d.kind() != Scalar::Index; };
    if (!features.doubles)
      t.supportsDtype = [](DType d) {
        return !d.isVoid() && d.kind() != Scalar::Index && d.kind() != Scalar::Float64;
      };
    return t;
  };
  return {"CL", target,
          [features]() -> std::unique_ptr<CText> { return std::make_unique<OpenClText>(features); }};
}

} // namespace uopscope
