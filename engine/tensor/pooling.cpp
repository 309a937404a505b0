// Windows of the last axes, pooling over them, and resizing.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace uopscope {

namespace {
Ints lastAxes(size_t n) {
  Ints axes;
  for (size_t i = n; i > 0; --i) axes.push_back(-static_cast<int64_t>(i));
  return axes;
}
} // namespace

namespace {

/// Windows that do not overlap: each axis is cut into steps, and of each step the window stays. So an element of a gradient comes
/// from one window, not from a sum over those that might have held it. An empty tensor where windows overlap.
Tensor windowsApart(const Tensor& x, const Ints& kernel, const Ints& stride, const Ints& dilation,
                    const Shape& out) {
  const size_t n = kernel.size(), lead = x.shape().size() - n;
  std::vector<std::optional<Sint>> inside(lead), windows(lead);
  Shape steps(x.shape().begin(), x.shape().begin() + static_cast<long>(lead));
  Bounds pads(lead, {0, 0});
  bool isPadded = false;
  Ints order(lead);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < n; ++i) {
    const Sint& size = x.shape()[lead + i];
    if (!size.isInt() || !out[i].isInt() || kernel[i] > stride[i] || (dilation[i] > 1 && kernel[i] > 1))
      return {};
    const int64_t all = out[i].i() * stride[i];
    inside.emplace_back(std::min(all, size.i()));
    pads.emplace_back(0, std::max<int64_t>(0, all - size.i())); // behind the last window
    isPadded |= all > size.i();
    steps.insert(steps.end(), {out[i], Sint(stride[i])});
    windows.insert(windows.end(), {out[i], Sint(kernel[i])});
  }
  Tensor inOrder = x.shrinkTo(inside);
  if (isPadded) inOrder = inOrder.pad(pads);
  for (size_t part : {size_t{0}, size_t{1}})
    for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(lead + 2 * i + part));
  return inOrder.reshape(steps).shrinkTo(windows).permute(order);
}

/// Whether windows of an axis overlap by whole steps, as those of 4 elements every 2 do.
bool overlapBySteps(const Sint& length, int64_t kernel, int64_t stride, int64_t dilation) {
  return stride > 1 && kernel > stride && kernel % stride == 0 && dilation == 1 && length.isInt();
}

/// Such windows of the last axis: (places, kernel). The axis is cut into steps, and a window is several of them in order. So a gradient
/// is a sum of as many rows as a window has steps, not of `kernel` elements of which most belong to other places.
Tensor windowsInSteps(const Tensor& x, int64_t kernel, int64_t stride) {
  const int64_t steps = kernel / stride, all = x.shape().back().i() / stride, last = x.ndim() - 1;
  Shape apart(x.shape().begin(), x.shape().end() - 1), joined = apart;
  std::vector<std::optional<Sint>> whole(apart.size());
  whole.emplace_back(all * stride);
  apart.insert(apart.end(), {Sint(all), Sint(stride)});
  joined.insert(joined.end(), {Sint(all - steps + 1), Sint(kernel)});
  Tensor windows = x.shrinkTo(whole).reshape(apart).transpose(-2, -1).pool({steps}, {1}, {1});
  Ints order(static_cast<size_t>(last)); // of (..., step, place, steps)
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.end(), {last + 1, last + 2, last});
  return windows.permute(order).reshape(joined);
}

/// The windows axis by axis, each behind those before, if some overlap by whole steps; else an empty tensor.
Tensor windowsByAxes(const Tensor& x, const Ints& kernel, const Ints& stride, const Ints& dilation) {
  const size_t lead = x.shape().size() - kernel.size();
  auto isInSteps = [&](size_t i) {
    return overlapBySteps(x.shape()[lead + i], kernel[i], stride[i], dilation[i]);
  };
  bool any = false;
  for (size_t i = 0; i < kernel.size(); ++i) any |= isInSteps(i);
  if (!any) return {};
  Tensor all = x;
  for (size_t i = 0; i < kernel.size(); ++i) {
    const auto axis = static_cast<int64_t>(lead + i), last = all.ndim() - 1;
    Ints order(static_cast<size_t>(last + 1));
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
    Tensor moved = all.permute(order);
    moved = isInSteps(i) ? windowsInSteps(moved, kernel[i], stride[i])
                         : moved.pool({kernel[i]}, {stride[i]}, {dilation[i]});
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + axis, order.end() - 1, order.end()); // the places back to where the axis was
    order.push_back(last + 1);
    all = moved.permute(order);
  }
  return all;
}

} // namespace

