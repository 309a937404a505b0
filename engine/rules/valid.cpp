// Gates: conditions under which an index is accessed. An index is simplified under the assumption that its
// gate holds, and each clause of a conjunction under the assumption of the clauses before it.
//
//   WHERE(r0 < 3, r0 % 3, Invalid)  is  WHERE(r0 < 3, r0, Invalid)
#include "engine/rules/algebra.h"
#include "engine/rules/families.h"
#include "engine/rules/gate_bounds.h"
#include "engine/rules/image_gate.h"
#include "engine/rules/interval.h"
#include "engine/rules/variables.h"
#include "engine/uop/linear.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace uopscope {

using namespace rules;

namespace {

constexpr size_t kMostClauses = 64; ///< a longer gate is not simplified clause by clause
constexpr size_t kMostChoices = 16; ///< of terms that are > 0, one in each sum

UOp stand(size_t i, int64_t low, int64_t high, DType d) {
  return UOp::variable(fmt::format("valid{}", i), low, high, d);
}

/// A sum with k * variable in place of k times the terms of `part`; null if it lacks one of them.
UOp withoutTerms(UOp sum, const Linear& part, UOp variable) {
  Linear whole = linearOf(sum);
  std::optional<int64_t> times;
  for (const Term& p : part.terms) {
    auto at =
        std::find_if(whole.terms.begin(), whole.terms.end(), [&](const Term& t) { return t.node == p.node; });
    if (at == whole.terms.end() || at->factor % p.factor || (times && at->factor / p.factor != *times))
      return {};
    times = at->factor / p.factor;
    whole.terms.erase(at);
  }
  int64_t gone;
  if (__builtin_mul_overflow(*times, part.constant, &gone) ||
      __builtin_sub_overflow(whole.constant, gone, &whole.constant))
    return {};
  whole.terms.push_back({variable, *times});
  return normalize(whole) ? whole.toUOp() : UOp();
}

/// u with `variable` in place of `from`, also where the terms of the sum `from` are a part of a longer sum: sums are
/// flat, so r0+r1 is no node of r0+r1+r2.
UOp inPlaceOf(UOp from, UOp variable, UOp u) {
  UOp replaced = u.substitute({{from, variable}});
  if (!from.is(Op::ADD) || !replaced.below().contains(Op::ADD)) return replaced;
  Linear part = linearOf(from);
  if (part.terms.size() < 2) return replaced;
  UOpMap<UOp> sums;
  for (UOp s : replaced.toposort())
    if (s.is(Op::ADD) && s.dtype() == from.dtype())
      if (UOp without = withoutTerms(s, part, variable)) sums[s] = without;
  return sums.empty() ? replaced : replaced.substitute(sums);
}

/// u with the narrower bounds of `variable` in place of `from`; null if `from` does not occur.
UOp assuming(UOp u, UOp from, UOp variable) {
  UOp replaced = inPlaceOf(from, variable, u);
  if (replaced == u) return {};
  UOp simple = simplify(replaced);
  return simplify(simple.substitute({{variable, from}}));
}

/// u under the assumption that in each of these sums of terms some term is > 0: what all choices of a term in each sum agree
/// on; null if they do not.
UOp givenSimplexes(const std::vector<std::vector<UOp>>& sums, UOp u) {
  if (!u.below().intersects(OpSet{Op::IDIV, Op::MOD})) return {};
  size_t choices = 1;
  for (const auto& parts : sums)
    if ((choices *= parts.size()) > kMostChoices) return {};
  UOp agreed;
  for (size_t choice = 0; choice < choices; ++choice) {
    UOpMap<UOp> positive, back;
    for (size_t s = 0, rest = choice; s < sums.size(); rest /= sums[s++].size()) {
      UOp part = sums[s][rest % sums[s].size()];
      if (positive.contains(part)) continue;
      UOp variable = stand(s, 1, part.vmax(), part.dtype());
      positive[part] = variable;
      back[variable] = part;
    }
    UOp r = simplify(simplify(u.substitute(positive)).substitute(back));
    if (r == u || (agreed && r != agreed)) return {};
    agreed = r;
  }
  return agreed;
}

} // namespace

