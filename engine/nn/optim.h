// Optimizers: zeroGrad() forgets gradients, step() assigns new values to the parameters and computes them.
//
//   auto opt = nn::adam(net.parameters(), {.lr = 1e-3});
//   nn::Training on;
//   opt->zeroGrad();  loss(net(x)).backward();  opt->step();
//
// Arguments, defaults and numbers are the reference's; python/tinygrad/nn/optim.py says how they hang
// together.
#pragma once
#include "engine/tensor/tensor.h"

#include <memory>
#include <vector>

namespace uopscope::nn {

class Optimizer {
public:
  /// Parameters whose requiresGrad is unset are trained from now on; those where it is false are only
  /// realized.
  Optimizer(const std::vector<Tensor>& params, double lr);
  virtual ~Optimizer() = default;
  void zeroGrad() const;
  void step();
  /// Assigns the new values and answers all that has to be realized for them.
  virtual std::vector<Tensor> scheduleStep();
  const std::vector<Tensor>& params() const { return params_; }
  const Tensor& lr() const { return lr_; }

protected:
  Optimizer() = default;
  /// The new value of parameter i.
  virtual Tensor update(size_t i, const Tensor& value, const Tensor& grad) = 0;
  /// Before the first update of a step, and the state to realize after the last.
  virtual void beforeUpdates() {}
  virtual std::vector<Tensor> ownState() const = 0;
  std::vector<Tensor> zerosLikeParams() const;

  std::vector<Tensor> params_, buffers_;
  Tensor lr_;
};

struct MomentumOptions {
  double lr = 0.001, momentum = 0.9, weightDecay = 1e-4;
  bool nesterov = false, classic = true, preDecay = true;
  double trust = 0.001; ///< 0: no ratio of norms
  int64_t nsSteps = 0;  ///< Newton-Schulz iterations that make a step orthogonal
  std::vector<double> nsCoefficients = {};
};
struct MomentOptions {
  double lr = 0.001, b1 = 0.9, b2 = 0.999, eps = 1e-6, weightDecay = 0;
  bool trust = true; ///< the ratio of norms of LAMB
};
struct SgdOptions {
  double lr = 0.001, momentum = 0, weightDecay = 0;
  bool nesterov = false, classic = false;
};
struct AdamOptions {
  double lr = 0.001, b1 = 0.9, b2 = 0.999, eps = 1e-8, weightDecay = 0;
};

struct MuonOptions {
  double lr = 0.001, momentum = 0.95, weightDecay = 0.1;
  int64_t nsSteps = 5;
  std::vector<double> nsCoefficients = {3.4445, -4.775, 2.0315};
  bool nesterov = true;
};

std::unique_ptr<Optimizer> lars(const std::vector<Tensor>& params, const MomentumOptions& o = {});
std::unique_ptr<Optimizer> lamb(const std::vector<Tensor>& params, const MomentOptions& o = {});
std::unique_ptr<Optimizer> sgd(const std::vector<Tensor>& params, const SgdOptions& o = {});
/// For matrices: each step is made orthogonal.
std::unique_ptr<Optimizer> muon(const std::vector<Tensor>& params, const MuonOptions& o = {});
/// Adam, and with a weightDecay AdamW.
std::unique_ptr<Optimizer> adam(const std::vector<Tensor>& params, const AdamOptions& o = {});

/// Several that step together.
class OptimizerGroup : public Optimizer {
public:
  explicit OptimizerGroup(std::vector<std::unique_ptr<Optimizer>> members);
  std::vector<Tensor> scheduleStep() override;

protected:
  Tensor update(size_t, const Tensor& value, const Tensor&) override { return value; }
  std::vector<Tensor> ownState() const override { return {}; }

private:
  std::vector<std::unique_ptr<Optimizer>> members_;
};

} // namespace uopscope::nn
