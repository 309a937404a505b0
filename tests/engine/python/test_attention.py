# Sums that a softmax weights, as in attention, are one kernel that streams over the keys. Its numbers are NumPy's in float64,
# whatever the sizes, masks, types and special values; its memory does not grow with rows times keys.
import math
import numpy as np
from tinygrad import Context, Tensor, TinyJit, dtypes
from tinygrad.helpers import GlobalCounters
from check import close, run, settings
rng = np.random.default_rng(17)

def kernels_of(t):
  GlobalCounters.reset()
  t.realize()
  return GlobalCounters.kernel_count

def numbers(*shape): return rng.standard_normal(shape).astype(np.float32)

def attention(q, k, v, mask=None):
  """In float64; `mask` is added to the scores."""
  q, k, v = (x.astype(np.float64) for x in (q, k, v))
  with np.errstate(all="ignore"):
    s = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    if mask is not None: s = np.where(mask == -np.inf, -np.inf, s + mask)
    e = np.exp(s - s.max(-1, keepdims=True))
    return (e / e.sum(-1, keepdims=True)) @ v

def causal(n, m): return np.where(np.tril(np.ones((n, m), bool)), 0, -np.inf)

def test_random_sizes_and_masks():
  for case in range(40):
    b, h = (int(x) for x in rng.integers(1, 4, size=2))
    n, m = (int(x) for x in rng.choice([64, 65, 70, 95, 96, 100, 127, 128, 129, 150, 192, 200, 257, 300], size=2))
    d, c = (int(x) for x in rng.choice([2, 3, 5, 8, 13, 16, 20, 31, 32, 33, 48, 64, 80], size=2))
    q, k, v = numbers(b, h, n, d), numbers(b, h, m, d), numbers(b, h, m, c)
    kind = case % 4
    mask = [None, causal(n, m), np.where(rng.random((n, m)) < 0.7, 0, -np.inf), numbers(h, n, m)][kind]
    a, t, w = Tensor(q), Tensor(k), Tensor(v)
    y = [lambda: a.scaled_dot_product_attention(t, w), lambda: a.scaled_dot_product_attention(t, w, is_causal=True),
         lambda: a.scaled_dot_product_attention(t, w, attn_mask=Tensor(mask == 0)),
         lambda: a.scaled_dot_product_attention(t, w, attn_mask=Tensor(mask.astype(np.float32)))][kind]()
    assert kernels_of(y) == 1, (case, b, h, n, m, d, c)
    np.testing.assert_allclose(y.numpy(), attention(q, k, v, mask), rtol=2e-5, atol=2e-5, err_msg=str((case, b, h, n, m, d, c)))

def test_one_of_something():
  for shape in ((1, 1, 200, 8), (1, 3, 100, 8), (3, 1, 100, 8), (100, 8), (5, 100, 8)):
    q, k, v = (numbers(*shape) for _ in range(3))
    for mask in (None, causal(shape[-2], shape[-2])):
      y = Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=mask is not None)
      assert kernels_of(y) == 1, (shape, mask is None)
      close(y, attention(q, k, v, mask), rtol=2e-5, atol=2e-5)

def test_ways_to_compile():
  q, k, v = numbers(1, 2, 130, 24), numbers(1, 2, 130, 24), numbers(1, 2, 130, 20)
  for way in [*settings(), dict(SPEC=2), dict(IGNORE_OOB=0), dict(PLAIN=1), dict(STRICT_FLOAT=1), dict(BEAM=1)]:
    with Context(**way):
      for mask in (None, causal(130, 130)) if "BEAM" not in way else (None,): # a search takes a minute
        y = Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=mask is not None)
        np.testing.assert_allclose(y.numpy(), attention(q, k, v, mask), rtol=2e-5, atol=2e-5, err_msg=str(way))

