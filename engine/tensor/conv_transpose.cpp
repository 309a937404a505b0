// The transposed convolution: each element of the input adds its multiple of the filter to the output, `stride` apart.
//
// Results whose positions leave the same remainder by the stride, a phase, read the same elements of the filter. So the phases
// are channels of a convolution over the input as it is, and their results are put between one another:
//
//   y[s * i + r] = sum over t of x[i - t] * w[s * t + r]        s * s channels for one, ceil(k / s) terms along an axis
//
// Written with zeros between the elements of the input, as its definition says, the sum has s * s times the terms. That form
// remains for dilated filters, whose phases read elements apart, and for sizes that are variables.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>

namespace uopscope {

namespace {

struct Parameters {
  int64_t groups;
  Ints kernel, stride, dilation, pads, extra; ///< pads: as pad() takes them flat, the last axis first
  int64_t before(size_t axis) const { return pads[(kernel.size() - 1 - axis) * 2]; }
  int64_t after(size_t axis) const { return pads[(kernel.size() - 1 - axis) * 2 + 1]; }
};

/// Axes of one kind, `first`, `first + step` ...
Ints axes(size_t count, int64_t first, int64_t step) {
  Ints list;
  for (size_t i = 0; i < count; ++i) list.push_back(first + static_cast<int64_t>(i) * step);
  return list;
}
Ints joined(std::initializer_list<Ints> lists) {
  Ints all;
  for (const Ints& l : lists) all.insert(all.end(), l.begin(), l.end());
  return all;
}
Shape shapeOf(const Ints& sizes) {
  return {sizes.begin(), sizes.end()};
}

/// A convolution over the input with zeros between its elements.
Tensor withZeros(const Tensor& x, const Tensor& weight, const Parameters& p) {
  const size_t n = p.kernel.size();
  Tensor w =
      weight.unflatten(0, {Sint(p.groups), Sint(-1)}).transpose(1, 2).flip(axes(n, 3, 1)).flatten(0, 1);
  Shape apart(x.shape().begin(), x.shape().begin() + 2), together = apart;
  Bounds grow(2, {0, 0});
  std::vector<std::optional<Sint>> cut(2);
  for (size_t i = 0; i < n; ++i) {
    Sint k = x.shape()[2 + i];
    apart.insert(apart.end(), {k, Sint(1)});
    grow.insert(grow.end(), {{0, 0}, {0, Sint(p.stride[i] - 1)}});
    together.push_back(k * Sint(p.stride[i]));
    cut.push_back(graph::smax(0, k * Sint(p.stride[i]) - Sint(p.stride[i] - 1)));
  }
  Ints flat;
  for (size_t i = n; i-- > 0;) {
    const int64_t reach = (p.kernel[i] - 1) * p.dilation[i];
    flat.insert(flat.end(), {reach - p.before(i), reach - p.after(i) + p.extra[i]});
  }
  return x.reshape(apart).pad(grow).reshape(together).shrinkTo(cut).conv2d(w, {}, p.groups, {1}, p.dilation,
                                                                           flat);
}

/// The filters of the phases: (groups * channels * phases, channels of the input in a group, terms).
Tensor filtersOfPhases(const Tensor& weight, const Parameters& p, const Ints& terms) {
  const size_t n = p.kernel.size();
  const Ints ws = weight.intShape();
  Bounds grow(2, {0, 0});
  Ints apart{p.groups, ws[0] / p.groups, ws[1]}, together{p.groups * ws[1], ws[0] / p.groups};
  for (size_t i = 0; i < n; ++i) {
    grow.push_back({0, Sint(terms[i] * p.stride[i] - p.kernel[i])});
    apart.insert(apart.end(), {terms[i], p.stride[i]});
    together[0] *= p.stride[i];
  }
  together.insert(together.end(), terms.begin(), terms.end());
  return weight.pad(grow)
      .reshape(shapeOf(apart))
      .flip(axes(n, 3, 2))
      .permute(joined({{0, 2}, axes(n, 4, 2), {1}, axes(n, 3, 2)}))
      .reshape(shapeOf(together));
}

/// A convolution whose channels are the phases. Neighbouring phases are no lanes, so the gradient of its results is stored in
/// its order, and so are filters that cover several elements of the input, and what they give.
Tensor byPhases(const Tensor& x, const Tensor& weight, const Parameters& p) {
  const size_t n = p.kernel.size();
  Ints terms, margins;
  for (size_t i = 0; i < n; ++i) terms.push_back((p.kernel[i] + p.stride[i] - 1) / p.stride[i]);
  for (size_t i = n; i-- > 0;) margins.insert(margins.end(), {terms[i] - 1, terms[i] - 1});
  const bool overlap = std::ranges::any_of(terms, [](int64_t t) { return t > 1; });
  Tensor w = filtersOfPhases(weight, p, terms);
  Tensor y = x.conv2d(overlap ? w.contiguous() : w, {}, p.groups, {1}, {1}, margins);
  if (overlap) y = y.contiguous();
  y = y.contiguousBackward();

  const Ints all = y.intShape(), in = x.intShape();
  const int64_t channels = weight.intDim(1) * p.groups;
  Ints apart{all[0], channels}, together{all[0], channels}, order{0, 1};
  apart.insert(apart.end(), p.stride.begin(), p.stride.end());
  Bounds grow(2, {0, 0});
  std::vector<std::optional<std::pair<Sint, Sint>>> part(2);
  for (size_t i = 0; i < n; ++i) {
    const int64_t length = all[2 + i] * p.stride[i], begin = p.before(i),
                  end = (in[2 + i] - 1) * p.stride[i] + p.kernel[i] - p.after(i) + p.extra[i];
    apart.push_back(all[2 + i]);
    together.push_back(length);
    order.insert(order.end(), {static_cast<int64_t>(2 + n + i), static_cast<int64_t>(2 + i)});
    grow.push_back({Sint(std::max<int64_t>(0, -begin)), Sint(std::max<int64_t>(0, end - length))});
    part.emplace_back(std::pair(Sint(std::max<int64_t>(0, begin)), Sint(end + std::max<int64_t>(0, -begin))));
  }
  return y.reshape(shapeOf(apart)).permute(order).reshape(shapeOf(together)).pad(grow).shrink(part);
}

} // namespace

Tensor Tensor::convTranspose2d(const Tensor& weight, const Tensor& bias, int64_t groups, const Ints& stride,
                               const Ints& dilation, const Ints& padding, const Ints& outputPadding) const {
  OperationScope op("conv_transpose2d");
  Ints ws = weight.intShape();
  if (ws.size() < 3 || ws.size() != shape().size() || !graph::isInt(shape()[1], ws[0]) ||
      ws[0] % std::max<int64_t>(1, groups))
    fail(ErrorKind::Shape,
         fmt::format("Input Tensor shape {} does not match the shape of the weights {} with groups={}",
                     shapeStr(shape()), shapeStr(weight.shape()), groups));
  const size_t n = ws.size() - 2;
  auto each = [&](const Ints& v) {
    if (v.size() != 1 && v.size() != n)
      fail(ErrorKind::Shape, fmt::format("({}) has {} numbers for {} axes", fmt::join(v, ", "), v.size(), n));
    return v.size() == 1 ? Ints(n, v[0]) : v;
  };
  const Parameters p{groups,         {ws.begin() + 2, ws.end()}, each(stride),
                     each(dilation), poolPads(padding, n),       each(outputPadding)};
  const bool hasPhases = std::ranges::max(p.stride) > 1 && std::ranges::min(p.stride) > 0 &&
                         std::ranges::all_of(p.dilation, [](int64_t d) { return d == 1; }) && allInt(shape());
  Tensor y = hasPhases ? byPhases(*this, weight, p) : withZeros(*this, weight, p);
  if (!bias) return y;
  Shape column{1, Sint(-1)};
  column.insert(column.end(), n, Sint(1));
  return y.add(bias.reshape(column));
}

} // namespace uopscope
