// Prices of the schedule, in quarters of a simple vector operation: what a value costs in memory, and what it costs to compute it
// again. The decisions that use them are in rangeify.cpp and inline_values.cpp; docs/design/schedule.md has the formula, and
// docs/design/costs.md the measurements.
//
//   inMemory = elements * (work + kStore) + demand * kLoad + kKernel;
#pragma once
#include <cstddef>

namespace uopscope::sched {

constexpr const char* kPriceUnit = "quarters of a vector operation";
constexpr double kLoad = 4, kStore = 16, kKernel = 262144;
/// A value of more bytes leaves the caches between its store and its loads: each element then comes from memory for every kernel
/// that reads it.
constexpr double kCachedBytes = 32 << 20;
constexpr double kStoreInMemory = 64, kLoadFromMemory = 16;

/// What it costs to store a value of so many elements and bytes, and what its readers pay for finding it in memory instead of a cache.
constexpr double storing(double elements, double bytes, size_t readers) {
  if (bytes <= kCachedBytes) return elements * kStore;
  return elements * (kStoreInMemory + static_cast<double>(readers) * (kLoadFromMemory - kLoad));
}

constexpr double kStepOfSum =
    kLoad + 2;                   ///< an iteration of a reduction: one load and its operation, at least
constexpr double kUntiled = 0.7; ///< what an iteration of a product loses without tiles
constexpr double kStridedOperand =
    0.2; ///< what an iteration of a product loses by an operand that it reads in steps
constexpr double kResultApart =
    22; ///< what a result that lies a line from its neighbours costs more for each further value that is written there
constexpr double kUntiledWindows = 8; ///< the same for a convolution whose kernel stores margins, too

} // namespace uopscope::sched
