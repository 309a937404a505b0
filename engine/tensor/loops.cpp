// Unrolls loops of a script: a graph is copied with the range replaced by each of its values.
#include "engine/tensor/loops.h"

#include "engine/rules/algebra.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

constexpr OpSet kData{Op::BUFFER, Op::BUFFER_VIEW, Op::DEVICE};
constexpr int64_t kMostTurns = 4096;

int64_t turnsOf(UOp range) {
  if (!range.src(0).isConst())
    fail(ErrorKind::Shape, fmt::format("a loop over tensor operations needs a number of turns, {} has {}",
                                       range.render(), range.src(0).render()));
  int64_t turns = range.vmax() + 1;
  if (turns > kMostTurns)
    fail(
        ErrorKind::Shape,
        fmt::format("a loop over tensor operations has at most {} turns, {} has {}: its kernels are launched "
                    "one by one; make it an axis of the tensors",
                    kMostTurns, range.render(), turns));
  return turns;
}

/// Simplifies indices and conditions after a range became a number.
UOp withKnownIndices(UOp u) {
  UOpMap<UOp> known;
  for (UOp n : u.toposort()) {
    bool isIndex = (n.dtype().kind() == Scalar::Index || n.dtype().isBool()) && n.in(group::kAlu);
    if (!isIndex || n.below().intersects(kData)) continue;
    if (UOp simple = simplify(n); simple != n) known[n] = simple;
  }
  return known.empty() ? u : u.substitute(known);
}

UOp turn(UOp u, UOp range, int64_t at) {
  UOpMap<UOp> map{{range, UOp::index(at)}};
  for (UOp n : u.toposort()) // memory as it is in this iteration
    if (n.is(Op::AFTER) && n.srcCount() == 2 && n.src(1) == range) map[n] = n.src(0);
  return withKnownIndices(u.substitute(map));
}

UOp sizeOf(UOp shape, const std::vector<UOp>& ranges) {
  UOpMap<UOp> sizes;
  for (UOp r : ranges) sizes[r] = r.src(0);
  return shape.substitute(sizes);
}

/// The iterations of an EXPAND whose new axis is a range, concatenated along that axis.
UOp sideBySide(UOp expand, UOp range, size_t axis) {
  std::vector<UOp> dims(expand.src(1).src().begin(), expand.src(1).src().end());
  dims[axis] = UOp::index(1);
  std::vector<Tensor> turns;
  for (int64_t at = 0, n = turnsOf(range); at < n; ++at) {
    UOp one = turn(expand.src(0), range, at);
    turns.push_back(Tensor::fromUOp(graph::expand(one, uopToShape(UOp::vectorize(dims)))));
  }
  return Tensor::cat(turns, static_cast<int64_t>(axis)).uop();
}

UOp reduced(UOp reduce) {
  UOp value = reduce.src(0);
  for (UOp range : reduce.src().subspan(1)) {
    UOp all;
    for (int64_t at = 0, n = turnsOf(range); at < n; ++at) {
      UOp one = turn(value, range, at);
      all = all ? all.alu(reduce.arg().op(), {one}) : one;
    }
    value = all;
  }
  return value;
}

std::vector<UOp> rangesAmong(std::span<const UOp> nodes) {
  std::vector<UOp> ranges;
  for (UOp u : nodes)
    if (u.is(Op::RANGE)) ranges.push_back(u);
  return ranges;
}

