// Indexing by numbers, slices and tensors; gather, scatter.
#include "engine/tensor/graph.h"
#include "engine/tensor/state.h"
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace uopscope {

using graph::isInt;

namespace {

using OptBounds = std::vector<std::optional<std::pair<Sint, Sint>>>;

/// The effect of one entry of an index on its axis.
struct AxisPlan {
  Index::Kind kind;
  Sint size = 1; ///< length of the resulting axis
  std::pair<Sint, Sint> bounds{0, 1};
  int64_t step = 1;
  Tensor tensor;
};

/// Start and stop of a slice of an axis, resolved as in Python.
std::pair<int64_t, int64_t> resolveSlice(const Index& index, int64_t size) {
  auto clamped = [&](const std::optional<Sint>& v, int64_t fallback) {
    if (!v) return fallback;
    int64_t at = v->i() < 0 ? v->i() + size : v->i();
    return index.step > 0 ? std::clamp<int64_t>(at, 0, size) : std::clamp<int64_t>(at, -1, size - 1);
  };
  return {clamped(index.start, index.step > 0 ? 0 : size - 1),
          clamped(index.stop, index.step > 0 ? size : -1)};
}

AxisPlan planSlice(const Index& index, const Sint& size) {
  AxisPlan p{Index::Kind::Slice, size, {0, size}, index.step, {}};
  bool symbolic = (index.start && !index.start->isInt()) || (index.stop && !index.stop->isInt());
  if (symbolic) {
    p.bounds = {index.start.value_or(Sint(0)), index.stop.value_or(size)};
    p.size = p.bounds.second - p.bounds.first;
    if (index.step != 1 || p.size.vmin() <= 0)
      fail(ErrorKind::Type, "a slice with symbolic bounds needs step 1 and a positive length");
    return p;
  }
  if (!size.isInt() && !index.start && !index.stop && index.step == 1) return p;
  int64_t whole = size.isInt() ? size.i() : size.vmax();
  auto [start, stop] = resolveSlice(index, whole);
  if (index.step * (stop - start) <= 0) start = stop = 0;
  p.size = ceilDiv(stop - start, index.step);
  if (index.step < 0 && stop != start) std::tie(start, stop) = std::pair{stop + 1, start + 1};
  p.bounds = {start, stop};
  return p;
}

AxisPlan planAxis(const Index& index, const Sint& size, const Tensor& x) {
  switch (index.kind) {
  case Index::Kind::NewAxis: return {index.kind, 1, {0, 1}, 1, {}};
  case Index::Kind::Slice: return planSlice(index, size);
  case Index::Kind::Int: {
    Sint at = index.at;
    if (at.isInt() && size.isInt() && (at.i() >= size.i() || at.i() < -size.i()))
      fail(ErrorKind::Index, fmt::format("index={} is out of bounds with size={}", at.i(), size.i()));
    if (!at.isInt() && size.isInt() && (at.vmin() < -size.i() || at.vmax() >= size.i()))
      fail(at.vmin() >= size.i() || at.vmax() < -size.i() ? ErrorKind::Index : ErrorKind::Value,
           fmt::format("index {} is {} to {}, which may be out of bounds with size={}: give the variable a "
                       "range that fits",
                       at.str(), at.vmin(), at.vmax(), size.i()));
    if (at.vmin() < 0) at = at + size;
    return {index.kind, 1, {at, at + Sint(1)}, 1, {}};
  }
  default: {
    if (!index.tensor.dtype().isInt())
      fail(ErrorKind::Index, fmt::format("index dtype {} is not supported", index.tensor.dtype().name()));
    Tensor t = index.tensor.lt(0).where(index.tensor.add(size), index.tensor).to(x.device());
    return {index.kind, size, {0, size}, 1, t};
  }
  }
}

/// Applies slices, flips and strides by movement operations alone.
Tensor moveAxes(Tensor x, const std::vector<AxisPlan>& plans) {
  OptBounds bounds;
  Ints flips, steps;
  for (const AxisPlan& p : plans) {
    if (p.kind == Index::Kind::NewAxis) continue;
    if (p.step < 0) flips.push_back(static_cast<int64_t>(bounds.size()));
    bounds.push_back(p.bounds);
    steps.push_back(std::abs(p.step));
  }
  x = x.shrink(bounds).flip(flips);
  if (std::all_of(steps.begin(), steps.end(), [](int64_t s) { return s == 1; })) return x;
  Bounds grow;
  Shape apart, kept;
  std::vector<std::optional<Sint>> first;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Sint size = x.shape()[i], full = steps[i] == 1 ? size : Sint(roundUp(x.intDim(i), steps[i]));
    const Sint n = full / Sint(steps[i]);
    grow.push_back({0, full - size});
    apart.insert(apart.end(), {n, Sint(steps[i])});
    first.insert(first.end(), {n, Sint(1)});
    kept.push_back(n);
  }
  return x.pad(grow).reshape(apart).shrinkTo(first).reshape(kept);
}

constexpr int64_t kFew =
    16; ///< entries that are tried one after the other, in code as long as there are entries

/// Whether a length is above another for every value of their variables.
bool isLonger(const Sint& a, const Sint& b) {
  return a.vmin() > b.vmax();
}

/// Values that are set by numbers: in memory, so that they are read, and not found by a sum, which has no -0.
Tensor readable(const Tensor& values, const Shape& entries) {
  int64_t all = 1;
  for (const Sint& n : entries) all *= n.vmax();
  return all > kFew && !graph::base(values.uop()).is(Op::CONST) ? values.contiguous() : values;
}

/// The last masked entry along an axis of many, by its number: a search, and a read at what it found.
std::pair<Tensor, Tensor> lastByNumber(const Tensor& values, const Tensor& mask, int64_t axis) {
  const int64_t n = mask.shape()[static_cast<size_t>(axis)].i();
  Shape along(mask.shape().size(), Sint(1));
  along[static_cast<size_t>(axis)] = Sint(n);
  const TensorOptions counting{mask.device(), dtypes::int32, false};
  Tensor numbers =
      Tensor::arange(ConstValue::ofInt(1), ConstValue::ofInt(n + 1), ConstValue::ofInt(1), counting)
          .reshape(along);
  Tensor last = mask.where(numbers, 0).max(Ints{axis}, true);
  return {numbers.eq(last).where(values, 0).sum(Ints{axis}, true, values.dtype()), last.ne(0)};
}

/// Sets masked elements; the entries lie along neighbouring axes. If several select the same element, the last one wins;
/// `alike`: all entries have the same value.
Tensor maskedSet(const Tensor& target, Tensor values, Tensor mask, int64_t firstAxis, int64_t axes,
                 bool alike) {
  if (axes > 1) {
    mask = mask.flatten(firstAxis, firstAxis + axes - 1);
    values = values.flatten(firstAxis, firstAxis + axes - 1);
  }
  if (alike) {
    mask = mask.any(Ints{firstAxis}, true);
    values = values.splitEvery(1, firstAxis)[0];
  } else if (mask.shape()[static_cast<size_t>(firstAxis)].vmax() > kFew) {
    std::tie(values, mask) = lastByNumber(values, mask, firstAxis);
  } else {
    auto masks = mask.splitEvery(1, firstAxis), parts = values.splitEvery(1, firstAxis);
    for (size_t k = 1; k < masks.size(); ++k) {
      parts[0] = masks[k].where(parts[k], parts[0]);
      masks[0] = masks[0].bitOr(masks[k]);
    }
    mask = masks[0];
    values = parts[0];
  }
  return mask.squeeze(firstAxis).where(values.squeeze(firstAxis), target);
}

} // namespace

