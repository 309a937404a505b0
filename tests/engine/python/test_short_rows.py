# Windows of each channel alone, with rows that are padded to whole vectors: depthwise convolutions and poolings give NumPy's numbers.
import numpy as np
from tinygrad import Tensor
from tinygrad.helpers import Context, GlobalCounters
from check import close, run, settings
rng = np.random.default_rng(5)

def windows(x, k, stride, margin, fill):
  wide = np.pad(x, [(0, 0), (0, 0), (margin, margin), (margin, margin)], constant_values=fill)
  return np.lib.stride_tricks.sliding_window_view(wide, (k, k), axis=(2, 3))[:, :, ::stride, ::stride]

def convolved(x, w, stride, margin):
  return np.einsum("bchwij,cij->bchw", windows(x.astype(np.float64), w.shape[-1], stride, margin, 0), w[:, 0].astype(np.float64))

SHAPES = [(n, c, h, w, k, s) for n, c in ((2, 3), (1, 8)) for h, w in ((7, 7), (5, 6), (14, 14), (9, 13), (16, 10), (28, 28), (30, 57), (64, 64), (11, 112)) for k in (2, 3, 5, 7) for s in (1, 2, 3)]

def test_depthwise_convolutions():
  for i, (n, c, h, w, k, s) in enumerate(SHAPES):
    if i % 3: continue
    x, f = rng.standard_normal((n, c, h, w)).astype(np.float32), rng.standard_normal((c, 1, k, k)).astype(np.float32)
    margin = (i // 3) % (k // 2 + 1)
    close(Tensor(x).conv2d(Tensor(f), groups=c, stride=s, padding=margin), convolved(x, f, s, margin), rtol=1e-4, atol=1e-4)

def test_poolings():
  for i, (n, c, h, w, k, s) in enumerate(SHAPES):
    if i % 3 != 1 or k == 7: continue
    x, margin = rng.standard_normal((n, c, h, w)).astype(np.float32), (i // 3) % (k // 2 + 1)
    if i % 2: x.reshape(-1)[rng.integers(x.size, size=4)] = [np.inf, -np.inf, -0.0, 3e38]
    close(Tensor(x).max_pool2d(k, stride=s, padding=margin), windows(x, k, s, margin, -np.inf).max((-2, -1)))
    y = np.clip(x, -10, 10)
    close(Tensor(y).avg_pool2d(k, stride=s, padding=margin), windows(y, k, s, margin, 0).mean((-2, -1)), rtol=1e-4, atol=1e-5)

def test_types_and_settings():
  x, f = rng.integers(-8, 8, (2, 4, 7, 14)), rng.integers(-8, 8, (4, 1, 3, 3))
  right = convolved(x, f, 2, 1)
  for way in settings():
    with Context(**way):
      for dtype in (np.int8, np.int16, np.int32, np.int64, np.float16, np.float32, np.float64):
        y = Tensor(x.astype(dtype)).cast("int32" if np.issubdtype(dtype, np.integer) else "float32").conv2d(Tensor(f.astype(dtype)).cast("int32" if np.issubdtype(dtype, np.integer) else "float32"), groups=4, stride=2, padding=1)
        close(y, right, rtol=0, atol=0)
      close(Tensor(x.astype(np.float64)).conv2d(Tensor(f.astype(np.float64)), groups=4, stride=2, padding=1), right, rtol=0, atol=0)

def test_neighbours_that_read_the_same_element():
  for rows, columns, times in ((3, 5, 2), (4, 7, 2), (2, 6, 4), (3, 33, 8), (5, 1, 2), (2, 4, 3)):
    for kind in (np.float32, np.float64, np.int8, np.float16):
      x, y = rng.integers(-9, 9, (2, rows, columns)).astype(kind), rng.integers(-9, 9, (2, rows * times, columns * times)).astype(kind)
      want = x.repeat(times, 1).repeat(times, 2)
      for way in settings():
        with Context(**way):
          near = Tensor(x).repeat_interleave(times, 1).repeat_interleave(times, 2)
          close(near + 1, want + 1, rtol=0, atol=0)
          close((near == Tensor(y)).where(near, 0), np.where(want == y, want, 0), rtol=0, atol=0)

def test_nothing_is_written_beside_a_row():
  """Padded lanes have no result: what follows the last row in memory stays as it is."""
  whole = Tensor(rng.standard_normal(4 * 49 + 100).astype(np.float32)).contiguous().realize()
  before = whole.numpy().copy()
  x, f = rng.standard_normal((1, 4, 7, 7)).astype(np.float32), rng.standard_normal((4, 1, 3, 3)).astype(np.float32)
  whole[20:20 + 4 * 49].assign(Tensor(x).conv2d(Tensor(f), groups=4, padding=1).reshape(-1)).realize()
  after = whole.numpy()
  close(after[:20], before[:20], rtol=0, atol=0)
  close(after[20 + 4 * 49:], before[20 + 4 * 49:], rtol=0, atol=0)
  close(after[20:20 + 4 * 49].reshape(1, 4, 7, 7), convolved(x, f, 1, 1), rtol=1e-4, atol=1e-5)

def test_gradients_and_epilogues():
  x, f, b = (rng.standard_normal(s).astype(np.float32) for s in ((2, 6, 7, 7), (6, 1, 3, 3), (6,)))
  y = (Tensor(x).conv2d(Tensor(f), Tensor(b), groups=6, stride=2, padding=1)).relu()
  close(y, np.maximum(convolved(x, f, 2, 1) + b.reshape(1, 6, 1, 1), 0), rtol=1e-4, atol=1e-5)
  tx, tf = Tensor(x, requires_grad=True), Tensor(f, requires_grad=True)
  gx, gf = tx.conv2d(tf, groups=6, stride=2, padding=1).square().sum().gradient(tx, tf)
  out, dx, df = convolved(x, f, 2, 1) * 2, np.zeros((2, 6, 9, 9)), np.zeros((6, 3, 3))
  wide = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
  for i in range(3):
    for j in range(3):
      dx[:, :, i:i + 7:2, j:j + 7:2] += out * f[:, 0, i, j].reshape(1, 6, 1, 1)
      df[:, i, j] = (out * wide[:, :, i:i + 7:2, j:j + 7:2]).sum((0, 2, 3))
  close(gx, dx[:, :, 1:8, 1:8], rtol=1e-3, atol=1e-3)
  close(gf[:, 0], df, rtol=1e-3, atol=1e-2)

run(globals())
