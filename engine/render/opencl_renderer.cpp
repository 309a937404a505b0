// OpenCL C: kernels get __global pointers; bools are bytes in memory, since OpenCL has no pointers to bool.
//
//   __kernel void E_4(__global float* restrict data0_4, const __global float* restrict data1_4) { ... }
#include "engine/render/gpu_text.h"

#include <fmt/format.h>

namespace uopscope {

namespace {

class OpenClText final : public GpuText {
public:
  std::string name(DType type) override {
    std::string n = std::string(type.scalar().cName());
    switch (type.kind()) {
    case Scalar::Bool: n = "bool"; break;
    case Scalar::Int8: n = "char"; break;
    case Scalar::UInt8: n = "uchar"; break;
    case Scalar::UInt16: n = "ushort"; break;
    case Scalar::UInt32: n = "uint"; break;
    case Scalar::Int64: n = "long"; break;
    case Scalar::UInt64: n = "ulong"; break;
    case Scalar::Float16: typedefs_["half"] = "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"; break;
    case Scalar::Float64: typedefs_["double"] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"; break;
    case Scalar::Int16:
    case Scalar::Int32:
    case Scalar::Float32: break;
    default: noForm("OpenCL C", type.name());
    }
    return type.count() > 1 ? fmt::format("{}{}", n, type.count()) : n;
  }
  std::string bitcast(DType to, DType from, const std::string& value) override {
    if (from.isBool()) return cast(to, from, value);
    if (to.isBool()) return fmt::format("(({} & 1) != 0)", value);
    return fmt::format("as_{}({})", name(to), bare(value));
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
    return p.type.isBool() ? fmt::format("({} != 0)", value) : value;
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
    return fmt::format("{}__kernel void {}({}) {{\n{}}}\n", declarations(), f.name, fmt::join(list, ", "),
                       f.body);
  }

protected:
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
  std::string memoryName(DType d) { return d.isBool() ? name(dtypes::uint8) : name(d); }
  std::string at(const CPlace& p) {
    if (p.element == p.type) return fmt::format("{}[{}]", p.pointer, bare(p.index));
    const char* space = p.space == AddrSpace::Global  ? "__global "
                        : p.space == AddrSpace::Local ? "__local "
                                                      : "";
    return fmt::format("*(({}{}*)({} + {}))", space, name(p.type), p.pointer, bare(p.index));
  }
};

} // namespace

GpuLanguage openClLanguage() {
  return {"CL",
          [] {
            Target t = gpuTarget("CL");
            t.vectorLimit = 16;
            t.supportsDtype = [](DType d) {
              return !d.isVoid() && d.kind() != Scalar::Index && !isEmulatedFloat(d);
            };
            return t;
          },
          []() -> std::unique_ptr<CText> { return std::make_unique<OpenClText>(); }};
}

} // namespace uopscope
