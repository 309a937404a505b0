// The forward rules. Movement operations and sums are linear, so they apply to the tangent as they do to the
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
  UOpMap<UOp> known; ///< tangents of values; a value that is missing has the tangent zero
};

/// The tangent of the k-th source; null for zero.
UOp tangentOf(Match& m, size_t k) {
  const auto& known = m.ctx<TangentContext>().known;
  auto found = known.find(m.root().src(k));
  return found == known.end() ? UOp() : found->second;
}
/// The answer of a rule for the tangent zero: a NOOP, since null would mean that the rule declines.
UOp zero() {
  return UOp::make(Op::NOOP, dtypes::void_);
}
/// The tangent of a source as a part of a result.
UOp tangentOrZero(Match& m, size_t k) {
  UOp t = tangentOf(m, k);
  return t ? t : zero();
}
// Not a template: patterns compare functions at compile time, and g++ cannot compare instances under its sanitizers.
UOp firstTangent(Match& m) {
  return tangentOrZero(m, 0);
}
UOp secondTangent(Match& m) {
  return tangentOrZero(m, 1);
}
UOp thirdTangent(Match& m) {
  return tangentOrZero(m, 2);
}
UOp number(UOp like, double v) {
  return constantLike(like, ConstValue::ofFloat(v));
}
UOp times(UOp a, UOp b) {
  return a.alu(Op::MUL, {b});
}
/// A sum in which a null term is zero.
UOp sum(UOp a, UOp b) {
  if (!a || !b) return a ? a : b ? b : zero();
  return a.alu(Op::ADD, {b});
}
UOp orZeros(UOp t, UOp like) {
  return t ? t : number(like, 0);
}
UOp cosineOfSource(Match& m) {
  return cosine(m.root().src(0));
}

UOp powTangent(Match& m) {
  UOp r = m.root(), b = r.src(0), e = r.src(1), tb = tangentOf(m, 0), te = tangentOf(m, 1);
  UOp otherBase = b.alu(Op::CMPNE, {number(b, 0)});
  if (tb) {
    UOp slope = times(e, b.alu(Op::POW, {e.alu(Op::ADD, {number(e, -1)})}));
    UOp ordinary = otherBase.alu(Op::OR, {e.alu(Op::CMPNE, {number(e, 0)})}); // 0 ** 0 has slope 0
    tb = times(tb, ordinary.where(slope, e));
  }
  if (te) {
    UOp atZero = e.alu(Op::CMPLT, {number(e, 0)}).where(number(r, -INFINITY), number(r, 0));
    te = times(te, otherBase.where(times(times(r, b.alu(Op::LOG2)), number(r, std::numbers::ln2)), atZero));
  }
  return sum(tb, te);
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
    return times(summed(times(hits, t)), summed(hits).alu(Op::RECIPROCAL)); // equal maxima share the tangent
  }
  case Op::MUL: return summed(times(t, productOfOthers(x, arg.axes)));
  default: return {};
  }
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
  fail(ErrorKind::Unsupported, "the function assigns to a tensor in place, and its contents before have no "
                               "derivative any more: return "
                               "the new value instead");
}

/// Functions that are constant except for jumps, and functions of integers.
constexpr OpSet kSteps{Op::CMPLT, Op::CMPNE, Op::CMPEQ, Op::BITCAST, Op::TRUNC, Op::IDIV,    Op::MOD,
                       Op::AND,   Op::OR,    Op::XOR,   Op::SHL,     Op::SHR,   Op::THREEFRY};

// --- the rules: r is the node, x, y and z its sources, dx, dy and dz their tangents ---

UOp tangentOfArgument(Match& m) {
  const auto& known = m.ctx<TangentContext>().known;
  auto found = known.find(m.root());
  return found == known.end() ? m.decline("no argument of the function") : found->second;
}

constexpr PatVar r{"r"}, x{"x"}, y{"y"}, z{"z"};
constexpr Pat dx = made(firstTangent), dy = made(secondTangent), dz = made(thirdTangent);
constexpr double kLn2 = std::numbers::ln2;

constexpr RuleDef kTangents[] = {
    RULE("tangent-of-argument", any(Op::BUFFER), tangentOfArgument),
    RULE("cast-tangent", op(Op::CAST, x).withDtype(kMaskFloats), tensors(toRoot(dx))),
    RULE("no-tangent-of-steps", any(kSteps | OpSet{Op::CAST}), nothing()),
    RULE("reciprocal-tangent", op(Op::RECIPROCAL, x).named(r), tensors(dx*(r* r * -1))),
    RULE("sin-tangent", any(Op::SIN), tensors(dx* made(cosineOfSource))),
    RULE("log2-tangent", op(Op::LOG2, x), tensors(dx* recip(x* kLn2))),
    RULE("exp2-tangent", op(Op::EXP2, x).named(r), tensors(dx*(r* kLn2))),
    RULE("sqrt-tangent", op(Op::SQRT, x).named(r), tensors(dx* recip(r * 2))),
    RULE("negative-tangent", op(Op::NEG, x), tensors(dx * -1)),
    RULE("sum-tangent", op(Op::ADD, x, y), tensors(dx + dy)),
    RULE("difference-tangent", op(Op::SUB, x, y), tensors(dx + dy * -1)),
    RULE("product-tangent", op(Op::MUL, x, y), tensors(dx* y + x * dy)),
    RULE("product-and-sum-tangent", op(Op::MULACC, x, y, z), tensors(dx* y + x * dy + dz)),
    RULE("division-tangent", op(Op::FDIV, x, y).named(r), tensors(op(Op::FDIV, dx + r * dy * -1, y))),
    RULE("power-tangent", any(Op::POW), powTangent),
    // Equal operands share the tangent.
    RULE("maximum-tangent", op(Op::MAX, x, y), tensors(where(y < x, dx, where(x < y, dy, (dx + dy) * 0.5)))),
    RULE("where-tangent", op(Op::WHERE, x, y, z), tensors(where(x, dy, dz))),
    RULE("reduce-tangent", any(Op::REDUCE_AXIS), reduceTangent),
    // Movement operations and copies apply to the tangent as to the value.
    RULE("linear-tangent", any(group::kMovement | OpSet{Op::COPY, Op::MULTI}), tensors(rootWith(dx))),
    RULE("shard-stack-tangent", any(Op::MSTACK), shardsTangent),
    RULE("tangent-passes-through", any({Op::CONTIGUOUS, Op::CONTIGUOUS_BACKWARD}), tensors(toRoot(dx))),
    RULE("no-tangent-of-detached", any(Op::DETACH), nothing()),
    RULE("kernel-tangent", any({Op::AFTER, Op::CUSTOM_KERNEL}), kernelTangent),
    RULE("assign-tangent", any(Op::ASSIGN), assignTangent),
};
const KnownRules kTangentsKnown(kTangents);

/// The tangent of a marked value, by its custom function.
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

/// The values of the path whose tangents are needed. The sources of a marked value are not: its custom
/// function answers.
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
  std::vector<UOp> path = inOrder(arguments);
  size_t first = path.size();
  for (UOp u : dependents(values, [&](UOp u) { return arguments.contains(u); })) path.push_back(u);
  std::vector<bool> isNeeded = needed(values, path);
  ValuePass pass("jvp", "jvp", tangentRules(), path);
  for (size_t k = 0; k < first; ++k) pass.step(k, context);
  for (size_t k = first; k < path.size(); ++k) {
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
