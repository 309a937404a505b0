// The rules of the expander. Effects (STORE, END) take vectors as sources; values alone pass UNROLL on to
// their users.
#include "engine/codegen/expander.h"

#include "engine/base/error.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/ranges.h"
#include "engine/rules/variables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace uopscope {

namespace {

using namespace pat;
using Axis = std::pair<int64_t, int64_t>; // id, size

using rules::inner;

std::vector<Axis> axesOf(UOp unroll) {
  const auto& flat = unroll.arg().ints();
  std::vector<Axis> axes;
  for (size_t i = 0; i + 1 < flat.size(); i += 2) axes.emplace_back(flat[i], flat[i + 1]);
  return axes;
}
Arg argOf(const std::vector<Axis>& axes) {
  std::vector<int64_t> flat;
  for (auto [id, size] : axes) {
    flat.push_back(id);
    flat.push_back(size);
  }
  return Arg::of(std::move(flat));
}
int64_t sizeOf(const std::vector<Axis>& axes) {
  int64_t n = 1;
  for (const Axis& a : axes) n *= a.second;
  return n;
}
bool hasAxis(const std::vector<Axis>& axes, int64_t id) {
  return std::any_of(axes.begin(), axes.end(), [&](const Axis& a) { return a.first == id; });
}
std::vector<Axis> without(const std::vector<Axis>& axes, const std::vector<Axis>& gone) {
  std::vector<Axis> rest;
  for (const Axis& a : axes)
    if (!hasAxis(gone, a.first)) rest.push_back(a);
  return rest;
}
/// The union of the axes of all UNROLLs among the sources, ascending.
std::vector<Axis> unionAxes(std::span<const UOp> sources) {
  std::map<int64_t, int64_t> all;
  for (UOp s : sources)
    if (s.is(Op::UNROLL))
      for (auto [id, size] : axesOf(s))
        if (auto [known, isNew] = all.try_emplace(id, size); known->second != size)
          throw Error(
              ErrorKind::Spec,
              fmt::format("two ranges of number {} have {} and {} steps: give each range a number of its own",
                          id, known->second, size));
  return {all.begin(), all.end()};
}
UOp unroll(UOp value, DType laneType, const std::vector<Axis>& axes) {
  if (axes.empty()) return value;
  return UOp::make(Op::UNROLL, laneType, {value}, argOf(axes));
}

/// For each point of `axes` (the last axis varies fastest), its position in a value whose lanes are laid out
/// by `own`.
std::vector<int64_t> positions(const std::vector<Axis>& axes, const std::vector<Axis>& own) {
  int64_t total = sizeOf(axes);
  std::vector<int64_t> strides(axes.size(), 0);
  for (size_t k = 0; k < axes.size(); ++k) {
    int64_t stride = 1;
    for (size_t j = own.size(); j-- > 0;) {
      if (own[j].first == axes[k].first) strides[k] = stride;
      stride *= own[j].second;
    }
  }
  std::vector<int64_t> result(static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) {
    int64_t rest = i, at = 0;
    for (size_t k = axes.size(); k-- > 0;) {
      at += rest % axes[k].second * strides[k];
      rest /= axes[k].second;
    }
    result[static_cast<size_t>(i)] = at;
  }
  return result;
}

/// A source as a vector over `axes`: an UNROLL is rearranged, any other source repeated. An element that is a
/// vector keeps its lanes.
UOp layOut(UOp source, const std::vector<Axis>& axes) {
  int64_t n = sizeOf(axes);
  if (!source.is(Op::UNROLL)) {
    if (laneCount(source) == 1) return source.broadcast(static_cast<int>(n));
    return joinLanes(std::vector<UOp>(static_cast<size_t>(n), source));
  }
  std::vector<Axis> own = axesOf(source);
  if (own == axes) return source.src(0);
  std::vector<int64_t> picked = positions(axes, own);
  int width = laneCount(source);
  if (width > 1) {
    std::vector<int64_t> wide;
    for (int64_t p : picked)
      for (int k = 0; k < width; ++k) wide.push_back(p * width + k);
    picked = std::move(wide);
  }
  return pickLanes(source.src(0), picked);
}

UOp rangeToLanes(Match& m) {
  UOp range = m.root();
  if (range.axisType() != AxisType::Upcast && range.axisType() != AxisType::Unroll) return {};
  if (!range.src(0).isConst())
    throw Error(ErrorKind::Compile,
                fmt::format("range {} of type {} must have a constant extent to be expanded, it has {}",
                            range.render(), axisTypeName(range.axisType()), range.src(0).render()));
  int64_t n = range.src(0).arg().i();
  return unroll(laneNumbers(n, range.dtype()), range.dtype(), {{axisNumber(range), n}});
}

/// Elementwise operations, casts, loads, addresses and local buffers: every source becomes a vector.
UOp expandValue(Match& m) {
  UOp root = m.root();
  std::vector<Axis> axes = unionAxes(root.src());
  if (axes.empty()) return {};
  int n = static_cast<int>(sizeOf(axes));
  std::vector<UOp> sources;
  for (size_t i = 0; i < root.srcCount(); ++i) {
    UOp s = root.src(i);
    bool memory = (root.is(Op::INDEX) && i == 0 && !s.is(Op::UNROLL)) || s.dtype().isVoid() ||
                  (root.is(Op::BUFFERIZE) && i > 0);
    sources.push_back(memory ? s : layOut(s, axes));
  }
  UOp wide = UOp::make(root.op(), withLanes(root.dtype(), laneCount(root) * n), sources, root.arg());
  return unroll(wide, root.dtype(), axes);
}

/// A WMMA works on whole vectors and is repeated for every point of the remaining axes. The ranges of its
/// elements, which are its last sources, have become lanes and are dropped.
UOp expandTensorCore(Match& m) {
  UOp root = m.root();
  std::vector<Axis> axes = unionAxes(root.src().first(3));
  if (axes.empty() && root.srcCount() == 3) return m.decline("no axis is expanded");
  std::vector<UOp> sources;
  for (UOp s : root.src().first(3)) sources.push_back(axes.empty() ? s : layOut(s, axes));
  int n = axes.empty() ? 1 : static_cast<int>(sizeOf(axes));
  UOp wide = UOp::make(Op::WMMA, withLanes(root.dtype(), laneCount(root) * n), sources, root.arg());
  return unroll(wide, root.dtype(), axes);
}

/// VECTORIZE and GEP choose lanes, so their result is built lane by lane.
UOp expandLanes(Match& m) {
  UOp root = m.root();
  std::vector<Axis> axes = unionAxes(root.src());
  if (axes.empty()) return m.decline("no axis is expanded");
  int64_t n = sizeOf(axes);
  std::vector<UOp> wide, lanes;
  for (UOp s : root.src()) wide.push_back(layOut(s, axes));
  for (int64_t i = 0; i < n; ++i) {
    if (root.is(Op::GEP)) {
      int width = laneCount(root.src(0));
      for (int64_t g : root.arg().ints()) lanes.push_back(lane(wide[0], i * width + g));
    } else {
      for (size_t k = 0; k < wide.size(); ++k) {
        int width = laneCount(root.src(k));
        for (int j = 0; j < width; ++j) lanes.push_back(lane(wide[k], i * width + j));
      }
    }
  }
  return unroll(joinLanes(lanes), root.dtype(), axes);
}

/// A CUSTOM node holds text of the target, which has no vector form: it is repeated for every lane.
UOp expandCustom(Match& m) {
  UOp root = m.root();
  std::vector<Axis> axes = unionAxes(root.src());
  if (axes.empty()) return m.decline("no axis is expanded");
  std::vector<UOp> wide, copies;
  for (UOp s : root.src()) wide.push_back(s.dtype().isVoid() ? s : layOut(s, axes));
  for (int64_t i = 0; i < sizeOf(axes); ++i) {
    std::vector<UOp> sources;
    for (size_t k = 0; k < wide.size(); ++k) {
      int width = laneCount(root.src(k));
      sources.push_back(root.src(k).dtype().isVoid() ? wide[k] : sliceLanes(wide[k], i * width, width));
    }
    copies.push_back(root.withSrc(sources));
  }
  return root.dtype().isVoid() ? UOp::groupOf(copies) : unroll(joinLanes(copies), root.dtype(), axes);
}

UOp expandStore(Match& m) {
  UOp root = m.root();
  std::vector<Axis> axes = unionAxes(root.src().first(2));
  std::vector<UOp> sources;
  bool changed = !axes.empty();
  for (size_t i = 0; i < root.srcCount(); ++i) {
    UOp s = root.src(i);
    if (i >= 2 && s.is(Op::UNROLL)) {
      changed = true; // an expanded range needs no END
      continue;
    }
    sources.push_back(i < 2 && !axes.empty() ? layOut(s, axes) : s);
  }
  return changed ? root.withSrc(sources) : m.decline("no axis is expanded");
}

/// Expanded ranges are dropped from the sources of END and AFTER.
UOp dropExpandedRanges(Match& m) {
  UOp root = m.root();
  std::vector<UOp> sources{root.src(0)};
  for (UOp s : root.src().subspan(1))
    if (!s.is(Op::UNROLL)) sources.push_back(s);
  UOp first = root.src(0);
  if (root.is(Op::AFTER) && first.is(Op::UNROLL)) {
    sources[0] = first.src(0);
    UOp wide =
        sources.size() == 1 ? sources[0] : UOp::make(Op::AFTER, first.src(0).dtype(), sources, root.arg());
    return UOp::make(Op::UNROLL, root.dtype(), {wide}, first.arg());
  }
  if (sources.size() == root.srcCount()) return m.decline("no range is expanded");
  return sources.size() == 1 ? sources[0] : root.withSrc(sources);
}

/// The lanes of expanded reduction axes become the slowest, so each step of the reduction adds a whole slice.
UOp expandReduce(Match& m) {
  UOp root = m.root();
  std::vector<Axis> over = unionAxes(root.src().subspan(1)), all = unionAxes(root.src());
  if (all.empty()) return m.decline("no axis is expanded");
  std::vector<Axis> kept = without(all, over), layout = over;
  layout.insert(layout.end(), kept.begin(), kept.end());
  std::vector<UOp> sources{layOut(root.src(0), layout)};
  for (UOp r : root.src().subspan(1))
    if (!r.is(Op::UNROLL)) sources.push_back(r);
  int width = static_cast<int>(sizeOf(kept)) * laneCount(root);
  UOp wide = UOp::make(Op::REDUCE, withLanes(root.dtype(), width), sources, root.arg());
  return unroll(wide, root.dtype(), kept);
}

UOp contract(Match& m) {
  UOp root = m.root(), from = root.src(0);
  if (!from.is(Op::UNROLL)) {
    if (root.dtype().isVoid()) return from;
    return joinLanes(std::vector<UOp>(static_cast<size_t>(laneCount(root) / laneCount(from)), from));
  }
  std::vector<Axis> taken = axesOf(root), kept = without(axesOf(from), taken), layout = kept;
  layout.insert(layout.end(), taken.begin(), taken.end());
  return unroll(layOut(from, layout), root.dtype(), kept);
}

UOp joinUnrolls(Match& m) {
  std::vector<Axis> axes = axesOf(m[inner]);
  for (const Axis& a : axesOf(m.root())) axes.push_back(a);
  return UOp::make(Op::UNROLL, m.root().dtype(), {m[inner].src(0)}, argOf(axes));
}

constexpr OpSet kValues = group::kElementwise | OpSet{Op::LOAD, Op::INDEX, Op::BUFFERIZE};

constexpr RuleDef kExpander[] = {
    RULE("expand-range", any(Op::RANGE), rangeToLanes),
    RULE("expand-nested", op(Op::UNROLL, any(Op::UNROLL).named(inner)), joinUnrolls),
    RULE("expand-reduce", any(Op::REDUCE), expandReduce),
    RULE("expand-store", any(Op::STORE), expandStore),
    RULE("expand-end", any({Op::END, Op::AFTER}), dropExpandedRanges),
    RULE("expand-lanes", any({Op::VECTORIZE, Op::GEP}), expandLanes),
    RULE("expand-custom", any({Op::CUSTOM, Op::CUSTOMI}), expandCustom),
    RULE("expand-tensor-core", any(Op::WMMA), expandTensorCore),
    RULE("expand-value", any(kValues), expandValue),
    RULE("contract", any(Op::CONTRACT), contract),
};
const KnownRules kExpanderKnown(kExpander);

/// Last part of the id of the loop that reads the results of a work group. No Opt makes an axis with this
/// number.
constexpr int64_t kReadBack = 2;

/// Splits a reduction over the threads of a work group in two: each thread reduces its part and writes it to
/// local memory, then a loop over the values of the group reduces these parts.
UOp splitGroupReduce(Match& m) {
  UOp red = m.root();
  std::vector<UOp> grouped, rest;
  for (UOp r : red.src().subspan(1)) {
    bool isGroup = r.is(Op::RANGE) && r.axisType() == AxisType::GroupReduce;
    (isGroup ? grouped : rest).push_back(r);
  }
  if (grouped.empty()) return m.decline("no axis is shared by a work group");
  std::vector<UOp> kept;
  for (UOp n : red.toposort())
    if (n.is(Op::RANGE) && (n.axisType() == AxisType::Local || n.axisType() == AxisType::Warp))
      kept.push_back(n);
  std::vector<UOp> loops;
  for (UOp r : grouped) {
    RangeArg again = r.arg().as<RangeArg>();
    again.ids.push_back(kReadBack);
    again.type = AxisType::Reduce;
    loops.push_back(r.withArg(Arg::of(again)));
  }
  UOp part = red.src(0).reduce(red.arg().op(), rest);
  std::vector<UOp> stored{part};
  stored.insert(stored.end(), kept.begin(), kept.end());
  std::vector<UOp> read = std::move(kept);
  stored.insert(stored.end(), grouped.begin(), grouped.end());
  read.insert(read.end(), loops.begin(), loops.end());
  UOp buffer =
      UOp::make(Op::BUFFERIZE, red.dtype(), stored, Arg::of(BufferizeOpts{"", AddrSpace::Local, false}));
  return buffer.indexed(read, red.dtype()).reduce(red.arg().op(), loops);
}

constexpr RuleDef kGroupReduce[] = {RULE("split-group-reduce", any(Op::REDUCE), splitGroupReduce)};
const KnownRules kGroupReduceKnown(kGroupReduce);

} // namespace

std::span<const RuleDef> expanderRules() {
  return kExpander;
}
std::span<const RuleDef> groupReduceRules() {
  return kGroupReduce;
}

} // namespace uopscope
