// Division and remainder of index expressions by constants and by symbols, on the normal form of sums.
//
//   (r0*8 + r1) // 4   with r1 < 4  is  r0*2          (r0*8 + r1) % 4  is  r1
//   (n*6 + 4) // 4                  is  (n*3)//2 + 1
//
// Division truncates. Most folds need a dividend that is never negative, since truncation then rounds down. A
// dividend that is never positive is negated first. A dividend of either sign is folded only if the division
// is exact.
#include "engine/rules/algebra.h"
#include "engine/rules/families.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"

#include <algorithm>
#include <numeric>

namespace uopscope::rules {

namespace {

constexpr int kMostNesting = 8; ///< deepest nesting of divisions by parts

UOp index(Wide v) {
  return UOp::index(static_cast<int64_t>(v));
}

/// Folds one division or remainder by a constant c > 1. The dividend is at least 0.
class ByConst {
public:
  ByConst(UOp dividend, int64_t c, bool wantsMod, int depth)
      : u_(dividend), l_(linearOf(dividend)), c_(c), mod_(wantsMod), depth_(depth) {}

  UOp fold() {
    if (UOp r = congruent()) return r;
    if (UOp r = innerMods()) return r;
    if (UOp r = twoValues()) return r;
    if (UOp r = commonFactor()) return r;
    if (UOp r = pullOut()) return r;
    if (UOp r = turnAround()) return r;
    if (UOp r = smallerConst()) return r;
    if (mod_) return lowPart();
    if (UOp r = overQuotient()) return r;
    return byParts();
  }

private:
  UOp result(const Linear& dividend, int64_t c) const {
    UOp d = dividend.toUOp();
    return mod_ ? d % c : d / c;
  }

  /// All factors are replaced by their remainders modulo c. This is the result if the sum then stays within
  /// one multiple of c.
  UOp congruent() {
    Linear rem{{}, 0, l_.dtype}, quo{{}, 0, l_.dtype};
    for (const Term& t : l_.terms) {
      auto r = static_cast<int64_t>(floorMod(t.factor, c_));
      if (r > c_ - r) r -= c_;
      if (r) rem.terms.push_back({t.node, r});
      Wide q = (Wide{t.factor} - r) / c_;
      if (q) quo.terms.push_back({t.node, static_cast<int64_t>(q)});
    }
    rem.constant = static_cast<int64_t>(floorMod(l_.constant, c_));
    Interval range = intervalOf(rem);
    Wide block = floorDiv(range.lo, c_);
    if (block != floorDiv(range.hi, c_)) return {};
    if (mod_) {
      Wide k = rem.constant - block * c_;
      if (!fitsInt64(k)) return {};
      rem.constant = static_cast<int64_t>(k);
      return rem.toUOp();
    }
    Wide k = floorDiv(l_.constant, c_) + block;
    if (!fitsInt64(k)) return {};
    quo.constant = static_cast<int64_t>(k);
    return quo.toUOp();
  }

  /// f*(v % m), where f*m is a multiple of c, is congruent to f*v.
  UOp innerMods() {
    if (!mod_) return {};
    Linear out{{}, l_.constant, l_.dtype};
    bool changed = false;
    for (const Term& t : l_.terms) {
      bool drops =
          t.node.is(Op::MOD) && isInt(t.node.src(1)) && Wide{t.factor} * intOf(t.node.src(1)) % c_ == 0;
      if (!drops) {
        out.terms.push_back(t);
        continue;
      }
      Linear inner = linearOf(t.node.src(0) * t.factor);
      out.terms.insert(out.terms.end(), inner.terms.begin(), inner.terms.end());
      if (__builtin_add_overflow(out.constant, inner.constant, &out.constant)) return {};
      changed = true;
    }
    if (!changed || !normalize(out) || intervalOf(out).lo < 0) return {};
    return result(out, c_);
  }

