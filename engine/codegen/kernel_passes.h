// The passes of a kernel as one table in order, from the graph that the schedule made to the graph that is
// linearised and rendered. The table is the outline of the compiler. It drives execution, verification, the
// insertion of users' rules, the lists of passes and docs/design/passes.md.
//
//   for (const KernelPass& pass : kernelPasses()) fmt::print("{}  {}\n", pass.name, pass.about);
//
// Invariant: every change of a kernel's graph happens in a pass of this table, in a pass nested in one, or in
// the optimiser (opt.h), whose Opts are passes named after them.
#pragma once
#include "engine/codegen/spec.h"
#include "engine/codegen/target.h"

#include <optional>
#include <span>
#include <string_view>

namespace uopscope {

struct KernelPass {
  /// When the pass runs: for every kernel; before the Opts are chosen (Opts count the axes of the graph it
  /// leaves); or after them, when loops become lanes, registers and hardware indices.
  enum class Part : uint8_t { Always, BeforeOpts, AfterOpts };
  std::string_view name;
  Part part;
  std::optional<SpecStage> stage; ///< with SPEC=1 the graph is verified for this stage afterwards
  /// The rules for the target. Null: the target does not need the pass.
  const PatternMatcher* (*rules)(const Target&);
  /// Runs a pass that is more than one rewrite without context; null for any other pass.
  UOp (*run)(const KernelPass&, UOp sink, const Target&);
  std::string_view about; ///< one line for people
};

/// All passes in the order in which they run.
std::span<const KernelPass> kernelPasses();
/// The names of all passes.
std::span<const std::string_view> kernelPassNames();

/// Runs one pass, then the rules that users added after it, then the verification that SPEC asks for. An
/// error names the kernel and the pass in which it happened.
UOp runKernelPass(const KernelPass& pass, UOp sink, const Target& target);

} // namespace uopscope
