// Memory of the tensor pool. Nodes that no Tensor and no Python object reaches are freed with their buffers.
// This happens at the end of a realize() if there are enough of them, or at each one while a profile is
// taken.
//
//   { NodesHeld hold; UOp bare = ...; runPythonRule(bare); }   // no collection while bare nodes are in use
#pragma once
#include "engine/tensor/operation_scope.h"

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

/// The same, if many nodes are new or buffers have grown since the last time, and no operation is under way. The end of a
/// realize() calls it, and so does an operation that realizes, once it is over.
void collectIfGrown();

/// The scope of an operation that reads values: what it computed on the way is freed when it is over. It returns no bare UOp.
class ReadingScope {
public:
  explicit ReadingScope(const char* name) : operation_(name) {}

private:
  struct Last {
    ~Last() { collectIfGrown(); }
  };
  Last last_; // goes after the operation, whose realize() frees nothing
  OperationScope operation_;
};

/// Whether each realize() of this session frees unreachable nodes, however few: a profile then shows memory
/// as used for as long as something reaches it.
void releaseAtEachRealize(bool each);

} // namespace uopscope
