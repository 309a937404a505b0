// What code generation must know of the machine it generates for. A renderer owns one; passes read it.
#pragma once
#include "engine/rewrite/matcher.h"

#include <array>
#include <string>
#include <vector>

namespace uopscope {

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
