// The exact graph of a pass after any number of its steps, as the engine held it between two rewrites. A move
// to a neighbouring step costs the users of the changed node; a jump to any other step costs one walk of the
// graph.
//
//   Cursor cursor(trace, pass);
//   NodeId root = cursor.rootAt(12);                 // 0: as the pass began; cursor.steps(): as it ended
//   for (NodeId n : cursor.graphAt(12)) draw(cursor.fields(n));
//   GraphDiff d = cursor.diff(11, 12);               // the changes of step 12
//
// Nodes keep their ids from step to step, so equal ids are the same node. Between two steps a node may exist
// whose sources were rewritten but which was not visited yet. The cursor gives such a node an id of its own,
// from kFirstViewNode on.
#pragma once
#include "replay/read/node_map.h"
#include "replay/read/trace.h"

#include <unordered_set>

namespace uopscope {

/// The changes of a graph between two steps. They do not depend on the order in which a caller visits steps.
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
  const StepInfo& step(int64_t k) const; ///< k counts from 1
  void refresh();

  NodeId rootAt(int64_t k);
  /// Nodes reachable from rootAt(k), sources first, root last.
  const std::vector<NodeId>& graphAt(int64_t k);
  GraphDiff diff(int64_t from, int64_t to);
  /// The nodes of step k as the graphs contain them: `before` is in graphAt(k - 1), `after` in graphAt(k).
  /// They differ from the nodes of step(k) only where sources had been rewritten already.
  struct Shown {
    NodeId before, after;
  };
  Shown shown(int64_t k);
  /// The image, by the last step, of every node the pass met: nodes of the graph it began with, and nodes
  /// that it made and rewrote on the way.
  std::vector<std::pair<NodeId, NodeId>> images();
  /// The image of `node` after k steps; the node may come from any earlier step.
  NodeId imageAt(NodeId node, int64_t k);

  NodeFields fields(NodeId id);
  const RawNode& raw(NodeId id);
  /// A reader of this cursor's nodes, for print.h and materialize.h.
  NodeReader reader() {
    return [this](NodeId id) { return fields(id); };
  }

private:
  /// The state of a node, valid after any number of steps in [low, high).
  struct Memo {
    NodeId state = kNoNode;
    int64_t low = 0, high = 0;
    bool busy = false;
  };
  struct Frame;
  /// A hash table of nodes by content, in open addressing. It keeps the hashes: reading millions of nodes
  /// again to grow the table would stall a jump for a second.
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

  void addSteps(const std::vector<StepInfo>& more);
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
