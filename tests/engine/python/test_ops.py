# Elementwise operations, broadcasting, promotion, casts and reductions against NumPy, over types and awkward shapes.
import math, warnings
import numpy as np
from tinygrad import Tensor, dtypes
from check import close, raises, run
warnings.filterwarnings("ignore")

SHAPES = [(), (1,), (7,), (3, 1), (2, 3, 5), (0,), (4, 0, 2), (33, 65)]
rng = np.random.default_rng(0)
def floats(shape, low=-2.0, high=2.0): return rng.uniform(low, high, shape).astype(np.float32)
def ints(shape, low=-9, high=9, dtype=np.int32): return rng.integers(low, high, shape).astype(dtype)

def test_unary_functions():
  cases = [("exp", np.exp, -2, 2), ("exp2", np.exp2, -2, 2), ("log", np.log, 0.1, 3), ("log2", np.log2, 0.1, 3), ("log10", np.log10, 0.1, 3), ("sqrt", np.sqrt, 0, 3),
           ("rsqrt", lambda x: 1 / np.sqrt(x), 0.1, 3), ("sin", np.sin, -9, 9), ("cos", np.cos, -9, 9), ("tan", np.tan, -1, 1), ("neg", np.negative, -2, 2),
           ("reciprocal", np.reciprocal, 0.5, 2), ("abs", np.abs, -2, 2), ("sign", np.sign, -2, 2), ("square", np.square, -2, 2), ("trunc", np.trunc, -3, 3),
           ("floor", np.floor, -3, 3), ("ceil", np.ceil, -3, 3), ("relu", lambda x: np.maximum(x, 0), -2, 2), ("tanh", np.tanh, -2, 2), ("sinh", np.sinh, -2, 2),
           ("cosh", np.cosh, -2, 2), ("asinh", np.arcsinh, 0, 3), ("acosh", np.arccosh, 1.1, 3), ("atanh", np.arctanh, -0.9, 0.9),
           ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), -3, 3), ("silu", lambda x: x / (1 + np.exp(-x)), -3, 3), ("softplus", lambda x: np.log1p(np.exp(x)), -3, 3),
           ("gelu", lambda x: 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))), -3, 3), ("softsign", lambda x: x / (1 + np.abs(x)), -3, 3),
           ("elu", lambda x: np.where(x > 0, x, np.exp(x) - 1), -2, 2), ("leaky_relu", lambda x: np.where(x > 0, x, 0.01 * x), -2, 2),
           ("relu6", lambda x: np.clip(x, 0, 6), -3, 9), ("hardtanh", lambda x: np.clip(x, -1, 1), -2, 2), ("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), -2, 2)]
  for name, f, low, high in cases:
    for shape in [(), (1,), (5,), (3, 4), (0, 3)]:
      x = floats(shape, low, high)
      close(getattr(Tensor(x), name)(), f(x), rtol=2e-4, atol=2e-5)

def test_inverse_trigonometry_is_an_approximation():
  x = np.linspace(-1, 1, 101).astype(np.float32)
  for name, f in (("asin", np.arcsin), ("acos", np.arccos)): close(getattr(Tensor(x), name)(), f(x), atol=1e-4)
  close(Tensor(x * 5).atan(), np.arctan(x * 5), atol=1e-4)
  erf = np.vectorize(math.erf)
  close(Tensor(x * 3).erf(), erf(x * 3), atol=1e-4)

def test_round_goes_to_even():
  x = np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 2.4, -2.6], dtype=np.float32)
  close(Tensor(x).round(), np.round(x))

def test_binary_operations_broadcast():
  pairs = [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (5,)), ((2, 1, 3), (4, 1)), ((0,), (1,)), ((1,), ())]
  for a, b in pairs:
    x, y = floats(a), floats(b, 0.5, 2)
    for f in (lambda p, q: p + q, lambda p, q: p - q, lambda p, q: p * q, lambda p, q: p / q, lambda p, q: p < q, lambda p, q: p >= q, lambda p, q: p == q, lambda p, q: p != q):
      close(f(Tensor(x), Tensor(y)), f(x, y), rtol=1e-4)
    close(Tensor(x).maximum(Tensor(y)), np.maximum(x, y))
    close(Tensor(x).minimum(Tensor(y)), np.minimum(x, y))
    close(Tensor(np.abs(x) + 0.1).pow(Tensor(y)), (np.abs(x) + 0.1) ** y, rtol=1e-3)

