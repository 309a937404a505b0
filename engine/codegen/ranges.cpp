// Splitting, merging and flattening of loops.
#include "engine/codegen/ranges.h"

#include "engine/rewrite/driver.h"
#include "engine/rules/rules.h"
#include "engine/rules/variables.h"
#include "engine/uop/linear.h"
#include "engine/uop/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace uopscope {

namespace {

using namespace pat;
using rules::x;
constexpr PatVar divisor{"c", PatVar::Const};

size_t firstRangeOf(UOp u) {
  return u.is(Op::STORE) ? 2 : 1;
}

// --- flatten ---

UOp flattenRanges(Match& m) {
  UOp root = m.root();
  size_t first = firstRangeOf(root);
  if (root.srcCount() <= first) return m.decline("it has no ranges");
  std::vector<UOp> src(root.src().begin(), root.src().begin() + static_cast<std::ptrdiff_t>(first));
  // A range may have been replaced by an expression, or by a constant if it had one step.
  std::vector<UOp> found = rangesIn(root.src().subspan(first));
  if (std::equal(found.begin(), found.end(), root.src().begin() + static_cast<std::ptrdiff_t>(first),
                 root.src().end()))
    return m.decline("its ranges are in order");
  if (found.size() == root.srcCount() - first &&
      std::all_of(root.src().begin() + static_cast<std::ptrdiff_t>(first), root.src().end(),
                  [](UOp s) { return s.is(Op::RANGE); }))
    return m.decline("only the order differs, and the order given is meant");
  src.insert(src.end(), found.begin(), found.end());
  if (found.empty() && !root.is(Op::STORE)) return root.src(0);
  return root.withSrc(src);
}
constexpr RuleDef kFlatten[] = {RULE("flatten-ranges", any({Op::REDUCE, Op::END, Op::STORE}), flattenRanges)};
const KnownRules kFlattenKnown(kFlatten);

// --- split ---

/// The loop over results in a sum like i - k, where k steps through terms by a stride; null if there is none.
UOp loopOfStride(UOp sum, int64_t stride) {
  constexpr int64_t kMostStride = 8;
  if (stride > kMostStride) return {};
  UOp loop;
  bool isReduced = false;
  for (const Term& t : linearOf(sum).terms) {
    if (!t.node.is(Op::RANGE)) return {};
    isReduced |= t.node.axisType() == AxisType::Reduce;
    if ((t.factor == 1 || t.factor == -1) && t.node.axisType() == AxisType::Loop) loop = t.node;
  }
  return isReduced ? loop : UOp();
}
/// A range modulo a divisor of its extent is two loops. So is the loop of results in (i - k) % 2: its inner steps then say
/// which terms there are.
UOp markModulo(Match& m) {
  UOp range = m[x], by = m[divisor];
  if (!by.isConst()) return m.decline("the divisor is symbolic");
  const int64_t inner = by.arg().i();
  if (!range.is(Op::RANGE)) range = loopOfStride(range, inner);
  if (!range) return m.decline("no loop of results is added to one of terms");
  const int64_t extent = extentOf(range);
  if (extent < 0) return m.decline("the extent is symbolic");
  if (inner <= 1 || inner >= extent || extent % inner)
    return m.decline("the divisor does not divide the extent");
  m.ctx<SplitRangesContext>().mark(range, inner);
  return {};
}
/// A loop of results whose quotient picks one factor of a product, as the filters of a convolution's groups pick a part of the picture,
/// is two loops: inside of the inner one that factor stays.
UOp markQuotient(Match& m) {
  if (m.root().arg().op() != Op::ADD || !m.root().src(0).is(Op::MUL)) return m.decline("no sum of products");
  if (!m.root().below().has(Op::IDIV)) return m.decline("nothing is divided");
  bool isMarked = false;
  visitBelow(m.root().src(0), [&](UOp u) {
    if (!u.is(Op::IDIV) || !u.src(0).is(Op::RANGE) || u.src(0).axisType() != AxisType::Loop ||
        !u.src(1).isConst())
      return u.below().has(Op::IDIV) ? Visit::Below : Visit::Past;
    const int64_t extent = extentOf(u.src(0)), steps = u.src(1).arg().i();
    if (steps <= 1 || steps >= extent || extent % steps) return Visit::Past;
    m.ctx<SplitRangesContext>().mark(u.src(0), steps);
    isMarked = true;
    return Visit::Past;
  });
  return isMarked ? UOp() : m.decline("no quotient cuts a loop of results");
}
UOp splitMarked(Match& m) {
  auto& splits = m.ctx<SplitRangesContext>().splits;
  if (splits.empty()) return m.decline("no range is marked");
  UOpMap<UOp> replace;
  for (auto [range, inner] : splits) {
    RangeArg outerArg = range.arg().as<RangeArg>(), innerArg = outerArg;
    outerArg.ids.push_back(0);
    innerArg.ids.push_back(1);
    UOp outer = UOp::range(UOp::constant(range.dtype(), range.src(0).arg().i() / inner), outerArg.ids,
                           outerArg.type, range.dtype());
    UOp low = UOp::range(UOp::constant(range.dtype(), inner), innerArg.ids, innerArg.type, range.dtype());
    replace[range] = outer * inner + low;
  }
  splits.clear();
  return m.root().substitute(replace);
}
constexpr RuleDef kSplit[] = {
    RULE("mark-range-modulo", any({Op::RANGE, Op::ADD}).withDtype(kMaskIndex).named(x) % divisor, markModulo),
    RULE("mark-range-quotient", any(Op::REDUCE), markQuotient),
    RULE("split-marked-ranges", any(Op::SINK), splitMarked),
};
const KnownRules kSplitKnown(kSplit);

// --- merge ---

int divModCount(const std::vector<UOp>& nodes) {
  int n = 0;
  for (UOp u : nodes) n += u.is(Op::IDIV) || u.is(Op::MOD);
  return n;
}

/// Whether some address certainly needs both ranges; merging them is then not tried.
bool certainlyApart(const std::vector<UOp>& nodes, UOp outer, UOp inner) {
  if (!inner.src(0).isConst()) return false;
  int64_t size = inner.src(0).arg().i();
  for (UOp u : nodes) {
    if (!u.is(Op::INDEX)) continue;
    for (UOp index : u.src().subspan(1)) {
      auto a = coefficientOf(index, outer), b = coefficientOf(index, inner);
      if (a && b && *a != *b * size) return true;
    }
  }
  return false;
}

/// Whether two loops were one that split-marked-ranges split.
bool areStepsOfOne(UOp outer, UOp inner) {
  const auto &a = outer.arg().as<RangeArg>().ids, &b = inner.arg().as<RangeArg>().ids;
  return a.size() > 1 && a.size() == b.size() && std::equal(a.begin(), a.end() - 1, b.begin()) &&
         a.back() == 0 && b.back() == 1;
}
/// Whether a remainder by the extent of `inner` still depends on the loop.
bool hasRemainder(const std::vector<UOp>& nodes, UOp loop, UOp inner) {
  return std::ranges::any_of(
      nodes, [&](UOp u) { return u.is(Op::MOD) && u.src(1) == inner.src(0) && u.dependsOn(loop); });
}

UOp mergeRanges(Match& m) {
  UOp root = m.root();
  size_t first = firstRangeOf(root);
  bool anyMerged = false;
  static const PatternMatcher rules = symbolic() + PatternMatcher({kFlatten});
  for (bool again = true; again;) {
    again = false;
    std::vector<UOp> ranges(root.src().begin() + static_cast<std::ptrdiff_t>(first), root.src().end());
    if (ranges.size() < 2) break;
    std::vector<std::pair<UOp, UOp>> pairs;
    for (size_t i = 0; i < ranges.size(); ++i)
      for (size_t k = 0; k < ranges.size(); ++k)
        if (i != k && (root.is(Op::REDUCE) || k == i + 1)) pairs.emplace_back(ranges[i], ranges[k]);
    std::vector<UOp> nodes = root.toposort();
    for (auto [outer, inner] : pairs) {
      if (!outer.is(Op::RANGE) || !inner.is(Op::RANGE) || outer.axisType() != inner.axisType()) continue;
      if (inner.dependsOn(outer) || outer.dependsOn(inner)) continue;
      bool together = true;
      for (UOp u : nodes)
        if (u.is(Op::REDUCE) && u != root) {
          const auto& open = u.ranges();
          together &= (std::find(open.begin(), open.end(), outer) != open.end()) ==
                      (std::find(open.begin(), open.end(), inner) != open.end());
        }
      if (!together || certainlyApart(nodes, outer, inner)) continue;
      UOp extent = outer.src(0) * inner.src(0);
      if (outer.src(0).isConst() && inner.src(0).isConst())
        extent = UOp::constant(outer.dtype(), outer.src(0).arg().i() * inner.src(0).arg().i());
      UOp merged = outer.withSrc({extent});
      UOpMap<UOp> replace;
      replace[outer] = merged / inner.src(0);
      replace[inner] = merged % inner.src(0);
      UOp tried = graphRewrite(root.substitute(replace), rules, {.name = "simplify range"});
      if (!tried.is(root.op())) continue; // the whole operation folded, which is left to the symbolic pass
      const std::vector<UOp> left = tried.toposort();
      if (divModCount(left) > divModCount(nodes)) continue;
      if (areStepsOfOne(outer, inner) && hasRemainder(left, merged, inner))
        continue; // each step has terms of its own
      root = tried;
      anyMerged = again = true;
      break;
    }
  }
  return anyMerged ? root : m.decline("no two ranges can be one");
}
constexpr RuleDef kMerge[] = {RULE("merge-ranges", any({Op::END, Op::REDUCE}), mergeRanges)};
const KnownRules kMergeKnown(kMerge);

} // namespace

