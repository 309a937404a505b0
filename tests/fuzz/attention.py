# Random sums that a softmax weights, against NumPy in float64: attention of any sizes, operands that are views or computed, masks of
# places, of memory or none, biases, capped scores, quotients outside of the sum, log-sum-exp, something that follows in the kernel,
# types, levels of the processor.
#   uopscope run tests/fuzz/attention.py [--seed N] [--count N]      exits with 1 at the first difference
import argparse, math, sys
import numpy as np
from tinygrad import Context, Tensor, dtypes
from tinygrad.helpers import GlobalCounters

ROWS = [64, 65, 66, 79, 80, 95, 96, 97, 100, 127, 128, 129, 144, 150, 191, 192, 193, 200, 250, 256, 257, 300]
TERMS = [1, 2, 3, 4, 7, 8, 12, 15, 16, 17, 20, 31, 32, 33, 40, 48, 63, 64, 65, 80, 100]
HEADS = [(), (1,), (2,), (3,), (1, 1), (1, 2), (2, 1), (2, 3)]
LEVELS = [dict()] * 5 + [dict(CPU_TARGET=3), dict(CPU_TARGET=2), dict(CPU_LLVM=0), dict(NOOPT=1)]

def operand(rng, heads, rows, columns, kind):
  """A tensor of this shape, a view of one in memory or computed from one, and its numbers in float64."""
  shape = [*heads, rows, columns]
  how = int(rng.integers(0, 6))
  stored = list(shape)
  if how == 1: stored[-1], stored[-2] = stored[-2], stored[-1]
  if how == 2: stored[-2] += 3
  if how == 3 and heads: stored[0] = 1
  t = Tensor(rng.standard_normal(stored).astype(np.float32)).cast(kind).realize()
  v = t.cast(dtypes.float32).numpy().astype(np.float64)
  if how == 1: t, v = t.transpose(-1, -2), v.swapaxes(-1, -2)
  if how == 2: t, v = t[..., 3:, :], v[..., 3:, :]
  if how == 3 and heads: t, v = t.expand(*shape), np.broadcast_to(v, shape)
  if how == 4 and kind == "float32": t, v = t * 0.5 + 0.25, v * 0.5 + 0.25
  if how == 5: t, v = t.flip(-1), np.flip(v, -1)
  return t, v

def masked(rng, t, v):
  """The scores under a mask, or with a bias."""
  n, m = v.shape[-2:]
  i, j = np.arange(n)[:, None], np.arange(m)[None]
  ti, tj = Tensor.arange(n).reshape(n, 1), Tensor.arange(m).reshape(1, m)
  shift, factor = int(rng.integers(-m // 2, m)), int(rng.integers(1, 4))
  what = int(rng.integers(0, 9))
  if what == 0: condition, seen = tj <= ti + max(shift, 0), j <= i + max(shift, 0)
  elif what == 1: condition, seen = tj < ti * factor + shift, j < i * factor + shift
  elif what == 2: condition, seen = (tj <= ti) & (tj > ti - abs(shift) - 1), (j <= i) & (j > i - abs(shift) - 1)
  elif what == 3: condition, seen = tj >= ti - abs(shift), j >= i - abs(shift)
  elif what == 4:
    seen = rng.random((n, m)) < 0.8
    condition = Tensor(seen).realize()
  elif what == 5:
    bias = rng.standard_normal(v.shape[-2:] if rng.random() < .5 else v.shape).astype(np.float32)
    return t + Tensor(bias).realize(), v + bias
  elif what == 6: return (t * 0.2).tanh() * 20, np.tanh(v * 0.2) * 20
  else: return t, v
  how = int(rng.integers(0, 3))
  hidden = np.where(seen, v, -np.inf)
  if how == 0: return condition.where(t, -math.inf), hidden
  if how == 1: return t + condition.where(0, -math.inf), hidden
  return t.masked_fill(condition.logical_not(), -math.inf), hidden

def one(rng):
  kind = ["float32"] * 6 + ["float16", "bfloat16"]
  kind = kind[int(rng.integers(len(kind)))]
  heads = HEADS[int(rng.integers(len(HEADS)))]
  n, m = (int(x) for x in rng.choice(ROWS, 2))
  d, c = (int(x) for x in rng.choice(TERMS, 2))
  (q, vq), (k, vk), (w, vw) = (operand(rng, heads, rows, columns, kind) for rows, columns in ((n, d), (m, d), (m, c)))
  scale = 1 / math.sqrt(d)
  scores, exact = q @ k.transpose(-1, -2) * scale, vq @ vk.swapaxes(-1, -2) * scale
  scores, exact = masked(rng, scores, exact)
  with np.errstate(all="ignore"):
    largest = exact.max(-1, keepdims=True)
    e = np.exp(exact - largest)
    p = e / e.sum(-1, keepdims=True)
    form = int(rng.integers(0, 5))
    if form == 0:
      t = scores - scores.max(-1, keepdim=True)
      t = t.exp()
      y, right = (t @ w) / t.sum(-1, keepdim=True), p @ vw
    elif form == 1:
      safe = np.where(np.isfinite(largest), largest, 0)
      y, right = scores.logsumexp(-1), (np.log(np.exp(exact - safe).sum(-1, keepdims=True)) + safe)[..., 0]
    else: y, right = scores.softmax(-1) @ w, p @ vw
    after = int(rng.integers(0, 5))
    if after == 1: y, right = y * 2 + 1, right * 2 + 1
    if after == 2 and right.ndim > 2: y, right = y.transpose(0, 1).contiguous(), right.swapaxes(0, 1)
    if after == 3 and right.ndim == 3 and form != 1:
      y = y.transpose(0, 1).reshape(n, -1).contiguous()
      right = right.swapaxes(0, 1).reshape(n, -1)
  way = LEVELS[int(rng.integers(len(LEVELS)))]
  GlobalCounters.reset()
  with Context(**way): got = y.realize()
  kernels = GlobalCounters.kernel_count
  got = got.cast(dtypes.float32).numpy()
  tolerance = {"float32": 1e-4, "float16": 6e-3, "bfloat16": 6e-2}[kind]
  if kind != "float32" and kernels > 1: # scores and weights are rounded on their way through memory
    with np.errstate(all="ignore"): tolerance *= 8 + np.nanmax(np.where(np.isfinite(exact), np.abs(exact), 0))
  what = f"{kind} heads {heads} rows {n} keys {m} terms {d} columns {c} form {form} after {after} {way} kernels {kernels}"
  if got.shape != right.shape: return f"{what}: shape {got.shape}, expected {right.shape}", kernels
  same = np.isclose(got, right, rtol=tolerance, atol=tolerance) | (np.isnan(got) & np.isnan(right)) | (got == right)
  if same.all(): return "", kernels
  at = tuple(int(x) for x in np.argwhere(~same)[0])
  return f"{what}: {(~same).sum()} of {same.size} differ, at {at}: {got[at]}, expected {right[at]}", kernels

def run(seed, count):
  streamed = 0
  for number in range(seed, seed + count):
    problem, kernels = one(np.random.default_rng(number))
    streamed += kernels == 1
    if problem: return f"seed {number}: {problem}", streamed
  return "", streamed

if __name__ == "__main__":
  parser = argparse.ArgumentParser()
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--count", type=int, default=200)
  args = parser.parse_args()
  problem, streamed = run(args.seed, args.count)
  print(problem or f"{args.count} sums weighted by a softmax as NumPy has them, {streamed} of them in one kernel")
  sys.exit(1 if problem else 0)
