// Parameters are drawn in the order in which the reference draws them, so that a seed gives its numbers.
#include "engine/nn/layers.h"

#include "engine/base/error.h"

#include <fmt/format.h>

#include <cmath>

namespace uopscope::nn {

namespace {

Tensor uniform(const Ints& shape, double fanIn) {
  double bound = 1 / std::sqrt(fanIn);
  return Tensor::uniform(shape, ConstValue::ofFloat(-bound), ConstValue::ofFloat(bound));
}
Shape toShape(const Ints& shape) {
  return Shape(shape.begin(), shape.end());
}
double product(const Ints& xs) {
  double p = 1;
  for (int64_t x : xs) p *= static_cast<double>(x);
  return p;
}
Ints withSizes(int64_t a, int64_t b, const Ints& kernel) {
  Ints out{a, b};
  out.insert(out.end(), kernel.begin(), kernel.end());
  return out;
}
Tensor constant(int64_t size, bool one, RequiresGrad grad = {}) {
  TensorOptions o{{}, {}, grad};
  return one ? Tensor::ones({Sint(size)}, o) : Tensor::zeros({Sint(size)}, o);
}
void add(StateDict& state, const std::string& name, const Tensor& t) {
  if (t) state.emplace_back(name, t);
}
/// (1, -1, 1, 1 ...): a number per channel.
Shape perChannel(const Tensor& x) {
  Shape s(static_cast<size_t>(std::max<int64_t>(x.ndim(), 2)), Sint(1));
  s[1] = -1;
  return s;
}
Tensor scaled(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return weight && bias ? x * weight + bias : x;
}

} // namespace

Linear::Linear(int64_t inFeatures, int64_t outFeatures, bool withBias)
    : weight(uniform({outFeatures, inFeatures}, static_cast<double>(inFeatures))) {
  if (withBias) bias = uniform({outFeatures}, static_cast<double>(inFeatures));
}
Tensor Linear::operator()(const Tensor& x) const {
  return x.linear(weight.transpose(), bias);
}
void Linear::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight), add(state, prefix + "bias", bias);
}

Conv2d::Conv2d(int64_t inChannels, int64_t outChannels, Ints k, ConvOptions o)
    : kernel(std::move(k)), options(std::move(o)) {
  double fanIn = static_cast<double>(inChannels) * product(kernel);
  weight = uniform(withSizes(outChannels, inChannels / options.groups, kernel), fanIn);
  if (options.bias) bias = uniform({outChannels}, fanIn);
}
Tensor Conv2d::operator()(const Tensor& x) const {
  return x.conv2d(weight, bias, options.groups, options.stride, options.dilation, options.padding);
}
void Conv2d::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight), add(state, prefix + "bias", bias);
}

ConvTranspose2d::ConvTranspose2d(int64_t inChannels, int64_t outChannels, Ints k, ConvOptions o)
    : Conv2d(inChannels, outChannels, std::move(k), std::move(o)) {
  weight = uniform(withSizes(inChannels, outChannels / options.groups, kernel),
                   static_cast<double>(inChannels) * product(kernel));
}
Tensor ConvTranspose2d::operator()(const Tensor& x) const {
  return x.convTranspose2d(weight, bias, options.groups, options.stride, options.dilation, options.padding,
                           options.outputPadding);
}

BatchNorm::BatchNorm(int64_t size, double e, bool affine, bool t, double m) : eps(e), momentum(m), track(t) {
  if (affine) weight = constant(size, true), bias = constant(size, false);
  numBatchesTracked = Tensor::zeros({}, {{}, dtypes::int64, false});
  if (track) runningMean = constant(size, false, false), runningVar = constant(size, true, false);
}
Tensor BatchNorm::operator()(const Tensor& x) const {
  Tensor mean = runningMean, var;
  if (track && !Tensor::training()) {
    var = runningVar.reshape(perChannel(x)).expand(x.shape());
  } else {
    Axes others = Ints{};
    for (int64_t axis = 0; axis < x.ndim(); ++axis)
      if (axis != 1) others->push_back(axis);
    mean = x.mean(others);
    var = (x - mean.detach().reshape(perChannel(x))).square().mean(others);
  }
  if (track && Tensor::training()) {
    auto n = static_cast<double>(x.intNumel());
    double unbiased = n / (n - static_cast<double>(x.intShape()[1]));
    runningMean.assign(runningMean * (1 - momentum) + mean.detach() * momentum);
    runningVar.assign(runningVar * (1 - momentum) + var.detach() * (momentum * unbiased));
    numBatchesTracked.assign(numBatchesTracked + 1);
  }
  return x.batchnorm(weight, bias, mean, (var + eps).rsqrt());
}
void BatchNorm::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight), add(state, prefix + "bias", bias);
  add(state, prefix + "num_batches_tracked", numBatchesTracked);
  add(state, prefix + "running_mean", runningMean), add(state, prefix + "running_var", runningVar);
}

