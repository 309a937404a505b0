# Functions of floats by arithmetic, in place of EXP2, LOG2, SIN and POW on a device without them, as graphs for scripts to
# read and run. The engine lowers kernels by its own rules (codegen/transcendental.cpp).
#
#   r, q = cody_waite_reduction(x)      # x = q * pi + r
#   y = xexp2(x)                        # 2**x, from additions, products and bits
#
# Every function takes scalars and vectors: all its nodes have as many lanes as its argument.
import math
from tinygrad.dtype import dtypes
from tinygrad.helpers import polyN
from tinygrad.uop.ops import Ops, UOp
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

TRANSCENDENTAL_DTYPES = (dtypes.float16, dtypes.float32, dtypes.float64)

# Number of fraction bits, and bias of the exponent.
_FRACTION = {dtypes.float16: 10, dtypes.float32: 23, dtypes.float64: 52}
_BIAS = {dtypes.float16: 15, dtypes.float32: 127, dtypes.float64: 1023}
_SIGNED = {dtypes.float16: dtypes.int16, dtypes.float32: dtypes.int32, dtypes.float64: dtypes.int64}
_UNSIGNED = {dtypes.float16: dtypes.uint16, dtypes.float32: dtypes.uint32, dtypes.float64: dtypes.uint64}
def _lanes(u, dtype): return dtype.vec(u.dtype.vcount)
def _to(u, dtype): return u.cast(_lanes(u, dtype))
def _as(u, dtype): return u.bitcast(_lanes(u, dtype))
def _shl(u, bits): return u * (1 << bits)
def _shr(u, bits): return u // (1 << bits)

def rintk(d):
  """The nearest integer (halves away from zero), as an integer type of the same width."""
  return _to(d + (d < 0.0).where(d.const_like(-0.5), d.const_like(0.5)), _SIGNED[d.dtype.scalar()])

def pow2if(q, float_dtype):
  """2**q for an integer q, built from the bits of its exponent."""
  scalar = float_dtype.scalar()
  return _as(_shl(_to(q, _SIGNED[scalar]) + _BIAS[scalar], _FRACTION[scalar]), scalar)

def ldexp2k(d, e):
  """d * 2**e in two steps, so that neither factor overflows."""
  half = _shr(e, 1)
  return d * pow2if(half, d.dtype) * pow2if(e - half, d.dtype)

def frexp(v):
  """(m, e) with |v| = m * 2**e and 0.5 <= m < 1, for a v that is normal and not zero."""
  scalar = v.dtype.scalar()
  fraction, bias = _FRACTION[scalar], _BIAS[scalar]
  bits = _as(v, _UNSIGNED[scalar])
  mantissa = _as((bits & ((1 << fraction) - 1)) | ((bias - 1) << fraction), scalar)
  exponent = _to(_shr(bits, fraction) & (2 * bias + 1), dtypes.int32) - (bias - 1)
  return mantissa, exponent

