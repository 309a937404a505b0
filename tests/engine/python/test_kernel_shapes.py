"""Products, convolutions, running sums and sums by index in shapes that no tile divides, against NumPy in float64."""
import numpy as np
import pytest
from tinygrad import Tensor, dtypes
from tinygrad.uop.ops import Ops

rng = np.random.default_rng(3)


def close(got, right, terms=1):
  right = np.asarray(right, np.float64)
  np.testing.assert_allclose(got.numpy().astype(np.float64), right, rtol=2e-5, atol=2e-6 * max(1, terms) ** 0.5 * max(1.0, float(abs(right).max())))


def normal(*shape): return rng.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("m,k,n", [(33, 40, 35), (1, 64, 70), (70, 17, 1), (65, 64, 64), (37, 130, 101), (48, 256, 48), (9, 512, 9)])
def test_products_of_every_layout(m, k, n):
  a, b = normal(m, k), normal(k, n)
  right = a.astype(np.float64) @ b.astype(np.float64)
  close(Tensor(a) @ Tensor(b), right, k)
  close(Tensor(a) @ Tensor(b.T.copy()).T, right, k)
  close(Tensor(a.T.copy()).T @ Tensor(b), right, k)
  close((Tensor(a) @ Tensor(b)).relu() + 1, np.maximum(right, 0) + 1, k)


@pytest.mark.parametrize("m,k,n", [(512, 200, 160), (640, 150, 131), (1024, 512, 256)])
def test_products_with_a_left_operand_whose_terms_lie_apart(m, k, n):
  a, b = normal(k, m), normal(k, n)
  close(Tensor(a).T @ Tensor(b), a.T.astype(np.float64) @ b, k)


@pytest.mark.parametrize("dtype", ["float64", "int32", "float16", "int8"])
def test_products_of_other_types(dtype):
  a, b = rng.integers(-4, 5, (37, 70)), rng.integers(-4, 5, (70, 41))
  got = Tensor(a.astype(dtype)) @ Tensor(b.T.copy().astype(dtype)).T
  np.testing.assert_array_equal(got.numpy().astype(np.int64), (a @ b).astype(got.numpy().dtype).astype(np.int64))


def test_a_product_that_is_added_to_what_it_overwrites():
  w, x, g = normal(37, 45), normal(70, 37), normal(70, 45)
  t = Tensor(w).contiguous().realize()
  for _ in range(2): t.assign(t + Tensor(x).T @ Tensor(g)).realize()
  close(t, w + 2.0 * (x.astype(np.float64).T @ g), 70)


