# Patterns of Jacobians: which elements can be other than zero, and derivatives along as few seeds as their colours.
#
#   p = sparse_pattern(out, key, by_columns=True)    # of the value `out` over the placeholder `key`; None where it does not pay
#   v = values_of(out, [key], 0, x, p)               # the elements of the pattern, row by row, over the placeholder
#   dense_of(v, p)                                   # the matrix
#
# Invariant: an entry outside of a pattern is zero for every argument; columns (or rows) of one colour share no row (column).
import _uopscope
from _uopscope import Tensor
from uopscope.tracing import form_of, new_placeholder, or_zeros, tensor_of

FEW = 16 # a Jacobian of fewer seeds is derived as it is

class Pattern:
  """Which elements of a Jacobian may be other than zero, and a colouring: rows of `indptr` and `indices` as in CSR."""
  def __init__(self, found):
    self.shape, self.by_columns, self.colors = found["shape"], found["by_columns"], found["colors"]
    self._indptr, self._indices, self._color, self.from_values = found["indptr"], found["indices"], found["color"], found["from_values"]
  nnz = property(lambda self: len(self._indices) // 4)
  def indptr(self): return memoryview(self._indptr).cast("i").tolist()
  def cols(self): return memoryview(self._indices).cast("i").tolist()
  def color(self): return memoryview(self._color).cast("i").tolist()
  def rows(self):
    ptr = self.indptr()
    return [r for r in range(self.shape[0]) for _ in range(ptr[r + 1] - ptr[r])]

def ints(values, device):
  large = max(values, default=0) > 0x7fffffff
  return Tensor(values, dtype="int64" if large else "int32", device=device).reshape(len(values))

def unit_vectors(t): return Tensor.eye(t.numel(), dtype=t.dtype, device=t.device).reshape(t.numel(), *t.shape)

def sparse_pattern(out, key, by_columns):
  """The pattern, where seeds of its colours are a quarter of all or fewer."""
  count = key.shape[0] if by_columns else out.numel()
  if count < FEW or not out.is_floating_point(): return None
  found = _uopscope.sparse_pattern(out.uop, key, by_columns)
  return Pattern(found) if found is not None and 4 * found["colors"] <= count else None

def values_of(out, keys, i, x, p):
  """The elements of the pattern of d out / d x, x standing for keys[i]: derivatives along seeds, one for each colour, gathered."""
  if p.nnz == 0: return Tensor.zeros(0, dtype=out.dtype, device=out.device)
  seeded = x if p.by_columns else out
  complete = p.nnz == p.shape[0] * p.shape[1]
  color = [] if complete else p.color()
  seeds = unit_vectors(seeded).reshape(p.colors, -1) if complete else ints(color, x.device).reshape(1, len(color)).eq(Tensor.arange(p.colors, device=x.device).reshape(p.colors, 1)).cast(seeded.dtype)
  key, slot = new_placeholder(*form_of(seeded))
  if p.by_columns: line = or_zeros(_uopscope.tangents_of([out.uop], [keys[i]], [slot.uop])[0], out)
  else: line = or_zeros(_uopscope.cotangents_of([out.uop], [slot.uop], [keys[i]])[0], x)
  compressed = tensor_of(_uopscope.batch_values([line.uop], [key], [seeds.uop], p.colors)[0]).reshape(p.colors, -1)
  if complete: return (compressed.permute(1, 0) if p.by_columns else compressed).reshape(-1)
  rows, cols = p.rows(), p.cols()
  at = [color[c] * p.shape[0] + r if p.by_columns else color[r] * p.shape[1] + c for r, c in zip(rows, cols)]
  return compressed.reshape(-1)[ints(at, x.device)]

def dense_of(values, p):
  n, m = p.shape
  zeros = Tensor.zeros(n * m, dtype=values.dtype, device=values.device)
  if p.nnz == 0: return zeros.reshape(n, m)
  if p.nnz == n * m: return values.reshape(n, m)
  at = ints([r * m + c for r, c in zip(p.rows(), p.cols())], values.device)
  # stored as it is: a scatter is one store for each value where nothing else goes through its places
  return zeros.scatter_reduce(0, at, values, "sum").contiguous().reshape(n, m)
