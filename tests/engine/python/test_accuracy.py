"""Functions against 80 bits of NumPy's long double: their largest error in units in the last place, and the values at the ends.

Where the processor's long double is a double, the bounds of float64 are left out.
"""
import numpy as np
from tinygrad import Tensor
from check import run

LONG = np.longdouble
HAS_LONG = np.finfo(LONG).nmant > 60


def erf(x):
  """By its Maclaurin series below 3, by the continued fraction of erfc above."""
  x = x.astype(LONG)
  small = np.where(np.abs(x) < 3, x, 0)
  term, total = small.copy(), small.copy()
  for k in range(1, 120):
    term = term * -small * small / k
    total = total + term / (2 * k + 1)
  large = np.where(np.abs(x) < 3, 3, np.abs(x))
  fraction = large.copy()
  for k in range(120, 0, -1): fraction = large + LONG(k) / 2 / fraction
  root = np.sqrt(np.arccos(LONG(-1)))
  return np.where(np.abs(x) < 3, 2 / root * total, np.sign(x) * (1 - np.exp(-large * large) / root / fraction))


def ulps(got, wanted):
  """Errors of `got` in units in the last place of its type."""
  rounded = wanted.astype(got.dtype)
  same = (rounded == got) | (np.isnan(rounded) & np.isnan(got))
  finite = np.isfinite(rounded) & np.isfinite(got)
  with np.errstate(invalid="ignore"): error = np.abs(got.astype(LONG) - wanted) / np.spacing(np.abs(rounded)).astype(LONG)
  return np.where(same, 0, np.where(finite, error, np.inf))


# name, ours, exact, then for each range its bounds of float32 and float64 (None: beyond the type)
FUNCTIONS = [
  ("exp", Tensor.exp, np.exp, {(-10, 10): (1.5, 1.5), (-87, 88.7): (1.5, 1.5), (-708, 709): (None, 1.5)}),
  ("exp2", Tensor.exp2, np.exp2, {(-120, 127): (1.5, 1.5), (-1000, 1020): (None, 1.5)}),
  ("10**x", lambda t: 10.0 ** t, lambda x: np.power(LONG(10), x), {(-30, 30): (1.5, 1.5)}),
  ("exp less 1", lambda t: t.exp() - 1, np.expm1, {(-1e-3, 1e-3): (2, 2), (-40, 88.7): (2.5, 2.5), (-708, 709): (None, 2.5)}),
  ("1 less exp", lambda t: 1 - (-t).exp(), lambda x: -np.expm1(-x), {(-1e-3, 1e-3): (2, 2), (-80, 40): (2.5, 2.5)}),
  ("2**x less 1", lambda t: t.exp2() - 1, lambda x: np.expm1(x * np.log(LONG(2))), {(-1e-3, 1e-3): (2, 2), (-60, 127): (2.5, 2.5)}),
  ("elu", Tensor.elu, lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), {(-1e-3, 1e-3): (2, 2), (-60, 5): (2.5, 2.5)}),
  ("log", Tensor.log, np.log, {(1e-3, 3): (4, 4), (1e-30, 1e30): (2, 2), (1e-44, 1e-38): (2, 2)}),
  ("tanh", Tensor.tanh, np.tanh, {(-1e-3, 1e-3): (2.5, 2.5), (-20, 20): (3, 4)}),
  ("mish", Tensor.mish, lambda x: x * np.tanh(np.logaddexp(0, x)), {(-1e-3, 1e-3): (4, 4), (-80, 80): (5, 5)}),
  ("sigmoid", Tensor.sigmoid, lambda x: 1 / (1 + np.exp(-x)), {(-80, 80): (3, 3)}),
  ("softplus", Tensor.softplus, lambda x: np.logaddexp(0, x), {(-30, 30): (6, 6)}),
  ("logsigmoid", Tensor.logsigmoid, lambda x: -np.logaddexp(0, -x), {(-30, 30): (6, 6)}),
  ("cosh", Tensor.cosh, np.cosh, {(-1, 1): (2, 2), (-80, 80): (2, 2)}),
  ("sinh", Tensor.sinh, np.sinh, {(-1e-3, 1e-3): (3, 3), (-2, 2): (4, 4), (-80, 80): (3, 3)}),
  ("asinh", Tensor.asinh, np.arcsinh, {(-1e-3, 1e-3): (5, 5), (-2, 2): (6, 6), (-1e9, 1e9): (3, 3)}),
  ("acosh", Tensor.acosh, np.arccosh, {(1, 1.01): (7, 7), (1, 80): (6, 6)}),
  ("atanh", Tensor.atanh, np.arctanh, {(-1e-3, 1e-3): (5, 5), (-.99, .99): (6, 6)}),
  ("asin", Tensor.asin, np.arcsin, {(-1e-3, 1e-3): (3, 3), (-1, 1): (4, 4)}),
  ("acos", Tensor.acos, np.arccos, {(-1, 1): (4, 4), (.9, 1): (4, 4)}),
  ("atan", Tensor.atan, np.arctan, {(-1e-3, 1e-3): (4, 4), (-1, 1): (5, 5), (-80, 80): (4, 4)}),
  ("erf", Tensor.erf, erf, {(-.4, .4): (4, 4), (-6, 6): (5, 5)}),
  ("sin", Tensor.sin, np.sin, {(-100, 100): (4, 4), (-1e4, 1e4): (4, 4)}),
]


