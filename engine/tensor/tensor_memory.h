// Memory of the tensor pool. Nodes that no Tensor and no Python object reaches are freed with their buffers.
// This happens at the end of a realize() if there are enough of them, or at each one while a profile is
// taken.
//
//   { NodesHeld hold; UOp bare = ...; runPythonRule(bare); }   // no collection while bare nodes are in use
#pragma once
#include <cstddef>

namespace uopscope {

/// While one lives, realize() does not collect the pool. It is for code that holds bare UOps of the tensor
/// pool across a call that may realize.
class NodesHeld {
public:
  NodesHeld();
  ~NodesHeld();
  NodesHeld(const NodesHeld&) = delete;
  NodesHeld& operator=(const NodesHeld&) = delete;
};

/// Frees all unreachable nodes now. No bare UOp of the tensor pool may be in use. Returns the number of freed
/// nodes.
size_t collectTensorPool();

/// The same, unless bare nodes are in use; called before memory use is reported.
void releaseUnreached();

/// Whether each realize() of this session frees unreachable nodes, however few: a profile then shows memory
/// as used for as long as something reaches it.
void releaseAtEachRealize(bool each);

} // namespace uopscope
