// Fields of nodes that no trace has, under numbers of its own, so that whatever prints or draws nodes of a trace does so
// with these too.
//
//   UOpReader nodes;  expression(nodes.reader(), nodes.idOf(u), 5, 160)
//
// Numbers are from 1, in the order in which nodes are asked for. The nodes have to outlive the reader.
#pragma once
#include "replay/read/node_table.h"

#include <memory>
#include <vector>

namespace uopscope {

class UOpReader {
public:
  NodeId idOf(UOp u) {
    const auto [it, isNew] = ids_.try_emplace(u, static_cast<NodeId>(nodes_.size() + 1));
    if (isNew) nodes_.push_back(u), sources_.emplace_back();
    return it->second;
  }
  UOp nodeOf(NodeId id) const { return nodes_.at(id - 1); }
  NodeFields fields(NodeId id) {
    const UOp u = nodeOf(id);
    if (!sources_[id - 1]) { // once: a caller may still read them
      auto src = std::make_unique<std::vector<NodeId>>();
      for (const UOp s : u.src()) src->push_back(idOf(s));
      sources_[id - 1] = std::move(src); // idOf() may move the list
    }
    return {id, u.op(), u.dtype(), u.arg(), u.tag(), *sources_[id - 1]};
  }
  NodeReader reader() {
    return [this](NodeId id) { return fields(id); };
  }

private:
  UOpMap<NodeId> ids_;
  std::vector<UOp> nodes_;
  std::vector<std::unique_ptr<std::vector<NodeId>>> sources_;
};

} // namespace uopscope