Tensor Tensor::getOrSet(std::vector<Index> indices, const Tensor& value) const {
  size_t named = 0, ellipsis = indices.size(), count = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].kind == Index::Kind::Ellipsis) {
      if (count++) fail(ErrorKind::Index, "indices can only have a single ellipsis");
      ellipsis = i;
    } else if (indices[i].kind != Index::Kind::NewAxis) {
      ++named;
    }
  }
  if (named > shape().size())
    fail(ErrorKind::Index, fmt::format("too many indices ({}) for shape {}", named, shapeStr(shape())));
  if (count) indices.erase(indices.begin() + static_cast<long>(ellipsis));
  indices.insert(indices.begin() + static_cast<long>(ellipsis), shape().size() - named, Index::all());

  std::vector<AxisPlan> plans;
  size_t axis = 0;
  for (const Index& index : indices) {
    if (index.kind == Index::Kind::Slice && index.step == 0) fail(ErrorKind::Value, "slice step cannot be 0");
    plans.push_back(planAxis(index, index.kind == Index::Kind::NewAxis ? Sint(1) : shape()[axis], *this));
    axis += index.kind != Index::Kind::NewAxis;
  }
  Tensor x = moveAxes(*this, plans);
  Shape kept;
  Ints dims;
  std::vector<Tensor> tensors;
  std::vector<Shape> shapes;
  for (const AxisPlan& p : plans) {
    if (p.kind == Index::Kind::Int) continue;
    if (p.kind == Index::Kind::Tensor) {
      dims.push_back(static_cast<int64_t>(kept.size()));
      tensors.push_back(p.tensor);
      shapes.push_back(p.tensor.shape());
    }
    kept.push_back(p.size);
  }
  x = x.reshape(kept);
  if (tensors.empty()) {
    // A stride goes through padding, so the result is a view although its graph has a PAD.
    if (x.state_ != state_ && graph::isView(x.uop(), uop())) x.state_->joinNames(*state_);
    return x;
  }

  // Each index tensor becomes a mask along its axis, over (leading axes, index shape, remaining axes). The
  // product of the masks and a sum select the elements.
  auto big = graph::broadcastShape(shapes);
  if (!big) fail(ErrorKind::Index, "cannot broadcast indices to one shape");
  int64_t first = dims[0], n = static_cast<int64_t>(big->size());
  Shape wide(kept.begin(), kept.begin() + first), spread = wide;
  wide.insert(wide.end(), big->begin(), big->end());
  spread.insert(spread.end(), big->size(), Sint(1));
  wide.insert(wide.end(), kept.begin() + first, kept.end());
  spread.insert(spread.end(), kept.begin() + first, kept.end());
  Tensor mask;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Shape column = tensors[i].shape();
    column.insert(column.end(), kept.size() - static_cast<size_t>(first), Sint(1));
    Tensor at = tensors[i].reshape(column).expand(wide);
    at = at.oneHotAlong(kept[static_cast<size_t>(dims[i])], dims[i] - static_cast<int64_t>(kept.size()));
    mask = mask ? mask.mul(at) : at;
  }
  Ints summed;
  for (int64_t d : dims) summed.push_back(d + n);
  x = mask.where(x.reshape(spread), 0).sum(summed, false, dtype());
  bool gap = dims.size() > 1 && dims.back() - dims.front() + 1 != static_cast<int64_t>(dims.size());
  bool moved = first != 0 && gap; // as in NumPy, index tensors that are not adjacent put their axes first
  auto toFront = [&](const Tensor& t) {
    Ints order;
    for (int64_t i = 0; i < n; ++i) order.push_back(first + i);
    for (int64_t i = 0; i < t.ndim(); ++i)
      if (i < first || i >= first + n) order.push_back(i);
    return t.permute(order);
  };
  if (moved) {
    x = toFront(x);
    mask = toFront(mask);
  }
  if (!value) return x;
  auto to = graph::broadcastShape({x.shape(), value.shape()});
  if (!to)
    fail(ErrorKind::Shape,
         fmt::format("cannot broadcast the value {} to {}", shapeStr(value.shape()), shapeStr(x.shape())));
  const int64_t firstEntry = moved ? 0 : first, missing = x.ndim() - value.ndim();
  bool alike = true;
  for (int64_t i = std::max<int64_t>(firstEntry - missing, 0); i < firstEntry + n - missing; ++i)
    alike &= graph::isInt(value.shape()[static_cast<size_t>(i)], 1);
  Tensor v = value.cast(dtype());
  v = (alike ? v : readable(v, *big)).broadcastTo(*to);
  for (int64_t d : summed) v = v.unsqueeze(d);
  return maskedSet(*this, v, mask, firstEntry, n, alike);
}

