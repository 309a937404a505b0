// Tells where a node came from and how it was rewritten, within one scope (kernel or schedule). It goes over
// the passes in order, finds the first step whose result contains the node, and follows the chain of rewrites
// back to the graph that the scope began with.
//
//   Provenance p(trace, scope);
//   for (const ProvenanceLink& l : p.chain(node)) print(l);      // newest first; ends at the root graph
//                                                               // or an origin
#pragma once
#include "replay/read/origin_flow.h"
#include "replay/read/trace.h"

#include <unordered_map>

namespace uopscope {

enum class Maker : uint8_t {
  Root,    ///< was in the graph a pass began with
  Rule,    ///< is new in the result of a step
  Rebuilt, ///< its sources were rewritten
  Unknown
};
struct ProvenanceLink {
  NodeId node = kNoNode;
  Maker maker = Maker::Unknown; ///< `from` of Rebuilt: the node before its sources changed, where known
  PassId pass = 0;
  int64_t k = 0; ///< Maker::Rule: step of the pass
  StepId step = 0;
  RuleId rule = 0;
  NodeId from = kNoNode; ///< the node that the step rewrote, or the node before its sources changed
};

class Provenance {
public:
  Provenance(Trace& trace, ScopeId scope);
  ~Provenance();
  /// Provenance of another scope; both share the data about schedules.
  std::unique_ptr<Provenance> of(ScopeId scope) const;
  /// The event that made the node.
  ProvenanceLink maker(NodeId node);
  /// The maker of the node, then the maker of the node it was made from, and so on.
  std::vector<ProvenanceLink> chain(NodeId node);
  /// The rewrites of the node, step by step, in this scope.
  std::vector<ProvenanceLink> fate(NodeId node);
  /// Script lines and tensor operations of the node: its own, or those of all nodes it was rewritten from.
  /// Where none is known, the line that asked for the scope.
  std::vector<OriginInfo> origins(NodeId node);
  /// The operation of the script that a node came from, and the calls around it; of several, the first with calls. No
  /// operation where none is known.
  struct Call {
    std::string operation, calls;
    FileLine script;
  };
  Call call(NodeId node);
  /// Instructions of the scope's linear program that came from a line of the script; line 0: from any line of
  /// the file. Constants and parameters are left out, since one node serves every use.
  std::vector<uint32_t> instructionsOf(const FileLine& script);

private:
  struct Shared; ///< origins, and the schedules that made the scopes' graphs
  Provenance(Trace& trace, ScopeId scope, std::shared_ptr<Shared> shared);
  const OriginFlow& flow();
  /// Of a schedule: for each node, the number of its kernels that contain the node.
  const std::unordered_map<NodeId, uint32_t>& kernelsOfNodes();
  void note(NodeId root, const ProvenanceLink& link);
  ProvenanceLink makerHere(NodeId node);
  Provenance* scheduleOf(NodeId node);

  Trace& trace_;
  ScopeId scope_;
  std::shared_ptr<Shared> shared_;
  std::unique_ptr<OriginFlow> flow_;           ///< made at first use
  std::unordered_map<NodeId, uint32_t> users_; ///< kernelsOfNodes(), made at first use
  std::unordered_map<NodeId, ProvenanceLink> makers_;
  std::unordered_map<NodeId, std::vector<ProvenanceLink>> rewritten_;
};

} // namespace uopscope
