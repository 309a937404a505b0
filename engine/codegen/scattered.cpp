// Finds the index that names the result of a term, and makes the loop over the terms.
#include "engine/codegen/scattered.h"

#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/strips.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace uopscope {

namespace {

using namespace pat;

/// A term that is the identity of its reduction unless its conditions hold.
std::optional<SumTerm> termOf(UOp u, Op how) {
  return how == Op::ADD ? asSumTerm(u) : asChosenTerm(u, [&](UOp v) { return isIdentity(v, how); });
}

/// A condition `index == loop`, which holds for one step of a loop.
struct LoopChoice {
  UOp condition, loop, index;
  UOp others = {}; ///< the remaining conditions; null: none
};
/// The choice that a condition makes; its loop is null where it makes none.
LoopChoice choiceOf(UOp condition, const OneSum& k) {
  UOp equal = condition;
  if (equal.is(Op::CMPNE) && equal.src(0).dtype().isBool() && equal.src(1).isConst(1) &&
      equal.src(0).is(Op::CMPNE))
    equal = equal.src(0);
  else if (!equal.is(Op::CMPEQ))
    return {};
  for (size_t side = 0; side < 2; ++side) {
    UOp loop = equal.src(side), index = equal.src(1 - side);
    while (loop.is(Op::CAST) && loop.src(0).dtype().isInt() &&
           static_cast<uint64_t>(loop.src(0).vmax()) <= dtypes::maxInt(loop.dtype()))
      loop = loop.src(0);
    const bool isLoop = std::find(k.loops.begin(), k.loops.end(), loop) != k.loops.end();
    if (isLoop && index.dtype().isInt() && !index.dependsOn(loop)) return {condition, loop, index};
  }
  return {};
}

/// Terms that several indices place are gone through for each step of the loops that are not chosen, so the longest loop is; of
/// equally long ones that whose results lie nearest, if its steps still are rows.
bool isBetter(const LoopChoice& a, const LoopChoice& b, const OneSum& k) {
  if (extentOf(a.loop) != extentOf(b.loop)) return extentOf(a.loop) > extentOf(b.loop);
  auto stepOf = [&](UOp loop) { return coefficientOf(k.store.src(0).src(1), loop).value_or(0); };
  return stepOf(a.loop) > 1 && stepOf(a.loop) < stepOf(b.loop);
}

bool findChoice(const SumTerm& term, const OneSum& k, LoopChoice& c) {
  for (UOp condition : term.conditions) {
    const LoopChoice found = choiceOf(condition, k);
    if (found.loop && !term.value.dependsOn(found.loop) && (!c.loop || isBetter(found, c, k))) c = found;
  }
  if (!c.loop) return false;
  for (UOp condition : term.conditions)
    if (condition != c.condition) c.others = c.others ? c.others & condition : condition;
  return !(c.others && c.others.dependsOn(c.loop));
}

/// A loop over all results of one step of the remaining loops: to clear them, or to finish them.
struct AllResults {
  UOpMap<UOp> replace;
  std::vector<UOp> loops;
};
AllResults allResults(UOp chosen, const Strip& strip, int64_t& nextId) {
  AllResults all{strip.replace, {UOp::range(extentOf(chosen), nextId++)}};
  all.replace[chosen] = all.loops[0];
  if (!strip.inner) return all;
  UOp inner = UOp::range(extentOf(strip.inner), nextId++, strip.inner.axisType());
  all.replace[strip.loop] = strip.replace.at(strip.loop).substitute({{strip.inner, inner}});
  all.loops.push_back(inner);
  return all;
}

/// A kernel whose terms are gone through once.
struct Scattering {
  OneSum k;
  LoopChoice chosen;
  UOp term; ///< what the index chooses
  int64_t nextId = 0;
  Strip strip;
  UOpMap<UOp> terms;      ///< the ranges of the sum, as loops inside all remaining loops but the strip
  std::vector<UOp> order; ///< these loops, from the outermost on
};

/// Makes the loops over the terms, in the order of `ranges`.
void begin(Scattering& s, std::span<const UOp> ranges) {
  s.nextId = nextRangeId(s.k.end);
  for (UOp r : ranges) {
    s.terms[r] = UOp::range(r.src(0), {s.nextId++}, AxisType::Reduce);
    s.order.push_back(s.terms[r]);
  }
  s.strip = stripOf(s.k, s.chosen.loop, s.nextId++, false);
}

/// Stores `value`, in terms of the loops of the kernel, to all results of one step of the remaining loops.
UOp storedToAll(Scattering& s, UOp value) {
  const UOp address = s.k.store.src(0).src(1), memory = s.k.store.src(0).src(0);
  // Every thread begins the results that it comes to.
  const AllResults all = allResults(s.chosen.loop, s.strip, s.nextId);
  return (s.strip.rest.empty() ? memory : memory.after(s.strip.rest))
      .indexed({address.substitute(all.replace)})
      .store(value.substitute(all.replace))
      .end(all.loops);
}

/// The place of the result that the index of a term names; none where it names no result.
UOp placeOf(const Scattering& s) {
  const UOp address = s.k.store.src(0).src(1), index = s.chosen.index.cast(dtypes::index);
  UOp valid = (index >= 0) & (index < extentOf(s.chosen.loop));
  if (s.chosen.others) valid = valid & s.chosen.others;
  UOpMap<UOp> add = s.strip.replace;
  add[s.chosen.loop] = index.substitute(s.strip.replace); // replacements are not searched again
  return address.substitute(add).validWhere(valid.substitute(s.strip.replace)).substitute(s.terms);
}

/// All loops around the loop over the terms, and that.
std::vector<UOp> loopsOf(const Scattering& s) {
  std::vector<UOp> loops = s.strip.rest;
  loops.insert(loops.end(), s.order.begin(), s.order.end());
  return withInner(loops, s.strip);
}

UOp scatterSum(Match& m) {
  Scattering s;
  if (!findSum(m.root(), s.k)) return m.decline("not one store of one sum");
  const UOp stored = s.k.store.src(1), sum = s.k.sum;
  if (stored.dtype() != sum.dtype()) return m.decline("results have another type than the sum");
  const Op how = sum.arg().op();
  const auto term = termOf(sum.src(0), how);
  if (!term || !findChoice(*term, s.k, s.chosen) || extentOf(s.chosen.loop) < kFewResults)
    return m.decline("no index says which result a term belongs to");
  because([&] {
    return fmt::format("each term belongs to one of {} results: terms are gone through once",
                       extentOf(s.chosen.loop));
  });
  begin(s, rangesIn(sum.src().subspan(1)));
  const UOp memory = s.k.store.src(0).src(0);
  std::vector<UOp> before{storedToAll(s, identityElement(how, sum.dtype()))};
  before.insert(before.end(), s.order.begin(), s.order.end());
  const UOp place = placeOf(s), added = term->value.substitute(s.strip.replace).substitute(s.terms);
  const UOp adding =
      memory.indexed({place}).store(memory.after(before).indexed({place}, sum.dtype()).alu(how, {added}));
  if (stored == sum) return m.root().withSrc({adding.end(loopsOf(s))});
  AllResults finish = allResults(s.chosen.loop, s.strip, s.nextId);
  const UOp to = s.k.store.src(0).src(1).substitute(finish.replace), complete = adding.end(loopsOf(s));
  finish.replace[sum] = memory.after(std::span<const UOp>(&complete, 1)).indexed({to}, sum.dtype());
  std::vector<UOp> loops = s.strip.rest;
  loops.insert(loops.end(), finish.loops.begin(), finish.loops.end());
  return m.root().withSrc({memory.indexed({to}).store(stored.substitute(finish.replace)).end(loops)});
}

/// A number without the conversions between integer types, which keep loop counters.
UOp asCounter(UOp u) {
  if (u.is(Op::CAST) && u.src(0).dtype().isInt()) return asCounter(u.src(0));
  if (u.isConst() && u.dtype().isInt()) return UOp::index(u.arg().i());
  if (u.is(Op::RANGE)) return u;
  if (!u.in({Op::ADD, Op::MUL})) return {};
  const UOp a = asCounter(u.src(0)), b = asCounter(u.src(1));
  return a && b ? a.alu(u.op(), {b}) : UOp();
}

/// The ranges of a sum from the one that counts in the largest steps on, if its numbers grow from each term to the next; else none.
std::vector<UOp> growingOrder(UOp number, UOp sum) {
  const UOp counter = asCounter(number);
  const std::vector<UOp> ranges = rangesIn(sum.src().subspan(1));
  if (!counter) return {};
  for (UOp r : counter.ranges())
    if (std::ranges::find(ranges, r) == ranges.end()) return {};
  std::vector<int64_t> steps;
  for (UOp r : ranges) steps.push_back(coefficientOf(counter, r).value_or(0));
  std::vector<size_t> order(ranges.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, std::greater{}, [&](size_t i) { return steps[i]; });
  std::vector<UOp> sorted;
  for (size_t i : order) sorted.push_back(ranges[i]);
  int64_t within = 0; // how far the ranges behind one count
  for (size_t i = order.size(); i-- > 0;) {
    const int64_t step = steps[order[i]], extent = extentOf(sorted[i]);
    if (step <= within || extent < 1) return {};
    within += step * (extent - 1);
  }
  return sorted;
}

UOp scatterLast(Match& m) {
  Scattering s;
  if (!findSum(m.root(), s.k) || s.k.sum.arg().op() != Op::MAX)
    return m.decline("not one store of one maximum");
  const UOp stored = s.k.store.src(1), largest = s.k.sum, choice = largest.src(0);
  if (!choice.is(Op::WHERE) || !largest.dtype().isInt()) return m.decline("its terms are not chosen numbers");
  const UOp none = choice.src(choice.src(1).isConst() ? 1 : 2); // where no entry names the result
  const auto term = asChosenTerm(choice, [&](UOp v) { return v == none; });
  if (!none.isConst() || !term || !findChoice(*term, s.k, s.chosen) || extentOf(s.chosen.loop) < kFewResults)
    return m.decline("no index says which result a term belongs to");
  const std::vector<UOp> order = growingOrder(term->value, largest);
  if (order.empty() || term->value.vmin() <= none.vmax())
    return m.decline("its terms do not grow from each to the next");
  const UOp memory = s.k.store.src(0).src(0);
  auto with = [&](UOp last) {
    return graphRewrite(stored.substitute({{largest, last}}), sym(), {.name = "last of its entries"});
  };
  const UOp set = with(term->value);
  if (set.dependsOn(memory) || set.dependsOn(s.chosen.loop))
    return m.decline("what an entry sets is not known from the entry alone");
  because([&] {
    return fmt::format("each of {} entries belongs to one of {} results, and a later one replaces it: "
                       "entries are gone through once",
                       term->value.vmax() - term->value.vmin() + 1, extentOf(s.chosen.loop));
  });
  begin(s, order);
  std::vector<UOp> before{storedToAll(s, with(none))};
  before.insert(before.end(), s.order.begin(), s.order.end());
  const UOp value = set.substitute(s.strip.replace).substitute(s.terms);
  return m.root().withSrc({memory.after(before).indexed({placeOf(s)}).store(value).end(loopsOf(s))});
}

constexpr RuleDef kScattered[] = {
    RULE("scatter-sum", any(Op::SINK), scatterSum),
    RULE("scatter-last", any(Op::SINK), scatterLast),
};
const KnownRules kScatteredKnown(kScattered);

} // namespace

std::span<const RuleDef> scatteredSumRules() {
  return kScattered;
}

} // namespace uopscope
