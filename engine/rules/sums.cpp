// Sums and products of integers. Sums of dtype index are kept in the normal form of linear.h: sorted terms,
// the constant last. The parts of a division are recombined: x//4*4 + x%4 becomes x.
//
// A short sum is normalised when it is made. A sum of more than kShort terms is normalised once, when its
// user is visited, so a chain of n additions costs n log n instead of n squared.
//
// Integers of other types wrap. Their factors are merged, since that is correct for wrapping integers; their
// order is kept.
#include "engine/rules/families.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"

#include <algorithm>

namespace uopscope::rules {

namespace {

constexpr size_t kShort = 24;

/// Finds the terms of a sum that recombine, with an index of its factors by node.
class Recombiner {
public:
  explicit Recombiner(Linear& sum) : sum_(sum) {}

  /// k*(y%c) + k*c*(y//c) becomes k*y, and k*(y%c) + k*c*((y//c)%d) becomes k*(y%(c*d)). The two dividends
  /// may differ by multiples of c: (a*3 + b)%7 recombines with (a*10 + b)//7.
  void run() {
    for (const Term& t : sum_.terms) add(t);
    bool changed = false;
    while (!mods_.empty()) {
      UOp mod = mods_.back();
      mods_.pop_back();
      auto it = factors_.find(mod);
      if (it == factors_.end() || it->second == 0) continue;
      changed |= join(mod, it->second);
    }
    if (!changed) return;
    sum_.terms.clear();
    for (auto [node, factor] : factors_)
      if (factor) sum_.terms.push_back({node, factor});
    normalize(sum_);
  }

private:
  static bool isMod(UOp u) { return u.is(Op::MOD) && isInt(u.src(1)) && intOf(u.src(1)) > 0; }
  static bool isDiv(UOp u) { return u.is(Op::IDIV) && isInt(u.src(1)) && intOf(u.src(1)) > 0; }

  void add(const Term& t) {
    factors_[t.node] += t.factor;
    arrived(t.node);
    if (!isMod(t.node)) return;
    mods_.push_back(t.node);
    modOf_[t.node.src(0)] = t.node;
    arrived(t.node.src(0));
    for (UOp q : quotientsOf(t.node)) waiting_[q].push_back(t.node);
    if (UOp key = residue(t.node)) waiting_[key].push_back(t.node);
  }
  /// Registers a quotient, or the dividend of a different remainder.
  void arrived(UOp partner) {
    wake(partner);
    if (!isDiv(partner)) return;
    UOp key = residue(partner);
    if (!key) return;
    quotientByResidue_[key] = partner;
    wake(key);
  }
  /// The key that y//c and y%c share: y with its factors reduced modulo c, as a remainder by c. Null if y may
  /// be negative or is no sum.
  static UOp residue(UOp u) {
    UOp y = u.src(0);
    if (!OpSet{Op::ADD, Op::MUL}.has(y.op()) || y.vmin() < 0) return {};
    int64_t c = intOf(u.src(1));
    Linear l = linearOf(y);
    for (Term& t : l.terms) t.factor = static_cast<int64_t>(floorMod(t.factor, c));
    std::erase_if(l.terms, [](const Term& t) { return t.factor == 0; });
    l.constant = static_cast<int64_t>(floorMod(l.constant, c));
    return UOp::make(Op::MOD, dtypes::index, {l.toUOp(), u.src(1)});
  }
  /// Tries the remainders again that wait for this node.
  void wake(UOp partner) {
    auto it = waiting_.find(partner);
    if (it != waiting_.end()) mods_.insert(mods_.end(), it->second.begin(), it->second.end());
  }
  /// The quotients that recombine with y%c: y//c, and v//(a*c) if y is v//a.
  static std::vector<UOp> quotientsOf(UOp mod) {
    UOp y = mod.src(0);
    int64_t c = intOf(mod.src(1)), product;
    std::vector<UOp> q{UOp::make(Op::IDIV, dtypes::index, {y, UOp::index(c)})};
    if (isDiv(y) && !__builtin_mul_overflow(intOf(y.src(1)), c, &product))
      q.push_back(UOp::make(Op::IDIV, dtypes::index, {y.src(0), UOp::index(product)}));
    return q;
  }
  int64_t factorOf(UOp u) const {
    auto it = factors_.find(u);
    return it == factors_.end() ? 0 : it->second;
  }
  /// Replaces k*mod and its partner by k*replacement.
  bool replace(UOp mod, UOp other, int64_t k, UOp replacement) {
    factors_[mod] = 0;
    factors_[other] = 0;
    Linear more = linearOf(replacement * k);
    sum_.constant += more.constant;
    for (const Term& t : more.terms) add(t);
    return true;
  }
  bool join(UOp mod, int64_t k) {
    int64_t c = intOf(mod.src(1)), whole;
    if (__builtin_mul_overflow(k, c, &whole)) return false;
    std::vector<UOp> quotients = quotientsOf(mod);
    if (UOp key = residue(mod))
      if (auto it = quotientByResidue_.find(key); it != quotientByResidue_.end())
        quotients.push_back(it->second);
    for (UOp q : quotients) {
      UOp y = q.src(1) == mod.src(1) ? q.src(0) : mod.src(0);
      if (factorOf(q) == whole) return replace(mod, q, k, y);
      auto it = modOf_.find(q);
      if (it == modOf_.end() || factorOf(it->second) != whole) continue;
      UOp outer = it->second;
      int64_t product;
      if (__builtin_mul_overflow(c, intOf(outer.src(1)), &product)) continue;
      return replace(mod, outer, k, y % product);
    }
    return false;
  }

