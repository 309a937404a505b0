// The registers in use along a text of a kernel, line by line, and who holds them: the curve beside the source.
//
//   auto curve = LineRegisters::of(trace, kernel, "uops");     // null: the trace does not tell
//   curve->alive(12) == 36, curve->limit() == 32, curve->who(12)
//
// A line of source or assembly has the count behind that of its instructions where most are alive. Thread-safe: it is made
// on a job's thread and never changes.
#pragma once
#include "replay/read/kernel_registers.h"

#include <QString>
#include <memory>
#include <vector>

namespace uopscope {

class LineRegisters {
public:
  /// `kind`: "uops", "source", "ir" or "asm".
  static std::shared_ptr<const LineRegisters> of(Trace& trace, ScopeId kernel, const std::string& kind);

  /// Registers in use behind a line (from 1); -1 for a line of no instruction.
  int alive(int line) const;
  int limit() const { return static_cast<int>(facts_.available()); }
  int most() const { return most_; }
  int peakLine() const { return peakLine_; } ///< 0: no line
  /// The count, and the values alive there, longest lived first, for people.
  QString who(int line) const;
  /// One sentence on the whole kernel: the peak, and what the compiler spilled.
  QString summary() const;

private:
  KernelRegisters facts_;
  LiveRanges live_;
  std::vector<QString> names_;       ///< of the instructions: "MULACC float.vec(16)"
  std::vector<int64_t> instruction_; ///< of each line; -1: none
  int most_ = 0, peakLine_ = 0;
};

} // namespace uopscope
