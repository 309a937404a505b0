// Runs one warp of a GPU kernel in the interpreter and keeps every step, so that a debugger can walk through it: the
// threads that execute an instruction together, their values, and the elements they access. Data is made up (kernel_run.h).
//
//   WarpRun run(program, {.group = 0, .warp = 1});
//   const WarpStep& step = run.steps()[14];
//   program[step.node];  step.isActive(3);  step.values[3];  run.costOf(step).sectors
//
// Threads that stand at different instructions are brought together again as a GPU does: the warp executes the earliest
// instruction that any of its threads waits to execute.
#pragma once
#include "engine/runtime/ref_program.h"

#include <array>
#include <string>
#include <vector>

namespace uopscope {

struct WarpStep {
  size_t node = 0;     ///< position in the linear program
  uint64_t active = 0; ///< a bit for each thread of the warp
  int lanes = 1;       ///< of each value; only the first is kept
  int memory = -1;     ///< of a LOAD or STORE: position in memories()
  std::vector<ConstValue> values;
  std::vector<int64_t> elements; ///< first element accessed by each thread; -1: none
  int64_t count = 0;             ///< elements accessed by a thread
  bool isActive(size_t thread) const { return active >> thread & 1; }
};

/// The cost of a memory access by a warp.
struct WarpCost {
  int64_t sectors = 0, least = 0; ///< of 32 bytes in global memory; if all bytes lay side by side
  int64_t passes = 0;             ///< over the banks of shared memory
};

class WarpRun {
public:
  struct Choice {
    int64_t group = 0, warp = 0; ///< numbers
    uint64_t seed = 1;
    std::function<bool()> stop = {}; ///< asked now and then; true ends the run with an Error
  };
  static constexpr size_t kMostSteps = 20'000;

  /// Throws Error(Value) for a program without threads of a GPU, Error for one that the interpreter cannot run. A fault that
  /// the run finds is kept: fault().
  WarpRun(std::string name, const std::vector<UOp>& program, const Choice& choice);

  const std::vector<WarpStep>& steps() const { return steps_; }
  const std::vector<RefProgram::MemoryName>& memories() const { return memories_; }
  WarpCost costOf(const WarpStep& step) const;
  /// How often each thread executed an instruction of the program.
  int64_t executions(size_t node, size_t thread) const;

  int64_t groups() const { return groups_; }
  int64_t threads() const { return threads_; } ///< of a group
  int64_t warps() const { return (threads_ + width_ - 1) / width_; }
  /// Threads of the warp that ran, and the number of its first thread in the group.
  int64_t size() const { return static_cast<int64_t>(size_); }
  int64_t firstThread() const { return first_; }
  bool isCut() const { return cut_; } ///< more was executed than is kept
  const std::string& fault() const { return fault_; }

private:
  struct ThreadStep {
    uint32_t node = 0;
    ConstValue value;
    int lanes = 1, memory = -1;
    int64_t element = -1, count = 0;
  };
  /// The steps of each thread of the warp.
  using ThreadSteps = std::vector<std::vector<ThreadStep>>;
  ThreadSteps launch(std::string name, const std::vector<UOp>& program, const Choice& choice);
  void merge(const ThreadSteps& threads, size_t nodes);

  std::vector<WarpStep> steps_;
  std::vector<std::vector<int64_t>> executions_; ///< by node and thread
  std::vector<RefProgram::MemoryName> memories_;
  std::string fault_;
  int64_t groups_ = 1, threads_ = 1, width_ = GpuWatch::kWarp, first_ = 0;
  size_t size_ = 0;
  bool cut_ = false;
};

} // namespace uopscope
