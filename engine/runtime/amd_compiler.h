// LLVM IR to machine code for GPUs of AMD, by LLVM in process. It needs neither a GPU nor ROCm, so any machine can
// compile a kernel and read its code. A driver takes code objects: ELF shared objects, which lld links.
//
//   amd::Binary code = amd::compile(kernel.name, source, "gfx942");   // kept on disk between runs
//   fmt::print("{}", amd::listing(code, nullptr));
//   std::string image = amd::codeObject(kernel.name, code);           // for hipModuleLoadData
//
// Thread-safe.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/register_use.h"

#include <string>
#include <string_view>
#include <vector>

namespace uopscope::amd {

struct Binary {
  std::string architecture; ///< "gfx942"
  std::string object;       ///< a relocatable ELF file
};

/// An argument of a kernel, as the driver lays it out.
struct Argument {
  std::string name;
  int64_t offset = 0, bytes = 0;
};
/// The metadata that LLVM writes for the driver.
struct Resources {
  int64_t vectorRegisters = 0, scalarRegisters = 0; ///< of a thread, of a wavefront
  int64_t spilledRegisters = 0;                     ///< kept in memory, of both kinds
  int64_t scratchBytes = 0;                         ///< memory of a thread
  int64_t sharedBytes = 0;                          ///< memory of a group
  int64_t argumentBytes = 0, wavefront = 0, maxThreads = 0;
  std::vector<Argument> arguments;
};

/// Throws Error(Compile) with LLVM's message, the kernel's name and the line of the source; Error(Device) if the
/// engine was built without LLVM.
Binary compile(const std::string& kernel, const std::string& source, const std::string& architecture);
/// Throws Error(Compile) for an object without metadata.
Resources resourcesOf(const Binary& binary);
/// The part of it about registers. Spilled registers are of 32 bits; the object does not say how often they move.
RegisterUse registerUseOf(const Binary& binary);
/// The linked object. Throws Error(Device) if there is no ld.lld, Error(Compile) with the linker's message.
std::string codeObject(const std::string& kernel, const Binary& binary);

/// Resources, arguments and the machine code as text. `lines` receives the source line of each line.
std::string listing(const Binary& binary, std::vector<AssemblyLine>* lines);

/// The machine code of any code object, of other compilers too, function by function. The object names its architecture, and
/// `architecture` receives it. Throws Error(Compile) for bytes that are no object of AMD's; Error(Device) if the engine was
/// built without LLVM. `ofMachine`: the architecture of an object that names none.
std::string disassembly(std::string_view object, std::string* architecture = nullptr,
                        const std::string& ofMachine = {});

/// The architecture in AMD_ARCH ("gfx942"), for which NULL:AMD compiles; empty: it renders and does not compile.
/// Throws Error(Value) for a word that names none.
std::string wantedArchitecture();

/// The program of NULL:AMD: it is compiled and can be read, but not run.
std::shared_ptr<Program> makeListing(const LoweredKernel& kernel, const std::string& source,
                                     const std::string& architecture);

} // namespace uopscope::amd
