// Follows the nodes of each kernel's graph back through the schedule, and adds the kernel's mean time to all
// of them.
#include "viz/models/graph/run_times.h"

#include <unordered_set>

namespace uopscope {
namespace {

// Time of one run of each kernel in ns: the mean of its measured launches.
std::unordered_map<ScopeId, int64_t> meanTimes(Trace& trace) {
  std::unordered_map<ScopeId, std::pair<int64_t, int64_t>> sums;
  for (const LaunchInfo& l : trace.launches())
    if (l.compiled && l.ns > 0) sums[l.compiled].first += l.ns, ++sums[l.compiled].second;
  std::unordered_map<ScopeId, int64_t> out;
  for (const auto& [scope, sum] : sums) out[scope] = sum.first / sum.second;
  return out;
}

} // namespace

RunTimes::RunTimes(Trace& trace, ScopeId scope, Provenance& provenance, const std::function<bool()>& stop) {
  const auto times = meanTimes(trace);
  if (const auto own = times.find(scope); own != times.end()) whole_ = own->second;
  if (!scope || trace.scope(scope).kind != ScopeKind::Schedule) return;
  for (const ScopeInfo& s : std::vector<ScopeInfo>(trace.scopes())) {
    const auto time = times.find(s.id);
    if (time == times.end() || s.id < scope || s.root == kNoNode) continue;
    if (stop && stop()) return;
    const ProvenanceLink made = provenance.maker(s.root);
    if (made.maker == Maker::Unknown || !made.pass || trace.pass(made.pass).scope != scope) continue;
    std::unordered_set<NodeId> counted;
    for (const NodeId id : trace.nodes().toposort(s.root))
      for (const ProvenanceLink& l : provenance.chain(id))
        if (counted.insert(l.node).second) ns_[l.node] += time->second;
  }
}

int64_t RunTimes::of(NodeId node) const {
  const auto it = ns_.find(node);
  return it != ns_.end() ? it->second : whole_;
}

} // namespace uopscope
