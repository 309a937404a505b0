// Options chosen by looking at a kernel: which axes become lanes, which are unrolled, which run side by side.
//
// What pays on a CPU: the axis along which results lie next to each other becomes lanes if every read is
// either next to each other too or the same for all lanes; a second axis becomes lanes where some read does
// not depend on it, so that a loaded value is used several times; a sum over neighbours is unrolled, so that
// each lane has its own accumulator. On a target with work groups output axes become LOCAL and a few lanes.
#include "engine/base/context_var.h"
#include "engine/base/error.h"
#include "engine/codegen/opt.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

namespace uopscope {

namespace {

/// Iterations that are worth a thread.
constexpr int64_t kWorkPerThread = 128 << 10;

int axisOf(const KernelOptimizer& s, UOp range) {
  // A range that was split keeps its argument while its extent changes.
  for (size_t i = 0; i < s.ranges().size(); ++i)
    if (s.ranges()[i].arg() == range.arg()) return static_cast<int>(i);
  return -1;
}
int64_t extentOf(UOp range) {
  return range.src(0).isConst() ? range.src(0).arg().i() : -1;
}
int64_t extentNow(const KernelOptimizer& s, UOp range) {
  int axis = axisOf(s, range);
  return axis < 0 ? 1 : s.extent(static_cast<size_t>(axis));
}

/// How an access moves with a range: 0 not at all, TileAxis::kNotLinear in no simple way.
int64_t strideOf(UOp access, UOp range) {
  UOp index = access.src(1);
  if (index.is(Op::WHERE) && index.src(2).isInvalidConst()) index = index.src(1);
  auto stride = coefficientOf(index, range);
  return stride ? *stride : TileAxis::kNotLinear;
}

int64_t largestDivisor(int64_t n, std::initializer_list<int64_t> choices) {
  for (int64_t c : choices)
    if (c > 1 && n % c == 0) return c;
  return 0;
}

struct Kernel {
  std::vector<UOp> reads, writes; ///< INDEX nodes; reads of the reduction where there is one
  std::vector<UOp> outputs;       ///< LOOP ranges of constant extent
  std::vector<UOp> summed;        ///< ranges of the main reduction
  UOp reduction;
};

Kernel inspect(const KernelOptimizer& s) {
  Kernel k;
  int64_t most = 0;
  for (UOp red : s.reduces()) {
    int64_t steps = 1;
    for (UOp r : red.src().subspan(1)) steps *= std::max<int64_t>(1, extentOf(r));
    for (UOp r : red.ranges()) steps *= std::max<int64_t>(1, extentOf(r));
    if (steps > most) {
      most = steps;
      k.reduction = red;
    }
  }
  std::vector<UOp> stored;
  for (UOp u : s.ast().toposort())
    if (u.is(Op::STORE) && u.src(0).is(Op::INDEX)) stored.push_back(u.src(0));
  for (UOp a : s.accesses()) {
    bool isWrite = std::find(stored.begin(), stored.end(), a) != stored.end();
    if (isWrite)
      k.writes.push_back(a);
    else if (!k.reduction || k.reduction.dependsOn(a))
      k.reads.push_back(a);
  }
  for (UOp r : s.ranges()) {
    if (extentOf(r) <= 1) continue;
    if (r.axisType() == AxisType::Loop || r.axisType() == AxisType::Global) k.outputs.push_back(r);
    if (k.reduction && r.axisType() == AxisType::Reduce)
      for (UOp own : k.reduction.src().subspan(1))
        if (own == r) k.summed.push_back(r);
  }
  return k;
}

bool writtenNextToEachOther(const Kernel& k, UOp range) {
  return !k.writes.empty() &&
         std::all_of(k.writes.begin(), k.writes.end(), [&](UOp w) { return strideOf(w, range) == 1; });
}
bool readsSuitLanes(const Kernel& k, UOp range) {
  return std::all_of(k.reads.begin(), k.reads.end(), [&](UOp r) {
    int64_t stride = strideOf(r, range);
    return stride == 0 || stride == 1;
  });
}
/// False where the Opt does not fit, which is an answer here; any other error goes on.
bool tryApply(KernelOptimizer& s, const Opt& opt, const Decision& why) {
  try {
    return s.apply(opt, why);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::Compile) throw;
    return false;
  }
}
bool tryApply(KernelOptimizer& s, OptOp op, int axis, int64_t amount, const Decision& why) {
  return axis >= 0 && tryApply(s, Opt{op, axis, {amount}}, why);
}
Decision inWords(const char* words) {
  return {.reason = words};
}
/// The tile's price against the next best ones.
Decision priceOf(const Tile& tile) {
  Decision d{
      fmt::format("{:.2f} cycles a lane and step", tile.cycles), tile.cycles, "cycles a lane and step", {}};
  if (!tile.others.empty())
    d.reason += fmt::format(", {:.2f} for {}", tile.others[0].cycles, tile.others[0].what);
  for (const Tile::Other& o : tile.others) d.others.push_back({o.what, o.cycles});
  return d;
}
int unrollAxis(const KernelOptimizer& s, UOp range) {
  int n = 0;
  for (size_t a : s.axesOf({AxisType::GroupReduce, AxisType::Reduce})) {
    if (s.extent(a) <= 1) continue;
    if (s.ranges()[a].arg() == range.arg()) return n;
    ++n;
  }
  return -1;
}

std::vector<TileAxis> tileAxes(const Kernel& k) {
  std::vector<TileAxis> axes;
  auto add = [&](UOp r, bool isTerm) {
    TileAxis a{r, extentOf(r), isTerm, !isTerm && writtenNextToEachOther(k, r), {}, {}};
    for (UOp read : k.reads) {
      a.strides.push_back(strideOf(read, r));
      UOp index = read.src(1);
      a.gates.push_back(index.is(Op::WHERE) && index.src(0).dependsOn(r));
    }
    axes.push_back(std::move(a));
  };
  for (UOp r : k.outputs) add(r, false);
  for (UOp r : k.summed) add(r, true);
  return axes;
}

/// Lanes are applied last: the axis expanded last is the one whose lanes lie side by side, and those must be
/// the ones that are next to each other in memory.
void chooseForReduction(KernelOptimizer& s, const Kernel& k, int64_t width) {
  std::vector<TileAxis> axes = tileAxes(k);
  if (axes.empty()) return;
  Observer* observer = Observer::current();
  Tile tile = chooseTile(axes, k.reads.size(), width, observer && observer->wantsRewrites());
  const Decision why = priceOf(tile);
  int64_t taken = 1;
  for (const Tile::Part& p : tile.parts)
    if (p.isTerm ? tryApply(s, OptOp::UNROLL, unrollAxis(s, p.range), p.amount, why)
                 : tryApply(s, OptOp::UPCAST, axisOf(s, p.range), p.amount, why))
      taken *= p.amount;
  // The panel that the lanes read stays in the cache while the other axis runs: that axis is the inner loop.
  if (tile.vectors && tile.parts.size() > 1) {
    const Tile::Part &row = tile.parts[tile.parts.size() - 2], &lanes = tile.parts.back();
    int outer = axisOf(s, row.range), inner = axisOf(s, lanes.range);
    if (!lanes.isTerm && lanes.amount > 4 && outer >= 0 && outer < inner)
      tryApply(s, OptOp::SWAP, outer, inner, inWords("the panel of the lanes stays in the cache"));
  }
  // A short inner sum, such as the window of a convolution, is written out.
  for (auto r = k.summed.rbegin(); r != k.summed.rend(); ++r) {
    int64_t n = extentNow(s, *r);
    if (n < 2 || n > 4 || taken * n > mostWrittenOut(width)) continue;
    if (tryApply(s, OptOp::UNROLL, unrollAxis(s, *r), 0, inWords("a short sum is written out"))) taken *= n;
  }
}

/// The loops of a kernel may be pieces of one that was cut: each gets lanes.
void chooseForElementwise(KernelOptimizer& s, const Kernel& k, int64_t width) {
  std::vector<UOp> done; // writes that have their lanes
  for (UOp r : k.outputs) {
    std::vector<UOp> writes;
    for (UOp w : k.writes)
      if (w.dependsOn(r)) writes.push_back(w);
    bool suits =
        !writes.empty() && readsSuitLanes(k, r) && std::all_of(writes.begin(), writes.end(), [&](UOp w) {
          return strideOf(w, r) == 1 && std::find(done.begin(), done.end(), w) == done.end();
        });
    if (!suits) continue;
    done.insert(done.end(), writes.begin(), writes.end());
    int64_t amount = largestDivisor(extentOf(r), {width, width / 2, 4, 2});
    if (amount)
      tryApply(s, OptOp::UPCAST, axisOf(s, r), amount,
               inWords("what is read and written lies next to each other along it"));
  }
}

void chooseThreads(KernelOptimizer& s) {
  int64_t work = 1;
  for (size_t i = 0; i < s.ranges().size(); ++i) work *= std::max<int64_t>(1, s.extent(i));
  int64_t cores =
      vars::cpuCount > 0 ? vars::cpuCount.value() : static_cast<int64_t>(std::thread::hardware_concurrency());
  cores = std::min(cores, s.target().globalMax[0]);
  std::vector<UOp> parallel = s.parallelRanges();
  // Outer loops first: a thread then owns the memory that its inner loops read again and again.
  std::stable_sort(parallel.begin(), parallel.end(),
                   [](UOp a, UOp b) { return a.arg().as<RangeArg>().ids < b.arg().as<RangeArg>().ids; });
  for (int64_t threads = std::min(cores, work / kWorkPerThread); threads > 1; --threads)
    for (UOp r : parallel) {
      int axis = axisOf(s, r);
      if (r.axisType() != AxisType::Loop || axis < 0 || extentNow(s, r) % threads) continue;
      if (tryApply(s, OptOp::THREAD, axis, threads,
                   {.reason = fmt::format("each thread has {} iterations or more", kWorkPerThread)}))
        return;
    }
}

void chooseForGroups(KernelOptimizer& s, const Kernel& k) {
  if (vars::nolocals) {
    s.apply({OptOp::NOLOCALS, -1, {}}, inWords("NOLOCALS=1"));
    return;
  }
  bool onTensorCores = vars::tc && !s.target().tensorCores.empty() && k.reduction;
  if (onTensorCores &&
      tryApply(s, Opt{OptOp::TC, 0, {-1, 2, 1}}, inWords("the product's types fit a tensor core"))) {
    // Tiles next to each other share their loads.
    for (UOp r : k.outputs)
      if (int64_t amount = largestDivisor(extentNow(s, r), {4, 2}))
        tryApply(s, OptOp::UPCAST, axisOf(s, r), amount, inWords("tiles side by side share their operands"));
    return;
  }
  for (UOp r : k.outputs)
    if (writtenNextToEachOther(k, r) && extentOf(r) % 4 == 0 && extentOf(r) >= 256)
      tryApply(s, OptOp::UPCAST, axisOf(s, r), 4, inWords("results lie next to each other along it"));
  int64_t local = 1;
  std::vector<UOp> innermostFirst(k.outputs.rbegin(), k.outputs.rend());
  for (UOp r : innermostFirst) {
    int64_t amount = largestDivisor(extentNow(s, r), {32, 16, 8, 4, 3, 2});
    if (amount && local * amount <= 128 &&
        tryApply(s, OptOp::LOCAL, axisOf(s, r), amount, inWords("up to 128 threads make a group")))
      local *= amount;
  }
}

} // namespace

void chooseOpts(KernelOptimizer& s) {
  Kernel k = inspect(s);
  if (s.target().hasLocal) {
    chooseForGroups(s, k);
    return;
  }
  int64_t width =
      s.target().supportsVectors ? std::max(4, std::max(s.target().aluLanes, s.target().maxVectorLanes)) : 4;
  if (k.reduction)
    chooseForReduction(s, k, width);
  else
    chooseForElementwise(s, k, width);
  if (s.target().hasThreads) chooseThreads(s);
}

} // namespace uopscope
