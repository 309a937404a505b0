// Reverse-mode gradients: one rule per operation, run over the graph from the result to the targets.
// A rule gives a GROUP with one gradient per source; a NOOP stands for "none".
//
//   x * y, gradient g   ->   GROUP(y * g, x * g)
#include "engine/tensor/gradient.h"

#include "engine/base/id_map.h"
#include "engine/base/source_path.h"
#include "engine/rewrite/matcher.h"
#include "engine/tensor/multi.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <numbers>
#include <unordered_map>

namespace uopscope {

namespace {

using namespace pat;

struct GradientContext {
  UOp grad; ///< of the node the rule is tried on
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
/// One source with a gradient, the others (shapes, devices) without.
UOp firstOnly(Match& m, UOp g) {
  std::vector<UOp> each(m.root().srcCount(), none());
  each[0] = g;
  return UOp::make(Op::GROUP, dtypes::void_, each);
}
UOp number(UOp like, double v) {
  return graph::constLike(like, like.dtype().isFloat() ? ConstValue::ofFloat(v)
                                                       : ConstValue::ofInt(static_cast<int64_t>(v)));
}
UOp truth(UOp like) {
  return graph::broadcastTo(graph::constant(dtypes::bool_, ConstValue::ofBool(true), like.device()),
                            like.shape());
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

UOp castGradient(Match& m) {
  return gradients({grad(m).cast(m.root().src(0).dtype())});
}
UOp reciprocalGradient(Match& m) {
  UOp r = m.root(), g = grad(m);
  return gradients({times(times(times(g, number(g, -1)), r), r)});
}
UOp divisionGradient(Match& m) {
  UOp r = m.root(), y = r.src(1), byNumerator = grad(m).alu(Op::FDIV, {y});
  return gradients({byNumerator, times(times(byNumerator, number(r, -1)), r)});
}
UOp sinGradient(Match& m) {
  UOp x = m.root().src(0), negative = times(x, number(x, -1));
  return gradients({times(number(x, std::numbers::pi / 2).alu(Op::ADD, {negative}).alu(Op::SIN), grad(m))});
}
UOp log2Gradient(Match& m) {
  UOp x = m.root().src(0);
  return gradients({times(grad(m), inverseOf(times(x, number(x, std::numbers::ln2))))});
}
UOp exp2Gradient(Match& m) {
  UOp r = m.root();
  return gradients({times(times(r, grad(m)), number(r, std::numbers::ln2))});
}
UOp sqrtGradient(Match& m) {
  UOp r = m.root();
  return gradients({times(grad(m), inverseOf(times(r, number(r, 2))))});
}
UOp noGradient(Match& m) {
  return UOp::make(Op::GROUP, dtypes::void_, std::vector<UOp>(m.root().srcCount(), none()));
}
UOp addGradient(Match& m) {
  return gradients({grad(m), grad(m)});
}
UOp mulGradient(Match& m) {
  return gradients({times(m.root().src(1), grad(m)), times(m.root().src(0), grad(m))});
}
UOp powGradient(Match& m) {
  UOp r = m.root(), g = grad(m), b = r.src(0), e = r.src(1);
  UOp zeroBase = equal(b, number(b, 0)), zeroPower = equal(e, number(e, 0));
  UOp slope = times(e, b.alu(Op::POW, {e.alu(Op::ADD, {number(e, -1)})}));
  UOp byBase = zeroBase.alu(Op::AND, {zeroPower}).where(e, slope);
  UOp atZero = e.alu(Op::CMPLT, {number(e, 0)}).where(number(r, -INFINITY), number(r, 0));
  UOp byPower = zeroBase.where(atZero, times(times(r, b.alu(Op::LOG2)), number(r, std::numbers::ln2)));
  return gradients({times(g, byBase), times(g, byPower)});
}
UOp maxGradient(Match& m) {
  // equal values share
  UOp g = grad(m), x = m.root().src(0), y = m.root().src(1);
  UOp shared = equal(x, y).where(times(g, number(g, 0.5)), number(g, 0));
  return gradients({y.alu(Op::CMPLT, {x}).where(g, shared), x.alu(Op::CMPLT, {y}).where(g, shared)});
}
UOp whereGradient(Match& m) {
  UOp g = grad(m), condition = m.root().src(0), zero = number(g, 0);
  return gradients({none(), condition.where(g, zero), condition.where(zero, g)});
}
UOp reduceGradient(Match& m) {
  UOp r = m.root(), g = grad(m), x = r.src(0);
  const auto& arg = r.arg().as<ReduceArg>();
  auto spread = [&](UOp u) { return graph::expand(u, x.shape()); };
  switch (arg.op) {
  case Op::ADD: return gradients({spread(g)});
  case Op::MAX: {
    UOp hits = equal(x, spread(r)).cast(g.dtype());
    UOp count = graph::reduceAxis(hits, Op::ADD, arg.axes);
    return gradients({times(times(hits, inverseOf(spread(count))), spread(g))});
  }
  case Op::MUL: return gradients({times(spread(times(g, r)), inverseOf(x))});
  default: return {};
  }
}
UOp sameGradient(Match& m) {
  return firstOnly(m, grad(m));
}
UOp contiguousBackwardGradient(Match& m) {
  return firstOnly(m, graph::contiguous(grad(m)));
}
UOp reshapeGradient(Match& m) {
  return firstOnly(m, graph::reshape(grad(m), m.root().src(0).shape()));
}
UOp expandGradient(Match& m) {
  const Shape &from = m.root().src(0).shape(), &to = m.root().shape();
  Ints axes;
  for (size_t i = 0; i < from.size(); ++i)
    if (!(from[i] == to[i])) axes.push_back(static_cast<int64_t>(i));
  return firstOnly(m, graph::reduceAxis(grad(m), Op::ADD, axes));
}
UOp padGradient(Match& m) {
  Shape before = uopToShape(m.root().src(1));
  const Shape& inner = m.root().src(0).shape();
  Bounds bounds;
  for (size_t i = 0; i < inner.size(); ++i) bounds.push_back({before[i], before[i] + inner[i]});
  return firstOnly(m, graph::shrink(grad(m), bounds));
}
UOp shrinkGradient(Match& m) {
  Shape begin = uopToShape(m.root().src(1)), end = uopToShape(m.root().src(2));
  const Shape& outer = m.root().src(0).shape();
  Bounds amounts;
  for (size_t i = 0; i < outer.size(); ++i) amounts.push_back({begin[i], outer[i] - end[i]});
  return firstOnly(m, graph::pad(grad(m), amounts));
}
UOp permuteGradient(Match& m) {
  const Ints& order = m.root().arg().ints();
  Ints back(order.size());
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return firstOnly(m, graph::permute(grad(m), back));
}
UOp flipGradient(Match& m) {
  return firstOnly(m, UOp::make(Op::FLIP, grad(m).dtype(), {grad(m)}, m.root().arg()));
}
UOp copyGradient(Match& m) {
  return firstOnly(m, graph::copyTo(grad(m), m.root().src(0).device()));
}
/// Shards of a value each get their part of its gradient.
UOp multiGradient(Match& m) {
  UOp multi = m.root(), stack = multi.src(0), g = grad(m);
  std::vector<UOp> parts;
  for (size_t k = 0; k < stack.srcCount(); ++k) {
    UOp part = k == 0 || multi.arg() ? g : number(g, 0);
    if (multi.arg())
      part = graph::shrink(g, shardBounds(multi.shape(), multi.arg().i(), k, stack.srcCount()));
    parts.push_back(graph::copyTo(part, stack.src(k).device()));
  }
  return gradients({UOp::make(Op::MSTACK, g.dtype(), parts), none()});
}
UOp stackGradient(Match& m) {
  std::vector<UOp> parts(grad(m).src().begin(), grad(m).src().end());
  return UOp::make(Op::GROUP, dtypes::void_, parts);
}

constexpr RuleDef kGradients[] = {
    RULE("cast-gradient", any(Op::CAST), castGradient),
    RULE("reciprocal-gradient", any(Op::RECIPROCAL), reciprocalGradient),
    RULE("division-gradient", any(Op::FDIV), divisionGradient),
    RULE("sin-gradient", any(Op::SIN), sinGradient),
    RULE("log2-gradient", any(Op::LOG2), log2Gradient),
    RULE("exp2-gradient", any(Op::EXP2), exp2Gradient),
    RULE("sqrt-gradient", any(Op::SQRT), sqrtGradient),
    RULE("no-gradient-of-steps", any(OpSet({Op::CMPLT, Op::CMPNE, Op::CMPEQ, Op::BITCAST})), noGradient),
    RULE("sum-gradient", any(Op::ADD), addGradient),
    RULE("product-gradient", any(Op::MUL), mulGradient),
    RULE("power-gradient", any(Op::POW), powGradient),
    RULE("maximum-gradient", any(Op::MAX), maxGradient),
    RULE("where-gradient", any(Op::WHERE), whereGradient),
    RULE("reduce-gradient", any(Op::REDUCE_AXIS), reduceGradient),
    RULE("gradient-passes-through", any(OpSet({Op::CONTIGUOUS, Op::AFTER})), sameGradient),
    RULE("contiguous-gradient", any(Op::CONTIGUOUS_BACKWARD), contiguousBackwardGradient),
    RULE("reshape-gradient", any(Op::RESHAPE), reshapeGradient),
    RULE("expand-gradient", any(Op::EXPAND), expandGradient),
    RULE("pad-gradient", any(Op::PAD), padGradient),
    RULE("shrink-gradient", any(Op::SHRINK), shrinkGradient),
    RULE("permute-gradient", any(Op::PERMUTE), permuteGradient),
    RULE("flip-gradient", any(Op::FLIP), flipGradient),
    RULE("copy-gradient", any(Op::COPY), copyGradient),
    RULE("shards-gradient", any(Op::MULTI), multiGradient),
    RULE("shard-stack-gradient", any(Op::MSTACK), stackGradient),
};

std::unordered_map<uint32_t, CustomGradient>& customGradients() {
  static std::unordered_map<uint32_t, CustomGradient> table;
  return table;
}

/// A value after a kernel given by hand: the gradient goes to the kernel, whose own function shares it out.
UOp customGradient(UOp u, UOp g) {
  std::vector<UOp> each(u.srcCount(), none());
  if (u.is(Op::AFTER)) {
    each[1] = g;
    return UOp::make(Op::GROUP, dtypes::void_, each);
  }
  std::vector<UOp> answered = customGradients().at(u.id())(g, u);
  if (answered.size() + 1 != each.size())
    fail(ErrorKind::Value,
         fmt::format("grad_fxn must answer one gradient, or None, for each of the {} buffers, "
                     "it answered {}",
                     each.size() - 1, answered.size()));
  for (size_t i = 0; i < answered.size(); ++i)
    if (answered[i]) each[i + 1] = answered[i];
  return UOp::make(Op::GROUP, dtypes::void_, each);
}

bool hasCustomGradient(UOp u) {
  if (u.is(Op::AFTER) && u.srcCount() == 2) u = u.src(1);
  return u.is(Op::CUSTOM_KERNEL) && customGradients().contains(u.id());
}

/// Nodes between the targets and the root that a gradient flows through, targets first.
std::vector<UOp> pathTo(UOp root, const UOpMap<bool>& targets) {
  IdMap<bool> leads;
  for (UOp u : root.toposort()) {
    bool any = false;
    for (UOp s : u.src()) any = any || targets.count(s) || *leads.find(s.slot());
    leads.set(u.slot(), any);
  }
  return root.toposort(
      [&](UOp u) { return !u.is(Op::DETACH) && !u.is(Op::ASSIGN) && *leads.find(u.slot()); });
}

/// The derivation as a pass that an observer sees: it begins with the values that a gradient flows through,
/// the last one first, and each step turns one of them into the gradients of its sources.
class Derivation {
public:
  Derivation(const PatternMatcher& rules, const std::vector<UOp>& path)
      : observer_(Observer::current()), rules_(rules), scope_({ScopeKind::Other, "gradient"}) {
    if (!observer_) return;
    now_.assign(path.rbegin(), path.rend());
    observer_->onPassBegin(
        {"compute gradient", {projectPath(__FILE__), __LINE__}, UOp::sink(now_), nullptr, &rules});
  }
  ~Derivation() {
    if (!observer_) return;
    bool failed = std::uncaught_exceptions() > exceptions_;
    observer_->onPassEnd(
        {failed ? UOp() : UOp::sink(now_), failed ? PassOutcome::Failed : PassOutcome::Done, {}});
  }
  Derivation(const Derivation&) = delete;
  Derivation& operator=(const Derivation&) = delete;

  /// The gradients of the sources of the k-th value of the path from its end, as a GROUP; null for none.
  UOp step(size_t k, UOp u, UOp gradient) {
    GradientContext context{gradient};
    UOp each = hasCustomGradient(u) ? customGradient(u, gradient)
                                    : rules_.rewrite(u, context, observer_, nullptr, /*bottomUp=*/true);
    if (hasCustomGradient(u)) {
      keep(u); // its own function answers, no rule does
    } else if (observer_ && each) {
      keep(each);
      now_[k] = each;
    }
    return each;
  }
  /// What is below this node stays as it is.
  void keep(UOp u) {
    if (observer_ && observer_->wantsRewrites()) observer_->onGate(u);
  }

private:
  Observer* observer_;
  const PatternMatcher& rules_;
  ObservedScope scope_;
  std::vector<UOp> now_;
  int exceptions_ = std::uncaught_exceptions();
};

UOpMap<UOp> computeGradient(UOp root, UOp seed, const UOpMap<bool>& targets) {
  static const PatternMatcher rules({kGradients});
  UOpMap<UOp> grads{{root, seed}};
  std::vector<UOp> path = pathTo(root, targets);
  Derivation derivation(rules, path);
  for (size_t i = path.size(); i-- > 0;) {
    UOp u = path[i];
    auto known = grads.find(u);
    if (known == grads.end()) {
      derivation.keep(u);
      continue;
    }
    UOp each = derivation.step(path.size() - 1 - i, u, known->second);
    if (!each)
      fail(ErrorKind::Runtime, fmt::format("failed to compute gradient for {}\n\nin {}...", opName(u.op()),
                                           u.str().substr(0, 1000)));
    OperationScope::madeGraph(each);
    for (size_t k = 0; k < u.srcCount(); ++k) {
      if (each.src(k).is(Op::NOOP)) continue;
      auto [it, isNew] = grads.emplace(u.src(k), each.src(k));
      if (!isNew) it->second = it->second.alu(Op::ADD, {each.src(k)});
    }
  }
  return grads;
}

} // namespace

UOpMap<UOp> gradientsOf(UOp root, UOp seed, const std::vector<UOp>& targets) {
  UOpMap<bool> wanted;
  for (UOp t : targets) wanted[t] = true;
  return computeGradient(root, seed, wanted);
}

void setCustomGradient(UOp kernel, CustomGradient gradient) {
  customGradients()[kernel.id()] = std::move(gradient);
}
void dropCustomGradients(const std::function<bool(uint32_t id)>& alive) {
  std::erase_if(customGradients(), [&](const auto& entry) { return !alive(entry.first); });
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
  auto grads = computeGradient(uop(), start, wanted);
  std::vector<Tensor> out;
  for (const Tensor& t : targets) {
    auto it = grads.find(t.uop());
    if (it == grads.end() && !materialize)
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
