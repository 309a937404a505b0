// Comparisons of index expressions, on the normal form of sums. Constants move to the right, common terms and
// factors cancel, and bounds of the difference decide the comparison where they can.
//
//   r0*4 + r1 + 8 < 16  with r1 < 4   is  r0 < 2
#include "engine/rules/families.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"

#include <algorithm>
#include <numeric>

namespace uopscope::rules {

namespace {

UOp boolLike(UOp u, bool v) {
  return UOp::constant(u.dtype(), ConstValue::ofBool(v));
}
UOp less(UOp a, int64_t c) {
  return a < c;
}
bool allNegative(const Linear& l) {
  return !l.terms.empty() &&
         std::all_of(l.terms.begin(), l.terms.end(), [](const Term& t) { return t.factor < 0; });
}
bool negate(Linear& l) {
  for (Term& t : l.terms)
    if (__builtin_sub_overflow(0, t.factor, &t.factor)) return false;
  return !__builtin_sub_overflow(0, l.constant, &l.constant);
}

/// sum < c, decided by a divisor d of the larger factors. d*A + r < d*q + s is A < q+1 if r is within [0, s),
/// and A < q if r is within [s, d). The sum has no constant.
UOp divideLess(const Linear& sum, int64_t c) {
  std::vector<Term> byFactor = sum.terms;
  auto magnitude = [](const Term& t) { return t.factor < 0 ? -Wide{t.factor} : Wide{t.factor}; };
  std::stable_sort(byFactor.begin(), byFactor.end(),
                   [&](const Term& a, const Term& b) { return magnitude(a) > magnitude(b); });
  // The interval of the remaining terms after each prefix of the sum.
  std::vector<Interval> rest(byFactor.size() + 1);
  for (size_t i = byFactor.size(); i-- > 0;) rest[i] = rest[i + 1] + termInterval(byFactor[i]);
  int64_t d = 0;
  for (size_t n = 1; n <= byFactor.size(); ++n) {
    d = std::gcd(d, byFactor[n - 1].factor);
    if (d <= 1) return {};
    Interval r = rest[n];
    if (r.lo < 0 || r.hi >= d) continue;
    auto q = static_cast<int64_t>(floorDiv(c, d)), s = static_cast<int64_t>(floorMod(c, d));
    int64_t bound;
    if (r.hi < s)
      bound = q + 1;
    else if (r.lo >= s)
      bound = q;
    else
      continue;
    Linear quotient{std::vector<Term>(byFactor.begin(), byFactor.begin() + static_cast<std::ptrdiff_t>(n)), 0,
                    sum.dtype};
    for (Term& t : quotient.terms) t.factor /= d;
    if (!normalize(quotient)) return {};
    return less(quotient.toUOp(), bound);
  }
  return {};
}

/// sum < 1, where all terms are at least 0, means that all terms are 0. Their factors are dropped.
UOp dropFactors(Linear sum) {
  bool changed = false;
  for (Term& t : sum.terms) {
    if (t.factor <= 0 || t.node.vmin() < 0) return {};
    changed |= t.factor != 1;
    t.factor = 1;
  }
  return changed ? less(sum.toUOp(), 1) : UOp{};
}

UOp lessThanConst(UOp root, Linear sum, int64_t c) {
  int64_t bound;
  if (__builtin_sub_overflow(c, sum.constant, &bound)) return {};
  bool moved = sum.constant != 0;
  sum.constant = 0;
  if (sum.terms.empty()) return boolLike(root, 0 < bound);
  Interval range = intervalOf(sum);
  if (range.hi < bound) return boolLike(root, true);
  if (range.lo >= bound) return boolLike(root, false);
  if (allNegative(sum)) { // -a < c  is  not a < 1-c
    int64_t flipped;
    if (!negate(sum) || __builtin_sub_overflow(1, bound, &flipped)) return {};
    return less(sum.toUOp(), flipped).logicalNot();
  }
  if (UOp divided = divideLess(sum, bound)) return divided;
  if (bound == 1)
    if (UOp plain = dropFactors(sum)) return plain;
  return moved ? less(sum.toUOp(), bound) : UOp{};
}

/// Removes common terms from both sums and moves the constants to the right. Returns false if nothing
/// changed.
bool cancel(Linear& a, Linear& b) {
  bool changed = a.constant != 0;
  if (__builtin_sub_overflow(b.constant, a.constant, &b.constant)) return false;
  a.constant = 0;
  UOpMap<size_t> at;
  for (size_t i = 0; i < b.terms.size(); ++i) at[b.terms[i].node] = i;
  for (Term& t : a.terms) {
    auto it = at.find(t.node);
    if (it == at.end()) continue;
    Term& other = b.terms[it->second];
    if ((t.factor < 0) != (other.factor < 0)) continue;
    bool smaller = t.factor < 0 ? t.factor > other.factor : t.factor < other.factor;
    int64_t common = smaller ? t.factor : other.factor;
    t.factor -= common;
    other.factor -= common;
    changed = true;
  }
  std::erase_if(a.terms, [](const Term& t) { return t.factor == 0; });
  std::erase_if(b.terms, [](const Term& t) { return t.factor == 0; });
  return changed;
}

Interval difference(const Linear& a, const Linear& b) {
  Interval x = intervalOf(a), y = intervalOf(b);
  return {x.lo - y.hi, x.hi - y.lo};
}

UOp foldLess(Match& m) {
  UOp u = m.root(), a = u.src(0), b = u.src(1);
  if (a.dtype() != dtypes::index || a.isInvalidConst() || b.isInvalidConst())
    return m.decline("no scalar index, or Invalid");
  if (isInt(b)) return lessThanConst(u, linearOf(a), intOf(b));
  if (isInt(a)) { // c < x  is  not x < c+1
    int64_t next;
    return __builtin_add_overflow(intOf(a), 1, &next) ? m.decline("the constant plus 1 leaves 64 bits")
                                                      : less(b, next).logicalNot();
  }
  Linear x = linearOf(a), y = linearOf(b);
  bool changed = cancel(x, y);
  Interval d = difference(x, y);
  if (d.hi < 0) return boolLike(u, true);
  if (d.lo >= 0) return boolLike(u, false);
  if (allNegative(x) && allNegative(y) && y.constant == 0 && negate(x) && negate(y))
    return y.toUOp() < x.toUOp();
  if (!changed) return m.decline("nothing cancels and the bounds overlap");
  UOp r = x.toUOp() < y.toUOp();
  return r == u ? m.decline("it is in normal form") : r;
}

/// Equality: constants and common factors move to one side. The sides are never equal if their difference
/// cannot be 0.
UOp foldEquality(Match& m) {
  UOp u = m.root(), a = u.src(0), b = u.src(1);
  if (a.dtype() != dtypes::index || a.isInvalidConst() || b.isInvalidConst())
    return m.decline("no scalar index, or Invalid");
  Linear x = linearOf(a), y = linearOf(b);
  if (x.isConst() && !y.isConst()) std::swap(x, y);
  bool changed = cancel(x, y);
  bool ne = u.is(Op::CMPNE);
  Interval d = difference(x, y);
  if (d.lo == 0 && d.hi == 0) return boolLike(u, !ne);
  if (d.lo > 0 || d.hi < 0) return boolLike(u, ne);
  if (y.isConst() && !x.isConst()) {
    int64_t g = 0;
    for (const Term& t : x.terms) g = std::gcd(g, t.factor);
    if (allNegative(x)) g = -g;
    if (g != 0 && g != 1) {
      if (y.constant % g) return boolLike(u, ne);
      for (Term& t : x.terms) t.factor /= g;
      y.constant /= g;
      changed = true;
    }
  }
  if (!changed) return m.decline("nothing cancels and the bounds overlap");
  UOp r = x.toUOp().alu(u.op(), {y.toUOp()});
  return r == u || r == b.alu(u.op(), {a}) ? m.decline("it is in normal form") : r;
}

/// x//d < c becomes a comparison of x.
UOp lessOfQuotient(Match& m) {
  if (!isInt(m[c0]) || !isInt(m[c1]) || m[x].dtype().count() != 1)
    return m.decline("a constant is no integer, or x is a vector");
  int64_t d = intOf(m[c0]), c = intOf(m[c1]), bound;
  if (d <= 0 || __builtin_mul_overflow(c, d, &bound))
    return m.decline("the divisor is not positive, or the product leaves 64 bits");
  // Division rounds towards zero, so a negative quotient also covers the numbers just below its multiple.
  if (c <= 0 && __builtin_sub_overflow(bound, d - 1, &bound)) return m.decline("the bound leaves 64 bits");
  return less(m[x], bound);
}

/// x%d < c, where x is y and a multiple of d: if y is less than d, and not so far below 0 that a remainder below c could
/// come from there, y is in [0, c). So the gate of a window that was laid out in rows of d elements needs no remainder.
UOp lessOfRemainder(Match& m) {
  if (!isInt(m[c0]) || !isInt(m[c1]) || m[x].dtype().count() != 1)
    return m.decline("a constant is no integer, or x is a vector");
  const int64_t d = intOf(m[c0]), c = intOf(m[c1]);
  if (d <= 1 || c <= 0 || c >= d || m[x].vmin() < 0)
    return m.decline("x may be negative, or the bound is no remainder");
  Linear near = linearOf(m[x]);
  auto reduce = [d](int64_t& factor) {
    factor = static_cast<int64_t>(floorMod(factor, d));
    if (factor > d - factor) factor -= d;
  };
  for (Term& t : near.terms) reduce(t.factor);
  reduce(near.constant);
  if (!normalize(near)) return m.decline("a factor leaves 64 bits");
  const Interval range = intervalOf(near);
  const Wide shift = -floorDiv(range.lo - (c - d), Wide{d}) * d; // the least multiple of d that y may need
  if (range.hi + shift >= d) return m.decline("x is not within one multiple of the divisor");
  if (!fitsInt64(near.constant + shift)) return m.decline("a constant leaves 64 bits");
  near.constant += static_cast<int64_t>(shift);
  UOp y = near.toUOp();
  return less(y, 0).logicalNot() & less(y, c);
}

constexpr RuleDef kCompareRules[] = {
    RULE("lt-of-quotient", pat::op(Op::CMPLT, xi / c0, c1), lessOfQuotient),
    RULE("lt-of-remainder", pat::op(Op::CMPLT, xi % c0, c1), lessOfRemainder),
    RULE("lt-normal", pat::op(Op::CMPLT, xi, y), foldLess),
    RULE("ne-normal", pat::op(OpSet{Op::CMPNE, Op::CMPEQ}, xi, y), foldEquality),
    RULE("ne-move-const", (xWrap + c0) != c1, x != pat::fold(pat::op(Op::SUB, c1, c0))),
    RULE("eq-as-ne", pat::op(Op::CMPEQ, xi, y), pat::logicalNot(x != y)),
};
const KnownRules kCompareRulesKnown(kCompareRules);

} // namespace

Family compareRules() {
  return kCompareRules;
}

} // namespace uopscope::rules