def test_signs_of_zeros_and_angles_of_infinities():
  for dtype in ("float32", "float64"):
    zeros = np.array([0.0, -0.0], dtype)
    for name in ("atan", "asin", "tanh", "sinh", "erf", "sin", "tan", "elu", "celu", "selu"):
      assert np.signbit(getattr(Tensor(zeros), name)().numpy()).tolist() == [False, True], name
    ends = Tensor(np.array([np.inf, -np.inf, 3e38, np.nan], dtype), requires_grad=True)
    angles = ends.atan()
    assert np.allclose(angles.numpy(), [np.pi / 2, -np.pi / 2, np.pi / 2, np.nan], rtol=1e-7, equal_nan=True)
    assert np.array_equal(angles.sum().gradient(ends)[0].numpy()[:2], [0, 0])


def test_errors():
  rng = np.random.default_rng(0)
  for name, ours, exact, ranges in FUNCTIONS:
    for (low, high), bounds in ranges.items():
      for kind, bound in zip((np.float32, np.float64), bounds):
        if bound is None or (kind is np.float64 and not HAS_LONG): continue
        x = rng.uniform(low, high, 20_000).astype(kind)
        error = ulps(ours(Tensor(x)).numpy(), exact(x.astype(LONG)))
        worst = int(np.argmax(error))
        assert error[worst] <= bound, f"{name} of {kind.__name__} {x[worst]!r} errs by {error[worst]:.3g} units, bound {bound}"


def test_ends():
  ends = np.array([0.0, -0.0, 1, -1, 2, -2, 1e-40, -1e-40, 200, -200, 1e30, -1e30, np.inf, -np.inf, np.nan])
  for name, ours, exact, _ in FUNCTIONS:
    if name == "erf": continue
    for kind in (np.float32, np.float64):
      x = ends.astype(kind)
      with np.errstate(all="ignore"): wanted = exact(x.astype(LONG)).astype(kind)
      got = ours(Tensor(x)).numpy()
      for a, g, w in zip(x, got, wanted):
        near = g == w or (np.isnan(g) and np.isnan(w)) or (np.isfinite(w) and np.isfinite(g) and abs(g - w) <= 8 * np.spacing(abs(w)))
        assert near, f"{name}({a}) of {kind.__name__} is {g}, not {w}"
  for kind in (np.float32, np.float64):
    got = Tensor(np.array([0, -0.0, 1e-40, 7, -7, 200, -200, np.inf, -np.inf, np.nan], kind)).erf().numpy()
    assert (got[[0, 1, 3, 4, 5, 6, 7, 8]] == [0, 0, 1, -1, 1, -1, 1, -1]).all() and np.isnan(got[9]), got


if __name__ == "__main__": run(globals())
