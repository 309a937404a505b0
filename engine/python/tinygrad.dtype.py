# Data types by name.
import math
from _uopscope import (DType, AddrSpace, Invalid, InvalidType, all_dtypes as _all, to_dtype, least_upper_dtype, least_upper_float, sum_acc_dtype,
                       default_float as _get_float, default_int as _get_int, set_default_float as _set_float, set_default_int as _set_int, as_const as _as_const)
ConstType = float | int | bool
PyConst = ConstType
DTypeLike = str | DType

class _PtrMeta(type):
  def __instancecheck__(cls, d): return isinstance(d, DType) and d.is_ptr
class PtrDType(metaclass=_PtrMeta): pass
class ImageDType(metaclass=_PtrMeta):
  pass
ImageDType.__class__ = type("_Never", (_PtrMeta,), {"__instancecheck__": lambda cls, d: False})

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
    """The value as a Python number of the type's kind; it is not wrapped to the type's range."""
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

def truncate_fp16(x): return _as_const(x, dtypes.float16)

def can_lossless_cast(a, b):
  """Whether the reference holds every value of one type to be a value of the other."""
  if a == b or a == dtypes.bool: return True
  if a.is_int and b.is_int: return b.min <= a.min and a.max <= b.max
  if b == dtypes.bool or b.is_int or b in dtypes.fp8s + (dtypes.bfloat16,): return False
  if a.is_int: return a.itemsize * 8 - (not a.is_unsigned) <= 1 + dtypes.finfo(b)[1]
  return all(x <= y for x, y in zip(dtypes.finfo(a), dtypes.finfo(b)))
