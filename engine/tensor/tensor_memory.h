// Memory of the tensor pool: nodes no Tensor and no Python object reaches go, with their buffers, at the end
// of a realize() once enough has piled up.
//
//   { NodesHeld hold; UOp bare = ...; runPythonRule(bare); }   // no collection while bare nodes are in use
#pragma once
#include <cstddef>

namespace uopscope {

/// While one lives, realize() does not collect: for code that holds bare UOps of the tensor pool across a
/// call that may realize.
class NodesHeld {
public:
  NodesHeld();
  ~NodesHeld();
  NodesHeld(const NodesHeld&) = delete;
  NodesHeld& operator=(const NodesHeld&) = delete;
};

/// Frees all nodes that nothing reaches, now. No bare UOp of the tensor pool may be in use. Returns the
/// number of nodes freed.
size_t collectTensorPool();

/// The same, unless bare nodes are in use: for who asks how much memory is in use.
void releaseUnreached();

} // namespace uopscope