def test_reflected_and_numbers():
  x = floats((3, 2), 0.5, 2)
  t = Tensor(x)
  for f in (lambda a: 1 + a, lambda a: 1 - a, lambda a: 3 * a, lambda a: 2 / a, lambda a: a + True, lambda a: a / 4, lambda a: a - 0.5, lambda a: 2 > a, lambda a: a**2): close(f(t), f(x), rtol=1e-4)
  close(2 ** t, 2 ** x, rtol=1e-4)

def test_integer_division_and_remainder():
  a, b = ints((200,), -50, 50), ints((200,), 1, 9) * rng.choice([-1, 1], 200).astype(np.int32)
  close(Tensor(a) // Tensor(b), a // b)
  close(Tensor(a) % Tensor(b), a % b)
  close(Tensor(a).idiv(Tensor(b)), np.trunc(a / b))
  close(Tensor(a).div(Tensor(b), rounding_mode="trunc"), np.trunc(a / b))
  for d in (3, -3, 7, 8, 1): close(Tensor(a) // d, a // d), close(Tensor(a) % d, a % d)
  f = floats((50,), -5, 5)
  close(Tensor(f) // 2, f // 2)
  close(Tensor(f) % 2, f % 2, atol=1e-5)

def test_bits():
  a, b = ints((20,), 0, 100), ints((20,), 0, 100)
  close(Tensor(a) & Tensor(b), a & b), close(Tensor(a) | Tensor(b), a | b), close(Tensor(a) ^ Tensor(b), a ^ b), close(~Tensor(a), ~a)
  u = a.astype(np.uint32)
  close(Tensor(u) << 3, u << 3), close(Tensor(u) >> 2, u >> 2)
  p = np.array([True, False, True])
  close(~Tensor(p), ~p), close(Tensor(p) & Tensor([True, True, False]), p & np.array([True, True, False]))
  raises(RuntimeError, lambda: Tensor([1.0]) & Tensor([2.0]))

def test_every_type_adds_and_compares():
  for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64"):
    x = np.arange(1, 8).astype(name)
    t = Tensor(x)
    assert str(t.dtype)[7:] == str(getattr(dtypes, name))[7:], name
    assert t.numpy().dtype == x.dtype
    close(t + t, x + x), close(t * 2, x * 2), close(t < 4, x < 4), close(t.max(), x.max()), close(t.sum(), x.sum())
    assert (t + t).numpy().dtype == x.dtype, name

def test_bfloat16_rounds():
  t = Tensor([1.0, 1.0 + 2**-9, 3.1415926], dtype=dtypes.bfloat16)
  close(t, [1.0, 1.0, 3.140625])
  close(t + t, [2.0, 2.0, 6.28125])

def test_promotion():
  cases = [(dtypes.int32, dtypes.float32, dtypes.float32), (dtypes.int8, dtypes.uint8, dtypes.int16), (dtypes.bool, dtypes.int8, dtypes.int8), (dtypes.int64, dtypes.float16, dtypes.float16),
           (dtypes.uint32, dtypes.int32, dtypes.int64), (dtypes.float16, dtypes.bfloat16, dtypes.float32), (dtypes.uint64, dtypes.int8, None)]
  for a, b, want in cases:
    got = (Tensor([1], dtype=a) + Tensor([1], dtype=b)).dtype
    if want is not None: assert got == want, (a, b, got)
  assert (Tensor([1], dtype=dtypes.int8) + 1.5).dtype == dtypes.default_float
  assert (Tensor([1], dtype=dtypes.float16) + 1).dtype == dtypes.float16
  assert (Tensor([True]) + 1).dtype == dtypes.default_int
  assert (Tensor([1]) / 2).dtype == dtypes.float32
  assert Tensor([1]).mean().dtype == dtypes.float32 and Tensor([True]).sum().dtype == dtypes.int32 and Tensor([1], dtype=dtypes.uint8).sum().dtype == dtypes.uint32

def test_casts():
  x = floats((9,), -100, 100)
  for name in ("int32", "int64", "float64", "float16", "int8", "int16"): close(Tensor(x).cast(getattr(dtypes, name)), x.astype(name), rtol=1e-3)
  close(Tensor(np.abs(x)).cast(dtypes.uint8), np.abs(x).astype(np.uint8))
  close(Tensor([0, 1, 2]).bool(), [False, True, True])
  close(Tensor([1.0, -2.0]).bitcast(dtypes.uint32), np.array([1.0, -2.0], dtype=np.float32).view(np.uint32))
  close(Tensor([1, 2], dtype=dtypes.int32).bitcast(dtypes.uint8), np.array([1, 2], dtype=np.int32).view(np.uint8))
  close(Tensor(np.arange(8, dtype=np.uint8)).bitcast(dtypes.uint32), np.arange(8, dtype=np.uint8).view(np.uint32))
  raises(RuntimeError, lambda: Tensor([1, 2, 3], dtype=dtypes.uint8).bitcast(dtypes.uint32), "unsupported size")

def test_where_clamp_and_tests():
  x = floats((4, 5))
  close((Tensor(x) > 0).where(Tensor(x), 0), np.where(x > 0, x, 0))
  close((Tensor(x) > 0).where(1, 0), np.where(x > 0, 1, 0))
  close(Tensor(x).clamp(-0.5, 0.5), np.clip(x, -0.5, 0.5)), close(Tensor(x).clip(min_=0), np.clip(x, 0, None))
  v = np.array([1.0, np.nan, np.inf, -np.inf], dtype=np.float32)
  close(Tensor(v).isnan(), np.isnan(v)), close(Tensor(v).isinf(), np.isinf(v)), close(Tensor(v).isfinite(), np.isfinite(v))
  close(Tensor([1.0, 2.0]).lerp(Tensor([3.0, 4.0]), 0.5), [2.0, 3.0])
  close(Tensor([1.0, 2.0]).logaddexp(Tensor([3.0, 1.0])), np.logaddexp([1.0, 2.0], [3.0, 1.0]))

def test_reductions():
  for shape in SHAPES:
    x = floats(shape)
    axes = [None] + list(range(-len(shape), len(shape))) + ([(0, 1)] if len(shape) > 1 else [])
    for axis in axes:
      for keep in (False, True):
        close(Tensor(x).sum(axis, keepdim=keep), x.sum(axis=axis, keepdims=keep), rtol=1e-3, atol=1e-4)
      size = x.size if axis is None else np.prod([x.shape[a] for a in (axis if isinstance(axis, tuple) else (axis,))])
      if size and x.size:
        close(Tensor(x).max(axis), x.max(axis=axis)), close(Tensor(x).min(axis), x.min(axis=axis))
        close(Tensor(x).mean(axis), x.mean(axis=axis), rtol=1e-3, atol=1e-5)
      if size > 1 and x.size:
        close(Tensor(x).var(axis), x.var(axis=axis, ddof=1), rtol=1e-3), close(Tensor(x).std(axis, correction=0), x.std(axis=axis), rtol=1e-3)
  x = floats((3, 4), 0.5, 1.5)
  close(Tensor(x).prod(1), x.prod(1), rtol=1e-4), close(Tensor(x > 1).any(0), (x > 1).any(0)), close(Tensor(x > 0.6).all(1), (x > 0.6).all(1))
  i = ints((5, 6))
  close(Tensor(i).sum(0), i.sum(0)), close(Tensor(i).prod(), i.astype(np.int64).prod().astype(np.int32)), close(Tensor(i).min(1), i.min(1)), close(Tensor(i).max(), i.max())
  close(Tensor.zeros(0).max(), -np.inf)

def test_large_reductions():
  x = floats((1000, 777), -1, 1)
  close(Tensor(x).sum(), x.astype(np.float64).sum(), rtol=1e-3, atol=0.05)
  close(Tensor(x).sum(0), x.astype(np.float64).sum(0), rtol=1e-3, atol=1e-3), close(Tensor(x).max(1), x.max(1))

def test_argmax_and_cumulative():
  x = np.array([[1, 5, 5, 2], [7, 0, 7, 7]], dtype=np.float32)
  for axis in (None, 0, 1, -1): close(Tensor(x).argmax(axis), x.argmax(axis)), close(Tensor(x).argmin(axis), x.argmin(axis))
  for shape in ((6,), (3, 4), (700,)):
    y = floats(shape, 0.9, 1.1)
    for axis in range(len(shape)):
      close(Tensor(y).cumsum(axis), y.cumsum(axis), rtol=1e-4), close(Tensor(y).cummax(axis)[0], np.maximum.accumulate(y, axis))
  close(Tensor(floats((5,), 0.9, 1.1)).cumprod(0).shape, (5,))
  z = floats((5,))
  close(Tensor(z).logcumsumexp(), np.logaddexp.accumulate(z), rtol=1e-4)

def test_softmax_family():
  x = floats((4, 7), -5, 5)
  e = np.exp(x - x.max(-1, keepdims=True))
  close(Tensor(x).softmax(), e / e.sum(-1, keepdims=True), rtol=1e-4), close(Tensor(x).log_softmax(), np.log(e / e.sum(-1, keepdims=True)), rtol=1e-3, atol=1e-5)
  e0 = np.exp(x - x.max(0)); close(Tensor(x).softmax(0), e0 / e0.sum(0), rtol=1e-4)
  close(Tensor(x).logsumexp(1), np.log(np.exp(x).sum(1)), rtol=1e-4)
  y = Tensor(x).layernorm().numpy()
  assert abs(y.mean(-1)).max() < 1e-4 and abs(y.std(-1) - 1).max() < 1e-3

def test_creation():
  close(Tensor.zeros(2, 3), np.zeros((2, 3))), close(Tensor.ones((4,)), np.ones(4)), close(Tensor.full((2, 2), 7), np.full((2, 2), 7)), close(Tensor.eye(3, 4), np.eye(3, 4))
  close(Tensor.arange(5), np.arange(5)), close(Tensor.arange(2, 11, 3), np.arange(2, 11, 3)), close(Tensor.arange(5, 0, -2), np.arange(5, 0, -2)), close(Tensor.arange(0, 1, 0.25), np.arange(0, 1, 0.25))
  close(Tensor.arange(3, 3), np.arange(3, 3)), close(Tensor.arange(1000), np.arange(1000)), close(Tensor.linspace(0, 1, 5), np.linspace(0, 1, 5))
  assert Tensor.zeros(3, dtype=dtypes.int8).dtype == dtypes.int8 and Tensor(5).shape == () and Tensor([[1, 2], [3, 4]]).shape == (2, 2) and Tensor([]).shape == (0,)
  assert Tensor(5).item() == 5 and Tensor(2.5).item() == 2.5 and Tensor(True).item() is True and Tensor([[1, 2]]).tolist() == [[1, 2]]
  assert Tensor(2**63, dtype=dtypes.uint64).item() == 2**63 and Tensor([2**62 + 1], dtype=dtypes.int64).tolist() == [2**62 + 1]
  close(Tensor(np.float64(1.5)), 1.5), close(Tensor(b"\x01\x02"), [1, 2])
  raises(ValueError, lambda: Tensor([[1, 2], [3]]), "inhomogeneous"), raises(RuntimeError, lambda: Tensor("text"), "can't create")

def test_data_is_python_memory():
  t = Tensor([[1.0, 2.0], [3.0, 4.0]])
  assert t.data()[1, 0] == 3.0 and t.data().shape == (2, 2) and len(t) == 2 and t.numel() == 4 and t.nbytes() == 16
  assert Tensor.zeros(0, 3).numpy().shape == (0, 3)

def test_constants_that_do_not_cancel():
  x = Tensor([1.0, -2.0, 0.0]).realize()
  for c in (0.0, np.inf, -np.inf, np.nan):
    assert np.isnan(((x * c) / c).numpy()).all() and np.isnan((x.sum() * c / c).numpy())
    t = Tensor.full((2, 4), c)
    assert np.isnan(((t @ Tensor.ones(4, 3).contiguous().realize()) / t.sum(-1, keepdim=True)).numpy()).all()
  assert ((x * 3) / 3).tolist() == [1.0, -2.0, 0.0]

if __name__ == "__main__": run(globals())