Tensor Tensor::pool(const Ints& kernel, const Ints& stride, const Ints& dilation, bool bySteps) const {
  OperationScope op("pool");
  size_t n = kernel.size();
  auto list = [](const Ints& v) { return shapeStr(Shape(v.begin(), v.end())); };
  if (shape().size() < n)
    fail(ErrorKind::Shape, fmt::format("can't pool {} with {}", shapeStr(shape()), list(kernel)));
  auto each = [&](const Ints& v) { return v.size() == 1 ? Ints(n, v[0]) : v; };
  Ints s = each(stride), d = each(dilation);
  if (s.size() != n || d.size() != n)
    fail(ErrorKind::Shape, fmt::format("stride/dilation mismatch kernel:{} stride:{} dilation:{}",
                                       list(kernel), list(s), list(d)));
  size_t lead = shape().size() - n;
  Shape out, room;
  Ints repeats(lead, 1);
  for (size_t i = 0; i < n; ++i) {
    const Sint& size = shape()[lead + i];
    if (s[i] < 1) fail(ErrorKind::Value, fmt::format("stride must be positive, got {}", list(s)));
    if (d[i] * (kernel[i] - 1) + 1 > size.vmin())
      fail(ErrorKind::Shape, fmt::format("kernel size {} cannot be greater than actual input size {}",
                                         list(kernel), shapeStr(shape())));
    out.push_back((size + Sint(s[i] - 1 - d[i] * (kernel[i] - 1))) / Sint(s[i]));
    // The number of repetitions of the axis for which the strided windows fit: out * stride exceeds the axis
    // by at most `over`. For a symbolic length, the shortest axis needs the most repetitions.
    int64_t least = std::max<int64_t>(1, size.vmin()), over = s[i] - 1 - d[i] * kernel[i];
    if (size.isInt()) over = out[i].i() * s[i] - d[i] - size.i();
    int64_t factor = 1 + std::max<int64_t>(0, ceilDiv(over, least));
    room.push_back(size * Sint(factor) + Sint(d[i]));
    // A window starts one element later in each row of a (kernel, size + dilation) view of the repeated axis.
    repeats.push_back(size == Sint(0) ? 1 : kernel[i] * factor + ceilDiv(kernel[i] * d[i], least));
  }
  if (Tensor apart = windowsApart(*this, kernel, s, d, out)) return apart;
  if (Tensor byAxes = bySteps ? windowsByAxes(*this, kernel, s, d) : Tensor()) return byAxes;
  std::vector<std::optional<Sint>> keep(lead);
  Shape front(shape().begin(), shape().begin() + static_cast<long>(lead));
  auto with = [&](auto add) {
    Shape to = front;
    for (size_t i = 0; i < n; ++i) add(to, i);
    return to;
  };
  auto shrunk = [&](const Tensor& x, auto add) {
    auto sizes = keep;
    for (size_t i = 0; i < n; ++i) add(sizes, i);
    return x.shrinkTo(sizes);
  };
  Tensor x = repeat(repeats);
  x = shrunk(x, [&](auto& v, size_t i) { v.push_back(Sint(kernel[i]) * room[i]); });
  x = x.reshape(with([&](Shape& v, size_t i) { v.insert(v.end(), {Sint(kernel[i]), room[i]}); }));
  x = shrunk(x, [&](auto& v, size_t i) { v.push_back(Sint(kernel[i])), v.push_back(out[i] * Sint(s[i])); });
  x = x.reshape(with([&](Shape& v, size_t i) { v.insert(v.end(), {Sint(kernel[i]), out[i], Sint(s[i])}); }));
  x = shrunk(
      x, [&](auto& v, size_t i) { v.push_back(Sint(kernel[i])), v.push_back(out[i]), v.push_back(Sint(1)); });
  x = x.reshape(with([&](Shape& v, size_t i) { v.insert(v.end(), {Sint(kernel[i]), out[i]}); }));
  Ints order(lead);
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(lead + i * 2 + 1));
  for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(lead + i * 2));
  return x.permute(order);
}

