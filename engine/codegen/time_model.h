// The time of a kernel, predicted from its linear program and the measured rates of the processor.
//
//   PredictedTime t = predictTime(lowered.uops, rates);
//   t.seconds;  t.bound();                  // 12e-6, TimePart::Memory
//
// Each loop takes as long as what it waits for most: its instructions, its loads and stores, the chain of operations on which
// its next turn depends, and the caches and the memory that deliver its data. Parts overlap, so their sum is more than
// the whole. The parts say what the kernel waits for, each in seconds as if the others cost nothing.
//
// Not modelled: kernels of GPUs (nothing is predicted), what a branch on data does, two threads that disturb each other but
// for the bandwidth that they share. docs/design/prediction.md has the formulas.
#pragma once
#include "engine/codegen/machine_rates.h"
#include "engine/uop/uop.h"

#include <array>
#include <span>
#include <string_view>
#include <vector>

namespace uopscope {

enum class TimePart : uint8_t { Arithmetic, FirstCache, Caches, Memory, Latency, Launch };
constexpr size_t kTimeParts = 6;
std::string_view
timePartName(TimePart part); ///< "arithmetic", "first cache", "caches", "memory", "latency", "launch"

struct PredictedTime {
  double seconds = 0; ///< 0: not predicted
  std::array<double, kTimeParts> parts{};
  int threads = 1;
  double of(TimePart part) const { return parts[static_cast<size_t>(part)]; }
  TimePart bound() const; ///< the largest part
};

/// What the processor did before a kernel is launched. By default it ran the same kernel.
struct LaunchState {
  /// Bytes that passed through the caches since each buffer was used, by the number of the kernel's parameter among those that
  /// are memory; a buffer that is not listed was used just before.
  std::vector<double> since;
  double sinceCode = 0;  ///< the same since the kernel itself ran
  int64_t fastestOf = 1; ///< launches of which this one was the fastest: it found its code nearer than most
  bool first = false;    ///< it never ran
  bool newCode = false;  ///< it never ran, and others were compiled after it
  double share = 1;      ///< of the most turns of loops whose number is a variable
  bool asleep = false;   ///< no kernel ran just before, so the threads have to be woken
  double newBytes = 0;   ///< of memory that nobody has written to yet
  double newLargeBytes = 0; ///< the same, in blocks of 2 MB or more
};

/// Throws nothing: a program that it does not understand has seconds 0.
PredictedTime predictTime(std::span<const UOp> program, const MachineRates& rates,
                          const LaunchState& state = {});

} // namespace uopscope
