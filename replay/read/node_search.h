// Nodes by what they say: operation, type, argument, tag. Many nodes share a kind, so the text is looked for
// in the kinds, and nodes of those are then found by their numbers: a million nodes in some milliseconds,
// without an index.
//
//   NodeHits hits = findNodes(trace, "gidx0", 100);     // hits.total of them, the first 100 in hits.nodes
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct NodeHits {
  std::vector<NodeId> nodes; ///< in order, at most as many as asked for
  size_t total = 0;
};

/// Nodes whose label ("ADD dtypes.int 3") contains every word of the text, whatever the case.
NodeHits findNodes(Trace& trace, std::string_view text, size_t most = SIZE_MAX);

/// Where a node is first part of a graph: after `step` steps of the pass.
struct NodePlace {
  ScopeId scope = 0;
  PassId pass = 0;
  int64_t step = 0;
};
/// None if the node is in no graph that steps and passes lead to (a text's, for instance). Nodes get their
/// ids in the order in which they are met, so steps are read up to the first that could have met it.
std::optional<NodePlace> placeOf(Trace& trace, NodeId node);

} // namespace uopscope
