// What if: compiles a kernel again without a rule, or with different Opts, and compares the result with the
// unchanged compilation.
//
//   WhatIf w = whatIf(kernel, {variantWithout("cut-arithmetic"), variantOpts("UPCAST 0 4; UNROLL 0 8")}, {});
//   Variant v = variantAlternative(trace, 826, 1);        // the compiler's first alternative at step 826
//   for (const VariantResult& v : w.variants) print(v.name, v.difference, v.instructions, v.seconds);
//
// A child process compiles each variant and runs it on made-up data, so a crash or a hang only fills its row
// with a message. Times of base and variant are taken in turn in the same process.
#pragma once
#include "engine/rewrite/matcher.h"
#include "engine/uop/arg.h"
#include "replay/read/trace.h"
#include "replay/record/capture.h"

#include <nlohmann/json.hpp>

namespace uopscope {

struct Variant {
  std::string name;
  std::vector<std::string> without = {}; ///< names of rules
  std::optional<std::vector<Opt>> opts = {};
  size_t rewrite = 0;    ///< one rewrite of the kernel, counted from 1, that is not made; 0: none
  std::string rule = {}; ///< its rule; the rewrite of that number has to be by it
  /// Rules that take part as well, one list after the other, and the pass that they follow.
  std::vector<std::shared_ptr<const PatternMatcher>> added = {};
  std::string after = {};
  std::string told = {}; ///< what was done by hand, where, in place of the first rewrite that differs
  std::string pass = {}; ///< the pass where it was done
};
/// Parses "mul-one" or "mul-one,add-zero". Error(Key) for an unknown rule names similar rules.
Variant variantWithout(const std::string& rules);
/// Parses "UPCAST 0 4; UNROLL 0 8", each an Opt, an axis and an amount; "none" stands for no Opt.
/// Error(Value) explains the form.
Variant variantOpts(const std::string& opts);
/// Without the rewrite of one step, or without the Opt that it applies. Error(Key) where the trace has no such
/// step, Error(Value) for a step of a schedule.
Variant variantWithoutStep(Trace& trace, StepId step);
/// With an alternative of the decision at a step, counted from 1, in place of the chosen tile. Error(Key) where
/// there is no such alternative, Error(Value) where it is no tile: there the rule decides, and
/// variantWithoutStep() is the other way.
Variant variantAlternative(Trace& trace, StepId step, size_t number);
/// The kernel whose lowering made a step. Error(Key) and Error(Value) as above.
ScopeId kernelOfStep(Trace& trace, StepId step);

struct VariantResult {
  std::string name;
  std::string problem;    ///< the error of its compilation; empty: it compiled
  std::string unmeasured; ///< the reason why it was not run; empty: it ran
  std::string source;     ///< readable C
  std::string
      difference;   ///< one sentence about the first rewrite that differs from the base; empty: none differs
  std::string pass; ///< pass of that rewrite
  bool sameCode = false;
  std::string opts;                                 ///< "UPCAST 0 4; UNROLL 0 8", or empty
  size_t rewrites = 0, lines = 0, instructions = 0; ///< lines of C; instructions of machine code
  size_t registers = 0,
         spills = 0; ///< vector registers that it uses; instructions that keep a value on the stack
  double seconds = 0, ratio = 1, low = 1, high = 1; ///< of base: ratio of medians, 95 of 100 resamplings
  bool wrong = false;                               ///< its results differ from the base's
};
struct WhatIf {
  std::string kernel, place;
  VariantResult base;
  std::vector<VariantResult> variants;
};
struct WhatIfOptions {
  int repeats = 25; ///< timed runs of each variant; 0: no run
  int timeoutSeconds = 60;
  /// Corpora of the kernel as it is and of the variants, to be stepped through together: PREFIX-0.uopcorpus is the
  /// base, PREFIX-1.uopcorpus the first variant. Empty: none are written.
  std::string keep = {};
};
WhatIf whatIf(const Compilation& kernel, const std::vector<Variant>& variants, const WhatIfOptions& options);

/// Number of instructions of an assembly listing, without labels, directives and comments.
size_t instructionCount(std::string_view assembly);
/// Number of different vector registers in an x86-64 or AArch64 listing: xmm1, ymm1 and zmm1 are one.
size_t vectorRegisters(std::string_view assembly);
/// Number of moves between a vector register and the stack.
size_t vectorSpills(std::string_view assembly);

/// One table per kernel, then for each variant the place of divergence and the difference of the code (at
/// most `diffLines` lines; 0: all).
std::string whatIfText(const WhatIf& w, size_t diffLines);
nlohmann::ordered_json whatIfJson(const WhatIf& w);

} // namespace uopscope
