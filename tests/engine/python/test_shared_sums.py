# Sums of the same memory share a loop, in one kernel or of several outputs: their numbers are NumPy's, whatever shares what.
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes
from tinygrad.helpers import Context, GlobalCounters
from check import close, run
rng = np.random.default_rng(11)

def kernels_of(*tensors):
  GlobalCounters.reset()
  Tensor.realize(*tensors)
  return GlobalCounters.kernel_count

def numbers(*shape, special=False):
  a = rng.standard_normal(shape).astype(np.float32)
  if special and a.size: a.reshape(-1)[rng.integers(a.size, size=3)] = [np.inf, -np.inf, np.nan]
  return a

# a sum of x, or of x and y, as Tensor and as NumPy compute it
SUMS = [(lambda x, y, axis: x.sum(axis), lambda x, y, axis: x.sum(axis)),
        (lambda x, y, axis: x.max(axis), lambda x, y, axis: x.max(axis)),
        (lambda x, y, axis: x.min(axis), lambda x, y, axis: x.min(axis)),
        (lambda x, y, axis: (x * y).sum(axis), lambda x, y, axis: (x * y).sum(axis)),
        (lambda x, y, axis: (x > y).sum(axis), lambda x, y, axis: (x > y).sum(axis)),
        (lambda x, y, axis: (x - y).abs().max(axis), lambda x, y, axis: np.abs(x - y).max(axis)),
        (lambda x, y, axis: x.square().mean(axis), lambda x, y, axis: np.square(x).mean(axis)),
        (lambda x, y, axis: y.sum(axis), lambda x, y, axis: y.sum(axis))]

def test_random_sets_of_sums():
  for case in range(80):
    shape = tuple(int(n) for n in rng.choice([1, 2, 3, 5, 8, 16, 17, 33, 64, 100, 257], size=rng.integers(1, 4)))
    axis = tuple(int(a) for a in np.flatnonzero(rng.integers(2, size=len(shape)))) or (len(shape) - 1,)
    special = case % 4 == 0
    x, y = numbers(*shape, special=special), numbers(*shape)
    chosen = [SUMS[i] for i in rng.integers(len(SUMS), size=rng.integers(2, 16))]
    a, b = Tensor(x).realize(), Tensor(y).realize()
    with np.errstate(all="ignore"): wanted = [np.asarray(theirs(x, y, axis)) for _, theirs in chosen]
    outputs = [ours(a, b, axis) for ours, _ in chosen]
    if case % 2:  # one output of all
      outputs, wanted = [sum(o.cast(dtypes.float32) for o in outputs)], [np.sum([w.astype(np.float32) for w in wanted], axis=0)]
    Tensor.realize(*outputs)
    for o, w in zip(outputs, wanted):
      got = o.numpy()
      assert got.shape == w.shape, (case, shape, axis)
      np.testing.assert_allclose(got, w, rtol=2e-4, atol=2e-4, err_msg=str((case, shape, axis)))

def test_one_kernel_where_memory_is_shared():
  x, y = Tensor(numbers(64, 96)).realize(), Tensor(numbers(64, 96)).realize()
  assert kernels_of(x.sum(1), x.max(1), (x * y).sum(1)) == 1
  assert kernels_of(x.sum(0), (x * 2).sum(0)) == 1
  assert kernels_of(x.T.sum(0), x.max(1)) == 1
  assert kernels_of(x.sum(1), y.sum(1)) == 2
  assert kernels_of(x.sum(1), x.sum(0)) == 2
  with Context(PLAIN=1): assert kernels_of(x.sum(1), x.max(1)) == 2
  with Context(MAX_KERNEL_BUFFERS=8): assert kernels_of(x.sum(1), x.max(1)) == 2

