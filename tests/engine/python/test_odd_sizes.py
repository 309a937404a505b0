# Sizes that nothing divides: 997 and 1009 are primes. Tiles of results and shares of threads overlap, terms that fill no step of lanes
# are peeled off, long sums leave a rest. Values for every level of the processor, through LLVM and C; work and threads by count.
import unittest
import numpy as np
from tinygrad import Context, GlobalCounters, Tensor
from check import settings

WAYS = list(settings())
SHAPES = ((257, 997), (131, 33), (11, 13, 71))

def softmax(x):
  e = np.exp(x - x.max(-1, keepdims=True))
  return e / e.sum(-1, keepdims=True)

class TestOddSizes(unittest.TestCase):
  def setUp(self): self.rng = np.random.default_rng(3)

  def check(self, got, want, **kwargs): np.testing.assert_allclose(got.numpy(), want, rtol=2e-5, atol=2e-5, **kwargs)

  def test_values(self):
    for shape in SHAPES:
      a, b = self.rng.standard_normal(shape).astype(np.float32), self.rng.standard_normal(shape).astype(np.float32)
      wide, ones = a.astype(np.float64), (1,) * (len(shape) - 1)
      for way in WAYS:
        with self.subTest(shape=shape, **way), Context(**way):
          x, y = Tensor(a).realize(), Tensor(b).realize()
          self.check(x * y + 1, a * b + 1)
          self.check(x.permute(*range(len(shape))[::-1]) + 1, a.T + 1)
          self.check(x.flip(-1) - y, a[..., ::-1] - b)
          self.check(x.roll(5, -1), np.roll(a, 5, -1))
          self.check(x[..., 1:-2] * 2, a[..., 1:-2] * 2)
          self.check(x.tril(), np.tril(a))
          self.check(x.cat(y, dim=-1), np.concatenate([a, b], -1))
          for axis in (None, 0, -1):
            self.check(x.sum(axis) * 1e-2, wide.sum(axis) * 1e-2)
            self.check(x.max(axis), a.max(axis)), self.check(x.min(axis), a.min(axis))
            self.check(x.std(axis), wide.std(axis, ddof=1))
          self.check(x.argmax(-1), a.argmax(-1)), self.check(x.softmax(-1), softmax(wide))
          self.check(x.log_softmax(-1).logsumexp(-1), np.zeros(shape[:-1]))
          self.check((x.abs() * 0.1 + 0.9).prod(-1) if shape[-1] < 100 else x.sum(-1), (abs(wide) * 0.1 + 0.9).prod(-1) if shape[-1] < 100 else wide.sum(-1))
          self.check(x @ y.transpose(-1, -2) * 1e-2, wide @ np.swapaxes(b, -1, -2) * 1e-2)

  def test_special_values_at_the_end(self):
    for n in (17, 33, 97, 997):
      for at in (0, n - 1, n // 16 * 16 - 1, min(n - 1, n // 16 * 16)):
        for v in (np.nan, np.inf, -np.inf):
          a = self.rng.standard_normal((5, n)).astype(np.float32)
          a[2, at] = v
          x = Tensor(a).realize()
          with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(x.max(1).numpy(), a.max(1))
            self.assertTrue(np.isnan(x.sum(1).numpy()[2]) if np.isnan(v) else x.sum(1).numpy()[2] == v)
            np.testing.assert_allclose(x.sum(1).numpy()[[0, 1, 3, 4]], a.astype(np.float64).sum(1)[[0, 1, 3, 4]], rtol=1e-4, atol=1e-4)

  def test_assignments_happen_once(self):
    """A tile that overlaps would add twice."""
    a = self.rng.standard_normal((1009, 997)).astype(np.float32)
    x = Tensor(a).contiguous().realize()
    for _ in range(3): x.assign(x + 1).realize()
    self.check(x, a + 3)
    y = Tensor(a).contiguous().realize()
    y[3:-2, 5:] += 1
    want = a.copy(); want[3:-2, 5:] += 1
    self.check(y, want)

  def test_long_sums_in_parts(self):
    for shape, axis in (((100003,), 0), ((1009, 997), (0, 1)), ((3, 70001), 1), ((40009, 5), 0)):
      a = self.rng.standard_normal(shape).astype(np.float32)
      self.check(Tensor(a).sum(axis) * 1e-2, a.astype(np.float64).sum(axis) * 1e-2), self.check(Tensor(a).max(axis), a.max(axis))
      self.check(Tensor(a.astype(np.int32)).sum(axis), a.astype(np.int32).sum(axis))

  def test_the_work_is_that_of_the_size(self):
    for f in (lambda x: x.sum(), lambda x: x.max(1), lambda x: x.sum(0), lambda x: x * 2 + 1, lambda x: x.softmax(1)):
      counts = []
      for n in (1008, 1009):
        x = Tensor(np.ones((n, n), np.float32)).realize()
        GlobalCounters.reset(); f(x).realize(); counts.append(GlobalCounters.global_ops)
      self.assertLess(counts[1], 1.1 * counts[0])

if __name__ == "__main__": unittest.main()
