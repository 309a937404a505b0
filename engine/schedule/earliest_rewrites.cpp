// The pass "earliest rewrites": decisions that need no loops. Markers without a meaning for the schedule are
// removed, movement operations are merged, empty tensors become constants, and long reductions are split in
// two (split_sums.cpp). Copies and assignments get the form that later passes rely on:
//   COPY reads a value that has memory, through RESHAPEs alone;  ASSIGN writes a view of a BUFFER.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/base/id_map.h"
#include "engine/rewrite/replacement.h"
#include "engine/rules/movement_index.h"
#include "engine/rules/variables.h"
#include "engine/schedule/operand_places.h"
#include "engine/schedule/passes.h"
#include "engine/schedule/prices.h"
#include "engine/schedule/rangeify.h"
#include "engine/uop/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uopscope::sched {

double elementCount(std::span<const Sint> shape) {
  double n = 1;
  for (const Sint& s : shape) n *= static_cast<double>(s.vmax());
  return n;
}

UOp assignedBuffer(UOp target) {
  while (target.in(group::kMovement) || target.is(Op::ASSIGN)) target = target.src(0);
  return target.is(Op::BUFFER) ? target : UOp();
}

namespace {

using namespace pat;
using rules::x, rules::y;
constexpr double kSmallElements = 16;
constexpr size_t kSmallNodes = 64;
/// An iteration of a sum that nothing holds up: measured on sums whose rows repeat 64 to 256 times.
constexpr double kStepInLanes = kStepOfSum / 8;
constexpr OpSet kHasMemory{Op::BUFFER, Op::BUFFER_VIEW, Op::CONTIGUOUS, Op::COPY, Op::ASSIGN, Op::AFTER};

struct EarliestContext {
  std::vector<UOp> outputs; ///< bases of the sources of the SINK
};

bool isEmpty(UOp u) {
  if (!u.hasShape()) return false;
  for (const Sint& s : u.shape())
    if (s.isInt() && s.i() == 0) return true;
  return false;
}

bool keepsShape(const Match& m) {
  return m[x].hasShape() && m[x].shape() == m.root().shape();
}
UOp mergePermute(Match& m) {
  UOp outer = m.root(), inner = outer.src(0);
  std::vector<int64_t> order = outer.arg().ints();
  if (inner.is(Op::PERMUTE)) {
    for (int64_t& axis : order) axis = inner.arg().ints()[static_cast<size_t>(axis)];
    return outer.withSrc({inner.src(0)}).withArg(Arg::of(order));
  }
  return std::is_sorted(order.begin(), order.end()) ? inner : m.decline("the order changes");
}
/// The value below RESHAPEs, which do not move elements in memory.
UOp unreshaped(UOp u) {
  while (u.is(Op::RESHAPE)) u = u.src(0);
  return u;
}
bool hasNoOptions(const Match& m) {
  return !m.root().arg();
}
bool valueHasMemory(const Match& m) {
  return unreshaped(m[x]).in(kHasMemory);
}
bool hasNoMemory(const Match& m) {
  return !valueHasMemory(m);
}
/// False for an assignment to a value without memory: CONTIGUOUS must not be removed from it.
bool updatesMemory(const Match& m) {
  UOp s = unreshaped(m[x]), at = s;
  while (at.in({Op::RESHAPE, Op::ASSIGN})) at = at.src(0);
  return !s.is(Op::ASSIGN) || at.in(kHasMemory);
}

UOp emptyToConst(Match& m) {
  UOp u = m.root();
  if (!isEmpty(u) || baseOf(u).is(Op::CONST)) return m.decline("it holds elements, or is a constant");
  return constantLike(u, ConstValue::ofInt(0));
}
ConstValue identityOf(Op op, DType d) {
  if (op == Op::ADD) return ConstValue::ofInt(0);
  if (op == Op::MUL) return ConstValue::ofInt(1);
  if (d.isFloat()) return ConstValue::ofFloat(-INFINITY);
  return ConstValue::ofInt(d.isBool() ? 0 : dtypes::minInt(d));
}
UOp emptyReduce(Match& m) {
  UOp r = m.root();
  if (!isEmpty(r.src(0)) || isEmpty(r)) return m.decline("its source holds elements");
  return constantLike(r, identityOf(r.arg().as<ReduceArg>().op, r.dtype()));
}

/// Adds what an element depends on: the indices at which values below movements and elementwise operations are read, and where a PAD
/// ends; `left`: of nodes to look at.
void collectReads(UOp u, std::vector<UOp> at, int& left, std::vector<UOp>& reads) {
  for (; u.in(group::kMovement); u = u.src(0)) {
    if (u.is(Op::PAD))
      if (UOp valid = padValid(u, at)) reads.push_back(valid); // 0 in the margins, whatever the base is
    at = movementIndices(u, at);
  }
  if (--left > 0 && u.in(group::kElementwise))
    for (UOp s : u.src()) collectReads(s, at, left, reads);
  else
    reads.insert(reads.end(), at.begin(), at.end());
}

/// The axes along which all elements of a node are alike.
std::vector<bool> repeatedAxes(UOp u) {
  constexpr int kMostNodes = 16;
  int left = kMostNodes;
  const std::vector<UOp> loops = loopsOver(u.shape());
  std::vector<UOp> reads;
  collectReads(u, loops, left, reads);
  return axesNotIn(reads, loops);
}

/// sum(x) where x repeats its elements along an axis that stays, as in the gradient of `(a @ w).sum()`: it is computed once for
/// each row that differs, and repeated when it is stored. Results keep memory of their whole shape.
UOp reduceRepeated(Match& m) {
  UOp r = m.root(), s = r.src(0);
  if (vars::plain || !allInt(s.shape()) || !r.below().has(Op::BUFFER))
    return m.decline(
        "PLAIN is 1, the shape is symbolic, or it reads no memory: then it may have a closed form");
  const auto& axes = r.arg().as<ReduceArg>().axes;
  const std::vector<bool> repeated = repeatedAxes(s);
  Shape begin, end;
  double times = 1;
  for (size_t k = 0; k < repeated.size(); ++k) {
    const bool stays = std::find(axes.begin(), axes.end(), static_cast<int64_t>(k)) == axes.end();
    begin.emplace_back(0);
    end.push_back(stays && repeated[k] ? Sint(1) : s.shape()[k]);
    if (stays && repeated[k]) times *= static_cast<double>(s.shape()[k].i());
  }
  const double elements = elementCount(r.shape()), iterations = elementCount(s.shape());
  const double saved = (iterations - iterations / times) * kStepInLanes;
  // The rows, their copy of the whole shape, and what reads it, are kernels that would have been one.
  const double price = 2 * elements * (kStore + kLoad) + 2 * kKernel;
  if (times <= 1 || saved <= price) return m.decline("no axis repeats it, or a kernel more costs as much");
  UOp once = UOp::make(Op::SHRINK, s.dtype(), {s, shapeToUOp(begin), shapeToUOp(end)});
  once = UOp::make(Op::REDUCE_AXIS, r.dtype(), {once}, r.arg());
  UOp all = UOp::make(Op::EXPAND, r.dtype(), {once, shapeToUOp(r.shape())});
  because([&] {
    return Decision{
        fmt::format("its rows repeat {} times", times), price, kPriceUnit, {{"each computed", saved}}};
  });
  return UOp::make(Op::CONTIGUOUS, r.dtype(), {all}); // a result of a whole shape has memory of that shape
}

UOp storeStridedOperand(Match& m) {
  const UOp stored = vars::plain ? UOp() : withStoredOperand(m.root());
  return stored ? stored
                : m.decline(
                      "no product on a processor reads an operand in steps, or a kernel more costs as much");
}

UOp copyOfConst(Match& m) {
  UOp copy = m.root(), c = baseOf(copy.src(0));
  if (!c.is(Op::CONST)) return m.decline("it copies no constant");
  std::vector<UOp> src(c.src().begin(), c.src().end());
  if (src.empty()) src.resize(1);
  src[0] = copy.src(1);
  UOp moved = c.withSrc(src);
  return copy.src(0).substitute({{c, moved}});
}
bool isThere(const Match& m) {
  return m[x].device() == m.root().device();
}
bool targetIsValue(const Match& m) {
  return !assignedBuffer(m[x]);
}

/// Whether an assignment is so small that its readers compute its value again, which costs less than ordering
/// their reads of the buffer: the step of a counter, for example. Its value may read its own buffer alone: if
/// two such updates read each other's buffers, each would have to be computed before the other is stored.
bool isSmallUpdate(UOp a) {
  if (vars::plain || !a.is(Op::ASSIGN) || elementCount(a.shape()) > kSmallElements) return false;
  UOp target = assignedBuffer(a.src(0));
  IdMap<bool> seen;
  std::vector<UOp> stack{a.src(1)};
  size_t nodes = 0;
  while (!stack.empty()) {
    UOp u = stack.back();
    stack.pop_back();
    if (u.in({Op::CONST, Op::DEFINE_VAR}) || u == target || seen.contains(u.slot())) continue;
    seen.set(u.slot(), true);
    bool isUpdate = u.is(Op::ASSIGN) && elementCount(u.shape()) <= kSmallElements;
    if (++nodes > kSmallNodes || !(isUpdate || u.in(group::kElementwise | group::kMovement))) return false;
    size_t first = isUpdate ? 1 : 0, end = u.in(group::kMovement) ? 1 : u.srcCount();
    for (size_t k = first; k < end; ++k) stack.push_back(u.src(k));
  }
  return true;
}
/// An operation on a small update computes the new value from the old contents, so it need not wait for the
/// store. A view by itself is a name of the updated buffer and is not rewritten.
UOp readSmallUpdate(Match& m) {
  UOp u = m.root();
  std::vector<UOp> src(u.src().begin(), u.src().end());
  for (size_t k = u.is(Op::ASSIGN) ? 1 : 0; k < u.srcCount(); ++k) {
    std::vector<UOp> views;
    UOp at = src[k];
    for (; at.in(group::kMovement); at = at.src(0)) views.push_back(at);
    if (!isSmallUpdate(at)) continue;
    at = at.src(1);
    for (size_t i = views.size(); i-- > 0;) {
      std::vector<UOp> moved(views[i].src().begin(), views[i].src().end());
      moved[0] = at;
      at = views[i].withSrc(moved);
    }
    src[k] = at;
  }
  UOp now = u.withSrc(src);
  return now == u ? UOp() : now;
}
bool firstIsSmall(const Match& m) {
  UOp first = m.root().src(0);
  return isSmallUpdate(first) && first.shape() == m.root().shape();
}
/// Two updates stay separate if either of them is an output.
bool noUpdateIsOutput(const Match& m) {
  const auto& outputs = m.ctx<EarliestContext>().outputs;
  return std::none_of(outputs.begin(), outputs.end(), [&](UOp s) { return s == m[y] || s.is(Op::ASSIGN); });
}

constexpr OpSet kTensorOps =
    group::kElementwise | group::kMovement |
    OpSet{Op::REDUCE_AXIS, Op::CONTIGUOUS, Op::COPY, Op::ASSIGN, Op::BUFFER, Op::BUFFER_VIEW};

constexpr OpSet kComputing =
    group::kElementwise | OpSet{Op::REDUCE_AXIS, Op::CONTIGUOUS, Op::COPY, Op::ASSIGN};

constexpr RuleDef kEarliest[] = {
    RULE("remove-marker", op(group::kMarkers, x).more(), x),
    RULE("empty-reduce", any(Op::REDUCE_AXIS), emptyReduce),
    RULE("empty-tensor", any(kTensorOps), emptyToConst),
    RULE("merge-reshape", op(Op::RESHAPE, op(Op::RESHAPE, x, anything()), y), rootOf(x, y)),
    RULE("merge-expand", op(Op::EXPAND, op(Op::EXPAND, x, anything()), y), rootOf(x, y)),
    RULE("keep-shape", op({Op::RESHAPE, Op::EXPAND}, x, anything()), x,
         guard::when(keepsShape, "the shape changes")),
    RULE("merge-permute", any(Op::PERMUTE), mergePermute),
    RULE("contiguous-of-memory", op(Op::CONTIGUOUS, x).more(), x, guard::when(hasNoOptions, "it has options"),
         guard::when(valueHasMemory, "the value has no memory of its own"),
         guard::when(updatesMemory, "an update of a value without memory")),
    RULE("reduce-repeated", any(Op::REDUCE_AXIS), reduceRepeated),
    RULE("store-strided-operand", any(Op::REDUCE_AXIS), storeStridedOperand),
    RULE("split-reduce", any(Op::REDUCE_AXIS), splitSum),
    RULE("copy-const", any(Op::COPY), copyOfConst),
    RULE("copy-to-same-device", op(Op::COPY, x).more(), x, guard::when(isThere, "the devices differ")),
    RULE("copy-memory", op(Op::COPY, x, y), rootOf(op(Op::CONTIGUOUS, x), y),
         guard::when(hasNoMemory, "the value has memory of its own")),
    RULE("assign-to-value", op(Op::ASSIGN, x, y).more(), op(Op::CONTIGUOUS, y),
         guard::when(targetIsValue, "the target is a buffer")),
    RULE("read-small-update", any(kComputing), readSmallUpdate),
    // Merges two small updates of a buffer, since no node reads the first one any more; not if it is an
    // output.
    RULE("merge-small-updates", op(Op::ASSIGN, op(Op::ASSIGN, y).more(), x), rootOf(y, x),
         guard::when(firstIsSmall, "the first is no small update of all elements"),
         guard::when(noUpdateIsOutput, "an update is an output")),
};
const KnownRules kEarliestKnown(kEarliest);

constexpr RuleDef kKeepUpdates[] = {RULE("keep-small-updates", any(Op::SINK), entry())};
const KnownRules kKeepUpdatesKnown(kKeepUpdates);
constexpr RuleDef kReadCopies[] = {RULE("read-from-copies", any(Op::SINK), entry())};
const KnownRules kReadCopiesKnown(kReadCopies);

/// Readers of small updates no longer refer to them, but the stores must happen: the last assignment to each
/// buffer becomes an output.
UOp withSmallUpdates(UOp sink) {
  std::vector<UOp> src(sink.src().begin(), sink.src().end()), updates;
  IdMap<bool> overtaken;
  bool anySmall = false;
  for (UOp u : sink.toposort()) {
    if (!u.is(Op::ASSIGN)) continue;
    // All assignments, small or not: a merged small update may be the only user of an assignment.
    if (assignedBuffer(u.src(0))) updates.push_back(u);
    // By size alone: an update that is none yet, because a marker stands in it, becomes one when the marker goes.
    anySmall = anySmall || elementCount(u.shape()) <= kSmallElements;
    overtaken.set(baseOf(u.src(0)).slot(), true);
  }
  if (!anySmall) return sink;
  for (UOp u : updates)
    if (!overtaken.contains(u.slot()) && std::find(src.begin(), src.end(), u) == src.end()) src.push_back(u);
  static const PatternMatcher keep({kKeepUpdates});
  UOp all = sink.withSrc(src);
  if (all != sink)
    because([&] {
      return fmt::format("{} assignments that nobody asks for happen too", src.size() - sink.srcCount());
    });
  return all == sink ? sink : replaceNodes(sink, {{sink, all}}, keep, "keep small updates");
}

} // namespace