Tensor Tensor::get(std::vector<Index> indices) const {
  OperationScope op("__getitem__");
  return getOrSet(std::move(indices), {});
}

void Tensor::set(std::vector<Index> indices, const Operand& operand) const {
  OperationScope op("__setitem__");
  Tensor v = operand.isTensor() ? operand.tensor() : scalar(operand.value(), {device(), dtype(), {}});
  if (requiresGrad().value_or(false) || v.requiresGrad().value_or(false))
    fail(ErrorKind::Unsupported, "setitem with requires_grad is not supported");
  if (numel() == Sint(0)) return;
  realize();
  if (state_->makeWhole()) realize();
  if (!graph::isMemory(graph::viewed(uop())))
    fail(ErrorKind::Runtime, "setitem target needs to be contiguous");
  Tensor result = getOrSet(std::move(indices), v);
  bool advanced =
      result.shape() == shape() && result.uop() != uop() && !graph::isRealized(graph::base(result.uop()));
  if (advanced) {
    assign(result);
    realize();
    return;
  }
  auto to = graph::broadcastShape({result.shape(), v.shape()});
  if (!to || *to != result.shape())
    fail(ErrorKind::Shape,
         fmt::format("cannot broadcast the value {} to {}", shapeStr(v.shape()), shapeStr(result.shape())));
  result.assign(v.cast(dtype()).broadcastTo(result.shape()).contiguous());
  result.realize();
}

