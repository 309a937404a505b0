// The transforms are sums over the columns of a matrix, so that each kernel computes them by constants. Derivatives are computed by
// the algorithm, too: with the picture's gradient as a convolution, and with the filter's from the transformed windows.
//
//   y  = A' ((G w G') * (B' x B)) A        products summed over channels, for each tile
//   dw = G' (sum over tiles of (A dy A') * (B' x B)) G
#include "engine/tensor/winograd.h"

#include "engine/base/context_var.h"
#include "engine/tensor/gradient.h"
#include "engine/uop/unique.h"

#include <algorithm>
#include <numeric>

namespace uopscope {

namespace {

constexpr int64_t kFilter = 3, kWindow = 6, kResults = 4;

/// A matrix of constants, or its transpose.
struct Matrix {
  const double* entries; ///< row by row
  size_t rows, columns;
  bool isTransposed = false;
  size_t height() const { return isTransposed ? columns : rows; }
  double at(size_t row, size_t column) const {
    return isTransposed ? entries[column * columns + row] : entries[row * columns + column];
  }
  Matrix transposed() const { return {entries, rows, columns, !isTransposed}; }
};

constexpr double kWindowEntries[] = {4, 0,  -5, 0, 1, 0, 0, -4, -4, 1,  1, 0, 0, 4, -4, -1, 1, 0,
                                     0, -2, -1, 2, 1, 0, 0, 2,  -1, -2, 1, 0, 0, 4, 0,  -5, 0, 1};
constexpr double kFilterEntries[] = {1. / 4,  0,        0,       -1. / 6, -1. / 6, -1. / 6,
                                     -1. / 6, 1. / 6,   -1. / 6, 1. / 24, 1. / 12, 1. / 6,
                                     1. / 24, -1. / 12, 1. / 6,  0,       0,       1};
constexpr double kResultEntries[] = {1, 1, 1, 1, 1, 0, 0, 1, -1, 2, -2, 0,
                                     0, 1, 1, 4, 4, 0, 0, 1, -1, 8, -8, 1};
constexpr Matrix kOfWindows{kWindowEntries, kWindow, kWindow}, kOfFilters{kFilterEntries, kWindow, kFilter},
    kOfResults{kResultEntries, kResults, kWindow};

/// A column of the matrix along an axis of a tensor of so many dimensions.
Tensor columnAlong(const Matrix& matrix, size_t column, size_t axis, size_t dims, const TensorOptions& o) {
  Tensor all;
  for (size_t row = 0; row < matrix.height(); ++row) {
    const double factor = matrix.at(row, column);
    if (factor == 0) continue;
    Bounds around(dims, {Sint(0), Sint(0)});
    around[axis] = {Sint(static_cast<int64_t>(row)), Sint(static_cast<int64_t>(matrix.height() - 1 - row))};
    Tensor one = Tensor::full(Shape(dims, Sint(1)), ConstValue::ofFloat(factor), o).pad(around);
    all = all ? all.add(one) : one;
  }
  return all;
}

/// The product of the matrix with a tensor along each of its first `n` axes.
Tensor transformed(Tensor x, size_t n, const Matrix& matrix) {
  const size_t dims = x.shape().size();
  for (size_t axis = 0; axis < n; ++axis) {
    Tensor sum;
    for (int64_t column = 0; column < x.intDim(static_cast<int64_t>(axis)); ++column) {
      std::vector<std::optional<std::pair<Sint, Sint>>> part(dims);
      part[axis] = {Sint(column), Sint(column + 1)};
      Tensor term = x.shrink(part).mul(
          columnAlong(matrix, static_cast<size_t>(column), axis, dims, {x.device(), x.dtype(), false}));
      sum = sum ? sum.add(term) : term;
    }
    x = sum;
  }
  return x;
}

/// The axes from `first` on come first, in their order.
Tensor withFirst(const Tensor& x, size_t first) {
  Ints order(x.shape().size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::rotate(order, order.begin() + static_cast<std::ptrdiff_t>(first));
  return x.permute(order);
}

/// A convolution of pictures of one type by filters of that type. Transformed values have the axes (6 or 4..., batch, groups, tiles...,
/// filters of a group, channels): products of matrices remain, one for each place of a window. Channels are last while they are
/// transformed, so that vectors go along them, whatever the size of a picture.
struct TiledConvolution {
  size_t n; ///< dimensions
  Sint batch;
  int64_t groups, cout, cin; ///< of a group
  Shape rows, tiles;         ///< results of each dimension; tiles of four of them

  TiledConvolution(const Tensor& padded, const Tensor& weight, int64_t groups_)
      : n(weight.shape().size() - 2), batch(padded.shape()[0]), groups(groups_),
        cout(weight.intDim(0) / groups_), cin(weight.intDim(1)) {
    for (size_t i = 0; i < n; ++i) {
      rows.push_back(padded.shape()[2 + i] - Sint(kFilter - 1));
      tiles.emplace_back(ceilDiv(rows.back().i(), kResults));
    }
  }

  Shape axes(int64_t each, const Sint& batches, bool hasTiles, int64_t filters, int64_t channels) const {
    Shape all(n, Sint(each));
    all.insert(all.end(), {batches, Sint(groups)});
    for (const Sint& t : tiles) all.push_back(hasTiles ? t : Sint(1));
    all.insert(all.end(), {Sint(filters), Sint(channels)});
    return all;
  }
  /// (batch, channels, rows...) as (batch, rows..., channels), with rows of whole tiles and so many more.
  Tensor grown(const Tensor& x, int64_t more) const {
    Bounds pads(2, {Sint(0), Sint(0)});
    Ints order{0};
    for (size_t i = 0; i < n; ++i) {
      pads.emplace_back(Sint(0), tiles[i] * Sint(kResults) + Sint(more) - x.shape()[2 + i]);
      order.push_back(static_cast<int64_t>(2 + i));
    }
    order.push_back(1);
    return stored(x.pad(pads).permute(order));
  }
  Tensor windows(const Tensor& padded) const {
    Ints front(n + 2); // the channels before the rows, as windows are made; they change no place in memory
    std::iota(front.begin() + 2, front.end(), 1);
    front[1] = static_cast<int64_t>(n + 1);
    Tensor d =
        grown(padded, kFilter - 1).permute(front).pool(Ints(n, kWindow), Ints(n, kResults), Ints(n, 1));
    Ints order; // from (batch, channels, tiles..., 6...) to (6..., batch, tiles..., channels)
    for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(2 + n + i));
    order.push_back(0);
    for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(2 + i));
    order.push_back(1);
    return byGroups(transformed(d.permute(order), n, kOfWindows), cin)
        .reshape(axes(kWindow, batch, true, 1, cin));
  }
  Tensor filters(const Tensor& weight) const {
    return transformed(stored(withFirst(weight, 2)), n, kOfFilters)
        .reshape(axes(kWindow, Sint(1), false, cout, cin));
  }
  /// (6..., batch, tiles..., channels of all groups) with the groups behind the batch.
  Tensor byGroups(const Tensor& x, int64_t channels) const {
    Shape apart(x.shape().begin(), x.shape().end() - 1);
    apart.insert(apart.end(), {Sint(groups), Sint(channels)});
    Ints order(2 * n + 3);
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin() + static_cast<std::ptrdiff_t>(n + 1), order.end() - 2, order.end() - 1);
    return x.reshape(apart).permute(order);
  }
  /// On the way to a transform: memory in which channels lie together. With PLAIN nothing is stored for speed.
  static Tensor stored(const Tensor& x) { return vars::plain ? x : x.contiguous(); }

