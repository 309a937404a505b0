// Operations that move elements and compute nothing, from reshape to roll, cat and windows.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace uopscope {

using graph::isInt;

namespace {

std::vector<std::optional<std::pair<Sint, Sint>>> keepAll(size_t n) {
  return std::vector<std::optional<std::pair<Sint, Sint>>>(n);
}

std::string joined(const Ints& v) {
  return fmt::format("({})", fmt::join(v, ", "));
}

} // namespace

Tensor Tensor::reshape(Shape to) const {
  OperationScope op("reshape");
  Sint known = 1;
  std::optional<size_t> hole;
  for (size_t i = 0; i < to.size(); ++i) {
    if (!isInt(to[i], -1)) {
      known = known * to[i];
      continue;
    }
    if (hole)
      fail(ErrorKind::Runtime,
           fmt::format("only one dimension can be inferred using -1, getting {}", shapeStr(to)));
    hole = i;
  }
  if (hole) {
    if (isInt(known, 0))
      fail(ErrorKind::Shape,
           fmt::format("cannot infer a dimension of {} for {}", shapeStr(to), shapeStr(shape())));
    to[*hole] = numel() / known;
  }
  UOp result = graph::reshape(uop(), to);
  return result == uop() ? *this : apply(result);
}

Tensor Tensor::broadcastTo(const Shape& to) const {
  OperationScope op("expand");
  if (shape() == to) return *this;
  UOp result = graph::broadcastTo(uop(), to);
  return result == uop() ? *this : apply(result);
}

Tensor Tensor::expand(Shape to) const {
  OperationScope op("expand");
  size_t extra = to.size() > shape().size() ? to.size() - shape().size() : 0;
  for (size_t i = 0; i < to.size(); ++i)
    if (isInt(to[i], -1)) to[i] = i < extra ? Sint(1) : shape()[i - extra];
  return broadcastTo(to);
}

Tensor Tensor::permute(Ints order) const {
  OperationScope op("permute");
  for (int64_t& d : order) d = resolveDim(d);
  UOp result = graph::permute(uop(), order);
  return result == uop() ? *this : apply(result);
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  OperationScope op("transpose");
  Ints order(static_cast<size_t>(ndim()));
  std::iota(order.begin(), order.end(), 0);
  if (ndim() == 0 || ndim() <= std::max(a, b) || std::min(a, b) < -ndim())
    fail(ErrorKind::Index, fmt::format("cannot transpose axes {} and {} of {}", a, b, shapeStr(shape())));
  std::swap(order[static_cast<size_t>(resolveDim(a))], order[static_cast<size_t>(resolveDim(b))]);
  return permute(order);
}

Tensor Tensor::flip(Ints axes) const {
  OperationScope op("flip");
  for (int64_t& a : axes) a = resolveDim(a);
  Ints sorted = axes;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
    fail(ErrorKind::Runtime, fmt::format("dim can appear at most once, getting {}", joined(axes)));
  UOp result = graph::flip(uop(), axes);
  return result == uop() ? *this : apply(result);
}

Tensor Tensor::shrink(const std::vector<std::optional<std::pair<Sint, Sint>>>& bounds) const {
  OperationScope op("shrink");
  if (bounds.size() != shape().size())
    fail(ErrorKind::Shape,
         fmt::format("{} bounds for a tensor of shape {}", bounds.size(), shapeStr(shape())));
  Bounds full;
  for (size_t i = 0; i < bounds.size(); ++i)
    full.push_back(bounds[i] ? *bounds[i] : std::pair<Sint, Sint>{0, shape()[i]});
  UOp result = graph::shrink(uop(), full);
  return result == uop() ? *this : apply(result);
}

Tensor Tensor::shrinkTo(const std::vector<std::optional<Sint>>& sizes) const {
  auto bounds = keepAll(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i]) bounds[i] = {Sint(0), *sizes[i]};
  return shrink(bounds);
}

Tensor Tensor::pad(const Bounds& amounts, ConstValue value) const {
  OperationScope op("pad");
  if (amounts.size() != shape().size())
    fail(ErrorKind::Shape,
         fmt::format("padding length is improper, {} pairs for shape {}", amounts.size(), shapeStr(shape())));
  Tensor x = *this;
  auto cut = keepAll(amounts.size());
  Bounds grow;
  bool cuts = false;
  for (size_t i = 0; i < amounts.size(); ++i) {
    const auto& [before, after] = amounts[i];
    // A symbolic amount counts as not negative, unless it is negative for every value of its variables.
    bool isCut = before.vmax() < 0 || after.vmax() < 0;
    if (isCut) {
      cuts = true;
      cut[i] = {Sint(0) - graph::smin(before, 0), graph::smin(shape()[i] + after, shape()[i])};
    }
    grow.push_back(isCut ? std::pair(graph::smax(before, 0), graph::smax(after, 0)) : amounts[i]);
  }
  if (cuts) x = x.shrink(cut);
  UOp padded = graph::pad(x.uop(), grow);
  if (padded == x.uop()) return x;
  Tensor result = x.apply(padded);
  if (value.asDouble() == 0) return result;
  Tensor inside = scalar(ConstValue::ofBool(true), {device(), dtypes::bool_, false}).broadcastTo(x.shape());
  inside = inside.apply(graph::pad(inside.uop(), grow));
  return result.add(
      inside.where(Operand(ConstValue::ofInt(0)), scalar(value, {device(), dtype(), false})).cast(dtype()));
}

