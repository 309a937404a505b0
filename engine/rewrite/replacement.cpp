// Replaces nodes by the entries of a table, as a pass.
#include "engine/rewrite/replacement.h"

namespace uopscope {

namespace {
struct Replacements {
  const UOpMap<UOp>& all;
};
} // namespace

UOp entryOf(Match& m) {
  const UOpMap<UOp>& all = m.ctx<Replacements>().all;
  auto found = all.find(m.root());
  return found == all.end() ? m.decline("nothing takes its place") : found->second;
}

UOp replaceNodes(UOp root, const UOpMap<UOp>& replacements, const PatternMatcher& rules,
                 std::string_view name, const char* file, int line) {
  if (replacements.empty()) return root;
  Replacements context{replacements};
  return graphRewriteBottomUp(root, rules, {.name = name, .ctx = context}, file, line);
}

} // namespace uopscope
