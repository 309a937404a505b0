// Finds the sums that a loop can carry, and makes the loops that carry them.
#include "engine/codegen/running.h"

#include "engine/base/integers.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/load_collapse.h"
#include "engine/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

constexpr int64_t kFewResults = 16; ///< computed anew just as well, in lanes
constexpr int64_t kStrip = 512;     ///< accumulators that stay in the first cache
constexpr int64_t kLanes = 16;      ///< of a strip whose steps lie apart in memory
constexpr int64_t kBlock = 32;      ///< steps of such a strip that are turned round at once: 4 kB

/// A kernel that is one store of one sum.
struct OneSum {
  UOp end, store, sum;
  std::vector<UOp> loops; ///< the loops around the store
};

bool findSum(UOp sink, OneSum& k) {
  if (onlyReduce(sink, k.sum) || !sink.src(0).src(0).is(Op::STORE)) return false;
  k.end = sink.src(0);
  k.store = k.end.src(0);
  if (k.store.srcCount() != 2 || !k.store.src(0).is(Op::INDEX)) return false;
  UOp memory = k.store.src(0).bufferOf();
  for (UOp u : sink.toposort())
    if (u.is(Op::INDEX) && u != k.store.src(0) && u.bufferOf() == memory) return false;
  for (size_t i = 1; i < k.end.srcCount(); ++i) {
    UOp loop = k.end.src(i);
    if (!loop.is(Op::RANGE) || loop.axisType() != AxisType::Loop || extentOf(loop) < 1) return false;
    k.loops.push_back(loop);
  }
  return k.sum.dtype().count() == 1;
}

/// The part of a loop that runs inside the loop that carries the sums.
struct Strip {
  UOp loop, inner;
  UOpMap<UOp> replace; ///< the loop, as an expression of its remaining outer part and the strip
  std::vector<UOp> rest;
};

int64_t divisorUpTo(int64_t n, int64_t most) {
  for (int64_t d = std::min(n, most); d > 1; --d)
    if (n % d == 0) return d;
  return 1;
}

/// Chooses a strip among the loops other than `carrier`: the loop along which results are contiguous; without
/// one, the longest loop, whose steps become lanes. Where no large part divides the loop, strips overlap if they may: the last
/// one computes results again, which a kernel that adds up in its results must not do; lanes would not help it either.
Strip stripOf(const OneSum& k, UOp carrier, int64_t nextId, bool mayOverlap) {
  Strip s;
  AxisType type = AxisType::Loop;
  int64_t amount = 1;
  for (UOp l : k.loops)
    if (l != carrier && coefficientOf(k.store.src(0).src(1), l) == 1 && extentOf(l) >= 4) s.loop = l;
  if (s.loop) {
    const int64_t n = extentOf(s.loop), most = std::min(kStrip, std::max<int64_t>(n / 2, kLanes));
    amount = divisorUpTo(n, most); // threads share the rest
    if (mayOverlap && n > most && 2 * amount < most) amount = roundUp(ceilDiv(n, ceilDiv(n, most)), kLanes);
  } else if (mayOverlap) {
    type = AxisType::Upcast;
    for (UOp l : k.loops)
      if (l != carrier && (!s.loop || extentOf(l) > extentOf(s.loop))) s.loop = l;
    if (s.loop) amount = divisorUpTo(extentOf(s.loop), kLanes);
    if (s.loop && 2 * amount < kLanes) amount = std::min(extentOf(s.loop), kLanes);
  }
  if (amount > 1) {
    const int64_t n = extentOf(s.loop);
    s.inner = UOp::range(amount, nextId, type);
    UOp outer = s.loop.withSrc({UOp::index(ceilDiv(n, amount))}), start = outer * amount;
    if (n % amount) start = (outer < n / amount).where(start, UOp::index(n - amount));
    const bool whole = amount == n;
    s.replace[s.loop] = whole ? s.inner : start + s.inner;
    if (!whole) s.rest.push_back(outer);
  }
  for (UOp l : k.loops)
    if (l != carrier && (amount == 1 || l != s.loop)) s.rest.push_back(l);
  return s;
}

std::vector<UOp> withInner(std::vector<UOp> loops, const Strip& s) {
  if (s.inner) loops.push_back(s.inner);
  return loops;
}

UOp simplified(UOp u) {
  return graphRewrite(u, sym(), {.name = "running sum"});
}

/// Whether the node is a read that gives the identity of the sum, or the identity as a constant.
bool isIdentity(UOp u, Op how) {
  if (u.is(Op::INDEX)) return how == Op::ADD && u.src(1).isInvalidConst();
  return u.isConst() && u == identityElement(how, u.dtype());
}

