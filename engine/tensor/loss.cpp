// Loss functions.
#include "engine/tensor/real_values.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

namespace uopscope {

Tensor Tensor::reduceLoss(Reduction r) const {
  return r == Reduction::Mean ? mean() : r == Reduction::Sum ? sum() : *this;
}

Tensor Tensor::binaryCrossentropy(const Tensor& labels, Reduction r) const {
  OperationScope op("binary_crossentropy");
  // A certain and right prediction gives 0 times log(0), which must be a number.
  auto logarithm = [](const Tensor& p) { return p.log().clamp(Operand(-100), {}); };
  Tensor y = realValues(labels);
  return y.neg().mul(logarithm(*this)).sub(y.sub(1, true).mul(logarithm(sub(1, true)))).reduceLoss(r);
}

Tensor Tensor::binaryCrossentropyLogits(const Tensor& labels, Reduction r, const Tensor& posWeight) const {
  OperationScope op("binary_crossentropy_logits");
  Tensor y = realValues(labels), weighted = posWeight ? posWeight.mul(y) : y.mul(1, true);
  return weighted.mul(logsigmoid()).add(y.sub(1, true).mul(neg().logsigmoid())).neg().reduceLoss(r);
}

Tensor Tensor::sparseCategoricalCrossentropy(const Tensor& y, int64_t ignoreIndex, double smoothing,
                                             Reduction r) const {
  OperationScope op("sparse_categorical_crossentropy");
  if (smoothing < 0 || smoothing > 1) fail(ErrorKind::Shape, "label_smoothing must be in [0.0, 1.0]");
  const Sint classes = shape()[resolveAxis(-1)];
  Tensor logs = logSoftmax();
  Tensor mask = ignoreIndex != -1 ? y.ne(ConstValue::ofInt(ignoreIndex))
                                  : y.fullLike(ConstValue::ofBool(true), {{}, dtypes::bool_, {}});
  // A selection, not a product: an impossible class has an infinite logarithm.
  Tensor hot = y.to(device()).unsqueeze(-1).oneHotAlong(classes).bitAnd(mask.unsqueeze(-1));
  Tensor each = hot.where(logs, 0).sum(Ints{-1});
  if (smoothing != 0)
    each = each.mul(1 - smoothing, true).add(logs.mean(Ints{-1}).mul(mask).mul(smoothing, true));
  // The mean is over the elements that the mask keeps.
  Tensor total = r == Reduction::Mean ? each.sum().div(mask.sum()) : r == Reduction::Sum ? each.sum() : each;
  return total.neg();
}

Tensor Tensor::crossEntropy(const Tensor& target, Reduction r, double smoothing) const {
  OperationScope op("cross_entropy");
  if (smoothing < 0 || smoothing > 1) fail(ErrorKind::Shape, "label_smoothing must be in [0.0, 1.0]");
  const size_t axis = resolveAxis(ndim() == 1 ? 0 : 1);
  const auto classes = static_cast<int64_t>(axis);
  Tensor y = target;
  if (shape() != y.shape()) {
    Shape rest = shape();
    if (!rest.empty()) rest.erase(rest.begin() + classes);
    if (rest != y.shape())
      fail(ErrorKind::Runtime,
           fmt::format("shape mismatch: self.shape={}, Y.shape={}", shapeStr(shape()), shapeStr(y.shape())));
    y = y.unsqueeze(classes).oneHotAlong(shape()[axis], classes);
    if (smoothing == 0) return y.where(logSoftmax(classes), 0).sum(Ints{classes}).neg().reduceLoss(r);
  }
  double share = smoothing / static_cast<double>(y.intDim(axis));
  y = y.mul(1 - smoothing, true).add(share);
  return logSoftmax(classes).mul(y).sum(Ints{classes}).neg().reduceLoss(r);
}

Tensor Tensor::nllLoss(const Tensor& y, const Tensor& weight, std::optional<int64_t> ignoreIndex,
                       Reduction r) const {
  OperationScope op("nll_loss");
  Tensor w = weight ? weight.get({Index::of(y)}) : y.fullLike(ConstValue::ofInt(1), {{}, {}, false});
  if (ignoreIndex) w = w.mul(y.ne(ConstValue::ofInt(*ignoreIndex)));
  Tensor nll = gather(1, y.unsqueeze(1)).squeeze(1).neg().mul(w);
  return r == Reduction::Mean ? nll.sum().div(w.sum()) : nll.reduceLoss(r);
}

} // namespace uopscope
