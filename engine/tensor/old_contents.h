// Old contents: memory that live tensors still read and an assignment is about to overwrite.
// docs/design/assignment.md tells the model.
//
//   old = f(w)                      lazy, reads w
//   w.assign(g); w.realize()        old is computed with the assignment, or reads a copy of w from now on
//
// Invariant: once a schedule is run, or a captured function replayed, no live tensor reads overwritten memory
// but the names of that memory.
#pragma once
#include "engine/runtime/buffer.h"
#include "engine/runtime/run_capture.h"
#include "engine/tensor/tensor.h"

#include <unordered_set>

namespace uopscope {

struct OldContentsKept {
  std::vector<Tensor> along; ///< to be computed in the same schedule
  bool changed = false;      ///< the roots are to be asked for again: tensors stand for other nodes now
};
/// What is still needed of contents that these roots (graphs of one device each) overwrite. Names of
/// `inPlace` follow the assignment.
OldContentsKept keepOldContents(const std::vector<UOp>& roots, Tensor::State* inPlace);

/// Inside of a capture: computes, outside of it, the values of tensors made before it that these roots
/// use and do not make again. Whether there was any: the roots are to be asked for again.
bool computeBeforeCapture(const std::vector<UOp>& roots);

/// Tensors made before a capture began are computed outside of it: a replay must not make them anew.
/// Assignments that are pending are made as it begins.
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
  std::unordered_set<uint32_t> made_; ///< ids of nodes that tensors of the function stood for
};
/// Told of every tensor made.
void madeInCapture(UOp u);

/// Before each replay of a captured function: makes assignments to the memory it reads that are pending, and
/// computes the values that read the memory it writes.
class ReplayGuard {
public:
  /// The memory that every replay uses. Tensors that name it now will show the values of a replay.
  void watch(CapturedRun::Memory memory);
  void keep(std::span<const std::shared_ptr<Buffer>> inputs);

private:
  bool mayName(Tensor::State& s);
  std::vector<UOp> lost(UOp u, bool isName) const;

  CapturedRun::Memory memory_;
  std::unordered_set<const Buffer*> writtenInputs_; ///< of this call
  std::unordered_set<uint64_t> names_;              ///< births of tensors that are names of what is written
  uint64_t checked_ = 0;
};

} // namespace uopscope
