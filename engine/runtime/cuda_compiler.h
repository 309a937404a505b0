// CUDA C++ to machine code by NVRTC, which needs no GPU. A machine that has the library (CUDA Toolkit, or the
// Python package nvidia-cuda-nvrtc) can compile a kernel and read its SASS. Without it LLVM makes PTX.
//
//   cuda::Binary code = cuda::compile(kernel.name, source, "sm_90");   // kept on disk between runs
//   fmt::print("{}", cuda::sass(code, nullptr));
//
// Thread-safe.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/register_use.h"

#include <string>
#include <vector>

namespace uopscope::cuda {

struct Binary {
  std::string image;     ///< a cubin; PTX for the driver if the GPU is newer than NVRTC
  std::string ptx;       ///< the stage between the source and the machine code
  std::string resources; ///< ptxas: "23 registers a thread, 0 bytes spilled, 0 bytes shared"
};

/// Throws Error(Compile) with the compiler's message, the kernel's name and the line of the source, or
/// Error(Device) if there is no NVRTC.
Binary compile(const std::string& kernel, const std::string& source, const std::string& architecture);

/// Registers and spilled bytes as ptxas counts them; none for code that the driver compiles.
std::optional<RegisterUse> registerUseOf(const Binary& binary);
/// The machine code as text if nvdisasm is installed, else the PTX. `lines` receives the source line of each
/// line.
std::string sass(const Binary& binary, std::vector<AssemblyLine>* lines);

/// Whether kernels for CUDA are LLVM IR, which LLVM compiles to PTX: with CUDA_LLVM=1, and where there is no NVRTC. Then
/// the renderer is NvptxRenderer and the compiler compileIr().
bool usesLlvm();
/// LLVM IR to PTX, which the driver compiles. Throws Error(Compile) as compile() does.
Binary compileIr(const std::string& kernel, const std::string& source, const std::string& architecture);

/// The program of NULL:CUDA: it is compiled and can be read, but not run.
std::shared_ptr<Program> makeListing(const LoweredKernel& kernel, const std::string& source,
                                     const std::string& architecture);

} // namespace uopscope::cuda
