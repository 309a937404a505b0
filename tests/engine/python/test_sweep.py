# Operations over every type and awkward shapes (scalar, empty, one, odd, large), on CPU and on REF, against NumPy.
import math
import numpy as np
from tinygrad import Tensor, dtypes
from check import close, run
np.seterr(all="ignore")

SHAPES = [(), (0,), (1,), (3, 0, 2), (7,), (5, 1, 3), (31, 33), (1, 1, 1)]
LARGE = [(4099,), (129, 257)]
FLOATS = {dtypes.float16: (np.float16, 4e-3), dtypes.float32: (np.float32, 2e-5), dtypes.float64: (np.float64, 2e-5)}
INTS = {getattr(dtypes, n): getattr(np, n) for n in "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()}
rng = np.random.default_rng(3)
def places(shape): return ("CPU",) if math.prod(shape) > 2000 else ("CPU", "REF")

def sweep(functions, types, make, shapes=SHAPES + LARGE, loose=None):
  """Each (ours, NumPy's) function over types, shapes and devices; NumPy computes in the widest type of the kind."""
  for name, ours, theirs in functions:
    for d, n in types.items():
      n, tolerance = n if isinstance(n, tuple) else (n, 0)
      for shape in shapes:
        x = np.array(make(shape), dtype=n)
        want = np.asarray(theirs(x.astype(np.float64) if tolerance else x))
        for place in places(shape):
          try: close(ours(Tensor(x, device=place)), want, rtol=loose or tolerance, atol=loose or tolerance)
          except Exception as e: raise AssertionError(f"{name} of {d} {shape} on {place}: {e}") from e

def test_functions_of_floats():
  wide = lambda s: rng.uniform(-2, 2, s)
  sweep([("abs", Tensor.abs, np.abs), ("neg", Tensor.neg, np.negative), ("square", Tensor.square, np.square), ("relu", Tensor.relu, lambda x: np.maximum(x, 0)),
         ("floor", Tensor.floor, np.floor), ("ceil", Tensor.ceil, np.ceil), ("trunc", Tensor.trunc, np.trunc), ("round", Tensor.round, np.round), ("sign", Tensor.sign, np.sign),
         ("exp", Tensor.exp, np.exp), ("exp2", Tensor.exp2, np.exp2), ("sin", Tensor.sin, np.sin), ("cos", Tensor.cos, np.cos), ("tanh", Tensor.tanh, np.tanh),
         ("sigmoid", Tensor.sigmoid, lambda x: 1 / (1 + np.exp(-x))), ("isnan", Tensor.isnan, np.isnan), ("clamp", lambda t: t.clamp(-0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5))], FLOATS, wide)
  sweep([("sqrt", Tensor.sqrt, np.sqrt), ("rsqrt", Tensor.rsqrt, lambda x: 1 / np.sqrt(x)), ("log", Tensor.log, np.log), ("log2", Tensor.log2, np.log2), ("log10", Tensor.log10, np.log10),
         ("reciprocal", Tensor.reciprocal, np.reciprocal)], FLOATS, lambda s: rng.uniform(0.5, 3, s), loose=5e-3)

def test_functions_of_integers():
  small = lambda s: rng.integers(0, 100, s)
  sweep([("abs", Tensor.abs, np.abs), ("square", Tensor.square, np.square), ("invert", lambda t: ~t, np.invert), ("and", lambda t: t & 5, lambda x: x & x.dtype.type(5)),
         ("or", lambda t: t | 5, lambda x: x | x.dtype.type(5)), ("xor", lambda t: t ^ 5, lambda x: x ^ x.dtype.type(5)), 
         ("div", lambda t: t // 7, lambda x: x // x.dtype.type(7)), ("mod", lambda t: t % 7, lambda x: x % x.dtype.type(7)), ("add", lambda t: t + t, lambda x: x + x),
         ("mul", lambda t: t * 3, lambda x: x * x.dtype.type(3)), ("lt", lambda t: t < 50, lambda x: x < 50), ("eq", lambda t: t == 50, lambda x: x == 50)], INTS, small)
  sweep([("left", lambda t: t << 3, lambda x: x << x.dtype.type(3)), ("right", lambda t: t >> 2, lambda x: x >> x.dtype.type(2))], {d: n for d, n in INTS.items() if d.is_unsigned}, small)

def test_two_operands():
  for d, (n, tolerance) in FLOATS.items():
    for a, b in [((), ()), ((), (3,)), ((0,), (1,)), ((5, 1), (1, 7)), ((2, 3, 1), (3, 4)), ((31, 33), (33,)), ((1,), (4099,))]:
      x, y = rng.uniform(-2, 2, a).astype(n), rng.uniform(0.5, 2, b).astype(n)
      for place in ("CPU", "REF"):
        t, u = Tensor(x, device=place, dtype=d), Tensor(y, device=place, dtype=d)
        w, v = x.astype(np.float64), y.astype(np.float64)
        for f in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q): close(f(t, u), f(w, v), rtol=tolerance, atol=tolerance)
        close(t.maximum(u), np.maximum(w, v))
        close(t.minimum(u), np.minimum(w, v))
        close(t < u, w < v)
        close((t < u).where(t, u), np.where(w < v, w, v))

def test_reductions():
  for shape in [(1,), (7,), (5, 1, 3), (31, 33), (3, 4, 5)] + LARGE:
    x = rng.uniform(-1, 1, shape).astype(np.float32)
    for axis in [None] + list(range(len(shape))):
      for place in places(shape):
        t = Tensor(x, device=place)
        for name, f in (("sum", np.sum), ("max", np.max), ("min", np.min), ("mean", np.mean)):
          for keep in (False, True): close(getattr(t, name)(axis=axis, keepdim=keep), f(x.astype(np.float64), axis=axis, keepdims=keep), rtol=1e-4, atol=1e-4)
        close(t.argmax(axis), np.argmax(x, axis))
        close(t.argmin(axis), np.argmin(x, axis))
        if math.prod(shape) < 200: close(t.prod(axis), np.prod(x.astype(np.float64), axis=axis), rtol=1e-3, atol=1e-5)
  for shape, axis in [((0,), 0), ((3, 0), 1), ((0, 3), 0), ((3, 0), None)]:
    close(Tensor(np.zeros(shape, dtype=np.float32)).sum(axis), np.zeros(shape).sum(axis))
    close(Tensor(np.zeros(shape, dtype=np.float32)).prod(axis), np.zeros(shape).prod(axis))
  for d, n in INTS.items():
    x = rng.integers(0, 5, (5, 7)).astype(n)
    close(Tensor(x).sum(0), x.astype(np.int64).sum(0))
    close(Tensor(x).max(), x.max())
    close(Tensor(x).cumsum(1), x.astype(np.int64).cumsum(1))

def test_movement():
  for shape in [(0,), (1,), (7,), (5, 1, 3), (3, 0, 2), (31, 33)]:
    for n in (np.float32, np.int8, np.bool_, np.uint64, np.float16):
      x = (np.arange(math.prod(shape)) % 5).reshape(shape).astype(n)
      t = Tensor(x)
      close(t.reshape(-1) if x.size else t.flatten(), x.reshape(-1))
      close(t.flip(0), np.flip(x, 0))
      close(t.permute(*reversed(range(x.ndim))), x.T)
      close(t.unsqueeze(0).expand(3, *shape), np.broadcast_to(x, (3, *shape)))
      close(t.pad(((1, 2),) + ((0, 0),) * (x.ndim - 1)), np.pad(x, ((1, 2),) + ((0, 0),) * (x.ndim - 1)))
      close(t.cat(t), np.concatenate([x, x]))
      close(t[::-1], x[::-1])
      close(t.repeat(*(2,) * x.ndim), np.tile(x, (2,) * x.ndim))
      if x.size:
        close(t.roll(1, 0), np.roll(x, 1, 0))
        close(t[0], x[0])
        close(t[-1:], x[-1:])

def test_products():
  for m, k, n in [(1, 1, 1), (1, 7, 1), (5, 1, 3), (7, 5, 3), (33, 31, 17), (64, 64, 64), (1, 300, 1), (0, 3, 2), (3, 0, 2)]:
    a, b = rng.uniform(-1, 1, (m, k)).astype(np.float32), rng.uniform(-1, 1, (k, n)).astype(np.float32)
    for place in places((m * k * n,)): close(Tensor(a, device=place) @ Tensor(b, device=place), a @ b, rtol=1e-3, atol=1e-4)
  a, b = rng.integers(-9, 9, (5, 7)).astype(np.int32), rng.integers(-9, 9, (7, 4)).astype(np.int32)
  close(Tensor(a) @ Tensor(b), a @ b)

if __name__ == "__main__": run(globals())
