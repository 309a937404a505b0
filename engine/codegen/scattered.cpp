// Finds the index that names the result of a term, and makes the loop over the terms.
#include "engine/codegen/scattered.h"

#include "engine/base/cpu_count.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/strips.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/algebra.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

namespace uopscope {

namespace {

using namespace pat;

constexpr int64_t kMostParts = 32; ///< of results; each goes through all terms
constexpr int64_t kElementsPerTerm =
    64; ///< from here on looking at a term once more costs little beside clearing
constexpr int64_t kFewElements = 1 << 18; ///< below, threads that share rows clear them as fast

/// A term that is the identity of its reduction unless its conditions hold.
std::optional<SumTerm> termOf(UOp u, Op how) {
  return how == Op::ADD ? asSumTerm(u) : asChosenTerm(u, [&](UOp v) { return isIdentity(v, how); });
}

/// A condition `index == loop`, which holds for one step of a loop.
struct LoopChoice {
  UOp condition, loop, index;
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

/// The choices of a term, one for each loop that an index takes the place of, and what else has to hold.
struct Choices {
  std::vector<LoopChoice> made;
  UOp others = {}; ///< the remaining conditions; null: none
  bool places(UOp loop) const {
    return std::ranges::any_of(made, [&](const LoopChoice& c) { return c.loop == loop; });
  }
  int64_t results() const {
    int64_t n = 1;
    for (const LoopChoice& c : made) n *= extentOf(c.loop);
    return n;
  }
};

Choices choicesOf(const SumTerm& term, const OneSum& k) {
  Choices c;
  for (UOp condition : term.conditions)
    if (const LoopChoice found = choiceOf(condition, k);
        found.loop && !term.value.dependsOn(found.loop) && !c.places(found.loop))
      c.made.push_back(found);
  // A loop that something else of a term depends on has to stay.
  auto isNeeded = [&](const LoopChoice& choice) {
    return (c.others && c.others.dependsOn(choice.loop)) ||
           std::ranges::any_of(c.made, [&](const LoopChoice& o) { return o.index.dependsOn(choice.loop); });
  };
  for (size_t before = 0; before != c.made.size();) {
    before = c.made.size();
    c.others = {};
    for (UOp condition : term.conditions)
      if (std::ranges::none_of(c.made, [&](const LoopChoice& o) { return o.condition == condition; }))
        c.others = c.others ? c.others & condition : condition;
    if (const auto needed = std::ranges::find_if(c.made, isNeeded); needed != c.made.end())
      c.made.erase(needed);
  }
  return c;
}

/// A loop over all results of one step of the remaining loops: to clear them, or to finish them.
struct AllResults {
  UOpMap<UOp> replace;
  std::vector<UOp> loops;
};

/// A kernel whose terms are gone through once.
struct Scattering {
  OneSum k;
  Choices chosen;
  int64_t nextId = 0;
  Strip strip;
  UOp part; ///< a loop over parts of the results of the first choice, which threads share; null: they are one
  UOpMap<UOp> terms;      ///< the ranges of the sum, as loops inside all remaining loops but the strip
  std::vector<UOp> order; ///< these loops, from the outermost on
};

/// The steps of a choice's loop in one part.
int64_t stepsOf(const Scattering& s, const LoopChoice& c) {
  const bool isCut = s.part && c.loop == s.chosen.made[0].loop;
  return isCut ? extentOf(c.loop) / extentOf(s.part) : extentOf(c.loop);
}

/// The innermost loop that no index depends on: its steps take terms to the same place of their rows, which is computed once for all of
/// a strip. Null if there is none.
UOp rowsOf(const Scattering& s) {
  const UOp address = s.k.store.src(0).src(1);
  auto stepOf = [&](UOp l) { return coefficientOf(address, l).value_or(0); };
  UOp found;
  for (UOp l : s.k.loops) {
    const bool isNamed =
        s.chosen.places(l) || (s.chosen.others && s.chosen.others.dependsOn(l)) ||
        std::ranges::any_of(s.chosen.made, [&](const LoopChoice& c) { return c.index.dependsOn(l); });
    if (!isNamed && stepOf(l) > 1 && (!found || stepOf(l) < stepOf(found))) found = l;
  }
  return found;
}

/// Chooses the strip. Where no other loop is left and the results are many beside the terms, clearing them is the work: each thread gets
/// a part of them and looks at all terms. Threads that shared each row would fetch each other's ends of it: 2 to 3 times as long.
void chooseStrip(Scattering& s, int64_t terms, int64_t idOfPart) {
  std::vector<UOp> carriers;
  for (const LoopChoice& c : s.chosen.made) carriers.push_back(c.loop);
  const int64_t id = s.nextId++;
  s.strip = stripOf(s.k, carriers, id, StripKind::Whole);
  const int64_t elements = s.chosen.results() * (s.strip.inner ? extentOf(s.strip.inner) : 1);
  int64_t parts = std::min<int64_t>(kMostParts, cpuCount());
  while (extentOf(carriers[0]) % parts) --parts;
  const bool isAlone = std::ranges::all_of(s.strip.rest, [](UOp l) { return extentOf(l) == 1; });
  if (parts > 1 && isAlone && elements >= std::max(kFewElements, kElementsPerTerm * parts * terms))
    s.part = UOp::range(parts, idOfPart);
  else
    s.strip = stripOf(s.k, carriers, id, StripKind::Shared, rowsOf(s));
}

/// Makes the loops over the terms, in the order of `ranges`.
void begin(Scattering& s, std::span<const UOp> ranges) {
  s.nextId = nextRangeId(s.k.end);
  const int64_t idOfPart = s.nextId++; // loops nest by their numbers: parts are around the terms
  int64_t terms = 1;
  for (UOp r : ranges) {
    s.terms[r] = UOp::range(r.src(0), {s.nextId++}, AxisType::Reduce);
    s.order.push_back(s.terms[r]);
    terms *= std::max<int64_t>(extentOf(r), 1);
  }
  const UOp address = s.k.store.src(0).src(1);
  std::ranges::stable_sort(s.chosen.made, std::greater{},
                           [&](const LoopChoice& c) { return coefficientOf(address, c.loop).value_or(0); });
  chooseStrip(s, terms, idOfPart);
}

AllResults allResults(Scattering& s) {
  AllResults all{s.strip.replace, {}};
  auto addStrip = [&] {
    UOp inner = UOp::range(extentOf(s.strip.inner), s.nextId++, s.strip.inner.axisType());
    all.replace[s.strip.loop] = s.strip.replace.at(s.strip.loop).substitute({{s.strip.inner, inner}});
    all.loops.push_back(inner);
  };
  // Results that lie side by side are gone through side by side.
  const bool isOfRows = s.strip.inner && coefficientOf(s.k.store.src(0).src(1), s.strip.loop) != 1;
  if (isOfRows) addStrip();
  for (const LoopChoice& c : s.chosen.made) {
    const int64_t steps = stepsOf(s, c);
    all.loops.push_back(UOp::range(steps, s.nextId++));
    const bool isCut = steps != extentOf(c.loop);
    all.replace[c.loop] = isCut ? s.part * steps + all.loops.back() : all.loops.back();
  }
  if (s.strip.inner && !isOfRows) addStrip();
  return all;
}

/// The loops around the one over the terms.
std::vector<UOp> outerLoops(const Scattering& s) {
  std::vector<UOp> loops;
  if (s.part) loops.push_back(s.part);
  loops.insert(loops.end(), s.strip.rest.begin(), s.strip.rest.end());
  return loops;
}

/// Stores `value`, in terms of the loops of the kernel, to all results of one step of the remaining loops.
UOp storedToAll(Scattering& s, UOp value) {
  const UOp address = s.k.store.src(0).src(1), memory = s.k.store.src(0).src(0);
  // Every thread begins the results that it comes to.
  const AllResults all = allResults(s);
  const std::vector<UOp> outer = outerLoops(s);
  return (outer.empty() ? memory : memory.after(outer))
      .indexed({address.substitute(all.replace)})
      .store(value.substitute(all.replace))
      .end(all.loops);
}

/// The place of the result that the indices of a term name; none where they name no result of the part.
UOp placeOf(const Scattering& s) {
  UOpMap<UOp> add = s.strip.replace;
  UOp valid = s.chosen.others;
  for (const LoopChoice& c : s.chosen.made) {
    const UOp index = c.index.cast(dtypes::index);
    const int64_t steps = stepsOf(s, c);
    const UOp first = steps == extentOf(c.loop) ? UOp::index(0) : s.part * steps;
    const UOp inside = (index >= first) & (index < first + steps);
    valid = valid ? valid & inside : inside;
    add[c.loop] = index.substitute(s.strip.replace); // replacements are not searched again
  }
  const UOp address = s.k.store.src(0).src(1);
  return address.substitute(add).validWhere(valid.substitute(s.strip.replace)).substitute(s.terms);
}

/// What a term brings to its place. Parts go through terms of other parts as well, whose memory they need not read.
UOp broughtTo(const Scattering& s, UOp place, UOp value, UOp neutral) {
  const UOp brought = value.substitute(s.strip.replace).substitute(s.terms);
  return s.part ? validOf(place).where(brought, neutral) : brought;
}

/// All loops around the loop over the terms, and that.
std::vector<UOp> loopsOf(const Scattering& s) {
  std::vector<UOp> loops = outerLoops(s);
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
  if (term) s.chosen = choicesOf(*term, s.k);
  if (s.chosen.made.empty() || s.chosen.results() < kFewResults)
    return m.decline("no index says which result a term belongs to");
  because([&] {
    return fmt::format("each term belongs to one of {} results: terms are gone through once",
                       s.chosen.results());
  });
  begin(s, rangesIn(sum.src().subspan(1)));
  const UOp memory = s.k.store.src(0).src(0);
  std::vector<UOp> before{storedToAll(s, identityElement(how, sum.dtype()))};
  before.insert(before.end(), s.order.begin(), s.order.end());
  const UOp place = placeOf(s), added = broughtTo(s, place, term->value, identityElement(how, sum.dtype()));
  const UOp adding =
      memory.indexed({place}).store(memory.after(before).indexed({place}, sum.dtype()).alu(how, {added}));
  if (stored == sum) return m.root().withSrc({adding.end(loopsOf(s))});
  AllResults finish = allResults(s);
  const UOp to = s.k.store.src(0).src(1).substitute(finish.replace), complete = adding.end(loopsOf(s));
  finish.replace[sum] = memory.after(std::span<const UOp>(&complete, 1)).indexed({to}, sum.dtype());
  std::vector<UOp> loops = outerLoops(s);
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
  if (term) s.chosen = choicesOf(*term, s.k);
  if (!none.isConst() || s.chosen.made.empty() || s.chosen.results() < kFewResults)
    return m.decline("no index says which result a term belongs to");
  const std::vector<UOp> order = growingOrder(term->value, largest);
  if (order.empty() || term->value.vmin() <= none.vmax())
    return m.decline("its terms do not grow from each to the next");
  const UOp memory = s.k.store.src(0).src(0);
  auto with = [&](UOp last) {
    return graphRewrite(stored.substitute({{largest, last}}), sym(), {.name = "last of its entries"});
  };
  const UOp set = with(term->value);
  auto isPlaced = [&](const LoopChoice& c) { return set.dependsOn(c.loop); };
  if (set.dependsOn(memory) || std::ranges::any_of(s.chosen.made, isPlaced))
    return m.decline("what an entry sets is not known from the entry alone");
  because([&] {
    return fmt::format("each of {} entries belongs to one of {} results, and a later one replaces it: "
                       "entries are gone through once",
                       term->value.vmax() - term->value.vmin() + 1, s.chosen.results());
  });
  begin(s, order);
  std::vector<UOp> before{storedToAll(s, with(none))};
  before.insert(before.end(), s.order.begin(), s.order.end());
  const UOp place = placeOf(s), zero = UOp::constant(set.dtype(), int64_t{0});
  const UOp value = broughtTo(s, place, set, zero);
  return m.root().withSrc({memory.after(before).indexed({place}).store(value).end(loopsOf(s))});
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
