// Target: the facts about a machine that code generation needs. A renderer owns one; passes read it.
#pragma once
#include "engine/rewrite/matcher.h"

#include <array>
#include <string>
#include <vector>

namespace uopscope {

/// A unit that multiplies tiles: a warp of threads holds parts of each tile. Where a coordinate lies is said
/// bit by bit, lowest first: "l2l3l4e1" is made of bits 2 to 4 of the thread's number in its warp and bit 1
/// of the element's number in the thread.
struct TensorCore {
  const char* name;
  DType in, out;
  struct Layout {
    const char *row, *column;
  } a, b, c; ///< a is rows by terms, b terms by columns, c rows by columns
  int64_t threads = 32;
};

struct Target {
  std::string device;          ///< "CPU", "REF", "NULL", "CUDA" ...
  std::string suffix;          ///< of the renderer: "C", "LLVM" ...
  bool hasLocal = false;       ///< work groups with local indices
  bool hasShared = false;      ///< memory shared by a work group
  bool hasThreads = false;     ///< outer loop split over CPU threads
  bool supportsVectors = true; ///< loads and stores of several lanes
  int maxVectorLanes = 4;      ///< of a load or store of 32-bit values (other widths in proportion)
  int vectorLimit = 64;        ///< lanes of the longest vector type, whatever its elements
  bool alignedVectors = false; ///< a load or store of n lanes must be aligned to n elements
  int aluLanes = 1; ///< lanes of arithmetic on values the renderer writes as one operation; 1: scalars only
  std::vector<TensorCore> tensorCores = {};
  std::array<int64_t, 3> globalMax{0x8FFFFFFF, 65535, 65535}, localMax{1024, 1024, 64};
  int64_t sharedMax = 32768;
  OpSet nativeOps =
      group::kAlu; ///< ALU operations the target has for the types it supports; others are decomposed
  const PatternMatcher* extraMatcher = nullptr; ///< the renderer's own rules, with the final rewrite
  const PatternMatcher* preMatcher = nullptr;   ///< a user's rules, run right before the kernel is finalised
  /// Whether values of the type can be stored and computed with.
  bool (*supportsDtype)(DType) = nullptr;
};

} // namespace uopscope
