# Jacobians and Hessians by their patterns. The elements that may be nonzero are found by reading the graph. Columns (or
# rows) that do not overlap share a colour, and one derivative per colour gives all values.
#
#   s = sparse_jacobian(f)(x)
#   s.values, s.rows, s.cols                      # tensors: one entry for each element of the pattern, row by row
#   s.csr(), s.coo(), s.scipy(), s.dense()
import functools
import _uopscope
from _uopscope import Tensor
from uopscope.transforms import Trace, _applied, _floats, _like, _name, _or_zeros, _partial, _tensor, _Arguments, grad, new_placeholder

_KEPT = 16 # number of patterns that a function keeps, one for each shape

class Pattern:
  """The elements of a Jacobian that may be nonzero, with `indptr` and `indices` as in CSR, and a colouring."""
  def __init__(self, found):
    self.shape, self.by_columns, self.colors = found["shape"], found["by_columns"], found["colors"]
    self._indptr, self._indices, self._color, self.from_values = found["indptr"], found["indices"], found["color"], found["from_values"]
  nnz = property(lambda self: len(self._indices) // 4)
  def indptr(self): return list(memoryview(self._indptr).cast("i"))
  def cols(self): return list(memoryview(self._indices).cast("i"))
  def color(self): return list(memoryview(self._color).cast("i"))
  def rows(self):
    ptr = memoryview(self._indptr).cast("i")
    return [r for r in range(self.shape[0]) for _ in range(ptr[r + 1] - ptr[r])]

def _ints(values, device): return Tensor(values, dtype="int32", device=device).reshape(len(values))

class Sparse:
  """A sparse matrix: `values` of the elements at (`rows`, `cols`), tensors of one length, row by row, columns ascending.

  `shape` is (elements of the result, elements of the argument), both flattened in order. An element of the pattern may be zero."""
  def __init__(self, values, pattern, rows, cols): self.values, self.pattern, self.rows, self.cols, self.shape = values, pattern, rows, cols, pattern.shape
  nnz = property(lambda self: self.pattern.nnz)
  def coo(self):
    """(values, rows, cols)"""
    return self.values, self.rows, self.cols
  def csr(self):
    """(values, cols, indptr): row r is values[indptr[r]:indptr[r + 1]]"""
    return self.values, self.cols, _ints(self.pattern.indptr(), self.values.device)
  def scipy(self):
    """A scipy.sparse.csr_matrix."""
    try: from scipy.sparse import csr_matrix
    except ImportError as e: raise ImportError("Sparse.scipy() needs the package scipy; csr() and coo() answer tensors without it") from e
    return csr_matrix((self.values.numpy(), self.pattern.cols(), self.pattern.indptr()), shape=self.shape)
  def dense(self):
    """The matrix as a tensor."""
    if self.nnz == 0: return Tensor.zeros(*self.shape, dtype=self.values.dtype, device=self.values.device)
    n, m = self.shape
    at = _ints([r * m + c for r, c in zip(self.pattern.rows(), self.pattern.cols())], self.values.device)
    return Tensor.zeros(n * m, dtype=self.values.dtype, device=self.values.device).scatter(0, at, self.values).reshape(n, m)
  def __repr__(self):
    how = f"{self.pattern.colors} {'columns' if self.pattern.by_columns else 'rows'} of seeds"
    return f"<Sparse {self.shape[0]} by {self.shape[1]}, {self.nnz} elements, {self.values.dtype} on {self.values.device}, {how}>"

class _Jacobian:
  """The cached results for arguments of one shape: placeholders, and for each graph the pattern, seeds and compressed values."""
  def __init__(self, x):
    self.x, self.graphs = new_placeholder(*_like(x)), {}
  def of(self, part, x):
    traced = Trace(part, lambda tensors: part(*tensors), [], placeholders=[self.x])
    if len(traced.outs) != 1: raise TypeError(f"{_name(part)}: sparse_jacobian is of one tensor, the result has {len(traced.outs)}")
    out = traced.outs[0]
    known = self.graphs.get(out.uop)
    if known is None or known[0].from_values:
      pattern = Pattern(_uopscope.jacobian_pattern(out.uop, traced.keys[0]))
      # Nodes and not tensors: an assignment to a buffer that f reads must not compute these values first.
      known = pattern, self._values(traced, out, x, pattern).uop, _ints(pattern.rows(), x.device), _ints(pattern.cols(), x.device)
      while len(self.graphs) >= _KEPT: self.graphs.pop(next(iter(self.graphs)))
      self.graphs[out.uop] = known
    pattern, values, rows, cols = known
    return Sparse(_applied(traced, [_tensor(values)], [x])[0], pattern, rows, cols)
  def _values(self, traced, out, x, p):
    """The values over the placeholder: derivatives along seeds, one for each colour, then gathered."""
    if p.nnz == 0: return Tensor.zeros(0, dtype=out.dtype, device=out.device)
    color, rows, cols = p.color(), p.rows(), p.cols()
    seeds = _ints(color, x.device).reshape(1, len(color)).eq(Tensor.arange(p.colors, device=x.device).reshape(p.colors, 1)).cast(x.dtype if p.by_columns else out.dtype)
    seeded = x if p.by_columns else out
    key, slot = new_placeholder(*_like(seeded))
    if p.by_columns: line = _or_zeros(_uopscope.tangents_of([out.uop], traced.keys, [slot.uop])[0], out)
    else: line = _or_zeros(_uopscope.cotangents_of([out.uop], [slot.uop], traced.keys)[0], x)
    compressed = _tensor(_uopscope.batch_values([line.uop], [key], [seeds.uop], p.colors)[0]).reshape(p.colors, -1)
    at = [color[c] * p.shape[0] + r if p.by_columns else color[r] * p.shape[1] + c for r, c in zip(rows, cols)]
    return compressed.reshape(-1)[_ints(at, x.device)]

def sparse_jacobian(f, argnums=0):
  """A function that returns the Jacobian of `f` with respect to the argument `argnums`, as a Sparse of shape (results,
  elements of the argument).

  f returns one float tensor. The pattern is found by reading the graph of f, once for each shape; every call derives and
  gathers. An argument or result of size 0 gives values of shape (0,)."""
  if not isinstance(argnums, int): raise TypeError(f"sparse_jacobian is by one argument: argnums is a number, not {argnums!r}")
  kept = {}
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def jacobian(*args, **kwargs):
    part, chosen = _partial(f, args, kwargs, argnums)
    a = _Arguments(part, chosen, {}, _floats)
    if len(a.tensors) != 1 or a.leaves[0] is not chosen[0]: raise TypeError(f"{_name(f)}: sparse_jacobian is by one tensor; the argument is {type(chosen[0]).__name__}")
    x = a.tensors[0]
    if _like(x) not in kept: kept[_like(x)] = _Jacobian(x)
    return kept[_like(x)].of(part, x)
  return jacobian

def sparse_hessian(f, argnums=0):
  """A function that returns the second derivatives of `f`, which returns one float of shape (), as a Sparse."""
  return sparse_jacobian(grad(f, argnums), argnums)
