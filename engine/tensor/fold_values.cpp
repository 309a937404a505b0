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
      if (isPaddingAlone(u)) return ConstValue::ofInt(0);
      padded = padded || u.is(Op::PAD);
    }
    if (!u.isConst()) return {};
    ConstValue value = u.constValue();
    if (padded && value.asDouble() != 0) return {};
    return value;
  }

  /// Whether a part of a padded value lies entirely in the padding.
  static bool isPaddingAlone(UOp u) {
    if (!u.is(Op::SHRINK) || !u.src(0).is(Op::PAD)) return false;
    UOp padded = u.src(0);
    const Shape begin = uopToShape(u.src(1)), end = uopToShape(u.src(2)), before = uopToShape(padded.src(1)),
                inner = padded.src(0).shape();
    if (!allInt(begin) || !allInt(end) || !allInt(before) || !allInt(inner)) return false;
    for (size_t k = 0; k < inner.size(); ++k)
      if (end[k].i() <= before[k].i() || begin[k].i() >= before[k].i() + inner[k].i()) return true;
    return false;
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
    UOp value = graph::viewed(t.uop());
    UOp now = t.devices().size() == 1 ? folded(value) : UOp();
    if (!now) continue;
    t.state()->forEachName([&](Tensor::State& s) {
      s.become(UOp(s.uop).substitute({{value, now}}));
      s.mayShare = true;
    });
  }
}

} // namespace uopscope
