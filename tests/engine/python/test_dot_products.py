# Products of bfloat16s and of bytes, for which processors have instructions that add 2 or 4 terms to each lane: values for every
# layout, sign, number of terms and way to compile, special values, convolutions, gradients; and that such instructions are used.
import os, sys, unittest
import numpy as np
from tinygrad import Context, Tensor, dtypes
from check import settings

WAYS = list(settings()) + [dict(TC=0)]
SIGNS = {"ss": (np.int8, np.int8), "us": (np.uint8, np.int8), "su": (np.int8, np.uint8), "uu": (np.uint8, np.uint8)}

def bf16(a): # rounded to nearest, ties to even
  bits = a.astype(np.float32).view(np.uint32)
  return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)

class TestDotProducts(unittest.TestCase):
  def setUp(self): self.rng = np.random.default_rng(7)

  def floats(self, *shape):
    a = bf16(self.rng.standard_normal(shape))
    return a, Tensor(a).cast(dtypes.bfloat16).realize()
  def bytes(self, kind, *shape):
    limits = np.iinfo(kind)
    a = self.rng.integers(limits.min, limits.max + 1, shape).astype(kind)
    a.flat[:2] = limits.min, limits.max
    return a, Tensor(a).realize()
  def near(self, got, want):
    got = got.cast(dtypes.float32).numpy()
    np.testing.assert_allclose(got, want, rtol=2**-8, atol=2**-8 * np.abs(want).max() * 1e-2 + 1e-4)

  def test_layouts(self):
    for m, k, n in ((33, 64, 48), (64, 37, 65)):
      for way in WAYS:
        for ta in (False, True):
          for tb in (False, True):
            with self.subTest(m=m, k=k, n=n, ta=ta, tb=tb, **way), Context(**way):
              turn = lambda x, t: x.transpose(-1, -2) if t else x
              (a, x), (b, y) = self.floats(*((k, m) if ta else (m, k))), self.floats(*((n, k) if tb else (k, n)))
              a, b = (a.T if ta else a).astype(np.float64), (b.T if tb else b).astype(np.float64)
              self.near(turn(x, ta) @ turn(y, tb), a @ b)
              for kinds in SIGNS.values():
                (a, x), (b, y) = self.bytes(kinds[0], *((k, m) if ta else (m, k))), self.bytes(kinds[1], *((n, k) if tb else (k, n)))
                a, b = (a.T if ta else a).astype(np.int64), (b.T if tb else b).astype(np.int64)
                got = turn(x, ta).cast(dtypes.int32) @ turn(y, tb).cast(dtypes.int32)
                np.testing.assert_array_equal(got.numpy(), a @ b)

  def test_vectors_and_batches(self):
    for terms in (64, 999):
      for way in WAYS:
        with self.subTest(terms=terms, **way), Context(**way):
          (a, x), (b, y) = self.floats(50, terms), self.floats(terms)
          self.near(x @ y, a.astype(np.float64) @ b)
          for kinds in SIGNS.values():
            (a, x), (b, y) = self.bytes(kinds[0], 3, 40, terms), self.bytes(kinds[1], 3, terms, 34)
            np.testing.assert_array_equal((x.cast(dtypes.int32) @ y.cast(dtypes.int32)).numpy(), a.astype(np.int64) @ b)
            np.testing.assert_array_equal((x[0].cast(dtypes.int32) @ y[0, :, 0].cast(dtypes.int32)).numpy(), a[0].astype(np.int64) @ b[0, :, 0])

  def test_sums_of_bytes_wrap(self):
    a, b = np.full((32, 70000), 255, np.uint8), np.full((70000, 32), 255, np.uint8)
    got = (Tensor(a).cast(dtypes.int32) @ Tensor(b).cast(dtypes.int32)).numpy()
    self.assertEqual(int(got[0, 0]), (255 * 255 * 70000 + 2**31) % 2**32 - 2**31)
    self.assertTrue((got == got[0, 0]).all())

  def test_special_values(self):
    for k in (64, 65):
      for v in (np.inf, -np.inf, np.nan, 3e38, -0.0):
        for at in (0, 1, k // 2, k - 1):
          (a, x), (b, y) = self.floats(32, k), self.floats(k, 32)
          a[3, at] = bf16(np.float32([v]))[0] if not np.isnan(v) else v
          with np.errstate(all="ignore"):
            want = sum(a[:, i, None] * b[None, i] for i in range(k)) # float32, as the sum is
          got = (Tensor(a).cast(dtypes.bfloat16).realize().matmul(y, dtype=dtypes.float32)).numpy()
          np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
          np.testing.assert_array_equal(np.isinf(got), np.isinf(want))
          some = np.isfinite(want)
          np.testing.assert_allclose(got[some], want[some], rtol=1e-4, atol=1e-4)

  def test_numbers_near_zero(self): # an instruction may take those below 2**-126 for zeros; none becomes anything else
    a = bf16(np.ldexp(self.rng.standard_normal((32, 64)), self.rng.integers(-149, -60, (32, 64))).astype(np.float32))
    b = bf16(np.ldexp(self.rng.standard_normal((64, 32)), self.rng.integers(-70, 20, (64, 32))).astype(np.float32))
    want = a.astype(np.float64) @ b
    got = Tensor(a).cast(dtypes.bfloat16).realize().matmul(Tensor(b).cast(dtypes.bfloat16).realize(), dtype=dtypes.float32).numpy()
    lost = 64 * 2.0**-126 + 2.0**-126 * np.abs(b).astype(np.float64).sum(0).max()
    np.testing.assert_array_less(np.abs(got - want), 1e-5 * (np.abs(a).astype(np.float64) @ np.abs(b)) + lost)

  def test_convolutions(self):
    shapes = (((2, 16, 14, 14), (32, 16, 3, 3), dict(padding=1)), ((1, 32, 20, 20), (40, 32, 1, 1), {}), ((2, 6, 17, 17), (24, 6, 3, 3), dict(padding=1, stride=2)),
              ((1, 8, 30, 30), (16, 4, 5, 5), dict(padding=2, groups=2)), ((2, 9, 16, 16), (32, 9, 3, 3), dict(padding=2, dilation=2)))
    for xs, ws, how in shapes:
      for way in WAYS:
        with self.subTest(x=xs, w=ws, **how, **way), Context(**way):
          (a, x), (b, y) = self.floats(*xs), self.floats(*ws)
          with Context(TC=0): want = Tensor(a).conv2d(Tensor(b), **how).numpy()
          self.near(x.conv2d(y, **how), want)
          (a, x), (b, y) = self.bytes(np.uint8, *xs), self.bytes(np.int8, *ws)
          with Context(TC=0): want = Tensor(a.astype(np.float64)).conv2d(Tensor(b.astype(np.float64)), **how).numpy()
          np.testing.assert_array_equal(x.cast(dtypes.int32).conv2d(y.cast(dtypes.int32), **how).numpy(), want)

  def test_gradients(self):
    (a, x), (b, y) = self.floats(64, 96), self.floats(96, 48)
    dx, dy = (x.requires_grad_() @ y.requires_grad_()).cast(dtypes.float32).square().sum().gradient(x, y)
    out = bf16(a @ b).astype(np.float64) * 2
    self.near(dx, bf16(out.astype(np.float32)) @ b.T), self.near(dy, a.T @ bf16(out.astype(np.float32)))

  def test_random_products(self):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "fuzz"))
    import small_products
    self.assertEqual(small_products.run(0, 60), "")

  def test_used_where_the_processor_has_them(self):
    from tinygrad import Device
    from tinygrad.engine.realize import get_program
    from tinygrad.uop.ops import Ops
    try:
      with open("/proc/cpuinfo") as told: processor = told.read()
      flags = next(line for line in processor.splitlines() if line.startswith("flags")).split()
    except (OSError, StopIteration): self.skipTest("no list of what the processor can do")
    def used(out):
      program = get_program(out.schedule()[-1].ast, Device["CPU"].renderer)
      return " ".join(str(u.arg) for u in program.uops if u.op is Ops.WMMA)
    if "avx512_bf16" in flags and "avx512bw" in flags and "GenuineIntel" in processor:
      # There a dot product takes as long as four products of float32s.
      self.assertEqual(used(self.floats(128, 256)[1] @ self.floats(256, 128)[1]), "")
    elif "avx512_bf16" in flags and "avx512bw" in flags:
      x, y = self.floats(128, 256)[1], self.floats(256, 128)[1]
      for out in (x @ y, x.T.contiguous().realize().T @ y, x @ self.floats(256)[1]): self.assertIn("vdpbf16ps", used(out))
      with Context(TC=0): self.assertEqual(used(x @ y), "")
    if "avx512_vnni" in flags and "avx512bw" in flags:
      for kinds in SIGNS.values():
        x, y = (self.bytes(k, *s)[1].cast(dtypes.int32) for k, s in zip(kinds, ((128, 256), (256, 128))))
        self.assertIn("vpdpbusd", used(x @ y))

if __name__ == "__main__": unittest.main()
