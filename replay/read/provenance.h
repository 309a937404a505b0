// Where a node came from and what became of it, within one scope (kernel or schedule): over its passes in
// order, the step whose result contained the node first, and the chain of rewrites back to the graph it began
// with.
//
//   Provenance p(trace, scope);
//   for (const ProvenanceLink& l : p.chain(node)) print(l);      // newest first; ends at the root graph or
//   an origin
#pragma once
#include "replay/read/trace.h"

#include <unordered_map>

namespace uopscope {

enum class Maker : uint8_t {
  Root,    ///< was in the graph a pass began with
  Rule,    ///< new in the result of a step
  Rebuilt, ///< sources were rewritten
  Unknown
};
struct ProvenanceLink {
  NodeId node = kNoNode;
  Maker maker = Maker::Unknown;
  PassId pass = 0;
  int64_t k = 0; ///< Maker::Rule: step of the pass
  StepId step = 0;
  RuleId rule = 0;
  NodeId from = kNoNode; ///< what the step rewrote, or the node before its sources changed
};

class Provenance {
public:
  Provenance(Trace& trace, ScopeId scope);
  /// How the node came to be.
  ProvenanceLink maker(NodeId node);
  /// The maker, then how what it was made from came to be, and so on.
  std::vector<ProvenanceLink> chain(NodeId node);
  /// What the node was rewritten to, step by step, in this scope.
  std::vector<ProvenanceLink> fate(NodeId node);
  /// Lines of the script for the node: its own origins, or those of the nearest node in the chain (and of
  /// that one's sources) that has some.
  std::vector<OriginInfo> origins(NodeId node);

private:
  void note(NodeId root, const ProvenanceLink& link);
  ProvenanceLink makerHere(NodeId node) const;
  Provenance* scheduleOf(NodeId node);

  Trace& trace_;
  ScopeId scope_;
  std::map<ScopeId, std::unique_ptr<Provenance>> schedules_; ///< earlier scopes that made this one's graph
  std::unordered_map<NodeId, ProvenanceLink> makers_;
  std::unordered_map<NodeId, std::vector<ProvenanceLink>> rewritten_;
};

} // namespace uopscope
