// Epilogues: what a kernel computes from a finished sum, such as a bias and a tanh.
//
// A tile of a product holds its results in many registers, and each of them gets the epilogue's instructions. Where these are
// many, most of the kernel's code, and of the time that its compilation takes, is the same epilogue over and over. The rows of
// the tile are then stored next to each other, and a loop over the rows holds the epilogue once:
//
//   for k: acc[0..8] += ...;  out[0] = tanh(acc[0]) ... out[7] = tanh(acc[7])
//   for k: acc[0..8] += ...;  row[0..8] = acc[0..8];  for r: out[r] = tanh(row[r])
//
// Each value is computed by the same operations as before, so results keep their bits.
#pragma once
#include "engine/codegen/target.h"
#include "engine/uop/uop.h"

namespace uopscope {

/// The kernel with such a loop, for processors; unchanged where the epilogue is short. Needs ENDs over ranges (flatten range).
UOp loopEpilogue(UOp ast, const Target& target);

} // namespace uopscope
