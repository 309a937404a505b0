// Register pressure of a linear program: how many registers hold a value behind each instruction, where they are most, who
// is alive there, and the bytes that do not fit.
//
//   LiveRanges live = liveRanges(kernel.uops, registerFileOf(target));
//   live.alive[live.vectors.at].vectors       // 36 of live.file.vectors == 32
//   live.spilledBytes                         // 256: four registers of 64 bytes
//
// A value is alive from its instruction to its last user. A value made before a loop and used in it stays alive to the
// loop's END. What costs no register counts nothing: constants, addresses and what is added to them, lanes read
// out of a vector, loads that their one user takes from memory, and arrays that are indexed by a variable.
//
// Invariant: it reads the program alone, so a program read from a trace has the numbers that it had when it was compiled.
// A compiler may do better (it reorders) or worse (it hoists); docs/design/registers.md compares both.
#pragma once
#include "engine/codegen/target.h"

#include <cstdint>
#include <span>
#include <vector>

namespace uopscope {

/// The registers of a processor, or of a thread of a GPU, which has no vectors: its general registers hold every value.
struct RegisterFile {
  int64_t vectors = 0, vectorBytes = 0;
  int64_t general = 0, generalBytes = 0;
  bool hasVectors() const { return vectors > 0; }
};

/// Of a thread of a GPU: CUDA's limit, and all but one of AMD's.
constexpr RegisterFile kThreadRegisters{.general = 255, .generalBytes = 4};

/// What the target's compiler may hand out.
RegisterFile registerFileOf(const Target& target);

/// A value in registers. It is alive behind the instructions made <= i < until.
struct LiveValue {
  uint32_t made = 0, until = 0; ///< instructions, from 0
  int32_t registers = 0;
  bool isVector = false;
};

struct LiveRanges {
  struct Alive {
    int32_t vectors = 0, general = 0;
  };
  struct Peak {
    uint32_t at = 0;       ///< the first instruction behind which most are alive
    int32_t registers = 0; ///< alive there
  };
  RegisterFile file;
  std::vector<LiveValue> values; ///< in order of `made`
  std::vector<Alive> alive;      ///< behind each instruction
  Peak vectors, general;
  /// Bytes of the values that find no register at the peaks: what the stack must hold at least, if nothing is reordered.
  int64_t spilledBytes = 0;

  /// The values alive behind an instruction, those with the longest ranges first.
  std::vector<LiveValue> aliveBehind(size_t instruction) const;
};

/// `program`: instructions in order, each after its sources, each RANGE closed by one END.
LiveRanges liveRanges(std::span<const UOp> program, const RegisterFile& file);

} // namespace uopscope
