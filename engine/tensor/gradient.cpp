// Reverse-mode gradients: one rule per operation, applied to the graph from the result to the targets. The
// result of a rule is a GROUP with one gradient per source; a NOOP means that a source has none.
//
//   x * y, gradient g   ->   GROUP(y * g, x * g)
#include "engine/tensor/gradient.h"

#include "engine/base/engine_session.h"
#include "engine/base/id_map.h"
#include "engine/rewrite/matcher.h"
#include "engine/tensor/loops.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/placeholder.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"
#include "engine/tensor/value_pass.h"
#include "engine/tensor/window_gradient.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <unordered_map>

namespace uopscope {

namespace {

using namespace pat;

struct GradientContext {
  UOp grad; ///< gradient of the node on which the rule is tried
  const MovementUsers& users;
  const UOpMap<UOp>& known; ///< the gradients so far, of nodes above this one
};

UOp grad(Match& m) {
  return m.ctx<GradientContext>().grad;
}
UOp none() {
  return UOp::make(Op::NOOP, dtypes::void_);
}
UOp gradients(std::initializer_list<UOp> each) {
  return UOp::make(Op::GROUP, dtypes::void_, each);
}
UOp number(UOp like, double v) {
  return constantLike(like, like.dtype().isFloat() ? ConstValue::ofFloat(v)
                                                   : ConstValue::ofInt(static_cast<int64_t>(v)));
}
UOp truth(UOp like) {
  return constantLike(like, ConstValue::ofBool(true));
}
UOp equal(UOp a, UOp b) {
  UOp differs = a.alu(Op::CMPNE, {b});
  return differs.alu(Op::CMPNE, {truth(differs)});
}
UOp times(UOp a, UOp b) {
  return a.alu(Op::MUL, {b});
}
UOp inverseOf(UOp x) {
  return x.alu(Op::RECIPROCAL);
}

UOp cosineOfSource(Match& m) {
  return cosine(m.root().src(0));
}
UOp powGradient(Match& m) {
  UOp r = m.root(), g = grad(m), b = r.src(0), e = r.src(1);
  UOp zeroBase = equal(b, number(b, 0)), zeroPower = equal(e, number(e, 0));
  UOp slope = times(e, b.alu(Op::POW, {e.alu(Op::ADD, {number(e, -1)})}));
  UOp byBase = zeroPower.where(e, slope);
  UOp atZero = e.alu(Op::CMPLT, {number(e, 0)}).where(number(r, -INFINITY), number(r, 0));
  UOp byPower = zeroBase.where(atZero, times(times(r, b.alu(Op::LOG2)), number(r, std::numbers::ln2)));
  return gradients({times(g, byBase), times(g, byPower)});
}
UOp reduceGradient(Match& m) {
  UOp r = m.root(), g = grad(m), x = r.src(0);
  if (r.is(Op::REDUCE)) { // a sum over a loop: each iteration has the sum's gradient, the loops have none
    if (r.arg().op() != Op::ADD) return m.decline("only sums over loops have a gradient");
    std::vector<UOp> each(r.srcCount(), none());
    each[0] = g;
    return UOp::make(Op::GROUP, dtypes::void_, each);
  }
  const auto& arg = r.arg().as<ReduceArg>();
  auto spread = [&](UOp u) { return graph::expand(u, x.shape()); };
  switch (arg.op) {
  case Op::ADD: return gradients({spread(g)});
  case Op::MAX: {
    UOp hits = equal(x, spread(r)).cast(g.dtype());
    UOp count = graph::reduceAxis(hits, Op::ADD, arg.axes);
    return gradients({times(hits, spread(times(inverseOf(count), g)))}); // the share of each, computed once
  }
  case Op::MUL: return gradients({times(spread(g), productOfOthers(x, arg.axes))});
  default: return {};
  }
}
UOp contiguousGradient(Match& m) {
  return graph::contiguous(grad(m));
}
UOp reshapeGradient(Match& m) {
  return graph::reshape(grad(m), m.root().src(0).shape());
}
UOp expandGradient(Match& m) {
  const Shape &from = m.root().src(0).shape(), &to = m.root().shape();
  Ints axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (!(from[i] == to[i])) axes.push_back(static_cast<int64_t>(i));
  return graph::reduceAxis(grad(m), Op::ADD, axes);
}
UOp windowsGradient(Match& m) {
  const auto& context = m.ctx<GradientContext>();
  const char* why = nullptr;
  UOp found = gradientThroughWindows(m.root(), context.users, context.known, why);
  std::vector<UOp> each(m.root().srcCount(), none());
  each[0] = found;
  return found ? UOp::make(Op::GROUP, dtypes::void_, each) : m.decline(why);
}
UOp padGradient(Match& m) {
  Shape before = uopToShape(m.root().src(1));
  const Shape& inner = m.root().src(0).shape();
  Bounds bounds;
  for (size_t i = 0; i < inner.size(); ++i) bounds.push_back({before[i], before[i] + inner[i]});
  return graph::shrink(grad(m), bounds);
}
UOp shrinkGradient(Match& m) {
  Shape begin = uopToShape(m.root().src(1)), end = uopToShape(m.root().src(2));
  const Shape& outer = m.root().src(0).shape();
  Bounds amounts;
  for (size_t i = 0; i < outer.size(); ++i) amounts.push_back({begin[i], outer[i] - end[i]});
  return graph::pad(grad(m), amounts);
}
UOp permuteGradient(Match& m) {
  const Ints& order = m.root().arg().ints();
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return graph::permute(grad(m), back);
}
UOp copyGradient(Match& m) {
  return graph::copyTo(grad(m), m.root().src(0).device());
}
/// Each shard of a value gets its part of the gradient.
UOp multiGradient(Match& m) {
  UOp multi = m.root(), stack = multi.src(0), g = grad(m);
  std::vector<UOp> parts;
  for (size_t k = 0; k < stack.srcCount(); ++k) {
    UOp part = k == 0 || multi.arg() ? g : number(g, 0);
    if (multi.arg())
      part = graph::shrink(g, shardBounds(multi.shape(), multi.arg().i(), k, stack.srcCount()));
    parts.push_back(graph::copyTo(part, stack.src(k).device()));
  }
  return gradients({UOp::make(Op::MSTACK, g.dtype(), parts)});
}
UOp stackGradient(Match& m) {
  std::vector<UOp> parts(grad(m).src().begin(), grad(m).src().end());
  return UOp::make(Op::GROUP, dtypes::void_, parts);
}

/// Functions that are constant except for jumps, and functions of integers.
constexpr OpSet kSteps{Op::CMPLT, Op::CMPNE, Op::CMPEQ, Op::BITCAST, Op::TRUNC, Op::IDIV,    Op::MOD,
                       Op::AND,   Op::OR,    Op::XOR,   Op::SHL,     Op::SHR,   Op::THREEFRY};

// --- the rules: r is the node, x and y its sources, g its gradient ---

constexpr PatVar r{"r"}, x{"x"}, y{"y"}, z{"z"}, xf{"x", PatVar::Floats}, cond{"cond"};
constexpr Pat g = made(grad);
constexpr double kLn2 = std::numbers::ln2;

template <typename... P>
constexpr Pat perSource(const P&... gradient) {
  return answers(tensors(gradient)...);
}
constexpr Pat same(const Pat& a, const Pat& b) {
  return logicalNot(a != b);
}

constexpr RuleDef kGradients[] = {
    // Integers have no gradient, nor has a float that was rounded to an integer.
    RULE("cast-gradient", op(Op::CAST, xf).withDtype(kMaskFloats), perSource(toTypeOf(x, g))),
    RULE("no-gradient-of-steps", any(kSteps | OpSet{Op::CAST}), answers()),
    RULE("reciprocal-gradient", op(Op::RECIPROCAL, x).named(r), perSource(g * -1 * r * r)),
    RULE("division-gradient", op(Op::FDIV, x, y).named(r),
         perSource(op(Op::FDIV, g, y), op(Op::FDIV, g, y) * -1 * r)),
    RULE("sin-gradient", any(Op::SIN), perSource(made(cosineOfSource) * g)),
    RULE("log2-gradient", op(Op::LOG2, x), perSource(g* recip(x* kLn2))),
    RULE("exp2-gradient", op(Op::EXP2, x).named(r), perSource(r* g* kLn2)),
    RULE("sqrt-gradient", op(Op::SQRT, x).named(r), perSource(g* recip(r * 2))),
    RULE("sum-gradient", op(Op::ADD, x, y), perSource(g, g)),
    RULE("difference-gradient", op(Op::SUB, x, y), perSource(g, g * -1)),
    RULE("negative-gradient", op(Op::NEG, x), perSource(g * -1)),
    RULE("product-and-sum-gradient", op(Op::MULACC, x, y, z), perSource(y* g, x* g, g)),
    RULE("product-gradient", op(Op::MUL, x, y), perSource(y* g, x* g)),
    RULE("power-gradient", any(Op::POW), powGradient),
    // Equal operands share the gradient.
    RULE("maximum-gradient", op(Op::MAX, x, y),
         perSource(where(y < x, g, where(same(x, y), g * 0.5, 0)),
                   where(x < y, g, where(same(x, y), g * 0.5, 0)))),
    RULE("where-gradient", op(Op::WHERE, cond, x, y),
         perSource(nothing(), where(cond, g, 0), where(cond, 0, g))),
    RULE("reduce-gradient", any(OpSet({Op::REDUCE_AXIS, Op::REDUCE})), reduceGradient),
    RULE("gradient-passes-through", any(OpSet({Op::CONTIGUOUS, Op::AFTER})), answers(g)),
    RULE("contiguous-gradient", any(Op::CONTIGUOUS_BACKWARD), answers(made(contiguousGradient))),
    RULE("reshape-gradient", any(Op::RESHAPE), answers(made(reshapeGradient))),
    RULE("windows-gradient", any(OpSet({Op::EXPAND, Op::PAD})), windowsGradient),
    RULE("expand-gradient", any(Op::EXPAND), answers(made(expandGradient))),
    RULE("pad-gradient", any(Op::PAD), answers(made(padGradient))),
    RULE("shrink-gradient", any(Op::SHRINK), answers(made(shrinkGradient))),
    RULE("permute-gradient", any(Op::PERMUTE), answers(made(permuteGradient))),
    RULE("flip-gradient", any(Op::FLIP), answers(rootOf(g))),
    RULE("copy-gradient", any(Op::COPY), answers(made(copyGradient))),
    RULE("shards-gradient", any(Op::MULTI), multiGradient),
    RULE("shard-stack-gradient", any(Op::MSTACK), stackGradient),
};
const KnownRules kGradientsKnown(kGradients);

/// The custom derivatives, by the id of their key, which is a node of the tensor pool.
struct CustomDerivatives {
  std::unordered_map<uint32_t, CustomDerivative> byKey;
};
std::unordered_map<uint32_t, CustomDerivative>& customDerivatives() {
  return EngineSession::current().part<CustomDerivatives>().byKey;
}

/// The gradients for a value with a forward rule alone. That rule is linear in the tangents, so its gradient
/// with respect to the tangents is computed.
std::vector<UOp> transposed(const CustomDerivative& derivative, UOp u, UOp g) {
  std::vector<UOp> tangents, targets, flat;
  for (UOp input : u.src().subspan(1, u.srcCount() - 2)) {
    bool isFloat = input.dtype().isFloat();
    UOp p = isFloat ? newPlaceholder(input.shape(), input.dtype(), g.device()) : UOp();
    targets.push_back(p);
    tangents.push_back(p ? graph::reshape(p, input.shape()) : UOp());
    if (p) flat.push_back(p);
  }
  UOp out = derivative.forward(tangents, u);
  auto grads = out ? gradientsOf({{out, g}}, flat, "transpose") : UOpMap<UOp>();
  std::vector<UOp> each;
  for (size_t i = 0; i < targets.size(); ++i) {
    auto found = targets[i] ? grads.find(targets[i]) : grads.end();
    each.push_back(found == grads.end() ? UOp() : graph::reshape(found->second, tangents[i].shape()));
  }
  return each;
}

/// The gradients for a value with custom derivatives: its function splits the gradient among the inputs. The
/// gradient of an AFTER of a kernel goes to the kernel, whose buffers are its inputs.
UOp customGradient(UOp u, UOp g) {
  std::vector<UOp> each(u.srcCount(), none());
  if (u.is(Op::AFTER)) {
    each[1] = g;
    return UOp::make(Op::GROUP, dtypes::void_, each);
  }
  const CustomDerivative& derivative = *derivativeOf(u);
  std::vector<UOp> answered = derivative.reverse ? derivative.reverse(g, u) : transposed(derivative, u, g);
  size_t wanted = each.size() - (u.is(Op::CUSTOM_KERNEL) ? 1 : 2);
  if (answered.size() != wanted)
    fail(ErrorKind::Value,
         fmt::format("grad_fxn must answer one gradient, or None, for each of the {} buffers, "
                     "it answered {}",
                     wanted, answered.size()));
  for (size_t i = 0; i < answered.size(); ++i)
    if (answered[i]) each[i + 1] = answered[i];
  return UOp::make(Op::GROUP, dtypes::void_, each);
}

bool hasCustomGradient(UOp u) {
  if (u.is(Op::AFTER) && u.srcCount() == 2) u = u.src(1);
  return derivativeOf(u) != nullptr;
}

bool cutsGradient(UOp u) {
  return u.is(Op::ASSIGN) || (u.is(Op::DETACH) && !derivativeOf(u));
}

/// Nodes between the targets and the root that a gradient flows through, targets first.
std::vector<UOp> pathTo(UOp root, const UOpMap<bool>& targets) {
  IdMap<bool> leads;
  for (UOp u : root.toposort()) {
    bool any = false;
    for (UOp s : u.src()) any = any || targets.count(s) || *leads.find(s.slot());
    leads.set(u.slot(), any);
  }
  return root.toposort([&](UOp u) { return !cutsGradient(u) && *leads.find(u.slot()); });
}

MovementUsers usersOfMovements(const std::vector<UOp>& path) {
  MovementUsers users;
  for (UOp u : path)
    for (size_t i = 0; i < u.srcCount(); ++i) {
      UOp s = u.src(i);
      if (s.in(group::kMovement) && (i == 0 || u.src(0) != s)) users[s].push_back(u);
    }
  return users;
}

/// The graph of this pass starts as the list of values that have a gradient, the last value first. Each step
/// turns a value into the gradients of its sources.
UOpMap<UOp> computeGradient(const std::vector<std::pair<UOp, UOp>>& seeded, const UOpMap<bool>& targets,
                            const char* scope, const char* pass) {
  const PatternMatcher& rules = gradientRules();
  UOpMap<UOp> grads;
  auto add = [&](UOp u, UOp g) {
    auto [it, isNew] = grads.emplace(u, g);
    if (!isNew) it->second = it->second.alu(Op::ADD, {g});
    return it->second;
  };
  std::vector<UOp> roots;
  for (auto [root, seed] : seeded) {
    add(root, seed);
    roots.push_back(root);
  }
  std::vector<UOp> path = pathTo(roots.size() == 1 ? roots[0] : UOp::sink(roots), targets);
  if (!path.empty() && path.back().is(Op::SINK)) path.pop_back();
  std::reverse(path.begin(), path.end());
  const MovementUsers users = usersOfMovements(path);
  ValuePass derivation(scope, pass, rules, path);
  for (size_t k = 0; k < path.size(); ++k) {
    UOp u = path[k];
    auto known = grads.find(u);
    if (known == grads.end()) {
      derivation.keep(k);
      continue;
    }
    const uint32_t begin = Pool::current().nextId();
    GradientContext context{known->second, users, grads};
    bool custom = hasCustomGradient(u);
    UOp each = custom ? customGradient(u, known->second) : derivation.step(k, context);
    if (!each)
      fail(ErrorKind::Runtime, fmt::format("failed to compute gradient for {}\n\nin {}...", opName(u.op()),
                                           u.str().substr(0, 1000)));
    if (custom) derivation.keep(k); // its custom function answers, not a rule
    OperationScope::madeGraph(each, begin);
    for (size_t i = 0; i < u.srcCount(); ++i) {
      if (each.src(i).is(Op::NOOP)) continue;
      const uint32_t beforeSum = Pool::current().nextId();
      OperationScope::madeGraph(add(u.src(i), summedOverLoops(each.src(i), u, u.src(i))), beforeSum);
    }
  }
  return grads;
}

/// Whether a value is computed from another, if only by comparisons and steps: then its gradient is 0, not unknown.
bool reads(UOp value, UOp from) {
  // A kernel given by hand says nothing of its gradient: it is unknown.
  auto path =
      value.toposort([](UOp u) { return !cutsGradient(u) && !u.in({Op::CUSTOM_KERNEL, Op::KERNEL}); });
  return std::find(path.begin(), path.end(), from) != path.end();
}

UOpMap<bool> setOf(const std::vector<UOp>& nodes) {
  UOpMap<bool> set;
  for (UOp u : nodes) set[u] = true;
  return set;
}

} // namespace

UOpMap<UOp> gradientsOf(UOp root, UOp seed, const std::vector<UOp>& targets) {
  return computeGradient({{root, seed}}, setOf(targets), "gradient", "compute gradient");
}

UOpMap<UOp> gradientsOf(const std::vector<std::pair<UOp, UOp>>& seeded, const std::vector<UOp>& targets,
                        const char* name) {
  return computeGradient(seeded, setOf(targets), name, name);
}

UOp cosine(UOp x) {
  // As in Tensor::cos: halving the argument is exact. Small floats are computed in a wider type.
  UOp wide = x.dtype().itemsize() < 4 ? x.cast(dtypes::float32) : x;
  UOp half = times(wide, number(wide, 0.5)).alu(Op::SIN);
  UOp result = times(times(half, half), number(half, -2)).alu(Op::ADD, {number(half, 1)});
  return x.dtype() == wide.dtype() ? result : result.cast(x.dtype());
}

UOp productOfOthers(UOp x, const std::vector<int64_t>& axes) {
  UOp zero = number(x, 0), one = number(x, 1), other = x.alu(Op::CMPNE, {zero});
  auto spread = [&](Op op, UOp u) { return graph::expand(graph::reduceAxis(u, op, axes), x.shape()); };
  UOp product = spread(Op::MUL, other.where(x, one));
  UOp zeros = spread(Op::ADD, other.where(zero, one)), others = zeros.alu(Op::ADD, {number(x, -1)});
  UOp slope = other.where(product.alu(Op::FDIV, {other.where(x, one)}), product);
  return other.where(zeros, others).alu(Op::CMPNE, {zero}).where(zero, slope);
}

const PatternMatcher& gradientRules() {
  static const PatternMatcher rules({kGradients});
  return rules;
}

UOp withDerivative(UOp value, std::span<const UOp> inputs, UOp key) {
  std::vector<UOp> src{value};
  src.insert(src.end(), inputs.begin(), inputs.end());
  src.push_back(key);
  return UOp::make(Op::DETACH, value.dtype(), src);
}

const CustomDerivative* derivativeOf(UOp u) {
  if (u.is(Op::DETACH) && u.srcCount() < 2) return nullptr;
  if (!u.in({Op::DETACH, Op::CUSTOM_KERNEL})) return nullptr;
  auto found = customDerivatives().find((u.is(Op::DETACH) ? u.src().back() : u).id());
  return found == customDerivatives().end() ? nullptr : &found->second;
}

void setCustomDerivative(UOp key, CustomDerivative derivative) {
  customDerivatives()[key.id()] = std::move(derivative);
}
void dropCustomDerivatives(const std::function<bool(uint32_t id)>& alive) {
  std::erase_if(customDerivatives(), [&](const auto& entry) { return !alive(entry.first); });
}

std::vector<Tensor> Tensor::gradient(const std::vector<Tensor>& targets, const Tensor& seed,
                                     bool materialize) const {
  OperationScope op("gradient");
  if (!seed && ndim() != 0)
    fail(ErrorKind::Shape,
         fmt::format(
             "when no gradient is provided, backward must be called on a scalar tensor, not one of shape {}",
             shapeStr(shape())));
  if (seed && seed.shape() != shape() && numel() == Sint(1) && seed.numel() == Sint(1))
    return gradient(targets, seed.reshape(shape()), materialize);
  if (seed && seed.shape() != shape())
    fail(ErrorKind::Shape,
         fmt::format("gradient has shape {}, the tensor {}", shapeStr(seed.shape()), shapeStr(shape())));
  UOpMap<bool> wanted;
  bool floats = isFloat();
  for (const Tensor& t : targets) {
    floats = floats && t.isFloat();
    wanted[t.uop()] = true;
  }
  if (!floats) fail(ErrorKind::Runtime, "only float Tensors have gradient");
  UOp start = seed ? seed.uop() : graph::constant(dtype(), ConstValue::ofFloat(1), device());
  auto grads = computeGradient({{uop(), start}}, wanted, "gradient", "compute gradient");
  std::vector<Tensor> out;
  for (const Tensor& t : targets) {
    auto it = grads.find(t.uop());
    if (it == grads.end() && !materialize && !reads(uop(), t.uop()))
      fail(ErrorKind::Runtime, fmt::format("{}\n\nnot found in\n\n{}", t.uop().str(), uop().str()));
    out.push_back(fromUOp(it == grads.end() ? number(t.uop(), 0) : it->second));
  }
  return out;
}

Tensor Tensor::backward(const Tensor& seed) const {
  OperationScope op("backward");
  IdMap<bool> mine;
  for (UOp u : uop().toposort()) mine.set(u.slot(), true);
  std::vector<std::shared_ptr<State>> states;
  std::vector<Tensor> targets;
  forEachTensor([&](State& s) {
    if (!s.requiresGrad.value_or(false) || !mine.contains(s.uop.get().slot())) return;
    if (auto shared = s.weak_from_this().lock()) states.push_back(shared);
  });
  for (auto& s : states) targets.push_back(Tensor(s));
  std::vector<Tensor> grads = gradient(targets, seed, true);
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].shape() != grads[i].shape())
      fail(ErrorKind::Shape, fmt::format("grad shape must match tensor shape, {} != {}",
                                         shapeStr(grads[i].shape()), shapeStr(targets[i].shape())));
    if (Tensor before = targets[i].grad())
      before.assign(before.add(grads[i]));
    else
      targets[i].setGrad(grads[i]);
  }
  return *this;
}

} // namespace uopscope
