# Windows with a stride, the other way round: transposed convolutions and the gradients of convolutions and poolings. The
# compiler writes the steps of the stride out and takes a whole row of results as lanes where it fits. Every level of this
# processor, LLVM and C, with and without Opts, against NumPy in float64.
import unittest
import numpy as np
from tinygrad import Tensor
from tinygrad.helpers import Context
from check import settings

WAYS = list(settings())

def transposed(x, w, stride, pad, groups):
  """The convolution that spreads each input over a window of the output."""
  n, c, h, wide = x.shape
  _, each, k, _ = w.shape
  full = np.zeros((n, groups * each, stride * (h - 1) + k, stride * (wide - 1) + k))
  per = c // groups
  for g in range(groups):
    for r in range(k):
      for s in range(k):
        part = np.einsum("nchw,co->nohw", x[:, g * per:(g + 1) * per], w[g * per:(g + 1) * per, :, r, s])
        full[:, g * each:(g + 1) * each, r:r + stride * h:stride, s:s + stride * wide:stride] += part
  return full[:, :, pad:full.shape[2] - pad, pad:full.shape[3] - pad]

def convolution_gradients(x, w, stride, pad, groups):
  """The gradients of half the sum of squares of a convolution's results."""
  n, c, h, wide = x.shape
  o, each, k, _ = w.shape
  padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
  windows = np.lib.stride_tricks.sliding_window_view(padded, (k, k), (2, 3))[:, :, ::stride, ::stride]
  per = o // groups
  out = np.concatenate([np.einsum("nchwrs,ocrs->nohw", windows[:, g * each:(g + 1) * each], w[g * per:(g + 1) * per]) for g in range(groups)], 1)
  dw = np.concatenate([np.einsum("nchwrs,nohw->ocrs", windows[:, g * each:(g + 1) * each], out[:, g * per:(g + 1) * per]) for g in range(groups)])
  dx = np.zeros_like(padded)
  rows, columns = out.shape[2:]
  for g in range(groups):
    for r in range(k):
      for s in range(k):
        part = np.einsum("nohw,oc->nchw", out[:, g * per:(g + 1) * per], w[g * per:(g + 1) * per, :, r, s])
        dx[:, g * each:(g + 1) * each, r:r + stride * rows:stride, s:s + stride * columns:stride] += part
  return dx[:, :, pad:pad + h, pad:pad + wide], dw

def pool_gradient(x, size, stride, pad, g):
  """Shared among equal largest values, as the reference does; the inputs here are all different."""
  padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), constant_values=-np.inf)
  dx = np.zeros_like(padded)
  for n, c, r, s in np.ndindex(g.shape):
    window = padded[n, c, r * stride:r * stride + size, s * stride:s * stride + size]
    at = np.unravel_index(window.argmax(), window.shape)
    dx[n, c, r * stride + at[0], s * stride + at[1]] += g[n, c, r, s]
  return dx[:, :, pad:pad + x.shape[2], pad:pad + x.shape[3]]

