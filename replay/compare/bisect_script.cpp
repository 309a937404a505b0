// The script fails with all rewrites and succeeds with none, so a first bad rewrite lies in between.
#include "replay/compare/bisect_script.h"

#include <fmt/format.h>

#include <bit>

namespace uopscope {

ScriptCulprit bisectScript(const std::function<ScriptTrial(size_t fuel)>& run,
                           const std::function<void(size_t run, size_t about)>& progress) {
  ScriptCulprit c;
  auto counted = [&](size_t fuel) {
    ++c.runs;
    if (progress) progress(c.runs, c.optional ? 3 + static_cast<size_t>(std::bit_width(c.optional)) : 0);
    return run(fuel);
  };
  const ScriptTrial all = counted(SIZE_MAX);
  c.optional = all.last.optional;
  if (!all.bad) {
    c.sentence = "the script succeeds with all its rewrites: there is nothing to find";
    return c;
  }
  if (c.optional == 0 || counted(0).bad) {
    c.sentence = "the script fails without any optional rewrite, too: no equation makes it fail; look at the "
                 "script and at "
                 "the passes that lower";
    return c;
  }
  size_t good = 0, bad = c.optional;
  while (bad - good > 1) {
    const size_t middle = good + (bad - good) / 2;
    (counted(middle).bad ? bad : good) = middle;
  }
  const ScriptTrial culprit = counted(bad);
  c.found = culprit.bad;
  c.number = bad;
  c.rewrite = culprit.last;
  c.sentence =
      c.found
          ? fmt::format("rewrite {} of {} makes it fail: rule {} ({}) in pass \"{}\" of {} turns {} into {}",
                        bad, c.optional, c.rewrite.rule, c.rewrite.at, c.rewrite.pass, c.rewrite.kernel,
                        c.rewrite.before, c.rewrite.after)
          : "the script fails now and then with the same rewrites: it is not the compiler alone that decides";
  return c;
}

} // namespace uopscope
