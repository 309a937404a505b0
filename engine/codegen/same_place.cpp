// Looks at the index as a sum: a multiple of the range gives each step a place of its own. What is no such sum is
// evaluated step by step, once with all other ranges at their first value and once at their last.
#include "engine/codegen/same_place.h"

#include "engine/uop/eval.h"
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

/// The index at one step; nothing if it is not made of numbers alone. `nodes`: those of the index in topological order.
std::optional<int64_t> placeAt(const std::vector<UOp>& nodes, UOp range, int64_t step, bool last) {
  UOpMap<ConstValue> values;
  for (UOp u : nodes) {
    if (u == range) {
      values[u] = ConstValue::ofInt(step);
    } else if (u.is(Op::CONST)) {
      values[u] = u.constValue();
    } else if (!u.in(group::kElementwise)) {
      if (!u.dtype().isInt() && !u.dtype().isBool() && !(u.dtype() == dtypes::index)) return {};
      values[u] = ConstValue::ofInt(last ? u.vmax() : u.vmin());
    } else {
      std::vector<ConstValue> operands;
      for (UOp s : u.src()) operands.push_back(values.at(s));
      const size_t typed = u.is(Op::WHERE) ? 1 : 0;
      values[u] = evalAlu(u.op(), u.dtype(), u.src(typed).dtype(), operands);
    }
  }
  return values.at(nodes.back()).i;
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
  const std::vector<UOp> nodes = place.toposort([](UOp u) { return !u.dtype().isPtr(); });
  for (const bool last : {false, true}) {
    std::set<int64_t> seen;
    for (int64_t step = 0; step <= std::min(range.vmax(), kSteps - 1); ++step) {
      const std::optional<int64_t> at = placeAt(nodes, range, step, last);
      if (!at || !seen.insert(*at).second) return true;
    }
  }
  return false;
}

} // namespace uopscope