def test_more_sums_than_registers_are_split():
  a = numbers(256, 1024)
  x = Tensor(a).realize()
  outputs = [(x - i * 0.1).square().sum(1) for i in range(40)]
  assert 2 <= kernels_of(*outputs) <= 4
  for i, o in enumerate(outputs): close(o, np.square(a - np.float32(i * 0.1)).sum(1), rtol=1e-4)

def test_a_kernel_has_at_most_32_sums():
  a = numbers(8, 64)
  x = Tensor(a).realize()
  outputs = [(x * (i + 1)).sum(1) for i in range(70)]
  assert kernels_of(*outputs) == 3
  for i, o in enumerate(outputs): close(o, (a * np.float32(i + 1)).sum(1), rtol=1e-4, atol=1e-4)

def test_a_sum_that_needs_the_other_waits():
  a = numbers(48, 64)
  x = Tensor(a).realize()
  mean = x.mean(1, keepdim=True)
  outputs = mean.reshape(48), (x - mean).square().mean(1), x.max(1)
  Tensor.realize(*outputs)
  for o, w in zip(outputs, (a.mean(1), a.var(1), a.max(1))): close(o, w, rtol=1e-4, atol=1e-6)

def test_old_and_new_contents():
  a = numbers(32, 64)
  x = Tensor(a).contiguous().realize()
  before = x.sum(1)
  x.assign(x * 2)
  after = x.max(1)
  Tensor.realize(before, after)
  close(before, a.sum(1), rtol=1e-4, atol=1e-5)
  close(after, (a * 2).max(1))

def test_of_no_elements():
  x = Tensor.zeros(4, 0).contiguous().realize()
  s, m = x.sum(1), x.max(1)
  Tensor.realize(s, m)
  assert s.tolist() == [0.0] * 4 and m.tolist() == [-np.inf] * 4

def test_captured():
  a = numbers(40, 50)
  @TinyJit
  def both(x): return x.sum(1).realize(), x.max(1).realize()
  @TinyJit
  def together(x): return Tensor.realize(s := x.sum(1), x.max(1)), s
  for k in range(4):
    s, m = both(Tensor(a + k).realize())
    close(s, (a + k).sum(1), rtol=1e-4); close(m, (a + k).max(1))
    close(together(Tensor(a + k).realize())[1], (a + k).sum(1), rtol=1e-4)

def test_gradients_of_a_normalization():
  x, dy = numbers(6, 5, 7, 9), numbers(6, 5, 7, 9)
  t, w, b = (Tensor(v, requires_grad=True) for v in (x, np.ones(5, np.float32), np.zeros(5, np.float32)))
  mean, var = t.mean((0, 2, 3), keepdim=True), t.var((0, 2, 3), keepdim=True, correction=0)
  y = (t - mean) * (var + 1e-5).rsqrt() * w.reshape(1, 5, 1, 1) + b.reshape(1, 5, 1, 1)
  gw, gb = (y * Tensor(dy)).sum().gradient(w, b)
  Tensor.realize(gw, gb)
  normal = (x - x.mean((0, 2, 3), keepdims=True)) / np.sqrt(x.var((0, 2, 3), keepdims=True) + 1e-5)
  close(gw, (dy * normal).sum((0, 2, 3)), rtol=1e-4, atol=1e-3)
  close(gb, dy.sum((0, 2, 3)), rtol=1e-4, atol=1e-3)

def test_two_products_of_one_result():
  """One of them is stored, so that both have tiles."""
  x, w, v = numbers(128, 96), numbers(96, 160), numbers(96, 160)
  a, b, c = (Tensor(n).realize() for n in (x, w, v))
  y = (a @ b).tanh() * (a @ c)
  assert kernels_of(y) == 2
  close(y, np.tanh(x @ w) * (x @ v), rtol=1e-3, atol=1e-3)
  small = (a[:4] @ b).tanh() * (a[:4] @ c)
  assert kernels_of(small) == 1
  close(small, np.tanh(x[:4] @ w) * (x[:4] @ v), rtol=1e-3, atol=1e-3)

run(globals())
