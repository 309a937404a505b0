// Capture and replay of what runs: the launches of a function's schedules, kept with their memory resolved,
// so that running them again is a loop over calls and nothing else.
//
//   RunCapture capture;                                  // everything run on this thread is noted as well
//   f(inputs);
//   CapturedRun run = capture.finish(inputs, {"i"});     // which buffers and variables change from call to
//   call run.replay(otherInputs, {5});
//
// A captured run holds every buffer it uses, so results of a replay stand in the memory that the captured run
// gave them. Captures nest: what an inner one replays is noted by the outer one like any other launch.
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

/// Values of variables by name.
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

/// Work of the host before each replay: it writes the next place of a stream of random numbers.
struct HostAction {
  std::function<void()> run;
  std::string device; ///< whose stream
  int64_t words = 0;  ///< that a call draws
  std::shared_ptr<Buffer> at;
};

class CapturedRun {
public:
  /// An argument of a step that comes from an input of the call.
  struct Patch {
    uint32_t argument, input;
    size_t offset; ///< bytes into the input
  };
  /// What a run holds, to be kept elsewhere and made a run again: steps[i].buffers is null where patches[i]
  /// says.
  struct Parts {
    std::vector<RunStep> steps;
    std::vector<std::vector<Patch>> patches;
    std::vector<std::string> names;
    std::vector<HostAction> before;
  };
  CapturedRun() = default;
  explicit CapturedRun(Parts parts);
  Parts parts() const;
  /// Gives back the memory of everything a replay writes, results included; the next replay takes it anew.
  void freeIntermediates();
  /// Runs everything again; `inputs` and `values` in the order given to finish().
  void replay(std::span<const std::shared_ptr<Buffer>> inputs, std::span<const int64_t> values);
  size_t stepCount() const { return steps_.size(); }
  const RunStep& step(size_t i) const { return steps_[i].step; }
  /// The memory that every replay uses. Inputs are by number.
  struct Memory {
    std::unordered_set<const Buffer*> written, read;
    std::vector<bool> writtenInputs;
  };
  Memory memory() const;
  /// The inputs that some step reads or writes.
  std::vector<bool> usedInputs() const;
  /// (argument of the step, number of the input) for memory that changes from call to call.
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
    bool changed = true; ///< since its batch was last told of it
    int64_t ops = 0, mem = 0;
  };
  /// Kernels that follow one another on a device that takes them as one.
  struct Batch {
    size_t first, end; ///< steps
    std::unique_ptr<LaunchBatch> batch;
  };
  /// Sizes, variables and costs of a step whose patches are known.
  void prepare(Step& step) const;
  /// Addresses and numbers of this call; whether any of them differs from the call before.
  static bool update(Step& step, std::span<const std::shared_ptr<Buffer>> inputs,
                     std::span<const int64_t> values);
  void replayStep(Step& step);
  void replayStepTold(Step& step, std::span<const std::shared_ptr<Buffer>> inputs);
  void replayBatch(Batch& batch);
  static BatchedLaunch launchOf(const Step& step);
  void makeBatches();

  std::vector<Step> steps_;
  std::vector<Batch> batches_;
  bool batched_ = false; ///< batches_ are known
  std::vector<std::string> names_;
  std::vector<HostAction> before_;
  bool freed_ = false; ///< addresses are those of memory that was given back
};

class RunCapture {
public:
  RunCapture();
  ~RunCapture();
  RunCapture(const RunCapture&) = delete;
  RunCapture& operator=(const RunCapture&) = delete;

  /// What was run since, as a function of these buffers and variables. `prune` leaves out what depends on
  /// none of them.
  CapturedRun finish(std::span<const std::shared_ptr<Buffer>> inputs, std::span<const std::string> variables,
                     bool prune = false);

  size_t size() const { return steps_.size(); }

  /// While one lives, nothing that runs on this thread is noted.
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
  /// Something the host does before each replay, such as writing the next numbers of a stream.
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

/// Launches a kernel on memory in order of its globals and accounts for it; `buffers` are the ids of what the
/// memory belongs to, for the observer. Answers the seconds it took where it is waited for.
double launchKernel(const CompiledKernel& kernel, Device& device, std::span<void* const> memory,
                    const VarValues& values, bool firstRun, const std::vector<std::string>& metadata,
                    std::span<const uint64_t> buffers = {}, bool wait = false);
void copyBuffer(Buffer& to, Buffer& from, const std::vector<std::string>& metadata);

} // namespace uopscope
