// Compiled code of one CPU kernel, from LLVM in process or from a shared library made by clang. The loader
// calls every kernel through the same entry, whatever its parameters: entry(buffers, vars, core).
//
//   auto code = makeClangCompiler()->compile("E_4", signature, source);
//   code->entry()(buffers, vars, 0);
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/register_use.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace uopscope {

struct KernelSignature;

class KernelCode {
public:
  using Entry = void (*)(void* const* buffers, const int64_t* vars, int32_t core);
  virtual ~KernelCode() = default;
  virtual Entry entry() const = 0;
  virtual std::string assembly() const { return {}; }
  /// The same, with the source line of each line, if known.
  virtual std::string assemblyWithLines(std::vector<AssemblyLine>& /*lines*/) const { return assembly(); }
  /// What the compiler did with registers, if it says so.
  virtual std::optional<RegisterUse> registerUse() const { return {}; }
};

/// Makes KernelCode from a renderer's text; any number of threads may call it at once. Machine code is kept
/// on disk between runs (disk_cache.h). Throws Error(Compile) with the compiler's message and the source.
class KernelCompiler {
public:
  virtual ~KernelCompiler() = default;
  virtual std::shared_ptr<KernelCode> compile(const std::string& function, const KernelSignature& signature,
                                              const std::string& source) = 0;
};

/// The system's clang as a child process; the result is loaded with dlopen.
std::unique_ptr<KernelCompiler> makeClangCompiler();
/// LLVM in process. Null if the engine was built without it.
std::unique_ptr<KernelCompiler> makeLlvmCompiler();

} // namespace uopscope
