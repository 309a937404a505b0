// The reference interpreter. A linear program is decoded once into compact instructions, which then run one
// operation at a time with the semantics of evalAlu. Every access is checked against the size of its buffer.
// It is the oracle for every compiled device: slow, simple, and defined for every operation and type.
//
//   RefProgram p(kernel);
//   p.launch(buffers, vars, globalSize, localSize, true);
//
// The work items of a group run in turns from BARRIER to BARRIER. Memory of DEFINE_REG and DEFINE_LOCAL
// starts with all bits set (NaN, -1), which makes reads of unwritten memory visible.
//
// RefProgram(kernel, RefGpu{}) runs as a GPU with watched threads (gpu_watch.h). A launch in which threads
// race, wait at different barriers, or read memory that was never written throws Error(Runtime) with all
// findings. The threads of a warp meet at each WMMA, whose products are added in double precision and
// rounded once.
#pragma once
#include "engine/codegen/async_boxes.h"
#include "engine/codegen/machine_functions.h"
#include "engine/runtime/device.h"
#include "engine/runtime/gpu_watch.h"
#include "engine/uop/eval.h"

#include <array>
#include <functional>
#include <mutex>
#include <optional>

namespace uopscope {

/// An instruction that a thread executed.
struct RefStep {
  size_t node = 0;                   ///< its position in the linear program
  int64_t thread = 0;                ///< number of the thread in its group
  std::span<const ConstValue> value; ///< the lanes of its result, or those stored; the counter of a loop
  int memory = -1;                   ///< of a LOAD or STORE: as in RefProgram::memoryNames()
  int64_t element = -1;              ///< the first element accessed; -1: a gate kept it from memory
  int64_t count = 0;                 ///< elements accessed
};

/// The configuration of a program that is watched as a GPU's.
struct RefGpu {
  /// For an address, which bytes of its buffer were written, and the position of the address among these.
  std::function<std::pair<GpuWatch::Shadow, size_t>(const void*)> shadowOf = {};
  /// The layouts of the cores that a WMMA may name.
  std::vector<TensorCore> cores = {};
  std::optional<int64_t> group = {}; ///< the only group that a launch runs
  std::function<void(const RefStep&)> onStep = {};
};

class RefProgram : public Program {
public:
  /// Throws Error(Compile) if the linear program is not complete, Error(Unsupported) for CUSTOM text of other
  /// targets and a WMMA of an unknown core.
  explicit RefProgram(const LoweredKernel& kernel, std::optional<RefGpu> gpu = {});
  double launch(std::span<void* const> buffers, std::span<const int64_t> vars,
                std::span<const int64_t> globalSize, std::span<const int64_t> localSize, bool wait) override;
  /// The decoded instructions, as text.
  std::string assembly() const override;
  /// Name, bytes of an element, and whether a group shares it.
  struct MemoryName {
    std::string name;
    int64_t elementBytes = 4;
    bool shared = false;
  };
  std::vector<MemoryName> memoryNames() const;
  /// After a launch as a GPU: the cost of each memory access, and the share of a processor that a group
  /// occupies.
  std::string report() const;

private:
  enum class Do : uint8_t {
    Alu,
    FastFloat,
    FastInt,
    Copy,
    Load,
    Store,
    Range,
    End,
    If,
    CloseCopies,
    CopyBox,
    WaitForBoxes,
    BeginProducts,
    WaitForProducts,
    Barrier,
    Function,
    Dot,
    Tiles,
    Wmma,
    Done
  };
  /// The place of a value: `slot` is its first lane; with `step` 0 the same lane is read for every lane.
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
        c; ///< Load: a index, b gate, c alternative. Store: a index, b gate, c value. Range: a extent. Wmma:
           ///< fragments
    int32_t memory = -1;       ///< for Load and Store: index in memories_; for Wmma: in cores of the GPU
    int32_t jump = -1;         ///< for Range and If: the target if the body does not run; for End: its Range
    std::vector<int32_t> from; ///< for Copy: a slot per lane
    int32_t node = -1;         ///< position in the linear program
    MachineFunction function = MachineFunction::Exponent; ///< for Function
    bool isAsync = false; ///< a Store that a Barrier must wait for (async_copy.h)
    std::vector<int32_t> barriers =
        {}; ///< for WaitForBoxes: memory, slot of the place, ... ; the phase is operand a
    int32_t fromMemory =
        -1;       ///< for CopyBox, whose operand c is the place there; a is that in `memory`, b a gate
    Box box = {}; ///< for CopyBox
    BoxBarriers prepares = {}; ///< for a Barrier that prepares those of boxes in `memory`
    bool ofProduct =
        false; ///< a Load or Store of registers for a product that is under way (async_products.h)
    bool forUnits = false; ///< a Barrier that shows shared memory to cores
    std::optional<int64_t> left =
        {}; ///< for a Barrier and WaitForProducts: the groups that it leaves under way; none: all waited for. For a Dot and Tiles: its terms
    std::array<bool, 2> sideBySide =
        {}; ///< for a Wmma: the terms of its operands in shared memory lie side by side
    /// Whether each lane of a Load has a gate.
    bool isMasked() const { return b.slot >= 0 && b.step != 0 && lanes > 1; }
  };
  struct Memory {
    std::string name;
    DType element;
    int64_t size = 0;    ///< number of elements
    int32_t global = -1; ///< position among the launch's buffers; -1 for own and shared memory
    size_t offset = 0;   ///< offset in the work item's or group's memory
    bool shared = false, ofProducts = false;
  };
  struct WorkItem {
    std::vector<ConstValue> values;
    std::vector<std::byte> own;
    size_t at = 0;
  };
  class Decoder;
  struct Run;

