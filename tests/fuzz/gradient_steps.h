// Steps that differentiate: a chain of a few operations on a value, a weighted sum of its end, and the gradient
// for the value and for the weights of the chain. Each link says how the precision of a gradient changes on
// its way back, so gradients are compared as tightly as values.
//
//   gradient 3 17      of sum(w2 * tanh(v1 @ w1)) for v1 and for w1
#pragma once
#include "tests/fuzz/reduce_steps.h"

#include <functional>
#include <random>

namespace uopscope::fuzz {

/// A chain of operations that grows at its end.
class Chain {
public:
  using Back = std::function<Precision(Precision)>;
  /// A leaf that the chain multiplies by; its gradient is asked for too.
  struct Weight {
    Tensor tensor;
    size_t link = 0;
    Back toWeight;
  };

  Chain(State& state, Tensor start, Precision p, uint32_t seed)
      : state_(state), end_(std::move(start)), p_(p), random_(seed) {}

  void grow() {
    const auto before = backs_.size();
    const auto which = random_() % 4;
    if (which == 0)
      product();
    else if (which == 1)
      view();
    else if (which == 2)
      combine();
    else
      function();
    if (backs_.size() == before) add(end_ + end_, sumOf(p_, p_, type()), "doubled", doubled());
  }
  /// The weighted sum of the end, and the precision of its gradients for the start and for each weight.
  Tensor loss() {
    const Tensor w = leaf(end_.intShape());
    text_ = "sum(leaf * " + text_ + ")";
    gradients_.assign(backs_.size() + 1, leafPrecision(type()));
    for (size_t i = backs_.size(); i-- > 0;) gradients_[i] = backs_[i](gradients_[i + 1]);
    return (end_ * w).sum();
  }
  Precision ofStart() const { return gradients_.front(); }
  Precision ofWeight(const Weight& w) const { return w.toWeight(gradients_[w.link + 1]); }
  const std::vector<Weight>& weights() const { return weights_; }
  const std::string& text() const { return text_; }

private:
  DType type() const { return end_.dtype(); }
  Tensor leaf(const Ints& shape) {
    return leafOf(state_, shape, type(), static_cast<uint32_t>(random_() % 1000));
  }
  int64_t axis() {
    return end_.ndim() ? static_cast<int64_t>(random_() % static_cast<uint64_t>(end_.ndim())) : 0;
  }
  int64_t size(int64_t axis) const { return end_.intShape()[static_cast<size_t>(axis)]; }
  Back doubled() const {
    return [t = type()](Precision g) { return sumOf(g, g, t); };
  }
  static Back unchanged() {
    return [](Precision g) { return g; };
  }
  static Back sumOver(int64_t n, DType t) {
    return [n, t](Precision g) { return sumOfMany(g, std::max<int64_t>(n, 1), t); };
  }
  void add(const Tensor& t, Precision p, const std::string& text, Back back) {
    if (p.mag > 30 || t.intNumel() > 3000) return; // the chain stays as it is, and its words too
    end_ = t, p_ = p, text_ += "." + text;
    backs_.push_back(std::move(back));
  }
  void weigh(const Tensor& w, const Tensor& t, int64_t summed, int64_t forWeight, int64_t forValue,
             const std::string& text) {
    const Precision wp = leafPrecision(type()), p = p_;
    const size_t links = backs_.size();
    const DType d = type();
    add(t, sumOfMany(productOf(p, wp, d), std::max<int64_t>(summed, 1), d), text,
        [=](Precision g) { return sumOfMany(productOf(g, wp, d), std::max<int64_t>(forValue, 1), d); });
    if (backs_.size() == links) return;
    weights_.push_back({w, links, [=](Precision g) {
                          return sumOfMany(productOf(g, p, d), std::max<int64_t>(forWeight, 1), d);
                        }});
  }

