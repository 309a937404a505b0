// What if: a kernel compiled again without a rule, or with other Opts, beside the compilation as it was.
//
//   WhatIf w = whatIf(kernel, {variantWithout("cut-arithmetic"), variantOpts("UPCAST 0 4; UNROLL 0 8")}, {});
//   for (const VariantResult& v : w.variants) print(v.name, v.difference, v.instructions, v.seconds);
//
// Each variant is compiled, and run on made-up data, in a child process: one that crashes or hangs is a row
// that says so. Times of base and variant are taken in turn in the same process.
#pragma once
#include "engine/uop/arg.h"
#include "replay/record/capture.h"

#include <nlohmann/json.hpp>

namespace uopscope {

struct Variant {
  std::string name;
  std::vector<std::string> without; ///< rules
  std::optional<std::vector<Opt>> opts;
};
/// "mul-one" or "mul-one,add-zero"; Error(Key) for a rule that this build does not have, naming near ones.
Variant variantWithout(const std::string& rules);
/// "UPCAST 0 4; UNROLL 0 8", each an Opt, an axis and an amount; "none" for no Opt at all. Error(Value) says
/// how.
Variant variantOpts(const std::string& opts);

struct VariantResult {
  std::string name;
  std::string problem;    ///< why it does not compile; empty: it does
  std::string unmeasured; ///< why it was not run; empty: it was
  std::string source;     ///< C, as people read it
  std::string
      difference;   ///< the first rewrite at which it parts from the base, in a sentence; empty: nowhere
  std::string pass; ///< in which that is
  bool sameCode = false;
  size_t rewrites = 0, lines = 0, instructions = 0; ///< lines of C; instructions of machine code
  double seconds = 0, ratio = 1, low = 1, high = 1; ///< of base: ratio of medians, 95 of 100 resamplings
  bool wrong = false;                               ///< its results are not those of the base
};
struct WhatIf {
  std::string kernel, place;
  VariantResult base;
  std::vector<VariantResult> variants;
};
struct WhatIfOptions {
  int repeats = 25; ///< timed runs of each; 0: it is not run
  int timeoutSeconds = 60;
};
WhatIf whatIf(const Compilation& kernel, const std::vector<Variant>& variants, const WhatIfOptions& options);

/// Instructions of an assembly listing: no labels, directives or comments.
size_t instructionCount(std::string_view assembly);

/// One table a kernel, then for each variant where it parts and the code's difference (at most `diffLines`;
/// 0: all).
std::string whatIfText(const WhatIf& w, size_t diffLines);
nlohmann::ordered_json whatIfJson(const WhatIf& w);

} // namespace uopscope
