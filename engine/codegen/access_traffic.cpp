// Addresses are evaluated as numbers at a few iterations of each loop; whoever lies in equal distances has a stride.
#include "engine/codegen/access_traffic.h"

#include "engine/codegen/estimates.h"
#include "engine/codegen/streamed_stores.h"
#include "engine/uop/eval.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace uopscope {

namespace {

constexpr int64_t kSamples = 256; ///< iterations of a loop whose addresses are looked at one by one

/// An index as a number, at iterations of loops; what was loaded counts as 0, a variable as its least value.
class IndexValue {
public:
  void at(UOp range, int64_t iteration) { values_[range] = iteration; }
  int64_t operator()(UOp u) {
    if (const auto found = values_.find(u); found != values_.end()) return found->second;
    const int64_t v = compute(u);
    values_[u] = v;
    return v;
  }

private:
  int64_t compute(UOp u) {
    if (u.isConst()) return u.arg().isNumber() ? u.constValue().i : 0;
    if (u.is(Op::DEFINE_VAR)) return u.vmin();
    if (u.is(Op::CAST) || u.is(Op::AFTER)) return (*this)(u.src(0));
    if (!u.in(group::kAlu) || u.dtype().isFloat()) return 0;
    std::vector<ConstValue> operands;
    for (UOp s : u.src()) {
      if (s.dtype().isFloat()) return 0;
      const int64_t v = (*this)(s);
      operands.push_back(s.dtype().isBool() ? ConstValue::ofBool(v != 0) : ConstValue::ofInt(v));
    }
    const size_t typed = u.is(Op::WHERE) ? 1 : 0;
    return evalAlu(u.op(), u.dtype().scalar(), u.src(typed).dtype().scalar(), operands).i;
  }
  UOpMap<int64_t> values_;
};

/// Programs come from traces too, and a trace may claim anything: numbers stay where no product overflows.
int64_t bounded(int64_t v) {
  constexpr int64_t kMost = int64_t{1} << 40;
  return std::clamp(v, -kMost, kMost);
}

int64_t addressAt(UOp base, UOp range, int64_t iteration, const std::vector<UOp>& others) {
  IndexValue value;
  for (UOp r : others) value.at(r, 0);
  value.at(range, iteration);
  return bounded(value(base));
}

/// The part of an index that a constant is added to, and the constant.
std::pair<UOp, int64_t> split(UOp index) {
  if (index.is(Op::ADD) && index.src(1).isConst() && index.src(1).arg().isNumber())
    return {index.src(0), bounded(index.src(1).constValue().i)};
  return {index, 0};
}

} // namespace

UOp accessIndex(UOp access) {
  UOp at = access.src(0);
  while (!at.is(Op::INDEX) && at.srcCount()) at = at.src(0);
  return at;
}

bool isIndirect(UOp index) {
  return index.below().has(Op::LOAD);
}

double AccessTraffic::turnsOf(UOp extent) const {
  if (const auto usual = usualSteps(extent)) return static_cast<double>(*usual);
  const auto most = static_cast<double>(std::max<int64_t>(1, extent.vmax()));
  return extent.isConst() ? most : std::max(1.0, std::round(most * share_));
}

void AccessTraffic::follow(UOp u) {
  if (u.is(Op::RANGE)) {
    loops_.push_back({u, turnsOf(u.src(0)), current_});
    current_ = static_cast<int>(loops_.size()) - 1;
  }
  if (u.is(Op::END))
    for (size_t i = 1; i < u.srcCount(); ++i) current_ = parent(current_);
  if (u.in({Op::LOAD, Op::STORE}))
    if (const UOp index = accessIndex(u); index.is(Op::INDEX) && !index.bufferOf().is(Op::DEFINE_REG))
      add(u, index);
}

double AccessTraffic::executions(int loop) const {
  double times = 1;
  for (int l = loop; l; l = parent(l)) times *= trips(l);
  return times;
}

