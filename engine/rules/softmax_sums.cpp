// Reads sums, weights and masks off the expression of a kernel.
#include "engine/rules/softmax_sums.h"

#include "engine/rules/range_match.h"
#include "engine/uop/linear.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <cmath>

namespace uopscope {

namespace {

int64_t stepsOf(UOp range) {
  return range.is(Op::RANGE) && range.src(0).isConst() ? range.src(0).arg().i() : -1;
}

/// A loop of which the score asks for the quotient by a constant alone, as of one over heads and columns in a row, becomes two.
/// Adds the loops to `loops`.
void splitLoop(UOp loop, UOp score, SoftmaxSums& found, std::vector<UOp>& loops) {
  UOp quotient;
  visitBelow(score, [&](UOp u) {
    if (u.is(Op::IDIV) && u.src(0) == loop && u.src(1).isConst()) quotient = u;
    return Visit::Below;
  });
  const int64_t by = quotient ? quotient.src(1).arg().i() : 0, steps = stepsOf(loop);
  if (by < 2 || steps < 2 * by || steps % by ||
      score.substitute({{quotient, UOp::index(0)}}).dependsOn(loop)) {
    loops.push_back(loop);
    return;
  }
  auto part = [&](int64_t n, int64_t which) {
    std::vector<int64_t> ids = loop.arg().as<RangeArg>().ids;
    ids.push_back(which);
    return UOp::range(UOp::index(n), ids, loop.axisType());
  };
  const UOp outer = part(steps / by, 0), inner = part(by, 1);
  found.split[quotient] = outer;
  found.split[UOp::make(Op::MOD, quotient.dtype(), {loop, quotient.src(1)})] = inner;
  found.split[loop] = outer * by + inner;
  loops.insert(loops.end(), {outer, inner});
}

/// The reductions of an expression, without those of values that are read.
std::vector<UOp> reducesIn(UOp value) {
  std::vector<UOp> found;
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::REDUCE)) found.push_back(u);
    return u.is(Op::INDEX) ? Visit::Past : Visit::Below;
  });
  return found;
}

/// The reductions that a value is an elementwise function of, without those inside of them.
std::vector<UOp> outermostReduces(UOp value) {
  std::vector<UOp> found;
  visitBelow(value, [&](UOp u) {
    if (u.is(Op::REDUCE)) found.push_back(u);
    return u.in({Op::INDEX, Op::REDUCE}) ? Visit::Past : Visit::Below;
  });
  std::ranges::sort(found, {}, &UOp::id);
  return found;
}

/// Splits the term of a sum into the weight and a factor.
bool readTerm(UOp reduce, SoftmaxSums& found) {
  if (reduce.arg().op() != Op::ADD || reduce.srcCount() != 2 || !reduce.src(1).is(Op::RANGE)) return false;
  const UOp term = reduce.src(0);
  auto take = [&](UOp weight, UOp factor) {
    if (found.weight ? weight != found.weight : !readWeight(weight, found)) return false;
    found.weight = weight;
    found.sums.push_back({reduce, factor});
    return true;
  };
  if (!term.is(Op::MUL)) return take(term, {});
  return take(term.src(0), term.src(1)) || take(term.src(1), term.src(0));
}

/// Finds the maximum, of all scores, in the reference.
bool findMaximum(SoftmaxSums& s) {
  const std::vector<UOp> inside = outermostReduces(s.reference);
  if (inside.size() != 1) return false;
  s.maximum = inside[0];
  if (!s.maximum.is(Op::REDUCE) || s.maximum.arg().op() != Op::MAX || s.maximum.srcCount() != 2) return false;
  std::vector<UOp> first{s.key}, second{s.maximum.src(1)};
  for (UOp r : reducesIn(s.score))
    for (UOp range : r.src().subspan(1))
      if (std::ranges::find(first, range) == first.end()) first.push_back(range);
  for (UOp r : reducesIn(s.maximum.src(0)))
    for (UOp range : r.src().subspan(1))
      if (std::ranges::find(second, range) == second.end()) second.push_back(range);
  return !matchRanges(s.score, s.maximum.src(0), first, second).empty();
}

