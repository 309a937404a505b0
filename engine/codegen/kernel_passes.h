// The passes of a kernel as one table, in order: from the graph that the schedule made to the graph that is
// put in a line and rendered. Whoever reads the table knows the compiler; it drives execution, verification,
// the rules of users, lists of passes and docs/design/passes.md.
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
  /// When it runs: for every kernel; before its Opts are chosen (Opts count the axes that it leaves); after
  /// them, when loops become lanes, registers and hardware indices.
  enum class Part : uint8_t { Always, BeforeOpts, AfterOpts };
  std::string_view name;
  Part part;
  std::optional<SpecStage> stage; ///< as which the graph is verified afterwards, with SPEC=1
  /// Rules for the target; null: the target has none, and the pass is left out.
  const PatternMatcher* (*rules)(const Target&);
  /// Runs it where it is more than one rewrite without context; null elsewhere.
  UOp (*run)(const KernelPass&, UOp sink, const Target&);
  std::string_view about; ///< one line for people
};

/// All of them, in the order in which they run.
std::span<const KernelPass> kernelPasses();
/// Their names.
std::span<const std::string_view> kernelPassNames();

/// Runs one pass, the rules that users added after it, and the verification that SPEC asks for. An error says
/// in which kernel and pass it happened.
UOp runKernelPass(const KernelPass& pass, UOp sink, const Target& target);

} // namespace uopscope