Tensor Tensor::oneHotAlong(const Sint& classes, int64_t dim) const {
  if (!dtype().isInt())
    fail(ErrorKind::Runtime, fmt::format("expects an int index tensor, getting {}", dtype().name()));
  Shape column{classes};
  column.insert(column.end(), static_cast<size_t>(ndim() ? ndim() - resolveDim(dim) - 1 : 0), Sint(1));
  DType d = classes.vmax() > INT32_MAX ? dtypes::int64 : dtypes::int32;
  return eq(arange(ConstValue::ofInt(0), ConstValue::ofInt(classes.vmax()), ConstValue::ofInt(1),
                   {device(), d, false})
                .shrink({{{Sint(0), classes}}})
                .reshape(column));
}

Tensor Tensor::oneHot(int64_t classes) const {
  OperationScope op("one_hot");
  if (!dtype().isInt())
    fail(ErrorKind::Runtime, fmt::format("expect integer dtype, getting {}", dtype().name()));
  if (classes == -1) classes = max().item().i + 1;
  return unsqueeze(-1).oneHotAlong(classes).where(1, 0);
}

Tensor Tensor::gather(int64_t dim, const Tensor& index) const {
  OperationScope op("gather");
  if (index.ndim() != ndim())
    fail(ErrorKind::Shape, fmt::format("self.ndim must equal index.ndim, {} and {}", ndim(), index.ndim()));
  auto d = static_cast<int64_t>(resolveAxis(dim));
  std::vector<std::optional<Sint>> cut(shape().size());
  for (size_t i = 0; i < shape().size(); ++i) {
    if (static_cast<int64_t>(i) == d) continue;
    if (isLonger(index.shape()[i], shape()[i]))
      fail(ErrorKind::Shape, fmt::format("index {} is larger than {} off dim {}", shapeStr(index.shape()),
                                         shapeStr(shape()), d));
    cut[i] = index.shape()[i];
  }
  Tensor x = shrinkTo(cut).unsqueeze(-1).transpose(-1, d);
  return index.to(device())
      .unsqueeze(-1)
      .oneHotAlong(shape()[static_cast<size_t>(d)])
      .where(x, 0)
      .sum(Ints{-1}, false, dtype());
}

std::pair<Tensor, Tensor> Tensor::preScatter(int64_t dim, const Tensor& index, const Tensor& src) const {
  auto d = static_cast<int64_t>(resolveAxis(dim));
  bool fits = index.ndim() == ndim() && src.ndim() == ndim();
  for (size_t i = 0; fits && i < shape().size(); ++i)
    fits = (static_cast<int64_t>(i) == d || !isLonger(index.shape()[i], shape()[i])) &&
           !isLonger(index.shape()[i], src.shape()[i]);
  if (!fits)
    fail(ErrorKind::Shape, fmt::format("index {} must fit into src {} and, off dim {}, into {}",
                                       shapeStr(index.shape()), shapeStr(src.shape()), d, shapeStr(shape())));
  if (dtype() != src.dtype())
    fail(ErrorKind::Runtime,
         fmt::format("expect dtype {} to be equal to {}", dtype().name(), src.dtype().name()));
  Sint n = shape()[static_cast<size_t>(d)];
  Shape wide = index.shape();
  wide.push_back(n);
  std::vector<std::optional<Sint>> cut(index.shape().begin(), index.shape().end());
  Tensor values = src.shrinkTo(cut).unsqueeze(-1).expand(wide).transpose(-1, d);
  Tensor mask = index.to(device()).unsqueeze(-1).oneHotAlong(n).transpose(-1, d);
  Bounds grow;
  for (size_t i = 0; i < shape().size(); ++i)
    grow.push_back({0, static_cast<int64_t>(i) == d ? Sint(0) : shape()[i] - values.shape()[i]});
  grow.push_back({0, 0});
  return {values.pad(grow), mask.pad(grow)};
}

