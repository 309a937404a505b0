# Tensor, and what else the reference's module of this name gives.
from _uopscope import Tensor
from tinygrad.device import Buffer, Device
from tinygrad.dtype import DType, DTypeLike, ConstType, PyConst, dtypes, _from_np_dtype, _to_np_dtype, least_upper_dtype, least_upper_float, sum_acc_dtype, to_dtype, truncate
from tinygrad.helpers import (DEBUG, IMAGE, WINO, Context, Metadata, all_int, argfix, argsort, ceildiv, dedup, fetch, flatten, flat_mv, fully_flatten, getenv, is_numpy_ndarray,
                              make_tuple, prod, round_up)
from tinygrad.uop.ops import Ops, UOp, resolve, sint, smax, smin
from tinygrad.engine.schedule import ExecItem
from typing import Literal, cast
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

ReductionStr = Literal["mean", "sum", "none"]

class _Operation:
  """The tensor operation at work, as the metadata of the nodes it makes."""
  def get(self):
    name = _current_operation()
    return Metadata(name, "") if name else None
  def set(self, value):
    if value is None and self.get() is None: return  # outside of an operation there is none
    raise NotImplementedError("tinygrad.tensor._METADATA.set is not in uopscope: nodes are marked by the operation that makes them, in C++")
from _uopscope import current_operation as _current_operation
_METADATA = _Operation()

def get_shape(x):
  """The shape of nested lists; all parts have to be alike."""
  nested = hasattr(x, "__len__") and hasattr(x, "__getitem__") and not isinstance(x, str)
  if not nested or getattr(x, "shape", None) == (): return ()
  shapes = [get_shape(part) for part in x]
  different = next((s for s in shapes if s != shapes[0]), None)
  if different is not None: raise ValueError(f"inhomogeneous shape from {x}")
  return (len(shapes), *(shapes[0] if shapes else ()))

def _broadcast_shape(*shapes):
  """The shape that all shapes can be repeated to."""
  length = max(map(len, shapes), default=0)
  columns = zip(*((1,) * (length - len(s)) + tuple(s) for s in shapes))
  return tuple(0 if any(isinstance(s, int) and s == 0 for s in column) else smax(*column) for column in columns)
def _align_left(*shapes):
  length = max(map(len, shapes), default=0)
  return tuple((1,) * (length - len(s)) + tuple(s) for s in shapes)
