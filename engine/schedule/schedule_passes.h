// The passes of a schedule as one table in order, from the tensor graph to kernels in the order in which they
// run. The table drives execution, verification, the insertion of users' rules, the lists of passes and
// docs/design/passes.md. engine/codegen/kernel_passes.h is the same for a kernel.
//
//   for (const SchedulePass& pass : schedulePasses()) fmt::print("{}  {}\n", pass.name, pass.about);
//
// Two passes run before the table: "Apply Multi Map" (engine/tensor/multi.h) if tensors are on several
// devices, and "rewrite for sched cache". The result of the latter is looked up in the cache of schedules; a
// schedule found there runs no pass of this table.
//
// Invariant: every change of a schedule's graph happens in a pass of this table or in one nested in it.
#pragma once
#include "engine/schedule/passes.h"

#include <span>
#include <string_view>

namespace uopscope::sched {

/// The state that passes use besides the graph.
struct ScheduleWork {
  ScheduleState& state;
  std::span<const UOp> copied; ///< values whose reads get a copy
  std::vector<UOpMap<UOp>>
      moves; ///< old -> new, for every pass over the tensor graph that changes it, in order
  std::vector<KernelEntry>& order; ///< kernels in the order in which they run
};

struct SchedulePass {
  /// Passes over the tensor graph report the successor of each node; passes over ranges work on stored
  /// values.
  enum class Part : uint8_t { TensorGraph, Ranges };
  std::string_view name;
  Part part;
  bool verified; ///< with SPEC=1 the result is verified as a tensor graph
  /// The rules of the pass; null for a pass that only reads the graph.
  const PatternMatcher* (*rules)();
  UOp (*run)(UOp sink, ScheduleWork& work);
  std::string_view about; ///< one line for people
};

/// All passes in the order in which they run.
std::span<const SchedulePass> schedulePasses();

/// Runs the passes of a part, the rules that users added after each, and the verification that SPEC asks for.
/// Stops early if state.needCopies is not empty, since the graph must then be scheduled again.
UOp runSchedulePasses(SchedulePass::Part part, UOp sink, ScheduleWork& work);

} // namespace uopscope::sched
