// The registers of a recorded kernel: the text "registers" of its scope, and the live ranges of its linear program.
//
//   if (auto r = kernelRegisters(trace, kernel)) fmt::print("{} of {}", r->peak.vectors, r->file.vectors);
#pragma once
#include "engine/codegen/live_ranges.h"
#include "engine/runtime/register_use.h"
#include "replay/read/trace.h"

#include <optional>

namespace uopscope {

struct KernelRegisters {
  RegisterFile file;
  struct {
    int64_t vectors = 0, at = 0, general = 0, generalAt = 0; ///< instructions count from 0
  } peak;
  int64_t predictedBytes = 0; ///< that find no register, by the live ranges
  std::optional<RegisterUse>
      used; ///< by the compiler; none: it was not compiled, or the compiler does not say

  /// The registers that matter most: those of vectors, or of a thread where there are no others.
  int64_t most() const { return file.hasVectors() ? peak.vectors : peak.general; }
  int64_t available() const { return file.hasVectors() ? file.vectors : file.general; }
  int64_t mostAt() const { return file.hasVectors() ? peak.at : peak.generalAt; }
};

/// None where the trace does not tell, as traces of older versions do not.
std::optional<KernelRegisters> kernelRegisters(Trace& trace, ScopeId kernel);

/// The kernel's linear program, made again in the pool; empty where there is none. Throws Error(File) for a program that no
/// engine makes.
std::vector<UOp> programOf(Trace& trace, ScopeId kernel, Pool& pool);

/// How many registers are alive behind an instruction, of the kind that `most` counts.
inline int64_t aliveOf(const LiveRanges& live, size_t instruction) {
  const LiveRanges::Alive& a = live.alive[instruction];
  return live.file.hasVectors() ? a.vectors : a.general;
}

} // namespace uopscope