Tensor Tensor::scatter(int64_t dim, const Tensor& index, const Operand& src, const std::string& how) const {
  OperationScope op("scatter");
  if (!how.empty() && how != "add" && how != "multiply")
    fail(ErrorKind::Type, fmt::format("reduce='{}' must be one of None, 'multiply', or 'add'", how));
  if (!how.empty() && src.isTensor())
    fail(ErrorKind::Type, "Tensor src is not supported with reduce arg. see scatter_reduce");
  Tensor values = src.isTensor() ? src.tensor() : index.fullLike(src.value(), {device(), dtype(), {}});
  if (!how.empty()) return scatterReduce(dim, index, values, how == "add" ? "sum" : "prod");
  auto [v, mask] = preScatter(dim, index, readable(values, {index.shape()[resolveAxis(dim)]}));
  return maskedSet(*this, v, mask, mask.ndim() - 1, 1, !src.isTensor());
}

Tensor Tensor::scatterReduce(int64_t dim, const Tensor& index, const Tensor& src, const std::string& how,
                             bool includeSelf) const {
  OperationScope op("scatter_reduce");
  auto [v, mask] = preScatter(dim, index, src);
  Tensor untouched = mask.any(Ints{-1}).logicalNot();
  auto own = [&](const Operand& identity) { return includeSelf ? *this : untouched.where(*this, identity); };
  if (how == "sum") return mask.where(v, 0).sum(Ints{-1}).add(own(0)).cast(dtype());
  if (how == "prod") return mask.where(v, 1).prod(Ints{-1}).mul(own(1));
  if (how == "amax") return mask.where(v, dtypeMin(dtype())).max(Ints{-1}).maximum(own(dtypeMin(dtype())));
  // A minimum is the largest of the inverse values: inverted before they are chosen, so that the choice is the term.
  if (how == "amin")
    return mask.where(v.inverse(), dtypeMin(dtype())).max(Ints{-1}).inverse().minimum(own(dtypeMax(dtype())));
  if (how == "mean") {
    Tensor count =
        mask.where(1, 0).sum(Ints{-1}).add(includeSelf ? Operand(1) : Operand(untouched.where(1, 0)));
    return mask.where(v, 0).sum(Ints{-1}).add(own(0)).div(count);
  }
  fail(ErrorKind::Runtime,
       fmt::format("reduce='{}' must be one of 'sum', 'prod', 'mean', 'amax', 'amin'", how));
}

Tensor Tensor::maskedSelect(const Tensor& mask) const {
  OperationScope op("masked_select");
  if (!mask.dtype().isBool())
    fail(ErrorKind::Runtime,
         fmt::format("masked_select expects bool mask tensor, got {}", mask.dtype().name()));
  Tensor x = flatten(), counts = mask.broadcastTo(shape()).flatten().cumsum();
  int64_t n = counts.intNumel() ? counts.get({Index::of(Sint(-1))}).item().i : 0;
  Tensor starts = zeros({Sint(n)}, {device(), dtypes::int32, {}});
  return x.get({Index::of(starts.scatter(0, counts, 1, "add").cumsum())});
}

Tensor Tensor::nonzero() const {
  OperationScope op("nonzero");
  std::vector<Tensor> position;
  for (size_t i = 0; i < shape().size(); ++i) {
    Shape column(shape().size(), Sint(1));
    column[i] = shape()[i];
    position.push_back(arange(intDim(i), {device(), {}, {}}).reshape(column).expand(shape()).flatten());
  }
  Tensor mask = ne(0).flatten();
  if (position.empty())
    return zeros({Sint(mask.cast(dtypes::int32).item().i), 0}, {device(), dtypes::int32, {}});
  Tensor all = stack(position, -1);
  return all.maskedSelect(mask.unsqueeze(-1).expand(all.shape())).reshape({-1, Sint(ndim())});
}

} // namespace uopscope
