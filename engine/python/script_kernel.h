// A kernel as a script sees it. Its nodes are imported into the tensor pool at first use, and it is compiled
// when it first runs.
//
//   ScriptKernel k = lowerForScript(ast, "CPU");
//   double seconds = k.run(buffers, py::dict(), true);
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
  /// The source for readers: C, also for kernels compiled as LLVM IR.
  std::string text() const;
  static UOp imported(UOp u);
  static py::list importedAll(std::span<const UOp> nodes);
  static py::tuple sizes(const std::vector<Sint>& all);
  /// The program, compiled at first use; null for a device that runs nothing.
  Program* program();
  /// Launches with `buffers` in order of the kernel's globals; returns seconds if it waits.
  double run(const std::vector<std::shared_ptr<Buffer>>& buffers, const py::dict& values, bool wait);
};

/// The target of a device. Without a device name, a target without operations of its own, so that expressions
/// keep the form that rules give them.
const Target& scriptTarget(const std::string& device);
ScriptKernel lowerForScript(UOp ast, const std::string& device);

} // namespace uopscope
