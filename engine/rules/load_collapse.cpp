// Collapses sums. Each term is written as  condition ? value : 0. The condition is a conjunction; each clause
// bounds the range from below or above, fixes it, or does not depend on it.
#include "engine/rules/load_collapse.h"

namespace uopscope {

namespace {

using namespace pat;

bool isZero(UOp u) {
  return u.isConst(0);
}

void splitAnd(UOp u, std::vector<UOp>& out) {
  if (u.is(Op::AND) || (u.is(Op::MUL) && u.dtype().isBool())) {
    splitAnd(u.src(0), out);
    splitAnd(u.src(1), out);
  } else {
    out.push_back(u);
  }
}

UOp castToIndex(UOp u) {
  return u.cast(dtypes::index);
}

/// u == k*r + rest with a constant k. Casts between integers are ignored.
struct Multiple {
  int64_t k = 0;
  UOp rest; ///< null: 0
};
std::optional<Multiple> linearIn(UOp u, UOp r) {
  if (!u.dependsOn(r)) return Multiple{0, castToIndex(u)};
  if (u == r) return Multiple{1, {}};
  if (u.is(Op::CAST) && u.dtype().isInt() && u.src(0).dtype().isInt()) return linearIn(u.src(0), r);
  if (u.is(Op::ADD)) {
    auto a = linearIn(u.src(0), r), b = linearIn(u.src(1), r);
    if (!a || !b) return {};
    UOp rest = !a->rest ? b->rest : !b->rest ? a->rest : a->rest + b->rest;
    return Multiple{a->k + b->k, rest};
  }
  if (u.is(Op::MUL) && u.src(1).isConst() && u.dtype().isInt()) {
    auto a = linearIn(u.src(0), r);
    if (!a) return {};
    int64_t f = u.src(1).arg().i();
    return Multiple{a->k * f, a->rest ? a->rest * f : UOp()};
  }
  return {};
}
UOp floorQuotient(UOp x, int64_t by) {
  if (by == 1) return x;
  // The quotient by a positive number, rounded towards minus infinity; IDIV truncates.
  if (x.vmin() >= 0) return x / by;
  return (x < 0).where((x - (by - 1)) / by, x / by);
}

struct Bounds {
  UOp lower, upper, fixed; ///< lower <= r < upper; r == fixed
  std::vector<UOp> rest;   ///< clauses without r
};

bool addCondition(UOp c, UOp r, Bounds& b) {
  if (!c.dependsOn(r)) {
    b.rest.push_back(c);
    return true;
  }
  bool negated = false;
  while (c.is(Op::CMPNE) && c.src(0).dtype().isBool() && c.src(1).isConst(1)) {
    negated = !negated;
    c = c.src(0);
  }
  bool isLess = c.is(Op::CMPLT), isEqual = (c.is(Op::CMPNE) && negated) || (c.is(Op::CMPEQ) && !negated);
  if ((!isLess && !isEqual) || !c.src(0).dtype().isInt()) return false;
  auto a = linearIn(c.src(0), r), d = linearIn(c.src(1), r);
  if (!a || !d) return false;
  int64_t k = a->k - d->k;
  UOp zero = UOp::index(0);
  UOp right = (d->rest ? d->rest : zero) + (a->rest ? -a->rest : zero); // k*r < right, or k*r == right
  if (k == 0) return false;
  if (isEqual) {
    if (k < 0) {
      k = -k;
      right = -right;
    }
    if (k != 1 || b.fixed) return false;
    b.fixed = right;
    return true;
  }
  auto raise = [&](UOp v) { b.lower = b.lower ? b.lower.maximum(v) : v; };
  auto cut = [&](UOp v) { b.upper = b.upper ? b.upper.minimum(v) : v; };
  if (k > 0) {
    UOp bound = floorQuotient(right - 1, k) + 1; // the first r with k*r >= right
    negated ? raise(bound) : cut(bound);
  } else {
    UOp bound = floorQuotient(-right, -k) + 1; // the first r with -k*r > -right
    negated ? cut(bound) : raise(bound);
  }
  return true;
}

UOp allOf(const std::vector<UOp>& conditions) {
  UOp all;
  for (UOp c : conditions) all = all ? all & c : c;
  return all;
}

std::optional<UOp> collapseOver(UOp value, UOp r) {
  if (!value.dependsOn(r)) return {};
  if (value.is(Op::ADD)) {
    auto part = [&](UOp s) -> std::optional<UOp> {
      if (!s.dependsOn(r)) return s * r.src(0).cast(s.dtype());
      return collapseOver(s, r);
    };
    auto a = part(value.src(0));
    if (!a) return {};
    auto b = part(value.src(1));
    if (!b) return {};
    return *a + *b;
  }
  auto term = asSumTerm(value);
  if (!term) return {};
  Bounds b;
  for (UOp c : term->conditions)
    if (!addCondition(c, r, b)) return {};
  UOp zero = UOp::constant(value.dtype(), int64_t{0}), extent = castToIndex(r.src(0)), start = UOp::index(0);
  UOp result;
  if (b.fixed) {
    UOp valid = (b.fixed >= (b.lower ? b.lower.maximum(start) : start)) &
                (b.fixed < (b.upper ? b.upper.minimum(extent) : extent));
    UOpMap<UOp> replace;
    replace[r] = b.fixed.validWhere(valid);
    b.rest.push_back(valid);
    result = term->value.substitute(replace);
  } else {
    if (term->value.dependsOn(r)) return {};
    UOp low = b.lower ? b.lower.maximum(start) : start, high = b.upper ? b.upper.minimum(extent) : extent;
    result = (high - low).maximum(start).cast(value.dtype()) * term->value;
  }
  UOp condition = allOf(b.rest);
  return condition ? condition.where(result, zero) : result;
}

UOp collapseReduce(Match& m) {
  UOp red = m.root();
  if (red.arg().op() != Op::ADD || red.dtype().count() != 1) return m.decline("no sum of scalars");
  UOp value = red.src(0);
  std::vector<UOp> left;
  for (UOp r : red.src().subspan(1)) {
    std::optional<UOp> collapsed;
    // Loops are removed one at a time. A source may also be an expression of ranges, which is kept.
    if (r.is(Op::RANGE)) collapsed = collapseOver(value, r);
    if (collapsed)
      value = *collapsed;
    else
      left.push_back(r);
  }
  if (left.size() + 1 == red.srcCount()) return m.decline("no term is bounded by its range alone");
  return value.reduce(Op::ADD, left);
}

constexpr RuleDef kCollapse[] = {RULE("collapse-sum", any(Op::REDUCE), collapseReduce)};
const KnownRules kCollapseKnown(kCollapse);

} // namespace

std::optional<SumTerm> asChosenTerm(UOp u, const std::function<bool(UOp)>& isNeutral) {
  if (!u.is(Op::WHERE)) return {};
  SumTerm t;
  if (isNeutral(u.src(2))) {
    splitAnd(u.src(0), t.conditions);
    t.value = u.src(1);
  } else if (isNeutral(u.src(1))) {
    UOp c = u.src(0);
    t.conditions.push_back(
        c.is(Op::CMPNE) && c.src(1).isConst(1) && c.src(0).dtype().isBool() ? c.src(0) : c.logicalNot());
    t.value = u.src(2);
  } else {
    return {};
  }
  if (auto deeper = asChosenTerm(t.value, isNeutral)) {
    t.conditions.insert(t.conditions.end(), deeper->conditions.begin(), deeper->conditions.end());
    t.value = deeper->value;
  }
  return t;
}

std::optional<SumTerm> asSumTerm(UOp u) {
  SumTerm t;
  if (auto chosen = asChosenTerm(u, isZero)) {
    t = *chosen;
  } else if (u.is(Op::CAST) && u.src(0).dtype() == dtypes::bool_) {
    splitAnd(u.src(0), t.conditions);
    t.value = UOp::constant(u.dtype(), int64_t{1});
  } else if (u.is(Op::CAST)) {
    auto inner = asSumTerm(u.src(0));
    if (!inner) return {};
    inner->value = inner->value.cast(u.dtype());
    return inner;
  } else if (u.is(Op::MUL)) {
    for (size_t k = 0; k < 2; ++k) {
      UOp side = u.src(k);
      if (!side.is(Op::CAST) || !(side.src(0).dtype() == dtypes::bool_)) continue;
      splitAnd(side.src(0), t.conditions);
      t.value = u.src(1 - k);
      break;
    }
    if (!t.value) return {};
  } else {
    return {};
  }
  if (auto deeper = asSumTerm(t.value)) {
    t.conditions.insert(t.conditions.end(), deeper->conditions.begin(), deeper->conditions.end());
    t.value = deeper->value;
  }
  return t;
}

std::span<const RuleDef> loadCollapseRules() {
  return kCollapse;
}

} // namespace uopscope
