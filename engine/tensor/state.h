// What a Tensor handle points at, the list of all that are alive (realize() and backward() go through it),
// and which of them are names of one memory.
//
//   Tensor a = Tensor::full({4}, 1).contiguous(), v = a.shrink({{{0, 2}}});    // two names of one memory
//   a.assign(b);                                                               // v reads b's elements from
//   now on
//
// Names stand in a ring. A tensor made by views of another (Tensor::apply) joins its ring; every other tensor
// is a value of its own, even where two of them are one node, or lie in one buffer until one is assigned.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// The tensors of a session, and its clock: it counts up with every tensor made, and with every one that stands
/// for another node.
struct LiveTensors {
  Tensor::State* first = nullptr;
  Tensor::State* last = nullptr;
  uint64_t clock = 0;
};

/// Alive from construction to destruction in a doubly linked list, oldest first. Used by one thread at a time;
/// it must go before its session does.
struct Tensor::State : std::enable_shared_from_this<Tensor::State> {
  State(UOp u, RequiresGrad g);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Stands for this node from now on.
  void become(UOp u);
  bool isOnlyName() const { return nextName == this; }
  void joinNames(State& of);
  void leaveNames();
  /// Before it is assigned: names that lie in another tensor's buffer stand for a copy of it from now on. The
  /// buffer stays with the tensor it was made for, and with captured functions that use it.
  void leaveSharedBuffer();
  /// Calls f(State&) for each name of this memory, this one first. f must not change the ring.
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
  LiveTensors& live; ///< of the session it was made in
  State* before = nullptr;
  State* after = nullptr;
  State* previousName = this;
  State* nextName = this;
  uint64_t born, changed; ///< times of the clock below
  bool mayShare = false;  ///< a copy: may lie in the buffer of a tensor that is no name of it
};

/// The clock of LiveTensors.
uint64_t tensorClock();
/// Calls f(State&) for each live tensor, oldest first. f must not make or drop tensors.
void forEachTensor(const std::function<void(Tensor::State&)>& f);
/// Computes these; names of `inPlace` keep reading the buffer that is assigned meanwhile.
void realizeTensors(const std::vector<Tensor>& tensors, Tensor::State* inPlace = nullptr);

} // namespace uopscope