Tensor Tensor::padMode(const Bounds& amounts, const std::string& mode, ConstValue value) const {
  OperationScope op("pad");
  if (mode == "constant") return pad(amounts, value);
  if (mode != "reflect" && mode != "replicate" && mode != "circular")
    fail(ErrorKind::Unsupported, fmt::format("mode='{}' is not supported", mode));
  if (amounts.size() != shape().size())
    fail(ErrorKind::Shape,
         fmt::format("padding length is improper, {} pairs for shape {}", amounts.size(), shapeStr(shape())));
  Tensor x = *this;
  for (size_t d = 0; d < amounts.size(); ++d) {
    int64_t dim = static_cast<int64_t>(d), size = x.intDim(d);
    int64_t before = amounts[d].first.i(), after = amounts[d].second.i(), b = std::max<int64_t>(before, 0),
            a = std::max<int64_t>(after, 0);
    std::vector<Tensor> parts;
    auto part = [&](int64_t from, int64_t to) {
      auto bounds = keepAll(amounts.size());
      bounds[d] = {Sint(from), Sint(to)};
      return x.shrink(bounds);
    };
    auto repeated = [&](const Tensor& t, int64_t n) {
      Shape s = t.shape();
      s[d] = n;
      return t.expand(s);
    };
    if (mode == "reflect" && (b >= size || a >= size))
      fail(ErrorKind::Value,
           fmt::format("Padding ({}, {}) should be less than the input size={} for dim={}.", b, a, size, d));
    if (mode == "circular") {
      if (before < 0 || after < 0)
        fail(ErrorKind::Unsupported, "Negative pads with circular pads is not supported");
      if (b > size || a > size)
        fail(ErrorKind::Value, "Padding value causes wrapping around more than once.");
    }
    if (b > 0)
      parts.push_back(mode == "reflect"    ? part(1, b + 1).flip({dim})
                      : mode == "circular" ? part(size - b, size)
                                           : repeated(part(0, 1), b));
    parts.push_back(x);
    if (a > 0)
      parts.push_back(mode == "reflect"    ? part(size - 1 - a, size - 1).flip({dim})
                      : mode == "circular" ? part(0, a)
                                           : repeated(part(size - 1, size), a));
    x = cat(parts, dim);
    auto bounds = keepAll(amounts.size());
    bounds[d] = {Sint(-std::min<int64_t>(before, 0)), Sint(x.intDim(d) + std::min<int64_t>(after, 0))};
    x = x.shrink(bounds);
  }
  return x;
}

Tensor Tensor::padTo(const std::vector<std::optional<Sint>>& sizes) const {
  OperationScope op("pad_to");
  if (sizes.size() != shape().size())
    fail(ErrorKind::Shape,
         fmt::format("dim mismatch, cannot pad {} to {} axes", shapeStr(shape()), sizes.size()));
  Bounds amounts;
  for (size_t i = 0; i < sizes.size(); ++i)
    amounts.push_back({0, sizes[i] ? *sizes[i] - shape()[i] : Sint(0)});
  return pad(amounts);
}

Tensor Tensor::squeeze(std::optional<int64_t> dim) const {
  OperationScope op("squeeze");
  Shape to;
  int64_t wanted = dim ? resolveDim(*dim) : -1;
  for (size_t i = 0; i < shape().size(); ++i)
    if (!isInt(shape()[i], 1) || (dim && static_cast<int64_t>(i) != wanted)) to.push_back(shape()[i]);
  return reshape(to);
}

Tensor Tensor::unsqueeze(int64_t dim) const {
  OperationScope op("unsqueeze");
  Shape to = shape();
  to.insert(to.begin() + resolveDim(dim, true), Sint(1));
  return reshape(to);
}

