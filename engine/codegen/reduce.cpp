// Reductions as loops over accumulators, and the repair of ranges that several loops close.
#include "engine/codegen/reduce.h"

#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/async_products.h"
#include "engine/codegen/gpudims.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/shared_operand.h"
#include "engine/codegen/tile_cores.h"
#include "engine/codegen/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace uopscope {

namespace {

using namespace pat;

/// Whether `value` is a product that may be added to a sum without rounding it first.
bool isFusedTerm(UOp value, Op how, const Target& target) {
  Scalar kind = value.dtype().kind();
  return how == Op::ADD && value.is(Op::MUL) && (kind == Scalar::Float32 || kind == Scalar::Float64) &&
         target.nativeOps.has(Op::MULACC);
}

/// `sum` combined with lanes of `value`: those from `first` on, as many as `sum` has.
UOp addSlice(UOp sum, UOp value, int first, Op how, const Target& target) {
  int width = laneCount(sum);
  if (isFusedTerm(value, how, target))
    return sliceLanes(value.src(0), first, width)
        .alu(Op::MULACC, {sliceLanes(value.src(1), first, width), sum});
  return sum.alu(how, {sliceLanes(value, first, width)});
}

/// Combines slices of `width` lanes pairwise, so that the depth is logarithmic; with PLAIN one after the other, as they are written.
UOp combineTree(UOp value, int width, Op how, const Target& target) {
  int lanes = laneCount(value);
  if (vars::plain) {
    UOp sum = sliceLanes(value, 0, width);
    for (int first = width; first < lanes; first += width) sum = addSlice(sum, value, first, how, target);
    return sum;
  }
  std::vector<UOp> parts;
  for (int first = 0; first < lanes; first += 2 * width) {
    UOp part = sliceLanes(value, first, width);
    parts.push_back(first + width < lanes ? addSlice(part, value, first + width, how, target) : part);
  }
  while (parts.size() > 1) {
    std::vector<UOp> next;
    for (size_t i = 0; i + 1 < parts.size(); i += 2) next.push_back(parts[i].alu(how, {parts[i + 1]}));
    if (parts.size() % 2) next.push_back(parts.back());
    parts = std::move(next);
  }
  return parts[0];
}

/// `value` with its lanes in a different order. Elementwise operations are rebuilt on reordered sources, so a
/// vector that a load gives stays a vector.
UOp reordered(UOp value, const std::vector<int64_t>& lanes, UOpMap<UOp>& done) {
  if (auto hit = done.find(value); hit != done.end()) return hit->second;
  UOp result;
  if (value.in(group::kElementwise) && laneCount(value) == static_cast<int>(lanes.size())) {
    std::vector<UOp> sources;
    for (UOp s : value.src()) sources.push_back(reordered(s, lanes, done));
    result = value.withSrc(sources);
  } else {
    result = pickLanes(value, lanes);
  }
  return done[value] = result;
}

/// Combines the lanes of each of `results` results, which are neighbours, by halves.
UOp combineNeighbours(UOp value, int results, Op how) {
  int each = laneCount(value) / results;
  while (each > 1) {
    int parts = each % 2 ? each : 2, size = each / parts;
    UOp sum;
    for (int part = 0; part < parts; ++part) {
      std::vector<int64_t> lanes;
      for (int r = 0; r < results; ++r)
        for (int i = 0; i < size; ++i) lanes.push_back(r * each + part * size + i);
      UOp slice = pickLanes(value, lanes);
      sum = sum ? sum.alu(how, {slice}) : slice;
    }
    value = sum;
    each = size;
  }
  return value;
}

/// Lanes of a WMMA: all of its lanes, or those that a GEP takes.
struct TileLanes {
  UOp wmma; ///< null if the value does not come from a WMMA
  std::vector<int64_t> lanes;
};
TileLanes tileLanesOf(UOp value) {
  TileLanes t;
  if (value.is(Op::GEP) && value.src(0).is(Op::WMMA)) {
    t.wmma = value.src(0);
    for (int64_t lane : value.arg().ints()) t.lanes.push_back(lane);
  } else if (value.is(Op::WMMA)) {
    t.wmma = value;
    for (int lane = 0; lane < laneCount(value); ++lane) t.lanes.push_back(lane);
  }
  if (t.wmma && t.wmma.arg().as<WmmaArg>().upcastAxes.size() != 3) t.wmma = {};
  return t;
}

/// The sum plus `lanes` of a WMMA, computed by the tensor cores: the sum becomes the third source of the
/// WMMA. Null if the lanes are not whole tiles.
UOp addTiles(UOp sum, UOp wmma, std::span<const int64_t> lanes) {
  const WmmaArg& arg = wmma.arg().as<WmmaArg>();
  std::array<int64_t, 3> size{1, 1, 1};
  for (size_t s = 0; s < 3; ++s)
    for (auto [axis, n] : arg.upcastAxes[s]) size[s] *= n;
  std::vector<int64_t> place(lanes.size()), back(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) place[i] = static_cast<int64_t>(i);
  std::sort(place.begin(), place.end(), [&](int64_t a, int64_t b) {
    return lanes[static_cast<size_t>(a)] < lanes[static_cast<size_t>(b)];
  });
  std::array<std::vector<int64_t>, 2> operands;
  for (size_t i = 0; i < place.size(); ++i) {
    int64_t lane = lanes[static_cast<size_t>(place[i])], k = static_cast<int64_t>(i) % size[2];
    back[static_cast<size_t>(place[i])] = static_cast<int64_t>(i);
    if (lane % size[2] != k || (k && lane != lanes[static_cast<size_t>(place[i - 1])] + 1)) return {};
    if (k == 0)
      for (size_t s = 0; s < 2; ++s)
        for (int64_t e = 0; e < size[s]; ++e) operands[s].push_back(lane / size[2] * size[s] + e);
  }
  if (static_cast<int64_t>(lanes.size()) % size[2]) return {};
  UOp wide = UOp::make(
      Op::WMMA, sum.dtype(),
      {pickLanes(wmma.src(0), operands[0]), pickLanes(wmma.src(1), operands[1]), pickLanes(sum, place)},
      wmma.arg());
  return pickLanes(wide, back);
}

/// The lanes of a whole product by tiles of a processor, in the order in which a value takes them; empty for other values. Its
/// sums stay tile by tile, so that each is a register of the unit.
std::vector<int64_t> orderOfTiles(UOp value, int results) {
  const TileLanes t = tileLanesOf(value);
  const bool isWhole =
      t.wmma && isTileProduct(t.wmma) && laneCount(t.wmma) == results && laneCount(value) == results;
  return isWhole ? t.lanes : std::vector<int64_t>();
}

/// Whether the core that adds the tiles begins products and goes on.
bool addsAsync(const TileLanes& tiles, const Target& target) {
  const TensorCore* core =
      tiles.wmma ? coreNamed(target.tensorCores, tiles.wmma.arg().as<WmmaArg>().name) : nullptr;
  return core && readsShared(*core);
}

/// These effects, and those behind which the operands of a product are in shared memory: registers are handed over right before
/// the product.
std::vector<UOp> andOperandsThere(std::vector<UOp> effects, UOp product) {
  for (UOp operand : product.src().first(2))
    for (UOp u : operand.toposort())
      if (u.is(Op::AFTER) && u.src(0).is(Op::DEFINE_LOCAL))
        effects.insert(effects.end(), u.src().begin() + 1, u.src().end());
  return effects;
}

/// Whether the largest of some small floats is looked for among their float32 values: each step would else convert both, and
/// its result back. The result is one of the values, so none is rounded.
bool isLargestOfWide(UOp red, const Target& target) {
  const DType d = red.dtype().scalar();
  const bool isComputed = d == dtypes::float16 && target.computesHalf;
  return red.arg().op() == Op::MAX && d.isFloat() && d.itemsize() < 4 && !isComputed;
}

UOp accumulated(UOp red, ReduceContext& ctx) {
  UOp value = red.src(0);
  Op how = red.arg().op();
  int in = laneCount(value), out = laneCount(red);
  if (in % out != 0)
    throw Error(ErrorKind::Compile, fmt::format("a reduction of {} lanes cannot give {} lanes", in, out));
  std::vector<UOp> loops(red.src().begin() + 1, red.src().end());
  if (loops.empty()) return combineTree(value, out, how, ctx.target);
  const std::vector<int64_t> order = how == Op::ADD ? orderOfTiles(value, out) : std::vector<int64_t>();
  if (!order.empty()) value = tileLanesOf(value).wmma;

  int lanesOfRegister = registerLanes(ctx.target, red.dtype());
  int width = keepsAccumulators(in, out, lanesOfRegister, vectorRegisters(ctx.target)) ? in : out;
  // The lanes of terms come first. Where they fill registers, the lanes of one result are put together, as
  // they are loaded.
  bool together = width == in && out > 1 && lanesOfRegister > 1 && in / out % lanesOfRegister == 0;
  if (together) {
    std::vector<int64_t> lanes;
    for (int i = 0; i < in; ++i) lanes.push_back(i % (in / out) * out + i / (in / out));
    UOpMap<UOp> done;
    value = reordered(value, lanes, done);
  }
  DType type = withLanes(red.dtype(), width);
  UOp acc = UOp::make(Op::DEFINE_REG, red.dtype().scalar().ptr(width, AddrSpace::Reg), {},
                      Arg::of(ctx.accumulators++));
  UOp at = laneNumbers(width);
  UOp start =
      acc.after(red.ranges()).indexed({at}, withLanes(acc.dtype(), width)).store(identityElement(how, type));
  std::vector<UOp> inside{start};
  inside.insert(inside.end(), loops.begin(), loops.end());
  // The store waits for the start as well: where the sum is a constant, nothing is read that would wait for it.
  TileLanes tiles = how == Op::ADD ? tileLanesOf(value) : TileLanes{};
  const bool isAsync = addsAsync(tiles, ctx.target);
  if (isAsync) inside = {beginProducts(andOperandsThere(inside, tiles.wmma))};
  UOp held = acc.after(inside), next = held.indexed({at}, type);
  for (int first = 0; first < in; first += width) {
    UOp added =
        tiles.wmma
            ? addTiles(next, tiles.wmma,
                       std::span(tiles.lanes).subspan(static_cast<size_t>(first), static_cast<size_t>(width)))
            : UOp{};
    next = added ? added : addSlice(next, value, first, how, ctx.target);
  }
  UOp done = held.indexed({at}, withLanes(acc.dtype(), width)).store(next);
  done = isAsync
             ? waitForAllProducts(
                   {waitForProducts({done}, productsAhead(tiles.wmma.arg().as<WmmaArg>().name)).end(loops)})
             : done.end(loops);
  UOp result = acc.after(std::span<const UOp>(&done, 1)).indexed({at}, type);
  if (!order.empty()) return pickLanes(result, order);
  if (together) return combineNeighbours(result, out, how);
  return out == 1 && lanesOfRegister > 1 ? combineLanes(result, how)
                                         : combineTree(result, out, how, ctx.target);
}

UOp reduceToAccumulator(Match& m) {
  auto& ctx = m.ctx<ReduceContext>();
  UOp red = m.root();
  if (!isLargestOfWide(red, ctx.target)) return accumulated(red, ctx);
  std::vector<UOp> sources(red.src().begin(), red.src().end());
  sources[0] = sources[0].cast(withLanes(dtypes::float32, laneCount(sources[0])));
  return accumulated(red.withSrc(sources).withDtype(withLanes(dtypes::float32, laneCount(red))), ctx)
      .cast(red.dtype());
}

UOp closeOnce(Match& m) {
  UOp closed = closeRangesOnce(m.root());
  return closed == m.root() ? m.decline("every range is closed once") : closed;
}
constexpr RuleDef kClose[] = {RULE("close-ranges-once", any(Op::SINK), closeOnce)};
const KnownRules kCloseKnown(kClose);

constexpr RuleDef kReduce[] = {RULE("reduce-to-accumulator", any(Op::REDUCE), reduceToAccumulator)};
const KnownRules kReduceKnown(kReduce);

/// Whether work items stand for the steps of the range, each with a result of its own.
bool isHardware(UOp range) {
  const AxisType type = range.axisType();
  return isGlobalAxis(type) || (isLocalAxis(type) && type != AxisType::GroupReduce);
}

std::vector<UOp> closedBy(UOp end) {
  return {end.src().begin() + 1, end.src().end()};
}

/// The body of `end` with a new range in place of `range`, numbered from `id` on. The loops inside of it are numbered anew with it, as
/// inner loops have larger numbers.
UOp withFreshRange(UOp end, UOp range, int64_t id) {
  auto idsOf = [](UOp r) { return r.arg().as<RangeArg>().ids; };
  std::vector<UOp> renamed{range};
  for (UOp r : closedBy(end))
    if (r.is(Op::RANGE) && !isHardware(r) && idsOf(r) > idsOf(range)) renamed.push_back(r);
  std::ranges::sort(renamed, {}, idsOf);
  UOpMap<UOp> changed;
  for (UOp r : renamed) {
    RangeArg arg = r.arg().as<RangeArg>();
    arg.ids = {id++};
    changed[r] = r.withArg(Arg::of(arg));
  }
  // Loops over these ranges that are closed already stay as they are: only nodes that have one in scope change.
  auto isRenamed = [&](UOp r) { return std::ranges::find(renamed, r) != renamed.end(); };
  for (UOp u : end.toposort()) {
    if (isRenamed(u) || (u != end && std::ranges::none_of(u.ranges(), isRenamed))) continue;
    std::vector<UOp> src;
    for (UOp s : u.src()) {
      auto hit = changed.find(s);
      src.push_back(hit == changed.end() ? s : hit->second);
    }
    changed[u] = u.withSrc(src);
  }
  return changed[end];
}

} // namespace