/// Position `at` of `n`, counted from the other end.
UOp fromEnd(int64_t n, UOp at) {
  return UOp::index(n - 1) - at;
}

/// How a sum grows from one result to the next.
struct Growth {
  UOp i;                 ///< the loop over the results
  UOp added;             ///< the term that result i has and the result before it does not
  bool backward = false; ///< the result before i is i + 1
};

/// Terms that depend on i + k alone and are the identity wherever a later step would drop them: windows of a padded value.
bool isWindows(UOp value, UOp i, UOp k, Op how, int64_t nextId) {
  int64_t n = extentOf(i);
  auto at = [&](int64_t extent) {
    return simplified(value.substitute({{k, UOp::range(extent, nextId) - i}}));
  };
  return !at(2 * n - 1).dependsOn(i) && isIdentity(at(n - 1), how);
}

/// Terms that are the identity behind the last term of result i, and do not depend on i up to it: a triangle.
bool isTriangle(UOp value, const Growth& g, UOp k, Op how, int64_t nextId) {
  int64_t n = extentOf(g.i);
  UOp last = g.backward ? fromEnd(n, g.i) : g.i, more = UOp::range(n, nextId);
  UOp later = g.backward ? fromEnd(n, k + more) : k + more;
  return isIdentity(simplified(value.substitute({{k, last + 1 + more}})), how) &&
         !simplified(value.substitute({{g.i, later}})).dependsOn(more);
}

/// Whether each result along `i` is its neighbour and one more term, which comes last in the order of the sum.
std::optional<Growth> growthAlong(UOp sum, UOp i, int64_t nextId) {
  UOp k = sum.src(1), value = sum.src(0);
  int64_t n = extentOf(i);
  Op how = sum.arg().op();
  if (extentOf(k) != n || !value.dependsOn(i)) return {};
  for (UOp u : value.toposort()) // only the summed value may use the ranges in other ways
    if (u.is(Op::RANGE) && u != k && u.dependsOn(k)) return {};
  auto adds = [&](UOp last) { return simplified(value.substitute({{k, last}})); };
  Growth g{i, {}};
  if (isWindows(value, i, k, how, nextId)) {
    g.added = adds(UOp::index(n - 1));
    return g;
  }
  for (bool backward : {false, true}) {
    g.backward = backward;
    if (!isTriangle(value, g, k, how, nextId)) continue;
    g.added = adds(backward ? fromEnd(n, i) : i);
    return g;
  }
  return {};
}

/// A sum that a loop carries along.
struct Carried {
  const OneSum& k;
  UOp i, carrier; ///< the loop of the kernel; the one that carries it
  bool backward;  ///< the carrier goes from the last result to the first
  const Strip& strip;
  UOp term; ///< of result `i`
  Op how;
  int64_t nextId;
};

bool isLanes(const Strip& s) {
  return s.inner && s.inner.axisType() == AxisType::Upcast;
}

/// Accumulators, cleared before the loop that carries them.
UOp accumulator(Carried& c, int64_t size) {
  UOp memory = registersOf(c.k.sum.dtype(), size, 0);
  UOp first = !c.strip.inner     ? UOp::index(0)
              : isLanes(c.strip) ? c.strip.inner
                                 : UOp::range(size, c.nextId++);
  UOp cleared = (c.strip.rest.empty() ? memory : memory.after(c.strip.rest))
                    .indexed({first})
                    .store(identityElement(c.how, c.k.sum.dtype()));
  return c.strip.inner ? cleared.end({first}) : cleared;
}

/// The accumulator at `place` after `term` was added, in each step of `loops`.
UOp added(const Carried& c, UOp cleared, const std::vector<UOp>& loops, UOp place, UOp term) {
  UOp memory = cleared;
  while (!memory.is(Op::DEFINE_REG)) memory = memory.src(0);
  std::vector<UOp> before{cleared};
  before.insert(before.end(), loops.begin(), loops.end());
  UOp sum = memory.after(before).indexed({place}, c.k.sum.dtype()).alu(c.how, {term});
  UOp kept = memory.indexed({place}).store(sum);
  return memory.after(std::span<const UOp>(&kept, 1)).indexed({place}, c.k.sum.dtype());
}

/// Steps that are turned round at once, where rows are lanes and steps lie side by side in memory; else 0.
int64_t blockOf(const Carried& c) {
  if (!isLanes(c.strip) || coefficientOf(c.k.store.src(0).src(1), c.i) != 1) return 0;
  int64_t lanes = extentOf(c.strip.inner), steps = extentOf(c.i), block = kBlock;
  if (lanes < 4 || (lanes & (lanes - 1))) return 0;
  while (block >= lanes && (steps % block || block % lanes)) block /= 2;
  return block >= lanes ? block : 0;
}

