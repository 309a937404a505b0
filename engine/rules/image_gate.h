// Gates of reads of images. What lies outside of an image reads as zero, so a gate that only keeps an index inside of the
// image is not needed. Nothing is said of writes there, so those keep their gates.
//
//   WHERE(y < 10, image[x, y], 0)   of an image of 10 rows   is   image[x, y]
#pragma once
#include "engine/uop/uop.h"

namespace uopscope {

/// The gate of a read without the clauses that fail only where the pixel (x, y) lies outside of the image; null if none is left.
/// The coordinates are those that the access keeps: where the whole gate holds, and where a dropped clause fails.
UOp gateInsideImage(UOp gate, UOp x, UOp y, const ImageShape& image);

} // namespace uopscope
