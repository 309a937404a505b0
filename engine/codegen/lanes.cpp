// Lanes of vectors. Every function looks through GEP, CAT and VECTORIZE before it makes a node.
#include "engine/codegen/lanes.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace uopscope {

UOp lane(UOp v, int64_t i) {
  for (;;) {
    const int count = laneCount(v);
    if (count == 1) return v;
    if (i < 0 || i >= count)
      throw Error(ErrorKind::Spec, fmt::format("lane {} of {}, which has {}", i, opName(v.op()), count));
    auto at = static_cast<size_t>(i);
    if (v.is(Op::VECTORIZE)) return v.src(at);
    if (v.isConst()) return v.withDtype(v.dtype().scalar());
    if (v.is(Op::VCONST)) return UOp::constant(v.dtype().scalar(), v.arg().as<std::vector<ConstValue>>()[at]);
    if (v.is(Op::GEP)) {
      i = v.arg().ints()[at];
      v = v.src(0);
      continue;
    }
    if (v.is(Op::CAT) || v.is(Op::PTRCAT)) {
      for (UOp part : v.src()) {
        int64_t n = laneCount(part);
        if (i < n) {
          v = part;
          break;
        }
        i -= n;
      }
      continue;
    }
    return v.gep({i});
  }
}

UOp pickLanes(UOp v, const std::vector<int64_t>& picked) {
  if (picked.size() == 1) return lane(v, picked[0]);
  if (v.isConst()) return v.withDtype(v.dtype().scalar().vec(static_cast<int>(picked.size())));
  bool same = static_cast<size_t>(laneCount(v)) == picked.size();
  for (size_t k = 0; k < picked.size() && same; ++k) same = picked[k] == static_cast<int64_t>(k);
  if (same) return v;
  std::vector<UOp> scalars;
  scalars.reserve(picked.size());
  for (int64_t i : picked) scalars.push_back(lane(v, i));
  return joinLanes(scalars);
}

UOp sliceLanes(UOp v, int64_t first, int64_t count) {
  std::vector<int64_t> picked(static_cast<size_t>(count));
  for (int64_t k = 0; k < count; ++k) picked[static_cast<size_t>(k)] = first + k;
  return pickLanes(v, picked);
}

UOp joinLanes(const std::vector<UOp>& parts) {
  if (parts.size() == 1) return parts[0];
  auto total = [&] {
    int lanes = 0;
    for (UOp u : parts) lanes += laneCount(u);
    return lanes;
  };
  // One constant in every lane.
  auto isFirst = [&](UOp u) { return u.isConst() && !u.dtype().isPtr() && u.arg() == parts[0].arg(); };
  if (std::all_of(parts.begin(), parts.end(), isFirst)) return lane(parts[0], 0).broadcast(total());
  // Single lanes of one vector: one GEP of that vector replaces them.
  auto single = [](UOp u) { return u.is(Op::GEP) && u.arg().ints().size() == 1; };
  if (std::all_of(parts.begin(), parts.end(),
                  [&](UOp u) { return single(u) && u.src(0) == parts[0].src(0); })) {
    UOp whole = parts[0].src(0);
    std::vector<int64_t> picked;
    for (UOp u : parts) picked.push_back(u.arg().ints()[0]);
    bool identity = static_cast<size_t>(laneCount(whole)) == picked.size();
    for (size_t k = 0; k < picked.size() && identity; ++k) identity = picked[k] == static_cast<int64_t>(k);
    return identity ? whole : whole.gep(picked);
  }
  if (std::all_of(parts.begin(), parts.end(), [](UOp u) { return laneCount(u) == 1; }))
    return UOp::vectorize(parts);
  return UOp::make(Op::CAT, withLanes(parts[0].dtype(), total()), parts);
}

UOp laneNumbers(int64_t n, DType scalar) {
  std::vector<UOp> numbers;
  for (int64_t i = 0; i < n; ++i) numbers.push_back(UOp::constant(scalar, i));
  return UOp::vectorize(numbers);
}

namespace {
/// The first half of the lanes combined with the second.
UOp halved(UOp value, Op how) {
  const int half = laneCount(value) / 2;
  return sliceLanes(value, 0, half).alu(how, {sliceLanes(value, half, half)});
}
} // namespace

UOp combineLanes(UOp value, Op how) {
  UOp all;
  for (int first = 0, lanes = laneCount(value); first < lanes;) {
    const int size = static_cast<int>(std::bit_floor(static_cast<unsigned>(lanes - first)));
    const UOp part = sliceLanes(value, first, size);
    for (first += size; all && laneCount(all) > size;) all = halved(all, how);
    all = all ? all.alu(how, {part}) : part;
  }
  while (laneCount(all) > 1) all = halved(all, how);
  return all;
}

namespace {
/// Whether lane i of a value, a GEP of several lanes or a VECTORIZE of single ones, is that lane of `whole`. Makes no node, since a renderer
/// asks, whose graph may belong to another pool.
bool isLaneOf(UOp value, int i, UOp whole, int64_t lane) {
  const UOp picked = value.is(Op::VECTORIZE) ? value.src(static_cast<size_t>(i)) : value;
  if (!picked.is(Op::GEP) || picked.src(0) != whole) return false;
  return picked.arg().ints()[picked == value ? static_cast<size_t>(i) : 0] == lane;
}
} // namespace

UOp combinedVector(UOp scalar) {
  UOp all = scalar;
  for (int lanes = 1; laneCount(all) == lanes && all.is(scalar.op()) && all.srcCount() == 2; lanes *= 2) {
    const UOp half = all.src(0), first = half.is(Op::VECTORIZE) ? half.src(0) : half;
    const UOp whole = first.is(Op::GEP) ? first.src(0) : UOp();
    if (!whole || laneCount(whole) != 2 * lanes) break;
    bool isHalved = true;
    for (int i = 0; i < 2 * lanes; ++i) isHalved &= isLaneOf(all.src(i / lanes), i % lanes, whole, i);
    if (!isHalved) break;
    all = whole;
  }
  return all == scalar ? UOp() : all;
}

} // namespace uopscope
