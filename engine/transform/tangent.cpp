// The forward rules. Movement operations and sums are linear: they do to the tangent what they do to the
// value.
#include "engine/transform/tangent.h"

#include "engine/tensor/gradient.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/operation_scope.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/value_pass.h"
#include "engine/transform/batch.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace uopscope {

namespace {

using namespace pat;

struct TangentContext {
  UOpMap<UOp> known; ///< of every value that has one; a value that is not here has none
};

/// Of the k-th source; null for zero.
UOp tangentOf(Match& m, size_t k) {
  const auto& known = m.ctx<TangentContext>().known;
  auto found = known.find(m.root().src(k));
  return found == known.end() ? UOp() : found->second;
}
/// The answer of a rule for zero: a NOOP, since null would be no answer.
UOp zero() {
  return UOp::make(Op::NOOP, dtypes::void_);
}
UOp number(UOp like, double v) {
  return graph::constLike(like, ConstValue::ofFloat(v));
}
UOp times(UOp a, UOp b) {
  return a.alu(Op::MUL, {b});
}
UOp negative(UOp x) {
  return times(x, number(x, -1));
}
/// A sum of terms some of which are zero.
UOp sum(UOp a, UOp b) {
  if (!a || !b) return a ? a : b ? b : zero();
  return a.alu(Op::ADD, {b});
}
UOp orZeros(UOp t, UOp like) {
  return t ? t : number(like, 0);
}
/// A rule of one source: the tangent times the slope.
template <UOp (*slope)(UOp r, UOp x)>
UOp chain(Match& m) {
  UOp t = tangentOf(m, 0);
  return t ? times(t, slope(m.root(), m.root().src(0))) : zero();
}
UOp reciprocalSlope(UOp r, UOp) {
  return negative(times(r, r));
}
UOp sinSlope(UOp, UOp x) {
  return cosine(x);
}
UOp log2Slope(UOp, UOp x) {
  return times(x, number(x, std::numbers::ln2)).alu(Op::RECIPROCAL);
}
UOp exp2Slope(UOp r, UOp) {
  return times(r, number(r, std::numbers::ln2));
}
UOp sqrtSlope(UOp r, UOp) {
  return times(r, number(r, 2)).alu(Op::RECIPROCAL);
}
UOp negSlope(UOp, UOp x) {
  return number(x, -1);
}

UOp addTangent(Match& m) {
  return sum(tangentOf(m, 0), tangentOf(m, 1));
}
UOp subTangent(Match& m) {
  UOp t = tangentOf(m, 1);
  return sum(tangentOf(m, 0), t ? negative(t) : t);
}
UOp mulTangent(Match& m) {
  UOp a = tangentOf(m, 0), b = tangentOf(m, 1);
  return sum(a ? times(a, m.root().src(1)) : a, b ? times(m.root().src(0), b) : b);
}
UOp mulaccTangent(Match& m) {
  UOp product = mulTangent(m);
  return sum(product.is(Op::NOOP) ? UOp() : product, tangentOf(m, 2));
}
UOp divisionTangent(Match& m) {
  UOp r = m.root(), y = r.src(1), a = tangentOf(m, 0), b = tangentOf(m, 1);
  UOp top = sum(a, b ? negative(times(r, b)) : b);
  return top.is(Op::NOOP) ? top : top.alu(Op::FDIV, {y});
}
UOp powTangent(Match& m) {
  UOp r = m.root(), b = r.src(0), e = r.src(1), tb = tangentOf(m, 0), te = tangentOf(m, 1);
  UOp otherBase = b.alu(Op::CMPNE, {number(b, 0)});
  if (tb) {
    UOp slope = times(e, b.alu(Op::POW, {e.alu(Op::ADD, {number(e, -1)})}));
    UOp ordinary = otherBase.alu(Op::OR, {e.alu(Op::CMPNE, {number(e, 0)})}); // 0 to the power of 0 is flat
    tb = times(tb, ordinary.where(slope, e));
  }
  if (te) {
    UOp atZero = e.alu(Op::CMPLT, {number(e, 0)}).where(number(r, -INFINITY), number(r, 0));
    te = times(te, otherBase.where(times(times(r, b.alu(Op::LOG2)), number(r, std::numbers::ln2)), atZero));
  }
  return sum(tb, te);
}
UOp maxTangent(Match& m) {
  UOp a = tangentOf(m, 0), b = tangentOf(m, 1), x = m.root().src(0), y = m.root().src(1);
  if (!a && !b) return zero();
  a = orZeros(a, m.root());
  b = orZeros(b, m.root());
  UOp shared = times(a.alu(Op::ADD, {b}), number(a, 0.5)); // equal values share
  return y.alu(Op::CMPLT, {x}).where(a, x.alu(Op::CMPLT, {y}).where(b, shared));
}
UOp whereTangent(Match& m) {
  UOp a = tangentOf(m, 1), b = tangentOf(m, 2);
  if (!a && !b) return zero();
  return m.root().src(0).where(orZeros(a, m.root()), orZeros(b, m.root()));
}
UOp castTangent(Match& m) {
  UOp t = tangentOf(m, 0);
  return t && m.root().dtype().isFloat() ? t.cast(m.root().dtype()) : zero();
}
UOp reduceTangent(Match& m) {
  UOp r = m.root(), x = r.src(0), t = tangentOf(m, 0);
  if (!t) return zero();
  const auto& arg = r.arg().as<ReduceArg>();
  auto summed = [&](UOp u) { return graph::reduceAxis(u, Op::ADD, arg.axes); };
  switch (arg.op) {
  case Op::ADD: return summed(t);
  case Op::MAX: {
    UOp hits = x.alu(Op::CMPNE, {graph::expand(r, x.shape())}).where(number(t, 0), number(t, 1));
    return times(summed(times(hits, t)), summed(hits).alu(Op::RECIPROCAL)); // equal values share
  }
  case Op::MUL: return summed(times(t, productOfOthers(x, arg.axes)));
  default: return {};
  }
}
/// What does to the tangent as to the value: movement, copies.
UOp linearTangent(Match& m) {
  UOp t = tangentOf(m, 0);
  if (!t) return zero();
  std::vector<UOp> src(m.root().src().begin(), m.root().src().end());
  src[0] = t;
  return UOp::make(m.root().op(), t.dtype(), src, m.root().arg());
}
UOp sameTangent(Match& m) {
  UOp t = tangentOf(m, 0);
  return t ? t : zero();
}
UOp noTangent(Match&) {
  return zero();
}
UOp shardsTangent(Match& m) {
  std::vector<UOp> parts;
  for (size_t k = 0; k < m.root().srcCount(); ++k) parts.push_back(orZeros(tangentOf(m, k), m.root().src(k)));
  return m.root().withSrc(parts);
}
UOp kernelTangent(Match&) {
  fail(ErrorKind::Unsupported, "a kernel given by hand has no forward derivative: wrap it in a custom_jvp "
                               "function, or use vjp and grad with its grad_fxn");
}
UOp assignTangent(Match&) {
  fail(ErrorKind::Unsupported, "the function assigns to a tensor in place, and what was there before has no "
                               "derivative any more: return "
                               "the new value instead");
}

/// Functions that are constant but for jumps, and those of whole numbers.
constexpr OpSet kSteps{Op::CMPLT, Op::CMPNE, Op::CMPEQ, Op::BITCAST, Op::TRUNC, Op::IDIV,    Op::MOD,
                       Op::AND,   Op::OR,    Op::XOR,   Op::SHL,     Op::SHR,   Op::THREEFRY};

constexpr RuleDef kTangents[] = {
    RULE("cast-tangent", any(Op::CAST), castTangent),
    RULE("reciprocal-tangent", any(Op::RECIPROCAL), chain<reciprocalSlope>),
    RULE("sin-tangent", any(Op::SIN), chain<sinSlope>),
    RULE("log2-tangent", any(Op::LOG2), chain<log2Slope>),
    RULE("exp2-tangent", any(Op::EXP2), chain<exp2Slope>),
    RULE("sqrt-tangent", any(Op::SQRT), chain<sqrtSlope>),
    RULE("negative-tangent", any(Op::NEG), chain<negSlope>),
    RULE("sum-tangent", any(Op::ADD), addTangent),
    RULE("difference-tangent", any(Op::SUB), subTangent),
    RULE("product-tangent", any(Op::MUL), mulTangent),
    RULE("product-and-sum-tangent", any(Op::MULACC), mulaccTangent),
    RULE("division-tangent", any(Op::FDIV), divisionTangent),
    RULE("power-tangent", any(Op::POW), powTangent),
    RULE("maximum-tangent", any(Op::MAX), maxTangent),
    RULE("where-tangent", any(Op::WHERE), whereTangent),
    RULE("no-tangent-of-steps", any(kSteps), noTangent),
    RULE("reduce-tangent", any(Op::REDUCE_AXIS), reduceTangent),
    RULE("linear-tangent", any(group::kMovement | OpSet{Op::COPY, Op::MULTI}), linearTangent),
    RULE("shard-stack-tangent", any(Op::MSTACK), shardsTangent),
    RULE("tangent-passes-through", any({Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD}), sameTangent),
    RULE("no-tangent-of-detached", any(Op::DETACH), noTangent),
    RULE("kernel-tangent", any({Op::AFTER, Op::CUSTOM_KERNEL}), kernelTangent),
    RULE("assign-tangent", any(Op::ASSIGN), assignTangent),
};

/// The tangent of a marked value, by its own function.
UOp customTangent(const CustomDerivative& derivative, UOp u, const UOpMap<UOp>& known) {
  if (!derivative.forward)
    fail(ErrorKind::Unsupported, "a custom_vjp function (checkpoint is one) has no forward derivative: use "
                                 "vjp, grad and jacrev with it, or "
                                 "write it as a custom_jvp function, from which both are derived");
  std::vector<UOp> each;
  for (UOp s : u.src().subspan(1, u.srcCount() - 2)) {
    auto found = known.find(s);
    each.push_back(found == known.end() ? UOp() : found->second);
  }
  return derivative.forward(each, u);
}

/// Which values of the path are asked for: what a marked value was made by is not, its own function answers.
std::vector<bool> needed(std::span<const UOp> values, const std::vector<UOp>& path) {
  UOpMap<bool> asked;
  for (UOp u : values) asked[u] = true;
  std::vector<bool> out(path.size());
  for (size_t k = path.size(); k-- > 0;) {
    out[k] = asked.contains(path[k]);
    for (size_t i = derivativeOf(path[k]) ? 1 : 0; out[k] && i < path[k].srcCount(); ++i)
      asked[path[k].src(i)] = true;
  }
  return out;
}

} // namespace

