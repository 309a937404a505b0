// Builds a graph from a pattern, types first: the type wanted of a node decides the types of its sources.
#include "engine/prove/instances.h"

#include "engine/rewrite/result.h"
#include "engine/uop/node_check.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::prove {

namespace {

constexpr DType kScalars[] = {dtypes::bool_,  dtypes::index, dtypes::int32,  dtypes::int64, dtypes::uint8,
                              dtypes::uint32, dtypes::int8,  dtypes::uint64, dtypes::int16, dtypes::uint16};
constexpr size_t kScalarTypes = std::size(kScalars) + 1; // and one float type
constexpr int64_t kIndexLimit = int64_t{1} << 62;        ///< bound of an index that may have any value
constexpr int kVectorLanes[] = {2, 4};
constexpr OpSet kFloatOnly{Op::EXP2, Op::LOG2, Op::SIN, Op::SQRT, Op::RECIPROCAL, Op::FDIV};
constexpr OpSet kIntsOnly{Op::IDIV, Op::MOD, Op::SHL, Op::SHR};
constexpr OpSet kBits{Op::AND, Op::OR, Op::XOR};

bool isConstSet(const PatNode& n) {
  return n.ops == OpSet{Op::CONST, Op::VCONST};
}
bool fits(const PatNode& n, DType d) {
  if (n.exactDtype) return d.bits() == n.exactDtype;
  return !n.dtypes || n.dtypes & maskOf(d);
}

/// Whether a node of the operation may have the pattern's sources. A COPY gets the device that a pattern leaves out.
bool takesSources(Op op, const PatNode& n) {
  const SourceLimits limits = sourceLimits(op);
  return !n.childCount || (n.childCount <= limits.most && (n.childCount >= limits.fewest || op == Op::COPY));
}

} // namespace

size_t Instances::types() {
  return kScalarTypes * 3;
}

UOp Instances::make(uint64_t seed) {
  random_.seed(seed * 0x9E3779B97F4A7C15ull + 1);
  bound_ = {};
  size_t type = seed % kScalarTypes, lanes = seed / kScalarTypes % 3;
  DType want = type < std::size(kScalars) ? kScalars[type] : float_;
  if (leaves_ == Leaves::Graphs && lanes) want = want.vec(kVectorLanes[lanes - 1]);
  root_ = build(rule_.pattern().size() - 1, want);
  return root_;
}

bool Instances::suits(Op op, DType want) const {
  if (group::kComparison.has(op)) return want.isBool();
  if (kFloatOnly.has(op)) return want.isFloat();
  if (kIntsOnly.has(op)) return want.isInt();
  if (kBits.has(op)) return (want.isInt() || want.isBool());
  if (op == Op::THREEFRY) return want.kind() == Scalar::UInt64;
  if (op == Op::SUB || op == Op::NEG) return !want.isBool();
  if (op == Op::POW) return want.isFloat() || (want.isInt() && want.kind() != Scalar::Index);
  if (op == Op::RANGE || op == Op::SPECIAL || op == Op::BIND) return want == dtypes::index;
  if (op == Op::BITCAST) return !want.isBool() && want.kind() != Scalar::Index;
  return true;
}

UOp Instances::build(size_t at, DType want) {
  const PatNode& n = rule_.pattern()[at];
  if (n.oneOf) {
    UOp u = build(n.children[pick(n.childCount)], want);
    if (u && n.var >= 0) bound_[static_cast<size_t>(n.var)] = u;
    return u;
  }
  if (n.var >= 0)
    if (UOp known = bound_[static_cast<size_t>(n.var)]) return known.dtype() == want ? known : UOp();
  if (!want.isPtr() && !fits(n, want)) return {};
  UOp u = buildNode(n, want);
  if (u && n.var >= 0) bound_[static_cast<size_t>(n.var)] = u;
  return u;
}

