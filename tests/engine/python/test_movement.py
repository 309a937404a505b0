# Movement, joining, indexing and assignment against NumPy.
import numpy as np
from tinygrad import Tensor, dtypes
from check import close, raises, run
x3 = np.arange(60, dtype=np.float32).reshape(3, 4, 5)

def test_shapes():
  t = Tensor(x3)
  close(t.reshape(12, -1), x3.reshape(12, 5)), close(t.permute(2, 0, 1), x3.transpose(2, 0, 1)), close(t.transpose(0, 2), x3.swapaxes(0, 2)), close(t.T if t.ndim == 2 else t.flatten(), x3.flatten())
  close(t.flip(1), x3[:, ::-1]), close(t.flip((0, 2)), x3[::-1, :, ::-1]), close(t.flatten(1), x3.reshape(3, 20)), close(t.unflatten(1, (2, 2)), x3.reshape(3, 2, 2, 5))
  close(t.unsqueeze(1).squeeze(1), x3), close(Tensor(x3[:1]).expand(2, 4, 5), np.broadcast_to(x3[:1], (2, 4, 5))), close(t.shrink(((1, 3), None, (2, 4))), x3[1:3, :, 2:4])
  close(t.repeat(2, 1, 3), np.tile(x3, (2, 1, 3))), close(t.repeat_interleave(2, 1), x3.repeat(2, 1)), close(t.permute(1, 0, 2).reshape(20, 3), x3.transpose(1, 0, 2).reshape(20, 3))
  close(t.roll(2, 1), np.roll(x3, 2, 1)), close(t.roll((1, -1), (0, 2)), np.roll(x3, (1, -1), (0, 2)))
  close(Tensor(np.zeros((0, 3), np.float32)).reshape(3, 0), np.zeros((3, 0)))

def test_pads():
  t = Tensor(x3)
  close(t.pad((1, 2)), np.pad(x3, ((0, 0), (0, 0), (1, 2)))), close(t.pad(((1, 0), None, (0, 2)), value=5), np.pad(x3, ((1, 0), (0, 0), (0, 2)), constant_values=5))
  close(t.pad((-1, 2)), np.pad(x3, ((0, 0), (0, 0), (0, 2)))[:, :, 1:]), close(t.pad((1, 1), value=float("-inf")).max(-1), x3.max(-1))
  for mode, name in (("reflect", "reflect"), ("replicate", "edge"), ("circular", "wrap")): close(t.pad((2, 1, 1, 2), mode=mode), np.pad(x3, ((0, 0), (1, 2), (2, 1)), mode=name))
  raises(ValueError, lambda: t.pad((1, 2, 3)), "even"), raises(NotImplementedError, lambda: t.pad((1, 1), mode="odd"))

def test_joins():
  t = Tensor(x3)
  close(Tensor.cat(t, t, dim=1), np.concatenate([x3, x3], 1)), close(t.cat(t, t, dim=-1), np.concatenate([x3] * 3, -1)), close(Tensor.stack(t, t, dim=2), np.stack([x3, x3], 2)), close(Tensor.stack([t, t]), np.stack([x3, x3]))
  for got, want in zip(t.split(2, 2), (x3[..., :2], x3[..., 2:4], x3[..., 4:])): close(got, want)
  for got, want in zip(t.split([1, 3], 1), (x3[:, :1], x3[:, 1:])): close(got, want)
  assert [c.shape for c in Tensor.zeros(7).chunk(3)] == [(3,), (3,), (1,)]
  a, b = Tensor.meshgrid(Tensor([1, 2]), Tensor([3, 4, 5])); close(a, np.meshgrid([1, 2], [3, 4, 5], indexing="ij")[0]), close(b, np.meshgrid([1, 2], [3, 4, 5], indexing="ij")[1])
  raises((AssertionError, ValueError), lambda: Tensor.cat(Tensor.ones(2, 3), Tensor.ones(2, 4)), "(2, 3)", "(2, 4)")

def test_triangles_and_diagonals():
  m = x3[0]
  for k in (-1, 0, 2): close(Tensor(m).tril(k), np.tril(m, k)), close(Tensor(m).triu(k), np.triu(m, k))
  close(Tensor([1, 2, 3]).diag(), np.diag([1, 2, 3])), close(Tensor(x3[0][:, :4]).diagonal(), np.diagonal(x3[0][:, :4]))
  close(Tensor(np.arange(10, dtype=np.float32)).unfold(0, 4, 3), np.lib.stride_tricks.sliding_window_view(np.arange(10), 4)[::3])

