# Running sums, products, extremes and logarithms of sums, their gradients and scattered sums, against NumPy in float64: lengths around
# those at which an axis is split in parts. Their work grows with the length, not with its square: gradients of sums once took seconds.
import numpy as np
from tinygrad import Context, Tensor, GlobalCounters
from check import run, settings
rng = np.random.default_rng(7)
LENGTHS = (1, 2, 15, 16, 17, 64, 65, 256, 257, 513, 700)

def draw(*shape): return rng.standard_normal(shape).astype(np.float32)
def close(got, want, terms=1): np.testing.assert_allclose(got.numpy(), want, rtol=terms * 1e-6 + 1e-6, atol=terms * 2e-7 + 1e-6)
def gradient(f, x, g):
  t = Tensor(x).requires_grad_(True)
  return (f(t) * Tensor(g)).sum().gradient(t)[0]
def reversed_sum(g, axis): return np.flip(np.flip(g, axis).cumsum(axis, dtype=np.float64), axis)

def test_gradients_of_running_sums():
  for n in LENGTHS:
    for shape, axis in (((n,), 0), ((3, n), 1), ((n, 5), 0), ((20, n), 1)):
      x, g = draw(*shape), draw(*shape)
      close(gradient(lambda t: t.cumsum(axis), x, g), reversed_sum(g, axis), n)
      y = 2 * x.astype(np.float64).cumsum(axis)
      close(gradient(lambda t: t.cumsum(axis) * t.cumsum(axis), x, np.ones_like(x)), reversed_sum(y, axis), 30 * n)

def test_products_and_extremes():
  for n in LENGTHS:
    x = (1 + 0.01 * draw(4, n)).astype(np.float32); g = draw(4, n)
    p = x.astype(np.float64).cumprod(1)
    close(Tensor(x).cumprod(1), p, n), close(gradient(lambda t: t.cumprod(1), x, g), reversed_sum(g * p, 1) / x, 4 * n)
    i = rng.integers(0, 6, (4, n)).astype(np.float32)
    for f, numpys in ((Tensor.cummax, np.maximum), (Tensor.cummin, np.minimum)):
      largest, where = f(Tensor(i), 1)
      want = numpys.accumulate(i, 1)
      close(largest, want)
      first = np.array([[int(np.argmax(row[:j + 1] == w[j])) for j in range(n)] for row, w in zip(i, want)])
      np.testing.assert_array_equal(where.numpy(), first)

def test_extremes_of_special_values():
  for row in ([np.nan, 1, np.nan], [1, np.nan, 5, 0], [-np.inf, -np.inf, np.inf, np.inf], [-0.0, 0.0, -0.0]):
    largest, where = Tensor(row).cummax(0)
    want = np.maximum.accumulate(np.array(row, np.float32))
    np.testing.assert_array_equal(largest.numpy(), want)
    same = lambda a, b: a == b or (np.isnan(a) and np.isnan(b))
    np.testing.assert_array_equal(where.numpy(), [next(k for k in range(j + 1) if same(row[k], want[j])) for j in range(len(row))])

def test_logarithms_of_sums():
  for n in LENGTHS:
    for scale in (1, 100, 1e4):
      x, g = (draw(3, n) * scale).astype(np.float32), draw(3, n)
      wide = np.logaddexp.accumulate(x.astype(np.float64), 1)
      close(Tensor(x).logcumsumexp(1), wide, 4)
      share = np.tril(np.ones((n, n)))[None] * np.exp(np.minimum(x.astype(np.float64)[:, None, :] - wide[:, :, None], 0))
      close(gradient(lambda t: t.logcumsumexp(1), x, g), (g[:, :, None] * share).sum(1), 200 * max(1, scale / 10))
  with np.errstate(invalid="ignore"): special = [(row, np.logaddexp.accumulate(np.array(row))) for row in ([np.inf] * 70, [-np.inf] * 70, [-np.inf] * 40 + [1.] * 40, [1., np.inf] + [0.] * 70 + [np.nan, 3.])]
  for row, want in special: np.testing.assert_allclose(Tensor(row).logcumsumexp(0).numpy(), want, rtol=1e-6)

def test_scattered_sums_on_top_of_values():
  for rows, width, terms in ((6, 40, 17), (1, 300, 500), (50, 16, 3)):
    x, s, i = draw(rows, width), draw(rows, terms), rng.integers(0, width, (rows, terms))
    want = x.astype(np.float64)
    np.add.at(want, (np.arange(rows)[:, None], i), s)
    close(Tensor(x).scatter_reduce(1, Tensor(i), Tensor(s), "sum"), want, terms)
    close(Tensor(x).scatter_reduce(1, Tensor(i), Tensor(s), "sum") * 2 + 1, want * 2 + 1, terms)
    close(Tensor(x).scatter_reduce(1, Tensor(i), Tensor(s), "sum", include_self=False), np.where((i[:, None] == np.arange(width)[:, None]).any(-1), want - x, x), terms)

def test_strips_of_any_width():
  """A tile that overlaps would add to the accumulators of a strip twice."""
  for width in (3, 5, 7, 9, 11, 13, 17, 23, 33, 37, 41, 67, 131, 521):
    x, w = rng.integers(-9, 9, (17, width)).astype(np.float32), rng.integers(-9, 9, width).astype(np.float32)
    for way in settings():
      with Context(**way):
        np.testing.assert_array_equal((Tensor(x).cumsum(0).contiguous() + 0).numpy(), x.cumsum(0))
        t, leaf = Tensor(x).realize(), Tensor(np.ones((17, width), np.float32)).realize()
        leaf.requires_grad = True
        by = (leaf * (t.cumsum(0) * Tensor(w))).sum().gradient(leaf)[0]
        np.testing.assert_array_equal(by.numpy(), x.cumsum(0) * w, err_msg=f"{width} {way}")
    np.testing.assert_array_equal(Tensor(x, device="REF").cumsum(0).mul(Tensor(w, device="REF")).numpy(), x.cumsum(0) * w)

def test_a_single_long_row():
  for n in (65536, 65537, 131073, 1_200_001):
    x = rng.standard_normal(n)
    np.testing.assert_allclose(Tensor(x).cumsum(0).numpy(), np.cumsum(x), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(Tensor(x).cummax(0)[0].numpy(), np.maximum.accumulate(x))
  def work(n):
    x = Tensor(np.ones(n, np.float32)).realize()
    GlobalCounters.reset(); x.cumsum(0).realize()
    return GlobalCounters.global_ops
  few, many = work(1_000_000), work(12_000_000)
  assert many < 15 * few, (few, many)

def test_work_is_linear():
  programs = {"gradient of cumsum": lambda x: gradient(lambda t: t.cumsum(1), x, x), "cummax": lambda x: Tensor.stack(*Tensor(x).cummax(1)),
              "logcumsumexp": lambda x: Tensor(x).logcumsumexp(1),
              "scatter": lambda x: Tensor(x).scatter_reduce(1, Tensor(np.zeros(x.shape, np.int64)), Tensor(x), "sum")}
  for name, f in programs.items():
    def work(n):
      x = draw(64, n)
      GlobalCounters.reset()
      f(x).realize()
      return GlobalCounters.global_ops
    few, many = work(1000), work(4000)
    assert many < 6 * few, f"{name}: {few} operations for 1,000 columns, {many} for 4,000"

if __name__ == "__main__": run(globals())