UOp Instances::buildNode(const PatNode& n, DType want) {
  if (n.argTest == PatNode::ArgTest::Number || n.literal) {
    if (want.count() != 1 || want.isPtr()) return {};
    UOp c = n.number == static_cast<double>(static_cast<int64_t>(n.number))
                ? UOp::constant(want, static_cast<int64_t>(n.number))
                : UOp::constant(want, n.number);
    return c.isConst(n.number) ? c : UOp();
  }
  if (n.argTest == PatNode::ArgTest::Equal && n.argKind == ArgKind::Invalid)
    return want == dtypes::index ? UOp::invalid() : UOp();
  if (n.ops.empty() && !n.childCount) return leaf(want, &n);
  if (isConstSet(n)) return leaves_ == Leaves::Unknowns ? leaf(want, &n) : constant(want);
  std::vector<Op> suitable;
  n.ops.forEach([&](Op op) {
    if (suits(op, want) && takesSources(op, n)) suitable.push_back(op);
  });
  if (suitable.empty()) return {};
  Op op = suitable[pick(suitable.size())];
  if (op == Op::INDEX || op == Op::LOAD || op == Op::STORE) return memory(n, op, want);
  if (!n.childCount) return buildAny(op, want);
  std::vector<UOp> src;
  if (op == Op::VECTORIZE) {
    for (int l = 0; l < want.count(); ++l) {
      src.push_back(build(n.children[n.mode == SrcMode::Repeat ? 0u : static_cast<size_t>(l) % n.childCount],
                          want.scalar()));
      if (!src.back()) return {};
    }
    return src.size() < 2 ? UOp() : UOp::make(Op::VECTORIZE, want, src);
  }
  if (op == Op::GEP) {
    int lanes = want.count() == 1 ? kVectorLanes[pick(2)] : want.count() * static_cast<int>(1 + pick(2));
    UOp from = build(n.children[0], want.scalar().vec(lanes));
    if (!from) return {};
    std::vector<int64_t> picked;
    bool inOrder = pick(3) == 0;
    for (int l = 0; l < want.count(); ++l)
      picked.push_back(inOrder ? l : static_cast<int64_t>(pick(static_cast<size_t>(lanes))));
    return UOp::make(Op::GEP, want, {from}, Arg::of(std::move(picked)));
  }
  if (!operands(n, op, want, src)) return {};
  if (op == Op::RANGE) return UOp::make(Op::RANGE, want, src, Arg::of(RangeArg{{7}, AxisType::Loop}));
  if (op == Op::SPECIAL) return UOp::make(Op::SPECIAL, want, src, Arg::of("gidx0"));
  if (op == Op::COPY && src.size() == 1) src.push_back(UOp::make(Op::NOOP, dtypes::void_, {})); // no device
  if (n.mode == SrcMode::AnyOrder && leaves_ == Leaves::Graphs && pick(2)) std::swap(src[0], src[1]);
  return UOp::make(op, want, src, op == Op::REDUCE ? Arg::of(Op::ADD) : Arg());
}

DType Instances::anyType(int lanes) {
  size_t k = pick(kScalarTypes);
  DType d = k < std::size(kScalars) ? kScalars[k] : float_;
  return lanes == 1 ? d : d.vec(lanes);
}

/// The type of the operands of a comparison or cast: one that all of the operands can have.
DType Instances::operandType(const PatNode& n, DType want) {
  for (uint8_t k = 0; k < n.childCount; ++k) {
    const PatNode& child = rule_.pattern()[n.children[k]];
    if (child.var >= 0 && bound_[static_cast<size_t>(child.var)])
      return bound_[static_cast<size_t>(child.var)].dtype();
  }
  for (int attempt = 0; attempt < 24; ++attempt) {
    DType d = anyType(want.count());
    bool all = true;
    for (uint8_t k = 0; k < n.childCount; ++k) {
      const PatNode& child = rule_.pattern()[n.children[k]];
      all &= fits(child, d);
      OpSet ops = child.ops & group::kAlu;
      bool possible = ops.empty();
      ops.forEach([&](Op op) { possible |= suits(op, d); });
      all &= possible;
    }
    if (all) return d;
  }
  return dtypes::int32;
}

bool Instances::operands(const PatNode& n, Op op, DType want, std::vector<UOp>& src) {
  if (want.isPtr()) return false;
  DType operand = want;
  if (group::kComparison.has(op) || op == Op::CAST) operand = operandType(n, want);
  if (op == Op::BITCAST) {
    operand = operandType(n, want);
    if (operand.itemsize() != want.itemsize() || operand.isBool() || operand.kind() == Scalar::Index)
      return false;
  }
  for (uint8_t k = 0; k < n.childCount; ++k) {
    DType d = op == Op::WHERE && k == 0 ? dtypes::bool_.vec(want.count()) : operand;
    UOp s = build(n.children[k], d);
    if (!s) return false;
    src.push_back(s);
  }
  return true;
}