/// Steps of a row lie side by side, and so do the rows in a vector: terms are copied by squares, a row of which is a
/// vector of steps and a column one of rows; then they are added up, and the results go back by squares.
UOp throughBlocks(Carried& c, int64_t block, UOpMap<UOp>& replace) {
  UOp rows = c.strip.inner;
  int64_t lanes = extentOf(rows), id = c.nextId + 1, count = extentOf(c.i) / block;
  UOp blocks = c.carrier.withSrc({UOp::index(count)});
  auto inOrder = [&](UOp step, int64_t steps) { return c.backward ? fromEnd(steps, step) : step; };
  UOp start = inOrder(blocks, count) * block;
  auto turned = [&](int64_t number) { return registersOf(c.k.sum.dtype(), block * lanes, number); };
  auto squares = [&] {
    UOp outer = UOp::range(block / lanes, id), inner = UOp::range(lanes, id + 1, AxisType::Upcast);
    id += 2;
    return std::pair(outer, inner);
  };
  UOp cleared = accumulator(c, lanes), terms = turned(1), results = turned(2);
  auto [outer, inner] = squares();
  UOp step = outer * lanes + inner;
  UOp copied = terms.indexed({step * lanes + rows})
                   .store(c.term.substitute({{c.i, start + step}}))
                   .end({outer, inner, rows});
  UOp one = UOp::range(block, id++, AxisType::Reduce), place = inOrder(one, block) * lanes + rows;
  UOp term = terms.after(std::span<const UOp>(&copied, 1)).indexed({place}, c.k.sum.dtype());
  UOp sums = results.indexed({place}).store(added(c, cleared, {blocks, one}, rows, term)).end({one, rows});
  auto [back, lane] = squares();
  step = back * lanes + lane;
  UOpMap<UOp> known;
  known[c.k.sum] =
      results.after(std::span<const UOp>(&sums, 1)).indexed({step * lanes + rows}, c.k.sum.dtype());
  replace[c.i] = start + step;
  UOp value = c.k.store.src(1).substitute(known).substitute(replace);
  std::vector<UOp> loops = c.strip.rest;
  for (UOp l : {blocks, back, lane, rows}) loops.push_back(l);
  return c.k.store.src(0).substitute(replace).store(value).end(loops);
}

UOp runningSum(Match& m) {
  UOp sink = m.root();
  OneSum k;
  if (!findSum(sink, k)) return m.decline("not one store of one sum");
  if (k.sum.srcCount() != 2 || !k.sum.src(1).is(Op::RANGE)) return m.decline("a sum over several ranges");
  Op how = k.sum.arg().op();
  int64_t nextId = nextRangeId(sink);
  std::optional<Growth> growth;
  for (UOp l : k.loops)
    if (auto found = extentOf(l) >= kFewResults ? growthAlong(k.sum, l, nextId) : std::nullopt)
      growth = found;
  if (!growth) return m.decline("no result is the one before and one more term");
  UOp i = growth->i;
  because([&] {
    return fmt::format("a result along {} is the one {} it and one more term: {} steps instead of {}",
                       i.render(), growth->backward ? "behind" : "before", extentOf(i),
                       extentOf(i) * extentOf(i));
  });
  // The carrier runs inside all remaining loops, and the strip inside the carrier.
  UOp carrier = UOp::range(i.src(0), {nextId++}, AxisType::Reduce);
  Strip strip = stripOf(k, i, nextId, true);
  UOpMap<UOp> replace = strip.replace;
  UOp term = growth->added.substitute(replace);

  Carried c{k, i, carrier, growth->backward, strip, term, how, nextId + 1};
  if (int64_t block = blockOf(c)) return sink.withSrc({throughBlocks(c, block, replace)});

  replace[i] = c.backward ? fromEnd(extentOf(i), carrier) : carrier;
  term = term.substitute({{i, replace[i]}});
  int64_t size = strip.inner ? extentOf(strip.inner) : 1;
  UOp place = strip.inner ? strip.inner : UOp::index(0);
  UOp sum = added(c, accumulator(c, size), {carrier}, place, term);
  UOpMap<UOp> known;
  known[k.sum] = sum;
  UOp value = k.store.src(1).substitute(known).substitute(replace), to = k.store.src(0).substitute(replace);
  std::vector<UOp> loops = strip.rest;
  loops.push_back(carrier);
  return sink.withSrc({to.store(value).end(withInner(loops, strip))});
}

/// A term that is the identity of its reduction unless its conditions hold.
std::optional<SumTerm> termOf(UOp u, Op how) {
  return how == Op::ADD ? asSumTerm(u) : asChosenTerm(u, [&](UOp v) { return isIdentity(v, how); });
}

