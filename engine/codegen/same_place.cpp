// Looks at the index as a sum: a multiple of the range gives each step a place of its own, or a slab as wide as the rest of
// the sum. What is no such sum is evaluated step by step, once with all other ranges at their first value and once at their last.
#include "engine/codegen/same_place.h"

#include "engine/rules/algebra.h"
#include "engine/rules/gate_bounds.h"
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

/// What a gate leaves to an expression, or to what it converts.
std::pair<int64_t, int64_t> boundsUnder(const rules::GateBounds& gate, UOp x) {
  std::pair<int64_t, int64_t> of{x.vmin(), x.vmax()};
  const bool isConverted = x.is(Op::CAST) && x.src(0).dtype().isInt();
  for (UOp known : {x, isConverted ? x.src(0) : x})
    if (const auto at = gate.of.find(known); at != gate.of.end())
      of = {std::max(of.first, at->second.first), std::min(of.second, at->second.second)};
  return of;
}

/// How far an expression is from `step` times a range: step * r + least <= x <= step * r + most.
struct Follower {
  int64_t step = 0;
  std::optional<int64_t> least, most;
  bool isBounded() const { return step && least && most; }
};

/// The expressions that clauses of a gate hold near a multiple of the range.
UOpMap<Follower> followersOf(UOp gate, UOp range) {
  UOpMap<Follower> found;
  for (UOp clause : splitUop(gate, Op::AND)) {
    const bool isNegated = clause.is(Op::CMPNE) && clause.src(1).isConst(1), isUpper = !isNegated;
    const UOp less = isNegated ? clause.src(0) : clause;
    if (!less.is(Op::CMPLT) || !less.src(1).dtype().isInt() || !less.src(1).dependsOn(range)) continue;
    if (less.src(0) == range) continue; // it is no other number
    const Linear limit = linearOf(less.src(1));
    if (limit.terms.size() != 1 || limit.terms[0].node != range) continue;
    Follower& f = found[less.src(0)];
    if (f.step && f.step != limit.terms[0].factor) continue;
    f.step = limit.terms[0].factor;
    (isUpper ? f.most : f.least) = isUpper ? limit.constant - 1 : limit.constant;
  }
  return found;
}

} // namespace

std::optional<Slab> slabOf(UOp gated, UOp range) {
  constexpr int64_t kFar = int64_t{1} << 40;
  const rules::GateBounds gate(validOf(gated));
  const Linear sum = linearOf(indexOf(gated));
  Slab slab{.stride = 0, .least = sum.constant, .most = sum.constant};
  const UOpMap<Follower> followers = followersOf(validOf(gated), range);
  auto followerOf = [&](const Term& t) -> const Follower* {
    const auto at = followers.find(t.node);
    return at != followers.end() && at->second.isBounded() ? &at->second : nullptr;
  };
  for (const Term& t : sum.terms) {
    const Follower* f = followerOf(t);
    const int64_t step = f ? f->step : t.node == range;
    if (std::abs(step) > kFar || std::abs(t.factor) > kFar / (1 + std::abs(step))) return std::nullopt;
    slab.stride += t.factor * step;
  }
  if (slab.stride == 0 || range.vmax() > kFar || std::abs(slab.stride) > kFar / (1 + range.vmax()))
    return std::nullopt;
  const int64_t period = slab.stride * (1 + range.vmax());
  for (const Term& t : sum.terms) {
    const Follower* follower = followerOf(t);
    if (t.node == range || (t.factor % period == 0 && !follower)) continue;
    const auto [least, most] =
        follower ? std::pair(*follower->least, *follower->most) : boundsUnder(gate, t.node);
    if (least < -kFar || most > kFar) return std::nullopt;
    const int64_t furthest = std::max(std::abs(least), std::abs(most));
    if (std::abs(t.factor) > kFar / (1 + furthest)) return std::nullopt;
    const auto [low, high] = std::minmax({t.factor * least, t.factor * most});
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