  Do run(Run& r, WorkItem& item) const;
  static void machineCall(ConstValue* values, const Instruction& in);
  static void dot(ConstValue* values, const Instruction& in);
  static void tiles(ConstValue* values, const Instruction& in);
  void access(const Run& r, WorkItem& item, const Instruction& in) const;
  void maskedLoad(const Run& r, WorkItem& item, const Instruction& in) const;
  static std::byte* addressOf(const Run& r, WorkItem& item, const Memory& m);
  void copyBox(Run& r, const WorkItem& item, const Instruction& in) const;
  void waitForBoxes(Run& r, const WorkItem& item, const Instruction& in) const;
  void prepareBoxes(Run& r, const Instruction& in) const;
  void tell(const WorkItem& item, const Instruction& in) const;
  /// `before` are the bytes at `now` before a store; null for a load.
  void watch(const Instruction& in, int64_t index, int64_t bytes, const std::byte* before,
             const std::byte* now) const;
  uint32_t waitsAt(const WorkItem& item) const;
  void watchBarrier(std::span<const WorkItem> items);
  void runGroup(Run& r, std::span<WorkItem> items);
  bool runWarp(Run& r, std::span<WorkItem> warp, size_t first);
  /// Executes the WMMA at which the warp waits; false if no thread waits at one.
  bool multiplyTiles(const Run& r, std::span<WorkItem> warp, std::span<const Do> stopped, size_t first);
  void tileProduct(const Run& r, const Instruction& in, std::span<WorkItem> warp) const;
  /// The elements of operand 0 or 1, lines by terms, that the warp's descriptor leads to.
  std::vector<double> sharedOperand(const Run& r, const Instruction& in, size_t operand,
                                    std::span<WorkItem> warp) const;
  void watchLaunch(std::span<void* const> buffers, std::span<const int64_t> globalSize,
                   std::span<const int64_t> localSize);
  /// Prints the report if DEBUG asks for it; throws the faults found.
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
  std::mutex watching_;                                ///< one launch at a time is watched
  size_t warp_ = static_cast<size_t>(GpuWatch::kWarp); ///< threads that meet at a WMMA
  int64_t registers_ = 0, threads_ = 0, groups_ = 0;
  int64_t thread_ = 0; ///< number in its group of the thread that runs, where steps are told
};

} // namespace uopscope
