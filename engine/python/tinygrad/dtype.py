# Data types by name.
import functools, math, struct
from _uopscope import (DType, AddrSpace, Invalid, InvalidType, all_dtypes as _all, to_dtype, to_dtype as _to_dtype, least_upper_dtype, least_upper_float, sum_acc_dtype,
                       default_float as _get_float, default_int as _get_int, set_default_float as _set_float, set_default_int as _set_int, as_const as _as_const, image_dtype as _image_dtype)
from uopscope.absent import lacking
__getattr__ = lacking(__name__)
ConstType = float | int | bool
PyConst = ConstType
DTypeLike = str | DType

class _PtrMeta(type):
  def __instancecheck__(cls, d): return isinstance(d, DType) and d.is_ptr
class PtrDType(metaclass=_PtrMeta): pass
class _ImageMeta(type):
  def __instancecheck__(cls, d): return isinstance(d, DType) and d.is_image
class ImageDType(metaclass=_ImageMeta):
  """The type of an image: rows of pixels with four channels. No device here has image memory, so a tensor of this type is an
  ordinary float32 tensor; in the graph of a kernel an image is read by a column and a row."""

class _DTypes(type):
  @property
  def default_float(cls): return _get_float()
  @default_float.setter
  def default_float(cls, d): _set_float(d)
  @property
  def default_int(cls): return _get_int()
  @default_int.setter
  def default_int(cls, d): _set_int(d)

_int, _float, _bool = int, float, bool
class dtypes(metaclass=_DTypes):
  (void, index, bool, int8, uint8, int16, uint16, int32, uint32, int64, uint64, fp8e4m3, fp8e5m2, float16, bfloat16, float32, float64) = _all
  half, float, double = float16, float32, float64
  uchar, ushort, uint, ulong = uint8, uint16, uint32, uint64
  char, short, int, long = int8, int16, int32, int64
  fp8s = (fp8e4m3, fp8e5m2)
  floats = fp8s + (float16, bfloat16, float32, float64)
  uints = (uint8, uint16, uint32, uint64)
  sints = (int8, int16, int32, int64)
  ints = uints + sints
  all = floats + ints + (bool, index)
  @staticmethod
  def imageh(shape): return _image_dtype(shape, True)
  @staticmethod
  def imagef(shape): return _image_dtype(shape, False)
  @staticmethod
  def is_float(x): return x.is_float
  @staticmethod
  def is_int(x): return x.is_int
  @staticmethod
  def is_unsigned(x): return x.is_unsigned
  @staticmethod
  def is_bool(x): return x.scalar() == dtypes.bool
  @staticmethod
  def from_py(x):
    if isinstance(x, __builtins__["bool"] if isinstance(__builtins__, dict) else __builtins__.bool): return dtypes.bool
    if x.__class__.__name__ == "float": return _get_float()
    if x.__class__.__name__ == "int": return _get_int()
    if isinstance(x, (list, tuple)): return max((dtypes.from_py(i) for i in x), key=lambda d: d.priority) if x else _get_float()
    raise RuntimeError(f"Could not infer dtype of {x} with type {type(x)}")
  @staticmethod
  def as_const(x, dtype):
    """The value as a Python number of the type's kind, without wrapping it to the type's range."""
    if isinstance(x, tuple): return tuple(dtypes.as_const(v, dtype) for v in x)
    if x is Invalid: return x
    return _float(x) if dtype.is_float else _bool(x) if dtype == dtypes.bool else _int(x)
  @staticmethod
  def min(d): return d.min
  @staticmethod
  def max(d): return d.max
  @staticmethod
  def finfo(d): return {"float16": (5, 10), "half": (5, 10)}.get(str(d)[7:]) or {2: (8, 7), 4: (8, 23), 8: (11, 52)}.get(d.itemsize) or ((4, 3) if d == dtypes.fp8e4m3 else (5, 2))
  @staticmethod
  def fields(): return {k: v for k, v in vars(dtypes).items() if isinstance(v, DType) and k not in ("void", "index")}

DTYPES_DICT = {name: d for name, d in vars(dtypes).items() if isinstance(d, DType) and name not in ("void", "index")}
INVERSE_DTYPES_DICT = {**{d.name: name for name, d in DTYPES_DICT.items()}, "void": "void", "index": "index"}
FmtStr = str

# Values as elements of a type: wrapped, or rounded to the nearest value.
truncate = {d: functools.partial(lambda d, x: _as_const(x, d), d) for d in dtypes.floats + dtypes.ints + (dtypes.bool,)}
def float_to_fp16(x): return truncate[dtypes.float16](_float(x))
def float_to_bf16(x): return truncate[dtypes.bfloat16](_float(x))
truncate_fp16, truncate_bf16 = float_to_fp16, float_to_bf16