/// Padding enlarged for ceil mode, so that a last, partial window counts. A window that would start in the
/// padding at the end does not.
Ints Tensor::ceilPads(const Ints& pads, const Ints& kernel, const Ints& stride, const Ints& dilation) const {
  if (shape().size() < kernel.size())
    fail(ErrorKind::Shape, fmt::format("can't pool {} with {} axes", shapeStr(shape()), kernel.size()));
  size_t n = kernel.size();
  auto each = [&](const Ints& v) { return v.size() == 1 ? Ints(n, v[0]) : v; };
  Ints s = each(stride), d = each(dilation), out = pads;
  if (s.size() != n || d.size() != n || std::ranges::any_of(s, [](int64_t step) { return step < 1; }))
    return pads; // pool() names the error
  for (size_t i = 0; i < n; ++i) {
    size_t at = (n - 1 - i) * 2;
    int64_t in = intDim(shape().size() - n + i), before = pads[at], after = pads[at + 1],
            reach = d[i] * (kernel[i] - 1) + 1;
    int64_t count = ceilDiv(in + before + after - reach, s[i]) + 1;
    out[at + 1] += s[i] * (count - 1) + reach - (in + before + after) -
                   std::max<int64_t>(s[i] * (count - 1) - (before + in - 1), 0);
  }
  return out;
}

Tensor Tensor::avgPool2d(const Ints& kernel, const Ints& stride, const Ints& dilation, const Ints& padding,
                         bool ceilMode, bool countIncludePad) const {
  OperationScope op("avg_pool2d");
  const Ints& step = stride.empty() ? kernel : stride;
  Ints axes = lastAxes(kernel.size()), pads = poolPads(padding, kernel.size()),
       wide = ceilPads(pads, kernel, step, dilation);
  auto windows = [&](const Tensor& x, const Ints& p) {
    return x.padFlat(p, ConstValue::ofFloat(0)).pool(kernel, step, dilation);
  };
  auto onesLike = [](const Tensor& x) { return x.fullLike(ConstValue::ofInt(1)); };
  auto average = [&](const Tensor& values, const Tensor& counted) { // halves soon overflow in a sum
    auto sum = [&](const Tensor& x) { return x.sum(axes, false, sumAccDtype(x.dtype())); };
    Tensor result = sum(values).div(sum(counted));
    return isFloat() ? result.cast(dtype()) : result;
  };
  if (!countIncludePad) {
    const Ints& p = ceilMode ? wide : pads;
    return average(windows(*this, p), windows(onesLike(*this), p));
  }
  if (!ceilMode) return windows(*this, pads).mean(axes);
  Ints more = wide;
  for (size_t i = 0; i < more.size(); ++i) more[i] -= pads[i];
  return average(windows(*this, wide), windows(onesLike(padFlat(pads, ConstValue::ofFloat(0))), more));
}

std::pair<Tensor, Tensor> Tensor::maxPool2d(const Ints& kernel, const Ints& stride, const Ints& dilation,
                                            const Ints& padding, bool ceilMode, bool indices) const {
  OperationScope op("max_pool2d");
  const Ints& step = stride.empty() ? kernel : stride;
  Ints axes = lastAxes(kernel.size()), pads = poolPads(padding, kernel.size());
  if (ceilMode) pads = ceilPads(pads, kernel, step, dilation);
  Tensor windows = padFlat(pads, dtypeMin(dtype())).pool(kernel, step, dilation);
  if (!indices) return {windows.max(axes), {}};
  Ints spatial;
  int64_t n = 1;
  for (size_t i = shape().size() - kernel.size(); i < shape().size(); ++i) {
    spatial.push_back(intDim(i));
    n *= spatial.back();
  }
  Tensor down =
      arange(ConstValue::ofInt(n), ConstValue::ofInt(0), ConstValue::ofInt(-1), {device(), {}, false});
  down = down.reshape(Shape(spatial.begin(), spatial.end()))
             .padFlat(pads, ConstValue::ofInt(dtypes::minInt(down.dtype())))
             .pool(kernel, step, dilation);
  Tensor largest = windows.eq(windows.max(axes, true));
  if (isFloat()) largest = largest.bitOr(windows.ne(windows)); // a NaN equals nothing
  return {windows.max(axes), largest.mul(down).max(axes).sub(ConstValue::ofInt(n), true)};
}

