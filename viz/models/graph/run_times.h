// What running cost, told of the nodes it was spent on: a node of a schedule by the kernels it became part
// of, a node of a kernel by that kernel. Launches of the trace are measured, nothing is estimated.
//
//   RunTimes t(trace, scope);  t.of(node)      // ns of one run; -1: it was not run, or is in no kernel
#pragma once
#include "replay/read/provenance.h"

#include <functional>

namespace uopscope {

class RunTimes {
public:
  /// `stop` is asked between kernels; what is known by then is answered.
  RunTimes(Trace& trace, ScopeId scope, Provenance& provenance, const std::function<bool()>& stop = {});
  int64_t of(NodeId node) const;

private:
  std::unordered_map<NodeId, int64_t> ns_; ///< of a schedule: sums over kernels that have the node
  int64_t whole_ = -1;                     ///< of a kernel
};

} // namespace uopscope
