// Recorded nodes made again in a pool, so that the engine can be asked about them: shape, bounds, ranges,
// rules. A trace is untrusted; a node no engine makes (wrong number of sources, wrong kind of argument) is
// refused, since the engine's functions rely on that.
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
  /// Error(File) for a node that is not well formed.
  UOp operator()(NodeId id);

private:
  NodeReader read_;
  Pool& pool_;
  std::unordered_map<NodeId, UOp> made_;
};

/// What is wrong with the node, empty if nothing: number of sources and kind of argument fit the operation.
std::string malformed(const NodeFields& node);

} // namespace uopscope
