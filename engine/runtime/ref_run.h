// What a launch of the interpreter works on, for the files that execute instructions.
//
//   ConstValue v = readValue(dtypes::float16, run.shared.data() + 1024);
//
// Invariant: `shared` is the memory of one group at a time.
#pragma once
#include "engine/runtime/ref_program.h"

#include <map>

namespace uopscope {

struct RefProgram::Run {
  std::span<void* const> buffers;
  std::vector<std::byte> shared; ///< memory of the group that runs
  /// The barriers of a memory that boxes are copied to, by the memory: for each stage, boxes that arrived and phases that ended.
  struct BoxStage {
    int64_t arrived = 0, ended = 0;
  };
  struct BoxMemory {
    int64_t boxes = 0; ///< that fill a stage
    std::vector<BoxStage> stages;
  };
  std::map<int32_t, BoxMemory> boxes;
};

/// The value of this type at an address. Throws Error(Compile) for a type that memory does not hold.
ConstValue readValue(DType type, const std::byte* p);

} // namespace uopscope