std::vector<AccessGroup::Step> AccessTraffic::stepsOf(UOp base, const std::vector<int>& loops,
                                                      int64_t itemBytes) const {
  std::vector<UOp> ranges;
  for (int l : loops) ranges.push_back(loops_[static_cast<size_t>(l)].range);
  const std::vector<UOp> nodes = base.backwardSlice(true);
  std::vector<AccessGroup::Step> steps;
  for (int l : loops) {
    const UOp range = loops_[static_cast<size_t>(l)].range;
    const auto turns = static_cast<int64_t>(std::min(trips(l), 4e6)); // a stride shows in fewer
    AccessGroup::Step step;
    if (turns > 1 && std::ranges::find(nodes, range) != nodes.end()) {
      const bool loaded = std::ranges::any_of(
          nodes, [&](UOp n) { return n.is(Op::LOAD) && std::ranges::count(n.ranges(), range); });
      auto at = [&](int64_t i) { return addressAt(base, range, i, ranges); };
      const int64_t first = at(0), stride = at(1) - first;
      if (loaded) {
        step.lines = static_cast<double>(turns);
      } else if (at(turns / 2) - first == stride * (turns / 2) &&
                 at(turns - 1) - first == stride * (turns - 1)) {
        step.bytes = stride * itemBytes;
      } else {
        std::set<int64_t> lines;
        const int64_t samples = std::min(turns, kSamples);
        for (int64_t i = 0; i < samples; ++i) lines.insert((at(i) * itemBytes) >> 6);
        step.lines =
            static_cast<double>(lines.size()) * static_cast<double>(turns) / static_cast<double>(samples);
      }
    }
    steps.push_back(step);
  }
  return steps;
}

void AccessTraffic::add(UOp access, UOp index) {
  const UOp buffer = index.bufferOf();
  const auto [base, offset] = split(index.src(1));
  const DType type = access.is(Op::STORE) ? access.src(1).dtype() : access.dtype();
  const int64_t item = std::max(1, type.scalar().itemsize());
  const bool isStore = access.is(Op::STORE);
  for (AccessGroup& g : groups_)
    if (g.buffer == buffer && g.base == base && g.isStore == isStore && g.block == current_) {
      g.offsets.push_back(offset * item);
      g.accesses.push_back(access);
      g.width = std::max<int64_t>(g.width, type.itemsize());
      g.isAligned &= offset * item % type.itemsize() == 0;
      return;
    }
  AccessGroup g;
  g.buffer = buffer, g.base = base, g.isStore = isStore, g.block = current_;
  g.isStreamed = isStreamed(access);
  g.width = std::max(1, type.itemsize());
  g.offsets.push_back(offset * item);
  g.accesses.push_back(access);
  for (int l = current_; l; l = parent(l)) g.loops.push_back(l);
  g.steps = stepsOf(base, g.loops, item);
  IndexValue start;
  for (int l : g.loops) start.at(loops_[static_cast<size_t>(l)].range, 0);
  const int64_t first = (bounded(start(base)) + offset) * item;
  g.isAligned = first % g.width == 0 && std::ranges::all_of(g.steps, [&](const AccessGroup::Step& s) {
                  return s.bytes % g.width == 0;
                });
  groups_.push_back(std::move(g));
}

namespace {
/// Accesses of a group that lie together.
struct Clusters {
  double count = 1, run = 0; ///< run: bytes of one
  int64_t gap = 0;           ///< bytes from one to the next
};
Clusters clustersOf(const AccessGroup& g) {
  std::vector<int64_t> offsets = g.offsets;
  std::ranges::sort(offsets);
  Clusters c;
  double covered = 0;
  int64_t begin = offsets[0], end = begin + g.width;
  for (const int64_t o : offsets) {
    if (o <= end + static_cast<int64_t>(kLineBytes) / 2) {
      end = std::max(end, o + g.width);
      continue;
    }
    covered += static_cast<double>(end - begin);
    c.gap = o - begin;
    begin = o, end = o + g.width;
    ++c.count;
  }
  c.run = (covered + static_cast<double>(end - begin)) / c.count;
  return c;
}
} // namespace

