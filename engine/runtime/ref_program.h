// The reference interpreter: a linear program decoded once into compact instructions, then run one operation
// at a time by the rules of evalAlu. Every access is checked against the size of its buffer. It is the oracle
// for every compiled device: slow, simple, and defined for every operation and type.
//
//   RefProgram p(kernel);
//   p.launch(buffers, vars, globalSize, localSize, true);
//
// Work items of a group run in turns from BARRIER to BARRIER. Memory of DEFINE_REG and DEFINE_LOCAL starts as
// all ones (NaN, -1), so that a read of memory that nobody wrote shows.
//
// As a GPU (RefProgram(kernel, RefGpu{})) the threads are watched (gpu_watch.h): a launch in which they race,
// part at a barrier or read memory that was never written throws Error(Runtime) with everything that was found.
#pragma once
#include "engine/runtime/device.h"
#include "engine/runtime/gpu_watch.h"
#include "engine/uop/eval.h"

#include <functional>
#include <mutex>
#include <optional>

namespace uopscope {

/// How a program is watched as a GPU's.
struct RefGpu {
  /// Which bytes of the buffer at an address were written, and where it starts among them.
  std::function<std::pair<GpuWatch::Shadow, size_t>(const void*)> shadowOf = {};
};

class RefProgram : public Program {
public:
  /// Throws Error(Compile) where the linear program is not complete, Error(Unsupported) for text of other
  /// targets and WMMA.
  explicit RefProgram(const LoweredKernel& kernel, std::optional<RefGpu> gpu = {});
  double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                std::span<const int64_t> globalSize, std::span<const int64_t> localSize, bool wait) override;
  /// The decoded instructions, as text.
  std::string assembly() const override;
  /// Of a GPU's program after a launch: the cost of each access of memory, the share of a processor that a group takes.
  std::string report() const;

private:
  enum class Do : uint8_t { Alu, FastFloat, FastInt, Copy, Load, Store, Range, End, If, Barrier, Done };
  /// A place for values: `slot` of the first lane; one lane is read for every lane where `step` is 0.
  struct Operand {
    int32_t slot = -1;
    int32_t step = 0;
  };
  struct Instruction {
    Do what = Do::Done;
    Op op = Op::NOOP;
    DType type, operandType;
    int32_t lanes = 1;
    Operand to, a, b,
        c; ///< Load: a index, b gate, c alternative. Store: a index, b gate, c value. Range: a extent
    int32_t memory = -1;       ///< Load, Store: which of memories_
    int32_t jump = -1;         ///< Range, If: where to go when it does not run; End: its Range
    std::vector<int32_t> from; ///< Copy: a slot per lane
  };
  struct Memory {
    std::string name;
    DType element;
    int64_t size = 0;    ///< elements
    int32_t global = -1; ///< position among the launch's buffers, or
    size_t offset = 0;   ///< offset into a work item's or group's own memory
    bool shared = false;
  };
  struct WorkItem {
    std::vector<ConstValue> values;
    std::vector<std::byte> own;
    size_t at = 0;
  };
  class Decoder;
  struct Run;

  void run(Run& r, WorkItem& item) const;
  void access(const Run& r, WorkItem& item, const Instruction& in) const;
  /// `before`: the bytes a store found at `now`; null for a load.
  void watch(const Instruction& in, int64_t index, int64_t bytes, const std::byte* before,
             const std::byte* now) const;
  void watchBarrier(std::span<const WorkItem> items);
  void runGroup(Run& r, std::span<WorkItem> items);
  void watchLaunch(std::span<void* const> buffers, std::span<const int64_t> globalSize,
                   std::span<const int64_t> localSize);
  /// The report where DEBUG asks for it; throws the faults found.
  void finishWatch();
  [[noreturn]] void outOfBounds(const Instruction& in, int64_t index) const;

  std::string name_;
  std::vector<Instruction> code_;
  std::vector<Memory> memories_;
  std::vector<ConstValue> initial_; ///< values of all slots before the program runs: its constants
  std::vector<std::pair<int32_t, int>> varSlots_;         ///< slot, position among vars
  std::vector<std::pair<int32_t, std::string>> specials_; ///< slot, gidx0 ...
  std::vector<DType> varTypes_, specialTypes_;
  size_t ownBytes_ = 0, sharedBytes_ = 0;
  std::optional<RefGpu> gpu_;
  std::unique_ptr<GpuWatch> watch_;
  std::mutex watching_; ///< one launch at a time is watched
  int64_t registers_ = 0, threads_ = 0, groups_ = 0;
};

} // namespace uopscope
