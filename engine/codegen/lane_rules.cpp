// The rules of lanes in vectors: lanes that are known, and arithmetic wider than the target's.
#include "engine/codegen/lane_rules.h"

#include "engine/codegen/dot_products.h"
#include "engine/codegen/lanes.h"
#include "engine/codegen/memory.h"
#include "engine/uop/visit.h"

#include <algorithm>
#include <array>
#include <bit>

namespace uopscope {

namespace {

using namespace pat;

UOp knownLanes(Match& m) {
  UOp gep = m.root(), from = gep.src(0);
  constexpr OpSet kThrough{Op::VECTORIZE, Op::CONST, Op::VCONST, Op::GEP, Op::CAT, Op::PTRCAT};
  const auto& picked = gep.arg().ints();
  if (from.is(Op::AFTER)) return m.decline("lanes of an AFTER stay");
  if (!from.in(kThrough)) {
    UOp same = pickLanes(from, picked);
    return same == gep ? m.decline("it is known already") : same;
  }
  UOp result = pickLanes(from, picked);
  return result == gep ? m.decline("it is known already") : result;
}

/// A lane of arithmetic, a cast or a vector becomes the same operation on lanes of its sources.
UOp laneOfArithmetic(Match& m) {
  UOp gep = m.root(), from = gep.src(0);
  std::vector<UOp> sources;
  for (UOp s : from.src()) sources.push_back(pickLanes(s, gep.arg().ints()));
  return UOp::make(from.op(), withLanes(from.dtype(), static_cast<int>(gep.arg().ints().size())), sources,
                   from.arg());
}
/// Whether a condition compares values, if only with zero, as a cast does: it is computed for many lanes at once, as they are.
bool comparesValues(UOp condition) {
  return !visitBelow(condition, [](UOp u) {
    const bool compares = u.in(group::kComparison) || (u.is(Op::CAST) && u.dtype().isBool());
    if (compares && !u.src(0).dtype().isBool())
      return u.src(0).dtype().kind() == Scalar::Index ? Visit::Past : Visit::Stop;
    return u.in(group::kElementwise) ? Visit::Below : Visit::Past;
  });
}
UOp laneOfIndexArithmetic(Match& m) {
  UOp from = m.root().src(0);
  if (from.dtype().kind() != Scalar::Index && !from.dtype().isBool())
    return m.decline("no index and no condition");
  if (comparesValues(from)) return m.decline("a condition on values");
  return laneOfArithmetic(m);
}

/// Lanes of a condition that the target decides at once: as many as the compared values have. Conditions on addresses have
/// one, so that each lane of an access has a gate of its own.
int conditionLanes(const Target& target, UOp condition) {
  int lanes = 1;
  visitBelow(condition, [&](UOp u) {
    bool isVector = laneCount(u) > 1 || u.is(Op::GEP);
    if (!isVector || !u.dtype().isBool()) return Visit::Past;
    if (!u.in(group::kElementwise | OpSet{Op::CAT, Op::GEP, Op::VECTORIZE})) return Visit::Past;
    if (u.src(0).dtype().isBool()) return Visit::Below;
    lanes = std::max(lanes, aluLanes(target, u.src(0).dtype()));
    return Visit::Past;
  });
  return lanes;
}

/// Arithmetic on more lanes than the target does at once is cut. Integers are cut into powers of two: LLVM 19 drops a
/// mask from <11 x i8> where its values are widened and shuffled afterwards.
UOp cutArithmetic(Match& m) {
  UOp root = m.root();
  int n = laneCount(root);
  if (n == 1 || root.dtype().isPtr()) return m.decline("one lane");
  const Target& target = m.ctx<TargetContext>().target;
  int width = root.dtype().isBool() ? conditionLanes(target, root) : aluLanes(target, root.dtype());
  bool integers = root.dtype().isInt();
  for (UOp s : root.src()) {
    width = std::min(width, s.dtype().isBool() ? width : aluLanes(target, s.dtype()));
    integers |= s.dtype().isInt();
  }
  auto most = [&](int left) {
    return std::min(width, integers ? static_cast<int>(std::bit_floor(static_cast<unsigned>(left))) : left);
  };
  if (most(n) >= n) return m.decline("the device does all lanes at once");
  std::vector<UOp> parts;
  for (int first = 0, count = 0; first < n; first += count) {
    count = most(n - first);
    std::vector<UOp> sources;
    for (UOp s : root.src()) sources.push_back(sliceLanes(s, first, count));
    parts.push_back(UOp::make(root.op(), withLanes(root.dtype(), count), sources, root.arg()));
  }
  return joinLanes(parts);
}
/// Neighbouring tiles are computed one after the other by the tensor core; those of a dot product as many at once as a register
/// has lanes.
UOp cutTensorCore(Match& m) {
  UOp root = m.root();
  const WmmaArg& arg = root.arg().as<WmmaArg>();
  if (arg.upcastAxes.size() != 3 || root.srcCount() != 3) return m.decline("the operands have no axes");
  std::array<int64_t, 3> lanes{1, 1, 1};
  for (size_t s = 0; s < 3; ++s)
    for (auto [axis, size] : arg.upcastAxes[s]) lanes[s] *= size;
  const int64_t tiles = laneCount(root) / lanes[2],
                atOnce = isDotProduct(root) ? aluLanes(m.ctx<TargetContext>().target, root.dtype()) : 1;
  if (tiles <= atOnce) return m.decline("the device does all tiles at once");
  std::vector<UOp> parts;
  for (int64_t n = 0, count = 0; n < tiles; n += count) {
    count = std::min(atOnce, tiles - n);
    std::vector<UOp> sources;
    for (size_t s = 0; s < 3; ++s) sources.push_back(sliceLanes(root.src(s), n * lanes[s], count * lanes[s]));
    parts.push_back(UOp::make(Op::WMMA, withLanes(root.dtype(), static_cast<int>(count * lanes[2])), sources,
                              root.arg()));
  }
  return joinLanes(parts);
}
UOp flatCat(Match& m) {
  std::vector<UOp> lanes;
  for (UOp s : m.root().src()) {
    if (laneCount(s) == 1)
      lanes.push_back(s);
    else if (s.is(Op::VECTORIZE))
      lanes.insert(lanes.end(), s.src().begin(), s.src().end());
    else
      return m.decline("a source is no list of lanes");
  }
  return UOp::vectorize(lanes);
}
UOp constantLanes(Match& m) {
  std::vector<UOp> lanes;
  for (int i = 0; i < laneCount(m.root()); ++i) lanes.push_back(lane(m.root(), i));
  return UOp::vectorize(lanes);
}

constexpr RuleDef kLaneRules[] = {
    RULE("gep-known-lanes", any(Op::GEP), knownLanes),
    RULE("gep-of-index-arithmetic", op(Op::GEP, any(group::kElementwise)), laneOfIndexArithmetic),
    RULE("cut-tensor-core", any(Op::WMMA), cutTensorCore),
    RULE("cat-of-vectors", any(Op::CAT), flatCat),
    RULE("vconst-lanes", any(Op::VCONST), constantLanes),
    RULE("cut-arithmetic", any(group::kElementwise), cutArithmetic),
};
const KnownRules kLaneRulesKnown(kLaneRules);

} // namespace

std::span<const RuleDef> laneRules() {
  return kLaneRules;
}

} // namespace uopscope