Tensor Tensor::flatten(int64_t start, int64_t end) const {
  OperationScope op("flatten");
  if (ndim() == 0) {
    resolveDim(start);
    resolveDim(end);
    return reshape({Sint(1)});
  }
  auto s = static_cast<size_t>(resolveDim(start)), e = static_cast<size_t>(resolveDim(end));
  Shape to(shape().begin(), shape().begin() + static_cast<long>(s));
  if (shape().empty()) return reshape({Sint(1)});
  Sint middle = 1;
  for (size_t i = s; i <= e; ++i) middle = middle * shape()[i];
  to.push_back(middle);
  to.insert(to.end(), shape().begin() + static_cast<long>(e) + 1, shape().end());
  return reshape(to);
}

Tensor Tensor::unflatten(int64_t dim, const Shape& sizes) const {
  OperationScope op("unflatten");
  auto d = static_cast<int64_t>(resolveAxis(dim));
  Shape part = sizes;
  Sint known = 1;
  for (const Sint& s : part)
    if (!isInt(s, -1)) known = known * s;
  for (Sint& s : part)
    if (isInt(s, -1) && !isInt(known, 0)) s = shape()[static_cast<size_t>(d)] / known;
  Shape to(shape().begin(), shape().begin() + d);
  to.insert(to.end(), part.begin(), part.end());
  to.insert(to.end(), shape().begin() + d + 1, shape().end());
  return reshape(to);
}

Tensor Tensor::repeat(Ints repeats) const {
  OperationScope op("repeat");
  Shape base = shape();
  if (base.size() < repeats.size()) base.insert(base.begin(), repeats.size() - base.size(), Sint(1));
  if (base.size() != repeats.size())
    fail(ErrorKind::Shape, fmt::format("cannot repeat {} by {}", shapeStr(shape()), joined(repeats)));
  Shape apart, grown, final;
  for (size_t i = 0; i < base.size(); ++i) {
    if (repeats[i] != 1) {
      apart.push_back(1);
      grown.push_back(repeats[i]);
    }
    apart.push_back(base[i]);
    grown.push_back(base[i]);
    final.push_back(base[i] * Sint(repeats[i]));
  }
  return reshape(apart).expand(grown).reshape(final);
}

Tensor Tensor::repeatInterleave(int64_t repeats, std::optional<int64_t> dim) const {
  OperationScope op("repeat_interleave");
  Tensor x = dim ? *this : flatten();
  size_t d = x.resolveAxis(dim.value_or(0));
  Shape final = x.shape(), wide = x.shape();
  wide.insert(wide.begin() + static_cast<std::ptrdiff_t>(d) + 1, Sint(repeats));
  final[d] = final[d] * Sint(repeats);
  return x.unsqueeze(static_cast<int64_t>(d) + 1).expand(wide).reshape(final);
}

Tensor Tensor::cat(const std::vector<Tensor>& tensors, int64_t dim) {
  OperationScope op("cat");
  if (tensors.empty()) fail(ErrorKind::Value, "needs at least one tensor");
  const Tensor& first = tensors[0];
  if (first.ndim() == 0) fail(ErrorKind::Index, "cannot join numbers, which have no axis: use stack");
  size_t d = first.resolveAxis(dim);
  std::vector<Sint> ends{0};
  for (const Tensor& t : tensors) {
    bool fits = t.ndim() == first.ndim();
    for (size_t i = 0; fits && i < t.shape().size(); ++i) fits = i == d || t.shape()[i] == first.shape()[i];
    if (!fits)
      fail(ErrorKind::Shape, fmt::format("cannot join {} and {} along dim {}", shapeStr(first.shape()),
                                         shapeStr(t.shape()), d));
    ends.push_back(ends.back() + t.shape()[d]);
  }
  Tensor sum;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Bounds amounts(first.shape().size(), {0, 0});
    amounts[d] = {ends[i], ends.back() - ends[i + 1]};
    Tensor part = tensors[i].pad(amounts);
    sum = sum ? sum.add(part) : part;
  }
  return sum;
}

Tensor Tensor::stack(const std::vector<Tensor>& tensors, int64_t dim) {
  OperationScope op("stack");
  std::vector<Tensor> apart;
  for (const Tensor& t : tensors) apart.push_back(t.unsqueeze(dim));
  return cat(apart, dim);
}

namespace {

/// The length of the axis to be split into parts. It must be a number; the remaining axes may be symbolic.
int64_t lengthToCut(const Tensor& t, size_t axis) {
  const Sint& length = t.shape()[axis];
  if (!length.isInt())
    fail(ErrorKind::Shape,
         fmt::format("axis {} of {} is symbolic: only axes of a fixed length are cut into parts", axis,
                     shapeStr(t.shape())));
  return length.i();
}

} // namespace