def test_masks_of_every_form():
  """Conditions on places may hide blocks of keys from blocks of rows: later ones, or none, or all of some rows."""
  n, m, d = 200, 170, 16
  q, k, v = numbers(n, d), numbers(m, d), numbers(m, d)
  i, j = np.arange(n)[:, None], np.arange(m)[None]
  ti, tj = Tensor.arange(n).reshape(n, 1), Tensor.arange(m).reshape(1, m)
  forms = [(tj <= ti, j <= i), (tj < ti, j < i), (tj <= ti + 30, j <= i + 30), (tj <= ti - 20, j <= i - 20), (tj >= ti, j >= i),
           ((tj <= ti) & (tj > ti - 40), (j <= i) & (j > i - 40)), (tj * 2 <= ti, j * 2 <= i), (tj <= ti * 2, j <= i * 2),
           ((ti >= tj).logical_not(), ~(i >= j)), (tj < 100, np.broadcast_to(j < 100, (n, m))), (tj <= ti // 8 * 8, j <= i // 8 * 8),
           (tj <= 199 - ti, j <= 199 - i), ((tj <= ti) | (tj < 10), (j <= i) | (j < 10))]
  scores = Tensor(q) @ Tensor(k).T * (1 / math.sqrt(d))
  for number, (ours, visible) in enumerate(forms):
    want = attention(q, k, v, np.where(visible, 0, -np.inf))
    ways = [ours.where(scores, -math.inf), scores + ours.where(0.0, -math.inf), scores.masked_fill(ours.logical_not(), -math.inf)]
    for way in ways: np.testing.assert_allclose((way.softmax(-1) @ Tensor(v)).numpy(), want, rtol=2e-5, atol=2e-5, err_msg=str(number))

def test_special_values():
  """A row that sees infinite or undefined scores is undefined, one that sees nothing too; no other row is."""
  for where in ("none", "nan key", "nan query", "infinite query", "infinite key", "lowest", "huge"):
    for is_causal in (False, True):
      q, k, v = numbers(2, 140, 8), numbers(2, 140, 8), numbers(2, 140, 8)
      if where == "nan key": k[0, 77, 3] = np.nan
      if where == "nan query": q[1, 70, 0] = np.nan
      if where == "infinite query": q[1, 3] = np.inf
      if where == "infinite key": k[1, 100, 2] = -np.inf
      if where == "lowest": q[0, :5], k[0, :3], q[0, :5, 0], k[0, :3, 0] = 0, 0, -3e38, 3e38
      if where == "huge": q, k = q * 1e3, k * 1e3
      with np.errstate(all="ignore"):
        want = attention(q.astype(np.float32), k, v, causal(140, 140) if is_causal else None)
        s = (q @ k.swapaxes(-1, -2)) / np.float32(math.sqrt(8))
        if is_causal: s = np.where(np.tril(np.ones((140, 140), bool)), s, -np.inf).astype(np.float32)
        undefined = ~np.isfinite(s.max(-1)) | np.isnan(s).any(-1)  # in float32, where products may be infinite
      y = Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=is_causal).numpy()
      assert np.array_equal(np.isnan(y).all(-1), undefined) and np.array_equal(np.isnan(y).any(-1), undefined), (where, is_causal)
      tolerance = 1e-2 if where == "huge" else 2e-5  # scores of a million have errors that exp multiplies
      np.testing.assert_allclose(y[~undefined], want[~undefined], rtol=tolerance, atol=tolerance, err_msg=where)
  hidden = Tensor(numbers(64, 8)).scaled_dot_product_attention(Tensor(numbers(64, 8)), Tensor(numbers(64, 8)), attn_mask=Tensor.zeros(64, 64).cast(dtypes.bool))
  assert np.isnan(hidden.numpy()).all()
  v = numbers(64, 8)
  v[5, 2] = np.inf
  y = Tensor(numbers(64, 8)).scaled_dot_product_attention(Tensor(numbers(64, 8)), Tensor(v)).numpy()
  assert np.isinf(y[:, 2]).all() and np.isfinite(np.delete(y, 2, 1)).all()