double AccessTraffic::runBytes(const AccessGroup& g) const {
  double run = clustersOf(g).run;
  for (size_t i = 0; i < g.steps.size(); ++i) {
    const auto stride = static_cast<double>(std::abs(g.steps[i].bytes));
    if (stride > 0 && stride <= run + kLineBytes) run += stride * (trips(g.loops[i]) - 1);
  }
  return run;
}

double AccessTraffic::lines(const AccessGroup& g, size_t inner) const {
  const auto [clusters, first, gap] = clustersOf(g);
  double run = first;
  double count = 1;
  std::map<double, double>
      byStride; // loops with one stride overlap, as the places and the terms of a window do
  if (clusters > 1) byStride[static_cast<double>(gap)] = clusters;
  for (size_t i = 0; i < std::min(inner, g.steps.size()); ++i) {
    if (g.steps[i].lines > 0) {
      count *= g.steps[i].lines;
    } else if (g.steps[i].bytes) {
      double& turns = byStride[static_cast<double>(std::abs(g.steps[i].bytes))];
      turns += (turns > 0 ? -1 : 0) + trips(g.loops[i]);
    }
  }
  for (const auto& [stride, turns] : byStride)
    if (stride <= run + kLineBytes / 2)
      run = stride * (turns - 1) + run;
    else
      count *= turns;
  double all = count * std::ceil(run / kLineBytes);
  const int64_t size = g.buffer.dtype().size();
  if (size > 0)
    all =
        std::min(all, std::ceil(static_cast<double>(size * g.buffer.dtype().base().itemsize()) / kLineBytes));
  return all;
}

double AccessTraffic::crowding(const AccessGroup& g, size_t inner) const {
  // Sets repeat every 4 kB in a first cache, and every 64 kB in a second one, of which lines 4 kB apart use the same part.
  constexpr int64_t kPeriod = 4096;
  const double run = std::max(kLineBytes, runBytes(g));
  int64_t bits = kPeriod;
  bool apart = false;
  for (size_t i = 0; i < std::min(inner, g.steps.size()); ++i)
    if (const int64_t bytes = std::abs(g.steps[i].bytes); static_cast<double>(bytes) > run)
      bits |= bytes, apart = true;
  std::vector<int64_t> offsets = g.offsets;
  std::ranges::sort(offsets);
  for (size_t i = 1; i < offsets.size(); ++i)
    if (const int64_t bytes = offsets[i] - offsets[i - 1]; static_cast<double>(bytes) > run)
      bits |= bytes, apart = true;
  return apart ? std::max(1.0, static_cast<double>(bits & -bits) / run) : 1;
}

void AccessTraffic::finish() {
  footprints_.assign(loops_.size(), 0);
  for (size_t l = 0; l < loops_.size(); ++l) {
    std::map<uint32_t, double> byBuffer;
    for (const AccessGroup& g : groups_) {
      const auto at = std::ranges::find(g.loops, static_cast<int>(l));
      if (l && at == g.loops.end()) continue;
      const size_t inner = l ? static_cast<size_t>(at - g.loops.begin()) + 1 : g.loops.size();
      double& most = byBuffer[g.buffer.id()];
      most = std::max(most, lines(g, inner) * kLineBytes * crowding(g, inner));
    }
    for (const auto& [buffer, bytes] : byBuffer) footprints_[l] += bytes;
  }
}

double AccessTraffic::linesFrom(const AccessGroup& g, double cacheBytes, double since) const {
  size_t fits = 0;
  while (fits < g.loops.size() && footprint(g.loops[fits]) <= cacheBytes) ++fits;
  if (fits == g.loops.size()) return footprint(0) + since <= cacheBytes ? 0 : lines(g, fits);
  double all = lines(g, fits + 1); // the loop that does not fit: only what changes is fetched
  for (size_t i = fits + 1; i < g.loops.size(); ++i) all *= trips(g.loops[i]);
  return all;
}

} // namespace uopscope
