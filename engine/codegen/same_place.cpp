// Looks at the index as a sum: a multiple of the range gives each step a place of its own, or a slab as wide as the rest of
// the sum. What is no such sum is evaluated step by step, once with all other ranges at their first value and once at their last.
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

struct Interval {
  int64_t least = 0, most = 0;
};

/// What the clauses of a gate leave to an expression, or to what it converts.
Interval boundsUnder(const std::vector<UOp>& clauses, UOp x) {
  Interval of{x.vmin(), x.vmax()};
  const bool isConverted = x.is(Op::CAST) && x.src(0).dtype().isInt();
  for (UOp clause : clauses) {
    const bool negated = clause.is(Op::CMPNE) && clause.src(1).isConst(1);
    if (negated) clause = clause.src(0);
    if (!clause.is(Op::CMPLT)) continue;
    const UOp left = clause.src(0), right = clause.src(1);
    const auto isIt = [&](UOp u) { return u == x || (isConverted && u == x.src(0)); };
    if (isIt(left) && !negated && right.vmax() <= of.most) of.most = right.vmax() - 1;
    if (isIt(left) && negated) of.least = std::max(of.least, right.vmin());
    if (isIt(right) && !negated && left.vmin() >= of.least) of.least = left.vmin() + 1;
    if (isIt(right) && negated) of.most = std::min(of.most, left.vmax());
  }
  return of;
}

} // namespace

std::optional<Slab> slabOf(UOp gated, UOp range) {
  constexpr int64_t kFar = int64_t{1} << 40;
  const std::vector<UOp> clauses = splitUop(validOf(gated), Op::AND);
  const Linear sum = linearOf(indexOf(gated));
  Slab slab{.stride = 0, .least = sum.constant, .most = sum.constant};
  for (const Term& t : sum.terms)
    if (t.node == range) slab.stride = t.factor;
  if (slab.stride == 0 || range.vmax() > kFar || std::abs(slab.stride) > kFar / (1 + range.vmax()))
    return std::nullopt;
  const int64_t period = slab.stride * (1 + range.vmax());
  for (const Term& t : sum.terms) {
    if (t.node == range || t.factor % period == 0) continue;
    const Interval of = boundsUnder(clauses, t.node);
    if (of.least < -kFar || of.most > kFar) return std::nullopt;
    const int64_t furthest = std::max(std::abs(of.least), std::abs(of.most));
    if (std::abs(t.factor) > kFar / (1 + furthest)) return std::nullopt;
    const auto [low, high] = std::minmax({t.factor * of.least, t.factor * of.most});
    slab.least += low;
    slab.most += high;
  }
  if (std::abs(slab.least) > kFar || std::abs(slab.most) > kFar) return std::nullopt;
  return slab;
}

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
