# Halves and bfloat16s: products, convolutions and attention are sums of exact products, rounded once at the end; operations one
# by one round after each, as NumPy's halves do. Every level of this processor, LLVM and C, with and without Opts, and the
# interpreter.
import numpy as np
from tinygrad import Context, Tensor, dtypes
from check import run, settings

SETTINGS = list(settings())
TYPES = {dtypes.half: 2.0 ** -11, dtypes.bfloat16: 2.0 ** -8}
rng = np.random.default_rng(3)

def rounded(shape, dtype):
  """Random values of the type: a tensor in memory, and the same values in float64."""
  t = Tensor(rng.standard_normal(shape).astype(np.float32)).cast(dtype).realize()
  return t, t.float().numpy().astype(np.float64)

def agrees(got, want, weight, terms, eps, setting):
  """A sum of `terms` products, added up in float32 and rounded once; weight: the sum of their absolute values."""
  bound = np.abs(want) * eps + weight * terms * 2.0 ** -24 + 1e-7
  error = np.abs(got.float().numpy() - want)
  assert (error <= bound).all(), (setting, (error / bound).max())

def test_products():
  for dtype, eps in TYPES.items():
    for m, k, n in ((3, 5, 7), (33, 70, 48), (64, 300, 96), (1, 257, 40)):
      (a, x), (b, y), (c, z) = rounded((m, k), dtype), rounded((k, n), dtype), rounded((n, k), dtype)
      for s in SETTINGS:
        with Context(**s):
          agrees(a @ b, x @ y, abs(x) @ abs(y), k, eps, s)
          agrees(a @ c.T, x @ z.T, abs(x) @ abs(z.T), k, eps, s)
          agrees(a.T @ a, x.T @ x, abs(x.T) @ abs(x), m, eps, s)

def test_convolution_and_its_gradients():
  for dtype, eps in TYPES.items():
    (a, x), (w, k), (g, d) = rounded((2, 5, 9, 9), dtype), rounded((6, 5, 3, 3), dtype), rounded((2, 6, 9, 9), dtype)
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), axis=(2, 3))
    for s in SETTINGS:
      with Context(**s):
        agrees(a.conv2d(w, padding=1), np.einsum("bcxyij,ocij->boxy", windows, k), np.einsum("bcxyij,ocij->boxy", abs(windows), abs(k)), 45, eps, s)
        agrees(a.conv2d(w, padding=1).gradient(w, gradient=g)[0], np.einsum("bcxyij,boxy->ocij", windows, d), np.einsum("bcxyij,boxy->ocij", abs(windows), abs(d)), 162, eps, s)

def test_operations_round_one_by_one():
  x, y = rng.standard_normal(1000).astype(np.float16), rng.standard_normal(1000).astype(np.float16)
  x[:6], y[:6] = [65504, np.inf, -0.0, 6e-8, np.nan, 2048], [65504, -np.inf, 0.0, 6e-8, 1, 1]
  with np.errstate(all="ignore"):
    cases = [("sum of product", lambda a, b: a * b + a, x * y + x), ("quotient", lambda a, b: a / b, x / y), ("difference", lambda a, b: (a - b) * 3, (x - y) * np.float16(3)),
             ("maximum", lambda a, b: a.maximum(b), np.maximum(x, y)), ("choice", lambda a, b: (a < b).where(a, b * 2), np.where(x < y, x, y * np.float16(2))), ("root", lambda a, b: (a * a).sqrt(), np.sqrt(x * x))]
  for s in SETTINGS:
    with Context(**s):
      for name, f, want in cases: np.testing.assert_array_equal(f(Tensor(x), Tensor(y)).numpy(), want, f"{name} {s}")

def test_functions_are_near_those_of_float64():
  for dtype, eps in TYPES.items():
    t, x = rounded((64, 80), dtype)
    e = np.exp(x - x.max(1, keepdims=True))
    for s in SETTINGS:
      with Context(**s):
        for name, f, want in (("softmax", lambda t: t.softmax(1), e / e.sum(1, keepdims=True)), ("sigmoid", lambda t: t.sigmoid(), 1 / (1 + np.exp(-x))), ("tanh", lambda t: t.tanh(), np.tanh(x))):
          error = np.abs(f(t).float().numpy() - want)
          assert (error <= 8 * eps * np.maximum(np.abs(want), 2 * eps)).all() or error.max() < 4 * eps, (name, dtype, s, error.max())

def test_strict_float_rounds_each_product():
  x = Tensor([1 + 2.0 ** -10] * 4, dtype=dtypes.half).realize()
  exact, rounded_first = 4 * (1 + 2.0 ** -9 + 2.0 ** -20), 4 * (1 + 2.0 ** -9)
  for s in SETTINGS:
    with Context(**s): assert (x * x).sum(dtype=dtypes.float).item() == exact, s
    with Context(STRICT_FLOAT=1, **s): assert (x * x).sum(dtype=dtypes.float).item() == rounded_first, s

if __name__ == "__main__": run(globals())