const PatternMatcher& tangentRules() {
  static const PatternMatcher rules({kTangents});
  return rules;
}

std::vector<UOp> tangents(std::span<const UOp> values, const UOpMap<UOp>& arguments) {
  TangentContext context{arguments};
  std::vector<UOp> path = dependents(values, [&](UOp u) { return arguments.contains(u); });
  std::vector<bool> isNeeded = needed(values, path);
  ValuePass pass("jvp", "jvp", tangentRules(), path);
  for (size_t k = 0; k < path.size(); ++k) {
    UOp u = path[k], made;
    uint32_t firstNewId = Pool::current().nextId();
    if (!isNeeded[k]) {
      pass.keep(k);
    } else if (const CustomDerivative* derivative = derivativeOf(u)) {
      made = customTangent(*derivative, u, context.known);
      pass.keep(k);
    } else {
      made = pass.step(k, context);
      if (!made)
        fail(ErrorKind::Unsupported, fmt::format("there is no forward derivative of {}", opName(u.op())));
      if (made.is(Op::NOOP)) made = {};
    }
    if (!made) continue;
    inheritOrigin(made, u, firstNewId);
    context.known[u] = made;
  }
  std::vector<UOp> out;
  for (UOp u : values) {
    auto found = context.known.find(u);
    out.push_back(found == context.known.end() ? UOp() : found->second);
  }
  return out;
}

} // namespace uopscope
