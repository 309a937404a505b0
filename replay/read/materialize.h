// Makes recorded nodes again in a pool, so that the engine can answer questions about them: shape, bounds,
// ranges, rules. A trace is untrusted, and the engine's functions rely on well-formed nodes. A node that no
// engine makes (wrong number of sources, wrong kind of argument) is therefore refused.
//
//   Pool pool; Materializer again(trace.nodes().reader(), pool);
//   UOp u = again(id);
#pragma once
#include "replay/read/node_table.h"

#include <unordered_map>

namespace uopscope {

class Materializer {
public:
  Materializer(NodeReader read, Pool& pool) : read_(std::move(read)), pool_(pool) {}
  /// Throws Error(File) for a node that is not well formed.
  UOp operator()(NodeId id);

private:
  NodeReader read_;
  Pool& pool_;
  std::unordered_map<NodeId, UOp> made_;
};

/// The fault of the node, empty if there is none: number of sources and kind of argument must fit the
/// operation.
std::string malformed(const NodeFields& node);

} // namespace uopscope
