// Runs the LLVM IR of a kernel for AMD or NVIDIA on the CPU, so that its meaning is tested where no GPU is: the text loses its
// address spaces and its calls of the GPU's intrinsics become calls of functions here. The threads of a group are
// threads of this process, groups run one after the other, and memory of a group is a variable of the module. Tensor
// cores multiply as AMD's documents say (matrix_cores.h). What LLVM's AMDGPU target makes of the text is not tested by
// this.
//
//   IrOnCpu run(kernel, source);
//   run.launch(*hipDoubleLaunch);       // packed arguments, sizes
#pragma once
#include "engine/render/signature.h"
#include "engine/runtime/kernel_code.h"
#include "tests/devices/hip_double/hip_double.h"
#include "tests/devices/hip_double/matrix_cores.h"

#include <fmt/format.h>

#include <barrier>
#include <cstring>
#include <optional>
#include <regex>
#include <thread>

namespace uopscope::testing {

class IrOnCpu {
public:
  IrOnCpu(const LoweredKernel& kernel, const std::string& source) : signature_(signatureOf(kernel)) {
    signature_.coreIds.clear();
    code_ = compiler().compile(identifier(kernel.name), signature_, onCpu(source));
  }

  void launch(const hip_double_launch& l) {
    const auto* block = static_cast<const std::byte*>(l.arguments);
    size_t at = 0;
    auto next = [&](size_t bytes) {
      at = (at + bytes - 1) / bytes * bytes;
      int64_t value = 0;
      std::memcpy(&value, block + at, bytes);
      at += bytes;
      return value;
    };
    std::vector<void*> buffers;
    std::vector<int64_t> vars;
    for (size_t i = 0; i < signature_.globals.size(); ++i)
      buffers.push_back(reinterpret_cast<void*>(next(8)));
    for (UOp v : signature_.vars) vars.push_back(next(static_cast<size_t>(v.dtype().itemsize())));
    for (uint32_t z = 0; z < l.grid[2]; ++z)
      for (uint32_t y = 0; y < l.grid[1]; ++y)
        for (uint32_t x = 0; x < l.grid[0]; ++x) runGroup({x, y, z}, l.block, buffers, vars);
  }

private:
  /// What a thread of the launch knows of itself.
  struct Self {
    uint32_t group[3], thread[3], number;
    std::barrier<>* barrier;
    std::vector<MatrixOperands>* operands; ///< of all threads of the group
  };
  static Self& self() {
    static thread_local Self s;
    return s;
  }
  template <int axis>
  static uint32_t group() {
    return self().group[axis];
  }
  template <int axis>
  static uint32_t thread() {
    return self().thread[axis];
  }
  static void wait() { self().barrier->arrive_and_wait(); }
  static MatrixOperands* operands() { return &(*self().operands)[self().number]; }
  /// `threads`: of a wavefront. Every thread has stored its operands; each computes the results that it holds.
  template <void (*multiply)(const MatrixOperands* wavefront, uint32_t lane, float* results),
            uint32_t threads>
  static void matrixCore() {
    wait();
    float results[8];
    const uint32_t first = self().number / threads * threads;
    multiply(self().operands->data() + first, self().number - first, results);
    wait();
    std::memcpy(operands()->c, results, sizeof results);
  }

  static KernelCompiler& compiler() {
    static const std::unique_ptr<KernelCompiler> made = makeLlvmCompiler();
    return *made;
  }

  static std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
      text.replace(at, what.size(), by);
    return text;
  }

