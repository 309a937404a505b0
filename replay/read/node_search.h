// Finds nodes by their text: operation, type, argument, tag. Many nodes share a kind, so the search looks at
// the texts of kinds and then finds nodes by the numbers of their kinds: a million nodes in some
// milliseconds, without an index.
//
//   NodeHits hits = findNodes(trace, "gidx0", 100);     // hits.total of them, the first 100 in hits.nodes
#pragma once
#include "replay/read/trace.h"

namespace uopscope {

struct NodeHits {
  std::vector<NodeId> nodes; ///< in order, at most as many as asked for
  size_t total = 0;
};

/// Nodes whose label ("ADD dtypes.int 3") contains every word of the text; upper and lower case are equal.
NodeHits findNodes(Trace& trace, std::string_view text, size_t most = SIZE_MAX);

/// The first graph that contains a node: after `step` steps of the pass.
struct NodePlace {
  ScopeId scope = 0;
  PassId pass = 0;
  int64_t step = 0;
};
/// None if no graph of a step or a pass contains the node (for instance a node of a text). Nodes get their
/// ids in the order in which they are met, so the search starts at the first step that could have met the
/// node.
std::optional<NodePlace> placeOf(Trace& trace, NodeId node);

} // namespace uopscope