/// The graph with every loop over values unrolled, innermost loops first.
UOp takenApart(UOp root) {
  UOpMap<UOp> now;
  UOpMap<std::vector<UOp>> axes; // by node: the ranges that became axes of it
  for (UOp u : root.toposort()) {
    std::vector<UOp> src;
    for (UOp s : u.src()) src.push_back(now.at(s));
    std::vector<UOp> mine;
    for (UOp s : u.src())
      for (UOp r : axes[s])
        if (std::find(mine.begin(), mine.end(), r) == mine.end()) mine.push_back(r);
    if (u.in(group::kMovement) && !mine.empty())
      for (size_t i = 1; i < src.size(); ++i) src[i] = sizeOf(src[i], mine);
    UOp made = std::equal(src.begin(), src.end(), u.src().begin(), u.src().end()) ? u : u.withSrc(src);
    if (u.is(Op::REDUCE) && u.src(0).below().intersects(kData)) made = reduced(made);
    if (u.is(Op::EXPAND) && made.src(1).is(Op::VECTORIZE) && u.src(0).below().intersects(kData))
      for (size_t axis = 0; axis < made.src(1).srcCount(); ++axis)
        if (UOp r = made.src(1).src(axis); r.is(Op::RANGE)) {
          std::vector<UOp> others = rangesAmong(made.src(1).src());
          if (others.size() > 1) fail(ErrorKind::Shape, "expand to one loop at a time");
          made = sideBySide(made, r, axis);
          mine.push_back(r);
          break;
        }
    now[u] = made;
    if (!mine.empty()) axes[u] = std::move(mine);
  }
  return now.at(root);
}

bool closesStores(UOp u) {
  return u.is(Op::AFTER) && u.srcCount() == 2 && u.src(1).is(Op::END) && u.src(1).src(0).is(Op::STORE) &&
         u.src(0).below().intersects(kData);
}

/// Runs the store of each iteration. `names` is a tensor of the written memory: it and all its names read the
/// new contents.
void store(UOp end, Tensor::State& names) {
  std::vector<UOpRef> turns{end.src(0)};
  for (UOp r : rangesAmong(end.src().subspan(1))) { // the first range is the outermost loop
    std::vector<UOpRef> more;
    for (const UOpRef& t : turns)
      for (int64_t at = 0, n = turnsOf(r); at < n; ++at) more.emplace_back(turn(t, r, at));
    turns = std::move(more);
  }
  for (const UOpRef& t : turns) {
    Tensor value = Tensor::fromUOp(t->src(1)).reshape(t->src(0).shape());
    realizeTensors({Tensor::fromUOp(graph::assign(t->src(0), value.uop()))}, &names);
  }
}

std::vector<UOp> withRanges(const std::vector<UOp>& roots) {
  std::vector<UOp> looped;
  for (UOp u : roots)
    if (u.below().has(Op::RANGE)) looped.push_back(u);
  return looped;
}

} // namespace

bool makeLoopStores(const std::vector<UOp>& roots, const std::function<void(const Becomes&)>& become) {
  std::vector<UOp> looped = withRanges(roots);
  if (looped.empty()) return false;
  PoolScope scope(tensorPool());
  UOp found;
  for (UOp u : UOp::sink(looped).toposort())
    if (closesStores(u)) {
      found = u;
      break;
    }
  if (!found) return false;
  const UOpRef after = found, memory = found.src(0), end = found.src(1);
  const UOp buffer = graph::viewed(memory);
  std::vector<Tensor> results;
  Tensor names;
  forEachTensor([&](Tensor::State& s) {
    UOp lies = graph::viewed(s.uop);
    if (lies == after.get()) results.emplace_back(s.shared_from_this());
    if (lies == buffer && !names) names = Tensor(s.shared_from_this());
  });
  if (!names) names = Tensor::fromUOp(memory);
  store(end, *names.state());
  become({{after, memory}});
  for (const Tensor& t : results) t.state()->joinNames(*names.state());
  return true;
}

Becomes withoutLoops(const std::vector<UOp>& roots) {
  std::vector<UOp> looped = withRanges(roots);
  if (looped.empty()) return {};
  PoolScope scope(tensorPool());
  Becomes becomes;
  for (UOp u : looped)
    if (UOp now = takenApart(u); now != u) becomes.emplace_back(u, now);
  return becomes;
}

UOp summedOverLoops(UOp gradient, UOp user, UOp source) {
  if (!user.below().has(Op::RANGE)) return gradient;
  const std::vector<UOp>&in = user.ranges(), &outside = source.ranges();
  std::vector<UOp> loops;
  for (UOp r : in)
    if (std::find(outside.begin(), outside.end(), r) == outside.end()) loops.push_back(r);
  return gradient.reduce(Op::ADD, loops);
}

} // namespace uopscope
