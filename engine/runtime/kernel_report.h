// Reports on a kernel: listings and JSON for the trace, and the line of DEBUG=2.
//
//   optsJson(kernel)      // ["Opt(op=OptOps.UPCAST, axis=0, arg=4)"]
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"

#include <span>
#include <string>

namespace uopscope {

/// A JSON list: ["Opt(op=OptOps.UPCAST, axis=0, arg=4)", ...]
std::string optsJson(const LoweredKernel& kernel);
/// {"name", "device", "global", "local", "vars", "globals", "outs", "ins", "estimates"}; a size is a number
/// or an expression.
std::string launchJson(const LoweredKernel& kernel, const Device& device);

/// What is known about the registers of a kernel: {"file": {"vectors", "vector_bytes", "general", "general_bytes"}, "peak":
/// {"vectors", "at", "general", "general_at"}, "predicted_bytes", "used": null or {"registers", "spills", "spilled_bytes",
/// "reloads", "reloaded_bytes", "stack_bytes"}}. Instructions count from 0. `program` may be null.
std::string registersJson(const LoweredKernel& kernel, const Device& device, const Program* program);

/// The part of making a kernel that does not use the machine. It lowers and renders the kernel, gives each
/// text to the observer as it is made, and appends the lines that DEBUG asks for to `report`. The program is
/// null. The caller opens the scope. `lines` receives the instructions that each line of the source comes
/// from.
CompiledKernel lowerAndRender(UOp ast, const Device& device, std::string& report,
                              std::vector<TextLine>* lines = nullptr);

/// The positions of the parameters that a kernel reads and writes; empty if it is not in the cache.
std::pair<std::vector<int>, std::vector<int>> kernelAccess(const Pool* program);

/// The value of a symbolic size for these variables. Throws Error(Value) for a variable without a value.
int64_t evaluate(const Sint& size, std::span<const std::pair<std::string, int64_t>> values);

/// "line 7: int x = y;\n": a line of the source, counted from 1, for a compiler's error; empty if there is no
/// such line.
std::string sourceLine(std::string_view source, size_t line);

/// The contents of the line about a launch.
struct LaunchReport {
  std::string_view device, name;
  bool firstRun = false, isCopy = false;
  size_t buffers = 0;
  double seconds = -1; ///< negative: not measured
  int64_t ops = 0, mem = 0, lds = 0;
  const std::vector<std::string>* metadata = nullptr;
};
/// The line in the reference's format, with colours if asked for.
std::string launchLine(const LaunchReport& report, bool colours);

} // namespace uopscope
