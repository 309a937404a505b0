// What is known of nodes beyond their own fields: shape, the script line and tensor operation they come from,
// the pass that made them, what that cost, how often it runs and how long that took. Looked up aside, for
// colouring, searching and tooltips.
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
  std::string axis;      ///< kind of the innermost loop it is in: "REDUCE"
  std::string pass;      ///< that made it; empty: in the first graph
  int line = 0;          ///< of the script
  int64_t ns = -1;       ///< of the rewrite that made it; -1: none did
  int64_t runNs = -1;    ///< measured, of one run of the kernels it is in; -1: not run
  int64_t times = -1;    ///< how often a run of its kernel reaches it, by its loops; -1: not known
};
using FactMap = std::unordered_map<int64_t, NodeFact>;

/// `stop` is asked between nodes; what is known by then comes back.
std::shared_ptr<FactMap> lookUpFacts(Trace& trace, ScopeId scope, const std::vector<int64_t>& nodes,
                                     const std::function<bool()>& stop = {});

} // namespace uopscope
