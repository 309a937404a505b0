// Assigns running times to nodes. A node of a schedule gets the times of the kernels it became part of; a
// node of a kernel gets the time of that kernel. Times are measured launches of the trace, never estimates.
//
//   RunTimes t(trace, scope);  t.of(node)      // ns of one run; -1: it was not run, or is in no kernel
#pragma once
#include "replay/read/provenance.h"

#include <functional>

namespace uopscope {

class RunTimes {
public:
  /// Calls `stop` between kernels; the answers then cover the kernels done so far.
  RunTimes(Trace& trace, ScopeId scope, Provenance& provenance, const std::function<bool()>& stop = {});
  int64_t of(NodeId node) const;

private:
  std::unordered_map<NodeId, int64_t> ns_; ///< of a schedule: sums over kernels that have the node
  int64_t whole_ = -1;                     ///< of a kernel
};

} // namespace uopscope
