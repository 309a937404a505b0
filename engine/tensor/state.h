// The state behind a Tensor handle, the list of all live states (realize() and backward() walk it), and the
// rings of names of one memory.
//
//   Tensor a = Tensor::full({4}, 1).contiguous(), v = a.shrink({{{0, 2}}});    // two names of one memory
//   a.assign(b);                                                               // v now reads elements of b
//
// The names of a memory form a ring. A tensor made as a view of a tensor (Tensor::apply) joins its ring.
// Every other tensor is a value of its own, even if two of them are the same node, or share a buffer until
// one is assigned.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// The live tensors of a session, and its clock. The clock advances with every tensor made, and whenever a
/// tensor comes to stand for a different node.
struct LiveTensors {
  Tensor::State* first = nullptr;
  Tensor::State* last = nullptr;
  uint64_t clock = 0;
};

/// In a doubly linked list, oldest first, from construction to destruction. One thread at a time uses it. It
/// must be destroyed before its session.
struct Tensor::State : std::enable_shared_from_this<Tensor::State> {
  State(UOp u, RequiresGrad g);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Makes the tensor stand for this node.
  void become(UOp u);
  bool isOnlyName() const { return nextName == this; }
  void joinNames(State& of);
  void leaveNames();
  /// Called before an assignment. If the tensor is in a buffer made for a different tensor, its names stand
  /// for a copy from now on. The buffer stays with the tensor it was made for, and with captured functions
  /// that use it.
  void leaveSharedBuffer();
  /// Called before an assignment. If the elements of the tensor repeat and were stored once (stored_once.h), its names stand for
  /// memory of its whole shape from now on, which is not computed yet. Returns whether they do.
  bool makeWhole();
  /// Calls f(State&) for each name of this memory, starting with this one. f must not change the ring.
  template <typename F>
  void forEachName(F f) {
    State* s = this;
    do {
      f(*s);
      s = s->nextName;
    } while (s != this);
  }

  UOpRef uop; ///< written by become() alone
  RequiresGrad requiresGrad;
  std::shared_ptr<State> grad;
  LiveTensors& live; ///< of the session in which it was made
  State* before = nullptr;
  State* after = nullptr;
  State* previousName = this;
  State* nextName = this;
  uint64_t born, changed;    ///< times of the clock below
  bool mayShare = false;     ///< it is a copy: may use the buffer of a tensor that is no name of it
  bool isStoredOnce = false; ///< its elements repeat along an axis, and its memory holds them once
  bool isSpread = false;     ///< it shows elements of its memory several times, as an expanded tensor does
};

/// The clock of LiveTensors.
uint64_t tensorClock();
/// Calls f(State&) for each live tensor, oldest first. f must not make or drop tensors.
void forEachTensor(const std::function<void(Tensor::State&)>& f);
/// Computes these tensors. Names of `inPlace` keep reading its buffer, which an assignment writes.
void realizeTensors(const std::vector<Tensor>& tensors, Tensor::State* inPlace = nullptr);

} // namespace uopscope
