# Products of many terms, which come in pieces: every layout and type, filters of convolutions, infinities and NaN, every level of this
# processor, LLVM and C, with and without Opts, against NumPy in float64.
import unittest
import numpy as np
from tinygrad import Tensor, dtypes
from tinygrad.helpers import Context
from check import settings

WAYS = [*settings(), dict(PLAIN=1), dict(SPEC=2), dict(IGNORE_OOB=0)]
rng = np.random.default_rng(5)
draw = lambda *shape: rng.standard_normal(shape).astype(np.float32)

def close(got, wanted, terms):
  """Sums of n products may be off by some parts in 2**24 of what their terms add up to."""
  np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=4e-6 * terms**0.5 * 4)

class LongProducts(unittest.TestCase):
  def test_layouts(self):
    for m, k, n in ((40, 2048, 72), (24, 3000, 100), (17, 8192, 33), (64, 8400, 16)):
      a, b = draw(m, k), draw(k, n)
      wanted = a.astype(np.float64) @ b.astype(np.float64)
      x, y, xt, yt = Tensor(a), Tensor(b), Tensor(a.T.copy()), Tensor(b.T.copy())
      for way in WAYS:
        with self.subTest(m=m, k=k, n=n, way=way), Context(**way):
          for got in (x @ y, xt.T @ y, x @ yt.T, xt.T @ yt.T): close(got.numpy(), wanted, k)

  def test_batches_and_what_follows(self):
    a, b = draw(3, 4096, 24), draw(3, 4096, 40)
    wanted = np.einsum("bki,bkj->bij", a.astype(np.float64), b.astype(np.float64))
    for way in WAYS:
      with self.subTest(way=way), Context(**way):
        product = Tensor(a).transpose(1, 2) @ Tensor(b)
        close((product * 0.5 + 1).numpy(), wanted * 0.5 + 1, 4096)
        close(product.sum(0).numpy(), wanted.sum(0), 3 * 4096)

  def test_small_types(self):
    for kind, terms in ((dtypes.half, 4096), (dtypes.bfloat16, 4096), (dtypes.int8, 8192), (dtypes.uint8, 8192)):
      whole = kind in (dtypes.int8, dtypes.uint8)
      a, b = (rng.integers(0, 20, (terms, 24)), rng.integers(0, 20, (terms, 40))) if whole else (draw(terms, 24), draw(terms, 40))
      x, y = Tensor(a.astype(np.float32)).cast(kind), Tensor(b.astype(np.float32)).cast(kind)
      wanted = x.float().numpy().astype(np.float64).T @ y.float().numpy().astype(np.float64)
      for way in (dict(), dict(CPU_TARGET=2), dict(CPU_TARGET=3), dict(NOOPT=1)):
        with self.subTest(kind=kind, way=way), Context(**way):
          got = (x.cast(dtypes.int32).T @ y.cast(dtypes.int32) if whole else x.T.matmul(y, dtype=dtypes.float32)).numpy()
          if whole: np.testing.assert_array_equal(got, wanted)
          else: close(got, wanted, terms)

  def test_special_values(self):
    a, b = draw(4096, 24), draw(4096, 40)
    a[5, 3], a[4000, 7], b[77, 2], b[3000, 9] = np.inf, -np.inf, np.nan, np.inf
    with np.errstate(invalid="ignore"): wanted = a.T.astype(np.float64) @ b.astype(np.float64)
    for way in WAYS:
      with self.subTest(way=way), Context(**way):
        got = (Tensor(a).T @ Tensor(b)).numpy()
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
        np.testing.assert_array_equal(np.isposinf(got), np.isposinf(wanted))
        np.testing.assert_array_equal(np.isneginf(got), np.isneginf(wanted))

  def test_filters(self):
    for shape, filters, pad in (((4, 5, 48, 48), (7, 5, 3, 3), 1), ((16, 3, 24, 24), (9, 3, 5, 5), 0), ((2, 6, 70, 70), (6, 1, 3, 3), 1)):
      x, w = draw(*shape), draw(*filters)
      groups = shape[1] // filters[1]
      padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (pad, pad), (pad, pad)))
      windows = np.lib.stride_tricks.sliding_window_view(padded, filters[2:], (2, 3))
      n, _, rows, columns = windows.shape[:4]
      slope, each, own = draw(n, filters[0], rows, columns), filters[1], filters[0] // groups
      wanted = np.concatenate([np.einsum("nchwrs,nohw->ocrs", windows[:, g * each:(g + 1) * each], slope[:, g * own:(g + 1) * own].astype(np.float64))
                               for g in range(groups)])
      for way in WAYS:
        with self.subTest(shape=shape, way=way), Context(**way):
          kernel = Tensor(w)
          got = Tensor(x).conv2d(kernel, padding=pad, groups=groups).gradient(kernel, gradient=Tensor(slope))[0].numpy()
          close(got, wanted, n * rows * columns)

if __name__ == "__main__": unittest.main()
