// Looks at the index as a sum: a multiple of the range gives each step a place of its own, or a slab as wide as the rest of
// the sum, and so do multiples of its digits, such as r / 8 * 100 + r % 8. What is no such sum is evaluated step by step,
// once with all other ranges at their first value and once at their last.
#include "engine/codegen/same_place.h"

#include "engine/rules/algebra.h"
#include "engine/rules/gate_bounds.h"
#include "engine/uop/linear.h"

#include <algorithm>
#include <set>

namespace uopscope {

namespace {

constexpr int64_t kFar =
    int64_t{1} << 40; ///< no index is that large, and products of two such numbers are not asked for

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

/// factor * (range / below % count).
struct RangeDigit {
  int64_t below = 1, count = 1, factor = 1;
};

/// A range's quotient, remainder or both, as one of its digits.
std::optional<RangeDigit> digitOf(const Term& term, UOp range) {
  const int64_t steps = 1 + range.vmax();
  RangeDigit digit{.below = 1, .count = steps, .factor = term.factor};
  std::vector<UOp> outerFirst;
  for (UOp x = term.node; x != range; x = x.src(0)) {
    const bool isByConst = x.in({Op::IDIV, Op::MOD}) && x.src(1).isConst() && x.src(1).constValue().i > 0;
    if (!isByConst || outerFirst.size() == 3) return std::nullopt;
    outerFirst.push_back(x);
  }
  for (auto x = outerFirst.rbegin(); x != outerFirst.rend(); ++x) {
    const int64_t by = x->src(1).constValue().i;
    const bool isCut = digit.count % by != 0 && by < digit.count && digit.below * digit.count < steps;
    if (isCut || digit.below > kFar / by) return std::nullopt;
    if (x->is(Op::MOD)) {
      digit.count = std::min(digit.count, by);
    } else {
      digit.below *= by;
      digit.count = (digit.count + by - 1) / by;
    }
  }
  return digit;
}

/// Whether the digits tell all steps from one another and their sum keeps them apart.
bool isPlaceNotation(std::vector<RangeDigit> digits, int64_t steps) {
  std::sort(digits.begin(), digits.end(),
            [](const RangeDigit& a, const RangeDigit& b) { return a.below < b.below; });
  int64_t told = 1;
  for (const RangeDigit& d : digits) {
    if (d.below != told) return false;
    told *= d.count;
  }
  if (told < steps) return false;
  auto size = [](const RangeDigit& d) { return std::abs(d.factor); };
  std::sort(digits.begin(), digits.end(),
            [&](const RangeDigit& a, const RangeDigit& b) { return size(a) < size(b); });
  int64_t reach = 0;
  for (const RangeDigit& d : digits) {
    if (size(d) <= reach || size(d) > kFar / d.count) return false;
    reach += size(d) * (d.count - 1);
  }
  return true;
}

/// Where a tile begins whose last one is moved back to end with the axis: (r * 6 if r < 85 else 506).
bool isStartOfTiles(UOp x, UOp range) {
  if (!x.is(Op::WHERE) || !x.src(0).is(Op::CMPLT) || x.src(0).src(0) != range || !x.src(2).isConst())
    return false;
  const UOp end = x.src(0).src(1);
  if (!end.isConst() || end.constValue().i < range.vmax()) return false;
  const Linear start = linearOf(x.src(1));
  if (start.terms.size() != 1 || start.terms[0].node != range || std::abs(start.terms[0].factor) > kFar)
    return false;
  const int64_t step = start.terms[0].factor, last = step * (range.vmax() - 1) + start.constant;
  return range.vmax() < kFar / (1 + std::abs(step)) && step > 0 && x.src(2).constValue().i > last;
}

/// Whether the terms that depend on the range are its digits, each at a place of its own in the sum, or one start of a tile.
bool keepsStepsApart(const Linear& sum, UOp range) {
  std::vector<Term> depending;
  for (const Term& t : sum.terms)
    if (t.node.dependsOn(range)) depending.push_back(t);
  if (depending.size() == 1 && isStartOfTiles(depending[0].node, range)) return true;
  std::vector<RangeDigit> digits;
  for (const Term& t : depending) {
    const std::optional<RangeDigit> digit = digitOf(t, range);
    if (!digit) return false;
    digits.push_back(*digit);
  }
  return isPlaceNotation(std::move(digits), 1 + range.vmax());
}

} // namespace

std::optional<Slab> slabOf(UOp gated, UOp range) {
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
  if (keepsStepsApart(sum, range)) return false;
  constexpr int64_t kSteps = 4096;
  if (range.vmax() >= kSteps) return true;
  Binding at;
  for (const bool last : {false, true}) {
    // What is no arithmetic, such as another loop or a number read elsewhere, stays at one end of its bounds.
    for (UOp u : place.toposort([](UOp u) { return u.in(group::kElementwise); }))
      for (UOp s : u.src())
        if (!s.in(group::kElementwise) && !s.isConst()) at[s] = ConstValue::ofInt(last ? s.vmax() : s.vmin());
    std::set<int64_t> seen;
    for (int64_t step = 0; step <= range.vmax(); ++step) {
      at[range] = ConstValue::ofInt(step);
      const std::optional<ConstValue> value = evaluate(place, at);
      if (!value || !seen.insert(value->i).second) return true;
    }
  }
  return false;
}

} // namespace uopscope
