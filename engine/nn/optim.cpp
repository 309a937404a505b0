// Two update rules: momentum (LARS, SGD) and running moments (LAMB, Adam).
#include "engine/nn/optim.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope::nn {

namespace {

/// factor * |weights| / (|step| + decay |weights|), 1 where either is zero. Stored: the weights are read
/// whole before any of them changes.
Tensor trustRatio(const Tensor& weights, const Tensor& step, double factor, double decay) {
  Tensor w = weights.square().sum().sqrt(), s = step.square().sum().sqrt();
  Tensor both = w.gt(0.0).bitAnd(s.gt(0.0));
  return both.where(w * factor / (s + w * decay), 1.0).contiguous();
}

class Momentum : public Optimizer {
public:
  Momentum(const std::vector<Tensor>& params, const MomentumOptions& o) : Optimizer(params, o.lr), o_(o) {
    if (o.momentum != 0) moving_ = zerosLikeParams();
  }

protected:
  Tensor update(size_t i, const Tensor& value, const Tensor& grad) override {
    Tensor rate = o_.trust != 0 ? lr_ * trustRatio(value, grad, o_.trust, o_.weightDecay) : lr_;
    Tensor t = value, g = grad;
    if (o_.preDecay && o_.weightDecay > 0) g = g + t * o_.weightDecay;
    if (o_.classic) g = g * rate;
    if (o_.momentum != 0) {
      moving_[i].assign(moving_[i] * o_.momentum + g);
      g = o_.nesterov ? g + moving_[i] * o_.momentum : moving_[i];
    }
    if (!o_.nsCoefficients.empty())
      g = g.reshape({g.shape()[0], Sint(-1)}).newtonSchulz(o_.nsSteps, o_.nsCoefficients).reshape(g.shape());
    if (!o_.preDecay && o_.weightDecay > 0) t = t * (Tensor(lr_) * -o_.weightDecay + 1.0);
    return t - (o_.classic ? g : g * rate);
  }
  std::vector<Tensor> ownState() const override { return moving_; }

private:
  MomentumOptions o_;
  std::vector<Tensor> moving_;
};

class Moments : public Optimizer {
public:
  Moments(const std::vector<Tensor>& params, const MomentOptions& o)
      : Optimizer(params, o.lr), o_(o), mean_(zerosLikeParams()), square_(zerosLikeParams()) {
    TensorOptions own{params_[0].device(), dtypes::float32, false};
    b1Power_ = Tensor::ones({1}, own).contiguous();
    b2Power_ = Tensor::ones({1}, own).contiguous();
  }

protected:
  void beforeUpdates() override {
    b1Power_.assign(b1Power_ * o_.b1);
    b2Power_.assign(b2Power_ * o_.b2);
  }
  Tensor update(size_t i, const Tensor& value, const Tensor& grad) override {
    mean_[i].assign((mean_[i] * o_.b1 + grad * (1 - o_.b1)).cast(mean_[i].dtype()));
    square_[i].assign((square_[i] * o_.b2 + grad * grad * (1 - o_.b2)).cast(square_[i].dtype()));
    Tensor step =
        mean_[i] / b1Power_.sub(1.0, true) / ((square_[i] / b2Power_.sub(1.0, true)).sqrt() + o_.eps);
    if (o_.weightDecay != 0) step = step + value * o_.weightDecay;
    return value - lr_ * (o_.trust ? trustRatio(value, step, 1, 0) * step : step);
  }
  std::vector<Tensor> ownState() const override {
    std::vector<Tensor> out{b1Power_, b2Power_};
    out.insert(out.end(), mean_.begin(), mean_.end());
    out.insert(out.end(), square_.begin(), square_.end());
    return out;
  }

private:
  MomentOptions o_;
  std::vector<Tensor> mean_, square_;
  Tensor b1Power_, b2Power_;
};

} // namespace

