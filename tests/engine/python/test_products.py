# Matrix products, convolution, pooling, attention and losses against NumPy.
import numpy as np
from tinygrad import GlobalCounters, Tensor, dtypes, nn
from check import close, raises, run
rng = np.random.default_rng(1)
def floats(*shape): return rng.uniform(-1, 1, shape).astype(np.float32)

def test_matmul():
  for a, b in [((3, 4), (4, 5)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 6)), ((1, 1), (1, 1)), ((33, 65), (65, 17)), ((128, 128), (128, 128)), ((3, 0), (0, 2))]:
    x, y = floats(*a), floats(*b)
    close(Tensor(x) @ Tensor(y), x @ y, rtol=1e-3, atol=1e-4), close(Tensor(x).dot(Tensor(y)), x @ y, rtol=1e-3, atol=1e-4)
  raises(RuntimeError, lambda: Tensor.ones(2, 3) @ Tensor.ones(4, 2), "(2, 3)", "(4, 2)"), raises(RuntimeError, lambda: Tensor(1.0) @ Tensor([1.0]), "1D")
  i = rng.integers(-5, 5, (6, 7)).astype(np.int32); close(Tensor(i) @ Tensor(i.T.copy()), i @ i.T)
  h = floats(8, 8).astype(np.float16); close(Tensor(h) @ Tensor(h), (h.astype(np.float32) @ h.astype(np.float32)).astype(np.float16), rtol=1e-2, atol=1e-2)
  close(Tensor.einsum("ij,kj->ik", Tensor(floats(2, 3)), Tensor.ones(4, 3)).shape, (2, 4))
  x, y = floats(2, 3, 4), floats(2, 4, 5)
  for f in ("bij,bjk->bik", "bij,bjk->bk", "bij,bjk", "bij,bjk->"): close(Tensor.einsum(f, Tensor(x), Tensor(y)), np.einsum(f, x, y), rtol=1e-3, atol=1e-4)
  m = floats(4, 4); close(Tensor.einsum("ii->i", Tensor(m)), np.einsum("ii->i", m)), close(Tensor.einsum("ii->", Tensor(m)), np.einsum("ii->", m), rtol=1e-4), close(Tensor.einsum("...ij->...ji", Tensor(x)), x.swapaxes(1, 2))

def test_reductions_of_products():
  a, b, t = floats(64, 300), floats(300, 80), floats(64, 80)
  p = a.astype(np.float64) @ b
  product = lambda: Tensor(a) @ Tensor(b)
  for mine, theirs in [(product().sum(1), p.sum(1)), (product().sum(0), p.sum(0)), (product().sum(), p.sum()), (product().mean(), p.mean()), (product().max(1), p.max(1)), (product().min(), p.min()),
                       (product().relu().sum(1), np.maximum(p, 0).sum(1)), ((product() - Tensor(t)).square().mean(), np.square(p - t).mean()), (product() @ Tensor(b.T[:, :3].copy()), p @ b.T[:, :3])]:
    close(mine, theirs, rtol=1e-4, atol=2e-4)
  a[3, 5] = np.inf; b[7, 2] = np.nan
  with np.errstate(invalid="ignore"): close(product().max(1), (a @ b).max(1), rtol=1e-4, atol=2e-4), close(product().sum(0), (a.astype(np.float64) @ b).sum(0), rtol=1e-3, atol=1e-3)

def test_gradient_of_a_summed_product():
  a, w = floats(200, 300), floats(300, 80)
  for loss, seed in [(lambda y: y.sum(), 1.0), (lambda y: y.mean() * 3, 3 / (200 * 80)), (lambda y: (-y).sum(), -1.0)]:
    v = Tensor(w).requires_grad_(True); loss(Tensor(a) @ v).backward()
    close(v.grad, np.repeat(a.sum(0)[:, None] * seed, 80, 1), rtol=1e-4, atol=1e-3)
    v.grad.realize(); v.grad[2, 3] = 7  # its memory is its own: rows that are alike stay apart
    assert v.grad[2, 3].item() == 7 and v.grad[2, 4].item() != 7 and v.grad[3, 3].item() != 7