UOp Instances::buildAny(Op op, DType want) {
  if (want.isPtr()) return {};
  auto some = [&](DType d) { return leaf(d, nullptr, 1); };
  if (op == Op::CONST) return constant(want);
  if (op == Op::DEFINE_VAR)
    return want == dtypes::index && pick(2) ? UOp::variable("one", 3, 3) : leaf(want.scalar(), nullptr, 9);
  if (op == Op::RANGE) return UOp::range(static_cast<int64_t>(1 + pick(3)), 5);
  if (op == Op::SPECIAL) return UOp::special(UOp::index(static_cast<int64_t>(1 + pick(8))), "gidx0");
  std::vector<UOp> src;
  if (op == Op::VECTORIZE) {
    if (want.count() < 2) return {};
    UOp same = some(want.scalar());
    bool equal = pick(2);
    for (int l = 0; l < want.count(); ++l) src.push_back(equal ? same : some(want.scalar()));
  } else if (op == Op::CAT) {
    if (want.count() < 4) return {};
    for (int k = 0; k < 2; ++k) src.push_back(some(want.scalar().vec(want.count() / 2)));
  } else if (op == Op::CAST || op == Op::BITCAST) {
    DType from = anyType(want.count());
    if (op == Op::BITCAST &&
        (from.itemsize() != want.itemsize() || from.isBool() || from.kind() == Scalar::Index))
      return {};
    src.push_back(some(from));
  } else if (group::kElementwise.has(op)) {
    DType operand = group::kComparison.has(op) ? anyType(want.count()) : want;
    size_t count = group::kTernary.has(op) ? 3 : group::kBinary.has(op) ? 2 : 1;
    for (size_t k = 0; k < count; ++k)
      src.push_back(some(op == Op::WHERE && k == 0 ? dtypes::bool_.vec(want.count()) : operand));
  } else {
    return {};
  }
  if (std::any_of(src.begin(), src.end(), [](UOp s) { return !s; })) return {};
  return UOp::make(op, want, src);
}

UOp Instances::address(const PatNode& n, DType element) {
  UOp buffer = n.childCount ? build(n.children[0], element.base().ptr(1024))
                            : UOp::make(Op::DEFINE_GLOBAL, element.base().ptr(1024), {}, Arg::of(int64_t{0}));
  UOp at = n.childCount > 1 ? build(n.children[1], dtypes::index) : index(1);
  if (!buffer || !at) return {};
  if (n.childCount < 2 && pick(2)) at = condition(1).where(at, UOp::invalid());
  std::vector<UOp> src{buffer, at};
  return UOp::make(Op::INDEX, element, src);
}

UOp Instances::memory(const PatNode& n, Op op, DType want) {
  if (want.count() != 1 || want.isVoid()) return {};
  if (op == Op::INDEX) return address(n, want);
  DType element = want.isPtr() ? dtypes::float32 : want;
  if (element.kind() == Scalar::Index) return {};
  UOp at = n.childCount ? build(n.children[0], element.ptr(1024)) : address(PatNode{}, element.ptr(1024));
  if (!at) return {};
  if (op == Op::LOAD) return UOp::make(Op::LOAD, element, {at});
  UOp value = n.childCount > 1 ? build(n.children[1], element) : leaf(element, nullptr, 1);
  return value ? UOp::make(Op::STORE, dtypes::void_, {at, value}) : UOp();
}

// --- leaves ---

UOp Instances::constant(DType want) {
  if (want.count() != 1 || want.isPtr()) return {};
  static constexpr int64_t kInts[] = {0, 1, 2, 3, 4, 7, 8, 16, -1, -2, -3, 6, 12, 100, 255, 5, 10};
  static constexpr double kFloats[] = {0, 1, 2, -1, 0.5, 3, -0.25, 100, 1.5, 4};
  if (want.isBool()) return UOp::boolean(pick(2));
  if (want.isFloat()) return UOp::constant(want, kFloats[pick(std::size(kFloats))]);
  if (want.kind() != Scalar::Index && pick(12) == 0)
    return UOp::constant(want, pick(2) ? dtypes::minInt(want) : static_cast<int64_t>(dtypes::maxInt(want)));
  return UOp::constant(want, kInts[pick(std::size(kInts))]);
}