  void product() {
    const Ints shape = end_.intShape();
    switch (random_() % 4) {
    case 0: {
      const Tensor w = leaf(shape);
      return weigh(w, end_ * w, 1, 1, 1, "mul(leaf)");
    }
    case 1: {
      if (shape.empty()) return;
      const auto n = static_cast<int64_t>(1 + random_() % 9);
      const Tensor w = leaf({shape.back(), n});
      return weigh(w, end_.matmul(w), shape.back(), end_.intNumel() / std::max<int64_t>(shape.back(), 1), n,
                   fmt::format("matmul(leaf {}x{})", shape.back(), n));
    }
    case 2: {
      if (shape.size() != 4 || shape[2] < 2 || shape[3] < 2 || !shape[1]) return;
      const Tensor w = leaf({3, shape[1], 2, 2});
      return weigh(w, end_.conv2d(w, {}, 1, {1}, {1}, {1}), shape[1] * 4, end_.intNumel() * 2, 12,
                   "conv2d(leaf 3x.x2x2, padding 1)");
    }
    default: {
      const Precision p = p_;
      const DType d = type();
      return add(end_ * end_, productOf(p, p, d), "square",
                 [=](Precision g) { return sumOf(productOf(g, p, d), productOf(g, p, d), d); });
    }
    }
  }

  void view() {
    if (!end_.ndim()) return;
    const int64_t a = axis(), n = size(a);
    const DType d = type();
    const auto amount = static_cast<int64_t>(random_() % 3);
    switch (random_() % 7) {
    case 0: return add(end_.flip({a}), p_, fmt::format("flip({})", a), unchanged());
    case 1: return add(end_.transpose(0, a), p_, fmt::format("transpose(0, {})", a), unchanged());
    case 2: {
      if (n < 2) return;
      return add(end_.shrink(shrinkOf(end_, a, Sint(n / 3), Sint(n))), p_,
                 fmt::format("shrink({}, {}:)", a, n / 3), unchanged());
    }
    case 3: {
      Bounds amounts(static_cast<size_t>(end_.ndim()), {Sint(0), Sint(0)});
      amounts[static_cast<size_t>(a)] = {Sint(amount), Sint(1)};
      return add(end_.pad(amounts), p_, fmt::format("pad({}, {}, 1)", a, amount), unchanged());
    }
    case 4:
      return add(end_.repeatInterleave(2 + amount, a), p_,
                 fmt::format("repeat_interleave({}, {})", 2 + amount, a), sumOver(2 + amount, d));
    case 5:
      return add(Tensor::cat({end_, end_.flip({a})}, a), p_, fmt::format("cat(itself flipped, {})", a),
                 doubled());
    default: {
      if (!n) return;
      const auto seed = static_cast<uint32_t>(random_() % 1000);
      const Tensor index = indexOf(state_, {5}, n, seed);
      std::vector<Index> at(static_cast<size_t>(a), Index::all());
      at.push_back(Index::of(index));
      return add(end_.get(at), p_, fmt::format("[axis {}, 5 indices of seed {}]", a, seed), sumOver(5, d));
    }
    }
  }

  void combine() {
    if (!end_.ndim()) return;
    const int64_t a = axis(), n = size(a);
    const DType d = type();
    const Axes axes = std::vector<int64_t>{a};
    const bool keep = random_() % 2;
    switch (random_() % 5) {
    case 0:
      return add(end_.sum(axes, keep), sumOfMany(p_, std::max<int64_t>(n, 1), d), fmt::format("sum({})", a),
                 unchanged());
    case 1: {
      if (!n) return;
      const double digits = std::log2(static_cast<double>(n));
      auto shared = [=](Precision p) { return Precision{60, p.mag, logSum(p.err, p.mag - mantissa(d) + 2)}; };
      return add(end_.mean(axes, keep),
                 shared({p_.frac, p_.mag, logSum(p_.err, p_.mag + digits - mantissa(d))}),
                 fmt::format("mean({})", a), shared);
    }
    case 2: {
      // Ties share the gradient, so values have to be compared exactly.
      if (!n || !p_.exact()) return;
      return add(end_.max(axes, keep), p_, fmt::format("max({})", a),
                 [=](Precision g) { return Precision{60, g.mag, logSum(g.err, g.mag - mantissa(d) + 1)}; });
    }
    case 3:
      return add(end_.cumsum(a), sumOfMany(p_, std::max<int64_t>(n, 1), d), fmt::format("cumsum({})", a),
                 sumOver(n, d));
    default: {
      if (!n || p_.mag > 3) return;
      const Precision p = p_;
      return add(end_.softmax(a), functionOf(p, 2, 0, d), fmt::format("softmax({})", a), [=](Precision g) {
        return Precision{60, g.mag + 1,
                         logSum(logSum(g.err + 2, g.mag + p.err + 3), g.mag - mantissa(d) + 6)};
      });
    }
    }
  }

