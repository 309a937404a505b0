// Where a node came from and what became of it, within one scope (kernel or schedule): over its passes in
// order, the step whose result contained the node first, and the chain of rewrites back to the graph it began
// with.
//
//   Provenance p(trace, scope);
//   for (const ProvenanceLink& l : p.chain(node)) print(l);      // newest first; ends at the root graph or
//   an origin
#pragma once
#include "replay/read/origin_flow.h"
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
  Maker maker =
      Maker::Unknown; ///< Rebuilt: `from` is what the node was before its sources changed, where known
  PassId pass = 0;
  int64_t k = 0; ///< Maker::Rule: step of the pass
  StepId step = 0;
  RuleId rule = 0;
  NodeId from = kNoNode; ///< what the step rewrote, or the node before its sources changed
};

class Provenance {
public:
  Provenance(Trace& trace, ScopeId scope);
  ~Provenance();
  /// The same for another scope; what is known of schedules is shared.
  std::unique_ptr<Provenance> of(ScopeId scope) const;
  /// How the node came to be.
  ProvenanceLink maker(NodeId node);
  /// The maker, then how what it was made from came to be, and so on.
  std::vector<ProvenanceLink> chain(NodeId node);
  /// What the node was rewritten to, step by step, in this scope.
  std::vector<ProvenanceLink> fate(NodeId node);
  /// Lines of the script and tensor operations the node came from: its own, or those of all it was made from
  /// by rewriting; where none is known, the line that asked for the scope.
  std::vector<OriginInfo> origins(NodeId node);
  /// Instructions of the scope's linear program that came from a line of the script; line 0: from any of the
  /// file. Not constants and parameters: they are the same nodes wherever they occur.
  std::vector<uint32_t> instructionsOf(const FileLine& script);

private:
  struct Shared; ///< origins, and the schedules that made the scopes' graphs
  Provenance(Trace& trace, ScopeId scope, std::shared_ptr<Shared> shared);
  const OriginFlow& flow();
  /// Of a schedule: in how many of its kernels each node is.
  const std::unordered_map<NodeId, uint32_t>& kernelsOfNodes();
  void note(NodeId root, const ProvenanceLink& link);
  ProvenanceLink makerHere(NodeId node);
  Provenance* scheduleOf(NodeId node);

  Trace& trace_;
  ScopeId scope_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<OriginFlow> flow_;           ///< made when first asked for
  std::unordered_map<NodeId, uint32_t> users_; ///< kernelsOfNodes(), made when first asked for
  std::unordered_map<NodeId, ProvenanceLink> makers_;
  std::unordered_map<NodeId, std::vector<ProvenanceLink>> rewritten_;
};

} // namespace uopscope