/// Finds the products in the score, each with one operand of rows and one of keys.
bool findProducts(SoftmaxSums& s) {
  int64_t all = 0;
  for (UOp r : reducesIn(s.score)) {
    const UOp term = r.src(0);
    if (r.arg().op() != Op::ADD || !term.is(Op::MUL)) return false;
    UOp a = term.src(0), b = term.src(1);
    if (a.dependsOn(s.key)) std::swap(a, b);
    if (a.dependsOn(s.key) || !b.dependsOn(s.key)) return false;
    int64_t terms = 1;
    for (UOp range : r.src().subspan(1)) {
      if (stepsOf(range) < 1) return false;
      terms *= stepsOf(range);
    }
    all += terms;
    if (all > kMostStreamedTerms || !reducesIn(term).empty()) return false;
    s.products.push_back({r, a, b, terms});
  }
  return !s.products.empty();
}

/// Reads sums, weight, score, maximum and products of a value that is a function of such sums.
bool readSums(UOp value, SoftmaxSums& found) {
  found.value = value;
  UOp maximum;
  for (UOp r : outermostReduces(value)) {
    if (r.arg().op() == Op::MAX && !maximum)
      maximum = r;
    else if (!readTerm(r, found))
      return false;
  }
  if (found.sums.empty() || found.weight.dtype() != dtypes::float32) return false;
  found.key = found.sums[0].reduce.src(1);
  for (const SoftmaxSums::Sum& sum : found.sums) {
    if (sum.reduce.src(1) != found.key || sum.reduce.dtype() != dtypes::float32) return false;
    if (sum.factor && !reducesIn(sum.factor).empty()) return false;
  }
  return findMaximum(found) && (!maximum || maximum == found.maximum) &&
         !found.reference.dependsOn(found.key) && findProducts(found);
}

/// Sorts the loops by what depends on them.
bool assignLoops(SoftmaxSums& s, std::span<const UOp> loops) {
  for (UOp l : loops) {
    if (stepsOf(l) < 1) return false;
    if (s.score.dependsOn(l)) {
      const bool isRow = std::ranges::all_of(s.products, [&](const SoftmaxSums::Product& p) {
        return p.ofRow.dependsOn(l) && !p.ofKey.dependsOn(l);
      });
      if (isRow && (!s.row || stepsOf(l) > stepsOf(s.row))) s.row = l;
      continue;
    }
    const bool isColumn = std::ranges::any_of(
        s.sums, [&](const SoftmaxSums::Sum& sum) { return sum.factor && sum.factor.dependsOn(l); });
    if (!isColumn || s.column || stepsOf(l) > kMostStreamedColumns) return false;
    s.column = l;
  }
  if (!s.row || stepsOf(s.row) < kFewestStreamed || stepsOf(s.key) < kFewestStreamed) return false;
  for (UOp l : loops)
    if (l != s.row && l != s.column) s.elsewhere.push_back(l);
  return true;
}

/// A condition under which a score is not -inf, or whose opposite is one.
struct Visible {
  UOp condition;
  bool holds = true;
};

bool isHidden(UOp u) {
  return u.isConst() && u.dtype().isFloat() && u.arg().f() == -INFINITY;
}

/// The conditions of the masks in a score, which are added to it or choose it.
void findMasks(UOp score, std::vector<Visible>& found) {
  if (score.is(Op::ADD)) {
    findMasks(score.src(0), found);
    findMasks(score.src(1), found);
  }
  if (!score.is(Op::WHERE)) return;
  if (isHidden(score.src(2))) {
    found.push_back({score.src(0)});
    findMasks(score.src(1), found);
  } else if (isHidden(score.src(1))) {
    found.push_back({score.src(0), false});
    findMasks(score.src(2), found);
  }
}

/// Comparisons that all hold where a condition does, or does not.
void findComparisons(const Visible& v, std::vector<Visible>& found) {
  const UOp u = v.condition;
  const bool isChoice =
      u.is(Op::WHERE) && u.src(1).isConst() && u.src(2).isConst(0.0) && !u.src(1).isConst(0.0);
  if (u.is(Op::CAST) || isChoice) return findComparisons({u.src(0), v.holds}, found);
  if (u.is(Op::CMPNE) && u.src(0).dtype().isBool() && u.src(1).isConst(1))
    return findComparisons({u.src(0), !v.holds}, found);
  if (u.is(v.holds ? Op::AND : Op::OR)) {
    for (UOp part : u.src()) findComparisons({part, v.holds}, found);
    return;
  }
  if (u.is(Op::CMPLT) && u.src(0).dtype().isInt()) found.push_back(v);
}

