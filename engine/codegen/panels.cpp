// Chooses the reads of a product that are worth a panel, and makes the copy.
#include "engine/codegen/panels.h"

#include "engine/codegen/ranges.h"
#include "engine/rewrite/replacement.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <cstdint>

namespace uopscope {

namespace {

/// Smallest distance of rows in bytes that makes a panel worthwhile; nearer rows do not compete for places in
/// the cache.
constexpr int64_t kMinDistance = 2048;

/// The INDEX of a read, which may be a CAST of it.
UOp access(UOp read) {
  return read.is(Op::CAST) ? read.src(0) : read;
}

bool isLoop(UOp range) {
  return range.axisType() == AxisType::Loop || range.axisType() == AxisType::Thread;
}

/// The ranges that the panel is indexed by; none if the read is not worth a panel, or if it would not fit into `space` bytes, which
/// it takes otherwise.
std::vector<UOp> rowsOf(UOp read, UOp reduction, int64_t& space) {
  UOp index = access(read).src(1);
  if (access(read).srcCount() != 2 || index.is(Op::WHERE)) return {};
  UOp lanes;
  int64_t innermostUsed = -1;
  std::vector<UOp> loops;
  for (UOp r : reduction.ranges()) { // the ranges around the reduction
    bool used = index.dependsOn(r);
    if (isLoop(r)) {
      if (extentOf(r) < 0) return {};
      if (r.axisType() == AxisType::Loop) loops.push_back(r);
      if (used && r.axisType() == AxisType::Loop) innermostUsed = std::max(innermostUsed, idOf(r));
    } else if (r.axisType() == AxisType::Upcast && used) {
      if (lanes || !coefficientOf(index, r)) return {};
      lanes = r;
    }
  }
  if (!lanes) return {};
  double reuse = 1;
  for (UOp l : loops)
    if (!index.dependsOn(l) && idOf(l) > innermostUsed) reuse *= static_cast<double>(extentOf(l));
  std::vector<UOp> rows;
  int64_t count = 1, distance = INT64_MAX;
  for (UOp r : rangesIn(reduction.src().subspan(1))) {
    if (!index.dependsOn(r)) continue;
    auto stride = coefficientOf(index, r);
    // An unrolled range, whose terms are lanes, cannot be a row of the panel.
    if (r.axisType() != AxisType::Reduce || !stride) return {};
    rows.push_back(r);
    count *= extentOf(r);
    distance = std::min(distance, *stride * access(read).dtype().itemsize());
  }
  bool apart = *coefficientOf(index, lanes) != 1;
  if (!apart && distance < kMinDistance) return {};
  const int64_t bytes = count * extentOf(lanes) * read.dtype().itemsize();
  if (bytes > space || !worthPanel(apart, count, reuse, bytes)) return {};
  space -= bytes;
  return rows;
}

/// Terms that lie side by side, in lanes that lie apart: the copy goes by squares, whose rows are read as vectors of terms
/// and whose columns are written as vectors of lanes. Null where terms lie apart too, or do not fill a square.
UOp bySquares(UOp read, std::vector<UOp> rows, UOp reduction, int64_t width, int64_t& nextId,
              int64_t& number) {
  UOp index = access(read).src(1), lanes, term = UOp::index(0);
  for (UOp r : reduction.ranges())
    if (r.axisType() == AxisType::Upcast && index.dependsOn(r)) lanes = r;
  std::stable_sort(rows.begin(), rows.end(),
                   [&](UOp a, UOp b) { return *coefficientOf(index, a) < *coefficientOf(index, b); });
  int64_t count = 1, columns = extentOf(lanes);
  UOpMap<UOp> first;
  for (UOp r : rows) {
    if (*coefficientOf(index, r) != count) return {};
    term = r * count + term;
    count *= extentOf(r);
    first[r] = UOp::index(0);
  }
  if (width < 4 || count < width || columns % width || read.dtype().itemsize() != 4) return {};
  int64_t whole = count / width, rest = count % width;
  UOp outer = UOp::range(whole + (rest ? 1 : 0), nextId),
      inner = UOp::range(width, nextId + 1, AxisType::Upcast), part = UOp::range(columns / width, nextId + 2),
      lane = UOp::range(width, nextId + 3, AxisType::Upcast);
  nextId += 4;
  UOp memory = registersOf(read.dtype(), count * columns, number++);
  UOp start =
      outer * width; // of the last square, which overlaps the one before it, that it ends where the terms end
  if (rest) start = (outer < whole).where(start, UOp::index(count - width));
  UOp at = start + inner;
  const UOp column = part * width + lane; // a square at a time: its code stands once
  first[lanes] = column;
  UOp value = access(read).src(0).indexed({index.substitute(first) + at}, access(read).dtype());
  if (read.is(Op::CAST)) value = value.cast(read.dtype());
  UOp copy = memory.indexed({at * columns + column}).store(value).end({outer, part, inner, lane});
  return memory.after(std::span<const UOp>(&copy, 1)).indexed({term * columns + lanes}, read.dtype());
}

constexpr RuleDef kPanels[] = {RULE("read-from-panel", pat::any(OpSet{Op::INDEX, Op::CAST}), pat::entry())};

/// Reads of memory by the terms of a reduction, without those of reductions inside it. Where the terms need a small float
/// as a larger one, the panel holds the larger ones, so that each element is converted once. Small integers stay as they
/// are: LLVM has products for those.
std::vector<UOp> readsOf(UOp reduction) {
  std::vector<UOp> reads;
  auto isRead = [](UOp u) { return u.is(Op::INDEX) && u.src(0).is(Op::DEFINE_GLOBAL); };
  visitBelow(reduction.src(0), [&](UOp u) {
    if (u.is(Op::REDUCE)) return Visit::Past;
    const bool isWidened = u.is(Op::CAST) && isRead(u.src(0)) && u.dtype().isFloat() &&
                           u.src(0).dtype().isFloat() && u.dtype().itemsize() > u.src(0).dtype().itemsize();
    if (!isWidened && !isRead(u)) return Visit::Below;
    reads.push_back(u);
    return Visit::Past;
  });
  std::ranges::sort(reads, {}, &UOp::id);
  return reads;
}

/// The read served from a panel with these rows.
UOp fromPanel(UOp read, const std::vector<UOp>& rows, int64_t& nextId) {
  UOpMap<UOp> replace;
  std::vector<UOp> copied{read};
  for (UOp r : rows)
    copied.push_back(replace[r] = UOp::range(r.src(0), {nextId++}, AxisType::Loop, r.dtype()));
  copied[0] = read.substitute(replace);
  BufferizeOpts opts{{}, AddrSpace::Reg, false};
  UOp panel = UOp::make(Op::BUFFERIZE, read.dtype(), copied, Arg::of(opts));
  return panel.indexed(rows, read.dtype());
}

} // namespace

UOp packPanels(UOp ast, const Target& target, int64_t nextId) {
  if (target.hasLocal || target.aluLanes < 4) return ast;
  UOpMap<UOp> panels;
  std::vector<UOp> nodes = ast.toposort();
  int64_t number = nextRegister(nodes), space = kCopyBytes - registerBytes(nodes);
  for (UOp reduction : nodes) {
    if (!reduction.is(Op::REDUCE)) continue;
    const auto& around = reduction.ranges();
    if (std::ranges::any_of(around, [](UOp r) { return r.axisType() == AxisType::Reduce; })) continue;
    for (UOp read : readsOf(reduction)) {
      std::vector<UOp> rows = rowsOf(read, reduction, space);
      if (rows.empty()) continue;
      UOp squares = bySquares(read, rows, reduction, target.aluLanes, nextId, number);
      panels[read] = squares ? squares : fromPanel(read, rows, nextId);
    }
  }
  static const PatternMatcher usePanels({kPanels});
  return replaceNodes(ast, panels, usePanels, "panels");
}

} // namespace uopscope
