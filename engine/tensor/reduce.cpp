// Reductions, and statistics, softmax and norms built from them.
#include "engine/tensor/real_values.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace uopscope {

namespace {

bool isSmallFloat(DType d) {
  return d.isFloat() && d.itemsize() < 4;
}

} // namespace

std::vector<int64_t> Tensor::resolveAxes(const Axes& axes) const {
  Ints out;
  if (!axes) {
    out.resize(static_cast<size_t>(ndim()));
    std::iota(out.begin(), out.end(), 0);
  } else {
    for (int64_t a : *axes) out.push_back(resolveDim(a));
  }
  if (ndim() == 0) out.clear();
  return out;
}

Tensor Tensor::reduce(Op op, const Axes& axes, bool keepdim) const {
  Ints over = resolveAxes(axes);
  Tensor result = apply(graph::reduceAxis(uop(), op, over));
  result.state_->leaveNames(); // a new value, even if all axes have length 1 and it uses the same buffer
  result.state_->mayShare = true;
  if (keepdim) return result;
  Shape rest;
  for (int64_t i = 0; i < ndim(); ++i)
    if (std::find(over.begin(), over.end(), i) == over.end()) rest.push_back(shape()[static_cast<size_t>(i)]);
  return result.reshape(rest);
}

Tensor Tensor::sum(const Axes& axes, bool keepdim, std::optional<DType> dt) const {
  OperationScope op("sum");
  Tensor result = cast(dt.value_or(sumAccDtype(dtype()))).reduce(Op::ADD, axes, keepdim);
  return !dt && isSmallFloat(dtype()) ? result.cast(dtype()) : result;
}
Tensor Tensor::prod(const Axes& axes, bool keepdim, std::optional<DType> dt) const {
  OperationScope op("prod");
  return cast(dt.value_or(dtype())).reduce(Op::MUL, axes, keepdim);
}
Tensor Tensor::max(const Axes& axes, bool keepdim) const {
  OperationScope op("max");
  return reduce(Op::MAX, axes, keepdim);
}
Tensor Tensor::min(const Axes& axes, bool keepdim) const {
  OperationScope op("min");
  return inverse().max(axes, keepdim).inverse();
}
Tensor Tensor::any(const Axes& axes, bool keepdim) const {
  OperationScope op("any");
  return cast(dtypes::bool_).max(axes, keepdim);
}
Tensor Tensor::all(const Axes& axes, bool keepdim) const {
  OperationScope op("all");
  return logicalNot().any(axes, keepdim).logicalNot();
}

namespace {
/// The number of elements that contribute to one result.
Sint reducedCount(const Tensor& x, const Ints& axes) {
  Sint n = 1;
  for (int64_t a : axes) n = n * x.shape()[static_cast<size_t>(a)];
  return n;
}
} // namespace

Tensor Tensor::mean(const Axes& axes, bool keepdim) const {
  OperationScope op("mean");
  DType out = isFloat() ? dtype() : dtypes::float32;
  return cast(sumAccDtype(dtype())).sum(axes, keepdim).div(reducedCount(*this, resolveAxes(axes))).cast(out);
}

namespace {
/// The variance in the type that sums use, since the square of a half soon overflows.
Tensor variance(const Tensor& x, const Ints& axes, bool keepdim, int64_t correction) {
  Tensor apart = x.sub(x.mean(axes, true));
  return apart.cast(sumAccDtype(apart.dtype()))
      .square()
      .sum(axes, keepdim)
      .div(graph::smax(0, reducedCount(x, axes) - Sint(correction)));
}
DType typeOfMean(const Tensor& x) {
  return x.isFloat() ? x.dtype() : dtypes::float32;
}
} // namespace

Tensor Tensor::var(const Axes& axes, bool keepdim, int64_t correction) const {
  OperationScope op("var");
  return variance(*this, resolveAxes(axes), keepdim, correction).cast(typeOfMean(*this));
}

Tensor Tensor::std(const Axes& axes, bool keepdim, int64_t correction) const {
  OperationScope op("std");
  // The slope of a root at 0 is infinite; for equal values it is taken as 0.
  Tensor squared = variance(*this, resolveAxes(axes), keepdim, correction), isZero = squared.eq(0);
  return isZero.where(0, isZero.where(1, squared).sqrt()).cast(typeOfMean(*this));
}

namespace {
struct SoftmaxParts {
  Tensor shifted, exponentials, sum;
};
SoftmaxParts softmaxParts(const Tensor& values, int64_t axis, std::optional<DType> dtype) {
  Tensor x = realValues(values), m = x.sub(x.max(Ints{axis}, true).detach());
  if (dtype) m = m.cast(*dtype);
  Tensor e = m.exp();
  return {m, e, e.sum(Ints{axis}, true)};
}
} // namespace