  static std::string onCpu(std::string text) {
    text = std::regex_replace(
        text, std::regex("target triple[^\n]*\n|declare [^\n]*@llvm.(amdgcn|nvvm)[^\n]*\n"), "");
    text = std::regex_replace(text, std::regex(",? addrspace\\([135]\\)"), "");
    text = std::regex_replace(text, std::regex("\"target-cpu\"[^}]*"), "");
    text = replaced(replaced(text, "amdgpu_kernel ", ""), "ptx_kernel ", "");
    auto call = [&](const std::string& intrinsic, void* function) {
      text = replaced(text, "@llvm." + intrinsic + "()",
                      fmt::format("inttoptr (i64 {} to ptr)()", reinterpret_cast<uintptr_t>(function)));
    };
    auto address = [](auto* function) { return reinterpret_cast<void*>(function); };
    call("amdgcn.workgroup.id.x", address(&group<0>));
    call("nvvm.read.ptx.sreg.ctaid.x", address(&group<0>));
    call("amdgcn.workgroup.id.y", address(&group<1>));
    call("nvvm.read.ptx.sreg.ctaid.y", address(&group<1>));
    call("amdgcn.workgroup.id.z", address(&group<2>));
    call("nvvm.read.ptx.sreg.ctaid.z", address(&group<2>));
    call("amdgcn.workitem.id.x", address(&thread<0>));
    call("nvvm.read.ptx.sreg.tid.x", address(&thread<0>));
    call("amdgcn.workitem.id.y", address(&thread<1>));
    call("nvvm.read.ptx.sreg.tid.y", address(&thread<1>));
    call("amdgcn.workitem.id.z", address(&thread<2>));
    call("nvvm.read.ptx.sreg.tid.z", address(&thread<2>));
    call("amdgcn.s.barrier", address(&wait));
    call("nvvm.barrier0", address(&wait));
    text = matrixCall(text, "mfma.f32.16x16x16f16", address(&matrixCore<multiplyMfmaHalf, 64>));
    text = matrixCall(text, "mfma.f32.16x16x16bf16.1k", address(&matrixCore<multiplyMfmaBfloat, 64>));
    text = matrixCall(text, "wmma.f32.16x16x16.f16.v8f32.v16f16", address(&matrixCore<multiplyWmmaHalf, 32>));
    return matrixCall(text, "wmma.f32.16x16x16.bf16.v8f32.v16i16",
                      address(&matrixCore<multiplyWmmaBfloat, 32>));
  }

  /// Vectors go to a function through memory: there is no convention for halves.
  static std::string matrixCall(const std::string& text, const std::string& intrinsic, void* function) {
    const std::regex call("  (%\\w+) = call (<[^>]*>) @llvm.amdgcn." + intrinsic +
                          "\\((<[^>]*> %\\w+), (<[^>]*> %\\w+), (<[^>]*> <[^>]*>|<[^>]*> %\\w+)[^\n]*\n");
    auto pointer = [](void* f) {
      return fmt::format("inttoptr (i64 {} to ptr)", reinterpret_cast<uintptr_t>(f));
    };
    return std::regex_replace(
        text, call,
        fmt::format("  $1.a = call ptr {0}()\n  store $3, ptr $1.a, align 2\n"
                    "  $1.b = getelementptr i8, ptr $1.a, i64 {1}\n  store $4, ptr $1.b, align 2\n"
                    "  $1.c = getelementptr i8, ptr $1.a, i64 {2}\n  store $5, ptr $1.c, align 4\n"
                    "  call void {3}()\n  $1 = load $2, ptr $1.c, align 4\n",
                    pointer(reinterpret_cast<void*>(&operands)), offsetof(MatrixOperands, b),
                    offsetof(MatrixOperands, c), pointer(function)));
  }

  void runGroup(std::array<uint32_t, 3> group, const uint32_t (&block)[3], const std::vector<void*>& buffers,
                const std::vector<int64_t>& vars) {
    const uint32_t count = block[0] * block[1] * block[2];
    std::barrier<> barrier(count);
    std::vector<MatrixOperands> operands(count);
    auto one = [&](uint32_t number) {
      self() = {{group[0], group[1], group[2]},
                {number % block[0], number / block[0] % block[1], number / block[0] / block[1]},
                number,
                &barrier,
                &operands};
      code_->entry()(buffers.data(), vars.data(), 0);
    };
    if (count == 1) return one(0);
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < count; ++i) threads.emplace_back(one, i);
    for (std::thread& t : threads) t.join();
  }

  KernelSignature signature_;
  std::shared_ptr<KernelCode> code_;
};

} // namespace uopscope::testing
