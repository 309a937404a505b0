// What if: compiles a kernel again without a rule, or with different Opts, and compares the result with the
// unchanged compilation.
//
//   WhatIf w = whatIf(kernel, {variantWithout("cut-arithmetic"), variantOpts("UPCAST 0 4; UNROLL 0 8")}, {});
//   for (const VariantResult& v : w.variants) print(v.name, v.difference, v.instructions, v.seconds);
//
// A child process compiles each variant and runs it on made-up data, so a crash or a hang only fills its row
// with a message. Times of base and variant are taken in turn in the same process.
#pragma once
#include "engine/uop/arg.h"
#include "replay/record/capture.h"

#include <nlohmann/json.hpp>

namespace uopscope {

struct Variant {
  std::string name;
  std::vector<std::string> without; ///< names of rules
  std::optional<std::vector<Opt>> opts;
};
/// Parses "mul-one" or "mul-one,add-zero". Error(Key) for an unknown rule names similar rules.
Variant variantWithout(const std::string& rules);
/// Parses "UPCAST 0 4; UNROLL 0 8", each an Opt, an axis and an amount; "none" stands for no Opt.
/// Error(Value) explains the form.
Variant variantOpts(const std::string& opts);

struct VariantResult {
  std::string name;
  std::string problem;    ///< the error of its compilation; empty: it compiled
  std::string unmeasured; ///< the reason why it was not run; empty: it ran
  std::string source;     ///< readable C
  std::string
      difference;   ///< one sentence about the first rewrite that differs from the base; empty: none differs
  std::string pass; ///< pass of that rewrite
  bool sameCode = false;
  size_t rewrites = 0, lines = 0, instructions = 0; ///< lines of C; instructions of machine code
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
};
WhatIf whatIf(const Compilation& kernel, const std::vector<Variant>& variants, const WhatIfOptions& options);

/// Number of instructions of an assembly listing, without labels, directives and comments.
size_t instructionCount(std::string_view assembly);

/// One table per kernel, then for each variant the place of divergence and the difference of the code (at
/// most `diffLines` lines; 0: all).
std::string whatIfText(const WhatIf& w, size_t diffLines);
nlohmann::ordered_json whatIfJson(const WhatIf& w);

} // namespace uopscope