def test_windows():
  """Of any length, size and step, overlapping by whole steps or not; the gradient of an element is the sum of the windows' that hold it."""
  for n, size, step in ((10, 4, 3), (10, 4, 2), (11, 4, 2), (13, 6, 2), (17, 8, 4), (8, 8, 4), (8, 8, 2), (9, 3, 1), (9, 2, 5), (40, 32, 8), (45, 32, 8), (6, 0, 2)):
    x = np.random.default_rng(n).standard_normal((3, n, 2)).astype(np.float32)
    want = np.lib.stride_tricks.sliding_window_view(x, size, 1)[:, ::step] if size else np.zeros((3, 4, 2, 0), np.float32)
    t = Tensor(x, requires_grad=True)
    got = t.unfold(1, size, step)
    close(got, want)
    weights = np.random.default_rng(size).standard_normal(want.shape).astype(np.float32)
    each = np.zeros_like(x)
    for place in range(want.shape[1] if size else 0): each[:, place * step:place * step + size] += weights[:, place].transpose(0, 2, 1)
    close((got * Tensor(weights)).sum().gradient(t)[0], each)

def test_windows_of_two_axes():
  """Pooling by windows that overlap by whole steps along both axes, one, or none, with margins; a gradient is what the windows give back."""
  x = np.random.default_rng(1).standard_normal((2, 3, 17, 19)).astype(np.float32)
  for kernel, stride, pad in (((4, 4), (2, 2), 0), ((4, 4), (2, 2), 1), ((8, 8), (4, 4), 2), ((6, 3), (3, 2), 1), ((3, 4), (1, 2), 0), ((4, 6), (4, 2), 0)):
    margins = ((0, 0), (0, 0), (pad, pad), (pad, pad))
    def windows(fill): return np.lib.stride_tricks.sliding_window_view(np.pad(x, margins, constant_values=fill), kernel, (2, 3))[:, :, ::stride[0], ::stride[1]]
    t = Tensor(x, requires_grad=True)
    largest, mean = t.max_pool2d(kernel, stride, padding=pad), t.avg_pool2d(kernel, stride, padding=pad)
    close(largest, windows(-np.inf).max((4, 5))), close(mean, windows(0).mean((4, 5)), 1e-5)
    weights = np.random.default_rng(2).standard_normal(mean.shape).astype(np.float32)
    each, most = np.zeros_like(np.pad(x, margins)), np.zeros_like(np.pad(x, margins))
    for i in range(mean.shape[2]):
      for j in range(mean.shape[3]):
        at = (slice(None), slice(None), slice(i * stride[0], i * stride[0] + kernel[0]), slice(j * stride[1], j * stride[1] + kernel[1]))
        each[at] += weights[:, :, i:i + 1, j:j + 1] / (kernel[0] * kernel[1])
        window = np.pad(x, margins, constant_values=-np.inf)[at]
        most[at] += (window == window.max((2, 3), keepdims=True)) * weights[:, :, i:i + 1, j:j + 1]
    inside = (slice(None), slice(None), slice(pad, pad + 17), slice(pad, pad + 19))
    close((mean * Tensor(weights)).sum().gradient(t)[0], each[inside], 1e-5), close((largest * Tensor(weights)).sum().gradient(t)[0], most[inside], 1e-5)

def test_slices():
  t = Tensor(x3)
  for key in [0, -1, (1, 2), (1, 2, 3), slice(1, 3), (slice(None), 1), (slice(None, None, 2), slice(None), slice(4, None, -1)), (Ellipsis, 0), (0, Ellipsis), (None, 1), (slice(None), None, 2), (Ellipsis, None),
              (slice(None), slice(5, 2)), (slice(-2, None),), (slice(None), slice(None, None, 3)), (slice(2, 0, -1),), (slice(None), slice(None, None, -2))]:
    close(t[key], x3[key])
  raises(IndexError, lambda: t[3], "out of bounds"), raises(IndexError, lambda: t[0, 0, 0, 0]), raises(IndexError, lambda: t[..., ...]), raises(ValueError, lambda: t[::0]), raises(IndexError, lambda: t[1.5])
  assert [v.item() for v in Tensor([1, 2, 3])] == [1, 2, 3]

def test_tensor_indices():
  t, i, j = Tensor(x3), np.array([2, 0, -1]), np.array([1, 3, 0])
  close(t[Tensor(i)], x3[i]), close(t[i.tolist()], x3[i]), close(t[:, Tensor(j)], x3[:, j]), close(t[Tensor(i), Tensor(j)], x3[i, j]), close(t[Tensor(i), :, Tensor(j)], x3[i, :, j]), close(t[0, Tensor(j)], x3[0, j])
  two = np.array([[0, 1], [2, 2]]); close(t[Tensor(two)], x3[two]), close(t[:, :, Tensor(two)], x3[:, :, two]), close(t[Tensor(i), None, 1:3], x3[i, None, 1:3])
  raises(IndexError, lambda: t[Tensor([1.0])])
  idx = np.array([[[0, 1, 2, 3, 0]], [[1, 1, 1, 1, 1]], [[3, 2, 1, 0, 2]]]); close(t.gather(1, Tensor(idx)), np.take_along_axis(x3, idx, 1))