  /// A single unknown with two values: the result is linear in it.
  UOp twoValues() {
    if (l_.terms.size() != 1) return {};
    const Term& t = l_.terms[0];
    Wide low = t.node.vmin();
    if (t.node.vmax() - low != 1) return {};
    auto at = [&](Wide v) {
      Wide n = v * t.factor + l_.constant;
      return mod_ ? n % c_ : n / c_;
    };
    Wide a = at(low), b = at(low + 1), constant = a - (b - a) * low;
    if (!fitsInt64(constant) || !fitsInt64(b - a)) return {};
    Linear out{{{t.node, static_cast<int64_t>(b - a)}}, static_cast<int64_t>(constant), l_.dtype};
    if (b == a) out.terms.clear();
    return out.toUOp();
  }

  /// A divisor of c that divides all factors is divided out; the remainder of the constant is added again.
  UOp commonFactor() {
    int64_t g = c_;
    for (const Term& t : l_.terms) g = std::gcd(g, t.factor);
    if (g <= 1 || l_.terms.empty()) return {};
    Linear out = l_;
    for (Term& t : out.terms) t.factor /= g;
    out.constant = static_cast<int64_t>(floorDiv(l_.constant, g));
    UOp r = result(out, c_ / g);
    if (!mod_) return r;
    return linearOf(r * g).toUOp() + index(floorMod(l_.constant, g));
  }

  /// Multiples of c leave the dividend, if the rest is still at least 0.
  UOp pullOut() {
    Linear rem{{}, l_.constant, l_.dtype}, quo{{}, 0, l_.dtype};
    for (const Term& t : l_.terms) {
      if (t.factor % c_ == 0) {
        quo.terms.push_back({t.node, t.factor / c_});
      } else if (mod_ && (t.factor >= c_ || t.factor < 0)) {
        rem.terms.push_back({t.node, static_cast<int64_t>(floorMod(t.factor, c_))});
      } else {
        rem.terms.push_back(t);
      }
    }
    if (rem.terms == l_.terms || intervalOf(rem).lo < 0) return {};
    UOp r = result(rem, c_);
    return mod_ ? r : quo.toUOp() + r;
  }

  /// (k - A) // c is k//c - (A + c-1 - k%c) // c: a dividend that only subtracts becomes one that adds.
  UOp turnAround() {
    bool onlyTaken = !l_.terms.empty() && std::all_of(l_.terms.begin(), l_.terms.end(), [](const Term& t) {
      return t.factor < 0 && t.node.vmin() >= 0;
    });
    if (mod_ || !onlyTaken) return {};
    Linear out{{}, static_cast<int64_t>(c_ - 1 - floorMod(l_.constant, c_)), l_.dtype};
    for (const Term& t : l_.terms) {
      if (t.factor == INT64_MIN) return {};
      out.terms.push_back({t.node, -t.factor});
    }
    return result(out, c_) * -1 + index(floorDiv(l_.constant, c_));
  }

  /// Makes the constant as small as possible: between 0 and c, if the dividend stays at least 0. Otherwise a
  /// remainder takes the smallest that does; a quotient keeps its constant, since the part taken out would be
  /// one more addition.
  UOp smallerConst() {
    Wide lowest = termsInterval(l_.terms).lo, k = floorMod(l_.constant, c_);
    if (lowest + k < 0 && !mod_) return {};
    if (lowest + k < 0) k += ceilDiv(-lowest - k, c_) * c_;
    if (k == l_.constant || !fitsInt64(k)) return {};
    Linear out = l_;
    out.constant = static_cast<int64_t>(k);
    UOp r = result(out, c_);
    return mod_ ? r : r + index((l_.constant - k) / c_);
  }