def conv(x, w, stride=1, padding=0, dilation=1, groups=1):
  x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
  n, c, h, wd = x.shape; o, ci, kh, kw = w.shape
  oh, ow = (h - dilation * (kh - 1) - 1) // stride + 1, (wd - dilation * (kw - 1) - 1) // stride + 1
  out = np.zeros((n, o, oh, ow), np.float64)
  for g in range(groups):
    for oc in range(o // groups):
      for i in range(kh):
        for j in range(kw):
          part = x[:, g * ci:(g + 1) * ci, i * dilation:i * dilation + stride * oh:stride, j * dilation:j * dilation + stride * ow:stride]
          out[:, g * (o // groups) + oc] += np.einsum("nchw,c->nhw", part, w[g * (o // groups) + oc, :, i, j])
  return out

def test_conv2d():
  for xs, ws, kw in [((1, 1, 5, 5), (1, 1, 3, 3), {}), ((2, 3, 9, 8), (4, 3, 3, 2), {}), ((1, 4, 8, 8), (6, 2, 3, 3), dict(groups=2, padding=1)), ((1, 2, 11, 9), (3, 2, 3, 3), dict(stride=2)), ((1, 2, 11, 11), (2, 2, 3, 3), dict(dilation=2, padding=2)),
                     ((1, 3, 7, 7), (3, 1, 3, 3), dict(groups=3, stride=2, padding=1)), ((2, 2, 4, 4), (5, 2, 1, 1), {}), ((1, 2, 12, 12), (2, 2, 3, 3), dict(stride=3, dilation=2))]:
    x, w = floats(*xs), floats(*ws)
    close(Tensor(x).conv2d(Tensor(w), **kw), conv(x, w, **kw), rtol=1e-3, atol=1e-4)
  b = floats(4); x, w = floats(1, 3, 5, 5), floats(4, 3, 3, 3); close(Tensor(x).conv2d(Tensor(w), Tensor(b)), conv(x, w) + b.reshape(1, 4, 1, 1), rtol=1e-3, atol=1e-4)
  close(Tensor(x).conv2d(Tensor(w), padding=(1, 0)), conv(np.pad(x, ((0, 0), (0, 0), (1, 1), (0, 0))), w), rtol=1e-3, atol=1e-4)
  c1, w1 = floats(2, 3, 10), floats(4, 3, 3); close(Tensor(c1).conv2d(Tensor(w1)), conv(c1[:, :, None], w1[:, :, None])[:, :, 0], rtol=1e-3, atol=1e-4)
  raises((AssertionError, ValueError), lambda: Tensor.ones(1, 3, 8, 8).conv2d(Tensor.ones(4, 2, 3, 3)), "(1, 3, 8, 8)", "(4, 2, 3, 3)"), raises((AssertionError, ValueError), lambda: Tensor.ones(1, 1, 2, 2).conv2d(Tensor.ones(1, 1, 3, 3)), "kernel size")

def test_conv_transpose2d():
  x, w = floats(1, 2, 4, 4), floats(2, 3, 3, 3)
  for stride, pad in ((1, 0), (2, 0), (2, 1), (3, 1)):
    size = (4 - 1) * stride + 3; want = np.zeros((1, 3, size, size))
    for i in range(4):
      for j in range(4): want[:, :, i * stride:i * stride + 3, j * stride:j * stride + 3] += np.einsum("nc,cohw->nohw", x[:, :, i, j], w)
    close(Tensor(x).conv_transpose2d(Tensor(w), stride=stride, padding=pad), want[:, :, pad:size - pad, pad:size - pad], rtol=1e-3, atol=1e-4)

def transposed_1d(x, w, stride):
  """The definition, along the last axis: each element adds its multiple of the filter."""
  want = np.zeros((x.shape[0], w.shape[1], (x.shape[2] - 1) * stride + w.shape[2]))
  for i in range(x.shape[2]): want[:, :, i * stride:i * stride + w.shape[2]] += np.einsum("nc,cok->nok", x[:, :, i], w)
  return want

def test_phases_of_transposed_convolutions():
  for k, stride, extra in ((2, 2, 0), (3, 2, 1), (4, 2, 0), (5, 3, 2), (2, 3, 0), (1, 2, 1), (7, 4, 0)):
    x, w = floats(2, 3, 9), floats(3, 2, k)
    want = transposed_1d(x.astype(np.float64), w.astype(np.float64), stride)
    got = Tensor(x).conv_transpose2d(Tensor(w), stride=stride, output_padding=extra).numpy()
    assert got.shape == (2, 2, want.shape[2] + extra)
    close(got[:, :, :want.shape[2]], want, rtol=1e-3, atol=1e-4), close(got[:, :, want.shape[2]:], np.zeros((2, 2, extra)))
    # a stride along one axis of three: the other two are as they were
    deep = Tensor(x.reshape(2, 3, 1, 9, 1)).conv_transpose2d(Tensor(w.reshape(3, 2, 1, k, 1)), stride=(1, stride, 2)).numpy()
    close(deep[:, :, 0, :, 0], want, rtol=1e-3, atol=1e-4)
  # no element is multiplied by a zero that was put between: a result has 4 products with each channel, where the definition writes 16
  x, w = Tensor(floats(1, 8, 31, 31)).realize(), Tensor(floats(8, 8, 4, 4)).realize()
  GlobalCounters.reset(); x.conv_transpose2d(w, stride=2, padding=1).realize()
  assert GlobalCounters.global_ops < 1.2 * 2 * 8 * 8 * 4 * 62 * 62, GlobalCounters.global_ops
  # an infinite element of the filter reaches the results of its phase, and no other
  far = np.ones((1, 1, 2), np.float32); far[0, 0, 1] = np.inf
  assert Tensor.ones(1, 1, 3).conv_transpose2d(Tensor(far), stride=2).tolist() == [[[1.0, np.inf] * 3]]

def test_pooling():
  x = floats(2, 3, 8, 9)
  blocks = x[:, :, :8, :8].reshape(2, 3, 4, 2, 4, 2)
  close(Tensor(x).max_pool2d(), blocks.max((3, 5))), close(Tensor(x).avg_pool2d(), blocks.mean((3, 5)), rtol=1e-4)
  w = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf), (3, 3), (2, 3))
  close(Tensor(x).max_pool2d(3, stride=1, padding=1), w.max((-1, -2))), close(Tensor(x).max_pool2d((3, 2), stride=(2, 1)).shape, (2, 3, 3, 8))
  assert Tensor(x).max_pool2d(2, ceil_mode=True).shape == (2, 3, 4, 5)
  v, at = Tensor(x).max_pool2d(return_indices=True); close(np.take_along_axis(x.reshape(2, 3, -1), at.numpy().reshape(2, 3, -1), -1).reshape(v.shape), v)
  close(Tensor(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)).interpolate((4, 4), mode="nearest"), np.arange(4).reshape(1, 1, 2, 2).repeat(2, 2).repeat(2, 3))

