# Symbolic shapes: with a bound dimension, movement, arithmetic, reductions, products and attention give the result of the number, for
# every value, from one schedule.
import numpy as np
from tinygrad import Tensor, Variable, TinyJit, dtypes
from check import close, raises, run

rng = np.random.default_rng(0)
def floats(*shape): return rng.standard_normal(shape).astype(np.float32)

def sliced(x, n, axis=0):
  """x cut to n along an axis, n bound."""
  bounds = [None] * x.ndim
  bounds[axis] = (0, n)
  return x.shrink(tuple(bounds))

def each(f, want, whole, axis=0, values=(1, 2, 3, 7, 10)):
  t = Tensor(whole).realize()
  for i in values:
    n = Variable("n", 1, 10).bind(i)
    cut = np.take(whole, range(i), axis)
    wanted = np.asarray(want(cut))
    close(concrete(f(sliced(t, n, axis)), wanted.shape), wanted, rtol=1e-3, atol=1e-4)

def concrete(t, shape):
  """A tensor of symbolic shape as numbers: padded to a fixed size, then cut by NumPy."""
  if all(isinstance(s, int) for s in t.shape): return t.numpy()
  full = [s if isinstance(s, int) else s.vmax for s in t.shape]
  return t.pad_to(*full).contiguous().numpy()[tuple(slice(0, s) for s in shape)]

def test_elementwise():
  x = floats(10, 4)
  each(lambda t: (t + 1) * 2 - t.exp(), lambda a: (a + 1) * 2 - np.exp(a), x)
  each(lambda t: t + Tensor(x[0]), lambda a: a + x[0], x)
  each(lambda t: (t > 0).where(t, 0), lambda a: np.maximum(a, 0), x, axis=0)

def test_windows_and_turns():
  x, w = floats(10, 2, 30), floats(3, 2, 4)
  def windows(a, stride, dilation): # of the last axis
    reach = 3 * dilation + 1
    starts = range(0, a.shape[2] - reach + 1, stride)
    return np.stack([np.einsum("bck,ock->bo", a[:, :, s:s + reach:dilation], w) for s in starts], axis=2)
  for stride, dilation in ((1, 1), (6, 1), (2, 3), (5, 2)):
    for n in (4, 7, 10):
      length = Variable("length", 12, 30).bind(10 + 2 * n)
      cut = Tensor(x).realize().shrink((None, None, (0, length)))
      want = windows(x[:, :, :10 + 2 * n], stride, dilation)
      close(concrete(cut.conv2d(Tensor(w), stride=stride, dilation=dilation), want.shape), want, rtol=1e-3, atol=1e-4)
  each(lambda t: t.roll(1, 1), lambda a: np.roll(a, 1, 1), floats(10, 4))
  raises(ValueError, lambda: sliced(Tensor(floats(10, 4)), Variable("n", 1, 10).bind(3)).roll(1, 0), "variable axis")
  raises(ValueError, lambda: Tensor(x).shrink((None, None, (0, Variable("short", 1, 30).bind(9)))).conv2d(Tensor(w)), "kernel size")

def test_reductions():
  x = floats(10, 4)
  each(lambda t: t.sum(), lambda a: a.sum(), x)
  each(lambda t: t.sum(0), lambda a: a.sum(0), x)
  each(lambda t: t.sum(1), lambda a: a.sum(1), x)
  each(lambda t: t.max(0), lambda a: a.max(0), x)
  each(lambda t: t.mean(0), lambda a: a.mean(0), x)
  y = floats(3, 10)
  each(lambda t: t.softmax(-1), lambda a: np.exp(a - a.max(-1, keepdims=True)) / np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True), y, axis=1)

def test_movement():
  x = floats(10, 4, 3)
  each(lambda t: t.permute(2, 0, 1), lambda a: a.transpose(2, 0, 1), x)
  each(lambda t: t.reshape(t.shape[0], 12), lambda a: a.reshape(len(a), 12), x)
  each(lambda t: t.reshape(t.shape[0] * 4, 3), lambda a: a.reshape(-1, 3), x)
  each(lambda t: t.unsqueeze(1).expand(t.shape[0], 2, 4, 3), lambda a: np.repeat(a[:, None], 2, 1), x)
  each(lambda t: t.pad((None, (1, 0), None)), lambda a: np.pad(a, ((0, 0), (1, 0), (0, 0))), x)
  each(lambda t: t.flip(1), lambda a: a[:, ::-1], x)
  each(lambda t: t[:, 1], lambda a: a[:, 1], x)

def test_products_and_attention():
  x, w = floats(10, 4), floats(4, 5)
  each(lambda t: t @ Tensor(w), lambda a: a @ w, x)
  each(lambda t: Tensor(w).T @ t.T, lambda a: w.T @ a.T, x)
  q, kv = floats(2, 1, 4), floats(2, 10, 4)
  def attention(k):
    s = q @ k.transpose(0, 2, 1) / 2
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ k
  each(lambda t: Tensor(q).scaled_dot_product_attention(t, t), attention, kv, axis=1)