/// A condition `index == loop`, which holds for one step of a loop.
struct Chosen {
  UOp loop, index, others; ///< the remaining conditions; null: none
};
bool findChoice(const SumTerm& term, const OneSum& k, Chosen& c) {
  for (UOp condition : term.conditions) {
    UOp equal = condition;
    if (equal.is(Op::CMPNE) && equal.src(0).dtype().isBool() && equal.src(1).isConst(1) &&
        equal.src(0).is(Op::CMPNE))
      equal = equal.src(0);
    else if (!equal.is(Op::CMPEQ))
      equal = {};
    for (size_t side = 0; equal && !c.loop && side < 2; ++side) {
      UOp loop = equal.src(side), index = equal.src(1 - side);
      while (loop.is(Op::CAST) && loop.src(0).dtype().isInt() &&
             static_cast<uint64_t>(loop.src(0).vmax()) <= dtypes::maxInt(loop.dtype()))
        loop = loop.src(0);
      bool isLoop = std::find(k.loops.begin(), k.loops.end(), loop) != k.loops.end();
      if (!isLoop || !index.dtype().isInt() || index.dependsOn(loop)) continue;
      c.loop = loop;
      c.index = index;
      equal = condition = {};
    }
    if (condition) c.others = c.others ? c.others & condition : condition;
  }
  return c.loop && !term.value.dependsOn(c.loop) && !(c.others && c.others.dependsOn(c.loop));
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

UOp scatterSum(Match& m) {
  UOp sink = m.root();
  OneSum k;
  if (!findSum(sink, k)) return m.decline("not one store of one sum");
  UOp stored = k.store.src(1);
  if (stored.dtype() != k.sum.dtype()) return m.decline("results have another type than the sum");
  const Op how = k.sum.arg().op();
  auto term = termOf(k.sum.src(0), how);
  Chosen c;
  if (!term || !findChoice(*term, k, c) || extentOf(c.loop) < kFewResults)
    return m.decline("no index says which result a term belongs to");
  because([&] {
    return fmt::format("each term belongs to one of {} results: terms are gone through once",
                       extentOf(c.loop));
  });
  int64_t nextId = nextRangeId(sink);
  UOpMap<UOp> terms; // inside all remaining loops but the strip
  for (UOp r : rangesIn(k.sum.src().subspan(1)))
    terms[r] = UOp::range(r.src(0), {nextId++}, AxisType::Reduce);
  Strip strip = stripOf(k, c.loop, nextId++, false);
  UOp address = k.store.src(0).src(1), memory = k.store.src(0).src(0);
  // Every thread clears the results that it adds to.
  AllResults clear = allResults(c.loop, strip, nextId);
  UOp cleared = (strip.rest.empty() ? memory : memory.after(strip.rest))
                    .indexed({address.substitute(clear.replace)})
                    .store(identityElement(how, k.sum.dtype()))
                    .end(clear.loops);

  UOp chosen = c.index.cast(dtypes::index), valid = (chosen >= 0) & (chosen < extentOf(c.loop));
  if (c.others) valid = valid & c.others;
  UOpMap<UOp> add = strip.replace;
  add[c.loop] = chosen.substitute(strip.replace); // replacements are not searched again
  UOp place = address.substitute(add).validWhere(valid.substitute(strip.replace)).substitute(terms);
  std::vector<UOp> before{cleared}, loops;
  for (UOp r : rangesIn(k.sum.src().subspan(1))) {
    before.push_back(terms[r]);
    loops.push_back(terms[r]);
  }
  UOp added = term->value.substitute(strip.replace).substitute(terms);
  UOp sum = memory.after(before).indexed({place}, k.sum.dtype()).alu(how, {added});
  UOp adding = memory.indexed({place}).store(sum);
  if (stored == k.sum) {
    loops.insert(loops.begin(), strip.rest.begin(), strip.rest.end());
    return sink.withSrc({adding.end(withInner(loops, strip))});
  }
  AllResults finish = allResults(c.loop, strip, nextId);
  UOp to = address.substitute(finish.replace), complete = adding.end(withInner(loops, strip));
  finish.replace[k.sum] = memory.after(std::span<const UOp>(&complete, 1)).indexed({to}, k.sum.dtype());
  loops = strip.rest;
  loops.insert(loops.end(), finish.loops.begin(), finish.loops.end());
  return sink.withSrc({memory.indexed({to}).store(stored.substitute(finish.replace)).end(loops)});
}

constexpr RuleDef kRunning[] = {
    RULE("running-sum", any(Op::SINK), runningSum),
    RULE("scatter-sum", any(Op::SINK), scatterSum),
};

} // namespace

std::span<const RuleDef> runningSumRules() {
  return kRunning;
}

} // namespace uopscope
