# Tiles of 24 registers (12 of 16) whose rows and columns overlap, on every level of this processor, against NumPy in float64.
#
# A tile of 6 x 64 or 8 x 48 divides few matrices: the last one begins earlier and computes some results again. It must not add to what the
# first one stored, nor read or write beyond the matrix. Tiles divide in kernels of less than 2**20 iterations, so each case has more,
# but for products of few columns, which have tiles of their own.
import itertools, unittest
import numpy as np
from tinygrad import Tensor
from tinygrad.helpers import Context
from check import settings

SIZES = (7, 48, 49, 65, 97, 130)
TYPES = {np.float32: 1e-5, np.float64: 1e-13, np.float16: 4e-3} # errors, as parts of the sum of the terms' sizes
WAYS = list(settings())
WORK = 1 << 20
rng = np.random.default_rng(5)
draw = lambda *shape, dtype=np.float32: rng.standard_normal(shape).astype(dtype)

class WideTiles(unittest.TestCase):
  def test_products_of_every_layout(self):
    for (rows, columns), (dtype, part) in itertools.product(itertools.product(SIZES, SIZES), TYPES.items()):
      terms = WORK // (rows * columns) + 1
      if terms > 4096: continue
      a, b = draw(rows, terms, dtype=dtype), draw(terms, columns, dtype=dtype)
      wide = [x.astype(np.float64) for x in (a, b)]
      right, bound = wide[0] @ wide[1], part * (abs(wide[0]) @ abs(wide[1]))
      x, y, xt, yt = Tensor(a), Tensor(b), Tensor(a.T.copy()), Tensor(b.T.copy())
      ways = [dict(), WAYS[(rows + columns) % len(WAYS)]]
      for way in ways:
        with self.subTest(rows=rows, terms=terms, columns=columns, dtype=dtype.__name__, way=way), Context(**way):
          for got in (x @ y, xt.T @ y, x @ yt.T): self.assertTrue((abs(got.numpy().astype(np.float64) - right) <= bound).all())

  def test_few_columns(self):
    """Terms are lanes, and the second matrix is turned in a panel; or columns fill a part of a register."""
    for columns, terms, dtype in itertools.product((1, 3, 8, 10, 20, 24), (64, 100, 384), TYPES):
      a, b = draw(301, terms, dtype=dtype), draw(terms, columns, dtype=dtype)
      a[3, 5], b[8, 0] = np.inf, np.nan
      wide = [x.astype(np.float64) for x in (a, b)]
      right, bound = wide[0] @ wide[1], TYPES[dtype] * (abs(wide[0]) @ abs(wide[1]))
      x, y, xt, yt = Tensor(a), Tensor(b), Tensor(a.T.copy()), Tensor(b.T.copy())
      for way in dict(), WAYS[(terms + columns) % len(WAYS)]:
        with self.subTest(columns=columns, terms=terms, dtype=dtype.__name__, way=way), Context(**way):
          for got in (x @ y, xt.T @ y, x @ yt.T):
            got = got.numpy().astype(np.float64)
            with np.errstate(invalid="ignore"): self.assertTrue(((abs(got - right) <= bound) | (got == right) | (np.isnan(got) & np.isnan(right))).all())

  def test_what_follows_a_product(self):
    for rows, columns in ((130, 196), (98, 260), (1000, 50)):
      a, b, c = draw(rows, 96), draw(96, columns), draw(rows, columns)
      product = a.astype(np.float64) @ b
      for way in WAYS:
        with self.subTest(rows=rows, columns=columns, way=way), Context(**way):
          np.testing.assert_allclose((Tensor(a) @ Tensor(b) + Tensor(c)).numpy(), product + c, atol=1e-4)
          there = Tensor(c).contiguous().realize()
          np.testing.assert_allclose(there.assign(there + Tensor(a) @ Tensor(b)).realize().numpy(), product + c, atol=1e-4)
          np.testing.assert_allclose((Tensor(a) @ Tensor(b)).relu().sum(axis=0).numpy(), np.maximum(product, 0).sum(0), rtol=1e-4, atol=1e-2)

  def test_infinities_and_nan_stay_in_their_row_and_column(self):
    a, b = draw(100, 150), draw(150, 100)
    a[3, 5], a[97, 1], b[2, 99], b[8, 4] = np.inf, np.nan, -np.inf, np.nan
    with np.errstate(invalid="ignore"): right = a @ b
    for way in WAYS:
      with self.subTest(way=way), Context(**way): np.testing.assert_allclose((Tensor(a) @ Tensor(b)).numpy(), right, rtol=1e-3, atol=1e-3)

  def test_windows(self):
    x, w = draw(2, 12, 45, 47), draw(50, 12, 3, 3)
    padded = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    right = np.einsum("nchwij,fcij->nfhw", windows, w)
    slope = np.einsum("nchwij,nfhw->fcij", windows, 2 * right)
    for way in WAYS:
      with self.subTest(way=way), Context(**way):
        filters = Tensor(w)
        out = Tensor(x).conv2d(filters, stride=2, padding=1)
        np.testing.assert_allclose(out.numpy(), right, atol=1e-3)
        np.testing.assert_allclose(out.square().sum().gradient(filters)[0].numpy(), slope, rtol=1e-3, atol=0.5)

  def test_rows_that_are_kept_beside_the_sums(self): # the gradient of distances keeps its points
    p, q, weights = draw(150, 64), draw(130, 64), draw(150, 130)
    right = 2 * (weights[..., None] * (p[:, None].astype(np.float64) - q)).sum(1)
    for way in WAYS:
      with self.subTest(way=way), Context(**way):
        points = Tensor(p)
        total = ((points.unsqueeze(1) - Tensor(q)).square().sum(-1) * Tensor(weights)).sum()
        np.testing.assert_allclose(total.gradient(points)[0].numpy(), right, atol=5e-3)

if __name__ == "__main__": unittest.main()
