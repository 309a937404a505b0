// Whether two steps of a loop may use one place of a buffer. Such steps keep their order: they become no lanes and no
// threads.
//
//   mayCoincide(r * 4 + s, r)         // false: a place for each r
//   mayCoincide(r / 2, r)             // true: steps 0 and 1
//   mayCoincide(load(indices, r), r)  // true: the memory may hold a number twice
//
// Steps may also use many places each, in an order that only memory knows, and still be apart: behind the gate 0 <= j < 8,
// where j is read from memory, step r of r * 8 + j stays in a slab of its own. So does step r of j * 32 + r * 8 + lane, with 4 steps
// and 8 lanes, whatever j is: 8 of every 32 places. Behind the gate r * 8 <= j < r * 8 + 8 each step takes the places j that are its own.
#pragma once
#include "engine/uop/uop.h"

#include <optional>

namespace uopscope {

/// `place`: an index without its gate. True if two steps of `range` may have the same place while all other ranges stay;
/// false if they have not, as far as the first 256 steps show where the index is no plain sum.
bool mayCoincide(UOp place, UOp range);

/// Places from `step * stride + least` to `step * stride + most`, for each step of a range, and the same a multiple of `stride` times
/// the number of steps further on.
struct Slab {
  int64_t stride = 0, least = 0, most = 0;
};
/// The slab of an index, its gate included; none if the index is no multiple of the range, or if nothing bounds the rest.
/// Bounds hold for all steps of all other loops, so two indices with one stride are apart in different steps if
/// the bounds of both together are narrower than it: most - least < |stride|.
std::optional<Slab> slabOf(UOp gated, UOp range);

} // namespace uopscope
