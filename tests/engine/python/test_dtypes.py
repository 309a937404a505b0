# Types: the promotion lattice, casts and bitcasts with their edge cases, small floats bit for bit, integers that wrap; on CPU and REF.
import itertools, math, struct
import numpy as np
from tinygrad import Tensor, dtypes, Context, Device
from tinygrad.dtype import least_upper_dtype, least_upper_float, sum_acc_dtype, can_lossless_cast
from check import close, raises, run
np.seterr(all="ignore")

DEVICES = ("CPU", "REF")
INTS = [dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64]
NUMPY = {d: getattr(np, n) for d, n in zip(INTS, "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split())} | {
  dtypes.bool: np.bool_, dtypes.float16: np.float16, dtypes.float32: np.float32, dtypes.float64: np.float64}
def same(got, want):
  got, want = got.numpy() if hasattr(got, "numpy") else np.asarray(got), np.asarray(want)
  assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype)
  assert np.array_equal(got, want, equal_nan=got.dtype.kind == "f"), f"{got} is not {want}"

# One row per type, one column per type in the same order: the least upper type; then the least upper float and the type of sums; then
# a flag for each type to which a cast loses nothing. The flags have the order of the first row.
LATTICE = """
bool char uchar short ushort int uint long ulong fp8e4m3 fp8e5m2 half bfloat16 float double | float int | 111111111111111
char char short short int int long long fp8e4m3 fp8e4m3 fp8e5m2 half bfloat16 float double | float int | 010101010001011
uchar short uchar short ushort int uint long ulong fp8e4m3 fp8e5m2 half bfloat16 float double | float uint | 001111111001011
short short short short int int long long fp8e4m3 fp8e4m3 fp8e5m2 half bfloat16 float double | float int | 000101010000011
ushort int ushort int ushort int uint long ulong fp8e4m3 fp8e5m2 half bfloat16 float double | float uint | 000011111000011
int int int int int int long long fp8e4m3 fp8e4m3 fp8e5m2 half bfloat16 float double | float int | 000001010000001
uint long uint long uint long uint long ulong fp8e4m3 fp8e5m2 half bfloat16 float double | float uint | 000000111000001
long long long long long long long long fp8e4m3 fp8e4m3 fp8e5m2 half bfloat16 float double | float long | 000000010000000
ulong fp8e4m3 ulong fp8e4m3 ulong fp8e4m3 ulong fp8e4m3 ulong fp8e4m3 fp8e5m2 half bfloat16 float double | float ulong | 000000001000000
fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 fp8e4m3 half half bfloat16 float double | fp8e4m3 float | 000000000101011
fp8e5m2 fp8e5m2 fp8e5m2 fp8e5m2 fp8e5m2 fp8e5m2 fp8e5m2 fp8e5m2 fp8e5m2 half fp8e5m2 half bfloat16 float double | fp8e5m2 float | 000000000011011
half half half half half half half half half half half half float float double | half float | 000000000001011
bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 bfloat16 float bfloat16 float double | bfloat16 float | 000000000000111
float float float float float float float float float float float float float float double | float float | 000000000000011
double double double double double double double double double double double double double double double | double double | 000000000000001
"""

def test_promotion():
  rows = [[part.split() for part in line.split("|")] for line in LATTICE.strip().splitlines()]
  types = [getattr(dtypes, n) for n in rows[0][0]]
  for a, (upper, (as_float, as_sum), (lossless,)) in zip(types, rows, strict=True):
    assert [str(least_upper_dtype(a, b))[7:] for b in types] == upper, a
    assert str(least_upper_float(a))[7:] == as_float and str(sum_acc_dtype(a))[7:] == as_sum, a
    assert "".join("01"[can_lossless_cast(a, b)] for b in types) == lossless, a
    for b in types: assert (Tensor([1], dtype=a) + Tensor([1], dtype=b)).dtype == least_upper_dtype(a, b)
  assert (Tensor([1], dtype=dtypes.int8) + 1).dtype == dtypes.int8 and (Tensor([1]) + 1.5).dtype == dtypes.float32 and (Tensor([True]) + 1).dtype == dtypes.int32