  Linear& sum_;
  UOpMap<int64_t> factors_;
  UOpMap<UOp> modOf_;                ///< a remainder, by its dividend
  UOpMap<std::vector<UOp>> waiting_; ///< remainders, by the quotient they recombine with
  UOpMap<UOp> quotientByResidue_;
  std::vector<UOp> mods_;
};

/// Whether anything can recombine: there is a remainder and a partner for it.
bool hasParts(const Linear& l) {
  size_t mods = 0, divs = 0;
  for (const Term& t : l.terms) {
    mods += t.node.is(Op::MOD);
    divs += t.node.is(Op::IDIV);
  }
  return mods && mods + divs > 1;
}
bool hasPartsNodes(UOp sum) {
  size_t mods = 0, divs = 0;
  auto count = [&](UOp term) {
    UOp base = term.is(Op::MUL) ? term.src(0) : term;
    mods += base.is(Op::MOD);
    divs += base.is(Op::IDIV);
  };
  for (; sum.is(Op::ADD); sum = sum.src(0)) count(sum.src(1));
  count(sum);
  return mods && mods + divs > 1;
}

UOp normalSum(UOp u) {
  if (isNormalSum(u) && !hasPartsNodes(u)) return {};
  Linear l = linearOf(u);
  if (hasParts(l)) Recombiner(l).run();
  UOp r = l.toUOp();
  return r == u ? UOp{} : r;
}

UOp normalizeSum(Match& m) {
  UOp u = m.root();
  if (!isScalarIndex(u)) return m.decline("no scalar index");
  // A factor is multiplied into the sum below it. A product of two unknowns is no sum.
  if (u.is(Op::MUL) && !isInt(u.src(0)) && !isInt(u.src(1)))
    return m.decline("a product of two unknowns is no sum");
  return isLongSum(u, kShort) ? m.decline("a long sum waits for its user") : normalSum(u);
}

/// Normalises the long sums among the sources of a node.
UOp normalizeOperands(Match& m) {
  UOp u = m.root();
  std::vector<UOp> src(u.src().begin(), u.src().end());
  bool changed = false;
  for (UOp& s : src) {
    if (!OpSet{Op::ADD, Op::MUL}.has(s.op()) || !isScalarIndex(s) || !isLongSum(s, kShort)) continue;
    if (s.is(Op::MUL) && !isInt(s.src(0)) && !isInt(s.src(1))) continue;
    if (UOp better = normalSum(s)) {
      s = better;
      changed = true;
    }
  }
  return changed ? u.withSrc(src) : m.decline("no operand is a long sum out of order");
}

/// Sorts the factors of a product, the constant last.
UOp normalizeProduct(Match& m) {
  UOp u = m.root();
  if (!isScalarIndex(u) || isLongSum(u, kShort)) return m.decline("a long sum waits for its user");
  int64_t constant = 1;
  std::vector<UOp> factors = factorsOf(u, constant);
  std::stable_sort(factors.begin(), factors.end(), [](UOp a, UOp b) { return compareNodes(a, b) < 0; });
  if (factors.empty()) return UOp::index(constant);
  if (std::any_of(factors.begin(), factors.end(), isInt))
    return m.decline("the constants leave 64 bits together");
  UOp product = factors[0];
  for (size_t i = 1; i < factors.size(); ++i) product = product * factors[i];
  if (constant != 1) product = product * constant;
  return product == u ? m.decline("it is in normal form") : product;
}

constexpr OpSet kUsers{Op::IDIV, Op::MOD,   Op::MAX,     Op::CMPLT, Op::CMPNE,  Op::CMPEQ,     Op::WHERE,
                       Op::CAST, Op::INDEX, Op::RANGE,   Op::AND,   Op::OR,     Op::XOR,       Op::SHL,
                       Op::SHR,  Op::STORE, Op::SPECIAL, Op::BIND,  Op::REDUCE, Op::VECTORIZE, Op::NOOP};
constexpr Pat kSum = pat::any(OpSet{Op::ADD}).withDtype(kMaskIndex);
constexpr Pat kUserOfSum =
    pat::oneOf(pat::op(kUsers, kSum).more(), pat::op(kUsers, pat::anything(), kSum).more(),
               pat::op(kUsers, pat::anything(), pat::anything(), kSum).more(), pat::any(OpSet{Op::SINK}));

constexpr RuleDef kSumRules[] = {
    RULE("normal-sum", pat::any(OpSet{Op::ADD, Op::SUB, Op::NEG, Op::MUL}).withDtype(kMaskIndex),
         normalizeSum),
    RULE("normal-product", pat::any(OpSet{Op::MUL}).withDtype(kMaskIndex), normalizeProduct),
    RULE("normal-operands", kUserOfSum, normalizeOperands),
    // Rules for integers that wrap.
    RULE("add-consts", (xWrap + c0) + c1, x + pat::fold(c0 + c1)),
    RULE("mul-consts", (xWrap * c0) * c1, x* pat::fold(c0* c1)),
    RULE("and-consts", (xWrap & c0) & c1, x& pat::fold(c0& c1)),
    RULE("or-consts", (xWrap | c0) | c1, x | pat::fold(c0 | c1)),
    RULE("xor-consts", (xWrap ^ c0) ^ c1, x ^ pat::fold(c0 ^ c1)),
    RULE("add-const-out", (xWrap + c0) + y, (x + y) + c0, guard::notConst(y)),
    RULE("mul-const-out", (xWrap * c0) * y, (x * y) * c0, guard::notConst(y)),
    RULE("add-self", xWrap + x, x * 2),
    RULE("add-multiple", xWrap* c0 + x, x* pat::fold(c0 + 1)),
    RULE("add-multiples", xWrap* c0 + x * c1, x* pat::fold(c0 + c1)),
    RULE("sum-add-self", (y + xWrap) + x, y + x * 2),
    RULE("sum-add-multiple", (y + xWrap * c0) + x, y + x * pat::fold(c0 + 1)),
    RULE("sum-add-multiples", (y + xWrap * c0) + x * c1, y + x * pat::fold(c0 + c1)),
    RULE("mod-plus-multiple", xWrap % c0 + (x / c0) * c0, x),
    RULE("negated-sum", (xWrap + c0) * -1, x * -1 + pat::fold(c0 * -1)),
};
const KnownRules kSumRulesKnown(kSumRules);

} // namespace

Family sumRules() {
  return kSumRules;
}

} // namespace uopscope::rules
