// The loops of a kernel as a tree, and an order of everything in it.
//
// A node belongs to the innermost range it sees open; a loop closes at the one END of its range. Within a
// block (the body of a loop, or the whole kernel) nodes and inner loops are ordered depth first from the
// effects that end the block, so a value stands right before its first use and few values live at once; every order made
// this way is a valid nesting. A load of memory that the block also stores to comes before the store, unless
// AFTER says otherwise.
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
  /// Every END of the graph closes one RANGE. Where only successions are wanted and no block has two loops,
  /// nothing is put in order.
  explicit LoopTree(UOp sink, Wanted wanted = Wanted::Order);

  /// All nodes, loops nested: RANGE, body, END.
  const std::vector<UOp>& order() const { return order_; }
  /// Pairs of loops that follow one another in a block: range of the later one, END of the earlier one.
  const std::vector<std::pair<UOp, UOp>>& successions() const { return successions_; }

private:
  struct Loop {
    UOp range, end;
    int parent = -1, depth = -1;
    std::vector<UOp> members; ///< nodes directly in the block, in topological order
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
    uint32_t to, next; ///< next edge of the same unit, 0 for none
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
  std::vector<Loop> loops_; ///< 0: the kernel itself
  UOpMap<size_t> loopOfRange_;
  IdMap<uint32_t> scope_, unitOfNode_;
  std::vector<Unit> units_;         ///< first one per loop, then one per node
  std::vector<Edge> edges_{Edge{}}; ///< in lists by unit, in order of addition
  std::vector<UOp> nodeOfUnit_;
  std::vector<UOp> order_;
  std::vector<std::pair<UOp, UOp>> successions_;
};

/// Name of a kernel graph for messages.
std::string kernelName(UOp sink);
/// Error(Spec) naming the kernel and every range that is open at its SINK.
void checkRangesClosed(UOp sink);
/// Whether it does anything: values alone have no order, and need not close their ranges.
bool isProgram(UOp sink);

} // namespace uopscope
