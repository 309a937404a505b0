// Translates an expression of tensors to an expression of scalars, and simplifies it with the symbolic rules.
#include "engine/tensor/fold_values.h"

#include "engine/rules/algebra.h"
#include "engine/tensor/graph.h"
#include "engine/tensor/state.h"
#include "engine/uop/eval.h"

#include <cmath>
#include <optional>

namespace uopscope {

namespace {

enum class Place { Padding, Inside, Other };
/// The place of the part that a SHRINK takes in a padded value.
Place placeIn(UOp padded, UOp shrink) {
  if (!padded.is(Op::PAD)) return Place::Other;
  const Shape begin = uopToShape(shrink.src(1)), end = uopToShape(shrink.src(2)),
              before = uopToShape(padded.src(1)), inner = padded.src(0).shape();
  if (!allInt(begin) || !allInt(end) || !allInt(before) || !allInt(inner)) return Place::Other;
  bool isInside = true;
  for (size_t k = 0; k < inner.size(); ++k) {
    const int64_t first = before[k].i(), last = first + inner[k].i();
    if (end[k].i() <= first || begin[k].i() >= last) return Place::Padding;
    isInside = isInside && begin[k].i() >= first && end[k].i() <= last;
  }
  return isInside ? Place::Inside : Place::Other;
}

/// The part of a concatenation, which is a sum of padded values, that a SHRINK takes, as a part of one of the
/// values; null if it is none.
UOp partOfOne(UOp shrink) {
  if (!shrink.is(Op::SHRINK) || !shrink.src(0).is(Op::ADD)) return {};
  UOp one;
  std::vector<UOp> stack{shrink.src(0)};
  for (size_t nodes = 0; !stack.empty(); ++nodes) {
    UOp u = stack.back();
    stack.pop_back();
    if (nodes >= kFoldNodes) return {};
    if (u.is(Op::ADD)) {
      stack.insert(stack.end(), u.src().begin(), u.src().end());
      continue;
    }
    Place place = placeIn(u, shrink);
    if (place == Place::Padding) continue;
    if (place == Place::Other || one) return {};
    one = u;
  }
  if (!one) return {};
  const Shape before = uopToShape(one.src(1)), begin = uopToShape(shrink.src(1)),
              end = uopToShape(shrink.src(2));
  Bounds part;
  for (size_t k = 0; k < before.size(); ++k)
    part.emplace_back(begin[k].i() - before[k].i(), end[k].i() - before[k].i());
  return graph::shrink(one.src(0), part);
}

/// The same value without the other parts of the concatenations that it is taken from: Tensor.stack(a, b)[0]
/// is a.
UOp taken(UOp u, size_t depth = 0) {
  constexpr size_t kDeepest = 1000;
  if (!u.in(group::kMovement) || depth > kDeepest) return u;
  if (UOp part = partOfOne(u)) return taken(part, depth + 1);
  UOp below = taken(u.src(0), depth + 1);
  if (below == u.src(0)) return u;
  std::vector<UOp> src(u.src().begin(), u.src().end());
  src[0] = below;
  return u.withSrc(src);
}

/// The expression for one element. An operand that repeats a constant becomes the constant, any other operand
/// a variable.
class ScalarForm {
public:
  /// Null if the expression is too large, or an operation has no scalar form.
  UOp of(UOp u) {
    if (auto known = made_.find(u); known != made_.end()) {
      mayCancel_ = true;
      return known->second;
    }
    if (++nodes_ > kFoldNodes) return {};
    UOp made = make(u);
    if (made) made_[u] = made;
    return made;
  }
  /// Whether there may be anything to simplify: a constant, or an operand used twice.
  bool mayFold() const { return hasConstant_ || mayCancel_; }
  /// The operand of a variable.
  UOp operand(UOp name) const {
    auto it = operands_.find(name);
    return it == operands_.end() ? UOp() : it->second;
  }

private:
  UOp make(UOp u) {
    if (u.dtype().count() != 1) return {};
    if (auto value = constantThroughout(u)) {
      hasConstant_ = true;
      return UOp::constant(u.dtype(), *value);
    }
    if (!u.in(group::kElementwise)) {
      UOp name = UOp::make(Op::NOOP, u.dtype(), {}, Arg::of(static_cast<int64_t>(operands_.size())));
      operands_[name] = u;
      return name;
    }
    std::vector<UOp> src;
    for (UOp s : u.src()) {
      UOp scalar = of(s);
      if (!scalar) return {};
      src.push_back(scalar);
    }
    return u.withSrc(src);
  }

