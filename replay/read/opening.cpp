// Walks over the passes of the scope once, and remembers the first step of each class: decided, visible
// effect, any.
#include "replay/read/opening.h"

#include "replay/read/decisions.h"

#include <algorithm>

namespace uopscope {
namespace {

/// How many steps of a pass are examined. A node counts as small with at most kFewSources sources.
constexpr int64_t kLookedAt = 200;
constexpr size_t kFewSources = 4;

bool small(Trace& trace, NodeId node) {
  const auto src = trace.nodes().raw(node).src;
  return src.size() <= kFewSources;
}

/// Whether a step has a visible effect on few nodes: the operation changes, and both nodes are small.
bool plain(Trace& trace, const StepInfo& s) {
  return s.kind != StepKind::RewriteError && s.after != kNoNode && s.after != s.before &&
         trace.nodes().op(s.before) != trace.nodes().op(s.after) && trace.nodes().op(s.before) != Op::SINK &&
         small(trace, s.before) && small(trace, s.after);
}

} // namespace

ScopeId fullestScope(const Trace& trace) {
  const ScopeInfo* fullest = nullptr;
  const auto weight = [](const ScopeInfo& s) { return std::pair(s.kind == ScopeKind::Kernel, s.steps); };
  for (const ScopeInfo& s : trace.scopes())
    if (s.steps > 0 && (!fullest || weight(s) > weight(*fullest))) fullest = &s;
  return fullest ? fullest->id : 0;
}

std::optional<StepPlace> openingOf(Trace& trace, ScopeId scope) {
  std::optional<StepPlace> decided, effect, first;
  for (const PassInfo& pass : std::vector<PassInfo>(trace.passes(scope))) {
    if (pass.steps == 0) continue;
    for (const auto& [step, made] : decisionsOf(trace, pass.id)) {
      const bool priced = std::ranges::any_of(made, [](const Decision& d) { return !d.others.empty(); });
      if (priced) return placeOfStep(trace, step);
      if (!decided) decided = placeOfStep(trace, step);
    }
    if (decided || effect) continue;
    for (const StepInfo& s : trace.steps(pass.id, 1, kLookedAt)) {
      if (!first) first = StepPlace{pass.id, s};
      if (!plain(trace, s)) continue;
      effect = StepPlace{pass.id, s};
      break;
    }
  }
  return decided ? decided : effect ? effect : first;
}

} // namespace uopscope
