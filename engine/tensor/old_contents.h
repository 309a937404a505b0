// Old contents: memory that live tensors still read and that an assignment is about to overwrite.
// docs/design/assignment.md describes the model.
//
//   old = f(w)                      lazy, reads w
//   w.assign(g); w.realize()        old is computed with the assignment, or reads a copy of w from then on
//
// Invariant: after a schedule ran, or a captured function was replayed, no live tensor reads overwritten
// memory except the names of that memory.
#pragma once
#include "engine/runtime/buffer.h"
#include "engine/runtime/run_capture.h"
#include "engine/tensor/tensor.h"

#include <unordered_set>

namespace uopscope {

struct OldContentsKept {
  std::vector<Tensor> along; ///< computed in the same schedule
  bool changed = false;      ///< tensors now stand for different nodes, so the roots must be computed again
};
/// Preserves the values that tensors still need from memory that these roots (graphs of one device each)
/// overwrite. Names of `inPlace` see the new contents.
OldContentsKept keepOldContents(const std::vector<UOp>& roots, Tensor::State* inPlace);

/// During a capture: computes the values of older tensors that these graphs use and the function does not compute
/// itself; these computations are not captured. An older tensor whose value the function computes as well keeps a
/// copy. Returns whether there were any; the graphs must then be read again.
bool computeBeforeCapture(const std::vector<UOp>& nodes);

/// The scope of a capture. Tensors made before it began are computed outside of the capture, since a replay
/// must not compute them again. Pending assignments are carried out when it begins.
class CaptureScope {
public:
  CaptureScope();
  ~CaptureScope();
  CaptureScope(const CaptureScope&) = delete;
  bool made(UOp u) const { return made_.contains(u.id()); }
  CaptureScope& operator=(const CaptureScope&) = delete;

private:
  friend void madeInCapture(UOp u);
  uint64_t outerStart_;
  CaptureScope* outer_;
  std::unordered_set<uint32_t> made_; ///< ids of the nodes that tensors made in the function stood for
};
/// Reports every tensor made to the captures.
void madeInCapture(UOp u);

/// Runs before each replay of a captured function. It carries out pending assignments to memory that the
/// replay reads, and computes values that read memory which the replay writes.
class ReplayGuard {
public:
  /// Sets the memory that every replay uses. Tensors that are names of it now will show the values of a
  /// replay.
  void watch(CapturedRun::Memory memory);
  void keep(std::span<const std::shared_ptr<Buffer>> inputs);
  bool uses(const Buffer& buffer) const {
    return memory_.written.contains(buffer.root()) || memory_.read.contains(buffer.root());
  }

private:
  /// Stores or copies each value that a tensor of this moment would lose. Returns whether there was one.
  bool keepOnce();
  bool mayName(Tensor::State& s);
  std::vector<UOp> lost(UOp u, bool isName) const;

  CapturedRun::Memory memory_;
  std::unordered_set<const Buffer*> writtenInputs_; ///< in this call
  std::unordered_set<uint64_t> names_;              ///< birth times of the names of written memory
  uint64_t checked_ = 0;
};

} // namespace uopscope