def test_resize():
  """Each axis by itself, in any order for floats; bytes are rounded after each axis, the last one first."""
  x = floats(2, 3, 9, 11)
  def along(a, axis, n):
    at = np.clip((np.arange(n) + .5) * (a.shape[axis] / n) - .5, 0, a.shape[axis] - 1); low = np.floor(at).astype(int)
    part = (at - low).reshape([-1 if i == axis else 1 for i in range(a.ndim)])
    return a.take(low, axis) * (1 - part) + a.take(np.ceil(at).astype(int), axis) * part
  for size in [(4, 5), (4, 20), (20, 5), (20, 22), (9, 5)]:
    close(Tensor(x).interpolate(size), along(along(x.astype("float64"), 2, size[0]), 3, size[1]), rtol=1e-4, atol=1e-5)
  bytes_ = np.random.default_rng(5).integers(0, 256, (1, 2, 9, 11)).astype("uint8")
  for size in [(4, 5), (4, 20), (20, 5)]:
    assert (Tensor(bytes_).interpolate(size).numpy() == Tensor(bytes_).interpolate((9, size[1])).interpolate(size).numpy()).all(), size

def test_attention():
  q, k, v = floats(2, 3, 4, 8), floats(2, 3, 5, 8), floats(2, 3, 5, 8)
  s = q @ k.swapaxes(-1, -2) / np.sqrt(8); p = np.exp(s - s.max(-1, keepdims=True)); p /= p.sum(-1, keepdims=True)
  close(Tensor(q).scaled_dot_product_attention(Tensor(k), Tensor(v)), p @ v, rtol=1e-3, atol=1e-5)
  s = q @ q.swapaxes(-1, -2) / np.sqrt(8); s = np.where(np.tril(np.ones((4, 4))) > 0, s, -np.inf); p = np.exp(s - s.max(-1, keepdims=True)); p /= p.sum(-1, keepdims=True)
  close(Tensor(q).scaled_dot_product_attention(Tensor(q), Tensor(q), is_causal=True), p @ q, rtol=1e-3, atol=1e-5)

def test_losses():
  x, y = floats(6, 5), rng.integers(0, 5, 6)
  logp = x - np.log(np.exp(x).sum(1, keepdims=True)); nll = -logp[np.arange(6), y]
  close(Tensor(x).cross_entropy(Tensor(y)), nll.mean(), rtol=1e-4), close(Tensor(x).sparse_categorical_crossentropy(Tensor(y)), nll.mean(), rtol=1e-4), close(Tensor(logp).nll_loss(Tensor(y), reduction="none"), nll, rtol=1e-4)
  close(Tensor(x).cross_entropy(Tensor(y), reduction="sum", label_smoothing=0.1), (0.9 * nll - 0.1 * logp.mean(1)).sum(), rtol=1e-4)
  p, t = 1 / (1 + np.exp(-x)), (floats(6, 5) > 0).astype(np.float32); bce = -(t * np.log(p) + (1 - t) * np.log(1 - p)).mean()
  close(Tensor(p).binary_crossentropy(Tensor(t)), bce, rtol=1e-3), close(Tensor(x).binary_crossentropy_logits(Tensor(t)), bce, rtol=1e-3)
  raises(ValueError, lambda: Tensor(x).cross_entropy(Tensor(y), reduction="no"))

