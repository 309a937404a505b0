// Tensors that an assignment is about to overtake: made from the old contents of a buffer, by a computation
// that is scheduled now together with the assignment, and not computed themselves yet.
//
//   loss = f(w); loss.backward(); opt.step(); loss.item()   // the loss before the step, computed with it
//
// Invariant: a tensor that shares no computation with the schedule is left alone and reads what is there when
// it is computed.
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// Live tensors to compute along with these, oldest first.
std::vector<Tensor> overtakenBy(const std::vector<UOp>& scheduled);

} // namespace uopscope