  Tensor results(const Tensor& padded, const Tensor& weight) const {
    Tensor y = filters(weight).mul(windows(padded)).sum(Ints{-1});
    y = transformed(y, n, kOfResults);
    Ints order{static_cast<int64_t>(n), static_cast<int64_t>(n + 1), static_cast<int64_t>(2 * n + 2)};
    Shape all{batch, Sint(groups * cout)};
    std::vector<std::optional<Sint>> kept(2);
    for (size_t i = 0; i < n; ++i) { // from (4..., batch, groups, tiles..., filters) to rows of tiles
      order.insert(order.end(), {static_cast<int64_t>(n + 2 + i), static_cast<int64_t>(i)});
      all.push_back(tiles[i] * Sint(kResults));
      kept.emplace_back(rows[i]);
    }
    return stored(y).permute(order).reshape(all).shrinkTo(kept);
  }

  /// The gradient of the filters from that of the results.
  Tensor filterGradient(const Tensor& padded, const Tensor& grad) const {
    Shape apart{batch};
    Ints order, summed{static_cast<int64_t>(n)};
    for (size_t i = 0; i < n; ++i) {
      apart.insert(apart.end(), {tiles[i], Sint(kResults)});
      order.push_back(static_cast<int64_t>(2 + 2 * i));
      summed.push_back(static_cast<int64_t>(n + 2 + i));
    }
    apart.emplace_back(groups * cout);
    order.push_back(0);
    for (size_t i = 0; i < n; ++i) order.push_back(static_cast<int64_t>(1 + 2 * i));
    order.push_back(static_cast<int64_t>(1 + 2 * n));
    const Tensor tiled = grown(grad, 0).reshape(apart).permute(order); // (4..., batch, tiles..., filters)
    const Tensor g = byGroups(transformed(tiled, n, kOfResults.transposed()), cout)
                         .reshape(axes(kWindow, batch, true, cout, 1));
    Shape flat(n, Sint(kWindow));
    flat.insert(flat.end(), {Sint(groups * cout), Sint(cin)});
    const Tensor dw =
        transformed(g.mul(windows(padded)).sum(summed).reshape(flat), n, kOfFilters.transposed());
    return withFirst(dw, n);
  }
};