UOp givenValid(UOp valid, UOp u, bool trySimplex) {
  GateBounds bounds(valid);
  if (bounds.impossible) return u;
  UOpMap<UOp> all, back;
  std::vector<std::vector<UOp>> simplexes;
  for (size_t i = 0; i < bounds.order.size(); ++i) {
    UOp expr = bounds.order[i];
    auto [low, high] = bounds.of[expr];
    UOp variable = stand(i, low, high, expr.dtype());
    all[expr] = variable;
    back[variable] = expr;
    if (UOp r = assuming(u, expr, variable)) u = r;
    // If a sum of terms that are never negative is > 0, some term is > 0. A simplification that is the same
    // for every choice of that term is valid.
    std::vector<UOp> parts = splitUop(expr, Op::ADD);
    auto plain = [](UOp p) {
      return p.in(group::kIrreducible) && !p.isConst() && p.vmin() == 0 && p.vmax() > 0;
    };
    if (!trySimplex || low != 1 || parts.size() < 2 || !std::all_of(parts.begin(), parts.end(), plain))
      continue;
    simplexes.push_back(parts);
    UOp agreed;
    for (UOp p : parts) {
      UOp r = assuming(u, p, stand(i, 1, p.vmax(), p.dtype()));
      if (!r || (agreed && r != agreed)) {
        agreed = {};
        break;
      }
      agreed = r;
    }
    if (agreed) u = agreed;
  }
  if (simplexes.size() > 1)
    if (UOp agreed = givenSimplexes(simplexes, u)) u = agreed;
  if (bounds.order.size() > 1) {
    UOp replaced = u.substitute(all);
    for (UOp expr : bounds.order) replaced = inPlaceOf(expr, all[expr], replaced);
    if (replaced != u) u = simplify(simplify(replaced).substitute(back));
  }
  // Last: a variable in place of a sum would turn a quotient of what is never negative back into one that may be.
  if (UOp r = withinBounds(bounds, u)) u = r;
  return u;
}

namespace {

/// Whether a coordinate of a pixel lies outside of the image wherever the clause fails.
bool failsOutside(const Bound& clause, UOp coordinate, int64_t size) {
  auto isOutside = [&](UOp c) { return c.vmax() < 0 || c.vmin() >= size; };
  int64_t low = clause.expr.vmin(), high = clause.expr.vmax();
  (clause.isUpper ? low : high) = clause.isUpper ? clause.bound + 1 : clause.bound - 1;
  if (low > high) return false; // it never fails: other rules know
  UOp failed = inPlaceOf(clause.expr, stand(0, low, high, clause.expr.dtype()), coordinate);
  if (failed != coordinate && isOutside(simplify(failed))) return true;
  if (low != high || low != clause.expr.vmin()) return false;
  // A sum at its least value: every term is.
  UOpMap<UOp> least;
  for (UOp part : splitUop(clause.expr, Op::ADD)) {
    if (part.isConst()) continue;
    if (!part.in(group::kIrreducible)) return false;
    least[part] = part.constLike(part.vmin());
  }
  return isOutside(simplify(coordinate.substitute(least)));
}

} // namespace

UOp gateInsideImage(UOp gate, UOp x, UOp y, const ImageShape& image) {
  std::vector<UOp> needed;
  for (UOp clause : splitUop(gate, Op::AND)) {
    auto b = parseClause(clause);
    const bool isBound = b && b->isAll && (b->isUpper ? b->bound < INT64_MAX : b->bound > INT64_MIN);
    if (!isBound || (!failsOutside(*b, x, image.width) && !failsOutside(*b, y, image.height)))
      needed.push_back(clause);
  }
  return joinUop(needed, Op::AND, {});
}

