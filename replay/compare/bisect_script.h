// Finds the rewrite that makes a script fail. The script runs with fewer and fewer optional rewrites
// (replay/record/rewrite_limits.h) until the search finds the one without which it succeeds.
//
//   ScriptCulprit c = bisectScript([&](size_t fuel) { return runWithFuel(fuel); });
//   print(c.sentence);
//
// The search works for any rule, also for Python rules of the script, and takes about 2 + log2(rewrites)
// runs. Invariant: the first call of `run` has fuel SIZE_MAX.
#pragma once
#include "replay/record/rewrite_limits.h"

#include <functional>

namespace uopscope {

struct ScriptTrial {
  bool bad = false;
  LastRewrite last;
};
struct ScriptCulprit {
  bool found = false;
  size_t optional = 0, number = 0, runs = 0; ///< number of the culprit, from 1
  LastRewrite rewrite;
  std::string sentence;
};
/// `progress` is told before each run: its number, and about how many there will be (0: not known yet).
ScriptCulprit bisectScript(const std::function<ScriptTrial(size_t fuel)>& run,
                           const std::function<void(size_t run, size_t about)>& progress = {});

} // namespace uopscope
