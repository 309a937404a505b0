// Metal Shading Language: buffers and variables have numbers, launch indices are parameters.
//
//   kernel void E_4(device float* data0_4 [[buffer(0)]], const device float* data1_4 [[buffer(1)]],
//                   uint3 gid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]])
#include "engine/render/gpu_text.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

class MetalText final : public GpuText {
public:
  std::string name(DType type) override {
    std::string n;
    switch (type.kind()) {
    case Scalar::Bool: n = "bool"; break;
    case Scalar::Int8: n = "char"; break;
    case Scalar::UInt8: n = "uchar"; break;
    case Scalar::Int16: n = "short"; break;
    case Scalar::UInt16: n = "ushort"; break;
    case Scalar::Int32: n = "int"; break;
    case Scalar::UInt32: n = "uint"; break;
    case Scalar::Int64: n = "long"; break;
    case Scalar::UInt64: n = "ulong"; break;
    case Scalar::Float16: n = "half"; break;
    case Scalar::BFloat16: n = "bfloat"; break;
    case Scalar::Float32: n = "float"; break;
    default: noForm("Metal", type.name());
    }
    return type.count() > 1 ? fmt::format("{}{}", n, type.count()) : n;
  }
  std::string bitcast(DType to, DType from, const std::string& value) override {
    if (from.isBool()) return cast(to, from, value);
    if (to.isBool()) return fmt::format("(({} & 1) != 0)", value);
    return fmt::format("as_type<{}>(({})({}))", name(to), name(from), bare(value));
  }
  std::string vectorOf(DType type, std::span<const std::string> lanes) override {
    return fmt::format("{}({})", name(type), fmt::join(lanes, ", "));
  }
  std::string lane(const std::string& vector, int i) override {
    return fmt::format("{}.{}", vector, "xyzw"[i]);
  }
  std::string array(DType element, const std::string& variable, int64_t size, AddrSpace space) override {
    const char* local = space == AddrSpace::Local ? "threadgroup __attribute__((aligned(16))) " : "";
    return fmt::format("{}{} {}[{}];", local, name(element), variable, size);
  }
  std::string barrier() override { return "threadgroup_barrier(mem_flags::mem_threadgroup);"; }
  std::string load(const CPlace& p) override {
    if (p.element == p.type) return fmt::format("{}[{}]", p.pointer, bare(p.index));
    const char* space = p.space == AddrSpace::Global  ? "device "
                        : p.space == AddrSpace::Local ? "threadgroup "
                                                      : "thread ";
    return fmt::format("*(({}{}*)({}))", space, name(p.type), p.address());
  }
  std::string wmma(UOp u, std::span<const std::string> a) override {
    const auto& w = u.arg().as<WmmaArg>();
    std::string in = name(w.dtypeIn), out = name(w.dtypeOut);
    typedefs_["wmma" + w.name] = fmt::format(
        "{1}2 {2}({0}2 a, {0}2 b, {1}2 c) {{ // a product of two 8 by 8 tiles, two elements a thread\n"
        "  simdgroup_matrix<{0}, 8, 8> x, y;\n"
        "  simdgroup_matrix<{1}, 8, 8> z;\n"
        "  x.thread_elements()[0] = a.x; x.thread_elements()[1] = a.y;\n"
        "  y.thread_elements()[0] = b.x; y.thread_elements()[1] = b.y;\n"
        "  z.thread_elements()[0] = c.x; z.thread_elements()[1] = c.y;\n"
        "  simdgroup_multiply_accumulate(z, x, y, z);\n"
        "  return {1}2(z.thread_elements()[0], z.thread_elements()[1]);\n"
        "}}\n",
        in, out, w.name);
    return fmt::format("{}({})", w.name, fmt::join(a, ", "));
  }
  std::string function(const CFunction& f) override {
    std::vector<std::string> list;
    size_t slot = 0;
    for (UOp g : f.signature.globals)
      list.push_back(fmt::format("{}device {}* {} [[buffer({})]]", f.stored.contains(g.id()) ? "" : "const ",
                                 name(g.dtype().base()), globalName(g), slot++));
    for (UOp v : f.signature.vars)
      list.push_back(fmt::format("constant {}& {} [[buffer({})]]", name(v.dtype()),
                                 identifier(v.arg().as<VarArg>().name), slot++));
    list.emplace_back("uint3 gid [[threadgroup_position_in_grid]]");
    list.emplace_back("uint3 lid [[thread_position_in_threadgroup]]");
    list.emplace_back("uint3 all [[thread_position_in_grid]]");
    return fmt::format("#include <metal_stdlib>\nusing namespace metal;\n\n{}kernel void {}({}) {{\n{}}}\n",
                       declarations(), f.name, fmt::join(list, ", "), f.body);
  }

protected:
  std::string call(Op op, DType type, std::span<const std::string> a) override {
    // The fast variants have a smaller range; the precise ones agree with the remaining devices.
    const char* exact = type.kind() == Scalar::Float32 ? "precise::" : "";
    std::string s = fmt::format("{}{}({}{})", op == Op::TRUNC ? "" : exact, functionName(op), bare(a[0]),
                                a.size() > 1 ? ", " + bare(a[1]) : "");
    return type.kind() == Scalar::BFloat16 ? fmt::format("((bfloat){})", s) : s;
  }
  std::string launchIndex(Index kind, int axis) override {
    return fmt::format("{}.{}",
                       kind == Index::Group   ? "gid"
                       : kind == Index::Local ? "lid"
                                              : "all",
                       "xyz"[axis]);
  }
};

} // namespace

GpuLanguage metalLanguage() {
  return {"METAL",
          [] {
            Target t = gpuTarget("METAL");
            const TensorCore::Layout tile{"l1l2l4", "e0l0l3"};
            t.tensorCores = {{"simdgroup_8_8_8_half", dtypes::float16, dtypes::float32, tile, tile, tile},
                             {"simdgroup_8_8_8_float", dtypes::float32, dtypes::float32, tile, tile, tile}};
            t.supportsDtype = [](DType d) {
              Scalar k = d.kind();
              return !d.isVoid() && k != Scalar::Index && k != Scalar::Fp8E4M3 && k != Scalar::Fp8E5M2 &&
                     k != Scalar::Float64;
            };
            return t;
          },
          []() -> std::unique_ptr<CText> { return std::make_unique<MetalText>(); }};
}

} // namespace uopscope
