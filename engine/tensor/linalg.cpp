// Factorisations of matrices, batched over leading axes. Columns are selected by masks and not by writes into
// parts of a tensor, so a factorisation is an ordinary graph. svd realizes after each round.
#include "engine/tensor/tensor.h"

#include <fmt/format.h>

#include <cmath>

namespace uopscope {

namespace {

/// Rows and columns of the last two axes; an error that names the current operation if there are fewer axes.
std::pair<int64_t, int64_t> matrixSize(const Tensor& x) {
  if (x.ndim() < 2)
    fail(ErrorKind::Shape, fmt::format("expected two or more dimensions, got {}", shapeStr(x.shape())));
  Ints shape = x.intShape();
  return {shape[shape.size() - 2], shape[shape.size() - 1]};
}

/// An identity matrix for every leading index of `like`.
Tensor identityLike(const Tensor& like, int64_t n) {
  Shape shape = like.shape();
  shape[shape.size() - 2] = shape[shape.size() - 1] = n;
  return Tensor::eye(n, {}, {like.device(), like.dtype(), {}}).broadcastTo(shape);
}

/// Columns [from, to) of the last axis.
Tensor columns(const Tensor& x, int64_t from, int64_t to) {
  std::vector<std::optional<std::pair<Sint, Sint>>> bounds(x.shape().size());
  bounds.back() = {Sint(from), Sint(to)};
  return x.shrink(bounds);
}

Tensor matrixTransposed(const Tensor& x) {
  return x.transpose(-1, -2);
}

/// Pads the last two axes with zeros to rows x cols.
Tensor grown(const Tensor& x, int64_t rows, int64_t cols) {
  Bounds amounts(x.shape().size(), {0, 0});
  auto [m, n] = matrixSize(x);
  amounts[amounts.size() - 2] = {0, Sint(rows - m)};
  amounts[amounts.size() - 1] = {0, Sint(cols - n)};
  return x.pad(amounts);
}

} // namespace

std::pair<Tensor, Tensor> Tensor::qr() const {
  OperationScope op("qr");
  auto [m, n] = matrixSize(*this);
  Tensor r = *this, q = identityLike(*this, m);
  Tensor row = arange(m, {device(), {}, {}}).reshape({Sint(m), 1});
  for (int64_t i = 0; i < std::min(m, n); ++i) {
    // The reflection that turns column i below the diagonal to zero.
    Tensor below = row.ge(i), pivotRow = row.eq(i);
    Tensor x = below.where(columns(r, i, i + 1), 0);
    Tensor first = pivotRow.where(x, 0).sum(Ints{-2}, true);
    Tensor norm = x.square().sum(Ints{-2}, true).sqrt(), proper = norm.ne(0);
    Tensor side = first.ne(0).where(first.sign().neg(), -1);
    Tensor pivot = first.sub(side.mul(norm));
    Tensor w = pivotRow.where(1, x.div(proper.where(pivot, 1))).contiguous();
    Tensor tau = proper.where(side.neg().mul(pivot).div(proper.where(norm, 1)), 0).contiguous();
    r = r.sub(w.mul(tau).matmul(matrixTransposed(w).matmul(r))).contiguous();
    q = q.sub(q.matmul(w).matmul(matrixTransposed(w.mul(tau)))).contiguous();
  }
  return {q.cast(dtype()), r.cast(dtype())};
}

Tensor::Svd Tensor::svd(bool fullMatrices) const {
  OperationScope op("svd");
  auto [m, n] = matrixSize(*this);
  if (m < n) {
    Svd t = matrixTransposed(*this).svd(fullMatrices);
    return {matrixTransposed(t.v), t.s, matrixTransposed(t.u)};
  }
  auto [q, r] = qr();
  int64_t even = n + n % 2, half = even / 2; // a zero column makes the number even; no rotation changes it
  Tensor u = grown(columns(matrixTransposed(columns(matrixTransposed(r), 0, n)), 0, n), n, even);
  Tensor v = grown(identityLike(r, n), n, even);
  // Columns meet in pairs (column k of the left half with column k of the right half). Between rounds all
  // columns but the first move on by one place. After even-1 rounds each pair has met, and each column is
  // back at its place.
  auto moveOn = [&](const Tensor& left, const Tensor& right) {
    if (half == 1) return cat({left, right}, -1);
    return cat({columns(left, 0, 1), columns(right, 0, 1), columns(left, 1, half - 1),
                columns(right, 1, half), columns(left, half - 1, half)},
               -1);
  };
  auto sweeps = static_cast<int64_t>(2 * std::ceil(std::log2(std::max<int64_t>(n, 2)))) + 4;
  for (int64_t round = 0; n > 1 && round < sweeps * (even - 1); ++round) {
    Tensor ul = columns(u, 0, half), ur = columns(u, half, even);
    Tensor vl = columns(v, 0, half), vr = columns(v, half, even);
    Tensor gamma = ul.mul(ur).sum(Ints{-2}, true), rotates = gamma.ne(0);
    Tensor alpha = ul.square().sum(Ints{-2}, true), beta = ur.square().sum(Ints{-2}, true);
    Tensor tau = beta.sub(alpha).div(rotates.where(gamma, 1).mul(2));
    Tensor sign = tau.lt(0).where(-1, 1).cast(dtype());
    Tensor t = rotates.where(sign.div(tau.abs().add(tau.square().add(1).sqrt())), 0);
    Tensor c = t.square().add(1).sqrt().reciprocal().contiguous(), s = c.mul(t).contiguous();
    auto rotate = [&](const Tensor& left, const Tensor& right) {
      return moveOn(c.mul(left).sub(s.mul(right)), s.mul(left).add(c.mul(right))).contiguous();
    };
    u = rotate(ul, ur);
    v = rotate(vl, vr);
    realize({u, v});
  }
  u = columns(u, 0, n);
  v = columns(v, 0, n);
  auto [s, order] = u.square().sum(Ints{-2}).sqrt().sort(-1, true);
  Tensor pick = order.unsqueeze(-2).broadcastTo(u.shape());
  u = u.gather(-1, pick).div(s.ne(0).where(s, 1).unsqueeze(-2));
  v = v.gather(-1, pick);
  if (fullMatrices) {
    Tensor edge = arange(m, {device(), {}, {}}).ge(n).reshape({1, Sint(m)});
    u = q.matmul(edge.where(identityLike(q, m), grown(u, m, m)));
  } else {
    u = columns(q, 0, n).matmul(u);
  }
  realize({u, s, v});
  return {u, s, matrixTransposed(v)};
}

Tensor Tensor::newtonSchulz(int64_t steps, const std::vector<double>& params, double eps) const {
  OperationScope op("newton_schulz");
  auto [m, n] = matrixSize(*this);
  if (m > n) return matrixTransposed(matrixTransposed(*this).newtonSchulz(steps, params, eps));
  Tensor g = div(square().sum(Ints{-2, -1}, true).sqrt().add(eps));
  for (int64_t step = 0; step < steps; ++step) {
    Tensor square = g.matmul(matrixTransposed(g)), power = g, sum;
    for (size_t i = 0; i < params.size(); ++i) {
      if (i) power = square.matmul(power);
      Tensor term = power.mul(params[i]);
      sum = sum ? sum.add(term) : term;
    }
    if (sum) g = sum;
  }
  return g;
}

Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  OperationScope op("diagonal");
  auto row = static_cast<int64_t>(resolveAxis(dim1)), column = static_cast<int64_t>(resolveAxis(dim2));
  if (row == column) fail(ErrorKind::Runtime, "dim1 and dim2 cannot be the same dimension");
  Ints order;
  for (int64_t i = 0; i < ndim(); ++i)
    if (i != row && i != column) order.push_back(i);
  order.insert(order.end(), {row, column});
  Tensor x = permute(order);
  Ints s = x.intShape();
  const size_t r = s.size() - 2, c = s.size() - 1;
  int64_t firstRow = std::max<int64_t>(0, -offset), firstColumn = std::max<int64_t>(0, offset);
  int64_t n = std::max<int64_t>(0, std::min(s[r] - firstRow, s[c] - firstColumn));
  std::vector<std::optional<std::pair<Sint, Sint>>> part(s.size());
  Shape lead(x.shape().begin(), x.shape().end() - 2), result = lead;
  result.emplace_back(n);
  if (n == 0) return zeros(result, {device(), dtype(), {}});
  part[r] = {Sint(firstRow), Sint(firstRow + n)};
  part[c] = {Sint(firstColumn), Sint(firstColumn + n)};
  // With rows of n + 1 elements, each row of the square starts one element later, so the diagonal is the
  // first column.
  Bounds more(lead.size() + 1, {0, 0});
  more.back() = {0, Sint(n)};
  Shape skewed = lead;
  skewed.insert(skewed.end(), {Sint(n), Sint(n + 1)});
  std::vector<std::optional<std::pair<Sint, Sint>>> firstOfRow(skewed.size());
  firstOfRow.back() = {Sint(0), Sint(1)};
  return x.shrink(part).flatten(-2).pad(more).reshape(skewed).shrink(firstOfRow).reshape(result);
}

} // namespace uopscope
