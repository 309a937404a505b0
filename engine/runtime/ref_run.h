// What a launch of the interpreter works on, for the files that execute instructions.
//
//   ConstValue v = readValue(dtypes::float16, run.shared.data() + 1024);
//
// Invariant: `shared` is the memory of one group at a time.
#pragma once
#include "engine/runtime/ref_program.h"

namespace uopscope {

struct RefProgram::Run {
  std::span<void* const> buffers;
  std::vector<std::byte> shared; ///< memory of the group that runs
};

/// The value of this type at an address. Throws Error(Compile) for a type that memory does not hold.
ConstValue readValue(DType type, const std::byte* p);

} // namespace uopscope
