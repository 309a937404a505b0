// Opens AMD on a double of HIP's library, and lets kernels do something there.
//
//   if (!amdDoubleHere()) return;
//   const RunsAsIr running(kernel, source);       // until it dies, launches run this text on the CPU
#pragma once
#include "engine/base/child_process.h"
#include "engine/runtime/llvm_gpu.h"
#include "tests/devices/hip_double/ir_on_cpu.h"
#include "tests/engine/runtime/gpu_here.h"

#include <dlfcn.h>

namespace uopscope::testing {

/// A function of the double itself.
template <typename F>
F* ofDouble(const char* name) {
  void* library = dlopen(UOPSCOPE_BINARY_DIR "/rocm/lib/libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  return reinterpret_cast<F*>(dlsym(library, name));
}

/// Opens AMD on the double, which shows two GPUs of the architecture gfx1100. False where LLVM or a linker is missing.
inline bool amdDoubleHere() {
  if (llvmVersion().empty() ||
      (findProgram("ld.lld-19", "/usr/lib/llvm-19/bin").empty() && findProgram("ld.lld").empty())) {
    MESSAGE("not run: LLVM or ld.lld is missing");
    return false;
  }
  setenv("ROCM_PATH", UOPSCOPE_BINARY_DIR "/rocm", 1);
  return opens("AMD");
}

class RunsAsIr {
public:
  RunsAsIr(const LoweredKernel& kernel, const std::string& source) : code_(kernel, source) {
    current() = &code_;
    ofDouble<void(hip_double_runner)>("hip_double_run")(
        [](const hip_double_launch* l) { current()->launch(*l); });
  }
  ~RunsAsIr() { ofDouble<void(hip_double_runner)>("hip_double_run")(nullptr); }
  RunsAsIr(const RunsAsIr&) = delete;
  RunsAsIr& operator=(const RunsAsIr&) = delete;

private:
  static IrOnCpu*& current() {
    static IrOnCpu* code = nullptr;
    return code;
  }
  IrOnCpu code_;
};

} // namespace uopscope::testing