namespace rules {

namespace {

/// Simplifies a conjunction. Clauses whose expressions occur in further clauses come first, and simplify
/// those.
UOp simplifyConjunction(Match& m) {
  UOp u = m.root();
  if (!u.dtype().isBool()) return {};
  std::vector<UOp> clauses = splitUop(u, Op::AND), unique;
  for (UOp c : clauses)
    if (std::find(unique.begin(), unique.end(), c) == unique.end()) unique.push_back(c);
  if (unique.size() > kMostClauses) return {};
  for (UOp n : u.toposort())
    if (n.is(Op::INDEX) || n.is(Op::LOAD)) return {}; // simplifying conditions on loaded values does not pay
  if (GateBounds(u).impossible) return UOp::constant(u.dtype(), ConstValue::ofBool(false));
  // Of several bounds of the same expression on the same side, the tightest implies all of them.
  std::erase_if(unique, [&](UOp c) {
    auto b = parseClause(c);
    return b && b->isAll && std::any_of(unique.begin(), unique.end(), [&](UOp other) {
             auto o = parseClause(other);
             bool sameSide = o && other != c && o->expr == b->expr && o->isUpper == b->isUpper;
             return sameSide && (b->isUpper ? o->bound < b->bound : o->bound > b->bound);
           });
  });
  std::vector<std::pair<int, UOp>> ordered;
  for (UOp c : unique) {
    auto b = parseClause(c);
    int uses = 0;
    for (UOp other : unique) uses += b && (other.dependsOn(b->expr) || isPartOf(*b, other));
    ordered.emplace_back(-uses, c);
  }
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<UOp> kept;
  for (auto [uses, c] : ordered) {
    UOp simple = kept.empty() ? c : givenValid(joinUop(kept, Op::AND, {}), c);
    // A bound that the kept clauses already imply is dropped.
    auto b = parseClause(simple);
    bool implied = simple.isConst(1);
    if (b && b->isAll && !kept.empty()) {
      GateBounds known(joinUop(kept, Op::AND, {}));
      auto it = known.of.find(b->expr);
      if (it != known.of.end())
        implied |= b->isUpper ? it->second.second <= b->bound : it->second.first >= b->bound;
    }
    if (simple.isConst(0)) return simple;
    if (!implied && std::find(kept.begin(), kept.end(), simple) == kept.end()) kept.push_back(simple);
  }
  UOp r = joinUop(kept, Op::AND, UOp::constant(u.dtype(), ConstValue::ofBool(true)));
  std::vector<UOp> before = clauses, after = splitUop(r, Op::AND);
  auto byId = [](UOp a, UOp b) { return a.id() < b.id(); };
  std::sort(before.begin(), before.end(), byId);
  std::sort(after.begin(), after.end(), byId);
  return before == after ? UOp{} : r;
}

/// The outermost reads of memory in an index, each with a variable in its place, since a read has a gate of
/// its own.
UOpMap<UOp> readsOf(UOp index) {
  UOpMap<UOp> reads;
  std::vector<UOp> stack{index};
  UOpMap<bool> seen;
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (!seen.emplace(u, true).second) continue;
    if (u.in({Op::INDEX, Op::LOAD}))
      reads[u] = UOp::variable(fmt::format("read{}", u.id()), u.vmin(), u.vmax(), u.dtype());
    else
      stack.insert(stack.end(), u.src().begin(), u.src().end());
  }
  return reads;
}
/// Reads inside the index keep their own gates: such a read may happen where the outer gate is false.
UOp gatedGivenValid(Match& m) {
  UOp gate = m[cond], index = m[x];
  UOpMap<UOp> back;
  if (index.below().intersects(OpSet{Op::INDEX, Op::LOAD})) {
    UOpMap<UOp> reads = readsOf(index);
    for (auto [read, variable] : reads) {
      if (!read.dtype().isInt()) return m.decline("it depends on a float in memory");
      back[variable] = read;
    }
    gate = gate.substitute(reads);
    index = index.substitute(reads);
  }
  UOp u = givenValid(gate, index, false);
  // A variable may be sorted differently in a sum than the read it stands for. This alone is no change.
  if (u == index || (!back.empty() && u == simplify(index)))
    return m.decline("the gate says nothing of the index");
  return m[cond].where(back.empty() ? u : u.substitute(back), m.root().src(2));
}

/// Whether every range of `a` is a range of `b`.
bool rangesWithin(UOp a, UOp b) {
  const auto& outer = b.ranges();
  for (UOp r : a.ranges())
    if (std::find(outer.begin(), outer.end(), r) == outer.end()) return false;
  return true;
}
bool sharesRange(UOp a, UOp b) {
  const auto& other = b.ranges();
  return std::any_of(a.ranges().begin(), a.ranges().end(),
                     [&](UOp r) { return std::find(other.begin(), other.end(), r) != other.end(); });
}

UOp dropClauses(Match& m) {
  std::vector<UOp> keep, all = splitUop(m[cond], Op::AND);
  for (UOp c : all)
    if (sharesRange(c, m[x])) keep.push_back(c);
  if (keep.size() == all.size()) return m.decline("every clause shares a range with the index");
  return joinUop(keep, Op::AND, UOp::boolean(true)).where(m[x], m.root().src(2));
}

/// Moves clauses of `condition` into the gate of the INDEX if its ranges include those of the clause.
UOp whereOnLoad(UOp condition, UOp load) {
  bool isLoad = load.is(Op::LOAD);
  UOp access = isLoad ? load.src(0) : load;
  if (!access.is(Op::INDEX) || access.srcCount() != 2 || (isLoad && load.srcCount() != 1)) return {};
  UOp at = access.src(1);
  std::vector<UOp> own = splitUop(validOf(at), Op::AND), moved, rest;
  bool removed = false;
  for (UOp c : splitUop(condition, Op::AND)) {
    bool known = std::find(own.begin(), own.end(), c) != own.end();
    bool dataDependent = false;
    for (UOp n : c.toposort()) dataDependent |= n.is(Op::INDEX) && !at.dependsOn(n);
    if (known) {
      removed = true;
    } else if (rangesWithin(c, at) && !dataDependent) {
      moved.push_back(c);
      removed = true;
    } else {
      rest.push_back(c);
    }
  }
  if (!removed) return {};
  std::vector<UOp> gate;
  for (UOp c : own)
    if (!c.isConst(1)) gate.push_back(c);
  gate.insert(gate.end(), moved.begin(), moved.end());
  UOp index = indexOf(at);
  if (!gate.empty()) index = joinUop(gate, Op::AND, {}).where(index, UOp::invalid());
  UOp value = access.withSrc({access.src(0), index});
  if (isLoad) value = load.withSrc({value});
  if (rest.empty()) return value;
  return joinUop(rest, Op::AND, {}).where(value, value.constLike(int64_t{0}));
}

/// The address of a read whose value only counts where the clauses of `condition` hold. Where it is inside of its buffer anyway, these
/// need no longer be clauses of its gate; else the new address may lie outside where they do not hold, and they are.
UOp addressUnder(UOp read, UOp condition, const std::vector<UOp>& clauses) {
  const UOp at = read.src(1), buffer = read.src(0);
  const UOp index = withoutRemainders(condition, indexOf(at));
  if (!index) return {};
  const int64_t size = buffer.dtype().isPtr() ? buffer.dtype().size() : DType::kUnsized;
  const bool isInside = size != DType::kUnsized && index.vmin() >= 0 && index.vmax() < size;
  std::vector<UOp> gate;
  for (UOp c : splitUop(validOf(at), Op::AND))
    if (!c.isConst(1) && !(isInside && std::ranges::find(clauses, c) != clauses.end())) gate.push_back(c);
  for (UOp c : clauses)
    if (!isInside && c.below().has(Op::MOD) && std::ranges::find(gate, c) == gate.end()) gate.push_back(c);
  return gate.empty() ? index : joinUop(gate, Op::AND, {}).where(index, UOp::invalid());
}

/// Reads below a choice: where the condition does not hold, nobody needs what they read.
UOp readsUnderCondition(Match& m) {
  const UOp condition = m[cond], value = m[x];
  if (!condition.below().has(Op::MOD) || !value.below().has(Op::IDIV) || !value.below().has(Op::INDEX))
    return m.decline("no remainder decides about an address");
  if (condition.below().has(Op::INDEX) || condition.below().has(Op::LOAD))
    return m.decline("the condition reads memory");
  constexpr size_t kMostRead = 16;
  const std::vector<UOp> clauses = splitUop(condition, Op::AND);
  UOpMap<UOp> better;
  size_t reads = 0;
  visitBelow(value, [&](UOp u) {
    if (u.in({Op::REDUCE, Op::LOAD, Op::AFTER})) return Visit::Past;
    if (!u.is(Op::INDEX)) return Visit::Below;
    if (++reads > kMostRead) return Visit::Stop;
    if (u.srcCount() == 2 && !u.src(1).below().has(Op::INDEX))
      if (UOp at = addressUnder(u, condition, clauses)) better[u] = u.withSrc({u.src(0), at});
    return Visit::Past;
  });
  if (better.empty()) return m.decline("no address has a quotient that the condition makes whole");
  return condition.where(value.substitute(better), m.root().src(2));
}

constexpr Pat kAccess = pat::any(OpSet{Op::INDEX, Op::LOAD});

constexpr RuleDef kValidRules[] = {
    RULE("simplify-gate", pat::any(OpSet{Op::AND}).withDtype(kMaskBool), simplifyConjunction),
    RULE("gated-given-valid", kGated, gatedGivenValid),
    RULE("reads-under-condition", pat::where(cond, x, 0), readsUnderCondition),
};
const KnownRules kValidRulesKnown(kValidRules);
constexpr RuleDef kDropClauseRules[] = {
    RULE("drop-clauses", kGated, dropClauses),
};
const KnownRules kDropClauseRulesKnown(kDropClauseRules);
constexpr RuleDef kMoveWhereRules[] = {
    RULE("where-to-load", pat::where(cond, kAccess.named(x), 0),
         [](Match& m) { return whereOnLoad(m[cond], m[x]); }),
    RULE("where-to-load-else", pat::where(cond, 0, kAccess.named(x)),
         [](Match& m) { return whereOnLoad(m[cond].logicalNot(), m[x]); }),
};
const KnownRules kMoveWhereRulesKnown(kMoveWhereRules);

} // namespace

Family validRules() {
  return kValidRules;
}
Family dropClauseRules() {
  return kDropClauseRules;
}
Family moveWhereRules() {
  return kMoveWhereRules;
}

} // namespace rules
} // namespace uopscope
