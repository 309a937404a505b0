# Loops as work items: indices in a grid of at most three dimensions of limited length, for any number of loops.
#
#   get_grouped_dims("gidx", (4, 100, 3), (16, 16, 16))      # three expressions of gidx0, gidx1 and gidx2
import math
from tinygrad.dtype import dtypes
from tinygrad.helpers import all_int, get_contraction, prod
from tinygrad.uop.ops import Ops, UOp, sint_to_uop
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

def _joined(dims, most):
  """Multiplies neighbouring dimensions, first ones first, until the grid holds them; None if it cannot."""
  dims = list(dims)
  while len(dims) > len(most) or any(d > m for d, m in zip(dims, most)):
    at = next((i for i, m in enumerate(most) if i + 1 < len(dims) and dims[i] * dims[i + 1] <= m), None)
    if at is None: return None
    dims[at:at + 2] = [dims[at] * dims[at + 1]]
  return dims

def _spread(dims, most):
  """Moves factors, smallest first, from a dimension that is too long to the next dimension (cyclically)."""
  sizes = [*dims] + [1] * (3 - len(dims))
  for i, limit in enumerate(most):
    while sizes[i] > limit:
      factor = next((d for d in range(2, math.isqrt(sizes[i]) + 2) if sizes[i] % d == 0), None)
      if factor is None or factor == sizes[i] and limit < factor: raise RuntimeError(f"cannot limit dim dims={dims}, max_sizes={most}")
      sizes[i] //= factor
      sizes[(i + 1) % 3] *= factor
  while len(sizes) > 1 and sizes[-1] == 1 and len(sizes) > 1 and (len(sizes) > 2 or len(dims) == 1): sizes.pop()
  return sizes

def get_grouped_dims(prefix, dims, max_sizes, reverse=False):
  """The index of each loop as an expression of the work item's indices; the first dimension varies fastest with `reverse`."""
  dims = tuple(dims)
  if reverse:
    numbers = get_grouped_dims(prefix, tuple(reversed(dims)), max_sizes)
    return list(reversed(numbers))
  sizes = list(dims)
  if max_sizes is not None and all_int(dims):
    sizes = _joined(dims, max_sizes) or sizes
    if len(sizes) > len(max_sizes): raise RuntimeError(f"cannot limit dim dims={dims}, max_sizes={max_sizes}")
    if sizes == list(dims) and any(d > m for d, m in zip(dims, max_sizes)): sizes = _spread(dims, max_sizes)
  elif max_sizes is not None and len(dims) > len(max_sizes): raise RuntimeError(f"cannot limit dim dims={dims}, max_sizes={max_sizes}")
  numbers = [UOp(Ops.SPECIAL, dtypes.index, (sint_to_uop(s),), f"{prefix}{i}") for i, s in enumerate(sizes)]
  if sizes == list(dims): return numbers
  if len(sizes) < len(dims):
    out = []
    for number, group in zip(numbers, get_contraction(dims, tuple(sizes))):
      for axis in group[:-1]:
        out.append(number % dims[axis])
        number = number // dims[axis]
      out.append(number)
    return out
  flat = numbers[0]
  for number, size in zip(numbers[1:], sizes[1:]): flat = flat * size + number
  if len(dims) == 1: return [flat]
  if len(sizes) > len(dims): return [numbers[0] * sizes[1] + numbers[1], numbers[2]]
  out = []
  for axis in range(len(dims)):
    inner = prod(dims[axis + 1:])
    part = flat // inner if inner != 1 else flat
    out.append(part % dims[axis] if axis else part)
  return out