@pytest.mark.parametrize("stride,dilation,size,pad", [(1, 1, 3, 1), (2, 1, 3, 1), (1, 2, 3, 2), (2, 2, 3, 2), (1, 1, 5, 2), (3, 1, 7, 3), (1, 1, 1, 0)])
@pytest.mark.parametrize("batch,channels,filters,groups", [(1, 16, 32, 1), (2, 6, 20, 2), (3, 3, 17, 1), (1, 12, 12, 12)])
def test_convolutions(stride, dilation, size, pad, batch, channels, filters, groups):
  x, w = normal(batch, channels, 13, 15), normal(filters, channels // groups, size, size)
  got = Tensor(x).relu().conv2d(Tensor(w), stride=stride, dilation=dilation, padding=pad, groups=groups)
  padded = np.pad(np.maximum(x, 0).astype(np.float64), [(0, 0), (0, 0), (pad, pad), (pad, pad)])
  reach = (size - 1) * dilation + 1
  v = np.lib.stride_tricks.sliding_window_view(padded, (reach, reach), axis=(2, 3))[:, :, ::stride, ::stride, ::dilation, ::dilation]
  per = filters // groups
  parts = [np.einsum("bcyxij,ocij->boyx", v[:, g * (channels // groups):(g + 1) * (channels // groups)], w[g * per:(g + 1) * per].astype(np.float64)) for g in range(groups)]
  close(got, np.concatenate(parts, 1), 9 * channels)


def test_gradients_of_a_convolution():
  x, w, g = normal(2, 5, 12, 11), normal(18, 5, 3, 3), normal(2, 18, 12, 11)
  tx, tw = Tensor(x), Tensor(w)
  gx, gw = (tx.conv2d(tw, padding=1) * Tensor(g)).sum().gradient(tx, tw)
  v = np.lib.stride_tricks.sliding_window_view(np.pad(x.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), axis=(2, 3))
  close(gw, np.einsum("boyx,bcyxij->ocij", g.astype(np.float64), v), 264)
  u = np.lib.stride_tricks.sliding_window_view(np.pad(g.astype(np.float64), [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), axis=(2, 3))
  close(gx, np.einsum("boyxij,ocij->bcyx", u, w[:, :, ::-1, ::-1].astype(np.float64)), 162)


@pytest.mark.parametrize("shape,axis", [((33, 40), 1), ((33, 40), 0), ((1, 700), 1), ((700,), 0), ((20, 600), 1), ((5, 19, 21), 1), ((600, 32), 0), ((17, 1000), -1)])
def test_running_sums_products_and_extremes(shape, axis):
  x = normal(*shape)
  wide = x.astype(np.float64)
  close(Tensor(x).cumsum(axis), wide.cumsum(axis), shape[axis])
  close((Tensor(x) * 2).cumsum(axis).relu(), np.maximum((2 * wide).cumsum(axis), 0), shape[axis])
  close((Tensor(x) * 0.01 + 1).cumprod(axis), (x * np.float32(0.01) + 1).astype(np.float64).cumprod(axis), shape[axis])
  np.testing.assert_array_equal(Tensor(x).cummax(axis)[0].numpy(), np.maximum.accumulate(x, axis))
  i = rng.integers(-9, 9, shape).astype(np.int32)
  np.testing.assert_array_equal(Tensor(i).cumsum(axis).numpy(), i.cumsum(axis))


@pytest.mark.parametrize("rows,width,taken", [(40, 32, 50), (17, 1, 60), (100, 7, 30), (33, 64, 1)])
def test_gradient_of_an_embedding(rows, width, taken):
  i, g = rng.integers(-rows, rows, taken).astype(np.int32), normal(taken, width)
  w = Tensor.zeros(rows, width).contiguous()
  got = (w[Tensor(i)] * Tensor(g)).sum().gradient(w)[0]
  right = np.zeros((rows, width))
  np.add.at(right, i, g.astype(np.float64))
  close(got, right, taken)


def test_a_histogram_counts_what_is_inside():
  i = rng.integers(-5, 40, 200).astype(np.int32)
  hits = (Tensor.arange(32).reshape(32, 1) == Tensor(i).reshape(1, 200)).cast(dtypes.int32).sum(1)
  np.testing.assert_array_equal(hits.numpy(), np.bincount(i[(i >= 0) & (i < 32)], minlength=32))


@pytest.mark.parametrize("shape", [(64, 48), (33, 70), (8, 16, 24)])
def test_transposed_copies(shape):
  x = normal(*shape)
  np.testing.assert_array_equal((Tensor(x).transpose(-1, -2) + 1).contiguous().numpy(), np.swapaxes(x, -1, -2) + 1)


def test_sums_by_index_of_each_picture():
  x = Tensor(normal(8, 3, 50, 50), requires_grad=True)
  best, where = x.max_pool2d(kernel_size=(5, 5), stride=(6, 5), return_indices=True)
  back = best.max_unpool2d(where, kernel_size=(5, 5), stride=(6, 5)).numpy().reshape(24, -1)
  right = np.zeros_like(back)
  for row, values, places in zip(right, best.numpy().reshape(24, -1), where.numpy().reshape(24, -1)): row[places] = values
  np.testing.assert_array_equal(back, right)


def test_gradient_of_windows_apart_is_elementwise():
  """Each element of the input belongs to one window, or to none: no kernel of the gradient sums over windows."""
  for size, k, s in ((12, 2, 2), (13, 2, 2), (14, 3, 3), (13, 2, 3), (12, 1, 2)):
    n = (size - k) // s + 1
    x, g, top, mean = normal(2, 3, size, size), normal(2, 3, n, n), np.zeros((2, 3, size, size)), np.zeros((2, 3, size, size))
    for i in range(n):
      for j in range(n):
        at = (slice(None), slice(None), slice(i * s, i * s + k), slice(j * s, j * s + k))
        top[at] = (x[at] == x[at].max((2, 3), keepdims=True)) * g[:, :, i:i + 1, j:j + 1]
        mean[at] = g[:, :, i:i + 1, j:j + 1] / k ** 2
    t = Tensor(x).realize()
    for f, right in ((lambda: t.max_pool2d(k, s), top), (lambda: t.avg_pool2d(k, s), mean)):
      gradient = lambda: f().gradient(t, gradient=Tensor(g).realize())[0]
      assert not any(u.op is Ops.REDUCE for last in gradient().schedule()[-1:] for u in last.ast.toposort()), (size, k, s)
      close(gradient(), right)


if __name__ == "__main__": raise SystemExit(pytest.main([__file__, "-q", "-p", "no:cacheprovider"]))