std::span<const RuleDef> reduceRules() {
  return kReduce;
}
std::span<const RuleDef> closeRangesRules() {
  return kClose;
}

const char* onlyReduce(UOp sink, UOp& sum) {
  if (!sink.below().has(Op::REDUCE) || !onlyEnd(sink)) return "not one loop with a sum";
  for (UOp u : sink.toposort()) {
    if (u.in({Op::DEFINE_REG, Op::DEFINE_LOCAL, Op::AFTER})) return "it has memory of its own";
    if (!u.is(Op::REDUCE)) continue;
    if (sum) return "several sums";
    sum = u;
  }
  return nullptr;
}

UOp identityElement(Op op, DType dtype) {
  DType one = dtype.scalar();
  double infinity = std::numeric_limits<double>::infinity();
  switch (op) {
  case Op::ADD:
  case Op::OR:
  case Op::XOR: return UOp::constant(dtype, int64_t{0});
  case Op::MUL: return UOp::constant(dtype, int64_t{1});
  case Op::AND: return UOp::constant(dtype, int64_t{one.isBool() ? 1 : -1});
  case Op::MAX:
    if (one.isFloat()) return UOp::constant(dtype, -infinity);
    return UOp::constant(dtype, one.isBool() ? 0 : dtypes::minInt(one));
  default: throw Error(ErrorKind::Compile, fmt::format("{} is not an operation to reduce by", opName(op)));
  }
}

