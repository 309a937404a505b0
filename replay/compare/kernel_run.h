// Runs a stored kernel on made-up data, to compare results and times of two builds' code.
//
//   KernelRunner runner(compilation, {});
//   KernelOutcome now = runner.run(), before = runner.run(stored.ir, stored.name, stored.launch);
//   double worst = largestDifference(now, before);
//
// The data depends on the seed alone: floats in [-1, 1), integers 0 ... 7, variables at a value within their
// bounds. A kernel that leaves the bounds of a buffer may end the process, so a caller that must survive uses
// isolated().
#pragma once
#include "engine/runtime/kernel_cache.h"
#include "replay/record/capture.h"

#include <functional>
#include <memory>

namespace uopscope {

class Device;
struct CompiledKernel;

struct KernelRunOptions {
  std::string device = {};  ///< empty: the device that the kernel was captured for
  Observer* gate = nullptr; ///< observer of the lowering
  bool noopt = false;       ///< lower without optimisations
  uint64_t seed = 1;
  int repeats = 0; ///< timed launches after the first
};

struct KernelOutcome {
  struct Output {
    int position = 0; ///< position of its DEFINE_GLOBAL
    std::string dtype;
    std::vector<double> values;
  };
  std::vector<Output> outputs;
  std::vector<double> seconds; ///< times of the timed launches
};

class KernelRunner {
public:
  /// Lowers the kernel. Throws Error for a schedule, a kernel that does not lower, and one without fixed
  /// sizes.
  KernelRunner(const Compilation& input, const KernelRunOptions& options);
  ~KernelRunner();
  KernelRunner(const KernelRunner&) = delete;
  KernelRunner& operator=(const KernelRunner&) = delete;

  KernelOutcome run();
  /// Runs another build's code of the same kernel. Throws Error(Value) where that code takes different
  /// arguments.
  KernelOutcome run(const std::string& code, const std::string& name, const std::string& launch);

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Made-up elements; `state` is that of the random numbers, and moves on.
std::vector<std::byte> madeUpData(DType d, int64_t size, uint64_t& state);

/// Largest difference of two outcomes relative to the size of the values; infinity where NaNs or shapes
/// differ.
double largestDifference(const KernelOutcome& a, const KernelOutcome& b);
/// Whether the difference exceeds rounding for outputs of these types.
bool isWrong(const KernelOutcome& a, const KernelOutcome& b);

/// Times of two programs that ran in turn: the ratio of medians, and the interval that holds it in 95 of 100
/// resamplings (bootstrap).
struct TimeComparison {
  double before = 0, after = 0; ///< medians, seconds
  double ratio = 1, low = 1, high = 1;
  bool differs() const { return low > 1.0 || high < 1.0; }
};
TimeComparison compareTimes(std::span<const double> before, std::span<const double> after);

/// Runs `work` in a child process and returns its text. Throws Error(Runtime) that says how the child died; `subject`
/// begins the sentence.
std::string isolated(const std::function<std::string()>& work, int timeoutSeconds = 60,
                     const char* subject = "the kernel");

} // namespace uopscope
