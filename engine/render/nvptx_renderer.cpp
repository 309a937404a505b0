// The dialect of LLVM IR for NVIDIA: address spaces, special registers, barriers, mma.sync.
#include "engine/render/nvptx_renderer.h"

#include "engine/base/error.h"
#include "engine/codegen/shared_operand.h"
#include "engine/render/cuda_architecture.h"
#include "engine/render/llvm_dialect.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

class NvptxDialect final : public LlvmGpuDialect {
public:
  std::string pointer(AddrSpace space) const override {
    return space == AddrSpace::Global  ? "ptr addrspace(1)"
           : space == AddrSpace::Local ? "ptr addrspace(3)"
                                       : "ptr";
  }
  std::string head() const override { return "target triple = \"nvptx64-nvidia-cuda\"\n\n"; }

  std::string module(const LlvmFunction& f) const override {
    int64_t threads = 1;
    for (const Sint& s : f.kernel.localSize) threads *= s.isInt() ? s.i() : 1;
    std::string outside = f.shared + f.outside, name = identifier(f.kernel.name);
    return fmt::format(
        "{}define ptx_kernel void @{}({}) #0 {{\n{}  ret void\n}}\n{}{}\nattributes #0 = {{ nounwind "
        "\"no-trapping-math\"=\"true\" }}\n\n!nvvm.annotations = !{{!0}}\n"
        "!0 = !{{ptr @{}, !\"maxntidx\", i32 {}}}\n",
        head(), name, f.parameters, f.body, outside.empty() ? "" : "\n", outside, name, threads);
  }

  void barrier(LlvmText& out) const override {
    out.declare("declare void @llvm.nvvm.barrier0()\n");
    out.line("call void @llvm.nvvm.barrier0()");
  }

  /// mma.m16n8k16: the intrinsic takes registers of two elements, and gives four results.
  std::string wmma(LlvmText& out, const LoweredKernel& kernel, UOp u,
                   std::span<const std::string> fragments) const override {
    const auto& arg = u.arg().as<WmmaArg>();
    const bool isHalf = arg.name == "mma_16_8_16_half";
    if (!isHalf && arg.name != "mma_16_8_16_bfloat")
      throw Error(ErrorKind::Compile,
                  fmt::format("kernel {}: NVIDIA has no tensor core called {}", kernel.name, arg.name));
    const std::string pair = isHalf ? "<2 x half>" : "i32";
    const std::string function =
        fmt::format("llvm.nvvm.mma.m16n8k16.row.col.{}", isHalf ? "f32.f32" : "bf16");
    const std::string result = "{ float, float, float, float }";
    std::string operands, types;
    auto add = [&](const std::string& type, const std::string& value) {
      operands += fmt::format("{}{} {}", operands.empty() ? "" : ", ", type, value);
      types += fmt::format("{}{}", types.empty() ? "" : ", ", type);
    };
    for (size_t f = 0; f < 2; ++f) {
      const DType type = u.src(f).dtype();
      for (int i = 0; i < type.count(); i += 2) {
        std::string two =
            out.emit("vec", fmt::format("shufflevector {0} {1}, {0} poison, <2 x i32> <i32 {2}, i32 {3}>",
                                        LlvmText::type(type), fragments[f], i, i + 1));
        add(pair, isHalf ? two : out.emit("cast", fmt::format("bitcast <2 x i16> {} to i32", two)));
      }
    }
    const std::string sums = LlvmText::type(u.dtype());
    for (int i = 0; i < 4; ++i)
      add("float", out.emit("gep", fmt::format("extractelement {} {}, i32 {}", sums, fragments[2], i)));
    out.declare(fmt::format("declare {} @{}({})\n", result, function, types));
    std::string made = out.emit("wmma", fmt::format("call {} @{}({})", result, function, operands)),
                all = "poison";
    for (int i = 0; i < 4; ++i) {
      std::string one = out.emit("gep", fmt::format("extractvalue {} {}, {}", result, made, i));
      all = out.emit("vec", fmt::format("insertelement {} {}, float {}, i32 {}", sums, all, one, i));
    }
    return all;
  }

protected:
  std::string numberOf(bool thread, char axis) const override {
    return fmt::format("llvm.nvvm.read.ptx.sreg.{}.{}", thread ? "tid" : "ctaid", axis);
  }
};

} // namespace

NvptxRenderer::NvptxRenderer(Target target) : target_(std::move(target)) {
  target_.vectorLimit = 16;
  // What LLVM has no form for here: cores that read shared memory themselves.
  std::erase_if(target_.tensorCores, [](const TensorCore& c) { return readsShared(c); });
  target_.sharedMax = std::min(target_.sharedMax, cuda::kStaticShared); // its memories are variables
  target_.copiesAsync = false; // a copy is a load and a store here: it begins no earlier than it is needed
  target_.nativeOps = target_.nativeOps - OpSet{Op::EXP2, Op::LOG2, Op::SIN};
}

std::string NvptxRenderer::renderWithLines(const LoweredKernel& kernel, std::vector<TextLine>* lines) const {
  return writeLlvm(kernel, NvptxDialect(), lines);
}

} // namespace uopscope
