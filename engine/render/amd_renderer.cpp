// Kernels for GPUs of AMD as LLVM IR: the target, and the dialect of its memory, threads and tensor cores.
#include "engine/render/amd_renderer.h"

#include "engine/base/error.h"
#include "engine/render/gpu_text.h"
#include "engine/render/llvm_dialect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace uopscope {

namespace {

/// A tensor core and the intrinsic that calls it.
struct AmdCore {
  TensorCore core;
  const char* intrinsic;
};

/// MFMA, of a wavefront of 64: a thread holds four terms of a row, and four results of a column.
std::vector<AmdCore> matrixCores() {
  const TensorCore::Layout a{"l0l1l2l3", "e0e1l4l5"}, b{"e0e1l4l5", "l0l1l2l3"}, c{"e0e1l4l5", "l0l1l2l3"};
  return {
      {{"mfma_16_16_16_half", dtypes::float16, dtypes::float32, a, b, c, 64}, "mfma.f32.16x16x16f16"},
      {{"mfma_16_16_16_bfloat", dtypes::bfloat16, dtypes::float32, a, b, c, 64}, "mfma.f32.16x16x16bf16.1k"}};
}
/// WMMA, of a wavefront of 32: a thread holds a whole row, which the thread 16 further holds as well, and every second
/// result of a column.
std::vector<AmdCore> waveCores() {
  const TensorCore::Layout a{"l0l1l2l3", "e0e1e2e3"}, b{"e0e1e2e3", "l0l1l2l3"}, c{"l4e0e1e2", "l0l1l2l3"};
  return {
      {{"wmma_16_16_16_half", dtypes::float16, dtypes::float32, a, b, c, 32}, "wmma.f32.16x16x16.f16"},
      {{"wmma_16_16_16_bfloat", dtypes::bfloat16, dtypes::float32, a, b, c, 32}, "wmma.f32.16x16x16.bf16"}};
}
std::vector<AmdCore> coresOf(std::string_view architecture) {
  for (const char* name : {"gfx90a", "gfx940", "gfx941", "gfx942"})
    if (architecture == name) return matrixCores();
  return architecture.starts_with("gfx11") ? waveCores() : std::vector<AmdCore>();
}

class AmdDialect final : public LlvmGpuDialect {
public:
  explicit AmdDialect(std::string architecture) : architecture_(std::move(architecture)) {}

  std::string pointer(AddrSpace space) const override {
    return space == AddrSpace::Global  ? "ptr addrspace(1)"
           : space == AddrSpace::Local ? "ptr addrspace(3)"
                                       : "ptr addrspace(5)";
  }
  std::string head() const override { return "target triple = \"amdgcn-amd-amdhsa\"\n\n"; }

  std::string module(const LlvmFunction& f) const override {
    int64_t threads = 1;
    bool known = true;
    for (const Sint& s : f.kernel.localSize) {
      known = known && s.isInt();
      threads *= s.isInt() ? s.i() : 1;
    }
    std::string size = known ? fmt::format("{0},{0}", threads) : "1,1024";
    std::string outside = f.shared + f.outside;
    return fmt::format(
        "{}define amdgpu_kernel void @{}({}) #0 {{\n{}  ret void\n}}\n{}{}\nattributes #0 = {{ "
        "nounwind \"no-trapping-math\"=\"true\" \"target-cpu\"=\"{}\" "
        "\"amdgpu-flat-work-group-size\"=\"{}\" \"uniform-work-group-size\"=\"true\" }}\n",
        head(), identifier(f.kernel.name), f.parameters, f.body, outside.empty() ? "" : "\n", outside,
        architecture_, size);
  }

  /// Fences keep LLVM from moving accesses of shared memory over the barrier.
  void barrier(LlvmText& out) const override {
    out.declare("declare void @llvm.amdgcn.s.barrier()\n");
    out.line("fence syncscope(\"workgroup\") release");
    out.line("call void @llvm.amdgcn.s.barrier()");
    out.line("fence syncscope(\"workgroup\") acquire");
  }

  std::string wmma(LlvmText& out, const LoweredKernel& kernel, UOp u,
                   std::span<const std::string> fragments) const override {
    const auto& arg = u.arg().as<WmmaArg>();
    for (const AmdCore& c : coresOf(architecture_)) {
      if (arg.name != c.core.name) continue;
      std::string ab = LlvmText::type(u.src(0).dtype()), results = LlvmText::type(u.dtype());
      bool isMfma = arg.threads == 64;
      // MFMA can repeat and swap blocks of its operands: three zeros leave them as they are.
      std::string more = isMfma ? ", i32 0, i32 0, i32 0" : "", moreTypes = isMfma ? ", i32, i32, i32" : "";
      std::string function = fmt::format("llvm.amdgcn.{}{}", c.intrinsic,
                                         isMfma ? "" : suffixOf(u.dtype()) + suffixOf(u.src(0).dtype()));
      out.declare(fmt::format("declare {0} @{1}({2}, {2}, {0}{3})\n", results, function, ab, moreTypes));
      return out.emit("wmma", fmt::format("call {0} @{1}({2} {3}, {2} {4}, {0} {5}{6})", results, function,
                                          ab, fragments[0], fragments[1], fragments[2], more));
    }
    throw Error(ErrorKind::Compile, fmt::format("kernel {}: {} has no tensor core called {}", kernel.name,
                                                architecture_, arg.name));
  }

protected:
  std::string numberOf(bool thread, char axis) const override {
    return fmt::format("llvm.amdgcn.work{}.id.{}", thread ? "item" : "group", axis);
  }

private:
  /// The type in the name of an intrinsic: ".v8f32".
  static std::string suffixOf(DType d) {
    bool isFloat = d.isFloat() && !isEmulatedFloat(d);
    return fmt::format(".v{}{}{}", d.count(), isFloat ? 'f' : 'i', 8 * d.scalar().itemsize());
  }

  std::string architecture_;
};

} // namespace

Target amdTarget(std::string_view architecture) {
  Target t;
  t.device = "AMD";
  t.suffix = architecture;
  t.hasLocal = t.hasShared = true;
  t.alignedVectors = true;
  t.vectorLimit = 16;
  // A launch has fewer than 2^32 threads along an axis.
  t.globalMax = {4194303, 65535, 65535};
  t.localMax = {1024, 1024, 1024};
  t.sharedMax = 65536;
  t.nativeOps = group::kAlu - OpSet{Op::EXP2, Op::LOG2, Op::SIN, Op::POW, Op::THREEFRY, Op::RECIPROCAL};
  for (AmdCore& c : coresOf(architecture)) t.tensorCores.push_back(c.core);
  t.supportsDtype = [](DType d) {
    Scalar k = d.kind();
    return !d.isVoid() && k != Scalar::Index && k != Scalar::Fp8E4M3 && k != Scalar::Fp8E5M2;
  };
  return t;
}

GpuLanguage amdLanguage() {
  return {"AMD",
          [] {
            const char* named = std::getenv("AMD_ARCH");
            return amdTarget(named && *named ? named : kDefaultAmdArchitecture);
          },
          nullptr, [](Target t) { return std::make_unique<AmdRenderer>(std::move(t)); }};
}

std::string AmdRenderer::renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const {
  return writeLlvm(kernel, AmdDialect(architecture()), lines);
}

} // namespace uopscope
