# One value everywhere: an expression that two kernels compute has the same bits in both, whatever the width of
# lanes, so a value equals itself in a comparison. Every case runs for each level of x86-64 that this machine
# executes (CPU_TARGET), through LLVM and through C, optimised and not.
import numpy as np
from tinygrad import Device, Tensor, dtypes
from tinygrad.helpers import Context
from check import close, raises, run
nan, inf = float("nan"), float("inf")
rng = np.random.default_rng(0)
def floats(*shape): return rng.normal(size=shape).astype(np.float32)

def levels():
  out = [0]
  for level in (2, 3, 4):
    with Context(CPU_TARGET=level):
      try: (Tensor([1.0, 2.0]) + level).tolist()
      except ValueError: continue
    out.append(level)
  return out
LEVELS = levels()
def everywhere():
  """Settings that change the computation of a kernel and must not change its values."""
  for level in LEVELS: yield dict(CPU_TARGET=level)
  yield dict(CPU_LLVM=0)
  yield dict(NOOPT=1)

def test_positions_of_computed_values():
  for settings in everywhere():
    with Context(**settings):
      for rows, n, k in ((8, 4, 2), (8, 16, 4), (3, 7, 3), (32, 64, 8), (5, 33, 33)):
        x = floats(rows, n); order = np.argsort(-x, axis=1, kind="stable")
        assert (Tensor(x).softmax(-1).topk(k)[1].numpy() == order[:, :k]).all(), (settings, "topk of a softmax", rows, n)
        for f in (Tensor.exp, Tensor.sigmoid, lambda t: t * 3.3 + 1.7, lambda t: t / 7, lambda t: t.sin() * 1e-3 + t):
          assert (f(Tensor(x)).sort(descending=True)[1].numpy() == order).all(), (settings, "argsort", rows, n)
        assert (Tensor(x).layernorm().argmax(-1).numpy() == x.argmax(-1)).all(), (settings, "argmax of a norm")
        one_hot = Tensor(x).softmax(-1); hits = (one_hot == one_hot.max(-1, keepdim=True)).sum(-1).numpy()
        assert (hits == 1).all(), (settings, "one-hot of a maximum", rows, n)

def test_positions_of_integers():
  for settings in everywhere():
    with Context(**settings):
      for n in (5, 17, 31, 33, 48, 65):
        x = rng.integers(-4, 30, (2, n)).astype(np.int32); order = np.argsort(x, axis=1, kind="stable")
        assert (Tensor(x).argsort(1).numpy() == order).all(), (settings, n)
        assert (Tensor(x).sort(1)[0].numpy() == np.sort(x, 1)).all(), (settings, n)

def test_a_dropped_value_is_the_kept_one_scaled():
  with Tensor.train():
    for settings in everywhere():
      with Context(**settings):
        Tensor.manual_seed(5); x = Tensor(floats(100)).exp(); y = x.dropout(0.5); a, b = x.numpy(), y.numpy()
        assert ((b == 0) | (b == a / np.float32(0.5))).all(), settings

def test_every_width_computes_the_same_bits():
  x = np.concatenate([floats(1003) * s for s in (1, 30, 1e-3)])
  functions = [Tensor.exp, Tensor.log, Tensor.sin, Tensor.cos, Tensor.sigmoid, Tensor.tanh, Tensor.gelu, Tensor.sqrt, Tensor.rsqrt, Tensor.erf, lambda t: t / 3, lambda t: t * t + t]
  for f in functions:
    with Context(CPU_TARGET=3 if 3 in LEVELS else 0): want = f(Tensor(x)).numpy()
    for settings in everywhere():
      if settings.get("CPU_TARGET") == 2: continue  # without fused multiplication and addition a series rounds more often
      with Context(**settings): np.testing.assert_array_equal(f(Tensor(x)).numpy(), want, str(settings))

def test_arithmetic_is_numpys():
  x, y = floats(4099) * 100, floats(4099)
  for settings in everywhere():
    with Context(**settings):
      for f in (lambda a, b: a * b + a, lambda a, b: a / b, lambda a, b: a - b * b, lambda a, b: a / 10):
        np.testing.assert_array_equal(f(Tensor(x), Tensor(y)).numpy(), f(x, y), str(settings))

def test_levels_that_do_not_exist():
  if Device.DEFAULT != "CPU": return
  with Context(CPU_TARGET=7): raises(ValueError, lambda: (Tensor([1.0]) + 7).tolist(), "CPU_TARGET=7", "2, 3 or 4")

# --- infinities, NaN and saturated values ---

def gradient(f, x):
  t = Tensor(x, requires_grad=True); f(t).sum().backward()
  return t.grad

def test_saturated_gradients():
  x = [300.0, -300.0, 400.0, -400.0, inf, -inf, 1.0, 0.0]
  for settings in everywhere():
    with Context(**settings):
      close(gradient(Tensor.sigmoid, x), [0, 0, 0, 0, 0, 0, 0.19661193, 0.25])
      close(gradient(Tensor.tanh, x), [0, 0, 0, 0, 0, 0, 0.41997434, 1])
      close(gradient(Tensor.gelu, x[:4]), [1, 0, 1, 0]), close(gradient(Tensor.quick_gelu, x[:4]), [1, 0, 1, 0]), close(gradient(Tensor.silu, x[:4]), [1, 0, 1, 0])
      close(gradient(Tensor.sqrt, [0.0, 4.0]), [inf, 0.25])

def test_roots_and_quotients():
  for settings in everywhere():
    with Context(**settings):
      for n in (1, 5, 16, 33):  # alone and in lanes
        close(Tensor([-1.0, 0.0, 4.0, inf] * n).rsqrt(), [nan, inf, 0.5, 0] * n), close(Tensor([-1.0, 0.0, inf] * n).sqrt(), [nan, 0, inf] * n)
        close(Tensor([0.0, -0.0, inf, -inf] * n).reciprocal(), [inf, -inf, 0, 0] * n), close(Tensor([1.0, 0.0, -1.0, inf] * n) / Tensor([0.0, 0.0, 0.0, inf] * n), [inf, nan, -inf, nan] * n)

def test_positions_stay_in_range():
  for settings in everywhere():
    with Context(**settings):
      for n in (2, 3, 5, 8, 16, 17, 64):
        for at in {0, n // 2, n - 1}:
          x = np.ones(n, np.float32); x[at] = nan
          assert Tensor(x).argmax().item() == at, (settings, n, at)
          assert Tensor(x).argmin().item() == at, (settings, n, at)

if __name__ == "__main__": run(globals())