std::span<const RuleDef> splitRangeRules() {
  return kSplit;
}
std::span<const RuleDef> flattenRangeRules() {
  return kFlatten;
}
std::span<const RuleDef> simplifyRangeRules() {
  return kMerge;
}

int64_t idOf(UOp range) {
  return range.arg().as<RangeArg>().ids[0];
}
int64_t axisNumber(UOp range) {
  constexpr uint64_t kParts = uint64_t{1}
                              << 20; // more than a kernel has ranges; unsigned: a script's ids may be any
  const auto& ids = range.arg().as<RangeArg>().ids;
  auto number = static_cast<uint64_t>(ids.front());
  for (size_t i = 1; i < ids.size(); ++i) number = (number + 1) * kParts + static_cast<uint64_t>(ids[i]);
  return static_cast<int64_t>(number);
}
int64_t extentOf(UOp range) {
  return range.src(0).isConst() ? range.src(0).arg().i() : -1;
}

UOp lastLanesOf(UOp value) {
  UOp last;
  for (UOp r : value.ranges())
    if (r.axisType() == AxisType::Upcast && (!last || axisNumber(last) < axisNumber(r))) last = r;
  return last;
}

std::optional<int64_t> coefficientOf(UOp sum, UOp range) {
  if (!sum.dependsOn(range)) return 0;
  if (sum == range) return 1;
  if (sum.is(Op::ADD)) {
    auto a = coefficientOf(sum.src(0), range), b = coefficientOf(sum.src(1), range);
    if (a && b) return *a + *b;
  }
  if (sum.is(Op::MUL) && sum.src(1).isConst())
    if (auto a = coefficientOf(sum.src(0), range)) return *a * sum.src(1).arg().i();
  return {};
}