  /// g*A + low, with g a divisor of c and low within [0, g), has the remainder A%(c/g)*g + low. The low part
  /// leaves the remainder, and A%(c/g) can then be recombined with a quotient of A in an enclosing sum.
  UOp lowPart() {
    std::vector<Term> byFactor = l_.terms;
    auto magnitude = [](const Term& t) { return t.factor < 0 ? -Wide{t.factor} : Wide{t.factor}; };
    std::stable_sort(byFactor.begin(), byFactor.end(),
                     [&](const Term& a, const Term& b) { return magnitude(a) > magnitude(b); });
    int64_t g = c_;
    for (size_t n = 1; n < byFactor.size(); ++n) {
      g = std::gcd(g, byFactor[n - 1].factor);
      if (g <= 1) return {};
      Linear low{std::vector<Term>(byFactor.begin() + static_cast<std::ptrdiff_t>(n), byFactor.end()),
                 static_cast<int64_t>(floorMod(l_.constant, g)), l_.dtype};
      Interval range = intervalOf(low);
      if (range.lo < 0 || range.hi >= g) continue;
      Linear high{std::vector<Term>(byFactor.begin(), byFactor.begin() + static_cast<std::ptrdiff_t>(n)),
                  static_cast<int64_t>(floorDiv(l_.constant, g)), l_.dtype};
      for (Term& t : high.terms) t.factor /= g;
      if (!normalize(high) || !normalize(low)) return {};
      return high.toUOp() % (c_ / g) * g + low.toUOp();
    }
    return {};
  }

  /// (A + v//a) // c is (A*a + v) // (a*c). The rule applies if the result has no division of the dividend.
  UOp overQuotient() {
    if (l_.terms.size() < 2) return {};
    const Term* quotient = nullptr;
    for (const Term& t : l_.terms) {
      bool isQuotient = t.factor == 1 && t.node.is(Op::IDIV) && isInt(t.node.src(1)) &&
                        intOf(t.node.src(1)) > 0 && t.node.src(0).vmin() >= 0;
      if (isQuotient && quotient) return {};
      if (isQuotient) quotient = &t;
    }
    if (!quotient) return {};
    int64_t a = intOf(quotient->node.src(1)), whole;
    if (__builtin_mul_overflow(a, c_, &whole)) return {};
    Linear rest = l_;
    std::erase_if(rest.terms, [&](const Term& t) { return t.node == quotient->node; });
    if (intervalOf(rest).lo < 0) return {};
    return ByConst(rest.toUOp() * a + quotient->node.src(0), whole, false, depth_).congruent();
  }

  /// (v//a + k) // c  is  (v + k*a) // (a*c), and (v % m) // c is (v//c) % (m/c) if m is a multiple of c.
  /// Otherwise the dividend is divided by a factor of c first, if that simplifies it.
  UOp byParts() {
    if (l_.terms.size() == 1 && l_.terms[0].factor == 1) {
      UOp inner = l_.terms[0].node;
      bool hasConst = inner.srcCount() == 2 && isInt(inner.src(1)) && intOf(inner.src(1)) > 0;
      int64_t a = hasConst ? intOf(inner.src(1)) : 0, product, k;
      if (hasConst && inner.is(Op::IDIV) && inner.src(0).vmin() >= 0 && l_.constant >= 0 &&
          !__builtin_mul_overflow(a, c_, &product) && !__builtin_mul_overflow(l_.constant, a, &k))
        return (k ? inner.src(0) + k : inner.src(0)) / product;
      if (hasConst && inner.is(Op::MOD) && l_.constant == 0 && a % c_ == 0 && inner.src(0).vmin() >= 0)
        return (inner.src(0) / c_) % (a / c_);
    }
    if (depth_ >= kMostNesting) return {};
    int64_t part = c_;
    for (const Term& t : l_.terms) {
      int64_t f = t.factor < 0 ? -t.factor : t.factor;
      if (f > 1 && c_ % f == 0) part = std::min(part, f);
    }
    if (part >= c_) return {};
    UOp inner = ByConst(u_, part, false, depth_ + 1).fold();
    if (!inner || inner.vmin() < 0) return {};
    return inner / (c_ / part);
  }

