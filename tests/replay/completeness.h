// Every change of a graph is in the trace: in every scope a pass begins with the end graph of the pass before it; the steps
// of each pass alone turn its first graph into its last; and the last graph of a kernel holds the rendered linear program,
// node for node. Tests of the samples and of random programs ask this of their recordings.
//
//   CHECK(checkEveryChangeIsAStep("run.uoptrace") > 100);
#pragma once
#include "replay/read/cursor.h"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <vector>

namespace uopscope::test {

inline std::vector<PassInfo> outermost(Trace& trace, ScopeId scope) {
  std::vector<PassInfo> list;
  for (const PassInfo& pass : trace.passes(scope))
    if (!pass.parent) list.push_back(pass);
  return list;
}

inline void checkSteps(Trace& trace, const PassInfo& pass) {
  CAPTURE(pass.name);
  Cursor cursor(trace, pass.id);
  CHECK(cursor.rootAt(0) == pass.root);
  CHECK(cursor.rootAt(cursor.steps()) == pass.endRoot);
}

inline void checkProgram(Trace& trace, const ScopeInfo& scope, const PassInfo& last) {
  std::vector<NodeId> program = trace.program(scope.id);
  if (program.empty()) return;
  Cursor cursor(trace, last.id);
  const std::vector<NodeId>& graph = cursor.graphAt(cursor.steps());
  std::set<NodeId> left(program.begin(), program.end());
  for (NodeId node : graph) left.erase(node);
  CHECK_MESSAGE(left.empty(), left.size(), " instructions are no nodes of the last graph");
}

/// Checks the whole trace; returns the number of transitions between passes of one scope.
inline size_t checkEveryChangeIsAStep(const std::string& path) {
  Trace trace(path);
  size_t transitions = 0;
  for (const ScopeInfo& scope : trace.scopes()) {
    CAPTURE(scope.name);
    std::vector<PassInfo> passes = outermost(trace, scope.id);
    if (scope.kind == ScopeKind::Script) continue; // a script's own passes have separate graphs
    for (size_t k = 0; k < passes.size(); ++k) {
      checkSteps(trace, passes[k]);
      if (k == 0) continue;
      CAPTURE(passes[k].name);
      CHECK(passes[k].root == passes[k - 1].endRoot);
      ++transitions;
    }
    if (!passes.empty()) checkProgram(trace, scope, passes.back());
  }
  return transitions;
}

} // namespace uopscope::test
