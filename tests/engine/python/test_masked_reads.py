# Pooling with margins, and its gradient, against NumPy in float64: rows of results are lanes whose gates differ at both ends, in every type,
# for lengths below, at and beyond the vectors of the processor.
import numpy as np
from tinygrad import Tensor
from check import run
rng = np.random.default_rng(7)
LENGTHS = (2, 17, 57, 130)

def windows(a, stride, pad, lowest):
  wide = np.pad(a.astype(np.float64), [(0, 0), (pad, pad), (pad, pad)], constant_values=lowest)
  return wide, np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(1, 2))[:, ::stride, ::stride]

def cases():
  for n in LENGTHS:
    for stride, pad in ((2, 1), (1, 1), (3, 1)):
      if n + 2 * pad >= 3: yield n, stride, pad

def test_max_pool_of_every_type():
  for kind in (np.float32, np.float16, np.int8, np.int64):
    for n, stride, pad in cases():
      a = (rng.standard_normal((2, n, n)) * 10).astype(kind)
      lowest = -np.inf if np.dtype(kind).kind == "f" else np.iinfo(kind).min
      got = Tensor(a).reshape(1, 2, n, n).max_pool2d(3, stride, padding=pad).numpy()[0]
      assert np.array_equal(got, windows(a, stride, pad, lowest)[1].max((-1, -2)).astype(kind)), (kind, n, stride, pad)

def test_gradients_of_max_pools():
  for kind in (np.float32, np.float64):
    for n, stride, pad in cases():
      a = rng.integers(-9, 9, (2, n, n)).astype(kind) # equal elements share what comes back
      wide, seen = windows(a, stride, pad, -np.inf)
      g = rng.integers(-4, 5, seen.shape[:3]).astype(kind)
      z = Tensor(a).reshape(1, 2, n, n).requires_grad_()
      got = z.max_pool2d(3, stride, padding=pad).gradient(z, gradient=Tensor(g).unsqueeze(0))[0].numpy()[0]
      largest = seen == seen.max((-1, -2), keepdims=True)
      want = np.zeros_like(wide)
      b, i, j, k, l = np.nonzero(largest)
      np.add.at(want, (b, i * stride + k, j * stride + l), g[b, i, j] / largest.sum((-1, -2))[b, i, j])
      np.testing.assert_allclose(got, want[:, pad:pad + n, pad:pad + n], atol=1e-5, err_msg=f"{kind} {n} {stride} {pad}")

def test_nan_in_margins_and_rows():
  for n in (17, 57, 130):
    a = rng.standard_normal((1, 1, n, n)).astype(np.float32)
    a[0, 0, ::5, ::3], a[0, 0, 1::7, 2::5] = np.inf, -np.inf
    want = windows(a[0], 2, 1, -np.inf)[1].max((-1, -2))
    np.testing.assert_array_equal(Tensor(a).max_pool2d(3, 2, padding=1).numpy()[0], want)
    average = Tensor(a).avg_pool2d(3, 2, padding=1, count_include_pad=False).numpy()[0, 0]
    with np.errstate(invalid="ignore"): sums = windows(a[0], 2, 1, 0)[1].sum((-1, -2))[0]
    counts = windows(np.ones_like(a[0]), 2, 1, 0)[1].sum((-1, -2))[0]
    np.testing.assert_allclose(average, sums / counts, rtol=1e-4, atol=1e-5)

if __name__ == "__main__": run(globals())
