// Chooses the reads of a product that are worth a panel, and makes the copy.
#include "engine/codegen/panels.h"

#include "engine/base/integers.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/tile_cores.h"
#include "engine/codegen/tiling.h"
#include "engine/rewrite/replacement.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>

namespace uopscope {

namespace {

/// Smallest distance of rows in bytes that makes a panel worthwhile; nearer rows do not compete for places in
/// the cache.
constexpr int64_t kMinDistance = 2048;

/// Whether rows so many bytes apart drive each other out of the second cache: those a power of two apart share few of its sets. The
/// smallest such caches are of 512 kB, of 1 MB where registers have sixteen lanes.
bool rowsCompete(int64_t distance, int64_t rows, const Target& target) {
  if (distance >= kMinDistance) return true;
  constexpr int64_t kLine = 64, kSets = 1024, kManyLanes = 16;
  const int64_t ways = target.aluLanes < kManyLanes ? 8 : 16;
  return rows > std::min(kSets, kSets * kLine / std::gcd(distance, kSets * kLine)) * ways;
}

/// The INDEX of a read, which may be a CAST of it, or a byte whose sign is turned.
UOp access(UOp read) {
  while (read.in({Op::CAST, Op::BITCAST, Op::XOR})) read = read.src(0);
  return read;
}

bool isLoop(UOp range) {
  return range.axisType() == AxisType::Loop || range.axisType() == AxisType::Thread;
}

/// The range whose steps are the terms of one lane, of an operand of a dot product; null for other reads.
UOp groupOf(UOp read, UOp reduction) {
  const auto& around = reduction.ranges();
  const std::vector<UOp> over = rangesIn(reduction.src().subspan(1));
  for (UOp r : access(read).src(1).ranges())
    if (r.axisType() == AxisType::Unroll && std::ranges::find(around, r) == around.end() &&
        std::ranges::find(over, r) == over.end())
      return r;
  return {};
}

/// Whether all neighbouring lanes of the reduction use the same elements of a read: it has rows, at most, in its lanes.
bool isShared(UOp read, UOp reduction) {
  const UOp last = lastLanesOf(reduction);
  return last && !read.dependsOn(last);
}

/// The loops around a reduction that a read depends on and the panel spans, and how many times it is read again.
struct Span {
  std::vector<UOp> loops;
  double reuse = 1;
};
/// A panel of lanes is made for each of its loops, and read again by those inside of them. One of an operand that all lanes
/// share is made in front of the outermost loop that reads it again.
Span spanOf(UOp read, const std::vector<UOp>& loops, bool shared) {
  int64_t innermostUsed = -1, outermostFree = INT64_MAX;
  for (UOp l : loops)
    if (read.dependsOn(l))
      innermostUsed = std::max(innermostUsed, idOf(l));
    else
      outermostFree = std::min(outermostFree, idOf(l));
  Span span;
  for (UOp l : loops) {
    const bool used = read.dependsOn(l); // or what it reads, such as a copy of a picture, does
    if (!used && (shared || idOf(l) > innermostUsed)) span.reuse *= static_cast<double>(extentOf(l));
    if (used && shared && idOf(l) > outermostFree) span.loops.push_back(l);
  }
  return span;
}

/// The ranges that the panel is indexed by; none if the read is not worth a panel, or if it would not fit into `space` bytes,
/// which it takes otherwise. `group` terms of a lane lie together; `isCut`: the ranges count groups, not terms.
std::vector<UOp> rowsOf(UOp read, UOp reduction, const Target& target, int64_t group, int64_t& space,
                        bool isCut = true) {
  UOp index = access(read).src(1);
  if (access(read).srcCount() != 2 || index.is(Op::WHERE)) return {};
  UOp lanes;
  std::vector<UOp> loops;
  for (UOp r : reduction.ranges()) { // the ranges around the reduction
    if (isLoop(r)) {
      if (extentOf(r) < 0) return {};
      if (r.axisType() == AxisType::Loop) loops.push_back(r);
    } else if (r.axisType() == AxisType::Upcast && index.dependsOn(r)) {
      if (lanes || !coefficientOf(index, r)) return {};
      lanes = r;
    }
  }
  if (!lanes) return {};
  const bool shared = group > 1 && isShared(read, reduction);
  const Span span = spanOf(read, loops, shared);
  std::vector<UOp> rows = span.loops;
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
  if (!isCut) count /= group;
  const bool sideBySide = *coefficientOf(index, lanes) == 1, apart = group > 1 || !sideBySide;
  if (!apart && !rowsCompete(distance, count, target)) return {};
  int64_t bytes = count * extentOf(lanes) * read.dtype().itemsize() * group;
  for (UOp l : span.loops) bytes *= extentOf(l);
  if (shared && !sideBySide && !servesShared(span.reuse, bytes)) return {};
  if (bytes > space || !worthPanel(apart, count, span.reuse, bytes)) return {};
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
  const std::vector<UOp> over = rangesIn(reduction.src().subspan(1));
  if (rows.empty() ||
      std::ranges::any_of(rows, [&](UOp r) { return std::ranges::find(over, r) == over.end(); }))
    return {};
  std::stable_sort(rows.begin(), rows.end(),
                   [&](UOp a, UOp b) { return *coefficientOf(index, a) < *coefficientOf(index, b); });
  // What moves together: an element, or the terms of a lane that lie side by side.
  const UOp group = groupOf(read, reduction);
  const int64_t together = group ? extentOf(group) : 1;
  if (group && coefficientOf(index, group) != 1) return {};
  int64_t count = 1, columns = extentOf(lanes);
  UOpMap<UOp> first;
  for (UOp r : rows) {
    if (*coefficientOf(index, r) != count * together) return {};
    term = r * count + term;
    count *= extentOf(r);
    first[r] = UOp::index(0);
  }
  // A square has at most as many elements as a value has lanes.
  const int64_t side = std::min(width, kMostPlaces / (width * together));
  if (width < 4 || count < side || columns % width || read.dtype().itemsize() * together != 4) return {};
  UOp outer = UOp::range(ceilDiv(count, side), nextId),
      inner = UOp::range(side, nextId + 1, AxisType::Upcast), part = UOp::range(columns / width, nextId + 2),
      lane = UOp::range(width, nextId + 3, AxisType::Upcast);
  nextId += 4;
  std::vector<UOp> loops{outer, part, inner, lane};
  UOp memory = registersOf(read.dtype(), count * columns * together, number++);
  UOp start = startOfPart(outer, side, count);
  UOp at = start + inner;
  const UOp column = part * width + lane; // a square at a time: its code stands once
  first[rows[0]] = at;
  first[lanes] = column;
  UOp to = at * columns + column, from = term * columns + lanes;
  if (group) {
    UOp each = UOp::range(together, nextId++, AxisType::Upcast);
    loops.push_back(first[group] = each);
    to = to * together + each, from = from * together + group;
  }
  UOp copy = memory.indexed({to}).store(read.substitute(first)).end(loops);
  return memory.after(std::span<const UOp>(&copy, 1)).indexed({from}, read.dtype());
}

/// Whether a value is a small float that its reduction needs as a larger one.
bool isWidened(UOp u) {
  return u.is(Op::CAST) && u.dtype().isFloat() && u.src(0).dtype().isFloat() &&
         u.dtype().itemsize() > u.src(0).dtype().itemsize();
}
/// Whether it is a number with some of its bits turned, such as a byte of the other sign (dot_products.h).
bool isTurned(UOp read) {
  if (!read.in({Op::BITCAST, Op::XOR})) return false;
  while (read.is(Op::BITCAST) || (read.is(Op::XOR) && read.src(1).isConst())) read = read.src(0);
  return read.is(Op::INDEX);
}

/// What an operand that all lanes share depends on, where its terms lie side by side.
struct SharedRows {
  UOp row;                ///< the range of a tile's rows
  std::vector<UOp> loops; ///< around the reduction
  std::vector<UOp> terms; ///< the innermost first
  int64_t count = 1;      ///< terms of a row
};
std::optional<SharedRows> sharedRowsOf(UOp read, UOp reduction) {
  const UOp index = access(read).src(1);
  if (!isShared(read, reduction) || access(read).srcCount() != 2 || index.is(Op::WHERE)) return {};
  SharedRows found;
  for (UOp r : reduction.ranges()) {
    if (extentOf(r) < 0) return {};
    if (r.axisType() == AxisType::Loop) found.loops.push_back(r);
    if (r.axisType() != AxisType::Upcast || !index.dependsOn(r)) continue;
    if (found.row || !coefficientOf(index, r)) return {};
    found.row = r;
  }
  for (UOp r : rangesIn(reduction.src().subspan(1)))
    if (index.dependsOn(r)) {
      if (r.axisType() != AxisType::Reduce || !coefficientOf(index, r)) return {};
      found.terms.push_back(r);
    }
  if (!found.row || found.terms.empty()) return {};
  std::ranges::stable_sort(found.terms, {}, [&](UOp r) { return *coefficientOf(index, r); });
  if (const UOp group = groupOf(read, reduction)) found.terms.insert(found.terms.begin(), group);
  for (UOp r : found.terms) {
    if (coefficientOf(index, r) != found.count) return {};
    found.count *= extentOf(r);
  }
  return found;
}

/// An operand that all lanes share, widened or turned: its rows are converted as vectors, term after term, where each of their
/// elements would be converted alone for every tile. All rows that the loops inside of the outermost loop that reads them again
/// need, where they fit a panel and are read often; else those of a tile. Null for other reads.
UOp byRows(UOp read, UOp reduction, int64_t width, int64_t& space, int64_t& nextId, int64_t& number) {
  if (!isWidened(read) && !isTurned(read)) return {};
  const auto rows = sharedRowsOf(read, reduction);
  width = width * 4 / std::min(4, read.dtype().itemsize()); // whole registers
  if (!rows || rows->count < width) return {};
  const int64_t count = rows->count;
  Span span = spanOf(read, rows->loops, true);
  span.loops.push_back(rows->row);
  auto bytesOf = [&] {
    int64_t bytes = count * read.dtype().itemsize();
    for (UOp l : span.loops) bytes *= extentOf(l);
    return bytes;
  };
  if (!worthPanel(true, count, span.reuse, bytesOf()) || bytesOf() > space) span.loops = {rows->row};
  const int64_t bytes = bytesOf();
  if (bytes > std::min(space, kPanelBytes)) return {};
  space -= bytes;

  UOpMap<UOp> first;
  UOp term = UOp::index(0), to = term, from = term;
  int64_t before = 1;
  for (UOp r : rows->terms) {
    term = r * before + term;
    before *= extentOf(r);
    first[r] = UOp::index(0);
  }
  std::vector<UOp> copied;
  for (UOp l : span.loops) {
    copied.push_back(first[l] = UOp::range(extentOf(l), nextId++));
    to = to * extentOf(l) + first[l], from = from * extentOf(l) + l;
  }
  UOp step = UOp::range(ceilDiv(count, width), nextId++),
      lane = UOp::range(width, nextId++, AxisType::Upcast), start = startOfPart(step, width, count);
  copied.push_back(step), copied.push_back(lane);
  first[rows->terms[0]] = start + lane;
  UOp memory = registersOf(read.dtype(), bytes / read.dtype().itemsize(), number++);
  UOp copy = memory.indexed({to * count + start + lane}).store(read.substitute(first)).end(copied);
  return memory.after(std::span<const UOp>(&copy, 1)).indexed({from * count + term}, read.dtype());
}

/// Terms that are lanes and lie apart, such as those of b in a @ b: the panel has a row of lanes for each row of the tile, and is made in
/// front of all loops that read it again. Null for other reads.
UOp byTerms(UOp read, UOp reduction, int64_t width, int64_t& space, int64_t& nextId, int64_t& number) {
  if (!read.is(Op::INDEX) || read.srcCount() != 2 || read.dtype().itemsize() < 4) return {};
  const UOp index = read.src(1);
  if (index.is(Op::WHERE)) return {};
  auto isLinear = [&](UOp r) { return extentOf(r) > 0 && coefficientOf(index, r); };
  UOp lanes;
  std::vector<UOp> places, loops; // the ranges that the panel is indexed by, the outermost first
  int64_t terms = 1;
  for (UOp r : rangesIn(reduction.src().subspan(1))) {
    if (!index.dependsOn(r)) continue;
    const bool isLane = r.axisType() == AxisType::Unroll;
    if (!isLinear(r) || (isLane && lanes) || (!isLane && r.axisType() != AxisType::Reduce)) return {};
    terms *= extentOf(r);
    if (isLane)
      lanes = r;
    else
      places.push_back(r);
  }
  width = width * 4 / read.dtype().itemsize();
  if (!lanes || coefficientOf(index, lanes) == 1 || width < 1 || extentOf(lanes) % width) return {};
  for (UOp r : reduction.ranges()) {
    const bool isUsed = index.dependsOn(r);
    if (isUsed && (!isLinear(r) || (!isLoop(r) && r.axisType() != AxisType::Upcast))) return {};
    if (r.axisType() == AxisType::Loop && extentOf(r) < 0) return {};
    if (r.axisType() == AxisType::Loop) loops.push_back(r);
    if (isUsed && r.axisType() == AxisType::Upcast) places.push_back(r);
  }
  const Span span = spanOf(read, loops, true);
  places.insert(places.begin(), span.loops.begin(), span.loops.end());
  int64_t elements = extentOf(lanes);
  for (UOp r : places) elements *= extentOf(r);
  const int64_t bytes = elements * read.dtype().itemsize();
  if (elements > terms * kMostColumns || bytes > space || !worthPanel(true, terms, span.reuse, bytes))
    return {};
  space -= bytes;

  UOpMap<UOp> first;
  std::vector<UOp> copied;
  UOp to = UOp::index(0), from = to;
  for (UOp r : places) {
    copied.push_back(first[r] = UOp::range(extentOf(r), nextId++));
    to = to * extentOf(r) + first[r], from = from * extentOf(r) + r;
  }
  copied.push_back(first[lanes] = UOp::range(extentOf(lanes), nextId++, AxisType::Upcast));
  to = to * extentOf(lanes) + first[lanes], from = from * extentOf(lanes) + lanes;
  UOp memory = registersOf(read.dtype(), elements, number++);
  UOp copy = memory.indexed({to}).store(read.substitute(first)).end(copied);
  return memory.after(std::span<const UOp>(&copy, 1)).indexed({from}, read.dtype());
}

constexpr RuleDef kPanels[] = {
    RULE("read-from-panel", pat::any(OpSet{Op::INDEX, Op::CAST, Op::BITCAST, Op::XOR}), pat::entry())};
const KnownRules kPanelsKnown(kPanels);

/// Reads of memory by the terms of a reduction, without those of reductions inside it. Where the terms need a small float
/// as a larger one, the panel holds the larger ones, so that each element is converted once. Small integers stay as they
/// are: LLVM has products for those.
std::vector<UOp> readsOfTerms(UOp reduction) {
  std::vector<UOp> reads;
  auto isRead = [&](UOp u) {
    return u.is(Op::INDEX) && (u.src(0).is(Op::DEFINE_GLOBAL) || groupOf(u, reduction));
  };
  visitBelow(reduction.src(0), [&](UOp u) {
    if (u.is(Op::REDUCE)) return Visit::Past;
    const bool widens = isWidened(u) && isRead(u.src(0));
    const bool turns = isTurned(u) && isRead(access(u)) && isShared(u, reduction);
    if (!widens && !turns && !isRead(u)) return Visit::Below;
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

bool servesGroups(UOp read, UOp reduction, const Target& target, int64_t terms) {
  int64_t space = kCopyBytes;
  return !rowsOf(read, reduction, target, terms, space, false).empty();
}

UOp packPanels(UOp ast, const Target& target, int64_t nextId) {
  if (target.hasLocal || target.aluLanes < 4) return ast;
  UOpMap<UOp> panels;
  std::vector<UOp> nodes = ast.toposort();
  int64_t number = nextRegister(nodes), space = kCopyBytes - registerBytes(nodes);
  for (UOp reduction : nodes) {
    if (!reduction.is(Op::REDUCE)) continue;
    if (reduction.src(0).is(Op::UNROLL) && isTileProduct(reduction.src(0).src(0))) continue; // packTiles did
    const auto& around = reduction.ranges();
    if (std::ranges::any_of(around, [](UOp r) { return r.axisType() == AxisType::Reduce; })) continue;
    for (UOp read : readsOfTerms(reduction)) {
      const UOp group = groupOf(read, reduction);
      UOp copied = byRows(read, reduction, target.aluLanes, space, nextId, number);
      if (!copied) copied = byTerms(read, reduction, target.aluLanes, space, nextId, number);
      if (copied) {
        panels[read] = copied;
        continue;
      }
      if (group && isShared(read, reduction) && coefficientOf(access(read).src(1), group) == 1) continue;
      std::vector<UOp> rows = rowsOf(read, reduction, target, group ? extentOf(group) : 1, space);
      if (rows.empty()) continue;
      UOp squares = bySquares(read, rows, reduction, target.aluLanes, nextId, number);
      panels[read] = squares ? squares : fromPanel(read, rows, nextId);
    }
  }
  static const PatternMatcher usePanels({kPanels});
  return replaceNodes(ast, panels, usePanels, "panels");
}

} // namespace uopscope
