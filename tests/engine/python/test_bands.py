# Convolutions of pictures that no near cache holds, against NumPy in float64: bands of rows with their margins are copied, for windows
# of any stride and dilation, with and without a margin, in one, two and three dimensions, forward and in both gradients; and patches, which
# are stored one by one.
import itertools
import numpy as np
from tinygrad import GlobalCounters, Tensor, dtypes
from tinygrad.helpers import Context
from check import run

rng = np.random.default_rng(11)

def numbers(*shape): return rng.integers(-8, 9, shape).astype(np.float32)

def windows(a, size, stride, pad, dilation):
  """All windows of the pictures: (n, channels, places ..., taps ...)."""
  dims = a.ndim - 2
  a = np.pad(a.astype(np.float64), [(0, 0)] * 2 + [(pad, pad)] * dims)
  reach = [(k - 1) * dilation + 1 for k in size]
  seen = np.lib.stride_tricks.sliding_window_view(a, reach, axis=tuple(range(2, a.ndim)))
  return seen[(slice(None),) * 2 + (slice(None, None, stride),) * dims + (slice(None, None, dilation),) * dims]

def convolved(a, w, stride, pad, dilation):
  dims = a.ndim - 2
  seen = windows(a, w.shape[2:], stride, pad, dilation)
  taps = tuple(range(2 + dims, 2 + 2 * dims))
  return np.moveaxis(np.tensordot(seen, w.astype(np.float64), ((1,) + taps, tuple(range(1, w.ndim)))), -1, 1)

CASES = [ # pictures, filters, stride, margin, dilation: each of more than a megabyte
  ((1, 16, 132, 140), (16, 16, 3, 3), 1, 1, 1), ((2, 16, 132, 140), (16, 16, 3, 3), 1, 1, 1), ((1, 16, 132, 140), (16, 16, 3, 3), 1, 0, 1),
  ((1, 16, 132, 140), (32, 16, 3, 3), 2, 1, 1), ((1, 12, 160, 161), (16, 12, 3, 3), 1, 2, 2), ((1, 12, 150, 150), (16, 12, 5, 5), 1, 2, 1),
  ((1, 12, 150, 151), (16, 12, 4, 4), 2, 1, 1), ((1, 8, 200, 190), (24, 8, 5, 3), 3, 1, 1), ((1, 8, 31, 1100), (16, 8, 3, 3), 1, 1, 1),
  ((1, 8, 190, 190), (16, 8, 3, 3), 1, 0, 3), ((1, 8, 38000), (16, 8, 5), 1, 2, 1), ((1, 8, 34, 34, 34), (8, 8, 3, 3, 3), 1, 1, 1),
  ((1, 300, 30, 32), (16, 300, 3, 3), 1, 1, 1), ((1, 16, 127, 149), (16, 16, 3, 3), 1, 1, 1)] # 127 rows: no band divides them

def test_forward():
  for shape, filters, stride, pad, dilation in CASES:
    a, w = numbers(*shape), numbers(*filters)
    got = Tensor(a).conv2d(Tensor(w), stride=stride, padding=pad, dilation=dilation).numpy()
    np.testing.assert_array_equal(got, convolved(a, w, stride, pad, dilation), err_msg=f"{shape} {filters} {stride} {pad} {dilation}")

def test_gradients():
  for shape, filters, stride, pad, dilation in (CASES[0], CASES[3], CASES[2]):
    a, w = numbers(*shape), numbers(*filters)
    x, f = Tensor(a, requires_grad=True), Tensor(w, requires_grad=True)
    out = x.conv2d(f, stride=stride, padding=pad, dilation=dilation)
    g = numbers(*out.shape)
    gx, gf = (t.numpy() for t in out.gradient(x, f, gradient=Tensor(g)))
    seen = windows(a, filters[2:], stride, pad, dilation)
    np.testing.assert_allclose(gf, np.tensordot(g.astype(np.float64), seen, ((0, 2, 3), (0, 2, 3))), rtol=1e-5, atol=1)
    back = np.zeros((shape[0], shape[1], shape[2] + 2 * pad, shape[3] + 2 * pad))
    for i, j in itertools.product(*map(range, filters[2:])):
      part = np.moveaxis(np.tensordot(g.astype(np.float64), w[:, :, i, j], ((1,), (0,))), -1, 1)
      rows, columns = (slice(k * dilation, k * dilation + stride * (n - 1) + 1, stride) for k, n in ((i, g.shape[2]), (j, g.shape[3])))
      back[:, :, rows, columns] += part
    np.testing.assert_array_equal(gx, back[:, :, pad:pad + shape[2], pad:pad + shape[3]], err_msg=f"{shape} {stride}")

def test_what_is_computed_before_and_after():
  a, w, b = numbers(1, 16, 132, 140), numbers(16, 16, 3, 3), numbers(16)
  got = (Tensor(a).relu() + 1).conv2d(Tensor(w), Tensor(b), padding=1).relu().numpy()
  want = np.maximum(convolved(np.maximum(a, 0) + 1, w, 1, 1, 1) + b.reshape(1, -1, 1, 1), 0)
  np.testing.assert_array_equal(got, want)
  half = Tensor(a).half().conv2d(Tensor(w).half(), padding=1, dtype=dtypes.float).numpy()
  np.testing.assert_array_equal(half, convolved(a, w, 1, 1, 1))

def test_infinities_stay_in_their_windows():
  a, w = numbers(1, 16, 132, 140), np.abs(numbers(16, 16, 3, 3)) + 1
  a[0, 3, 0, 0], a[0, 5, 66, 139], a[0, 7, 131, 70] = np.inf, np.nan, -np.inf
  with np.errstate(invalid="ignore"): want = convolved(a, w, 1, 1, 1)
  np.testing.assert_array_equal(Tensor(a).conv2d(Tensor(w), padding=1).numpy(), want)

def test_patches_are_stored_first_where_many_filters_read_them():
  def kernels(shape, filters, stride):
    x, w = Tensor(numbers(*shape)).realize(), Tensor(numbers(*filters)).realize()
    GlobalCounters.reset()
    got = x.conv2d(w, stride=stride).realize()
    count = GlobalCounters.kernel_count
    np.testing.assert_array_equal(got.numpy(), convolved(x.numpy(), w.numpy(), stride, 0, 1))
    return count
  assert kernels((2, 3, 224, 224), (128, 3, 16, 16), 16) == 2
  assert kernels((2, 3, 224, 224), (16, 3, 16, 16), 16) == 1 # too few readers
  assert kernels((1, 3, 112, 112), (128, 3, 16, 16), 16) == 1 # near caches hold it
  assert kernels((2, 160, 32, 32), (128, 160, 1, 1), 1) == 1 # its places are neighbours
  with Context(PLAIN=1): assert kernels((2, 3, 224, 224), (128, 3, 16, 16), 16) == 1

if __name__ == "__main__": run(globals())