def test_casts_between_all_types():
  values = np.array([0, 1, 2, 3, 100, 127])
  for d in DEVICES:
    for a, b in itertools.product(NUMPY, NUMPY):
      x = values.astype(NUMPY[a])
      same(Tensor(x, device=d).cast(b), x.astype(NUMPY[b]))

def test_three_types_in_a_row():
  # A number that wraps on its way: from -1 of 8 bits to 4294967295 of 32, which float64 holds and float32 rounds.
  edges = np.array([-(1 << 63), -(1 << 31), -32768, -128, -3, -1, 0, 1, 3, 127, 32767, (1 << 31) - 1, (1 << 63) - 1])
  for d in DEVICES:
    for a, b, c in itertools.product(INTS, INTS, NUMPY):
      x = np.tile(edges.astype(NUMPY[a]), 1 if d == "REF" else 5)
      got, want = Tensor(x, device=d).realize().cast(b).cast(c), x.astype(NUMPY[b]).astype(NUMPY[c])
      same(got, want)

def test_integers_wrap():
  for d in DEVICES:
    for a, b in itertools.product(INTS, INTS):
      info = np.iinfo(NUMPY[a])
      x = np.array([info.min, info.max, info.max // 2, info.min // 3, 1], dtype=NUMPY[a])
      same(Tensor(x, device=d).cast(b), x.astype(NUMPY[b]))
    for a in INTS:
      info = np.iinfo(NUMPY[a])
      x = np.array([info.min, info.max, 7, 200 if info.max > 200 else 100], dtype=NUMPY[a])
      y = np.array([1, 1, info.max, info.max // 2], dtype=NUMPY[a])
      t, u = Tensor(x, device=d), Tensor(y, device=d)
      same(t + u, x + y)
      same(t - u, x - y)
      same(t * u, x * y)
      same(-t, -x)
      same(t ^ u, x ^ y)
      same(~t, ~x)

def test_integer_division_and_remainder():
  for d in DEVICES:
    for a in INTS:
      x = np.array([7, 8, 100, 0, 1] + ([] if a.is_unsigned else [-7, -8, -100, -1]), dtype=NUMPY[a])
      for v in (1, 2, 3, 7) + (() if a.is_unsigned else (-1, -3)):
        t = Tensor(x, device=d)
        same(t // v, (x // NUMPY[a](v)).astype(NUMPY[a]))
        same(t % v, (x % NUMPY[a](v)).astype(NUMPY[a]))
        same(t.idiv(v), np.trunc(x.astype(np.float64) / v).astype(NUMPY[a]))

def test_special_floats():
  x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.5], dtype=np.float32)
  for d in DEVICES:
    for b in (dtypes.float16, dtypes.float64): same(Tensor(x, device=d).cast(b), x.astype(NUMPY[b]))
    same(Tensor(x, device=d).cast(dtypes.bool), x.astype(bool))
    t = Tensor(x, device=d)
    same(t.isnan(), np.isnan(x))
    same(t.isinf(), np.isinf(x))
    same(t.isfinite(), np.isfinite(x))
    same(t + 1, x + 1)
    same(t < 1, x < 1)
    same(t == t, x == x)
    same(t != t, x != x)
    same(t.trunc(), np.trunc(x))
    same(Tensor(np.array([1e6, -1e6, 65504, 65519, 65520, 1e-8, 6e-8], dtype=np.float32), device=d).half(),
         np.array([1e6, -1e6, 65504, 65519, 65520, 1e-8, 6e-8], dtype=np.float32).astype(np.float16))
    same(Tensor(np.array([1e300, -1e300, 1e-300, 3.5e38], dtype=np.float64), device=d).float(), np.array([1e300, -1e300, 1e-300, 3.5e38]).astype(np.float32))

def test_floats_to_integers_drop_the_fraction():
  x = np.array([-2.9, -2.1, -0.5, 0.0, 0.5, 2.1, 2.9, 100.7], dtype=np.float32)
  for d in DEVICES:
    for b in INTS:
      y = x[x >= 0] if b.is_unsigned else x
      same(Tensor(y, device=d).cast(b), y.astype(NUMPY[b]))

def test_bitcasts():
  for d in DEVICES:
    x = np.array([1.0, -2.5, np.inf, np.nan, 0.0, 1e-40], dtype=np.float32)
    for b in (dtypes.int32, dtypes.uint32): same(Tensor(x, device=d).bitcast(b), x.view(NUMPY[b]))
    same(Tensor(x.view(np.uint32), device=d).bitcast(dtypes.float32), x)
    same(Tensor(x, device=d).bitcast(dtypes.uint8), x.view(np.uint8))
    same(Tensor(x, device=d).bitcast(dtypes.uint16), x.view(np.uint16))
    same(Tensor(x.view(np.uint8), device=d).bitcast(dtypes.float32), x)
    h = np.array([1.0, -2.5, np.inf, 6e-8], dtype=np.float16)
    same(Tensor(h, device=d).bitcast(dtypes.int16), h.view(np.int16))
    f = np.array([1.0, -1e300], dtype=np.float64)
    same(Tensor(f, device=d).bitcast(dtypes.int64), f.view(np.int64))
  raises(Exception, lambda: Tensor([1, 2, 3], dtype=dtypes.uint8).bitcast(dtypes.float32).realize(), "itcast")

def bfloat16(x):
  bits = np.asarray(x, dtype=np.float32).view(np.uint32)
  rounded = np.where(np.isnan(x), (bits >> 16) | 64, (bits + 0x7fff + ((bits >> 16) & 1)) >> 16).astype(np.uint32)
  return (rounded << 16).view(np.float32)

def test_bfloat16_rounds_to_even():
  x = np.concatenate([np.random.default_rng(0).standard_normal(500).astype(np.float32) * 100, np.array([0, -0.0, np.inf, -np.inf, np.nan, 3.4e38, 1e-40, 1.00390625, 1.01171875], dtype=np.float32)])
  for d in DEVICES:
    t = Tensor(x, device=d).cast(dtypes.bfloat16)
    same(t.float(), bfloat16(x))
    same(t.numpy(), bfloat16(x))
    same((t + t).float()[:500], bfloat16(bfloat16(x[:500]) * 2))

def test_rows_of_bfloat16_by_a_number_each():
  """Such a row is multiplied by a reciprocal in float32. Every divisor there is, with 1,040 dividends in all, 32 each: the quotient is rounded once."""
  bits = np.arange(65536, dtype=np.uint16)
  special = np.array([0, 0x8000, 1, 0x7f, 0x80, 0x81, 0x3f80, 0xbf81, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x0100, 0x8001, 0x4049], np.uint16)
  wide = lambda b: (b.astype(np.uint32) << 16).view(np.float32)
  for start in range(0, 65536, 1024):
    divisors, dividends = bits[start:start + 1024], np.concatenate([special, np.random.default_rng(start).integers(0, 65536, 16).astype(np.uint16)])
    x, y = Tensor(np.tile(dividends, (1024, 1))).bitcast(dtypes.bfloat16), Tensor(divisors.reshape(-1, 1)).bitcast(dtypes.bfloat16)
    same((x / y).float(), bfloat16(wide(dividends)[None] / wide(divisors)[:, None]))

def test_half_arithmetic():
  rng = np.random.default_rng(1)
  x, y = rng.standard_normal(300).astype(np.float16), rng.uniform(0.5, 2, 300).astype(np.float16)
  for d in DEVICES:
    t, u = Tensor(x, device=d), Tensor(y, device=d)
    for f in (lambda a, b: a + b, lambda a, b: a - b, lambda a, b: a * b): same(f(t, u), f(x, y))
    close(t / u, x / y, rtol=2e-3)
    close(t.exp(), np.exp(x.astype(np.float32)), rtol=5e-3, atol=1e-3)
    close(t.sum(), x.astype(np.float32).sum(), rtol=1e-2, atol=0.1)

def fp8_values(kind):
  """Every finite value of a type and its code, from the definition."""
  exponent, mantissa, bias = (4, 3, 7) if kind == dtypes.fp8e4m3 else (5, 2, 15)
  out = {}
  for code in range(256):
    sign, e, m = -1 if code >> 7 else 1, (code >> mantissa) & ((1 << exponent) - 1), code & ((1 << mantissa) - 1)
    if kind == dtypes.fp8e4m3 and code & 0x7f == 0x7f: v = math.nan
    elif kind == dtypes.fp8e5m2 and e == 31: v = math.nan if m else sign * math.inf
    else: v = sign * (m / (1 << mantissa) * 2.0 ** (1 - bias) if e == 0 else (1 + m / (1 << mantissa)) * 2.0 ** (e - bias))
    out[code] = v
  return out

def test_fp8_codes():
  for kind in (dtypes.fp8e4m3, dtypes.fp8e5m2):
    table = fp8_values(kind)
    for d in DEVICES:
      codes = Tensor(np.arange(256, dtype=np.uint8), device=d)
      same(codes.bitcast(kind).float(), np.array([table[c] for c in range(256)], dtype=np.float32))
      finite = {c: v for c, v in table.items() if math.isfinite(v)}
      x = np.array(list(finite.values()), dtype=np.float32)
      same(Tensor(x, device=d).cast(kind).bitcast(dtypes.uint8), np.array(list(finite), dtype=np.uint8))
      rng = np.random.default_rng(2)
      y = rng.uniform(-300, 300, 200).astype(np.float32)
      nearest = np.array([min(finite.values(), key=lambda v: (abs(v - a), int(round(abs(v) * 2 ** 20)) & 1)) for a in y.tolist()], dtype=np.float32)
      got = Tensor(y, device=d).cast(kind).float().numpy()
      assert np.all(np.abs(got - y) <= np.abs(nearest - y) * (1 + 1e-6)), kind

def test_default_types():
  assert Tensor([1]).dtype == dtypes.int32 and Tensor([1.0]).dtype == dtypes.float32 and Tensor([True]).dtype == dtypes.bool
  before = dtypes.default_float
  try:
    dtypes.default_float = dtypes.float16
    assert Tensor([1.0]).dtype == dtypes.float16 and Tensor.ones(2).dtype == dtypes.float16 and (Tensor([1]) / 2).dtype == dtypes.float16
  finally: dtypes.default_float = before
  raises(AttributeError, lambda: Tensor([1], dtype="nosuch"))
  assert Tensor([1.7], dtype="int32").tolist() == [1] and Tensor([1, 0], dtype=dtypes.bool).tolist() == [True, False]

def test_large_integers_stay_exact():
  big = [2 ** 63 - 1, -2 ** 63, 2 ** 53 + 1]
  assert Tensor(big, dtype=dtypes.int64).tolist() == big
  assert Tensor([2 ** 64 - 1, 2 ** 63 + 1], dtype=dtypes.uint64).tolist() == [2 ** 64 - 1, 2 ** 63 + 1]
  for d in DEVICES: same(Tensor(np.array([2 ** 64 - 1, 5], dtype=np.uint64), device=d) // 2, np.array([2 ** 63 - 1, 2], dtype=np.uint64))
  assert Tensor([2 ** 40], dtype=dtypes.int64).sum().item() == 2 ** 40

def test_priorities_and_constants_are_the_references():
  order = (dtypes.bool, dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int, dtypes.uint, dtypes.long, dtypes.ulong, dtypes.fp8e4m3, dtypes.fp8e5m2,
           dtypes.half, dtypes.bfloat16, dtypes.float, dtypes.double)
  assert [d.priority for d in order] == list(range(15)) and dtypes.void.priority == dtypes.index.priority == -1
  assert dtypes.as_const(300, dtypes.uint8) == 300 and dtypes.as_const(1.7, dtypes.int) == 1 and dtypes.as_const((1, 0), dtypes.bool) == (True, False)
  assert "void" not in dtypes.fields() and len(dtypes.fields()) == 26

def test_words_of_floats_scattered():
  """LLVM 19 selects no instructions of AVX-512 for a kernel of this program, and ended the process; it is compiled for AVX2 then."""
  def results(device):
    x = Tensor(np.array([1.5, -2.25, 3.75, 0.5], dtype=np.float32), device=device).realize()
    index = Tensor([3, 1, 0, 1], device=device).realize()
    differences = x.bitcast(dtypes.long).bitcast(dtypes.uint).cast(dtypes.float) - x
    logs = (1 + differences.abs()).log()
    return [logs.scatter_reduce(0, index, source, "sum").maximum(differences).numpy() for source in (logs, differences, x)]
  for here, there in zip(results("CPU"), results("REF")): np.testing.assert_allclose(here, there, rtol=1e-6)

if __name__ == "__main__": run(globals())