UOp closeRangesOnce(UOp sink) {
  for (;;) {
    std::vector<UOp> nodes = sink.toposort();
    UOpMap<std::vector<UOp>> ends;
    for (UOp u : nodes)
      if (u.is(Op::END))
        for (UOp r : closedBy(u)) {
          if (!r.is(Op::RANGE)) continue;
          auto& closing = ends[r];
          if (!closing.empty() && closing.back() == u)
            throw Error(ErrorKind::Spec,
                        fmt::format("range {} stands twice in one END: every axis needs a range of its own",
                                    r.render()));
          closing.push_back(u);
        }
    UOp first, second, shared;
    for (UOp u : nodes) {
      if (!u.is(Op::RANGE) || ends[u].size() < 2) continue;
      shared = u;
      first = ends[u][0];
      second = ends[u][1];
      break;
    }
    if (!shared) return sink;
    // `first` comes before `second` in topological order, so only `second` can depend on `first`.
    UOpMap<UOp> now;
    if (closedBy(first) == closedBy(second) && first.ranges() == second.ranges() &&
        !second.dependsOn(first)) {
      UOp merged = UOp::groupOf(std::vector<UOp>{first.src(0), second.src(0)}).end(closedBy(first));
      now[first] = merged;
      now[second] = merged;
    } else if (isHardware(shared) && second.dependsOn(first)) {
      // A thread is no loop: each one does its own part of the store below.
      std::vector<UOp> rest = closedBy(first);
      std::erase(rest, shared);
      now[first] = rest.empty() ? first.src(0) : first.src(0).end(rest);
    } else {
      now[second] = withFreshRange(second, shared, nextRangeId(nodes));
    }
    // Users are rebuilt by hand: the merged loop no longer contains the loops it replaces, so there is no
    // chain of replacements.
    UOpMap<UOp> built(now);
    for (UOp u : nodes) {
      if (built.count(u)) continue;
      std::vector<UOp> src;
      bool changed = false;
      for (UOp s : u.src()) {
        auto hit = built.find(s);
        UOp to = hit == built.end() ? s : hit->second;
        changed |= to != s;
        src.push_back(to);
      }
      if (changed) built[u] = u.withSrc(src);
    }
    auto hit = built.find(sink);
    if (hit != built.end()) sink = hit->second;
  }
}

} // namespace uopscope