def test_scores_far_from_zero():
  q, k, v = numbers(100, 8), numbers(100, 8), numbers(100, 8)
  for shift in (-1e4, -300.0, 300.0, 1e4):
    bias = np.float32(shift) + numbers(1, 100).astype(np.float32)
    y = (Tensor(q) @ Tensor(k).T + Tensor(bias)).softmax(-1) @ Tensor(v)
    want = attention(q * math.sqrt(8), k, v, bias)
    close(y, want, rtol=5e-3 if abs(shift) > 1e3 else 1e-4, atol=5e-3 if abs(shift) > 1e3 else 1e-4)
  order = np.sort(numbers(300))  # each block has a larger score than all before
  close((Tensor(np.ones((64, 1), np.float32)) @ Tensor((order * 40).reshape(1, 300))).softmax(-1) @ Tensor(order.reshape(300, 1)),
        attention(np.ones((64, 1)), (order * 40).reshape(300, 1), order.reshape(300, 1)), rtol=1e-4)

def test_programs_that_people_write():
  B, H, T, D = 2, 3, 96, 16
  x = numbers(B, T, H * D)
  wq, wk, wv, wo = (numbers(H * D, H * D) / 6 for _ in range(4))
  def heads(t): return t.reshape(B, T, H, D).swapaxes(1, 2) if isinstance(t, np.ndarray) else t.reshape(B, T, H, D).transpose(1, 2)
  q, k, v = (heads(x.astype(np.float64) @ w) for w in (wq, wk, wv))
  out = attention(q, k, v, causal(T, T)).swapaxes(1, 2).reshape(B, T, H * D)
  tx, tq, tk, tv, to = (Tensor(t).realize() for t in (x, wq, wk, wv, wo))
  y = heads(tx @ tq).scaled_dot_product_attention(heads(tx @ tk), heads(tx @ tv), is_causal=True).transpose(1, 2).reshape(B, T, H * D)
  close(y + tx, out + x, rtol=1e-3, atol=1e-3)
  assert kernels_of(y @ to) == 5
  close(y @ to, out @ wo, rtol=1e-3, atol=1e-3)
  a, b, c = (Tensor(t.astype(np.float32)).realize() for t in (q, k, v))
  s = a @ b.transpose(-2, -1)
  e = (s - s.max(-1, keepdim=True)).exp()
  want = attention(q * 4, k, v)
  for form in ((e @ c) / e.sum(-1, keepdim=True), (e / e.sum(-1, keepdim=True)) @ c, Tensor.einsum("bhqk,bhkd->bhqd", s.softmax(-1), c)):
    assert kernels_of(form) == 1
    close(form, want, rtol=1e-3, atol=1e-3)
  capped = (s * 0.1).tanh() * 30
  ours = np.tanh(q @ k.swapaxes(-1, -2) * 0.1) * 30
  p = np.exp(ours - ours.max(-1, keepdims=True))
  assert kernels_of(capped.softmax(-1) @ c) == 1
  close(capped.softmax(-1) @ c, p / p.sum(-1, keepdims=True) @ v, rtol=1e-3, atol=1e-3)
  assert kernels_of(s.logsumexp(-1)) == 1
  close(s.logsumexp(-1), np.log(np.exp(q @ k.swapaxes(-1, -2)).sum(-1)), rtol=1e-4, atol=1e-4)
  few, fewv = numbers(B, 1, T, D), numbers(B, 1, T, D)
  y = a.scaled_dot_product_attention(Tensor(few), Tensor(fewv), enable_gqa=True)
  assert kernels_of(y) == 1
  close(y, attention(q, np.repeat(few, H, 1), np.repeat(fewv, H, 1)), rtol=1e-4, atol=1e-4)