  /// The value of all elements if they are the same constant.
  static std::optional<ConstValue> constantThroughout(UOp u) {
    if (u.is(Op::REDUCE_AXIS)) return reducedConstant(u);
    bool padded = false;
    for (; u.in(group::kMovement); u = u.src(0)) {
      if (u.is(Op::SHRINK) && placeIn(u.src(0), u) == Place::Padding) return ConstValue::ofInt(0);
      padded = padded || u.is(Op::PAD);
    }
    if (!u.isConst()) return {};
    ConstValue value = u.constValue();
    if (padded && value.asDouble() != 0) return {};
    return value;
  }

  static std::optional<ConstValue> reducedConstant(UOp r) {
    UOp in = r.src(0);
    if (!allInt(in.shape()) || !allInt(r.shape())) return {};
    const Op op = r.arg().as<ReduceArg>().op;
    int64_t outputs = prod(r.shape()).i();
    if (outputs == 0) return {};
    int64_t times = prod(in.shape()).i() / outputs;
    UOp inner = in;
    while (op == Op::ADD && outputs == 1 && inner.is(Op::PAD)) inner = inner.src(0);
    if (inner != in) times = prod(inner.shape()).i(); // zeros around it add nothing
    auto value = constantThroughout(inner);
    if (!value || times == 0) return {};
    DType d = r.dtype();
    if (op == Op::MAX) return value;
    if (op == Op::ADD) {
      auto count = convertConst(d, d.isFloat() ? ConstValue::ofFloat(static_cast<double>(times))
                                               : ConstValue::ofInt(times));
      return d.isBool() ? value : std::optional(evalAlu(Op::MUL, d, d, {*value, count}));
    }
    if (!d.isFloat()) return integerPower(d, *value, times);
    return convertConst(d, ConstValue::ofFloat(std::pow(value->asDouble(), static_cast<double>(times))));
  }

  /// The power as a kernel computes it: products wrap.
  static ConstValue integerPower(DType d, ConstValue base, int64_t exponent) {
    ConstValue power = convertConst(d, ConstValue::ofInt(1));
    for (base = convertConst(d, base); exponent; exponent >>= 1) {
      if (exponent & 1) power = evalAlu(Op::MUL, d, d, {power, base});
      base = evalAlu(Op::MUL, d, d, {base, base});
    }
    return power;
  }

  UOpMap<UOp> made_, operands_;
  size_t nodes_ = 0;
  bool hasConstant_ = false, mayCancel_ = false;
};

/// The value that replaces this one; null if it must be computed.
UOp folded(UOp value) {
  if (!value.in(group::kElementwise | OpSet{Op::REDUCE_AXIS}) || value.device().empty()) return {};
  ScalarForm form;
  UOp scalar = form.of(value);
  if (!scalar || !form.mayFold()) return {};
  UOp simple = simplify(scalar);
  if (simple.isConst()) {
    ConstValue c = simple.constValue();
    return graph::broadcastTo(graph::uniqueConstant(value.dtype(), c, value.device()), value.shape());
  }
  UOp same = form.operand(simple);
  return same && same.dtype() == value.dtype() ? graph::contiguous(same) : UOp();
}

} // namespace

void foldValues(const std::vector<Tensor>& tensors) {
  PoolScope scope(tensorPool());
  for (const Tensor& t : tensors) {
    if (t.devices().size() != 1) continue;
    // A name of the whole concatenation would have to follow an assignment to the part.
    if (UOp part = t.state()->isOnlyName() ? taken(t.uop()) : t.uop(); part != t.uop()) {
      t.state()->become(graph::base(part).is(Op::CONST) ? part : graph::contiguous(part));
      t.state()->mayShare = true;
    }
    UOp value = graph::viewed(t.uop());
    UOp now = folded(value);
    if (!now) continue;
    t.state()->forEachName([&](Tensor::State& s) {
      s.become(UOp(s.uop).substitute({{value, now}}));
      s.mayShare = true;
    });
  }
}

} // namespace uopscope
