// The check of indices against the sizes of their buffers: by bounds first, then by trying all points.
#include "engine/codegen/bounds_check.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/loop_tree.h"
#include "engine/rules/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

namespace uopscope {

namespace {

constexpr int64_t kMostPoints = 20000;

struct Access {
  UOp index, valid;
  int64_t size = 0;
  std::vector<UOp> reads; ///< variables in place of values loaded from memory, which may be any of their type

  bool readsMemory() const { return !reads.empty(); }
  bool isRead(UOp x) const {
    return std::any_of(reads.begin(), reads.end(), [&](UOp read) { return x.dependsOn(read); });
  }
  bool within(int64_t at) const { return at >= 0 && at < size; }
};

/// `at`: the lane of an access under a mask of lanes.
std::optional<Access> accessOf(UOp u, int64_t at) {
  if (!u.is(Op::INDEX) || u.srcCount() < 2 || !u.src(1).dtype().isInt() || u.src(1).dtype().count() != 1)
    return std::nullopt;
  UOp buffer = u.bufferOf();
  if (!buffer.in(group::kDefines) || buffer.dtype().size() == DType::kUnsized) return std::nullopt;
  UOp valid = validOf(u.src(1));
  if (u.srcCount() > 2) valid = valid & lane(u.src(2), at);
  const UOp index = indexOf(u.src(1));
  Access a{at ? simplify(index + at) : index, valid, buffer.dtype().size(), {}};
  UOpMap<UOp> unknown;
  auto isRead = [](UOp u) {
    bool reads = u.is(Op::LOAD) || (u.is(Op::INDEX) && !u.dtype().isPtr());
    return reads && !u.dtype().isFloat() && u.dtype().count() == 1;
  };
  for (UOp n : UOp::sink(std::vector{a.index, a.valid}).toposort()) {
    bool isConverted = n.is(Op::CAST) && n.dtype() == dtypes::index && isRead(n.src(0));
    if (!isRead(n) && !isConverted) continue;
    UOp read = isConverted ? n.src(0) : n;
    unknown[n] = UOp::variable(fmt::format("read{}", read.id()), read.vmin(), read.vmax(), n.dtype());
  }
  for (const auto& [node, variable] : unknown) a.reads.push_back(variable);
  if (a.readsMemory()) {
    a.index = simplify(a.index.substitute(unknown));
    a.valid = simplify(a.valid.substitute(unknown));
  }
  return a;
}

/// The ranges and variables that the index depends on. None if it also depends on memory, or if they have too
/// many combinations to try.
std::optional<std::vector<UOp>> leavesOf(const Access& a) {
  std::vector<UOp> leaves;
  int64_t points = 1;
  for (UOp u : UOp::sink(std::vector{a.index, a.valid}).toposort()) {
    if (u.in(OpSet{Op::RANGE, Op::SPECIAL, Op::DEFINE_VAR})) {
      // The bounds of a symbolic extent hold for its largest value alone.
      if (!u.is(Op::DEFINE_VAR) && !u.src(0).isConst()) return std::nullopt;
      int64_t steps = 0;
      if (__builtin_sub_overflow(u.vmax(), u.vmin(), &steps) || steps >= kMostPoints) return std::nullopt;
      points *= steps + 1;
      if (points > kMostPoints) return std::nullopt;
      leaves.push_back(u);
    } else if (u.is(Op::LOAD) || u.is(Op::INDEX)) {
      return std::nullopt;
    }
  }
  return leaves;
}

/// Values of the leaves for which the gate holds and the index is outside of the buffer; none if there are
/// none.
std::optional<Binding> counterexample(const Access& a, const std::vector<UOp>& leaves) {
  Binding at;
  for (UOp leaf : leaves) at[leaf] = ConstValue::ofInt(leaf.vmin());
  while (true) {
    auto valid = evaluate(a.valid, at), index = evaluate(a.index, at);
    if (!valid || !index) return std::nullopt;
    if (valid->i && !index->isInvalid() && !a.within(index->i)) return at;
    size_t k = 0;
    for (; k < leaves.size(); ++k) {
      ConstValue& v = at[leaves[k]];
      if (v.i < leaves[k].vmax()) {
        ++v.i;
        break;
      }
      v.i = leaves[k].vmin();
    }
    if (k == leaves.size()) return std::nullopt;
  }
}

/// Calls `use` for each term of a sum with the least and most that the other terms add up to, where these are far from the
/// ends of 64 bits.
template <typename Use>
void forEachTerm(UOp sum, const Use& use) {
  constexpr int64_t kFar = int64_t{1} << 40; // a thousand and more of them may be added
  const std::vector<UOp> terms = splitUop(sum, Op::ADD);
  if (terms.size() < 2 || terms.size() > 1000) return;
  int64_t least = 0, most = 0;
  for (UOp t : terms) {
    if (t.vmin() < -kFar || t.vmax() > kFar) return;
    least += t.vmin();
    most += t.vmax();
  }
  for (UOp t : terms) use(t, least - t.vmin(), most - t.vmax());
}

using Bounds = UOpMap<std::pair<int64_t, int64_t>>;

/// The bounds that a gate gives to expressions: under "x < 7 and not x < 0" the expression x is a number from 0 to 6;
/// under "x < r + 3", where r has 4 steps, it is at most 5; under "x - r < 7 and not x - r < 0" it is a number from 0 to
/// 9.
Bounds boundsOf(UOp gate) {
  Bounds bounds;
  auto of = [&](UOp x) -> std::pair<int64_t, int64_t>& {
    return bounds.emplace(x, std::pair(x.vmin(), x.vmax())).first->second;
  };
  auto atLeast = [&](UOp x, int64_t least) {
    if (least <= x.vmin()) return;
    of(x).first = std::max(of(x).first, least);
    forEachTerm(x, [&](UOp t, int64_t, int64_t othersMost) {
      if (least - othersMost > t.vmin()) of(t).first = std::max(of(t).first, least - othersMost);
    });
  };
  auto atMost = [&](UOp x, int64_t most) {
    if (most >= x.vmax()) return;
    of(x).second = std::min(of(x).second, most);
    forEachTerm(x, [&](UOp t, int64_t othersLeast, int64_t) {
      if (most - othersLeast < t.vmax()) of(t).second = std::min(of(t).second, most - othersLeast);
    });
  };
  for (UOp clause : splitUop(gate, Op::AND)) {
    bool negated = clause.is(Op::CMPNE) && clause.src(1).isConst(1);
    if (negated) clause = clause.src(0);
    if (!clause.is(Op::CMPLT)) continue;
    UOp x = clause.src(0), y = clause.src(1);
    if (negated) { // x >= y
      atLeast(x, y.vmin());
      atMost(y, x.vmax());
    } else {
      atMost(x, y.vmax() - 1);
      atLeast(y, x.vmin() + 1);
    }
  }
  std::erase_if(bounds, [](const auto& b) { return b.first.isConst() && b.second.first <= b.second.second; });
  return bounds;
}
/// Whether a gate leaves no number to one of its expressions: the access never happens.
bool isImpossible(const Bounds& bounds) {
  return std::any_of(bounds.begin(), bounds.end(),
                     [](const auto& b) { return b.second.first > b.second.second; });
}

/// Without the clauses of a gate that share no loop or variable with the index, not even through other clauses: they
/// only add points to try.
UOp clausesAbout(UOp index, UOp gate) {
  constexpr OpSet kLeaves{Op::RANGE, Op::SPECIAL, Op::DEFINE_VAR};
  auto leavesOf = [&](UOp u) {
    std::set<uint32_t> out;
    for (UOp n : u.toposort())
      if (n.in(kLeaves)) out.insert(n.id());
    return out;
  };
  std::set<uint32_t> about = leavesOf(index);
  std::vector<UOp> rest = splitUop(gate, Op::AND);
  UOp kept = UOp::constant(dtypes::bool_, int64_t{1});
  for (bool more = true; more;) {
    more = false;
    std::erase_if(rest, [&](UOp clause) {
      const std::set<uint32_t> leaves = leavesOf(clause);
      const bool shares = leaves.empty() || std::any_of(leaves.begin(), leaves.end(),
                                                        [&](uint32_t leaf) { return about.contains(leaf); });
      if (!shares) return false;
      kept = kept & clause;
      about.insert(leaves.begin(), leaves.end());
      return more = true;
    });
  }
  return kept;
}

/// A variable in place of each of these expressions.
UOpMap<UOp> variablesFor(const Bounds& bounds, size_t first) {
  UOpMap<UOp> parts;
  for (const auto& [x, range] : bounds)
    parts[x] =
        UOp::variable(fmt::format("part{}", first + parts.size()), range.first, range.second, x.dtype());
  return parts;
}

/// Whether the index is inside for the bounds of all expressions that its gate names.
bool insideByClauses(const Access& a) {
  const Bounds bounds = boundsOf(a.valid);
  if (isImpossible(bounds)) return true;
  const UOpMap<UOp> parts = variablesFor(bounds, 0);
  const UOp index = parts.empty() ? a.index : simplify(a.index.substitute(parts));
  return a.within(index.vmin()) && a.within(index.vmax());
}

/// Whether the index is inside for every value that the gate leaves to what is read from memory, and for all
/// steps of the loops. The innermost expressions become variables first: their bounds narrow those around them.
bool insideAtAllSteps(const Access& a) {
  constexpr size_t kMostParts = 16; // each round makes at least one
  Access now = a;
  for (size_t made = 0; made < kMostParts;) {
    Bounds bounds = boundsOf(now.valid);
    if (isImpossible(bounds)) return true;
    std::erase_if(bounds, [&](const auto& b) { return !now.isRead(b.first); });
    const Bounds all = bounds;
    std::erase_if(bounds, [&](const auto& b) {
      return std::any_of(all.begin(), all.end(), [&](const auto& other) {
        return other.first != b.first && b.first.dependsOn(other.first);
      });
    });
    if (bounds.empty()) break;
    const UOpMap<UOp> parts = variablesFor(bounds, made);
    made += parts.size();
    now.index = simplify(now.index.substitute(parts));
    now.valid = now.valid.substitute(parts);
  }
  UOp known = UOp::constant(dtypes::bool_, int64_t{1});
  for (UOp clause : splitUop(now.valid, Op::AND))
    if (!now.isRead(clause)) known = known & clause;
  now.valid = simplify(clausesAbout(now.index, known));
  const auto leaves = leavesOf(now);
  return leaves && !counterexample(now, *leaves);
}

[[noreturn]] void outside(UOp sink, std::string_view pass, UOp u, const Access& a, const std::string& how) {
  std::string gate = a.valid.isConst(1) ? "" : fmt::format(" where {}", a.valid.render());
  throw Error(
      ErrorKind::Spec,
      fmt::format("kernel '{}' after pass '{}': index {}{} of {} {} with {} elements is out of bounds: {}",
                  kernelName(sink), pass, a.index.render(), gate, opName(u.bufferOf().op()),
                  u.bufferOf().arg().repr(), a.size, how));
}

void checkLane(UOp sink, std::string_view pass, UOp u, int64_t lane) {
  auto a = accessOf(u, lane);
  if (!a || a->valid.isConst(0) || a->index.isInvalidConst()) return;
  auto inBounds = [&](UOp index) { return a->within(index.vmin()) && a->within(index.vmax()); };
  if (inBounds(a->index)) return;
  UOp narrowed = a->valid.isConst(1) ? a->index : givenValid(a->valid, a->index);
  if (inBounds(narrowed) || (a->readsMemory() && insideByClauses(*a))) return;
  if (a->readsMemory() && insideAtAllSteps(*a)) return;
  if (auto leaves = leavesOf(*a)) {
    auto at = counterexample(*a, *leaves);
    if (!at) return;
    std::string where;
    for (UOp leaf : *leaves)
      where += fmt::format("{}{}={}", where.empty() ? "" : ", ", leaf.render(), at->at(leaf).i);
    outside(sink, pass, u, *a, fmt::format("it is {} at {}", evaluate(a->index, *at)->i, where));
  }
  bool always = a->valid.isConst(1) && (narrowed.vmin() >= a->size || narrowed.vmax() < 0);
  if (always || a->readsMemory())
    outside(sink, pass, u, *a, fmt::format("it lies between {} and {}", narrowed.vmin(), narrowed.vmax()));
}

} // namespace

void checkBounds(UOp sink, std::string_view pass) {
  for (UOp u : sink.toposort()) {
    const int lanes = u.is(Op::INDEX) && u.srcCount() > 2 ? laneCount(u.src(2)) : 1;
    for (int lane = 0; lane < lanes; ++lane) checkLane(sink, pass, u, lane);
  }
}

} // namespace uopscope
