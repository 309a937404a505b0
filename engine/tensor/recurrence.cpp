// Recurrences in parts, and their derivatives: the derivative of a recurrence is another one.
#include "engine/tensor/recurrence.h"

#include "engine/base/engine_session.h"
#include "engine/tensor/gradient.h"
#include "engine/tensor/graph.h"
#include "engine/uop/unique.h"

namespace uopscope {

namespace {

constexpr int64_t kPart = 8; ///< states that one lane computes one after the other

/// How a state goes on: multiplied by a factor, or kept or dropped.
struct Factors {
  static Tensor of(const Tensor& factor, const Tensor& state) { return factor.mul(state); }
  static Tensor joined(const Tensor& a, const Tensor& b) { return a.mul(b); }
};
struct Switches {
  static Tensor of(const Tensor& goesOn, const Tensor& state) {
    return goesOn.where(state, state.fullLike(ConstValue::ofFloat(0)));
  }
  static Tensor joined(const Tensor& a, const Tensor& b) { return a.bitAnd(b); }
};

/// Elements from `begin` on along an axis.
Tensor cut(const Tensor& t, int64_t axis, int64_t begin, int64_t count) {
  std::vector<std::optional<std::pair<Sint, Sint>>> where(t.shape().size());
  where[static_cast<size_t>(axis)] = {Sint(begin), Sint(begin + count)};
  return t.shrink(where);
}
Tensor grown(const Tensor& t, int64_t before, int64_t behind) {
  Bounds amounts(t.shape().size(), {0, 0});
  amounts.back() = {Sint(before), Sint(behind)};
  return t.pad(amounts);
}
/// Moves the last axis to the front, or back.
Tensor toFront(const Tensor& t) {
  Ints order{static_cast<int64_t>(t.ndim()) - 1};
  for (int64_t k = 0; k < order[0]; ++k) order.push_back(k);
  return t.permute(order);
}
Tensor toBack(const Tensor& t) {
  Ints order;
  for (int64_t k = 1; k < static_cast<int64_t>(t.ndim()); ++k) order.push_back(k);
  order.push_back(0);
  return t.permute(order);
}

/// States along the first axis, and what becomes of a state before the first one.
struct Chain {
  Tensor states, joined;
};

template <class How>
Chain oneByOne(const Tensor& a, const Tensor& b) {
  std::vector<Tensor> states{cut(b, 0, 0, 1)}, joined{cut(a, 0, 0, 1)};
  for (int64_t i = 1; i < b.intShape()[0]; ++i) {
    Tensor at = cut(a, 0, i, 1);
    states.push_back(How::of(at, states.back()).add(cut(b, 0, i, 1)));
    joined.push_back(How::joined(at, joined.back()));
  }
  return {Tensor::cat(states, 0), Tensor::cat(joined, 0)};
}

/// Along the last axis. The steps of a part are the first axis in memory, so what one step reads lies side by side.
template <class How>
Tensor inParts(const Tensor& a, const Tensor& b) {
  const int64_t n = b.intShape().back();
  if (n <= kPart) return toBack(oneByOne<How>(toFront(a), toFront(b)).states);
  const int64_t parts = (n + kPart - 1) / kPart, more = parts * kPart - n;
  auto apart = [&](const Tensor& t) {
    return toFront(grown(t, 0, more).unflatten(-1, {Sint(parts), Sint(kPart)})).contiguous();
  };
  Chain chain = oneByOne<How>(apart(a), apart(b));
  auto last = [](const Tensor& t) { return cut(t, 0, kPart - 1, 1).squeeze(0); };
  Tensor ends = inParts<How>(last(chain.joined), last(chain.states));
  Tensor before = cut(grown(ends, 1, 0), ends.ndim() - 1, 0, parts).unsqueeze(0).expand(chain.states.shape());
  Tensor states = chain.states.add(How::of(chain.joined, before));
  return cut(toBack(states).flatten(-2), b.ndim() - 1, 0, n);
}

Tensor shifted(const Tensor& t) {
  return cut(grown(t, 1, 0), t.ndim() - 1, 0, t.intShape().back());
}
/// The same recurrence from the last state to the first: the factor of a state is that of the one behind it.
template <class Run>
Tensor backward(const Tensor& a, const Tensor& terms, Run run) {
  return run(shifted(a.flip({-1})), terms.flip({-1})).flip({-1});
}

struct RecurrenceKeys {
  RecurrenceKeys() { tensorPool(); } // makes the pool of these nodes first, so it outlives them
  UOpRef factors, switches;
};

/// ds[i] = a[i] ds[i-1] + (da[i] s[i-1] + db[i]), and the gradient of a term is what goes on from its state.
CustomDerivative derivativeOfFactors() {
  auto forward = [](const std::vector<UOp>& tangents, UOp node) {
    Tensor a = Tensor::fromUOp(node.src(1)), s = Tensor::fromUOp(node).contiguous();
    Tensor terms = tangents[1] ? Tensor::fromUOp(tangents[1])
                               : Tensor::fromUOp(node.src(2)).fullLike(ConstValue::ofFloat(0));
    if (tangents[0]) terms = terms.add(Tensor::fromUOp(tangents[0]).mul(shifted(s)));
    return linearRecurrence(a, terms).uop();
  };
  auto reverse = [](UOp grad, UOp node) {
    Tensor a = Tensor::fromUOp(node.src(1)), s = Tensor::fromUOp(node).contiguous();
    Tensor terms = backward(a, Tensor::fromUOp(grad), linearRecurrence);
    return std::vector<UOp>{terms.mul(shifted(s)).uop(), terms.uop()};
  };
  return {.reverse = reverse, .forward = forward};
}
CustomDerivative derivativeOfSwitches() {
  auto forward = [](const std::vector<UOp>& tangents, UOp node) {
    if (!tangents[1]) return UOp();
    return segmentSums(Tensor::fromUOp(node.src(1)), Tensor::fromUOp(tangents[1])).uop();
  };
  auto reverse = [](UOp grad, UOp node) {
    return std::vector<UOp>{UOp(),
                            backward(Tensor::fromUOp(node.src(1)), Tensor::fromUOp(grad), segmentSums).uop()};
  };
  return {.reverse = reverse, .forward = forward};
}

Tensor marked(const Tensor& value, const Tensor& a, const Tensor& b, UOpRef& key,
              CustomDerivative (*make)()) {
  if (!key.get()) {
    key = newUnique();
    setCustomDerivative(key, make());
  }
  std::vector<UOp> inputs{a.uop(), b.uop()};
  return Tensor::fromUOp(withDerivative(value.uop(), inputs, key));
}

} // namespace

Tensor linearRecurrence(const Tensor& factors, const Tensor& terms) {
  RecurrenceKeys& keys = EngineSession::current().part<RecurrenceKeys>();
  return marked(inParts<Factors>(factors, terms), factors, terms, keys.factors, derivativeOfFactors);
}

Tensor segmentSums(const Tensor& continues, const Tensor& terms) {
  RecurrenceKeys& keys = EngineSession::current().part<RecurrenceKeys>();
  return marked(inParts<Switches>(continues, terms), continues, terms, keys.switches, derivativeOfSwitches);
}

} // namespace uopscope