/// The same number without the conversions between integer types, which keep loop counters.
UOp withoutCasts(UOp u) {
  if (u.is(Op::CAST) && u.src(0).dtype().isInt()) return withoutCasts(u.src(0));
  if (u.isConst()) return UOp::index(u.arg().i());
  if (!u.in({Op::ADD, Op::MUL, Op::SUB, Op::NEG})) return u.is(Op::RANGE) ? u : UOp();
  std::vector<UOp> src;
  for (UOp s : u.src()) {
    src.push_back(withoutCasts(s));
    if (!src.back()) return {};
  }
  return UOp::make(u.op(), dtypes::index, src);
}

/// A bound that a comparison sets to the keys that a block of rows sees.
struct KeyBound {
  UOp count;           ///< of leading keys: those that are seen, or those that are hidden; null: no bound
  bool isLast = false; ///< keys from there on are hidden, else those before it
};

/// The bound of `lower < upper`, for the row that sees most.
KeyBound boundOf(UOp lower, UOp upper, const SoftmaxSums& s, UOp first, UOp last) {
  const UOp a = withoutCasts(lower), b = withoutCasts(upper);
  if (!a || !b) return {};
  UOp rest = UOp::index(0);
  int64_t keys = 0;
  // lower < upper means that `upper - lower` is positive: rest - key > 0, or rest + key > 0.
  const Linear difference = linearOf(b - a);
  for (const Term& t : difference.terms) {
    if (t.node == s.key)
      keys = t.factor;
    else if (t.node == s.row)
      rest = rest + (t.factor > 0 ? last : first) * t.factor;
    else if (t.node.dependsOn(s.key) || t.node.dependsOn(s.row))
      return {};
    else
      rest = rest + t.node * t.factor;
  }
  rest = rest + difference.constant;
  if (keys == -1) return {rest, true};
  return keys == 1 ? KeyBound{UOp::index(1) - rest, false} : KeyBound{};
}

} // namespace

bool readWeight(UOp weight, SoftmaxSums& found) {
  if (!weight.is(Op::EXP2)) return false;
  UOp sum = weight.src(0);
  if (sum.is(Op::MUL) && sum.src(1).isConst()) {
    if (!(sum.src(1).arg().f() > 0)) return false;
    sum = sum.src(0);
  }
  if (!sum.is(Op::ADD)) return false;
  for (size_t i = 0; i < 2; ++i) {
    const UOp minus = sum.src(1 - i);
    if (!minus.is(Op::MUL) || !minus.src(1).isConst(-1.0)) continue;
    found.score = sum.src(i);
    found.reference = minus.src(0);
    return true;
  }
  return false;
}

std::optional<SoftmaxSums> softmaxSumsOf(UOp value, std::span<const UOp> ofKernel) {
  SoftmaxSums found;
  if (!value.below().has(Op::EXP2) || !value.below().has(Op::REDUCE) || !readSums(value, found)) return {};
  SoftmaxSums split;
  std::vector<UOp> loops;
  for (UOp l : ofKernel) splitLoop(l, found.score, split, loops);
  if (!split.split.empty()) {
    if (!readSums(value.substitute(split.split), split)) return {};
    found = std::move(split);
  }
  if (!assignLoops(found, loops)) return {};
  return found;
}

VisibleKeys visibleKeys(const SoftmaxSums& sums, UOp first, UOp last) {
  std::vector<Visible> masks, comparisons;
  findMasks(sums.score, masks);
  for (const Visible& mask : masks) findComparisons(mask, comparisons);
  VisibleKeys keys;
  for (const Visible& c : comparisons) {
    const UOp a = c.condition.src(0), b = c.condition.src(1);
    // a < b does not hold: b < a + 1 does.
    const KeyBound bound =
        c.holds ? boundOf(a, b, sums, first, last)
                : boundOf(b, UOp::make(Op::ADD, a.dtype(), {a, a.constLike(int64_t{1})}), sums, first, last);
    if (!bound.count) continue;
    UOp& known = bound.isLast ? keys.end : keys.begin;
    if (known)
      known = bound.isLast ? known.minimum(bound.count) : known.maximum(bound.count);
    else
      known = bound.count;
  }
  return keys;
}

UOp chosenScore(UOp score) {
  if (!score.is(Op::ADD)) return score;
  for (size_t i = 0; i < 2; ++i) {
    const UOp mask = score.src(i), other = score.src(1 - i);
    if (!mask.is(Op::WHERE)) continue;
    if (isHidden(mask.src(2)) && mask.src(1).isConst(0.0))
      return mask.src(0).where(chosenScore(other), mask.src(2));
    if (isHidden(mask.src(1)) && mask.src(2).isConst(0.0))
      return mask.src(0).where(mask.src(1), chosenScore(other));
  }
  return score;
}

} // namespace uopscope
