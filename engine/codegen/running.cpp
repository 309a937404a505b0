// Finds the sums that a loop can carry, and makes the loops that carry them.
#include "engine/codegen/running.h"

#include "engine/base/integers.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"
#include "engine/codegen/strips.h"
#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

using namespace pat;

constexpr int64_t kBlock = 32; ///< steps of such a strip that are turned round at once: 4 kB

UOp simplifiedSum(UOp u) {
  return graphRewrite(u, sym(), {.name = "running sum"});
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
    return simplifiedSum(value.substitute({{k, UOp::range(extent, nextId) - i}}));
  };
  return !at(2 * n - 1).dependsOn(i) && isIdentity(at(n - 1), how);
}

/// Terms that are the identity behind the last term of result i, and do not depend on i up to it: a triangle.
bool isTriangle(UOp value, const Growth& g, UOp k, Op how, int64_t nextId) {
  int64_t n = extentOf(g.i);
  UOp last = g.backward ? fromEnd(n, g.i) : g.i, more = UOp::range(n, nextId);
  UOp later = g.backward ? fromEnd(n, k + more) : k + more;
  return isIdentity(simplifiedSum(value.substitute({{k, last + 1 + more}})), how) &&
         !simplifiedSum(value.substitute({{g.i, later}})).dependsOn(more);
}

/// Whether each result along `i` is its neighbour and one more term, which comes last in the order of the sum.
std::optional<Growth> growthAlong(UOp sum, UOp i, int64_t nextId) {
  UOp k = sum.src(1), value = sum.src(0);
  int64_t n = extentOf(i);
  Op how = sum.arg().op();
  if (extentOf(k) != n || !value.dependsOn(i)) return {};
  for (UOp u : value.toposort()) // only the summed value may use the ranges in other ways
    if (u.is(Op::RANGE) && u != k && u.dependsOn(k)) return {};
  auto adds = [&](UOp last) { return simplifiedSum(value.substitute({{k, last}})); };
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
  Strip strip = stripOf(k, std::span(&i, 1), nextId, StripKind::Overlapping);
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

constexpr RuleDef kRunning[] = {
    RULE("running-sum", any(Op::SINK), runningSum),
};
const KnownRules kRunningKnown(kRunning);

} // namespace

std::span<const RuleDef> runningSumRules() {
  return kRunning;
}

} // namespace uopscope
