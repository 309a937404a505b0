// Capture and replay of launches. The launches of a function's schedules are stored with their buffers
// resolved to memory, so that a replay is a loop over calls of programs.
//
//   RunCapture capture;                                  // records everything that runs on this thread
//   f(inputs);
//   CapturedRun run = capture.finish(inputs, {"i"});     // these buffers and variables change between calls
//   run.replay(newInputs, {5});
//
// A captured run holds every buffer that it uses, so the results of a replay are in the memory that the
// captured run gave them. Captures nest: an outer capture records the launches that an inner one replays.
#pragma once
#include "engine/runtime/buffer.h"
#include "engine/runtime/device.h"
#include "engine/runtime/kernel_cache.h"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace uopscope {

/// The values of variables by name.
using VarValues = std::vector<std::pair<std::string, int64_t>>;

/// One launch: a kernel with its buffers in order of its globals, or a copy from buffers[1] to buffers[0].
struct RunStep {
  std::shared_ptr<const CompiledKernel> kernel; ///< null: a copy
  Device* device = nullptr;
  std::vector<std::shared_ptr<Buffer>> buffers;
  std::vector<std::string> metadata;
  VarValues values;
  std::shared_ptr<Pool> pool = nullptr; ///< owns ast
  UOp ast = {};                         ///< the graph that the kernel was made from
};

/// Work of the host before each replay: it writes the next position in a stream of random numbers.
struct HostAction {
  std::function<void()> run;
  std::string device; ///< device of the stream
  int64_t words = 0;  ///< number of words that a call draws
  std::shared_ptr<Buffer> at;
};

class CapturedRun {
public:
  /// An argument of a step that is an input of the call.
  struct Patch {
    uint32_t argument, input;
    size_t offset; ///< in bytes from the beginning of the input
  };
  /// The contents of a run, which may be stored elsewhere and made a run again. A buffer given by a patch is
  /// null in steps[i].buffers.
  struct Parts {
    std::vector<RunStep> steps;
    std::vector<std::vector<Patch>> patches;
    std::vector<std::string> names;
    std::vector<HostAction> before;
  };
  CapturedRun() = default;
  explicit CapturedRun(Parts parts);
  Parts parts() const;
  /// Releases all memory that a replay writes, results included. The next replay allocates it again.
  void freeIntermediates();
  /// Runs all steps again, with `inputs` and `values` in the order given to finish().
  void replay(std::span<const std::shared_ptr<Buffer>> inputs, std::span<const int64_t> values);
  size_t stepCount() const { return steps_.size(); }
  const RunStep& step(size_t i) const { return steps_[i].step; }
  /// The memory that every replay uses. Inputs are identified by number.
  struct Memory {
    std::unordered_set<const Buffer*> written, read;
    std::vector<bool> writtenInputs;
  };
  Memory memory() const;
  /// The inputs that some step reads or writes.
  std::vector<bool> usedInputs() const;
  /// (argument of the step, number of the input) for the memory that changes between calls.
  std::vector<std::pair<size_t, size_t>> inputsOf(size_t step) const;

private:
  friend class RunCapture;
  struct Step {
    RunStep step;
    std::vector<Patch> patches;
    std::vector<void*> memory;
    std::vector<int64_t> vars, globalSize, localSize;
    std::vector<std::pair<size_t, size_t>> varPatches;   ///< position in vars -> number of the value
    std::vector<std::pair<size_t, size_t>> valuePatches; ///< position in step.values -> number of the value
    bool symbolicSize = false;
    bool changed = true; ///< since its batch last received its arguments
    int64_t ops = 0, mem = 0;
  };
  /// Consecutive kernels on a device that takes them together.
  struct Batch {
    size_t first, end; ///< range of steps
    std::unique_ptr<LaunchBatch> batch;
  };
  /// Computes sizes, variables and costs of a step once its patches are known.
  void prepare(Step& step) const;
  /// Sets the addresses and numbers of this call. Returns whether any of them changed.
  static bool update(Step& step, std::span<const std::shared_ptr<Buffer>> inputs,
                     std::span<const int64_t> values);
  void replayStep(Step& step);
  void replayStepTold(Step& step, std::span<const std::shared_ptr<Buffer>> inputs);
  void replayBatch(Batch& batch);
  static BatchedLaunch launchOf(const Step& step);
  void makeBatches();

  std::vector<Step> steps_;
  std::vector<Batch> batches_;
  bool batched_ = false; ///< whether batches_ has been filled
  std::vector<std::string> names_;
  std::vector<HostAction> before_;
  bool freed_ = false; ///< whether the recorded addresses were released
};

class RunCapture {
public:
  RunCapture();
  ~RunCapture();
  RunCapture(const RunCapture&) = delete;
  RunCapture& operator=(const RunCapture&) = delete;

  /// Ends the capture: the recorded launches as a function of these buffers and variables. `prune` leaves out
  /// launches that depend on none of them.
  CapturedRun finish(std::span<const std::shared_ptr<Buffer>> inputs, std::span<const std::string> variables,
                     bool prune = false);

  size_t size() const { return steps_.size(); }

  /// While a Pause lives, nothing is recorded on this thread.
  class Pause {
  public:
    Pause();
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

  private:
    std::vector<RunCapture*> paused_;
  };

  // --- called by the runtime ---
  static bool active();
  static void ran(const RunStep& step);
  static void viewed(const std::shared_ptr<Buffer>& view, const std::shared_ptr<Buffer>& of, size_t offset);
  /// Records work that the host does before each replay, such as advancing a stream of random numbers.
  static void beforeReplay(const HostAction& action);

private:
  struct View {
    std::shared_ptr<Buffer> view, of;
    size_t offset;
  };
  std::vector<RunStep> steps_;
  std::vector<View> views_;
  std::vector<HostAction> before_;
};

// --- shared by running and replaying (run_schedule.cpp) ---

/// Launches a kernel on memory in order of its globals and updates the counters. `buffers` are the ids of the
/// buffers that own the memory, for the observer. Returns the time in seconds if it waits.
double launchKernel(const CompiledKernel& kernel, Device& device, std::span<void* const> memory,
                    const VarValues& values, bool firstRun, const std::vector<std::string>& metadata,
                    std::span<const uint64_t> buffers = {}, bool wait = false);
void copyBuffer(Buffer& to, Buffer& from, const std::vector<std::string>& metadata);

} // namespace uopscope