def _inverse_of_two_pi(bits):
  """floor(2**bits / (2 * pi)), by Machin's formula on integers."""
  one = 1 << bits + 64
  def arctangent_of_inverse(n):
    total, term, k = 0, one // n, 0
    while term:
      total += -(term // (2 * k + 1)) if k % 2 else term // (2 * k + 1)
      term, k = term // (n * n), k + 1
    return total
  pi = 4 * (4 * arctangent_of_inverse(5) - arctangent_of_inverse(239))
  return (one << bits) // (2 * pi)
# A zero word, then 1 / (2 pi) in words of 32 bits. They suffice for every exponent of a double.
_WORDS = [0] + [_inverse_of_two_pi(1248) >> 1248 - 32 * k & 0xffffffff for k in range(1, 40)]

def payne_hanek_reduction(d):
  """(r, q) with d = q * pi/2 + r up to full turns, for any d > 0; q is 1 to 4, and -pi/2 <= r <= 0. Only the part of d times
  1/(2 pi) after the point is needed, so 96 bits of that constant are used, those at the exponent of d."""
  scalar = d.dtype.scalar()
  wide = d if scalar == dtypes.float64 else _to(d, dtypes.float32) if scalar == dtypes.float16 else d
  mantissa, exponent = frexp(wide)
  whole = _to(mantissa * (1 << 32), dtypes.uint64)
  e = _to(exponent, dtypes.uint64)
  at, shift = _shr(e, 5), _to(e & 31, dtypes.uint32)
  def word(offset):
    """The word of the constant at `at + offset`."""
    u, last = at.const_like(0), len(_WORDS) - 1
    for k in range(32 if scalar == dtypes.float64 else 5): u = at.ne(k).where(u, u.const_like(_WORDS[min(k + offset, last)]))
    return u
  words = [word(k) for k in range(4)]
  power = _to(pow2if(_to(shift, dtypes.int32), dtypes.float32), dtypes.uint64)
  def window(a, b): return ((a * power) & 0xffffffff) | _shr(b * power, 32)  # 32 bits from `shift` on
  high, middle, low = (window(words[k], words[k + 1]) for k in range(3))
  turn = _shl(whole * high, 32) + whole * middle + _shr(whole * low, 32)     # 64 bits after the point
  quadrant, rest = _to(_shr(turn, 62), dtypes.int32), turn & ((1 << 62) - 1)
  r = _to(_to(rest, wide.dtype.scalar()) * (math.pi / 2 / (1 << 62)) - math.pi / 2, scalar)
  return r, quadrant + 1

def cody_waite_reduction(d):
  """(r, q) with d = q * pi + r and the nearest integer q. pi is subtracted in parts whose products are exact."""
  scalar = d.dtype.scalar()
  q = rintk(d * (1 / math.pi))
  f = _to(q, scalar)
  if scalar == dtypes.float16: return _to(_to(d, dtypes.float32) - _to(f, dtypes.float32) * math.pi, scalar), _to(q, dtypes.int32)
  bits, r, rest = (29, d, math.pi) if scalar == dtypes.float64 else (11, d, math.pi)
  for _ in range(3):
    step = math.ldexp(1.0, math.frexp(rest)[1] - bits)
    part = math.floor(rest / step) * step
    r, rest = r - f * part, rest - part
  beyond = 1.2246467991473532e-16  # the part of pi beyond a double
  return r - f * (rest + beyond), _to(q, dtypes.int32)

def trig_poly(d, coeff32, coeff64):
  """An odd polynomial: d times a polynomial of d squared."""
  return d * polyN(d * d, coeff64 if d.dtype.scalar() == dtypes.float64 else coeff32)

def xexp2(d):
  """2**d: the integer part as bits, the rest by the series of the exponential."""
  scalar = d.dtype.scalar()
  x = d.ne(d).where(d.const_like(0.0), d)
  x = x.ne(math.inf).where(x.ne(-math.inf).where(x, x.const_like(0.0)), x.const_like(0.0))
  q = rintk(x)
  s = (x - _to(q, scalar)) * math.log(2)
  terms = 13 if scalar == dtypes.float64 else 8
  y = ldexp2k(polyN(s, [1 / math.factorial(k) for k in range(terms, -1, -1)]), _to(q, dtypes.int32))
  top, bottom = {dtypes.float16: (16, -25), dtypes.float32: (128, -150), dtypes.float64: (1024, -1075)}[scalar]
  y = (d < top).where(y, y.const_like(math.inf))
  y = (d < bottom).where(y.const_like(0.0), y)
  return d.ne(d).where(d.const_like(math.nan), y)

def xlog2(d):
  """log2(d): the exponent, plus the logarithm of the mantissa by the series of the area tangent."""
  scalar = d.dtype.scalar()
  smallest, up = {dtypes.float16: (6.1e-5, 10), dtypes.float32: (1.2e-38, 64), dtypes.float64: (2.3e-308, 64)}[scalar]
  tiny = d < smallest
  m, e = frexp(tiny.where(d * float(1 << up), d))
  low = m < math.sqrt(0.5)
  m, e = low.where(m * 2.0, m), _to(e, scalar) - low.where(m.const_like(1.0), m.const_like(0.0))
  t = (m - 1.0) * (m + 1.0).reciprocal()
  terms = 11 if scalar == dtypes.float64 else 6
  y = trig_poly(t, *([2 / math.log(2) / (2 * k + 1) for k in range(terms - 1, -1, -1)],) * 2) + e
  y = y - tiny.where(y.const_like(float(up)), y.const_like(0.0))
  y = d.ne(math.inf).where(y, y.const_like(math.inf))
  y = d.ne(0.0).where(y, y.const_like(-math.inf))
  return (d < 0.0).where(y.const_like(math.nan), d.ne(d).where(d.const_like(math.nan), y))

def xpow(base, exponent):
  """base**exponent; a negative base needs an integer exponent."""
  size = (base < 0.0).where(base * -1.0, base)
  y = (size.alu(Ops.LOG2) * exponent).alu(Ops.EXP2)
  whole = _to(rintk(exponent), base.dtype.scalar())
  odd = _to(rintk(exponent), dtypes.int32) & 1
  signed = odd.ne(0).where(y * -1.0, y)
  y = (base < 0.0).where(exponent.ne(whole).where(y.const_like(math.nan), signed), y)
  return exponent.ne(0.0).where(y, y.const_like(1.0))

def fast_idiv(device, x, d, dont_cast=False):
  """x // d for an integer d > 0 as a product and a shift, exact for all x within its bounds; None if 64 bits do not suffice."""
  if d <= 0: return None
  least, most = x.vmin, x.vmax
  reach = max(abs(least), abs(most)) + 1
  for shift in range(d.bit_length() - 1, 64):
    factor = -(-(1 << shift) // d)
    if (factor * d - (1 << shift)) * reach >= 1 << shift: continue
    if factor * reach <= dtypes.max(x.dtype.scalar()): wide = x
    elif not dont_cast and factor * reach < 1 << 63: wide = _to(x, dtypes.int64)
    else: return None
    q = (wide * factor) >> shift
    q = q if least >= 0 else q + (x < 0).where(q.const_like(1), q.const_like(0))
    return q.cast(x.dtype) if wide is not x else q
  return None