class TestStridedWindows(unittest.TestCase):
  def setUp(self): self.rng = np.random.default_rng(5)
  def numbers(self, *shape): return self.rng.standard_normal(shape).astype(np.float32)

  def test_transposed_convolutions(self):
    # channels, outputs of a group, groups, size of the picture, window, stride, padding
    for c, each, groups, size, k, stride, pad in ((8, 1, 8, 28, 4, 2, 1), (8, 1, 8, 32, 4, 2, 1), (4, 1, 4, 7, 3, 2, 1), (4, 2, 2, 16, 4, 4, 0),
                                                  (4, 1, 4, 33, 4, 2, 1), (2, 3, 1, 12, 5, 3, 2), (2, 1, 2, 8, 8, 4, 2), (3, 1, 3, 5, 2, 2, 0)):
      x, w = self.numbers(2, c, size, size), self.numbers(c, each, k, k)
      expected = transposed(x.astype(np.float64), w.astype(np.float64), stride, pad, groups)
      for way in WAYS:
        with self.subTest(c=c, each=each, groups=groups, size=size, k=k, stride=stride, **way), Context(**way):
          got = Tensor(x).conv_transpose2d(Tensor(w), stride=stride, padding=pad, groups=groups).numpy()
          self.assertEqual(got.shape, expected.shape)
          np.testing.assert_allclose(got, expected, atol=2e-5 * k * k)

  def test_gradients_of_convolutions(self):
    for c, o, groups, size, k, stride, pad in ((8, 8, 8, 56, 3, 2, 1), (4, 8, 4, 28, 3, 2, 1), (4, 6, 1, 15, 3, 2, 1), (4, 4, 2, 21, 5, 3, 2), (6, 6, 6, 16, 4, 4, 0)):
      x, w = self.numbers(2, c, size, size), self.numbers(o, c // groups, k, k)
      expected = convolution_gradients(x.astype(np.float64), w.astype(np.float64), stride, pad, groups)
      for way in WAYS:
        with self.subTest(c=c, o=o, groups=groups, size=size, k=k, stride=stride, **way), Context(**way):
          a, b = Tensor(x, requires_grad=True), Tensor(w, requires_grad=True)
          got = ((a.conv2d(b, stride=stride, padding=pad, groups=groups)**2).sum() / 2).gradient(a, b)
          for g, e in zip(got, expected): np.testing.assert_allclose(g.numpy(), e, atol=3e-5 * np.abs(e).max())

  def test_gradients_of_poolings(self):
    for size, k, stride, pad in ((56, 3, 2, 1), (28, 3, 2, 0), (15, 2, 2, 0), (22, 4, 3, 1)):
      x = self.numbers(1, 3, size, size)
      g = self.numbers(*Tensor(x).max_pool2d(k, stride, padding=pad).shape)
      expected = pool_gradient(x, k, stride, pad, g)
      for way in WAYS:
        with self.subTest(size=size, k=k, stride=stride, **way), Context(**way):
          a = Tensor(x, requires_grad=True)
          (got,) = (a.max_pool2d(k, stride, padding=pad) * Tensor(g)).sum().gradient(a)
          np.testing.assert_allclose(got.numpy(), expected, atol=1e-5)

class WindowsAtMargins(unittest.TestCase):
  def test_a_picture_is_stored_with_its_margins(self):
    x = np.random.default_rng(8).normal(size=(1, 24, 56, 56)).astype(np.float32)
    def pooled(pads):
      wide = np.pad(x, ((0, 0), (0, 0), pads, pads), constant_values=-np.inf)
      return np.lib.stride_tricks.sliding_window_view(wide, (3, 3), axis=(2, 3))[:, :, ::2, ::2].max((4, 5))
    for options, pads in ((dict(padding=1), (1, 1)), (dict(ceil_mode=True), (0, 1))):
      y = Tensor(x).realize().max_pool2d(3, 2, **options)
      self.assertEqual(len(y.schedule()), 2)
      np.testing.assert_array_equal(Tensor(x).max_pool2d(3, 2, **options).numpy(), pooled(pads))
    self.assertEqual(len(Tensor(x[:, :1, :8, :8]).realize().max_pool2d(3, 2, padding=1).schedule()), 1) # too small for two kernels
    self.assertEqual(len(Tensor(x).realize().max_pool2d(3, 2).schedule()), 1)

  def test_a_convolution_beside_margins_is_stored_and_a_product_is_not(self):
    def kernels(channels, k):
      x, w = Tensor.rand(1, channels, 56, 56).realize(), Tensor.rand(24, channels, k, k).realize()
      return len(x.conv2d(w, padding=k // 2).relu().pad((1, 1, 1, 1), value=1.0).contiguous().schedule())
    self.assertEqual([kernels(3, 3), kernels(1, 3), kernels(8, 1)], [2, 2, 1])

class OperandsReadInSteps(unittest.TestCase):
  def kernels(self, picture, filters, **options):
    x, w = Tensor(picture).realize(), Tensor(filters).realize()
    return len(x.conv2d(w, **options).schedule())

  def test_they_are_stored_first_where_that_pays(self):
    rng = np.random.default_rng(9)
    def draw(*shape): return rng.normal(size=shape).astype(np.float32)
    picture = draw(1, 64, 56, 56)
    self.assertEqual(self.kernels(picture, draw(128, 64, 1, 1), stride=2), 2)
    self.assertEqual(self.kernels(picture, draw(512, 64, 1, 1), stride=3), 2)
    self.assertEqual(self.kernels(picture, draw(8, 64, 1, 1), stride=2), 1)    # read too seldom
    self.assertEqual(self.kernels(picture, draw(128, 64, 1, 1)), 1)            # side by side
    self.assertEqual(self.kernels(picture, draw(128, 64, 1, 1), stride=(2, 1)), 1) # whole rows are read
    with Context(PLAIN=1): self.assertEqual(self.kernels(picture, draw(128, 64, 1, 1), stride=2), 1)
    a, b = Tensor(draw(512, 512)).realize(), Tensor(draw(256, 256)).realize()
    self.assertEqual(len((a[::2, ::2] @ b).schedule()), 2)
    self.assertEqual(len((b @ a[:, ::2][:256]).schedule()), 2)

  def test_numbers(self):
    rng = np.random.default_rng(10)
    for size, stride, channels, filters in ((56, 2, 64, 128), (31, 3, 100, 300), (15, 2, 256, 512)):
      x, w = rng.normal(size=(1, channels, size, size)), rng.normal(size=(filters, channels, 1, 1))
      seen = x[:, :, ::stride, ::stride]
      expected, scale = np.einsum("bcyx,oc->boyx", seen, w[:, :, 0, 0]), np.sqrt(channels)
      for way in WAYS:
        with self.subTest(size=size, **way), Context(**way):
          a, b = Tensor(x.astype(np.float32), requires_grad=True), Tensor(w.astype(np.float32), requires_grad=True)
          y = a.conv2d(b, stride=stride)
          np.testing.assert_allclose(y.numpy(), expected, atol=1e-5 * scale)
          y.sum().backward()
          np.testing.assert_allclose(b.grad.numpy()[:, :, 0, 0], np.tile(seen.sum((0, 2, 3)), (filters, 1)), atol=1e-3)
          grad = np.zeros_like(x)
          grad[:, :, ::stride, ::stride] = w.sum((0, 2, 3))[None, :, None, None]
          np.testing.assert_allclose(a.grad.numpy(), grad, atol=1e-3)

if __name__ == "__main__": unittest.main()
