// Reports on a kernel: listings and JSON for the trace, the line of DEBUG=2.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"

#include <span>
#include <string>

namespace uopscope {

/// A JSON list: ["Opt(op=OptOps.UPCAST, axis=0, arg=4)", ...]
std::string optsJson(const LoweredKernel& kernel);
/// {"name", "device", "global", "local", "vars", "globals", "outs", "ins", "estimates"}; sizes as numbers or
/// expressions.
std::string launchJson(const LoweredKernel& kernel, const Device& device);

/// The part of making a kernel that needs no machine: lowers and renders it, tells the observer each text as
/// it is made, and adds the lines that DEBUG asks for to `report`. The program is null. Opens no scope: who asks does.
/// `lines` receives which instructions the lines of the source are made of.
CompiledKernel lowerAndRender(UOp ast, const Device& device, std::string& report,
                              std::vector<TextLine>* lines = nullptr);

/// The parameters, by position, that the kernel of this pool reads and writes; none where it is not kept.
std::pair<std::vector<int>, std::vector<int>> kernelAccess(const Pool* program);

/// A symbolic size where the variables have these values. Throws Error(Value) for a variable without one.
int64_t evaluate(const Sint& size, std::span<const std::pair<std::string, int64_t>> values);

/// "line 7: int x = y;\n": a line of a kernel's source, counted from 1, for an error of a compiler; empty where there is no
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
/// As the reference prints it; colours only where asked for.
std::string launchLine(const LaunchReport& report, bool colours);

} // namespace uopscope
