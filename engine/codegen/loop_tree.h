// The loops of a kernel as a tree, and an order of all its nodes.
//
// A node belongs to the innermost range in its scope; a loop is closed by the one END of its range. The nodes
// and inner loops of a block (the body of a loop, or the whole kernel) are ordered depth first from the
// effects that end the block. A value is thus computed right before its first use, few values are alive at
// once, and every such order is correctly nested. A load of memory that its block also stores to comes before
// the store, unless AFTER orders them.
//
//   LoopTree tree(sink);        // Error(Spec) for a range that nothing closes, or two loops that cross
//   for (UOp u : tree.order()) ...
#pragma once
#include "engine/base/id_map.h"
#include "engine/uop/uop.h"

#include <string>
#include <vector>

namespace uopscope {

class LoopTree {
public:
  enum class Wanted { Order, Successions };
  /// Every RANGE must be closed by one END. With Wanted::Successions nodes are ordered only if some block has
  /// two loops.
  explicit LoopTree(UOp sink, Wanted wanted = Wanted::Order);

  /// All nodes with nested loops: RANGE, body, END.
  const std::vector<UOp>& order() const { return order_; }
  /// Pairs of loops that follow one another in a block: the RANGE of the later one, the END of the earlier
  /// one.
  const std::vector<std::pair<UOp, UOp>>& successions() const { return successions_; }

private:
  struct Loop {
    UOp range, end;
    int parent = -1, depth = -1;
    std::vector<UOp> members; ///< the block's own nodes, in topological order
    std::vector<int> children;
  };
  void findLoops(const std::vector<UOp>& nodes);
  int depthOf(size_t loop);
  int innermost(const std::vector<UOp>& open) const;
  void connect(const std::vector<UOp>& nodes);
  void orderMemory(const std::vector<UOp>& nodes);
  void addDependency(UOp user, UOp source, bool soft);
  void emit(size_t loop);

  struct Edge {
    uint32_t to, next; ///< the next edge of the same unit, 0 for none
  };
  struct Unit {                         ///< a node or a whole loop, as its block sees it
    uint32_t needs = 0, comesAfter = 0; ///< first edges
    uint32_t lastNeeds = 0, lastAfter = 0;
    uint8_t state = 0; ///< 1: being ordered, 2: done
  };
  size_t unitIn(size_t loop, UOp u) { return unitIn(loop, *scope_.find(u.slot()), u); }
  size_t unitIn(size_t loop, size_t scope, UOp u);

  UOp sink_;
  std::string kernel_;
  std::vector<Loop> loops_; ///< loop 0 is the kernel itself
  UOpMap<size_t> loopOfRange_;
  IdMap<uint32_t> scope_, unitOfNode_;
  std::vector<Unit> units_;         ///< one per loop first, then one per node
  std::vector<Edge> edges_{Edge{}}; ///< linked lists by unit, in order of addition
  std::vector<UOp> nodeOfUnit_;
  std::vector<UOp> order_;
  std::vector<std::pair<UOp, UOp>> successions_;
};

/// The name of a kernel graph in messages.
std::string kernelName(UOp sink);
/// Throws Error(Spec) naming the kernel and every range that is open at its SINK.
void checkRangesClosed(UOp sink);
/// Whether the graph has effects. Values alone have no order, and their ranges need no END.
bool isProgram(UOp sink);

} // namespace uopscope
