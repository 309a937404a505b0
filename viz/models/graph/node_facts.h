// Facts about nodes beyond their own fields: shape, script line and tensor operation of origin, the pass that
// made them, the cost of that rewrite, the number of runs and their time. A background thread looks them up,
// for colouring, searching and tooltips.
//
//   FactMap facts = lookUpFacts(trace, scope, ids);      // facts->at(12).line == 9
#pragma once
#include "replay/read/trace.h"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

namespace uopscope {

struct NodeFact {
  std::string shape;     ///< "3x4"; empty: none
  std::string operation; ///< tensor operation: "matmul"
  std::string axis;      ///< kind of the innermost loop around it: "REDUCE"
  std::string pass;      ///< pass that made it; empty: the first graph has it
  int line = 0;          ///< line of the script
  int64_t ns = -1;       ///< time of the rewrite that made it; -1: none did
  int64_t runNs = -1;    ///< measured time of one run of its kernels; -1: not run
  int64_t times = -1;    ///< executions in one run of its kernel, by its loops; -1: unknown
};
using FactMap = std::unordered_map<int64_t, NodeFact>;

/// Calls `stop` between nodes; returns the facts known by then.
std::shared_ptr<FactMap> lookUpFacts(Trace& trace, ScopeId scope, const std::vector<int64_t>& nodes,
                                     const std::function<bool()>& stop = {});

} // namespace uopscope