const PatternMatcher& earliestMatcher() {
  static const PatternMatcher rules({kEarliest});
  return rules;
}

UOp earliestRewrites(UOp sink, UOpMap<UOp>* map) {
  EarliestContext ctx;
  for (UOp s : sink.src()) ctx.outputs.push_back(baseOf(s));
  return graphRewrite(withSmallUpdates(sink), earliestMatcher(),
                      {.name = "earliest rewrites", .ctx = ctx, .map = map});
}

const PatternMatcher& copyRules() {
  static const PatternMatcher rules({kReadCopies});
  return rules;
}

UOp readFromCopies(UOp sink, std::span<const UOp> versions, UOpMap<UOp>* map) {
  // The target of an assignment stays the buffer itself (`own`). Readers get the copy (`read`).
  UOpMap<UOp>&own = *map, read;
  std::vector<UOp> src;
  for (UOp u : sink.toposort()) {
    auto rebuilt = [&](const UOpMap<UOp>& first, const UOpMap<UOp>& others) {
      src.clear();
      for (size_t k = 0; k < u.srcCount(); ++k) src.push_back((k ? others : first).at(u.src(k)));
      return u.withSrc(src);
    };
    bool view = u.in(group::kMovement | group::kMarkers);
    bool transparent = view || u.is(Op::ASSIGN);
    UOp mine = u.is(Op::SINK) ? rebuilt(own, own) : rebuilt(transparent ? own : read, read);
    own[u] = mine;
    if (std::find(versions.begin(), versions.end(), u) != versions.end())
      read[u] = UOp::make(Op::CONTIGUOUS, u.dtype(), {mine}, Arg::of("copy"));
    else
      read[u] = view ? rebuilt(read, read) : mine;
  }
  because([&] {
    return fmt::format("{} old contents are read after, or beside, an assignment to them", versions.size());
  });
  return replaceNodes(sink, {{sink, own.at(sink)}}, copyRules(), "read from copies");
}

} // namespace uopscope::sched