GroupNorm::GroupNorm(int64_t g, int64_t channels, double e, bool affine) : groups(g), eps(e) {
  if (affine) weight = constant(channels, true), bias = constant(channels, false);
}
Tensor GroupNorm::operator()(const Tensor& x) const {
  Tensor y = x.reshape({x.shape()[0], Sint(groups), Sint(-1)}).layernorm({-1}, eps).reshape(x.shape());
  return weight ? scaled(y, weight.reshape(perChannel(x)), bias.reshape(perChannel(x))) : y;
}
void GroupNorm::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight), add(state, prefix + "bias", bias);
}

LayerNorm::LayerNorm(Ints s, double e, bool affine) : shape(std::move(s)), eps(e) {
  if (affine) weight = Tensor::ones(toShape(shape)), bias = Tensor::zeros(toShape(shape));
}
Tensor LayerNorm::operator()(const Tensor& x) const {
  Shape all = x.shape(), own = toShape(shape);
  if (all.size() < own.size() || !std::equal(own.rbegin(), own.rend(), all.rbegin()))
    throw Error(ErrorKind::Shape,
                fmt::format("last dimensions of {} must match {}", shapeStr(all), shapeStr(own)));
  Ints axes;
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back(-1 - static_cast<int64_t>(i));
  return scaled(x.layernorm(axes, eps), weight, bias);
}
void LayerNorm::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight), add(state, prefix + "bias", bias);
}
Tensor LayerNorm2d::operator()(const Tensor& x) const {
  return LayerNorm::operator()(x.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
}

RMSNorm::RMSNorm(int64_t size, double e, bool affine) : eps(e) {
  if (affine) weight = constant(size, true);
}
Tensor RMSNorm::operator()(const Tensor& x) const {
  Tensor f = x.cast(dtypes::float32);
  Tensor y = (f * (f.square().mean(Ints{-1}, true) + eps).rsqrt()).cast(x.dtype());
  return weight ? y * weight : y;
}
void RMSNorm::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight);
}

Embedding::Embedding(int64_t vocabulary, int64_t size) : weight(Tensor::glorotUniform({vocabulary, size})) {}
Tensor Embedding::operator()(const Tensor& numbers) const {
  if (!numbers.dtype().isInt())
    throw Error(ErrorKind::Type,
                fmt::format("Expected integer dtype for index in embedding, got {}", numbers.dtype().name()));
  Tensor rows = Tensor::arange(weight.intShape()[0], {weight.device(), {}, false}).unsqueeze(-1);
  Tensor chosen = numbers.unsqueeze(-1).unsqueeze(-1).eq(rows);
  return chosen.where(weight, 0.0).sum(Ints{-2}, false, weight.dtype());
}
void Embedding::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight", weight);
}

LSTMCell::LSTMCell(int64_t inputSize, int64_t hiddenSize, bool bias)
    : weightIh(uniform({hiddenSize * 4, inputSize}, static_cast<double>(hiddenSize))),
      weightHh(uniform({hiddenSize * 4, hiddenSize}, static_cast<double>(hiddenSize))) {
  if (bias) biasIh = constant(hiddenSize * 4, false), biasHh = constant(hiddenSize * 4, false);
}
std::pair<Tensor, Tensor> LSTMCell::operator()(const Tensor& x, const Tensor& h, const Tensor& c) const {
  Tensor zeros = Tensor::zeros({x.shape()[0], weightHh.shape()[1]}, {x.device(), x.dtype(), {}});
  Tensor gates =
      x.linear(weightIh.transpose(), biasIh) + (h ? h : zeros).linear(weightHh.transpose(), biasHh);
  std::vector<Tensor> part = gates.chunk(4, 1); // take, forget, new, show
  Tensor nextC = part[1].sigmoid() * (c ? c : zeros) + part[0].sigmoid() * part[2].tanh();
  return {(part[3].sigmoid() * nextC.tanh()).contiguous(), nextC.contiguous()};
}
void LSTMCell::addTo(StateDict& state, const std::string& prefix) const {
  add(state, prefix + "weight_ih", weightIh), add(state, prefix + "weight_hh", weightHh);
  add(state, prefix + "bias_ih", biasIh), add(state, prefix + "bias_hh", biasHh);
}

} // namespace uopscope::nn
