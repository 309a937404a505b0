// Finds the one sum of a kernel, and chooses strips.
#include "engine/codegen/strips.h"

#include "engine/base/integers.h"
#include "engine/codegen/ranges.h"
#include "engine/codegen/reduce.h"

#include <algorithm>

namespace uopscope {

namespace {

constexpr int64_t kStrip = 512;     ///< accumulators that stay in the first cache
constexpr int64_t kStripRows = 4;   ///< whose places the same number names
constexpr int64_t kStripLanes = 16; ///< of a strip whose steps lie apart in memory

} // namespace

bool findSum(UOp sink, OneSum& k) {
  if (onlyReduce(sink, k.sum) || !sink.src(0).src(0).is(Op::STORE)) return false;
  k.end = sink.src(0);
  k.store = k.end.src(0);
  if (k.store.srcCount() != 2 || !k.store.src(0).is(Op::INDEX)) return false;
  UOp memory = k.store.src(0).bufferOf();
  for (UOp u : sink.toposort())
    if (u.is(Op::INDEX) && u != k.store.src(0) && u.bufferOf() == memory) return false;
  for (size_t i = 1; i < k.end.srcCount(); ++i) {
    UOp loop = k.end.src(i);
    if (!loop.is(Op::RANGE) || loop.axisType() != AxisType::Loop || extentOf(loop) < 1) return false;
    k.loops.push_back(loop);
  }
  return k.sum.dtype().count() == 1;
}

Strip stripOf(const OneSum& k, std::span<const UOp> carriers, int64_t nextId, StripKind kind, UOp rows) {
  Strip s;
  const bool mayOverlap = kind == StripKind::Overlapping;
  auto carries = [&](UOp l) { return std::ranges::find(carriers, l) != carriers.end(); };
  AxisType type = AxisType::Loop;
  int64_t amount = 1;
  for (UOp l : k.loops)
    if (!carries(l) && coefficientOf(k.store.src(0).src(1), l) == 1 && extentOf(l) >= 4) s.loop = l;
  if (s.loop) {
    const int64_t n = extentOf(s.loop), shared = std::max<int64_t>(n / 2, kStripLanes);
    const int64_t most = std::min(kStrip, kind == StripKind::Whole ? n : shared);
    amount = divisorUpTo(n, most);
    if (mayOverlap && n > most && 2 * amount < most)
      amount = roundUp(ceilDiv(n, ceilDiv(n, most)), kStripLanes);
  } else if (mayOverlap) {
    type = AxisType::Upcast;
    for (UOp l : k.loops)
      if (!carries(l) && (!s.loop || extentOf(l) > extentOf(s.loop))) s.loop = l;
    if (s.loop) amount = divisorUpTo(extentOf(s.loop), kStripLanes);
    if (s.loop && 2 * amount < kStripLanes) amount = std::min(extentOf(s.loop), kStripLanes);
  } else if (rows) {
    s.loop = rows;
    amount = divisorUpTo(extentOf(rows), kStripRows);
  }
  if (amount > 1) {
    const int64_t n = extentOf(s.loop);
    s.inner = UOp::range(amount, nextId, type);
    UOp outer = s.loop.withSrc({UOp::index(ceilDiv(n, amount))}), start = outer * amount;
    if (n % amount) start = (outer < n / amount).where(start, UOp::index(n - amount));
    const bool whole = amount == n;
    s.replace[s.loop] = whole ? s.inner : start + s.inner;
    if (!whole) s.rest.push_back(outer);
  }
  for (UOp l : k.loops)
    if (!carries(l) && (amount == 1 || l != s.loop)) s.rest.push_back(l);
  return s;
}

std::vector<UOp> withInner(std::vector<UOp> loops, const Strip& s) {
  if (s.inner) loops.push_back(s.inner);
  return loops;
}

bool isIdentity(UOp u, Op how) {
  if (u.is(Op::INDEX)) return how == Op::ADD && u.src(1).isInvalidConst();
  return u.isConst() && u == identityElement(how, u.dtype());
}

} // namespace uopscope
