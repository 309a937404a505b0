// Random instances of patterns and random index expressions, for tests that compare values before and after.
// Deterministic: the same seed gives the same graphs.
#pragma once
#include "engine/rewrite/rule.h"
#include "engine/rules/algebra.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace uopscope::testing {

inline bool sameValue(const ConstValue& a, const ConstValue& b) {
  if (a.kind != ConstValue::Kind::Float && b.kind != ConstValue::Kind::Float) return a.i == b.i;
  double x = a.asDouble(), y = b.asDouble();
  return (x != x && y != y) || x == y || std::abs(x - y) <= 1e-4 * std::max(std::abs(x), std::abs(y));
}

/// Builds nodes that a pattern matches, with fresh variables for the parts that it leaves open.
class Instance {
public:
  Instance(const Rule& rule, std::mt19937& random) : rule_(rule), random_(random) {}

  /// Null where the pattern needs nodes that this cannot make (memory, vectors ...) or the dtypes do not
  /// agree.
  UOp build(DType dtype) {
    bound_.clear();
    variables_.clear();
    return node(rule_.pattern().size() - 1, dtype);
  }
  const std::vector<UOp>& variables() const { return variables_; }

  ConstValue randomValue(UOp variable) {
    DType d = variable.dtype();
    if (d.isFloat()) {
      constexpr double values[] = {0.5, 1, 1.5, 2, 3, -1, -2.25, 4};
      return ConstValue::ofFloat(values[random_() % std::size(values)]);
    }
    const auto& var = variable.arg().as<VarArg>();
    int64_t v = random_() % 3 == 0 ? var.vmin : random_() % 3 == 0 ? var.vmax : var.vmin;
    auto span = static_cast<uint64_t>(var.vmax) - static_cast<uint64_t>(var.vmin);
    if (random_() % 2)
      v = static_cast<int64_t>(static_cast<uint64_t>(var.vmin) +
                               (span == UINT64_MAX ? wide() : wide() % (span + 1)));
    return d.isBool() ? ConstValue::ofBool(v != 0) : ConstValue::ofInt(v);
  }

private:
  uint64_t wide() { return uint64_t{random_()} << 32 | random_(); }
  bool chance(int n) { return random_() % static_cast<unsigned>(n) == 0; }
  DType anyDtype() {
    constexpr DType kinds[] = {dtypes::index, dtypes::uint64, dtypes::int32,   dtypes::uint8,
                               dtypes::int64, dtypes::uint32, dtypes::float32, dtypes::bool_};
    return kinds[random_() % std::size(kinds)];
  }
  UOp variable(DType d) {
    int64_t low = 0, high = 1;
    if (d.isInt()) {
      low = static_cast<int64_t>(random_() % 40) - 20;
      high = low + static_cast<int64_t>(random_() % 30);
      if (chance(2)) low = 0, high = static_cast<int64_t>(random_() % 12);
      if (chance(4) && d.kind() != Scalar::Index && d.kind() != Scalar::UInt64) {
        low = dtypes::minInt(d);
        high = static_cast<int64_t>(dtypes::maxInt(d));
      }
      if (d.isUnsigned()) low = std::max<int64_t>(low, 0), high = std::max(high, low);
    }
    UOp v = UOp::variable("v" + std::to_string(variables_.size()), low, high, d);
    variables_.push_back(v);
    return v;
  }
  UOp constant(DType d) {
    if (d.isFloat())
      return UOp::constant(d, std::ldexp(1.0, static_cast<int>(random_() % 5) - 2) * (chance(3) ? -1 : 1));
    if (d.isBool()) return UOp::boolean(chance(2));
    int64_t v = static_cast<int64_t>(random_() % 16) - (d.isUnsigned() ? 0 : 5);
    return UOp::constant(d, v);
  }
  UOp bind(const PatNode& n, UOp u) {
    if (u && n.var >= 0) bound_[n.var] = u;
    return u;
  }
  UOp leaf(const PatNode& n, DType d) {
    if (n.dtypes && !(n.dtypes & maskOf(d))) return {};
    if (n.argTest == PatNode::ArgTest::Equal)
      return n.argKind == ArgKind::Invalid && d.kind() == Scalar::Index ? UOp::invalid() : UOp{};
    if (n.argTest == PatNode::ArgTest::Number) {
      UOp c = UOp::constant(d, ConstValue::ofFloat(n.number));
      if (n.number == 4294967296.0) c = UOp::constant(d, int64_t{1} << 32);
      return c.isConst(n.number) ? c : UOp{};
    }
    if (n.ops == OpSet{Op::CONST} || n.ops.has(Op::VCONST)) return constant(d);
    if (n.ops.empty()) return chance(4) ? constant(d) : variable(d);
    return alu(n, d);
  }
  /// An operation of the set; sources that the pattern does not name are made up.
  UOp alu(const PatNode& n, DType d) {
    std::vector<Op> ops;
    n.ops.forEach([&](Op op) {
      if (group::kElementwise.has(op) && op != Op::BITCAST) ops.push_back(op);
    });
    if (n.ops.has(Op::DEFINE_VAR) && (ops.empty() || chance(4))) return variable(d);
    if (ops.empty()) return {};
    Op op = ops[random_() % ops.size()];
    bool compares = group::kComparison.has(op);
    if (compares && !d.isBool()) return {};
    if (d.isBool() && OpSet{Op::SHL, Op::SHR, Op::NEG, Op::SUB, Op::POW, Op::IDIV, Op::MOD, Op::FDIV}.has(op))
      return {};
    if (!d.isFloat() && OpSet{Op::EXP2, Op::LOG2, Op::SIN, Op::SQRT, Op::RECIPROCAL, Op::FDIV}.has(op))
      return {};
    if (d.isFloat() &&
        OpSet{Op::SHL, Op::SHR, Op::XOR, Op::OR, Op::AND, Op::IDIV, Op::MOD, Op::THREEFRY}.has(op))
      return {};
    if (op == Op::THREEFRY && d.kind() != Scalar::UInt64) return {};
    size_t count = group::kTernary.has(op) ? 3 : group::kBinary.has(op) ? 2 : 1;
    if (n.childCount && n.childCount != count && n.mode != SrcMode::Repeat) return {};
    DType below = compares || op == Op::CAST ? anyDtype() : d;
    std::vector<UOp> src(count);
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i) order[i] = i;
    if (n.mode == SrcMode::AnyOrder && chance(2)) std::reverse(order.begin(), order.end());
    for (size_t i = 0; i < count; ++i) {
      DType wanted = op == Op::WHERE && i == 0 ? dtypes::bool_ : below;
      size_t at = order[i];
      src[at] = i < n.childCount ? node(n.children[i], wanted)
                : chance(3)      ? constant(wanted)
                                 : variable(wanted);
      if (!src[at]) return {};
    }
    if (op == Op::CAST) return src[0].dtype() == d ? UOp{} : src[0].cast(d);
    return UOp::make(op, d, src);
  }
  UOp node(size_t at, DType d) {
    const PatNode& n = rule_.pattern()[at];
    if (n.var >= 0 && bound_.contains(n.var)) {
      UOp u = bound_[n.var];
      return u.dtype() == d ? u : UOp{};
    }
    if (n.oneOf) return bind(n, node(n.children[random_() % n.childCount], d));
    if (n.dtypes && !(n.dtypes & maskOf(d))) return {};
    return bind(n, n.childCount ? alu(n, d) : leaf(n, d));
  }

  const Rule& rule_;
  std::mt19937& random_;
  std::map<int, UOp> bound_;
  std::vector<UOp> variables_;
};

