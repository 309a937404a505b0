// Facts of a node, each computed from the same facts of its sources: bounds by interval arithmetic, ranges in
// scope, device.
//
// Bounds are int64 values. They are sound but not always tight. Arithmetic on them uses 128 bits; a result
// that leaves its type may have wrapped, so its bounds become those of the whole type. An index is assumed
// not to overflow: its bounds saturate. Unsigned 64-bit values above the largest int64 cannot be represented:
// the bounds [0, largest int64] of such a type mean "unknown".
#include "engine/uop/facts.h"

#include "engine/base/error.h"
#include "engine/uop/fact_store.h"
#include "engine/uop/unique.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

namespace uopscope {

namespace {

using Wide = __int128;
constexpr int64_t kLow = std::numeric_limits<int64_t>::min(), kHigh = std::numeric_limits<int64_t>::max();

struct Bounds {
  Wide lo, hi;
};

/// Computes a fact for u and all its transitive sources that lack it, sources first.
template <typename Has, typename Compute>
void ensure(UOp root, Has has, Compute compute) {
  if (has(root)) return;
  std::vector<UOp> stack{root};
  while (!stack.empty()) {
    UOp u = stack.back();
    if (has(u)) {
      stack.pop_back();
      continue;
    }
    size_t before = stack.size();
    for (UOp s : u.src())
      if (!has(s)) stack.push_back(s);
    if (stack.size() == before) {
      stack.pop_back();
      compute(u);
    }
  }
}

Facts& factsOf(UOp u) {
  return u.node()->pool->facts().of(u);
}

Bounds typeBounds(DType d) {
  if (d.isBool()) return {0, 1};
  if (!d.isInt()) return {kLow, kHigh};
  if (d.kind() == Scalar::UInt64) return {0, kHigh};
  return {dtypes::minInt(d), static_cast<Wide>(dtypes::maxInt(d))};
}

Bounds constBounds(DType d, const ConstValue& v) {
  if (v.isInvalid()) return {kLow, kHigh};
  if (v.kind == ConstValue::Kind::Float) {
    if (d.isFloat() || !(v.f > -9e18 && v.f < 9e18)) return typeBounds(d);
    return {static_cast<int64_t>(v.f), static_cast<int64_t>(v.f)};
  }
  if (d.kind() == Scalar::UInt64 && v.i < 0) return typeBounds(d);
  return {v.i, v.i};
}

/// The smallest 2^k - 1 that is at least v.
Wide fillBits(Wide v) {
  return v <= 0 ? 0 : (Wide{1} << std::bit_width(static_cast<uint64_t>(v))) - 1;
}

Bounds divide(Bounds x, Bounds y, Bounds all) {
  if (y.lo <= 0 && y.hi >= 0) return all;
  Wide q[] = {x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi};
  return {*std::min_element(q, q + 4), *std::max_element(q, q + 4)};
}

Bounds modulo(Bounds x, Bounds y, Bounds all) {
  Wide largest = std::max(y.hi < 0 ? -y.hi : y.hi, y.lo < 0 ? -y.lo : y.lo) - 1;
  if (y.lo <= 0 && y.hi >= 0) return all;
  if (x.lo >= 0 && y.lo == y.hi && x.lo / y.lo == x.hi / y.lo) return {x.lo % y.lo, x.hi % y.lo};
  return {x.lo >= 0 ? 0 : std::max(-largest, x.lo), x.hi <= 0 ? 0 : std::min(largest, x.hi)};
}

Bounds compareBounds(bool never, bool always) {
  return {always ? 1 : 0, never ? 0 : 1};
}

Bounds knownBounds(UOp source) {
  const Facts* f = source.node()->facts;
  return {f->vmin, f->vmax};
}

/// The bounds of a source as numbers: the top bound of an unsigned 64-bit number means "unknown", so it may be any.
Bounds wholeBounds(UOp source) {
  Bounds b = knownBounds(source);
  if (source.dtype().kind() == Scalar::UInt64 && b.hi == kHigh) b.hi = std::numeric_limits<uint64_t>::max();
  return b;
}

/// The largest value of the first branch in `n < c ? n * a : ...`, whose condition bounds n: where tiles overlap, the last one
/// begins at such a place.
Wide mostWhereLess(UOp where) {
  UOp condition = where.src(0), branch = where.src(1);
  if (!condition.is(Op::CMPLT) || where.dtype().count() > 1) return kHigh;
  if (condition.src(0).dtype().kind() == Scalar::UInt64) return kHigh; // its top bound means "unknown"
  const bool isMultiple = branch.is(Op::MUL) && branch.src(0) == condition.src(0);
  if (!isMultiple && branch != condition.src(0)) return kHigh;
  const Bounds a = isMultiple ? knownBounds(branch.src(1)) : Bounds{1, 1};
  const Wide most = knownBounds(condition.src(1)).hi - 1;
  return a.lo >= 0 && most >= 0 ? most * a.hi : kHigh;
}

/// The bounds of integer arithmetic, from those of its operands.
Bounds arithmeticBounds(UOp u, Bounds all) {
  auto of = [u](size_t i) { return knownBounds(u.src(i)); };
  auto whole = [u](size_t i) { return wholeBounds(u.src(i)); };
  switch (u.op()) {
  case Op::ADD: {
    Bounds x = of(0), y = of(1);
    if (u.dtype().isBool()) return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    return {x.lo + y.lo, x.hi + y.hi};
  }
  case Op::SUB: return {of(0).lo - of(1).hi, of(0).hi - of(1).lo};
  case Op::NEG: return {-of(0).hi, -of(0).lo};
  case Op::MUL: {
    Bounds x = of(0), y = of(1);
    Wide p[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
    return {*std::min_element(p, p + 4), *std::max_element(p, p + 4)};
  }
  case Op::IDIV: return divide(whole(0), whole(1), all);
  case Op::MOD: return modulo(whole(0), whole(1), all);
  case Op::MAX: return {std::max(of(0).lo, of(1).lo), std::max(of(0).hi, of(1).hi)};
  case Op::SHL:
    if (of(1).lo != of(1).hi || of(1).lo < 0 || of(1).lo > 62) return all;
    return {of(0).lo * (Wide{1} << static_cast<int>(of(1).lo)),
            of(0).hi * (Wide{1} << static_cast<int>(of(1).lo))};
  case Op::SHR:
    if (of(1).lo != of(1).hi || of(1).lo < 0 || of(1).lo > 62) return all;
    return {whole(0).lo >> static_cast<int>(of(1).lo), whole(0).hi >> static_cast<int>(of(1).lo)};
  case Op::AND: {
    Bounds x = of(0), y = of(1);
    if (u.dtype().isBool()) return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    if (x.lo >= 0 && y.lo >= 0) return {0, std::min(x.hi, y.hi)};
    if (x.lo >= 0) return {0, x.hi};
    if (y.lo >= 0) return {0, y.hi};
    return all;
  }
  case Op::OR:
  case Op::XOR: {
    Bounds x = of(0), y = of(1);
    if (u.dtype().isBool() && u.op() == Op::OR) return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    if (u.dtype().isBool())
      return x.lo == x.hi && y.lo == y.hi ? Bounds{x.lo ^ y.lo, x.lo ^ y.lo} : Bounds{0, 1};
    if (x.lo < 0 || y.lo < 0) return all;
    return {u.op() == Op::OR ? std::max(x.lo, y.lo) : 0, fillBits(std::max(x.hi, y.hi))};
  }
  case Op::WHERE: {
    if (u.src(1).isInvalidConst()) return of(2);
    if (u.src(2).isInvalidConst()) return of(1);
    Bounds c = of(0), x = of(1), y = of(2);
    if (c.lo == 1) return x;
    if (c.hi == 0) return y;
    x.hi = std::min(x.hi, mostWhereLess(u));
    return {std::min(x.lo, y.lo), std::max(x.hi, y.hi)};
  }
  case Op::CAST:
    // A float can have any value; an integer that fits the new type keeps its bounds.
    return u.src(0).dtype().isFloat() ? all : whole(0);
  default: return all;
  }
}

Bounds boundsFromSources(UOp u, Bounds all) {
  auto of = [u](size_t i) { return knownBounds(u.src(i)); };
  bool isInt = u.dtype().isInt() || u.dtype().isBool();
  switch (u.op()) {
  case Op::CONST: return constBounds(u.dtype(), u.constValue());
  case Op::VCONST: {
    Bounds b{kHigh, kLow};
    for (const ConstValue& v : u.arg().as<std::vector<ConstValue>>()) {
      Bounds c = constBounds(u.dtype(), v);
      b = {std::min(b.lo, c.lo), std::max(b.hi, c.hi)};
    }
    return b;
  }
  case Op::DEFINE_VAR: {
    if (u.arg().kind() != ArgKind::Var) return all;
    const auto& var = u.arg().as<VarArg>();
    return {var.vmin, var.vmax};
  }
  case Op::RANGE:
  case Op::SPECIAL: return {0, std::max(of(0).hi - 1, Wide{0})};
  case Op::BIND:
  case Op::AFTER:
  case Op::NOOP:
  case Op::UNROLL:
  case Op::CONTRACT:
  case Op::GEP: return isInt && u.srcCount() ? of(0) : all;
  case Op::VECTORIZE:
  case Op::CAT: {
    if (!isInt || !u.srcCount()) return all;
    Bounds b = of(0);
    for (size_t i = 1; i < u.srcCount(); ++i) b = {std::min(b.lo, of(i).lo), std::max(b.hi, of(i).hi)};
    return b;
  }
  default: break;
  }
  if (group::kComparison.has(u.op()) && (u.src(0).dtype().isInt() || u.src(0).dtype().isBool())) {
    Bounds x = of(0), y = of(1);
    bool apart = x.hi < y.lo || y.hi < x.lo, same = x.lo == x.hi && y.lo == y.hi && x.lo == y.lo;
    // The top bound of an unsigned 64-bit number means "unknown": x < y is then never certainly false.
    bool known = u.src(0).dtype().kind() != Scalar::UInt64 || y.hi < kHigh;
    if (u.op() == Op::CMPLT) return compareBounds(known && x.lo >= y.hi, x.hi < y.lo);
    if (u.op() == Op::CMPNE) return compareBounds(same, apart);
    return compareBounds(apart, same);
  }
  return isInt ? arithmeticBounds(u, all) : all;
}

void computeBounds(UOp u) {
  Bounds all = typeBounds(u.dtype());
  Bounds b = boundsFromSources(u, all);
  if (b.lo < all.lo || b.hi > all.hi) {
    if (u.dtype().kind() == Scalar::Index)
      b = {std::max(b.lo, all.lo), std::min(b.hi, all.hi)};
    else
      b = all;
  }
  Facts& f = factsOf(u);
  f.vmin = static_cast<int64_t>(b.lo);
  f.vmax = static_cast<int64_t>(b.hi);
  f.hasBounds = true;
}

/// The trailing sources of an operation that are the ranges it closes.
std::span<const UOp> closedRanges(UOp u) {
  size_t first = 0;
  switch (u.op()) {
  case Op::BUFFERIZE:
  case Op::REDUCE:
  case Op::END: first = 1; break;
  case Op::STORE: first = 2; break;
  case Op::WMMA: first = 3; break;
  default: return {};
  }
  return u.srcCount() > first ? u.src().subspan(first) : std::span<const UOp>();
}

/// Whether a CONTRACT makes lanes of this range, which is then no loop around the readers of the lanes.
bool makesLanesOf(UOp contract, UOp range) {
  if (contract.arg().kind() != ArgKind::Ints || range.arg().kind() != ArgKind::Range) return false;
  const std::vector<int64_t>&ids = range.arg().as<RangeArg>().ids,
        &axes = contract.arg().ints(); // id, size, id, size ...
  for (size_t i = 0; i + 1 < axes.size(); i += 2)
    if (ids.size() == 1 && ids[0] == axes[i]) return true;
  return false;
}

void computeRanges(UOp u) {
  if (!u.below().has(Op::RANGE)) {
    factsOf(u).ranges = u.node()->pool->facts().shareRanges({});
    return;
  }
  std::vector<UOp> in;
  auto add = [&](UOp r) {
    auto at = std::lower_bound(in.begin(), in.end(), r, [](UOp a, UOp b) { return a.id() < b.id(); });
    if (at == in.end() || *at != r) in.insert(at, r);
  };
  auto remove = [&](UOp r) { std::erase(in, r); };
  auto close = [&](UOp user) {
    for (UOp r : closedRanges(user)) {
      if (r.is(Op::RANGE))
        remove(r);
      else
        for (UOp inner : *r.node()->facts->ranges) remove(inner);
    }
  };
  // Mostly one source is inside of all the loops that the others are in.
  const std::vector<UOp>* shared = nullptr;
  bool allShared = true;
  auto holds = [](const std::vector<UOp>& all, const std::vector<UOp>& some) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end(),
                         [](UOp a, UOp b) { return a.id() < b.id(); });
  };
  for (UOp s : u.src()) {
    const std::vector<UOp>* r = s.node()->facts->ranges;
    if (r->empty() || r == shared) continue;
    if (!shared || (allShared && holds(*r, *shared)))
      shared = r;
    else if (!holds(*shared, *r))
      allShared = false;
  }
  constexpr OpSet kChanges{Op::RANGE, Op::BUFFERIZE, Op::REDUCE, Op::END,
                           Op::STORE, Op::WMMA,      Op::AFTER,  Op::CONTRACT};
  if (allShared && shared && !u.in(kChanges)) {
    factsOf(u).ranges = shared;
    return;
  }
  for (UOp s : u.src())
    for (UOp r : *s.node()->facts->ranges) add(r);
  close(u);
  if (u.is(Op::CONTRACT)) std::erase_if(in, [&](UOp r) { return makesLanesOf(u, r); });
  if (u.is(Op::AFTER))
    for (UOp s : u.src().subspan(1)) close(s);
  if (u.is(Op::RANGE)) add(u);
  factsOf(u).ranges = u.node()->pool->facts().shareRanges(in);
}

/// The DEVICE node of all devices of a MSTACK, "CPU,CPU:1"; null if a part is on none. The pool keeps it for as
/// long as the MSTACK lives.
UOp devicesOfParts(UOp stack) {
  std::string names;
  for (UOp part : stack.src()) {
    if (!part.node()->facts->device) return {};
    names += (names.empty() ? "" : ",") + part.device();
  }
  PoolScope scope(*stack.node()->pool);
  return deviceNode(names);
}

void computeDevice(UOp u) {
  Facts& f = factsOf(u);
  f.hasDevice = true;
  if (u.is(Op::DEVICE))
    f.device = u;
  else if (u.is(Op::MSTACK))
    f.device = devicesOfParts(u);
  else if (u.in({Op::BUFFER, Op::COPY, Op::ALLREDUCE})) {
    if (u.srcCount() > 1) f.device = u.src(1).node()->facts->device;
  } else {
    for (UOp s : u.src())
      if (!f.device) f.device = s.node()->facts->device;
  }
}

constexpr auto kHasBounds = [](UOp u) { return u.node()->facts && u.node()->facts->hasBounds; };
constexpr auto kHasRanges = [](UOp u) { return u.node()->facts && u.node()->facts->ranges; };
constexpr auto kHasShape = [](UOp u) { return u.node()->facts && u.node()->facts->hasShape; };
constexpr auto kHasDevice = [](UOp u) { return u.node()->facts && u.node()->facts->hasDevice; };

} // namespace

