# Jacobians and Hessians by their patterns. The elements that may be nonzero are found by reading the graph. Columns (or
# rows) that do not overlap share a colour, and one derivative per colour gives all values.
#
#   s = sparse_jacobian(f)(x)
#   s.values, s.rows, s.cols                      # tensors: one entry for each element of the pattern, row by row
#   s.csr(), s.coo(), s.scipy(), s.dense()
import functools
import _uopscope
from uopscope.patterns import Pattern, dense_of, ints, values_of
from uopscope.tracing import Arguments, Trace, applied, every_tensor, form_of, name_of, new_placeholder, partial_of, tensor_of
from uopscope.transforms import grad

_KEPT = 16 # number of patterns that a function keeps, one for each shape

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
    return self.values, self.cols, ints(self.pattern.indptr(), self.values.device)
  def scipy(self):
    """A scipy.sparse.csr_matrix."""
    try: from scipy.sparse import csr_matrix
    except ImportError as e: raise ImportError("Sparse.scipy() needs the package scipy; csr() and coo() answer tensors without it") from e
    return csr_matrix((self.values.numpy(), self.pattern.cols(), self.pattern.indptr()), shape=self.shape)
  def dense(self):
    """The matrix as a tensor."""
    return dense_of(self.values, self.pattern)
  def __repr__(self):
    how = f"{self.pattern.colors} {'columns' if self.pattern.by_columns else 'rows'} of seeds"
    return f"<Sparse {self.shape[0]} by {self.shape[1]}, {self.nnz} elements, {self.values.dtype} on {self.values.device}, {how}>"

class _Jacobian:
  """The cached results for arguments of one shape: placeholders, and for each graph the pattern, seeds and compressed values."""
  def __init__(self, x):
    self.x, self.graphs = new_placeholder(*form_of(x)), {}
  def of(self, part, x):
    traced = Trace(part, lambda tensors: part(*tensors), [], placeholders=[self.x])
    if len(traced.outs) != 1: raise TypeError(f"{name_of(part)}: sparse_jacobian is of one tensor, the result has {len(traced.outs)}")
    out = traced.outs[0]
    if not out.is_floating_point(): raise TypeError(f"{name_of(part)} answers a tensor of type {out.dtype}: derivatives are of floats")
    known = self.graphs.get(out.uop)
    if known is None or known[0].from_values:
      pattern = Pattern(_uopscope.jacobian_pattern(out.uop, traced.keys[0]))
      # nodes, not tensors: nobody's values wait for them when a buffer that f reads is assigned
      known = pattern, values_of(out, traced.keys, 0, x, pattern).uop, ints(pattern.rows(), x.device), ints(pattern.cols(), x.device)
      while len(self.graphs) >= _KEPT: self.graphs.pop(next(iter(self.graphs)))
      self.graphs[out.uop] = known
    pattern, values, rows, cols = known
    return Sparse(applied(traced, [tensor_of(values)], [x])[0], pattern, rows, cols)

def sparse_jacobian(f, argnums=0):
  """A function that returns the Jacobian of `f` with respect to the argument `argnums`, as a Sparse of shape (results,
  elements of the argument).

  f returns one float tensor. The pattern is found by reading the graph of f, once for each shape; every call derives and
  gathers. An argument or result of size 0 gives values of shape (0,)."""
  if not isinstance(argnums, int): raise TypeError(f"sparse_jacobian is by one argument: argnums is a number, not {argnums!r}")
  kept = {}
  @functools.wraps(f, assigned=("__name__", "__doc__"), updated=())
  def jacobian(*args, **kwargs):
    part, chosen = partial_of(f, args, kwargs, argnums)
    a = Arguments(part, chosen, {}, every_tensor)
    if len(a.tensors) != 1 or a.leaves[0] is not chosen[0]: raise TypeError(f"{name_of(f)}: sparse_jacobian is by one tensor; the argument is {type(chosen[0]).__name__}")
    x = a.tensors[0]
    if form_of(x) not in kept: kept[form_of(x)] = _Jacobian(x)
    return kept[form_of(x)].of(part, x)
  return jacobian

def sparse_hessian(f, argnums=0):
  """A function that returns the second derivatives of `f`, which returns one float of shape (), as a Sparse."""
  return sparse_jacobian(grad(f, argnums), argnums)
