// Compares the stories of two traces: the same scopes, passes and steps, in the same order, on the same
// nodes, with the same texts in the end. Times, numbers of nodes and machines do not count.
//
//   TraceComparison c = compareTraces(a, b);
//   if (!c.same) print(c.parting.what, c.parting.first, c.parting.second);
//
// Nodes are compared by content, so an early difference does not make all later nodes differ by number.
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

/// The place where the stories first part.
struct TraceParting {
  enum class Kind : uint8_t { None, Scope, Pass, Step, Text, Launch } kind = Kind::None;
  ScopeId scope = 0, otherScope = 0; ///< of the first and the second trace; 0: that trace has no scope there
  PassId pass = 0, otherPass = 0;
  StepId step = 0, otherStep = 0;
  std::string what;          ///< "step 12 of pass \"sym\" in r_16_16"
  std::string first, second; ///< the content of each trace there; empty: nothing
};

struct TraceComparison {
  bool same = true;
  TraceParting parting;
  int64_t scopes = 0, otherScopes = 0, passes = 0, otherPasses = 0, steps = 0, otherSteps = 0;
  int64_t commonSteps = 0; ///< steps before the first that differs
  /// Kernels whose source differs, by their place in the order of kernels.
  struct Changed {
    ScopeId scope = 0, otherScope = 0;
    std::string name, otherName;
  };
  std::vector<Changed> kernels;
  /// Keys of meta (not times) that differ: possible explanations of all differences.
  struct Circumstance {
    std::string key, first, second;
  };
  std::vector<Circumstance> circumstances;
};

TraceComparison compareTraces(Trace& a, Trace& b);

} // namespace uopscope
