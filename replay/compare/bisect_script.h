// Which rewrite makes a script fail: the script is run with less and less of the optional rewrites
// (replay/record/rewrite_limits.h) until the one is found without which it succeeds.
//
//   ScriptCulprit c = bisectScript([&](size_t fuel) { return runWithFuel(fuel); });
//   print(c.sentence);
//
// It works for any rule, a script's own Python ones included, and takes about 2 + log2(rewrites) runs.
// Invariant: `run` is called with SIZE_MAX first.
#pragma once
#include "replay/record/rewrite_limits.h"

#include <functional>

namespace uopscope {

struct ScriptRun {
  bool bad = false;
  LastRewrite last;
};
struct ScriptCulprit {
  bool found = false;
  size_t optional = 0, number = 0, runs = 0; ///< number: of the culprit, from 1
  LastRewrite rewrite;
  std::string sentence;
};
ScriptCulprit bisectScript(const std::function<ScriptRun(size_t fuel)>& run);

} // namespace uopscope
