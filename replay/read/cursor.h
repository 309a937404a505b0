// The exact graph of a pass after any number of its steps: what the engine held between two rewrites. Going
// to a neighbouring step costs what lies above the changed node; jumping anywhere costs the graph once.
//
//   Cursor cursor(trace, pass);
//   NodeId root = cursor.rootAt(12);                 // 0: as the pass began; cursor.steps(): as it ended
//   for (NodeId n : cursor.graphAt(12)) draw(cursor.fields(n));
//   GraphDiff d = cursor.diff(11, 12);               // what step 12 did
//
// Nodes keep their ids from step to step, so equal ids are the same node. A node that exists only between two
// steps (its sources were rewritten, it was not visited yet) gets an id of this cursor's own, from
// kFirstViewNode on.
#pragma once
#include "replay/read/trace.h"

#include <unordered_map>

namespace uopscope {

/// What happened to the nodes of a graph between two steps. Nothing depends on how one got there.
struct GraphDiff {
  NodeId beforeRoot = kNoNode, afterRoot = kNoNode;
  std::vector<NodeId> before, after; ///< both graphs, sources first
  std::vector<NodeId> added;         ///< in after only, and no image of a node of before
  std::vector<NodeId> removed;       ///< in before only, without an image in after
  struct Change {
    NodeId before, after;
    bool rewritten; ///< by a rule; false: rebuilt because a source changed
  };
  std::vector<Change> changed; ///< in before only -> its image in after
  size_t kept = 0;             ///< in both
};

class Cursor {
public:
  Cursor(Trace& trace, PassId pass);

  PassId pass() const { return info_.id; }
  const PassInfo& info() const { return info_; }
  /// Number of steps known; refresh() after Trace::refresh() picks up new ones.
  int64_t steps() const { return static_cast<int64_t>(steps_.size()); }
  const StepInfo& step(int64_t k) const; ///< from 1
  void refresh();

  NodeId rootAt(int64_t k);
  /// Nodes reachable from rootAt(k), sources first, root last.
  const std::vector<NodeId>& graphAt(int64_t k);
  GraphDiff diff(int64_t from, int64_t to);
  /// What `node`, which was there at any earlier step, is after k steps.
  NodeId imageAt(NodeId node, int64_t k);

  NodeFields fields(NodeId id);
  const RawNode& raw(NodeId id);
  /// The node in a pool, so that the engine can be asked about it (shape, bounds, ranges, printing).
  /// Error(File) for a node no engine would have made.
  UOp materialize(NodeId id, Pool& pool);

private:
  struct Rewrite {
    NodeId after;
    int64_t k;
  };
  /// State of a node, good for steps in [low, high).
  struct Memo {
    NodeId state = kNoNode;
    int64_t low = 0, high = 0;
  };
  struct Frame;
  NodeId state(NodeId node, int64_t k);
  NodeId rebuild(NodeId node, std::span<const NodeId> sources);
  void index(NodeId root);
  uint64_t hashOf(const RawNode& raw, std::span<const NodeId> sources);
  bool sameAs(NodeId id, const RawNode& raw, std::span<const NodeId> sources);
  void insert(NodeId id, uint64_t hash);
  void addSteps(std::vector<StepInfo> more);

  Trace& trace_;
  PassInfo info_;
  std::vector<StepInfo> steps_;
  std::unordered_map<NodeId, Rewrite> up_, down_;
  std::unordered_map<NodeId, int64_t> gates_;
  std::unordered_map<NodeId, Memo> memo_;
  std::vector<NodeId> slots_; ///< open addressing by content: nodes this pass is about
  size_t used_ = 0;
  std::vector<bool> indexed_;
  struct ViewNode {
    RawNode raw;
    std::unique_ptr<NodeId[]> sources;
  };
  std::vector<ViewNode> view_;
  std::vector<NodeId> graph_;
  int64_t graphK_ = -1;
  std::vector<uint32_t> seen_, seenView_; ///< stamps for traversals
  uint32_t stamp_ = 0;
};

} // namespace uopscope
