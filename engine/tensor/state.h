// What a Tensor handle points at, and the list of all that are alive (realize() and backward() go through
// it).
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// Alive from construction to destruction in a doubly linked list, oldest first. Confined to one thread.
struct Tensor::State : std::enable_shared_from_this<Tensor::State> {
  State(UOp u, RequiresGrad g);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  UOpRef uop;
  RequiresGrad requiresGrad;
  std::shared_ptr<State> grad;
  State* before = nullptr;
  State* after = nullptr;
};

/// Calls f(State&) for each live tensor, oldest first. f must not make or drop tensors.
void forEachTensor(const std::function<void(Tensor::State&)>& f);

} // namespace uopscope