  /// A function with values and slopes of at most 2^mag, whose slope has a slope of at most `bend`.
  void smooth(const Tensor& t, double mag, double bend, const std::string& name) {
    const Precision p = p_;
    const DType d = type();
    const double steep = std::exp2(std::max(mag, 0.0));
    add(t, functionOf(p, steep, mag, d), name,
        [=](Precision g) { return productOf(g, functionOf(p, bend, mag, d), d); });
  }
  void function() {
    switch (random_() % 7) {
    case 0:
      if (p_.exact()) add(end_.relu(), p_, "relu", unchanged());
      return;
    case 1:
      if (p_.exact()) add(end_.abs(), p_, "abs", unchanged());
      return;
    case 2: return p_.mag <= 5 ? smooth(end_.tanh(), 0, 1, "tanh") : void();
    case 3: return p_.mag <= 5 ? smooth(end_.sin(), 0, 1, "sin") : void();
    case 4: return p_.mag <= 5 ? smooth(end_.sigmoid(), 0, 1, "sigmoid") : void();
    case 5: return p_.mag <= 2 ? smooth(end_.exp2(), 4, 16, "exp2") : void();
    default: {
      if (!p_.exact()) return;
      const DType d = type();
      return add(end_.lt(Operand(1)).where(end_, end_ * Operand(3)),
                 productOf(p_, {0, 2, Precision::kNone}, d), "where(<1, itself, times 3)",
                 [=](Precision g) { return productOf(g, {0, 2, Precision::kNone}, d); });
    }
    }
  }

  State& state_;
  Tensor end_;
  Precision p_;
  std::mt19937 random_;
  std::string text_ = "x";
  std::vector<Back> backs_;
  std::vector<Precision> gradients_; ///< of the start, and after each link
  std::vector<Weight> weights_;
};

inline void gradientStep(State& s) {
  const Value* v = s.pick();
  if (!v || v->tensor.dtype().isBool() || v->tensor.intNumel() > 2000) return;
  Precision p = v->precision;
  Tensor x = v->tensor;
  if (!x.isFloat()) {
    x = x.mod(Operand(9)).cast(dtypes::float32), p = {0, 4, Precision::kNone};
  } else if (x.dtype().itemsize() < 4) { // sums of halves round at every step
    x = x.cast(dtypes::float32), p = stored(p, dtypes::float32);
  }
  if (p.mag > 8) x = x.clamp(Operand(-16), Operand(16)), p.mag = 4;
  const uint32_t seed = s.number();
  Chain chain(s, x, p, seed);
  for (uint32_t links = 1 + s.choose(4); links; --links) chain.grow();
  const Tensor loss = chain.loss();
  std::vector<Tensor> targets{x};
  for (const Chain::Weight& w : chain.weights()) targets.push_back(w.tensor);
  const std::vector<Tensor> gradients = loss.gradient(targets);
  const std::string of = fmt::format(" of {}, x = {} (seed {})", chain.text(), nameOf(*v), seed);
  s.push(gradients[0], chain.ofStart(), "gradient" + of);
  for (size_t i = 0; i < chain.weights().size(); ++i)
    s.push(gradients[i + 1], chain.ofWeight(chain.weights()[i]),
           fmt::format("gradient for weight {}", i) + of);
}

inline const std::vector<StepKind>& gradientSteps() {
  static const std::vector<StepKind> kinds{{"gradient", 9, gradientStep}};
  return kinds;
}

} // namespace uopscope::fuzz