std::vector<Tensor> Tensor::split(const Ints& sizes, int64_t dim) const {
  OperationScope op("split");
  size_t d = resolveAxis(dim);
  int64_t length = lengthToCut(*this, d);
  if (std::accumulate(sizes.begin(), sizes.end(), int64_t{0}) != length)
    fail(ErrorKind::Shape,
         fmt::format("expect sizes to sum exactly to {}, but got {}", length, joined(sizes)));
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (int64_t size : sizes) {
    auto bounds = keepAll(shape().size());
    bounds[d] = {Sint(at), Sint(at + size)};
    parts.push_back(shrink(bounds));
    at += size;
  }
  return parts;
}

std::vector<Tensor> Tensor::splitEvery(int64_t size, int64_t dim) const {
  OperationScope op("split");
  int64_t total = lengthToCut(*this, resolveAxis(dim));
  Ints sizes;
  for (int64_t at = 0; at < std::max<int64_t>(1, total); at += std::max<int64_t>(1, size))
    sizes.push_back(std::min(size, total - at));
  return split(sizes, dim);
}

std::vector<Tensor> Tensor::chunk(int64_t chunks, int64_t dim) const {
  OperationScope op("chunk");
  if (chunks <= 0) fail(ErrorKind::Shape, fmt::format("expect chunks to be greater than 0, got: {}", chunks));
  int64_t total = lengthToCut(*this, resolveAxis(dim));
  return total ? splitEvery(ceilDiv(total, chunks), dim) : split(Ints(static_cast<size_t>(chunks), 0), dim);
}

Tensor Tensor::unfold(int64_t dim, int64_t size, int64_t step) const {
  OperationScope op("unfold");
  if (size < 0) fail(ErrorKind::Runtime, fmt::format("size must be >= 0 but got size={}", size));
  if (step <= 0) fail(ErrorKind::Runtime, fmt::format("step must be > 0 but got step={}", step));
  auto d = static_cast<int64_t>(resolveAxis(dim));
  if (size > intDim(static_cast<size_t>(d)))
    fail(ErrorKind::Runtime, fmt::format("maximum size for tensor at dimension {} is {} but size is {}", dim,
                                         intDim(static_cast<size_t>(d)), size));
  Ints toLast, back(static_cast<size_t>(ndim()));
  for (int64_t i = 0; i < ndim(); ++i)
    if (i != d) toLast.push_back(i);
  toLast.push_back(d);
  for (size_t i = 0; i < toLast.size(); ++i) back[static_cast<size_t>(toLast[i])] = static_cast<int64_t>(i);
  back.push_back(ndim());
  return permute(toLast).pool({size}, {step}, {1}).permute(back);
}

std::vector<Tensor> Tensor::meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing) {
  OperationScope op("meshgrid");
  if (indexing != "ij" && indexing != "xy")
    fail(ErrorKind::Runtime, fmt::format("indexing must be in (\"ij\", \"xy\"), got {}", indexing));
  if (tensors.size() == 1) return tensors;
  std::vector<Tensor> apart;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < tensors.size(); ++i) {
    size_t axis = indexing == "xy" && i < 2 ? 1 - i : i;
    Shape to(tensors.size() - axis, Sint(1));
    to[0] = -1;
    apart.push_back(tensors[i].reshape(to));
    shapes.push_back(apart.back().shape());
  }
  Shape out = *graph::broadcastShape(shapes);
  for (Tensor& t : apart) t = t.broadcastTo(out);
  return apart;
}

Tensor Tensor::diag() const {
  OperationScope op("diag");
  if (ndim() != 1) fail(ErrorKind::Value, fmt::format("expect input to be 1-D, getting {}-D", ndim()));
  int64_t n = intDim(0);
  return unsqueeze(-1)
      .pad({{0, 0}, {0, Sint(n)}})
      .flatten()
      .shrink({{{Sint(0), Sint(n * n)}}})
      .reshape({Sint(n), Sint(n)});
}

Tensor Tensor::roll(const Ints& shifts, const std::optional<Ints>& dims) const {
  OperationScope op("roll");
  if (!dims) return flatten().roll(shifts, Ints{0}).reshape(shape());
  if (dims->size() != shifts.size())
    fail(ErrorKind::Runtime, fmt::format("len(dims)={} != len(shifts)={}", dims->size(), shifts.size()));
  Tensor x = *this;
  for (size_t i = 0; i < shifts.size(); ++i) {
    size_t d = resolveAxis((*dims)[i]);
    if (!shape()[d].isInt())
      fail(ErrorKind::Shape, fmt::format("cannot roll the variable axis {} of {}", d, shapeStr(shape())));
    int64_t size = shape()[d].i();
    if (!size) continue;
    int64_t start = size - ((shifts[i] % size) + size) % size;
    Ints twice(shape().size(), 1);
    twice[d] = 2;
    auto bounds = keepAll(shape().size());
    bounds[d] = {Sint(start), Sint(start + size)};
    x = x.repeat(twice).shrink(bounds);
  }
  return x;
}

} // namespace uopscope
