// What a trace may hold beyond passes and steps: parts of kernels, buffers, linear programs with the lines of
// their texts. Asked by SQL, since a trace of an older recorder has none of these tables; then the answer is
// empty.
//
//   for (const BufferLife& b : buffersOf(trace)) draw(b.begin, b.end, b.bytes);
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct PhasePart {
  ScopeId scope = 0;
  std::string name;
  int64_t begin = 0, ns = 0;
};
struct BufferLife {
  int64_t id = 0, bytes = 0, begin = 0;
  std::optional<int64_t> end;
  std::string device;
};
struct ProgramLine {
  std::string text; ///< "source", "ir" or "asm"
  int64_t line = 0; ///< from 1
  uint32_t instruction = 0;
};

std::vector<PhasePart> phasesOf(Trace& trace);
/// Memory of its own only, not views.
std::vector<BufferLife> buffersOf(Trace& trace);
std::vector<NodeId> programOf(Trace& trace, ScopeId kernel);
std::vector<ProgramLine> programLines(Trace& trace, ScopeId kernel);
/// Where the kernel of each launch was lowered, by launch; those not in this trace are left out.
std::map<int64_t, ScopeId> loweredAt(Trace& trace);

} // namespace uopscope