Tensor Tensor::softmax(int64_t axis, std::optional<DType> dt) const {
  OperationScope op("softmax");
  auto parts = softmaxParts(*this, axis, dt);
  return parts.exponentials.div(parts.sum);
}
Tensor Tensor::logSoftmax(int64_t axis, std::optional<DType> dt) const {
  OperationScope op("log_softmax");
  auto parts = softmaxParts(*this, axis, dt);
  return parts.shifted.sub(parts.sum.log());
}
Tensor Tensor::finiteOrZero() const { // infinity minus infinity is NaN
  return isinf().where(0, *this);
}

Tensor Tensor::logsumexp(const Axes& axes, bool keepdim) const {
  OperationScope op("logsumexp");
  Tensor x = realValues(*this), m = x.max(axes, true).detach().finiteOrZero();
  Tensor total = x.sub(m).exp().sum(axes, true).log().add(m);
  if (keepdim) return total;
  Ints over = resolveAxes(axes);
  Shape rest;
  for (int64_t i = 0; i < ndim(); ++i)
    if (std::find(over.begin(), over.end(), i) == over.end()) rest.push_back(shape()[static_cast<size_t>(i)]);
  return total.reshape(rest);
}

Tensor Tensor::argmax(std::optional<int64_t> axis, bool keepdim) const {
  OperationScope op("argmax");
  if (!axis) return flatten().argmax(0);
  int64_t a = resolveDim(*axis), n = ndim() ? shape()[static_cast<size_t>(a)].vmax() : 1;
  // The first of several largest values wins: positions count down, so the largest product belongs to the
  // first position.
  Shape column{Sint(n)};
  column.insert(column.end(), static_cast<size_t>(std::max<int64_t>(0, ndim() - a - 1)), Sint(1));
  Tensor down =
      arange(ConstValue::ofInt(n), ConstValue::ofInt(0), ConstValue::ofInt(-1), {device(), {}, false})
          .reshape(column);
  if (ndim() == 0) down = down.reshape({});
  if (ndim() && !shape()[static_cast<size_t>(a)].isInt()) {
    std::vector<std::optional<Sint>> there(down.shape().size());
    there[0] = shape()[static_cast<size_t>(a)];
    down = down.shrinkTo(there);
  }
  Tensor largest = eq(max(Ints{a}, true));
  if (isFloat()) largest = largest.bitOr(ne(*this)); // the maximum of a NaN is NaN, which equals nothing
  Tensor hits = largest.mul(down);
  return hits.max(Ints{a}, keepdim).sub(ConstValue::ofInt(n), true).cast(dtypes::int32);
}
Tensor Tensor::argmin(std::optional<int64_t> axis, bool keepdim) const {
  OperationScope op("argmin");
  return inverse().argmax(axis, keepdim);
}

namespace {
/// The mask column + diagonal > row over the last two axes.
Tensor triangle(const Tensor& x, int64_t diagonal) {
  const size_t n = x.shape().size();
  if (n < 2) fail(ErrorKind::Index, fmt::format("needs two axes, got shape {}", shapeStr(x.shape())));
  auto places = [&](const Sint& length) {
    return Tensor::arange(length.vmax(), {x.device(), {}, {}}).shrinkTo({length});
  };
  Tensor rows = places(x.shape()[n - 2]).unsqueeze(-1).add(ConstValue::ofInt(diagonal));
  return rows.le(places(x.shape()[n - 1]));
}
} // namespace

Tensor Tensor::triu(int64_t diagonal) const {
  OperationScope op("triu");
  return triangle(*this, diagonal).where(*this, 0).cast(dtype());
}
Tensor Tensor::tril(int64_t diagonal) const {
  OperationScope op("tril");
  return triangle(*this, diagonal + 1).where(0, *this).cast(dtype());
}

Tensor Tensor::layernorm(const Ints& axes, double eps) const {
  OperationScope op("layernorm");
  Tensor y = sub(mean(axes, true));
  Tensor wide = y.cast(sumAccDtype(y.dtype())); // the square of a half soon overflows
  return y.mul(wide.mul(wide).mean(axes, true).add(eps).rsqrt().cast(y.dtype()));
}

Tensor Tensor::batchnorm(const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& invstd,
                         const Ints& axes) const {
  OperationScope op("batchnorm");
  Shape along;
  for (int64_t i = 0; i < ndim(); ++i)
    along.push_back(std::find(axes.begin(), axes.end(), i) != axes.end() ? shape()[static_cast<size_t>(i)]
                                                                         : Sint(1));
  Tensor x = sub(mean.reshape(along));
  if (weight) x = x.mul(weight.reshape(along));
  x = x.mul(invstd.shape().size() == axes.size() ? invstd.reshape(along) : invstd);
  return bias ? x.add(bias.reshape(along)) : x;
}

} // namespace uopscope