std::vector<UOp> rangesIn(std::span<const UOp> expressions) {
  std::vector<UOp> found, todo(expressions.rbegin(), expressions.rend());
  UOpMap<bool> seen;
  while (!todo.empty()) {
    UOp u = todo.back();
    todo.pop_back();
    if (!seen.emplace(u, true).second) continue;
    if (u.is(Op::RANGE))
      found.push_back(u);
    else
      for (size_t i = u.srcCount(); i-- > 0;) todo.push_back(u.src(i));
  }
  return found;
}

UOp startOfPart(UOp step, int64_t part, int64_t length) {
  if (extentOf(step) * part == length) return step * part;
  return (step < length / part).where(step * part, UOp::constant(step.dtype(), length - part));
}

UOp onlyEnd(UOp sink) {
  const bool isOne = std::ranges::all_of(sink.src(), [&](UOp end) { return end == sink.src(0); });
  return sink.srcCount() > 0 && isOne && sink.src(0).is(Op::END) ? sink.src(0) : UOp();
}
bool isThread(UOp range) {
  return range.axisType() == AxisType::Local || range.axisType() == AxisType::Warp;
}

int64_t nextRangeId(UOp sink) {
  return nextRangeId(sink.toposort());
}
int64_t nextRangeId(std::span<const UOp> nodes) {
  int64_t id = 0;
  for (UOp u : nodes)
    if (u.is(Op::RANGE)) id = std::max(id, idOf(u) + 1);
  return id;
}
int64_t nextRegister(UOp sink) {
  return sink.below().has(Op::DEFINE_REG) || sink.is(Op::DEFINE_REG) ? nextRegister(sink.toposort()) : 0;
}
int64_t nextRegister(std::span<const UOp> nodes) {
  int64_t number = 0;
  for (UOp u : nodes)
    if (u.is(Op::DEFINE_REG) && u.arg().kind() == ArgKind::Int) number = std::max(number, u.arg().i() + 1);
  return number;
}
int64_t registerBytes(std::span<const UOp> nodes) {
  int64_t bytes = 0;
  for (UOp u : nodes)
    if (u.is(Op::DEFINE_REG)) bytes += u.dtype().size() * u.dtype().base().itemsize();
  return bytes;
}
UOp registersOf(DType type, int64_t size, int64_t number) {
  return UOp::make(Op::DEFINE_REG, type.scalar().ptr(size, AddrSpace::Reg), {}, Arg::of(number));
}

} // namespace uopscope
