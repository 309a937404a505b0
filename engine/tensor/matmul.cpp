// Products of matrices, convolution as a reduction over windows, attention. conv_transpose.cpp has the transposed convolution.
#include "engine/tensor/tensor.h"
#include "engine/tensor/winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace uopscope {

Tensor Tensor::dot(const Tensor& w, std::optional<DType> dt) const {
  OperationScope op("dot");
  int64_t dx = ndim(), dw = w.ndim();
  if (dx == 0 || dw == 0)
    fail(ErrorKind::Runtime, fmt::format("both tensors need to be at least 1D, got {}D and {}D", dx, dw));
  size_t axis = w.shape().size() - static_cast<size_t>(std::min<int64_t>(dw, 2));
  if (!(shape().back() == w.shape()[axis]))
    fail(ErrorKind::Runtime, fmt::format("cannot dot {} and {}", shapeStr(shape()), shapeStr(w.shape())));
  auto ones = static_cast<size_t>(std::min({dx - 1, dw - 1, int64_t{1}}));
  Shape left(shape().begin(), shape().end() - 1),
      right(w.shape().begin(), w.shape().end() - std::min<long>(2, static_cast<long>(dw)));
  left.insert(left.end(), ones, Sint(1));
  left.push_back(shape().back());
  right.insert(right.end(), ones, Sint(1));
  right.insert(right.end(), w.shape().begin() + static_cast<long>(axis), w.shape().end());
  Tensor x = reshape(left), y = w.reshape(right);
  if (dw > 1) y = y.transpose(-1, -2);
  return x.mul(y).sum(Ints{-1}, false, dt).cast(dt.value_or(dtypes::leastUpper(dtype(), w.dtype())));
}

Tensor Tensor::matmul(const Tensor& w, bool reverse, std::optional<DType> dt) const {
  OperationScope op("matmul");
  return reverse ? w.dot(*this, dt) : dot(w, dt);
}

Tensor Tensor::linear(const Tensor& weight, const Tensor& bias, std::optional<DType> dt) const {
  OperationScope op("linear");
  if (dt) return cast(*dt).linear(weight.cast(*dt), bias ? bias.cast(*dt) : bias);
  Tensor x = weight.ndim() == 1 ? mul(weight) : dot(weight);
  return bias ? x.add(bias) : x;
}

Ints Tensor::poolPads(const Ints& padding, size_t dims) const {
  if (padding.size() == 1 && dims != 1) return Ints(2 * dims, padding[0]);
  if (padding.size() == 2 * dims) return padding;
  if (padding.size() != dims)
    fail(ErrorKind::Value,
         fmt::format("Padding must be an int or a sequence of length {} or {}, but got ({}) for shape {}",
                     dims, 2 * dims, fmt::join(padding, ", "), shapeStr(shape())));
  Ints out; // last axis first, as in flat padding
  for (size_t i = dims; i-- > 0;) out.insert(out.end(), {padding[i], padding[i]});
  return out;
}

Tensor Tensor::padFlat(const Ints& pads, ConstValue value) const {
  if (pads.size() > 2 * shape().size())
    fail(ErrorKind::Shape, fmt::format("padding of {} axes, the tensor {} has {}", pads.size() / 2,
                                       shapeStr(shape()), shape().size()));
  Bounds amounts(shape().size(), {0, 0});
  for (size_t i = 0; i * 2 + 1 < pads.size(); ++i)
    amounts[shape().size() - 1 - i] = {Sint(pads[i * 2]), Sint(pads[i * 2 + 1])};
  return pad(amounts, value);
}

Tensor Tensor::conv2d(const Tensor& weight, const Tensor& bias, int64_t groups, const Ints& stride,
                      const Ints& dilation, const Ints& padding, std::optional<DType> dt) const {
  OperationScope op("conv2d");
  Ints ws = weight.intShape();
  size_t n = ws.size() < 2 ? 0 : ws.size() - 2;
  if (ws.size() < 3 || shape().size() != ws.size() || !graph::isInt(shape()[1], groups * ws[1]) ||
      ws[0] % std::max<int64_t>(1, groups))
    fail(ErrorKind::Shape,
         fmt::format("Input Tensor shape {} does not match the shape of the weights {} with groups={}",
                     shapeStr(shape()), shapeStr(weight.shape()), groups));
  Sint batch = shape()[0];
  int64_t cout = ws[0], cin = ws[1], rcout = cout / groups;
  Ints kernel(ws.begin() + 2, ws.end());
  const Tensor padded = padFlat(poolPads(padding, n), ConstValue::ofFloat(0));
  auto withBias = [&](const Tensor& y) {
    if (!bias) return y;
    Shape column{1, Sint(-1)};
    column.insert(column.end(), n, Sint(1));
    return y.add(bias.reshape(column));
  };
  if (suitsWinograd(padded, weight, stride, dilation))
    return withBias(winogradConv(padded, weight, groups, dt));
  Tensor x = padded.pool(kernel, stride, dilation, false); // (batch, channels, out..., kernel...)
  Shape out(x.shape().begin() + 2, x.shape().begin() + 2 + static_cast<long>(n));
  Shape apart{batch, Sint(groups), Sint(cin), 1}, wide{batch, Sint(groups), Sint(cin), Sint(rcout)},
      filter{1, Sint(groups), Sint(rcout)};
  for (Shape* s : {&apart, &wide}) {
    s->insert(s->end(), out.begin(), out.end());
    s->insert(s->end(), kernel.begin(), kernel.end());
  }
  filter.insert(filter.end(), n, Sint(1));
  filter.push_back(cin);
  filter.insert(filter.end(), kernel.begin(), kernel.end());
  // (batch, groups, rcout, out..., cin, kernel...): the summed axes are last
  Ints order{0, 1, 3};
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(4 + i));
  order.push_back(2);
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(4 + n + i));
  Ints summed;
  for (size_t i = 0; i <= n; ++i) summed.push_back(-1 - static_cast<int64_t>(i));
  Shape result{batch, Sint(cout)};
  result.insert(result.end(), out.begin(), out.end());
  return withBias(x.reshape(apart)
                      .expand(wide)
                      .permute(order)
                      .mul(weight.reshape(filter))
                      .sum(summed, true, dt)
                      .reshape(result));
}

Tensor Tensor::scaledDotProductAttention(const Tensor& key, const Tensor& value, const Tensor& mask,
                                         double dropoutP, bool causal, bool gqa) const {
  OperationScope op("scaled_dot_product_attention");
  Tensor k = key, v = value, m = mask;
  if (gqa) {
    int64_t times = intDim(resolveAxis(-3)) / std::max<int64_t>(1, k.intDim(k.resolveAxis(-3)));
    k = k.repeatInterleave(times, -3);
    v = v.repeatInterleave(times, -3);
  }
  DType wide = dtypes::leastUpper(dtypes::leastUpper(dtype(), k.dtype()), dtypes::float32);
  Tensor scores =
      matmul(k.transpose(-2, -1), false, wide).div(std::sqrt(static_cast<double>(intDim(resolveAxis(-1)))));
  if (causal) {
    if (m) fail(ErrorKind::Runtime, "cannot set attn_mask when is_causal=True");
    m = scores.fullLike(ConstValue::ofBool(true), {device(), dtypes::bool_, false}).tril();
  }
  if (m) scores = scores.add(m.dtype().isBool() ? m.where(0, -INFINITY) : m);
  return scores.cast(dtype()).softmax(-1).dropout(dropoutP).matmul(v);
}

} // namespace uopscope