Tensor marked(const Tensor& x, const Tensor& w, int64_t groups);

/// The gradient of the padded pictures: a convolution of the results' gradient, with a margin, by turned filters.
Tensor pictureGradient(const Tensor& grad, const Tensor& w, int64_t groups) {
  const int64_t cout = w.intDim(0) / groups, cin = w.intDim(1);
  Shape apart{Sint(groups), Sint(cout), Sint(cin)}, turned{Sint(groups * cin), Sint(cout)};
  Ints flipped;
  Bounds margin(2, {Sint(0), Sint(0)});
  for (size_t i = 2; i < w.shape().size(); ++i) {
    flipped.push_back(static_cast<int64_t>(i));
    for (Shape* s : {&apart, &turned}) s->emplace_back(kFilter);
    margin.emplace_back(Sint(kFilter - 1), Sint(kFilter - 1));
  }
  return marked(grad.pad(margin), w.flip(flipped).reshape(apart).transpose(1, 2).reshape(turned), groups);
}

/// The convolution with its derivatives.
Tensor marked(const Tensor& x, const Tensor& w, int64_t groups) {
  const TiledConvolution of(x, w, groups);
  CustomDerivative derivative;
  derivative.reverse = [of, groups](UOp grad, UOp node) {
    const Tensor g = Tensor::fromUOp(grad), picture = Tensor::fromUOp(node.src(1)),
                 filter = Tensor::fromUOp(node.src(2));
    return std::vector<UOp>{pictureGradient(g, filter, groups).uop(), of.filterGradient(picture, g).uop()};
  };
  derivative.forward = [groups](const std::vector<UOp>& tangents, UOp node) {
    const Tensor picture = Tensor::fromUOp(node.src(1)), filter = Tensor::fromUOp(node.src(2));
    Tensor sum;
    if (tangents[0]) sum = marked(Tensor::fromUOp(tangents[0]), filter, groups);
    if (tangents[1]) {
      const Tensor other = marked(picture, Tensor::fromUOp(tangents[1]), groups);
      sum = sum ? sum.add(other) : other;
    }
    return sum ? sum.uop() : UOp();
  };
  PoolScope scope(tensorPool());
  const UOp key = newUnique();
  setCustomDerivative(key, std::move(derivative));
  const std::vector<UOp> inputs{x.uop(), w.uop()};
  return Tensor::fromUOp(withDerivative(of.results(x, w).uop(), inputs, key));
}

} // namespace

bool suitsWinograd(const Tensor& padded, const Tensor& weight, const Ints& stride, const Ints& dilation) {
  if (!vars::wino || !allInt(padded.shape()) || padded.devices().size() > 1) return false;
  auto all = [](const Ints& values, int64_t wanted) {
    return std::ranges::all_of(values, [&](int64_t v) { return v == wanted; });
  };
  const Ints filter = weight.intShape(), picture = padded.intShape();
  return dtypes::leastUpper(padded.dtype(), weight.dtype()).isFloat() &&
         all(Ints(filter.begin() + 2, filter.end()), kFilter) && all(stride, 1) && all(dilation, 1) &&
         std::all_of(picture.begin() + 2, picture.end(), [](int64_t length) { return length >= kFilter; });
}

Tensor winogradConv(const Tensor& padded, const Tensor& weight, int64_t groups, std::optional<DType> sum) {
  const DType result = sum.value_or(dtypes::leastUpper(padded.dtype(), weight.dtype())),
              inner = dtypes::leastUpper(result, dtypes::float32);
  return marked(padded.cast(inner), weight.cast(inner), groups).cast(result);
}

} // namespace uopscope