@functools.cache
def _fp8_values(d):
  """The 256 values of an eight-bit type. e4m3 has no infinity: its two largest codes are NaN."""
  exponent_bits, fraction_bits = (4, 3) if d == dtypes.fp8e4m3 else (5, 2)
  def value(code):
    sign, exponent, fraction = -1 if code & 0x80 else 1, code >> fraction_bits & (1 << exponent_bits) - 1, code & (1 << fraction_bits) - 1
    if d == dtypes.fp8e4m3 and code & 0x7f == 0x7f: return math.nan
    if d == dtypes.fp8e5m2 and exponent == 31: return math.nan if fraction else sign * math.inf
    bias = (1 << exponent_bits - 1) - 1
    return sign * math.ldexp(fraction + ((1 << fraction_bits) if exponent else 0), max(exponent, 1) - bias - fraction_bits)
  return tuple(map(value, range(256)))
def fp8_to_float(x, dtype):
  """The value of a byte as fp8e4m3 or fp8e5m2."""
  assert dtype in dtypes.fp8s, f"{dtype} is no type of eight bits"
  return _fp8_values(dtype)[x]
def float_to_fp8(x, dtype):
  """The byte with the nearest value (the even one of two); a value that is too large gives the largest byte."""
  assert dtype in dtypes.fp8s, f"{dtype} is no type of eight bits"
  negative = math.copysign(1, x) < 0
  value = abs(_as_const(_float(x), dtype))
  if math.isnan(value): code = 0x7f if dtype == dtypes.fp8e4m3 else 0x7e
  elif math.isinf(value): code = 0x7c
  else: code = _fp8_values(dtype)[:0x80].index(value)
  return code | 0x80 if negative else code

# Types of NumPy and PyTorch.
def _to_np_dtype(dtype):
  """NumPy's type for the values; float32 for types that NumPy lacks."""
  import numpy as np
  if dtype in dtypes.fp8s + (dtypes.bfloat16,): return np.float32
  return np.dtype(dtype.fmt).type if dtype.fmt is not None else None
def _from_np_dtype(npdtype):
  import numpy as np
  return DTYPES_DICT[np.dtype(npdtype).name]
@functools.cache
def _torch_dtypes():
  import torch
  named = {d: getattr(torch, name, None) for name, d in (("bool", dtypes.bool), *((str(d)[7:], d) for d in DTYPES_DICT.values()))}
  renamed = {"char": "int8", "uchar": "uint8", "short": "int16", "ushort": "uint16", "int": "int32", "uint": "uint32", "long": "int64", "ulong": "uint64", "half": "float16", "float": "float32", "double": "float64"}
  return {d: t or getattr(torch, renamed.get(str(d)[7:], ""), None) for d, t in named.items()} | {d: torch.uint8 for d in dtypes.fp8s}
def _to_torch_dtype(dtype): return _torch_dtypes().get(dtype)
def _from_torch_dtype(torchdtype):
  found = [d for d, t in _torch_dtypes().items() if t == torchdtype and d not in dtypes.fp8s]
  if not found: raise KeyError(f"no dtype for {torchdtype}")
  return found[0]

# Values in the memory of a kernel: types that the struct module lacks are stored as their bits.
def storage_fmt_for_dtype(dtype): return "H" if dtype == dtypes.bfloat16 else "B" if dtype in dtypes.fp8s else dtype.fmt
def to_storage_scalar(x, dtype):
  if dtype == dtypes.half: return float_to_fp16(x)
  if dtype == dtypes.bfloat16: return struct.unpack("I", struct.pack("f", float_to_bf16(x)))[0] >> 16
  return float_to_fp8(_float(x), dtype) if dtype in dtypes.fp8s else x
def from_storage_scalar(x, dtype):
  if dtype == dtypes.bfloat16: return struct.unpack("f", struct.pack("I", (x & 0xffff) << 16))[0]
  return fp8_to_float(_int(x), dtype) if dtype in dtypes.fp8s else x

def can_lossless_cast(a, b):
  """Whether the reference converts the first type to the second without a loss."""
  if a == b or a == dtypes.bool: return True
  if a.is_int and b.is_int: return b.min <= a.min and a.max <= b.max
  if b == dtypes.bool or b.is_int or b in dtypes.fp8s + (dtypes.bfloat16,): return False
  if a.is_int: return a.itemsize * 8 - (not a.is_unsigned) <= 1 + dtypes.finfo(b)[1]
  return all(x <= y for x, y in zip(dtypes.finfo(a), dtypes.finfo(b)))

from uopscope.docstrings import document
document(dtypes, "dtypes")
