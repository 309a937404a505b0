// Layers: parameters and the tensor operation that uses them, with the reference's arguments, defaults and
// numbers.
//
//   Tensor::manualSeed(0);
//   nn::Conv2d conv(1, 8, {3, 3}, {.padding = {1}});
//   Tensor y = conv(Tensor::rand({1, 1, 28, 28}));
//
// Members are public, as in the reference: the members of a layer are all of its state. An absent
// parameter is an empty handle.
#pragma once
#include "engine/nn/module.h"

namespace uopscope::nn {

struct Linear : Module {
  Linear(int64_t inFeatures, int64_t outFeatures, bool withBias = true);
  Tensor operator()(const Tensor& x) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  Tensor weight, bias; ///< (out, in), (out)
};

struct ConvOptions {
  Ints stride = {1}, padding = {0}, dilation = {1};
  int64_t groups = 1;
  bool bias = true;
  Ints outputPadding = {0}; ///< of a transposed convolution
};

/// As many axes of space as the kernel has numbers.
struct Conv2d : Module {
  Conv2d(int64_t inChannels, int64_t outChannels, Ints kernel, ConvOptions options = {});
  Tensor operator()(const Tensor& x) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  Ints kernel;
  ConvOptions options;
  Tensor weight, bias;
};

struct ConvTranspose2d : Conv2d {
  ConvTranspose2d(int64_t inChannels, int64_t outChannels, Ints kernel, ConvOptions options = {});
  Tensor operator()(const Tensor& x) const;
};

/// Normalises each channel over batch and space: by the batch in training, else by the averages of training.
struct BatchNorm : Module {
  explicit BatchNorm(int64_t size, double eps = 1e-5, bool affine = true, bool track = true,
                     double momentum = 0.1);
  Tensor operator()(const Tensor& x) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  double eps, momentum;
  bool track;
  Tensor weight, bias, numBatchesTracked, runningMean, runningVar;
};

struct GroupNorm : Module {
  GroupNorm(int64_t groups, int64_t channels, double eps = 1e-5, bool affine = true);
  Tensor operator()(const Tensor& x) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  int64_t groups;
  double eps;
  Tensor weight, bias;
};

/// Every channel of every sample by itself.
struct InstanceNorm : GroupNorm {
  explicit InstanceNorm(int64_t features, double eps = 1e-5, bool affine = true)
      : GroupNorm(features, features, eps, affine) {}
};

/// Over the last axes.
struct LayerNorm : Module {
  explicit LayerNorm(Ints shape, double eps = 1e-5, bool affine = true);
  Tensor operator()(const Tensor& x) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  Ints shape;
  double eps;
  Tensor weight, bias;
};

/// Over the channels of (batch, channels, height, width).
struct LayerNorm2d : LayerNorm {
  using LayerNorm::LayerNorm;
  Tensor operator()(const Tensor& x) const;
};

struct RMSNorm : Module {
  explicit RMSNorm(int64_t size, double eps = 1e-6, bool affine = true);
  Tensor operator()(const Tensor& x) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  double eps;
  Tensor weight;
};

/// Rows of a table by number; a number outside gives zeros.
struct Embedding : Module {
  Embedding(int64_t vocabulary, int64_t size);
  Tensor operator()(const Tensor& numbers) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  Tensor weight;
};

struct LSTMCell : Module {
  LSTMCell(int64_t inputSize, int64_t hiddenSize, bool bias = true);
  /// (h, c) after one step; empty handles begin with zeros.
  std::pair<Tensor, Tensor> operator()(const Tensor& x, const Tensor& h = {}, const Tensor& c = {}) const;
  void addTo(StateDict& state, const std::string& prefix) const override;
  Tensor weightIh, weightHh, biasIh, biasHh;
};

} // namespace uopscope::nn