def test_infinite_log_sum_exp():
  bias = np.zeros((70, 80), np.float32)
  bias[3], bias[4, 7], bias[5, 2] = -np.inf, np.inf, np.nan
  q, k = numbers(70, 8), numbers(80, 8)
  y = (Tensor(q) @ Tensor(k).T + Tensor(bias)).logsumexp(-1).numpy()
  assert y[3] == -np.inf and y[4] == np.inf and np.isnan(y[5])
  rest = np.delete(np.arange(70), [3, 4, 5])
  np.testing.assert_allclose(y[rest], np.log(np.exp(q.astype(np.float64) @ k.T).sum(-1))[rest], rtol=1e-5, atol=1e-5)

def test_small_floats():
  q, k, v = (numbers(2, 150, 32) for _ in range(3))
  for dtype, tolerance in ((dtypes.half, 2e-3), (dtypes.bfloat16, 1.6e-2)):
    a, b, c = (Tensor(t).cast(dtype).realize() for t in (q, k, v))
    near = [t.cast(dtypes.float).numpy() for t in (a, b, c)]
    for is_causal in (False, True):
      y = a.scaled_dot_product_attention(b, c, is_causal=is_causal)
      assert kernels_of(y) == 1 and y.dtype == dtype
      close(y.cast(dtypes.float), attention(*near, causal(150, 150) if is_causal else None), rtol=tolerance, atol=tolerance)
      with Context(STRICT_FLOAT=1):
        assert kernels_of(a.scaled_dot_product_attention(b, c, is_causal=is_causal)) > 1
  a, b, c = (Tensor(t.astype(np.float64)).realize() for t in (q, k, v))
  close(a.scaled_dot_product_attention(b, c), attention(q, k, v), rtol=1e-6, atol=1e-6)

def test_what_others_read_is_stored():
  q, k, v = (Tensor(numbers(96, 16)).realize() for _ in range(3))
  p = (q @ k.T).softmax(-1)
  y = p @ v
  Tensor.realize(p, y)
  s = (q @ k.T).numpy().astype(np.float64)
  want = np.exp(s - s.max(-1, keepdims=True))
  want /= want.sum(-1, keepdims=True)
  close(p, want, rtol=1e-4); close(y, want @ v.numpy(), rtol=1e-4, atol=1e-5)
  p = (q @ k.T).softmax(-1)
  close((p @ v) * p.max(-1, keepdim=True), (want @ v.numpy()) * want.max(-1, keepdims=True), rtol=1e-4, atol=1e-5)

def test_into_memory_that_is_read():
  """A result is added to what its memory holds exactly once, though blocks of rows overlap."""
  for n in (64, 100, 130, 192, 200, 330):
    q, k, v, y = numbers(2, n, 8), numbers(2, n, 8), numbers(2, n, 8), numbers(2, n, 8)
    for is_causal in (False, True):
      right = attention(q, k, v, causal(n, n) if is_causal else None)
      a, out = Tensor(q).contiguous().realize(), Tensor(y).contiguous().realize()
      out.assign(out + a.scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=is_causal)).realize()
      close(out, y + right, rtol=1e-4, atol=1e-4)
      a.assign(a.scaled_dot_product_attention(Tensor(k), Tensor(v), is_causal=is_causal)).realize()
      close(a, right, rtol=1e-4, atol=1e-4)
      a.assign(a.scaled_dot_product_attention(a, a, is_causal=is_causal)).realize()
      close(a, attention(right, right, right, causal(n, n) if is_causal else None), rtol=1e-4, atol=1e-4)

def test_heads_that_share_an_axis_with_columns():
  """Also where values lie so that one index goes through both: what a thread computes for a head is made again for each of its columns."""
  for h, n, m, d, c in ((2, 300, 80, 12, 12), (4, 130, 96, 8, 6), (3, 64, 200, 5, 7)):
    q, k, v = numbers(h, n, d), numbers(h, m, d), numbers(h, c, m)
    y = Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v).realize().transpose(-1, -2)).transpose(0, 1).reshape(n, -1).contiguous()
    assert kernels_of(y) == 1
    close(y, attention(q, k, v.swapaxes(1, 2)).swapaxes(0, 1).reshape(n, -1), rtol=1e-4, atol=1e-4)

