// Values whose elements repeat along an axis. They are stored once, and shown as often as they repeat.
//
//   (a.expand(1024, 1024) + b.expand(1024, 1024)).realize()     of a and b of 1024 x 1: memory of 1,024 elements
//
// An assignment to a part of such a tensor, or to one with several names, first gives it memory of its whole shape
// (Tensor::State::makeWhole).
#pragma once
#include "engine/tensor/tensor.h"

namespace uopscope {

/// Makes each of these tensors whose value repeats along an axis an EXPAND of the elements that differ, and marks its names.
/// `becomes` receives the values and what they become.
void storeRepeatedOnce(const std::vector<Tensor>& tensors, std::vector<std::pair<UOpRef, UOpRef>>& becomes);

} // namespace uopscope