int64_t UOp::vmin() const {
  ensure(*this, kHasBounds, computeBounds);
  return node_->facts->vmin;
}
int64_t UOp::vmax() const {
  ensure(*this, kHasBounds, computeBounds);
  return node_->facts->vmax;
}

const std::vector<UOp>& UOp::ranges() const {
  ensure(*this, kHasRanges, computeRanges);
  return *node_->facts->ranges;
}

const std::optional<Shape>& shapeOf(UOp u) {
  ensure(u, kHasShape, [](UOp n) {
    // A Tensor's shape is asked for outside of any pool: new size nodes then go to the pool of the node.
    std::optional<PoolScope> scope;
    if (!Pool::hasCurrent()) scope.emplace(*n.node()->pool);
    std::optional<Shape> shape = computeShape(n);
    Facts& f = factsOf(n);
    f.shape = std::move(shape);
    f.hasShape = true;
  });
  return u.node()->facts->shape;
}
const Shape& UOp::shape() const {
  const auto& s = shapeOf(*this);
  if (!s) throw Error(ErrorKind::Shape, fmt::format("{} has no shape", opName(op())));
  return *s;
}
bool UOp::hasShape() const {
  return shapeOf(*this).has_value();
}

std::string UOp::device() const {
  ensure(*this, kHasDevice, computeDevice);
  UOp d = node_->facts->device;
  if (!d) return {};
  if (d.arg().kind() == ArgKind::String) return d.arg().str();
  std::string joined;
  for (const std::string& name : d.arg().as<std::vector<std::string>>())
    joined += (joined.empty() ? "" : ",") + name;
  return joined;
}

} // namespace uopscope