Tensor Tensor::maxUnpool2d(const Tensor& indices, const Ints& kernel, const Ints& stride,
                           const Ints& dilation, const Ints& padding, const Ints& outputSize) const {
  OperationScope op("max_unpool2d");
  Ints all = intShape();
  if (all.size() < 3 || indices.shape() != shape())
    fail(ErrorKind::Shape, fmt::format("needs (batch, channels, ...) and indices alike, got {} and {}",
                                       shapeStr(shape()), shapeStr(indices.shape())));
  size_t n = all.size() - 2;
  auto each = [n](const Ints& v) { return v.size() == 1 ? Ints(n, v[0]) : v; };
  Ints size(outputSize.size() >= n ? outputSize.end() - static_cast<long>(n) : outputSize.begin(),
            outputSize.end());
  if (outputSize.empty()) {
    Ints k = each(kernel), s = stride.empty() ? k : each(stride), d = each(dilation),
         pads = poolPads(padding, n);
    for (size_t i = 0; i < n; ++i) {
      size_t at = 2 * (n - 1 - i); // pads are given last axis first
      size.push_back((all[i + 2] - 1) * s[i] - (pads[at] + pads[at + 1]) + d[i] * (k[i] - 1) + 1);
    }
  }
  if (size.size() != n)
    fail(ErrorKind::Shape,
         fmt::format("output_size has {} axes, the tensor {} spatial ones", size.size(), n));
  int64_t cells = 1, values = 1;
  for (int64_t s : size) cells *= s;
  for (size_t i = 2; i < all.size(); ++i) values *= all[i];
  Shape row{Sint(all[0]), Sint(all[1]), 1, Sint(values)}, out{Sint(all[0]), Sint(all[1])};
  out.insert(out.end(), size.begin(), size.end());
  return indices.reshape(row)
      .oneHotAlong(cells, 2)
      .where(reshape(row), 0)
      .sum(Ints{3})
      .cast(dtype())
      .reshape(out);
}

namespace {
/// The axes of a resize to `size`, counted from the last one, which is 1, in an order that computes few elements, with the innermost
/// axis, whose elements are picked one by one, where there are fewest: axes that shrink, outer ones first, then those that grow,
/// inner ones first. Integers are rounded after each axis and go from the innermost on, as in the reference.
std::vector<size_t> orderOfResize(const Tensor& x, const Ints& size) {
  std::vector<size_t> shrinking, growing;
  for (size_t i = 1; i <= size.size(); ++i)
    (x.dtype().isFloat() && size[size.size() - i] < x.intDim(x.shape().size() - i) ? shrinking : growing)
        .push_back(i);
  std::ranges::reverse(shrinking);
  shrinking.insert(shrinking.end(), growing.begin(), growing.end());
  return shrinking;
}
} // namespace

Tensor Tensor::interpolate(const Ints& size, const std::string& mode, bool alignCorners) const {
  OperationScope op("interpolate");
  if (size.empty() || static_cast<int64_t>(size.size()) > ndim())
    fail(ErrorKind::Shape, fmt::format("invalid size=({})", fmt::join(size, ", ")));
  if (mode != "linear" && mode != "nearest" && mode != "nearest-exact")
    fail(ErrorKind::Shape, "only supports linear, nearest or nearest-exact interpolate");
  if (alignCorners && mode != "linear")
    fail(ErrorKind::Shape, "align_corners option can only be set with the interpolating mode linear");
  Tensor x = *this;
  Shape wide = shape();
  for (size_t i : orderOfResize(*this, size)) {
    int64_t axis = -static_cast<int64_t>(i), to = size[size.size() - i], from = intDim(shape().size() - i);
    double scale = static_cast<double>(from - alignCorners) / static_cast<double>(to - alignCorners);
    Shape column(shape().size(), Sint(1));
    column[shape().size() - i] = wide[shape().size() - i] = to;
    Tensor at = arange(to, {device(), dtypes::float32, {}});
    auto spread = [&](const Tensor& t) { return t.reshape(column).expand(wide); };
    if (mode == "linear") {
      Tensor index = (alignCorners ? at.mul(scale) : at.add(0.5).mul(scale).sub(0.5))
                         .clamp(Operand(0), Operand(from - 1));
      Tensor low = index.floor(), low32 = spread(low.cast(dtypes::int32)),
             high32 = spread(index.ceil().cast(dtypes::int32));
      x = x.gather(axis, low32).lerp(x.gather(axis, high32), spread(index.sub(low)));
    } else {
      Tensor index = (mode == "nearest-exact" ? at.add(0.5).mul(scale) : at.mul(scale)).cast(dtypes::int32);
      x = x.gather(axis, spread(index));
    }
  }
  return x.cast(dtype());
}

} // namespace uopscope
