# WINO=1: convolutions of 3 by Winograd's algorithm give the numbers of the convolution itself, as do their derivatives.
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes
from tinygrad.helpers import Context, GlobalCounters
from uopscope import jvp, vmap, hvp
from check import close, raises, run
rng = np.random.default_rng(3)
def draw(*shape): return rng.standard_normal(shape)

# pictures, filters, arguments: one to three dimensions, groups, margins, sizes that no tile divides, one tile alone
CASES = [((2, 4, 9, 10), (6, 4, 3, 3), dict(padding=1)), ((1, 4, 7, 7), (6, 2, 3, 3), dict(groups=2)), ((2, 3, 11), (5, 3, 3), dict(padding=1)),
         ((1, 2, 5, 6, 7), (3, 2, 3, 3, 3), {}), ((2, 4, 9, 10), (6, 4, 3, 3), dict(padding=(2, 1))), ((1, 1, 3, 3), (1, 1, 3, 3), {}),
         ((3, 16, 6, 18), (32, 16, 3, 3), dict(padding=1)), ((1, 8, 5, 5), (8, 1, 3, 3), dict(groups=8, padding=1))]

def values(x, w, wino, dtype, **arguments):
  """The result, and the gradients of a function of it."""
  with Context(WINO=wino):
    x, w = Tensor(x, dtype=dtype, requires_grad=True), Tensor(w, dtype=dtype, requires_grad=True)
    y = x.conv2d(w, **arguments)
    (y * y.sin()).sum().backward()
    return y.numpy(), x.grad.numpy(), w.grad.numpy()

def test_equals_the_convolution():
  for shape, filters, arguments in CASES:
    x, w = draw(*shape), draw(*filters)
    for dtype, tolerance in ((dtypes.float64, 1e-12), (dtypes.float32, 1e-4)):
      for ours, plain in zip(values(x, w, 1, dtype, **arguments), values(x, w, 0, dtype, **arguments)):
        assert ours.dtype == plain.dtype and ours.shape == plain.shape
        assert np.abs(ours - plain).max() <= tolerance * max(1, np.abs(plain).max()), (shape, filters, dtype, np.abs(ours - plain).max())

def test_is_used_where_it_fits_alone():
  def operations(*, wino, dtype=dtypes.float32, size=3, **arguments):
    x, w = Tensor.empty(1, 64, 56, 56, dtype=dtype).realize(), Tensor.empty(64, 64, size, size, dtype=dtype).realize()
    with Context(WINO=wino):
      GlobalCounters.reset()
      x.conv2d(w, **arguments).realize()
      return GlobalCounters.global_ops
  assert operations(wino=1) < 0.5 * operations(wino=0)
  for other in (dict(size=5), dict(stride=2), dict(dilation=2), dict(dtype=dtypes.int32), dict(size=1)): assert operations(wino=1, **other) == operations(wino=0, **other)

def test_halves_are_computed_in_float32():
  x, w = draw(1, 8, 12, 12).astype(np.float16), draw(8, 8, 3, 3).astype(np.float16)
  with Context(WINO=1): y = Tensor(x).conv2d(Tensor(w), padding=1)
  assert y.dtype == dtypes.half
  with Context(WINO=0): close(y, Tensor(x.astype(np.float32)).conv2d(Tensor(w.astype(np.float32)), padding=1).numpy(), rtol=2e-3, atol=2e-3)

def test_transforms():
  x, dx, w = Tensor(draw(2, 3, 8, 8)), Tensor(draw(2, 3, 8, 8)), Tensor(draw(4, 3, 3, 3))
  def results():
    f = lambda x: x.conv2d(w, padding=1)
    loss = lambda x: (f(x) ** 3).sum()
    return [*jvp(f, (x,), (dx,)), vmap(f)(Tensor.stack(x, dx)), hvp(loss, x, dx), jvp(lambda w: x.conv2d(w), (w,), (w * 2,))[1]]
  with Context(WINO=1): ours = results()
  with Context(WINO=0): plain = results()
  for a, b in zip(ours, plain): close(a, b.numpy(), rtol=1e-9, atol=1e-9)

def test_bias_jit_and_errors():
  x, w, b = draw(2, 4, 8, 8), draw(4, 4, 3, 3), draw(4)
  with Context(WINO=1):
    step = TinyJit(lambda x: x.conv2d(Tensor(w), Tensor(b), padding=1).relu().realize())
    for k in range(4): close(step(Tensor(x * k).realize()), np.maximum(Tensor(x * k).conv2d(Tensor(w), Tensor(b), padding=1).numpy(), 0), rtol=1e-9, atol=1e-9)
    raises(ValueError, lambda: Tensor(draw(1, 4, 2, 2)).conv2d(Tensor(w)), "kernel size (3, 3)")

run(globals())