UOp Instances::index(int depth) {
  switch (pick(depth > 2 ? 6 : 13)) {
  case 0: return UOp::range(8, 0);
  case 1: return UOp::range(6, 1);
  case 2: return UOp::range(3, 2);
  case 3: return UOp::variable("n", 1, 9);
  case 4: return UOp::variable("s", -6, 8);
  case 5: return pick(2) ? UOp::variable("m", -9, -1) : UOp::range(4, 3);
  case 6: return index(depth + 1) * static_cast<int64_t>(1 + pick(8));
  case 7: return index(depth + 1) + index(depth + 1);
  case 8: return index(depth + 1) * static_cast<int64_t>(1 + pick(6)) + index(depth + 1);
  case 9: return index(depth + 1) / static_cast<int64_t>(1 + pick(8));
  case 10: return index(depth + 1) % static_cast<int64_t>(1 + pick(8));
  case 11: return index(depth + 1) + static_cast<int64_t>(pick(20)) - 6;
  default: return index(depth + 1) * -static_cast<int64_t>(1 + pick(3));
  }
}

UOp Instances::condition(int depth) {
  if (depth < 3 && pick(4) == 0) return condition(depth + 1) & condition(depth + 1);
  if (pick(4) == 0) return UOp::variable(pick(2) ? "p" : "q", 0, 1, dtypes::bool_);
  UOp less = index(2) < static_cast<int64_t>(pick(16)) - 4;
  return pick(3) ? less : less.logicalNot();
}

UOp Instances::leaf(DType want, const PatNode* n, int depth) {
  if (want.isVoid()) return {};
  if (want.isPtr()) return UOp::make(Op::DEFINE_GLOBAL, want, {}, Arg::of(int64_t{0}));
  if (leaves_ == Leaves::Unknowns) {
    if (want.count() != 1) return {};
    std::string name = n && n->var >= 0 ? rule_.vars()[static_cast<size_t>(n->var)].data() : "any";
    if (want.isBool()) return UOp::variable(name, 0, 1, want);
    if (want.isFloat()) return UOp::variable(name, INT64_MIN, INT64_MAX, want);
    if (want.kind() == Scalar::UInt64) return UOp::variable(name, 0, INT64_MAX, want);
    if (want.kind() == Scalar::Index) return UOp::variable(name, -kIndexLimit, kIndexLimit, want);
    return UOp::variable(name, dtypes::minInt(want), static_cast<int64_t>(dtypes::maxInt(want)), want);
  }
  if (want.count() > 1) {
    std::vector<UOp> lanes;
    bool equal = pick(3) == 0;
    UOp same = leaf(want.scalar(), nullptr, depth);
    for (int l = 0; l < want.count(); ++l)
      lanes.push_back(equal ? same : leaf(want.scalar(), nullptr, depth));
    return UOp::make(Op::VECTORIZE, want, lanes);
  }
  if (depth < 5 && pick(5) == 0) return constant(want);
  if (want.isBool()) return condition(depth);
  if (want.kind() == Scalar::Index) return index(depth);
  static constexpr const char* kNames[] = {"a", "b", "d"};
  std::string name = kNames[pick(3)];
  if (want.isFloat()) return UOp::variable(name, INT64_MIN, INT64_MAX, want);
  bool full = pick(2);
  if (full)
    return UOp::variable(
        name, want.isUnsigned() ? 0 : dtypes::minInt(want),
        want.kind() == Scalar::UInt64 ? INT64_MAX : static_cast<int64_t>(dtypes::maxInt(want)), want);
  UOp small = UOp::variable(name + "s", want.isUnsigned() || pick(2) ? 0 : -20, 50, want);
  if (depth > 2 || pick(2)) return small;
  return pick(2) ? small + constant(want) : small * constant(want);
}

// --- results ---

UOp Instances::result() {
  const RuleDef* def = rule_.definition();
  if (!def || !def->hasExpression() || !root_) return {};
  return buildResult(def->result, {root_, bound_.data()});
}

} // namespace uopscope::prove
