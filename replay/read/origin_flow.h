// Finds the tensor operations of the script that a node came from, through every rewrite of a scope. Origins
// flow from a node to its rewritten form, to its rebuilt form, and to the nodes it became part of. A node
// that several operations share has several origins.
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
  static constexpr size_t kMost = 24; ///< most members of a set; unite() adds no more

  explicit OriginTable(Trace& trace);
  const std::vector<OriginInfo>& all() const { return all_; }
  /// The calls of the script around an origin: "model/blocks.3/narrow"; empty where they were not recorded.
  const std::string& calls(uint32_t origin) const { return calls_[origin]; }
  const std::vector<uint32_t>& members(Set set) const { return sets_[set]; }
  /// The origins that the recording stores for the node itself.
  Set direct(NodeId node) const;
  Set unite(Set a, Set b);
  /// The members of both sets; `a` where they have none in common.
  Set within(Set a, Set b);

private:
  Set setOf(std::vector<uint32_t> members);
  std::vector<OriginInfo> all_;
  std::vector<std::string> calls_; ///< by origin
  std::unordered_map<NodeId, Set> direct_;
  std::vector<std::vector<uint32_t>> sets_{{}};
  std::map<std::vector<uint32_t>, Set> index_;
  std::unordered_map<uint64_t, Set> united_;
};

class OriginFlow {
public:
  /// `before`: the schedule that made the scope's graph, if any; it must outlive this object. `users`: for
  /// each node, the number of the schedule's kernels that contain it. The trace has one id for a node of
  /// several kernels; within a kernel such a node keeps only the origins that the kernel's own nodes have
  /// too.
  OriginFlow(Trace& trace, OriginTable& table, ScopeId scope, const OriginFlow* before,
             const std::unordered_map<NodeId, uint32_t>* users = nullptr);
  /// Indexes into the table's origins; empty where no origin is known.
  const std::vector<uint32_t>& of(NodeId node) const { return table_.members(setOf(node)); }
  /// Whether any graph of the scope contains the node.
  bool has(NodeId node) const { return seen_.contains(node); }
  /// The node before its sources were rewritten; kNoNode where it was not rebuilt.
  NodeId predecessor(NodeId node) const {
    auto it = predecessor_.find(node);
    return it == predecessor_.end() ? kNoNode : it->second;
  }

private:
  OriginTable::Set setOf(NodeId node) const;
  /// The origins that the schedule knows for a node.
  OriginTable::Set inherited(NodeId node) const;
  void run(const PassInfo& pass, OriginTable::Set inherited);
  /// Visits the nodes below `root` that were not met yet; each gets its own origins, or `set`.
  void meet(NodeId root, OriginTable::Set set);
  /// Treats a node and its form with rewritten sources as one node, and goes on to the sources as far as both
  /// forms correspond. Returns false where the two are not alike.
  bool meetRebuilt(NodeId from, NodeId rebuilt);
  /// meet() for the result of a step; a new node may take the origins of the earlier node with its operation.
  void meetResult(const StepInfo& step, OriginTable::Set set);

  Trace& trace_;
  OriginTable& table_;
  const OriginFlow* before_;
  const std::unordered_map<NodeId, uint32_t>* users_;
  NodeId lastEnd_ = kNoNode; ///< end root of the last pass that is not nested
  OriginTable::Set own_ = 0; ///< origins of the nodes that only this kernel contains
  std::vector<PassInfo> passes_;
  std::unordered_map<PassId, std::vector<size_t>> nested_;
  std::unordered_map<NodeId, OriginTable::Set> seen_;
  std::unordered_map<NodeId, NodeId> predecessor_;
};

} // namespace uopscope