def test_layers():
  Tensor.manual_seed(3)
  x = floats(4, 6)
  l = nn.Linear(6, 3); close(l(Tensor(x)), x @ l.weight.numpy().T + l.bias.numpy(), rtol=1e-3, atol=1e-5)
  n = nn.LayerNorm(6); close(n(Tensor(x)), (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5), rtol=1e-3, atol=1e-4)
  e = nn.Embedding(10, 4); close(e(Tensor([[1, 2], [9, 0]])), e.weight.numpy()[[[1, 2], [9, 0]]])
  assert sorted(nn.state.get_state_dict(l)) == ["bias", "weight"] and len(nn.state.get_parameters([l, n])) == 4
  c = nn.Conv2d(2, 4, 3, padding="same"); assert c(Tensor.ones(1, 2, 5, 5)).shape == (1, 4, 5, 5)
  img = floats(3, 2, 4, 4); g = nn.GroupNorm(1, 2); close(g(Tensor(img)).mean(), 0, atol=1e-4)
  bn = nn.BatchNorm(2)
  with Tensor.train(): out = bn(Tensor(img))
  close(out, (img - img.mean((0, 2, 3), keepdims=True)) / np.sqrt(img.var((0, 2, 3), keepdims=True) + 1e-5), rtol=1e-3, atol=1e-4)

def test_a_filters_gradient_and_the_optimizers_step():
  """Results that lie a window apart: from 262,144 weights on the gradient is stored before Adam's step, which writes three values."""
  rng, counts = np.random.default_rng(3), []
  for filters, channels in ((64, 64), (256, 128)):
    weights = (rng.standard_normal((filters, channels, 3, 3)) * 0.1).astype(np.float32)
    x, g = rng.standard_normal((2, channels, 5, 4)).astype(np.float32), rng.standard_normal((2, filters, 3, 2)).astype(np.float32)
    w = Tensor(weights, requires_grad=True).realize()
    adam, want = nn.optim.Adam([w], lr=0.01), weights.astype(np.float64)
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), axis=(2, 3))
    gradient = np.einsum("nohw,nihwkl->oikl", g.astype(np.float64), windows)
    m = v = 0.0
    for step in (1, 2):
      with Tensor.train():
        adam.zero_grad()
        (Tensor(x).realize().conv2d(w) * Tensor(g).realize()).sum().backward()
        GlobalCounters.reset()
        Tensor.realize(*adam.schedule_step())
      m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
      want = want - 0.01 * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)
      close(w, want, rtol=1e-4, atol=1e-4)
    counts.append(GlobalCounters.kernel_count)
  assert counts[1] == counts[0] + 1, counts
  # A sum that is no product has no tiles to lose: its readers stay in its kernel, however many values they write.
  x = floats(4, 200000, 2)
  total = Tensor(x).realize().sum(0)
  twice, more = total * 2, total + 1
  GlobalCounters.reset()
  Tensor.realize(twice, more)
  assert GlobalCounters.kernel_count == 1, GlobalCounters.kernel_count
  close(twice, x.sum(0) * 2, rtol=1e-4, atol=1e-5), close(more, x.sum(0) + 1, rtol=1e-4, atol=1e-5)

def test_a_sum_beside_a_product():
  """Of the two one is stored, in either order of the factors, so that the product keeps its tiles; not where that costs more than it gains."""
  for (n, k, m, terms), kernels in (((64, 128, 256, 9), 2), ((8, 16, 8, 9), 1)):
    x, w, cube = floats(n, k), floats(k, m), floats(n, m, terms)
    cube[1, 2, 3], x[2, 3] = np.inf, np.nan
    with np.errstate(invalid="ignore"): want = (x.astype(np.float64) @ w) * cube.sum(2)
    a, b, c = Tensor(x).realize(), Tensor(w).realize(), Tensor(cube).realize()
    for both in (lambda: c.sum(2) * (a @ b), lambda: (a @ b) * c.sum(2)):
      GlobalCounters.reset()
      close(both(), want, rtol=1e-3, atol=1e-3)
      assert GlobalCounters.kernel_count == kernels, (n, GlobalCounters.kernel_count)

if __name__ == "__main__": run(globals())