  UOp u_;
  Linear l_;
  int64_t c_;
  bool mod_;
  int depth_;
};

/// Divides a dividend all of whose terms are multiples of the divisor.
UOp exactly(UOp a, UOp b, bool wantsMod) {
  UOp q = divideExact(a, b);
  if (!q) return {};
  return wantsMod ? UOp::index(0) : q;
}

/// Folds a symbolic divisor: common factors cancel, and multiples of the divisor leave the dividend.
UOp bySymbol(UOp a, UOp b, bool wantsMod) {
  if (UOp r = exactly(a, b, wantsMod)) return r;
  std::vector<UOp> both{a, b};
  UOp common = gcd(both);
  if (!common.isConst(1) && !common.isConst(0)) {
    UOp p = divideExact(a, common), q = divideExact(b, common);
    if (p && q && q != b) return wantsMod ? p % q * common : p / q;
  }
  if (a.vmin() < 0 || b.vmin() <= 0) return {};
  Linear l = linearOf(a), rem{{}, l.constant, l.dtype};
  UOp quotient;
  for (const Term& t : l.terms) {
    UOp q = divideExact(l.termUOp(t), b);
    if (!q) {
      rem.terms.push_back(t);
      continue;
    }
    quotient = quotient ? quotient + q : q;
  }
  if (!quotient || intervalOf(rem).lo < 0) return {};
  UOp r = rem.toUOp();
  return wantsMod ? r % b : quotient + r / b;
}

UOp negate(UOp u) {
  return linearOf(u * -1).toUOp();
}

/// (g*a) // (g*c) is a // c and (g*a) % (g*c) is (a % c)*g for any sign of a, since both sides are multiples
/// of g.
UOp commonFactorOfSigned(UOp a, int64_t c, bool wantsMod) {
  int64_t g = std::gcd(constFactor(a), c);
  UOp rest = g > 1 ? divides(a, g) : UOp{};
  if (!rest) return {};
  return wantsMod ? rest % (c / g) * g : rest / (c / g);
}

UOp foldDivMod(Match& m) {
  UOp u = m.root(), a = u.src(0), b = u.src(1);
  if (!isScalarIndex(u) || a.isInvalidConst() || b.isInvalidConst())
    return m.decline("no scalar index, or Invalid");
  bool wantsMod = u.is(Op::MOD);
  Wide alo = a.vmin(), ahi = a.vmax(), blo = b.vmin(), bhi = b.vmax();
  if (blo > 0 || bhi < 0) {
    Wide q = alo / blo;
    if (q == alo / bhi && q == ahi / blo && q == ahi / bhi && fitsInt64(q)) {
      if (!wantsMod) return index(q);
      if (q == 0) return a;
      return a - b * static_cast<int64_t>(q);
    }
  }
  if (bhi < 0 && b.vmin() != INT64_MIN) return wantsMod ? a % negate(b) : negate(a / negate(b));
  if (ahi <= 0 && alo < 0 && a.vmin() != INT64_MIN) return negate(wantsMod ? negate(a) % b : negate(a) / b);
  if (isInt(b) && intOf(b) > 1) {
    int64_t c = intOf(b), product;
    if (UOp r = exactly(a, b, wantsMod)) return r;
    // Quotients of quotients, for any sign.
    if (!wantsMod && a.is(Op::IDIV) && isInt(a.src(1)) && intOf(a.src(1)) > 0 &&
        !__builtin_mul_overflow(c, intOf(a.src(1)), &product))
      return a.src(0) / product;
    if (alo < 0) return commonFactorOfSigned(a, c, wantsMod);
    UOp r = ByConst(a, c, wantsMod, 0).fold();
    return r == u ? m.decline("no part of the dividend divides") : r;
  }
  if (!isInt(b)) {
    UOp r = bySymbol(a, b, wantsMod);
    return r == u ? m.decline("no part of the dividend divides") : r;
  }
  return m.decline("the divisor may be 0 or negative");
}

constexpr Pat kRange = pat::op(Op::RANGE, y).more();

constexpr RuleDef kDivmodRules[] = {
    RULE("range-mod-extent", pat::op(Op::MOD, kRange.named(x), y), x),
    RULE("range-div-extent", pat::op(Op::IDIV, kRange, y), 0),
    RULE("fold-divmod", pat::op(OpSet{Op::IDIV, Op::MOD}, xi, y), foldDivMod),
};
const KnownRules kDivmodRulesKnown(kDivmodRules);

} // namespace

Family divmodRules() {
  return kDivmodRules;
}

} // namespace uopscope::rules
