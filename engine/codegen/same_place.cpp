// Looks at the index as a sum: a multiple of the range gives each step a place of its own. What is no such sum is
// evaluated step by step, once with all other ranges at their first value and once at their last.
#include "engine/codegen/same_place.h"

#include "engine/rules/algebra.h"
#include "engine/uop/linear.h"

#include <algorithm>
#include <set>

namespace uopscope {

namespace {

bool readsMemory(UOp index, UOp range) {
  if (!index.below().has(Op::INDEX)) return false;
  const std::vector<UOp> nodes = index.toposort();
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](UOp u) { return u.is(Op::INDEX) && u.dependsOn(range); });
}

} // namespace

bool mayCoincide(UOp place, UOp range) {
  if (!place.dependsOn(range) || readsMemory(place, range)) return true;
  const Linear sum = linearOf(place);
  const auto depending = std::count_if(sum.terms.begin(), sum.terms.end(),
                                       [&](const Term& t) { return t.node.dependsOn(range); });
  const bool plain =
      std::any_of(sum.terms.begin(), sum.terms.end(), [&](const Term& t) { return t.node == range; });
  if (plain && depending == 1) return false;
  constexpr int64_t kSteps = 256;
  Binding at;
  for (const bool last : {false, true}) {
    // What is no arithmetic, such as another loop or a number read elsewhere, stays at one end of its bounds.
    for (UOp u : place.toposort([](UOp u) { return u.in(group::kElementwise); }))
      for (UOp s : u.src())
        if (!s.in(group::kElementwise) && !s.isConst()) at[s] = ConstValue::ofInt(last ? s.vmax() : s.vmin());
    std::set<int64_t> seen;
    for (int64_t step = 0; step <= std::min(range.vmax(), kSteps - 1); ++step) {
      at[range] = ConstValue::ofInt(step);
      const std::optional<ConstValue> value = evaluate(place, at);
      if (!value || !seen.insert(value->i).second) return true;
    }
  }
  return false;
}

} // namespace uopscope
