# Random products of small numbers (bfloat16, half, bytes of both signs, 16-bit integers) against NumPy: operands transposed, cut,
# flipped, repeated for a batch, or pictures under filters; results with something added, or summed up.
#   uopscope run tests/fuzz/small_products.py [--seed N] [--count N]      exits with 1 at the first difference
#   DEV=REF:AMX uopscope run tests/fuzz/small_products.py --tiles         sizes that the tiles of a processor take, mostly
#
# Integers must be equal. Floats are sums of products of the numbers as they are stored, so their error is bounded by the
# rounding of a sum in float32.
import argparse, sys
import numpy as np
from tinygrad import Tensor, dtypes

KINDS = ["bfloat16", "float16", "int8", "uint8", "int16"]
SIZES = [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 64, 65, 96, 100, 128, 130]
PICTURES = [5, 8, 14, 17, 28]
TERMS = [1, 2, 3, 4, 5, 8, 11, 16, 31, 32, 33, 63, 64, 66, 127, 128, 200, 257, 400]

def operand(rng, kind, shape):
  """A tensor of this shape, a view of one in memory, and its numbers in float64 or int64."""
  turned = len(shape) > 1 and rng.random() < .4
  stored = list(shape[:-2]) + [shape[-1], shape[-2]] if turned else list(shape)
  cuts = [int(rng.integers(0, 3)) if rng.random() < .2 else 0 for _ in stored]
  whole = [n + c for n, c in zip(stored, cuts)]
  if kind in ("bfloat16", "float16"):
    t = Tensor(rng.standard_normal(whole).astype(np.float32)).cast(kind).realize()
    v = t.cast(dtypes.float32).numpy().astype(np.float64)
  else:
    limits = np.iinfo(kind)
    v = rng.integers(limits.min, limits.max + 1, whole).astype(kind)
    t, v = Tensor(v).realize(), v.astype(np.int64)
  at = tuple(slice(c, None) for c in cuts)
  t, v = t[at], v[at]
  if rng.random() < .1: t, v = t.flip(len(shape) - 1), np.flip(v, len(shape) - 1)
  return (t.transpose(-1, -2), np.swapaxes(v, -1, -2)) if turned else (t, v)

def finished(rng, t, v, size):
  """Something that follows in the same kernel; `size` bounds the numbers for the error of floats."""
  what = int(rng.integers(0, 5))
  if what == 1: return t.relu(), np.maximum(v, 0), size
  if what == 2: return t * 2 + 1, v * 2 + 1, size * 2 + 1
  if what == 3: return t.sum(-1), v.sum(-1), size.sum(-1)
  if what == 4: return t + t.cast(dtypes.float32).cast(t.dtype) * 0, v, size
  return t, v, size

def windows(v, size, stride):
  return np.lib.stride_tricks.sliding_window_view(v, (size, size), axis=(2, 3))[:, :, ::stride, ::stride]

def program(seed):
  rng = np.random.default_rng(seed)
  pick = lambda of: of[int(rng.integers(0, len(of)))]
  left, right = pick(KINDS), pick(KINDS)
  if ("float" in left) != ("float" in right) or (left != right and "float" in left): right = left
  wide = dtypes.float32 if "float" in left else dtypes.int32
  if rng.random() < .25:
    n, c, o, h, k, s, p = pick([1, 2]), pick(TERMS[:10]), pick(SIZES), pick(PICTURES), pick([1, 2, 3]), pick([1, 1, 2]), pick([0, 1])
    (x, a), (w, b) = operand(rng, left, (n, c, h, h)), operand(rng, right, (o, c, k, k))
    text = f"{left} {(n, c, h, h)} under {right} {(o, c, k, k)}, stride {s}, padding {p}"
    t = x.cast(wide).conv2d(w.cast(wide), stride=s, padding=p)
    view = lambda v: windows(np.pad(v, ((0, 0), (0, 0), (p, p), (p, p))), k, s)
    join = lambda a, b: np.tensordot(view(a), b, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2)
  else:
    m, k, n, batch = pick(SIZES), pick(TERMS), pick(SIZES), pick([(), (), (), (2,), (3,)])
    (x, a), (y, b) = operand(rng, left, (*batch, m, k)), operand(rng, right, (*(batch if rng.random() < .5 else ()), k, n))
    text = f"{left} {x.shape} @ {right} {y.shape}"
    t, join = x.cast(wide) @ y.cast(wide), np.matmul
  want, size = join(a, b), join(np.abs(a).astype(np.float64), np.abs(b).astype(np.float64))
  if wide == dtypes.int32: want = want.astype(np.int32).astype(np.int64) # sums wrap
  t, want, size = finished(rng, t, want, size)
  got = t.numpy()
  right = np.array_equal(got, want.astype(np.int32)) if wide == dtypes.int32 else (np.abs(got - want) <= 1e-6 * 30 * size + 1e-30).all()
  return bool(right) and got.shape == want.shape, text

def run(seed, count):
  for n in range(seed, seed + count):
    right, text = program(n)
    if not right: return f"seed {n} differs: {text}"
    if (n + 1) % 1000 == 0: print(f"{n + 1 - seed} of {count}", file=sys.stderr)
  return ""

if __name__ == "__main__":
  p = argparse.ArgumentParser()
  p.add_argument("--seed", type=int, default=0)
  p.add_argument("--count", type=int, default=1000)
  p.add_argument("--tiles", action="store_true")
  a = p.parse_args()
  if a.tiles: SIZES, TERMS, PICTURES = [16, 16, 32, 32, 48, 64, 17], [32, 64, 64, 96, 128, 128, 64, 32, 192, 33], [8, 16, 16, 32]
  failed = run(a.seed, a.count)
  if failed: sys.exit(failed)
  print(f"{a.count} programs agree")