def test_opts_of_a_script():
  """Opts that a script gives are those of the last product, whose kernel stays what it was."""
  from tinygrad.codegen.opt import Opt, OptOps
  q, k, v = (Tensor(numbers(2, 128, 16)).realize() for _ in range(3))
  y = q.scaled_dot_product_attention(k, v).contiguous(arg=(Opt(OptOps.UPCAST, 1, 8), Opt(OptOps.UPCAST, 2, 16)))
  assert kernels_of(y) > 1
  close(y, attention(q.numpy(), k.numpy(), v.numpy()), rtol=1e-4, atol=1e-5)

def test_gradients():
  q, k, v, w = (numbers(2, 80, 8) for _ in range(4))
  a, b, c = (Tensor(t, requires_grad=True) for t in (q, k, v))
  y = a.scaled_dot_product_attention(b, c, is_causal=True)
  ga, gb, gc = (y * Tensor(w)).sum().gradient(a, b, c)
  mask = causal(80, 80)
  for g, which in ((ga, 0), (gb, 1), (gc, 2)):
    got = g.numpy()
    for place in ((0, 3, 2), (1, 79, 7), (1, 40, 0)):
      args = [t.astype(np.float64) for t in (q, k, v)]
      values = []
      for step in (1e-5, -1e-5):
        moved = [t.copy() for t in args]
        moved[which][place] += step
        values.append((attention(*moved, mask) * w).sum())
      np.testing.assert_allclose(got[place], (values[0] - values[1]) / 2e-5, rtol=1e-3, atol=1e-4)

def test_captured_and_threads():
  q, k, v = (numbers(1, 1, 1000, 32) for _ in range(3))
  f = TinyJit(lambda a, b, c: a.scaled_dot_product_attention(b, c, is_causal=True).realize())
  for n in range(4):
    close(f(Tensor(q + n).realize(), Tensor(k).realize(), Tensor(v * n).realize()), attention(q + n, k, v * n, causal(1000, 1000)), rtol=1e-4, atol=1e-4)

def test_memory_is_linear():
  """16,384 keys: the scores alone would be a gigabyte."""
  q, k, v = (Tensor(numbers(1, 1, 16384, 8)).realize() for _ in range(3))
  before = GlobalCounters.mem_used
  y = q.scaled_dot_product_attention(k, v, is_causal=True)
  assert kernels_of(y) == 1
  assert GlobalCounters.mem_used - before < 4 << 20
  got = y.numpy()[0, 0, [0, 1, 63, 64, 5000, 16383]]
  want = attention(q.numpy()[0, 0, [0, 1, 63, 64, 5000, 16383]], k.numpy()[0, 0], v.numpy()[0, 0], causal(16384, 16384)[[0, 1, 63, 64, 5000, 16383]])
  np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)

def test_random_programs():
  """tests/fuzz/attention.py draws more of these."""
  import os, sys
  sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../fuzz"))
  import attention as programs
  problem, streamed = programs.run(0, 60)
  assert not problem, problem
  assert streamed > 40

def test_a_copy_of_a_block_is_made_for_each_block_of_rows():
  """Keys that are converted are copied a block at a time; a later block's copy is overwritten by the first one's again."""
  for n, m in ((129, 95), (200, 65), (128, 127), (300, 300)):
    q, k, v = (Tensor(numbers(r, 12)).cast(dtypes.half).realize() for r in (n, m, m))
    near = [t.cast(dtypes.float).numpy() for t in (q, k, v)]
    for is_causal in (False, True):
      close(q.scaled_dot_product_attention(k, v, is_causal=is_causal).cast(dtypes.float), attention(*near, causal(n, m) if is_causal else None), rtol=2e-3, atol=2e-3)

run(globals())
