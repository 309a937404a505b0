// Accesses to images. A pixel has four channels and is read and written as a whole, by a vector of two indices: its column
// and its row. An index that counts the elements of the image, as the scheduler makes it, becomes such a pair.
//
//   LOAD(INDEX(image, i:index)):float          one channel of the pixel of element i
//   LOAD(INDEX(image, (x, y), gate)):float4    the pixel; the gate is dropped where it only keeps (x, y) in the image
//
// Invariant: after "devectorize" every INDEX of an image has two indices.
#pragma once
#include "engine/codegen/target.h"

namespace uopscope {

/// INDEX(image, WHERE(gate, (x, y), Invalid)), as scripts write it: the gate becomes a source of the INDEX.
std::span<const RuleDef> imageGateRules();
/// Loads and stores of images.
std::span<const RuleDef> imageRules();

/// Whether the index of an INDEX is a pair for each of its addresses.
bool isPixelIndex(UOp index);
/// The address of the pixel that holds element `flat` of the image. A null gate: always accessed.
UOp pixelAddress(UOp image, UOp flat, UOp gate);

} // namespace uopscope
