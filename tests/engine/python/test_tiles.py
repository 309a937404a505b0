# Products by the tiles of a processor (AMX), on REF:AMX, which interprets the kernels that such a processor runs: values beside
# NumPy, special values, what stands around a product, and the settings that choose the core.
import unittest
import numpy as np
from tinygrad import Context, Device, Tensor, dtypes
from tinygrad.engine.realize import get_program


def bf16(a): # rounded to nearest, ties to even
  bits = a.astype(np.float32).view(np.uint32)
  return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)

def cores(t):
  """The names of the WMMAs in the kernels of a tensor."""
  found = set()
  for item in t.schedule():
    if item.ast.op.name != "SINK": continue
    found |= {u.arg[0] for u in get_program(item.ast, Device["REF:AMX"].renderer).uops if u.op.name == "WMMA"}
  return found

class TestTiles(unittest.TestCase):
  def setUp(self): self.rng = np.random.default_rng(11)
  def floats(self, *shape, dtype=dtypes.bfloat16):
    a = self.rng.standard_normal(shape).astype(np.float32)
    a = bf16(a) if dtype == dtypes.bfloat16 else a.astype(np.float16).astype(np.float32)
    return a, Tensor(a, device="REF:AMX").cast(dtype).realize()
  def bytes(self, kind, *shape):
    limits = np.iinfo(kind)
    a = self.rng.integers(limits.min, limits.max + 1, shape).astype(kind)
    a.flat[:2] = limits.min, limits.max
    return a, Tensor(a, device="REF:AMX").realize()
  def product(self, x, y, **kw): return x.matmul(y, dtype=dtypes.float32, **kw)

  def test_layouts(self):
    for m, k, n in ((32, 64, 48), (16, 96, 16), (48, 128, 32)):
      for ta in (False, True):
        for tb in (False, True):
          turn = lambda x, t: x.transpose(-1, -2) if t else x
          for dtype in (dtypes.bfloat16, dtypes.float16):
            with self.subTest(m=m, k=k, n=n, ta=ta, tb=tb, dtype=dtype):
              (a, x), (b, y) = self.floats(*((k, m) if ta else (m, k)), dtype=dtype), self.floats(*((n, k) if tb else (k, n)), dtype=dtype)
              want = (a.T if ta else a).astype(np.float64) @ (b.T if tb else b).astype(np.float64)
              got = self.product(turn(x, ta), turn(y, tb))
              self.assertEqual(cores(got), {"tdpbf16ps" if dtype == dtypes.bfloat16 else "tdpfp16ps"})
              np.testing.assert_allclose(self.product(turn(x, ta), turn(y, tb)).numpy(), want, rtol=1e-4, atol=1e-4)
      if k % 64 == 0:
        for name, kinds in {"ss": (np.int8, np.int8), "us": (np.uint8, np.int8), "su": (np.int8, np.uint8), "uu": (np.uint8, np.uint8)}.items():
          with self.subTest(m=m, k=k, n=n, kinds=name):
            (a, x), (b, y) = self.bytes(kinds[0], m, k), self.bytes(kinds[1], k, n)
            multiply = lambda: x.cast(dtypes.int32) @ y.cast(dtypes.int32)
            self.assertEqual(cores(multiply()), {f"tdpb{name}d"})
            np.testing.assert_array_equal(multiply().numpy(), a.astype(np.int64) @ b.astype(np.int64))

  def test_around_a_product(self):
    (a, x), (b, y), (c, z) = self.floats(2, 32, 64), self.floats(2, 64, 32), self.floats(32)
    want = a.astype(np.float64) @ b
    near = lambda got, want: np.testing.assert_allclose(got.numpy(), want, rtol=1e-4, atol=1e-3)
    near((self.product(x, y) + z.cast(dtypes.float32)).relu(), np.maximum(want + c, 0))
    near(self.product(x, y).permute(0, 2, 1).contiguous(), want.swapaxes(1, 2))
    near(self.product(x, y).sum(-1), want.sum(-1))
    near(self.product(x, y).softmax(-1), np.exp(want - want.max(-1, keepdims=True)) / np.exp(want - want.max(-1, keepdims=True)).sum(-1, keepdims=True))
    near(self.product(self.product(x, y).cast(dtypes.bfloat16), y[:, :32]), bf16(want.astype(np.float32)).astype(np.float64) @ b[:, :32])
    near(self.product(x, y).triu(), np.triu(want))
    q, k, v = (self.floats(1, 2, 32, 64) for _ in range(3))
    scores = q[0].astype(np.float64) @ k[0].swapaxes(-1, -2) / 8
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    got = q[1].scaled_dot_product_attention(k[1], v[1]).cast(dtypes.float32).numpy()
    np.testing.assert_allclose(got, weights / weights.sum(-1, keepdims=True) @ v[0], rtol=0.05, atol=0.02)

  def test_convolutions(self):
    (a, x), (b, w) = self.floats(1, 64, 8, 16), self.floats(32, 64, 1, 1)
    got = x.conv2d(w, dtype=dtypes.float32)
    np.testing.assert_allclose(got.numpy(), np.einsum("nchw,ocij->nohw", a, b), rtol=1e-4, atol=1e-3)
    (a, x), (b, w) = self.floats(1, 32, 8, 16), self.floats(16, 32, 3, 3)
    padded = np.pad(a, ((0, 0), (0, 0), (1, 1), (1, 1)))
    want = sum(np.einsum("nchw,oc->nohw", padded[:, :, i:i + 8, j:j + 16], b[:, :, i, j]) for i in range(3) for j in range(3))
    np.testing.assert_allclose(x.conv2d(w, padding=1, dtype=dtypes.float32).numpy(), want, rtol=1e-4, atol=1e-3)

  def test_special_values(self):
    a, b = np.ones((16, 64), np.float32), np.ones((64, 16), np.float32)
    a[0, 3], a[1, 5], a[2, 1], a[2, 2], a[3, 0], b[9, 4] = np.inf, np.nan, np.inf, -np.inf, -np.inf, 0
    a[4], a[5, 9] = 1e-39, np.inf # below the normal numbers: zeros
    x, y = (Tensor(v, device="REF:AMX").cast(dtypes.bfloat16).realize() for v in (a, b))
    got = self.product(x, y).numpy()
    want = np.where(np.abs(a) < 2**-126, 0, a).astype(np.float64) @ b
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_array_equal(got[~np.isnan(got)], want[~np.isnan(want)].astype(np.float32))

  def test_sums_of_bytes_wrap(self):
    terms = 70016
    a, b = np.full((16, terms), 255, np.uint8), np.full((terms, 16), 255, np.uint8)
    with Context(SPLIT_REDUCEOP=0):
      got = Tensor(a, device="REF:AMX").cast(dtypes.int32) @ Tensor(b, device="REF:AMX").cast(dtypes.int32)
      self.assertEqual(int(got.numpy()[0, 0]), (255 * 255 * terms + 2**31) % 2**32 - 2**31)

  def test_what_no_tile_takes(self):
    for m, k, n in ((33, 64, 32), (32, 40, 32), (32, 64, 17), (1, 64, 64)):
      with self.subTest(m=m, k=k, n=n):
        (a, x), (b, y) = self.floats(m, k), self.floats(k, n)
        self.assertFalse(cores(self.product(x, y)) & {"tdpbf16ps"})
        np.testing.assert_allclose(self.product(x, y).numpy(), a.astype(np.float64) @ b, rtol=1e-3, atol=1e-3)

  def test_settings(self):
    (a, x), (b, y) = self.floats(32, 64), self.floats(64, 32)
    for way, used in ((dict(), {"tdpbf16ps"}), (dict(TC=0), set()), (dict(STRICT_FLOAT=1), set()), (dict(TC_SELECT=0), {"vdpbf16ps"}),
                      (dict(TC_SELECT=2), {"tdpbf16ps"}), (dict(TC_SELECT=1), set()), (dict(TC_SELECT=77), set())):
      with self.subTest(**way), Context(**way):
        self.assertEqual(cores(self.product(x, y)), used)
        exact = 1e-3 if "STRICT_FLOAT" not in way else 0.1 # which rounds each product to a bfloat16
        np.testing.assert_allclose(self.product(x, y).numpy(), a.astype(np.float64) @ b, rtol=exact, atol=exact)

  def test_compiled_listing(self):
    x, y = (Tensor.empty(64, 128, device="NULL:AMX", dtype=dtypes.bfloat16) for _ in range(2))
    ast = self.product(x, y.T).schedule()[-1].ast
    program = get_program(ast, Device["NULL:AMX"].renderer)
    self.assertIn("tdpbf16ps", program.src) # C, for readers
    listing = program.lib.decode()
    loop = listing[listing.index("tdpbf16ps"):listing.rindex("tdpbf16ps")]
    self.assertEqual(listing.count("tdpbf16ps"), 4)
    self.assertEqual(loop.count("tileload"), 2) # each operand of 2 x 2 tiles is read once
    self.assertNotIn("tilestore", loop)

if __name__ == "__main__": unittest.main()
