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
#include "replay/read/node_map.h"
#include "replay/read/trace.h"

#include <unordered_set>

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
  /// The nodes of step k as the graphs show them: what it rewrote is in graphAt(k - 1), what came of it in
  /// graphAt(k). They are those of step(k), but for sources that had been rewritten already.
  struct Shown {
    NodeId before, after;
  };
  Shown shown(int64_t k);
  /// What every node the pass came across has become by its last step: those of the graph it began with, and
  /// those that were made and rewritten on the way.
  std::vector<std::pair<NodeId, NodeId>> images();
  /// What `node`, which was there at any earlier step, is after k steps.
  NodeId imageAt(NodeId node, int64_t k);

  NodeFields fields(NodeId id);
  const RawNode& raw(NodeId id);
  /// For print.h and materialize.h.
  NodeReader reader() {
    return [this](NodeId id) { return fields(id); };
  }

private:
  /// State of a node, good after any number of steps in [low, high).
  struct Memo {
    NodeId state = kNoNode;
    int64_t low = 0, high = 0;
    bool busy = false;
  };
  struct Frame;
  /// Nodes by content, in open addressing. Hashes are kept: looking at millions of nodes again to grow the
  /// table would stop a jump for a second.
  struct Index {
    struct Slot {
      uint32_t hash = 0;
      NodeId node = kNoNode;
    };
    std::vector<Slot> slots = std::vector<Slot>(1024);
    size_t used = 0;
    void put(Slot slot) {
      const size_t mask = slots.size() - 1;
      size_t at = slot.hash & mask;
      while (slots[at].node) at = (at + 1) & mask;
      slots[at] = slot;
      ++used;
    }
  };
  struct ViewNode {
    RawNode raw;
    std::unique_ptr<NodeId[]> sources;
  };

  void addSteps(std::vector<StepInfo> more);
  void addGraph(NodeId root);
  void insert(NodeId id);
  NodeId find(const RawNode& like, std::span<const NodeId> sources);
  NodeId rebuild(NodeId node, std::span<const NodeId> sources);
  NodeId state(NodeId node, int64_t k);
  void enter(Frame& frame, int64_t k);
  int64_t clamp(int64_t k) const;
  NodeId chainStart(int64_t k) const;

  Trace& trace_;
  PassInfo info_;
  std::vector<StepInfo> steps_;
  std::vector<bool> continues_; ///< step k (index k-1) goes on with the result of step k-1, on the way down
  NodeMap<int64_t> up_, down_;  ///< node -> first step that rewrites it
  std::unordered_set<NodeId> gates_;
  NodeMap<Memo> memo_;
  Index index_;
  std::vector<bool> indexed_;
  std::vector<ViewNode> view_;
  std::vector<NodeId> graph_, sources_;
  int64_t graphK_ = -1;
};

} // namespace uopscope
