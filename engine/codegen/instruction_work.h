// What the instructions of a linear program ask of a processor, in operations by kind: the units they wait for. One
// instruction on wide vectors is as many operations as it fills registers.
//
//   InstructionWork work(program, 16);
//   Work w = work.of(instruction);           // {.additions = 2} for an ADD of 32 floats in registers of 16
//
// Instructions that LLVM leaves out cost nothing: constants, addresses that grow by a constant, lanes that a shuffle
// collects, registers' own loads and stores.
#pragma once
#include "engine/uop/uop.h"

#include <span>

namespace uopscope {

struct Work {
  double multiplies = 0, additions = 0; ///< of floats, and vectors of integers
  double divisions = 0, scalarDivisions = 0;
  double shuffles = 0, loads = 0, stores = 0;
  double scalars = 0; ///< integer operations outside vector registers, and branches
  void operator+=(const Work& o);
  double loops = 0;    ///< of the loop itself: its counter and its branch
  bool vector = false; ///< some value has several lanes
  double instructions() const;
  /// The work of one turn where a turn of vectors does `lanes` of them.
  Work inLanes(double lanes) const;
};

class InstructionWork {
public:
  InstructionWork(std::span<const UOp> program, int registerLanes);
  Work of(UOp u) const;
  /// Cycles from an instruction's operands to its value, in units of the latency of an addition.
  static double latency(UOp u);
  /// Whether it is an access of an array that lies in registers.
  bool inRegisters(UOp access) const;

private:
  double registersOf(DType type) const;
  Work unitsOf(UOp u) const;
  Work vectorize(UOp u) const;
  Work arithmetic(UOp u) const;

  double registerBytes_;
  UOpMap<bool> address_;   ///< used for addresses and gates alone
  UOpMap<bool> extracted_; ///< GEPs that somebody reads who is no shuffle
  UOpMap<bool> spilled_;   ///< DEFINE_REGs that are indexed by loops
};

} // namespace uopscope
