// What the time model wants to know of a linear program: loop by loop the work of its own instructions, the chains of operations
// that its turns wait for, and the memory that it touches.
//
//   const ProgramWalk walk(program, rates);
//   walk.blocks()[0]                 // outside of all loops; 1 is the first RANGE
//
// Invariant: the number of a loop in blocks() is its number in traffic().
#pragma once
#include "engine/codegen/access_traffic.h"
#include "engine/codegen/instruction_work.h"
#include "engine/codegen/machine_rates.h"

#include <map>
#include <set>

namespace uopscope {

/// The instructions of one loop that are in no loop inside it, in one turn.
struct Block {
  Work work;
  bool innermost = true;
  double chain = 0; ///< cycles until the next turn may begin
  double path = 0;  ///< cycles from the first to the last instruction of a turn
  size_t count = 0; ///< instructions
};

class ProgramWalk {
public:
  /// `share`: of the most turns of loops whose number is a variable.
  explicit ProgramWalk(std::span<const UOp> program, const MachineRates& rates, double share = 1);
  /// False for kernels of GPUs.
  bool understood() const { return understood_; }
  int threads() const { return threads_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  const AccessTraffic& traffic() const { return traffic_; }
  const std::vector<UOp>& globals() const { return globals_; } ///< by their numbers

private:
  void visit(UOp u);
  void follow(UOp u, size_t block);
  void straight(UOp u, size_t block);

  struct Place { ///< an order by numbers, not by addresses
    bool operator()(const std::pair<UOp, UOp>& a, const std::pair<UOp, UOp>& b) const {
      return std::pair(a.first.id(), a.second.id()) < std::pair(b.first.id(), b.second.id());
    }
  };
  struct Started {
    std::set<std::pair<UOp, UOp>, Place> loaded;
    std::map<std::pair<UOp, UOp>, double, Place> stored;
  };
  const MachineRates& rates_;
  InstructionWork work_;
  AccessTraffic traffic_;
  std::vector<Block> blocks_;
  std::vector<UOp> ranges_, globals_;
  std::vector<Started> started_;
  UOpMap<std::pair<size_t, double>> ready_; ///< its loop, cycles since the turn began
  UOpMap<std::pair<size_t, double>> depth_; ///< of a value on a chain: its loop, cycles since the load
  int threads_ = 1;
  bool understood_ = true;
};

} // namespace uopscope