Optimizer::Optimizer(const std::vector<Tensor>& params, double lr) {
  auto addOnce = [](std::vector<Tensor>& to, const Tensor& t) {
    if (std::none_of(to.begin(), to.end(), [&](const Tensor& o) { return o.sameAs(t); })) to.push_back(t);
  };
  for (const Tensor& p : params) {
    if (!p.requiresGrad()) p.setRequiresGrad(true);
    addOnce(*p.requiresGrad() ? params_ : buffers_, p);
  }
  if (params_.empty()) throw Error(ErrorKind::Value, "optimizer must have at least one param");
  DType wide = dtypes::leastUpper(dtypes::defaultFloat(), dtypes::float32);
  lr_ = Tensor::fromDoubles({lr}, {1}, {params_[0].device(), wide, false});
}

void Optimizer::zeroGrad() const {
  for (const Tensor& p : params_) p.setGrad(Tensor());
}

void Optimizer::step() {
  Tensor::realize(scheduleStep());
}

std::vector<Tensor> Optimizer::scheduleStep() {
  if (!Tensor::training())
    throw Error(
        ErrorKind::Runtime,
        "Tensor::training is false and must be true for an optimizer step: nn::Training sets it for a block");
  for (const Tensor& p : params_)
    if (!p.grad())
      throw Error(
          ErrorKind::Value,
          fmt::format("no gradient for a parameter of shape {}: call backward() on a loss that depends on it",
                      shapeStr(p.shape())));
  beforeUpdates();
  std::vector<Tensor> values;
  for (size_t i = 0; i < params_.size(); ++i)
    values.push_back(update(i, params_[i].detach(), params_[i].grad()).cast(params_[i].dtype()));
  for (size_t i = 0; i < params_.size(); ++i) params_[i].assign(values[i]);
  std::vector<Tensor> all = ownState();
  all.insert(all.end(), params_.begin(), params_.end());
  all.insert(all.end(), buffers_.begin(), buffers_.end());
  return all;
}

std::vector<Tensor> Optimizer::zerosLikeParams() const {
  std::vector<Tensor> out;
  for (const Tensor& p : params_)
    out.push_back(Tensor::zeros(p.shape(), {p.device(), dtypes::float32, false}).contiguous());
  return out;
}

std::unique_ptr<Optimizer> lars(const std::vector<Tensor>& params, const MomentumOptions& o) {
  return std::make_unique<Momentum>(params, o);
}
std::unique_ptr<Optimizer> lamb(const std::vector<Tensor>& params, const MomentOptions& o) {
  return std::make_unique<Moments>(params, o);
}
std::unique_ptr<Optimizer> sgd(const std::vector<Tensor>& params, const SgdOptions& o) {
  return lars(params, {.lr = o.lr,
                       .momentum = o.momentum,
                       .weightDecay = o.weightDecay,
                       .nesterov = o.nesterov,
                       .classic = o.classic,
                       .preDecay = true,
                       .trust = 0});
}
std::unique_ptr<Optimizer> muon(const std::vector<Tensor>& params, const MuonOptions& o) {
  return lars(params, {.lr = o.lr,
                       .momentum = o.momentum,
                       .weightDecay = o.weightDecay,
                       .nesterov = o.nesterov,
                       .classic = false,
                       .preDecay = false,
                       .trust = 0,
                       .nsSteps = o.nsSteps,
                       .nsCoefficients = o.nsCoefficients});
}
std::unique_ptr<Optimizer> adam(const std::vector<Tensor>& params, const AdamOptions& o) {
  return lamb(
      params,
      {.lr = o.lr, .b1 = o.b1, .b2 = o.b2, .eps = o.eps, .weightDecay = o.weightDecay, .trust = false});
}

OptimizerGroup::OptimizerGroup(std::vector<std::unique_ptr<Optimizer>> members)
    : members_(std::move(members)) {
  for (const auto& m : members_) params_.insert(params_.end(), m->params().begin(), m->params().end());
}
std::vector<Tensor> OptimizerGroup::scheduleStep() {
  std::vector<Tensor> all;
  for (const auto& m : members_)
    for (const Tensor& t : m->scheduleStep()) all.push_back(t);
  return all;
}

} // namespace uopscope::nn
