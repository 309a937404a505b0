// Compiled code of one CPU kernel, wherever it came from: the LLVM in process or a shared library made by
// clang. Whatever the kernel's own parameters, the loader calls one entry: entry(buffers, vars, core).
#pragma once
#include "engine/runtime/device.h"

#include <cstdint>
#include <memory>
#include <string>

namespace uopscope {

struct KernelSignature;

class KernelCode {
public:
  using Entry = void (*)(void* const* buffers, const int64_t* vars, int32_t core);
  virtual ~KernelCode() = default;
  virtual Entry entry() const = 0;
  virtual std::string assembly() const { return {}; }
  /// And, for lines of it, the line of the source they were compiled from, where known.
  virtual std::string assemblyWithLines(std::vector<AssemblyLine>& /*lines*/) const { return assembly(); }
  virtual std::string ir() const { return {}; }
};

/// Makes KernelCode from a renderer's text, on any number of threads at once; machine code is kept on disk
/// (disk_cache.h) from one run to the next. Throws Error(Compile) with the compiler's message and the source.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;
  virtual std::shared_ptr<KernelCode> compile(const std::string& function, const KernelSignature& signature,
                                              const std::string& source) = 0;
};

/// The system's clang as a child process, and dlopen.
std::unique_ptr<KernelCompiler> makeClangCompiler();
/// LLVM in process. Null where the engine was built without it.
std::unique_ptr<KernelCompiler> makeLlvmCompiler();

} // namespace uopscope