def test_assignment():
  a = np.zeros((4, 5), np.float32); t = Tensor.zeros(4, 5).contiguous()
  def both(key, v):
    a[key] = v if not isinstance(v, Tensor) else v.numpy()
    t[key] = v
    close(t, a)
  both((1, 2), 3.0), both(slice(2, 4), 1.5), both((slice(None), 0), Tensor([1.0, 2.0, 3.0, 4.0])), both((Ellipsis, slice(3, 5)), 7)
  t[Tensor([0, 3])] = Tensor.ones(2, 5); a[[0, 3]] = 1; close(t, a)
  t += 1; close(t, a + 1)
  u = Tensor([1.0, 2.0, 3.0]); u.assign(Tensor([4.0, 5.0, 6.0])); close(u, [4, 5, 6]); u *= 2; u -= 1; close(u, [7, 9, 11])
  v = Tensor([1.0, 2.0]).realize(); v.assign(v + 1).realize(); v.assign(v.flip(0) * 2).realize(); close(v, [6, 4])
  b, c = Tensor.zeros(3).contiguous().realize(), Tensor.zeros(3).contiguous().realize(); b += 1; b.realize(); close(c, [0, 0, 0]), close(b, [1, 1, 1])
  raises((AssertionError, RuntimeError), lambda: u.assign(Tensor([1.0, 2.0])))

def test_scatter():
  src = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], np.float32); idx = np.array([[0, 1, 2], [2, 0, 1]]); base = np.zeros((3, 3), np.float32)
  want = base.copy(); np.put_along_axis(want, idx, src, 0); close(Tensor(base).scatter(0, Tensor(idx), Tensor(src)), want)
  add = base.copy(); np.add.at(add, (idx, np.arange(3)[None, :]), src); close(Tensor(base).scatter_reduce(0, Tensor(idx), Tensor(src), "sum"), add)
  close(Tensor([1.0, 2.0]).masked_fill(Tensor([True, False]), -1), [-1, 2]), close(Tensor([0, 2]).one_hot(3), [[1, 0, 0], [0, 0, 1]])

def test_sort_and_select():
  for n in (1, 2, 5, 8, 13):
    v = np.random.default_rng(n).integers(0, 6, (3, n)).astype(np.float32); s, at = Tensor(v).sort(-1); close(s, np.sort(v, -1)), close(np.take_along_axis(v, at.numpy(), -1), np.sort(v, -1))
    s, at = Tensor(v).sort(0, descending=True); close(s, -np.sort(-v, 0))
  close(Tensor([1, 2, 3, 4]).masked_select(Tensor([True, False, True, False])), [1, 3]), close(Tensor([1.0, 2.0]).masked_fill(Tensor([True, False]), -1), [-1, 2]), close(Tensor([0, 2]).one_hot(3), [[1, 0, 0], [0, 0, 1]])
  k, at = Tensor([3.0, 1.0, 4.0, 1.5]).topk(2); close(k, [4, 3]), close(at, [2, 0])

def test_long_pieces_that_threads_share():
  rng = np.random.default_rng(1)
  for shapes in [((300001,), (200003,), (150001,)), ((301, 1023), (517, 1023), (77, 1023)), ((400000,), (131,), (300000,)), ((70001, 5), (90003, 5))]:
    parts = [rng.standard_normal(s).astype(np.float32) for s in shapes]
    for dtype in (np.float32, np.int8, np.bool_):
      typed = [(x > 0) if dtype == np.bool_ else (x * 9).astype(dtype) for x in parts]
      first, *rest = [Tensor(x) for x in typed]
      close(first.cat(*rest), np.concatenate(typed))
  x = rng.standard_normal(600011).astype(np.float32); t = Tensor(x)
  for n in (100, 300001, -7): close(t.roll(n), np.roll(x, n))
  close(t.pad(((70, 40000),)), np.pad(x, (70, 40000))), close(t.pad(((70000, 40000),), mode="reflect"), np.pad(x, (70000, 40000), mode="reflect"))
  close((Tensor.arange(600011) < 200001).where(t * 2, t + 1), np.where(np.arange(600011) < 200001, x * 2, x + 1))

if __name__ == "__main__": run(globals())
