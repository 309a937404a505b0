// CUDA C++ to machine code by NVRTC, which needs no GPU: a kernel can be compiled, and its SASS read, on any
// machine that has the library (CUDA Toolkit, or the Python package nvidia-cuda-nvrtc).
//
//   cuda::Binary code = cuda::compile(kernel.name, source, "sm_90");   // kept on disk from run to run
//   fmt::print("{}", cuda::sass(code, nullptr));
//
// Thread-safe.
#pragma once
#include "engine/runtime/device.h"

#include <string>
#include <vector>

namespace uopscope::cuda {

struct Binary {
  std::string image;     ///< a cubin, or PTX that the driver compiles where NVRTC is older than the GPU
  std::string ptx;       ///< between the source and the machine code
  std::string resources; ///< ptxas: "23 registers, 0 bytes spilled"
};

/// Throws Error(Compile) with the compiler's words, the kernel's name and the line they speak of, and
/// Error(Device) where there is no NVRTC.
Binary compile(const std::string& kernel, const std::string& source, const std::string& architecture);

/// The machine code as text, where nvdisasm is installed; else the PTX. `lines` receives which lines of the
/// source its lines come from.
std::string sass(const Binary& binary, std::vector<AssemblyLine>* lines);

/// "sm_90" of CUDA_ARCH, the architecture that NULL:CUDA compiles for; empty: it renders only.
std::string wantedArchitecture();

/// The program of NULL:CUDA: it is compiled and can be read, and does not run.
std::shared_ptr<Program> makeListing(const LoweredKernel& kernel, const std::string& source,
                                     const std::string& architecture);

} // namespace uopscope::cuda
