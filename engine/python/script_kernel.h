// A kernel as a script sees it: its nodes come into the tensor pool when they are asked for, it is compiled
// when it is first run.
#pragma once
#include "engine/python/bindings.h"
#include "engine/runtime/buffer.h"
#include "engine/runtime/kernel_cache.h"
#include "engine/runtime/run_capture.h"

namespace uopscope {

struct ScriptKernel {
  std::shared_ptr<CompiledKernel> kernel;
  std::string device;

  const LoweredKernel& lowered() const { return kernel->lowered; }
  py::list uops() const;
  /// The source that people read: C for kernels that are compiled as LLVM IR.
  std::string text() const;
  static UOp imported(UOp u);
  static py::list importedAll(std::span<const UOp> nodes);
  static py::tuple sizes(const std::vector<Sint>& all);
  /// Compiled where it was not yet; null on a device that runs nothing.
  Program* program();
  /// `buffers` in order of the kernel's globals; seconds where it waits.
  double run(const std::vector<std::shared_ptr<Buffer>>& buffers, const py::dict& values, bool wait);
};

/// What is lowered for: the target of a device, or, without a name, one that has no operation of its own: an
/// expression keeps the form the rules give it.
const Target& scriptTarget(const std::string& device);
ScriptKernel lowerForScript(UOp ast, const std::string& device);

} // namespace uopscope