# Operations that need the length of one axis, while another one is bound: (function of the tensor, the tensor, its bound axis).
def one_known_axis():
  x, picture, cache, places = floats(10, 6, 8), floats(10, 4, 9, 9), floats(1, 2, 10, 16), rng.integers(0, 6, (10, 2, 8)).astype(np.int32)
  def beside(t): return Tensor(places).realize().shrink(((0, t.shape[0]), None, None))
  query, labels = Tensor(floats(1, 4, 1, 16)), Tensor(rng.integers(0, 8, 10).astype(np.int32)).realize()
  allowed = Tensor(rng.integers(0, 2, (1, 1, 1, 10)).astype(np.int32)).realize()
  return {
    "cumsum": (lambda t: t.cumsum(1), x, 0), "cumsum of the bound axis": (lambda t: t.cumsum(0), x, 0),
    "cumprod": (lambda t: t.cumprod(1), x, 0), "cumprod of the bound axis": (lambda t: t.cumprod(0), x, 0),
    "cummax": (lambda t: t.cummax(1)[0], x, 0), "logcumsumexp": (lambda t: t.logcumsumexp(1), x, 0),
    "argmax": (lambda t: t.argmax(1), x, 0), "argmax of the bound axis": (lambda t: t.argmax(0), x, 0), "argmin of all": (lambda t: t.argmin(), x, 0),
    "sort": (lambda t: t.sort(1)[0], x, 0), "topk": (lambda t: t.topk(2, 1)[0], x, 0),
    "avg_pool2d": (lambda t: t.avg_pool2d(2), picture, 0), "max_pool2d": (lambda t: t.max_pool2d(3, 2, padding=1), picture, 0),
    "places of max_pool2d": (lambda t: t.max_pool2d(3, return_indices=True)[1], picture, 0), "interpolate": (lambda t: t.interpolate((18, 5)), picture, 0),
    "gather": (lambda t: t.gather(1, beside(t)), x, 0), "scatter": (lambda t: t.scatter(1, beside(t), 5.0), x, 0), "every second": (lambda t: t[:, ::2], x, 0),
    "rows by number": (lambda t: t[Tensor([0, 0])], x, 0), "triu": (lambda t: t.triu(), x, 0), "tril of the bound axis": (lambda t: t[:, :, 0].tril(), x, 0),
    "cross entropy": (lambda t: t[:, 0].sparse_categorical_crossentropy(labels.shrink(((0, t.shape[0]),))), x, 0),
    "attention of groups": (lambda t: query.scaled_dot_product_attention(t, t, enable_gqa=True), cache, 2),
    "with a mask": (lambda t: query.scaled_dot_product_attention(t, t, attn_mask=allowed.shrink((None, None, None, (0, t.shape[2]))), enable_gqa=True), cache, 2)}

def test_one_axis_is_known():
  for name, (f, whole, axis) in one_known_axis().items():
    try: each(f, lambda cut: f(Tensor(np.ascontiguousarray(cut))).numpy(), whole, axis, values=(1, 4, 10))
    except Exception as e: raise AssertionError(f"{name}: {e}") from e

def test_a_cache_written_at_a_bound_position():
  cache, x = Tensor.zeros(10, 4).contiguous().realize(), floats(10, 4)
  @TinyJit
  def step(row, i):
    cache.shrink(((i, i + 1), None)).assign(row).realize()
    return cache.shrink(((0, i + 1), None)).sum(0).realize()
  for i in range(1, 9): close(step(Tensor(x[i:i + 1]).realize(), Variable("i", 1, 9).bind(i)), x[1:i + 1].sum(0), rtol=1e-4, atol=1e-4)
  close(cache[1:9], x[1:9])

def test_one_schedule_serves_every_value():
  t = Tensor(floats(10, 4)).realize()
  hits = []
  for i in range(1, 10):
    out = (sliced(t, Variable("n", 1, 10).bind(i)) * 3).sum(0)
    items = out.schedule()
    hits.append(items[0].cache_hit)
    for item in items: item.run()
  assert hits[0] is False and all(hits[2:]), hits

def test_limits_of_a_variable():
  v = Variable("n", 2, 5)
  raises((AssertionError, ValueError), lambda: v.bind(6), "6")
  raises((AssertionError, ValueError), lambda: v.bind(1))
  assert (v + 1).vmax == 6 and v.bind(3).unbind()[1] == 3
  raises(Exception, lambda: sliced(Tensor.ones(4), Variable("n", 1, 4).bind(2)).numpy(), "symbolic")

if __name__ == "__main__": run(globals())