/// Index expressions over some loops and variables.
class RandomExpressions {
public:
  RandomExpressions(std::vector<UOp> leaves, unsigned seed) : leaves_(std::move(leaves)), random_(seed) {}

  UOp index(int depth) {
    if (depth == 0 || pick(6) == 0)
      return pick(4) ? leaves_[pick(leaves_.size())] : UOp::index(number(-8, 16));
    switch (pick(9)) {
    case 0:
    case 1:
    case 2: return index(depth - 1) + index(depth - 1);
    case 3: return index(depth - 1) * number(-3, 9);
    case 4: return index(depth - 1) / divisor();
    case 5: return index(depth - 1) % divisor();
    case 6: return index(depth - 1).maximum(index(depth - 1));
    case 7: return condition(depth - 1).where(index(depth - 1), index(depth - 1));
    default: return index(depth - 1) * number(1, 6) + index(depth - 1) % number(1, 7);
    }
  }
  UOp condition(int depth) {
    switch (pick(depth == 0 ? 3 : 6)) {
    case 0:
    case 1: return index(depth ? depth - 1 : 0) < UOp::index(number(-4, 20));
    case 2: return ne(index(depth ? depth - 1 : 0), UOp::index(number(-2, 10)));
    case 3: return condition(depth - 1) & condition(depth - 1);
    case 4: return condition(depth - 1) | condition(depth - 1).logicalNot();
    default: return index(depth - 1) < index(depth - 1);
    }
  }
  std::mt19937& random() { return random_; }

private:
  size_t pick(size_t n) { return random_() % n; }
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }
  int64_t divisor() {
    int64_t d = number(-3, 12);
    return d ? d : 4;
  }
  std::vector<UOp> leaves_;
  std::mt19937 random_;
};

} // namespace uopscope::testing
