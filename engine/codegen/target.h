// Target: the facts about a machine that code generation needs. A renderer owns one, and passes read it.
//
//   if (target.hasLocal) ...       // the ranges become work groups
#pragma once
#include "engine/rewrite/matcher.h"

#include <array>
#include <string>
#include <vector>

namespace uopscope {

/// A unit that multiplies tiles: the threads of a warp hold parts of each tile. A layout gives the bits of a
/// coordinate, lowest first: "l2l3l4e1" consists of bits 2 to 4 of the thread's number in its warp and of bit
/// 1 of the element's number in its thread. A core may read a and b from shared memory itself: their bits are then "s0s1".
struct TensorCore {
  const char* name;
  DType in, out;
  struct Layout {
    const char *row, *column;
  } a, b, c; ///< a is rows by terms, b terms by columns, c rows by columns
  int64_t threads = 32;
  int64_t rate = 0; ///< products and sums a cycle of a processor; 0: unknown
};

struct Target {
  std::string device;          ///< "CPU", "REF", "NULL", "CUDA" ...
  std::string suffix;          ///< names the renderer: "C", "LLVM" ...
  bool hasLocal = false;       ///< work groups with local indices
  bool hasShared = false;      ///< memory shared by a work group
  bool hasThreads = false;     ///< outer loop split over CPU threads
  bool supportsVectors = true; ///< loads and stores of several lanes
  int maxVectorLanes = 4;      ///< for loads and stores of 32-bit values (other widths in proportion)
  int vectorLimit = 64;        ///< lanes of the longest vector type, for any element type
  bool alignedVectors = false; ///< a load or store of n lanes must be aligned to n elements
  int aluLanes = 1; ///< lanes of arithmetic that the renderer writes as one operation; 1: scalars only
  int maskedLoads =
      0; ///< bytes of the smallest elements of which a vector is loaded under a mask of its lanes; 0: of none
  bool takesFloatsApart = false; ///< has the functions of machine_functions.h
  bool computesHalf = true; ///< else halves are only stored and converted; arithmetic on them is in float32
  bool mayReassociate = false; ///< its compiler may take (x + y) - y for x, as WGSL allows
  std::vector<TensorCore> tensorCores = {};
  std::array<int64_t, 3> globalMax{0x8FFFFFFF, 65535, 65535}, localMax{1024, 1024, 64};
  int64_t sharedMax = 32768;
  int64_t processors = 0;       ///< that run work groups side by side; 0: unknown
  int64_t cacheBytes = 0;       ///< of the last cache, which all processors read through; 0: unknown
  int64_t secondCacheBytes = 0; ///< of a processor's own second cache; 0: unknown
  bool copiesAsync =
      false; ///< copies from global to shared memory go on while their thread does (async_copy.h)
  bool copiesBoxes = false; ///< a memory engine copies parts of matrices to shared memory (async_boxes.h)
  OpSet nativeOps = group::kAlu; ///< operations of the target, on types it supports; the rest is decomposed
  const PatternMatcher* extraMatcher = nullptr; ///< the renderer's own rules, applied in the final rewrite
  const PatternMatcher* preMatcher = nullptr;   ///< a user's rules, before the kernel is finalised
  /// Whether values of the type can be stored and computed with.
  bool (*supportsDtype)(DType) = nullptr;
};

} // namespace uopscope
