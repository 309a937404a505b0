// Clauses as bounds, and sums written as a multiple of a bounded sum and a rest.
#include "engine/rules/gate_bounds.h"

#include "engine/rules/algebra.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"

#include <algorithm>
#include <numeric>

namespace uopscope::rules {

std::optional<Bound> parseClause(UOp v) {
  auto isLess = [](UOp u) { return u.is(Op::CMPLT) && u.src(0).dtype().isInt(); };
  if (v.is(Op::CMPNE) && v.src(1).isConst(1) && isLess(v.src(0)))
    return Bound{v.src(0).src(0), false, v.src(0).src(1).vmin(), v.src(0).src(1).isConst()};
  if (isLess(v)) {
    int64_t top = v.src(1).vmax();
    if (top == INT64_MIN) return std::nullopt;
    return Bound{v.src(0), true, top - 1, v.src(1).isConst()};
  }
  return std::nullopt;
}

GateBounds::GateBounds(UOp gate) {
  for (UOp clause : splitUop(gate, Op::AND)) {
    auto b = parseClause(clause);
    if (!b) continue;
    auto [it, fresh] = of.try_emplace(b->expr, b->expr.vmin(), b->expr.vmax());
    if (fresh) order.push_back(b->expr);
    auto& [low, high] = it->second;
    if (b->isUpper)
      high = std::min(high, b->bound);
    else
      low = std::max(low, b->bound);
    impossible |= low > high;
  }
}

namespace {

/// A sum as a multiple of an expression with known bounds and a rest.
struct Split {
  Linear part, rest; ///< sum = part + rest
  Interval range;    ///< of the part
};

/// The ways to write a sum with one term less beside a multiple of the expression.
std::vector<Split> splitsOf(const Linear& sum, const Linear& expr, int64_t low, int64_t high) {
  std::vector<Split> found;
  std::vector<int64_t> tried;
  for (const Term& p : expr.terms) {
    auto at = std::ranges::find_if(sum.terms, [&](const Term& t) { return t.node == p.node; });
    if (at == sum.terms.end() || at->factor % p.factor) continue;
    const int64_t times = at->factor / p.factor;
    if (std::ranges::find(tried, times) != tried.end()) continue;
    tried.push_back(times);
    Split s{expr, sum, {Wide{low} * times, Wide{high} * times}};
    if (times < 0) std::swap(s.range.lo, s.range.hi);
    bool fits = !__builtin_mul_overflow(expr.constant, times, &s.part.constant) &&
                !__builtin_sub_overflow(sum.constant, s.part.constant, &s.rest.constant);
    for (Term& t : s.part.terms) {
      int64_t gone = 0;
      fits = fits && !__builtin_mul_overflow(t.factor, times, &t.factor) &&
             !__builtin_sub_overflow(0, t.factor, &gone);
      s.rest.terms.push_back({t.node, gone});
    }
    if (fits && normalize(s.rest) && s.rest.terms.size() < sum.terms.size()) found.push_back(std::move(s));
  }
  return found;
}

/// A quotient or a remainder of x by d, where x is a multiple of d and a part whose bounds lie within [0, d).
UOp dividedUnder(UOp u, const Split& s, int64_t d) {
  auto whole = [d](const Term& t) { return t.factor % d == 0; };
  if (!std::ranges::all_of(s.rest.terms, whole)) return {};
  const auto r = static_cast<int64_t>(floorMod(s.rest.constant, d));
  if (s.range.lo + r < 0 || s.range.hi + r >= d) return {};
  Linear result = u.is(Op::MOD) ? s.part : s.rest;
  if (u.is(Op::MOD)) {
    if (__builtin_add_overflow(result.constant, r, &result.constant)) return {};
  } else {
    for (Term& t : result.terms) t.factor /= d;
    result.constant = (result.constant - r) / d;
  }
  return normalize(result) ? result.toUOp() : UOp();
}

/// A quotient or a remainder of a sum by d, where the gate says that a sum that may be negative is not. Division then rounds
/// down, and so multiples of d leave it; the rest is made positive by a multiple of d.
UOp dividedDown(UOp u, const Linear& sum, int64_t d) {
  Linear whole{{}, 0, sum.dtype}, rest{{}, sum.constant, sum.dtype};
  for (const Term& t : sum.terms) (t.factor % d ? rest : whole).terms.push_back(t);
  const Wide low = intervalOf(rest).lo, shift = low < 0 ? -floorDiv(low, Wide{d}) : Wide{0};
  const Wide moved = rest.constant + shift * d;
  if (!fitsInt64(shift) || !fitsInt64(moved)) return {};
  rest.constant = static_cast<int64_t>(moved);
  for (Term& t : whole.terms) t.factor /= d;
  UOp positive = rest.toUOp();
  if (u.is(Op::MOD)) return positive % d;
  return whole.toUOp() + positive / d - static_cast<int64_t>(shift);
}

/// x < c, where x is a multiple of d and a part whose bounds lie within [0, d): a comparison of the multiple.
UOp comparedUnder(const Split& s, int64_t c) {
  int64_t d = 0;
  for (const Term& t : s.rest.terms) d = std::gcd(d, t.factor);
  if (d <= 1) return {};
  const auto r = static_cast<int64_t>(floorMod(s.rest.constant, d));
  const Wide low = s.range.lo + r, high = s.range.hi + r, over = floorMod(Wide{c}, Wide{d});
  if (low < 0 || high >= d || (low < over && high >= over)) return {};
  Linear multiple = s.rest;
  for (Term& t : multiple.terms) t.factor /= d;
  multiple.constant = (multiple.constant - r) / d;
  return multiple.toUOp() < static_cast<int64_t>(floorDiv(Wide{c}, Wide{d}) + (high < over));
}

/// Whether a - sign * b is a multiple of d, term by term.
bool differByMultiples(const Linear& a, const Linear& b, int64_t d, int64_t sign) {
  Linear difference = a;
  for (const Term& t : b.terms) difference.terms.push_back({t.node, -sign * (t.factor % d)});
  if (!normalize(difference)) return false;
  const bool isConstant = (a.constant % d - sign * (b.constant % d)) % d == 0;
  return isConstant &&
         std::ranges::all_of(difference.terms, [d](const Term& t) { return t.factor % d == 0; });
}

} // namespace

UOp withoutRemainders(UOp gate, UOp sum) {
  if (sum.dtype() != dtypes::index || !sum.below().has(Op::IDIV) || !gate.below().has(Op::MOD)) return {};
  const auto divisorOf = [](UOp u) { return isInt(u.src(1)) && intOf(u.src(1)) > 1 ? intOf(u.src(1)) : 0; };
  std::vector<std::pair<Linear, int64_t>> multiples; // sums, and what divides them
  for (UOp clause : splitUop(gate, Op::AND)) {
    const UOp remainder = clause.is(Op::CMPLT) && clause.src(1).isConst(1) ? clause.src(0) : UOp();
    if (remainder && remainder.is(Op::MOD) && divisorOf(remainder) && remainder.vmin() >= 0)
      multiples.emplace_back(linearOf(remainder.src(0)), divisorOf(remainder));
  }
  const auto isMultiple = [&](const Linear& divided, int64_t by) {
    return std::ranges::any_of(multiples, [&](const auto& m) {
      return m.second % by == 0 &&
             (differByMultiples(divided, m.first, by, 1) || differByMultiples(divided, m.first, by, -1));
    });
  };
  Linear whole = linearOf(sum), found{{}, whole.constant, whole.dtype};
  bool any = false;
  for (const Term& t : whole.terms) {
    const int64_t by = t.node.is(Op::IDIV) ? divisorOf(t.node) : 0;
    const Linear divided = by ? linearOf(t.node.src(0)) : Linear{};
    if (!by || t.factor % by || !isMultiple(divided, by)) {
      found.terms.push_back(t);
      continue;
    }
    const int64_t times = t.factor / by;
    int64_t constant = 0;
    if (__builtin_mul_overflow(divided.constant, times, &constant) ||
        __builtin_add_overflow(found.constant, constant, &found.constant))
      return {};
    for (Term part : divided.terms) {
      if (__builtin_mul_overflow(part.factor, times, &part.factor)) return {};
      found.terms.push_back(part);
    }
    any = true;
  }
  return any && normalize(found) ? found.toUOp() : UOp();
}

UOp withinBounds(const GateBounds& bounds, UOp u) {
  if (!u.is(Op::CMPLT) && !u.below().intersects(OpSet{Op::IDIV, Op::MOD})) return {};
  std::vector<std::pair<Linear, std::pair<int64_t, int64_t>>> known;
  for (UOp expr : bounds.order)
    if (Linear e = linearOf(expr); e.terms.size() > 1) known.emplace_back(std::move(e), bounds.of.at(expr));
  if (known.empty()) return {};
  UOpMap<UOp> better;
  for (UOp n : u.toposort()) {
    if (!n.in({Op::IDIV, Op::MOD, Op::CMPLT}) || n.src(0).dtype() != dtypes::index || !isInt(n.src(1)))
      continue;
    const int64_t c = intOf(n.src(1));
    if (!n.is(Op::CMPLT) && c <= 1) continue;
    const Linear sum = linearOf(n.src(0));
    if (!n.is(Op::CMPLT) && n.src(0).vmin() < 0) {
      for (const auto& [expr, range] : known)
        if (expr.terms == sum.terms && Wide{range.first} + sum.constant - expr.constant >= 0)
          if (UOp r = dividedDown(n, sum, c)) better[n] = r;
      continue;
    }
    for (const auto& [expr, range] : known)
      for (const Split& s : splitsOf(sum, expr, range.first, range.second))
        if (UOp r = n.is(Op::CMPLT) ? comparedUnder(s, c) : dividedUnder(n, s, c)) better[n] = r;
  }
  return better.empty() ? UOp() : simplify(u.substitute(better));
}

bool isPartOf(const Bound& b, UOp clause) {
  if (!b.expr.is(Op::ADD)) return false;
  auto other = parseClause(clause);
  if (!other || other->expr == b.expr) return false;
  auto factors = [](const Linear& l) {
    Wide sum = 0;
    for (const Term& t : l.terms) sum += t.factor < 0 ? -Wide{t.factor} : Wide{t.factor};
    return sum;
  };
  const Linear part = linearOf(b.expr), whole = linearOf(other->expr);
  return factors(part) < factors(whole) && !splitsOf(whole, part, 0, 0).empty();
}

} // namespace uopscope::rules
