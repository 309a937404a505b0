// LLVM's code generators for GPUs, in process. None needs a GPU or its maker's tools.
//
//   std::string object = gpuCode("E_4", text, {"amdgcn-amd-amdhsa", "gfx942", "amdgpu-attributor"});
//
// Thread-safe.
#pragma once
#include <string>

namespace uopscope {

struct GpuMachine {
  const char* triple = "";
  std::string architecture; ///< as LLVM names it
  std::string lastPass;     ///< of modules, run behind those of processors; empty: none
  bool asText = false;      ///< PTX is a text; else an object file
  unsigned codeObjects = 0; ///< the version of AMD's code objects; 0 for others
};

/// Makes LLVM know the GPUs, for the disassembler; the functions below do so themselves.
void initialiseGpus();
/// The version of LLVM in this program: "19.1.7"; empty if it was built without.
std::string llvmVersion();
/// Whether LLVM knows the architecture.
bool knowsArchitecture(const GpuMachine& machine);
/// The machine code of a kernel's text, from the cache of kernels where an earlier process compiled it. Every instruction carries the line of the text that it comes from. Throws
/// Error(Compile) with LLVM's message, the kernel's name and the line of the source; Error(Device) if the engine was
/// built without LLVM, or LLVM without this kind of GPU.
std::string gpuCode(const std::string& kernel, const std::string& source, const GpuMachine& machine);

} // namespace uopscope
