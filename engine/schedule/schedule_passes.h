// The passes of a schedule as one table, in order: from the graph of tensors to kernels in the order in which
// they run. It drives execution, verification, the rules of users, lists of passes and docs/design/passes.md,
// as the table of engine/codegen/kernel_passes.h does for a kernel.
//
//   for (const SchedulePass& pass : schedulePasses()) fmt::print("{}  {}\n", pass.name, pass.about);
//
// Before the first stand "Apply Multi Map" (engine/tensor/multi.h), where tensors lie on several devices, and
// "rewrite for sched cache", whose result is looked up in the cache of schedules: a schedule found there
// needs no pass of this table.
//
// Invariant: every change of a schedule's graph happens in a pass of this table or in one nested in it.
#pragma once
#include "engine/schedule/passes.h"

#include <span>
#include <string_view>

namespace uopscope::sched {

/// State that a pass uses besides the graph.
struct ScheduleWork {
  ScheduleState& state;
  std::span<const UOp> copied; ///< contents that reads get a copy of
  std::vector<UOpMap<UOp>>
      moves; ///< old -> new of every pass over the tensor graph that changes it, in order
  std::vector<KernelEntry>& order; ///< kernels in the order in which they run
};

struct SchedulePass {
  /// Passes over the tensor graph tell the successor of each node; those over ranges work on stored values.
  enum class Part : uint8_t { TensorGraph, Ranges };
  std::string_view name;
  Part part;
  bool verified; ///< as a tensor graph afterwards, with SPEC=1
  /// Its rules; null for a pass that looks.
  const PatternMatcher* (*rules)();
  UOp (*run)(UOp sink, ScheduleWork& work);
  std::string_view about; ///< one line for people
};

/// All of them, in the order in which they run.
std::span<const SchedulePass> schedulePasses();

/// Runs the passes of a part, the rules that users added after each, and the verification that SPEC asks for.
/// Stops early where state.needCopies says that the graph has to be scheduled again.
UOp runSchedulePasses(SchedulePass::Part part, UOp sink, ScheduleWork& work);

} // namespace uopscope::sched
