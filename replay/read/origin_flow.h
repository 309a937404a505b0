// Which tensor operations of the script a node came from, through every rewrite of a scope: origins flow from
// nodes to what they were rewritten to, rebuilt as, or became part of. A node that several operations share
// has several.
//
//   OriginTable table(trace);
//   OriginFlow schedule(trace, table, scheduleScope, nullptr), kernel(trace, table, kernelScope, &schedule);
//   for (uint32_t k : kernel.of(node)) print(table.all()[k].operation, table.all()[k].script.line);
//
// Invariant: one pass over the steps of the scope; every node gets its set once, and sets are shared.
#pragma once
#include "replay/read/cursor.h"

#include <unordered_map>

namespace uopscope {

/// All origins of a trace, and sets of them, each stored once.
class OriginTable {
public:
  using Set = uint32_t;               ///< 0: empty
  static constexpr size_t kMost = 24; ///< of one node; what is shared by more is shared by all

  explicit OriginTable(Trace& trace);
  const std::vector<OriginInfo>& all() const { return all_; }
  const std::vector<uint32_t>& members(Set set) const { return sets_[set]; }
  /// Origins the recording has for the node itself.
  Set direct(NodeId node) const;
  Set unite(Set a, Set b);
  /// Members of both; `a` where there are none.
  Set within(Set a, Set b);

private:
  Set setOf(std::vector<uint32_t> members);
  std::vector<OriginInfo> all_;
  std::unordered_map<NodeId, Set> direct_;
  std::vector<std::vector<uint32_t>> sets_{{}};
  std::map<std::vector<uint32_t>, Set> index_;
  std::unordered_map<uint64_t, Set> united_;
};

class OriginFlow {
public:
  /// `before`: the schedule that made the scope's graph, if any; must outlive this. `users`: in how many of
  /// its kernels a node is. A node of several kernels is one node to the trace; in each it has the origins
  /// that the kernel's own nodes have too.
  OriginFlow(Trace& trace, OriginTable& table, ScopeId scope, const OriginFlow* before,
             const std::unordered_map<NodeId, uint32_t>* users = nullptr);
  /// Indexes into the table's origins; empty where none is known.
  const std::vector<uint32_t>& of(NodeId node) const { return table_.members(setOf(node)); }
  /// Whether the node is part of any graph of the scope.
  bool has(NodeId node) const { return seen_.contains(node); }
  /// What a node was before its sources were rewritten; kNoNode where it was not rebuilt.
  NodeId predecessor(NodeId node) const {
    auto it = predecessor_.find(node);
    return it == predecessor_.end() ? kNoNode : it->second;
  }

private:
  OriginTable::Set setOf(NodeId node) const;
  /// What the schedule knows of a node.
  OriginTable::Set inherited(NodeId node) const;
  void run(const PassInfo& pass, OriginTable::Set inherited);
  /// Gives the nodes below `root` that were not met yet their own origins, or `set`.
  void meet(NodeId root, OriginTable::Set set);
  /// A node and what it is now that sources of it were rewritten, down to where they were: the same things.
  /// False where the two are not alike.
  bool meetRebuilt(NodeId from, NodeId rebuilt);
  /// meet() for what a step made, where a node is taken for the one of its operation that was there before.
  void meetResult(const StepInfo& step, OriginTable::Set set);

  Trace& trace_;
  OriginTable& table_;
  const OriginFlow* before_;
  const std::unordered_map<NodeId, uint32_t>* users_;
  NodeId lastEnd_ = kNoNode; ///< what the last pass that is not nested ended with
  OriginTable::Set own_ = 0; ///< of the nodes that are this kernel's alone
  std::vector<PassInfo> passes_;
  std::unordered_map<PassId, std::vector<size_t>> nested_;
  std::unordered_map<NodeId, OriginTable::Set> seen_;
  std::unordered_map<NodeId, NodeId> predecessor_;
};

} // namespace uopscope
