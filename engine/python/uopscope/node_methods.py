# Methods of UOp built from other methods: elementwise functions, movements with different arguments, questions. `attach`
# adds them to the class, once, when tinygrad.uop.ops is imported.
#
#   UOp.variable("x", 0, 9).relu();  node.unsqueeze(0).repeat(2, 1)
import math
from _uopscope import docstring
from tinygrad.dtype import dtypes
from tinygrad.helpers import all_same, argfix, prod
from tinygrad.uop import GroupOp, Ops

# Elementwise
def relu(self): return (self > 0).where(self, 0)
def sigmoid(self): return ((self * (-1 / math.log(2))).exp2() + 1).reciprocal()
def relu6(self): return self.relu() - (self - 6).relu()
def hardswish(self): return self * (self + 3).relu6() * (1 / 6)
def tanh(self): return (self * 2).sigmoid() * 2 - 1
def gelu(self): return self * 0.5 * ((self * (self * self * 0.044715 + 1) * math.sqrt(2 / math.pi)).tanh() + 1)
def quick_gelu(self): return self * (self * 1.702).sigmoid()
def swish(self): return self * self.sigmoid()
silu = swish
def hardsigmoid(self, alpha=1 / 6, beta=0.5): return (self * alpha + beta).relu() - (self * alpha + beta - 1).relu()
def hardtanh(self, min_val=-1, max_val=1): return self.clamp(min_val, max_val)
def leaky_relu(self, neg_slope=0.01): return (self < 0).where(self * neg_slope, self)
def rsqrt(self): return self.sqrt().reciprocal()
def square(self): return self * self
def clamp(self, min_=None, max_=None):
  if min_ is None and max_ is None: raise RuntimeError("clamp needs a lower or an upper bound")
  above = self if min_ is None else (self < min_).where(min_, self)
  return above if max_ is None else (above > max_).where(max_, above)
clip = clamp
def floor(self):
  whole = self.trunc()
  return (self < whole).where(whole - 1, whole)
def ceil(self):
  whole = self.trunc()
  return (whole < self).where(whole + 1, whole)
def isnan(self): return self.ne(self)
def isinf(self): return self.eq(math.inf) | self.eq(-math.inf)
def isfinite(self): return (self.isinf() | self.isnan()).logical_not()

# Movement
def _resolve_dim(self, dim, *, extra=False):
  """The axis as a number from 0; with `extra` it may be one past the last axis."""
  count = self.ndim + extra
  if not -max(1, count) <= dim < max(1, count): raise IndexError(f"dim={dim} out of range {[-max(1, count), max(1, count) - 1]}")
  return dim + count if dim < 0 else dim
def flatten(self, start_dim=0, end_dim=-1):
  first, last = self._resolve_dim(start_dim), self._resolve_dim(end_dim)
  return self.reshape(self.shape[:first] + (prod(self.shape[first:last + 1]),) + self.shape[last + 1:])
def unflatten(self, dim, sizes):
  axis = self._resolve_dim(dim)
  return self.reshape(self.shape[:axis] + tuple(sizes) + self.shape[axis + 1:])
def squeeze(self, dim=None):
  if dim is None: return self.reshape(tuple(s for s in self.shape if s != 1))
  axis = self._resolve_dim(dim)
  return self if not self.ndim or self.shape[axis] != 1 else self.reshape(self.shape[:axis] + self.shape[axis + 1:])
def unsqueeze(self, dim):
  axis = self._resolve_dim(dim, extra=True)
  return self.reshape(self.shape[:axis] + (1,) + self.shape[axis:])
def transpose(self, dim0=1, dim1=0):
  order = list(range(self.ndim))
  a, b = self._resolve_dim(dim0), self._resolve_dim(dim1)
  order[a], order[b] = order[b], order[a]
  return self.permute(tuple(order))
T = property(transpose)
def view(self, *shape): return self.reshape(*shape)
forced_reshape = view
def repeat(self, *repeats):
  times = argfix(*repeats)
  shape = (1,) * (len(times) - self.ndim) + self.shape
  apart = [x for s in shape for x in (1, s)]
  wide = [x for r, s in zip(times, shape) for x in (r, s)]
  return self.reshape(tuple(apart)).expand(tuple(wide)).reshape(tuple(r * s for r, s in zip(times, shape)))
def shrink_to(self, *shape): return self.shrink(tuple((0, s if s is not None else whole) for s, whole in zip(argfix(*shape), self.shape)))

# Questions
def marg(self):
  """The argument of a movement as Python has it: a shape, an order, (begin, end) or (before, after) of each axis."""
  if self.op in (Ops.PERMUTE, Ops.FLIP): return self.arg
  if self.op in (Ops.RESHAPE, Ops.EXPAND): return tuple(self.src[1].sgep(i) for i in range(self.ndim))
  if self.op in (Ops.PAD, Ops.SHRINK): return tuple((self.src[1].sgep(i), self.src[2].sgep(i)) for i in range(self.ndim))
  raise RuntimeError(f"{self.op} is not a movement")
def backward_slice_with_self(self): return {self: None} | self.backward_slice
def op_in_backward_slice_with_self(self, *ops): return any(u.op in ops for u in self.toposort())
def ptrdtype(self):
  if not self.dtype.is_ptr: raise RuntimeError(f"ptrdtype called on UOp with type {self.dtype}")
  return self.dtype
def realized(self):
  """The memory of a BUFFER, or None if it has none."""
  if self.op not in (Ops.BUFFER, Ops.MSTACK) or self.op_in_backward_slice_with_self(Ops.LUNIQUE): return None
  if self.op is Ops.MSTACK: return None if any(s.realized is None for s in self.src) else [s.realized for s in self.src]
  return self.buffer if self.is_realized else None
def bounds(self):
  """The (begin, end) of each device's part of a split axis."""
  if self.axis is None: raise RuntimeError("bounds is not defined when axis is None")
  part = self.shape[self.axis] // len(self.device)
  return tuple((part * i, part * (i + 1)) for i in range(len(self.device)))
def ended_ranges(self):
  first = {Ops.BUFFERIZE: 1, Ops.REDUCE: 1, Ops.STORE: 2, Ops.WMMA: 3, Ops.END: 1}.get(self.op)
  if first is not None: return self.src[first:]
  return tuple(r for s in self.src[1:] for r in s.ended_ranges) if self.op is Ops.AFTER else ()
def buf_target(self):
  """The memory that a load, store or index accesses."""
  u = self
  while u.op in (Ops.AFTER, Ops.INDEX, Ops.STORE, Ops.LOAD) or u.op is Ops.VECTORIZE and all_same(u.src): u = u.src[0]
  if u.op not in GroupOp.Defines: raise RuntimeError(f"buf_target called on non load/index/store {u.op}")
  return u
def as_buf(self):
  u = self
  while u.src and u.op not in (Ops.BUFFER, Ops.BUFFERIZE, Ops.MSTACK): u = u.src[0]
  return u
def sintify(self): return self.arg if self.op is Ops.CONST else self
def sgep(self, i):
  if self.op not in (Ops.CONST, Ops.VCONST, Ops.VECTORIZE): raise RuntimeError(f"no sgep on {self.op}")
  return self.src[i].sintify() if self.op is Ops.VECTORIZE else self.arg[i] if self.op is Ops.VCONST else self.arg
def tuplize(self): return (self.op.value, self.arg, self.dtype, *(s.tuplize for s in self.src))
def overflows(self, dtype): return not dtype.min <= self.vmin <= self.vmax <= dtype.max
def argstr(self): return f"({', '.join(map(str, self.arg))})" if self.op is Ops.REDUCE_AXIS else repr(self.arg)
def tagstr(self): return "" if self.tag is None else f", tag={self.tag}"
def unbind_all(self):
  """The node without the values of bound variables, and {variable: value}."""
  bound = {u: u.unbind() for u in self.toposort() if u.op is Ops.BIND}
  return self.substitute({u: variable for u, (variable, _) in bound.items()}), dict(bound.values())
def topovisit(self, visitor, cache):
  if not callable(visitor): raise TypeError(f"topovisit: visitor is called with each node, and {type(visitor).__name__} cannot be called")
  if not isinstance(cache, dict): raise TypeError(f"topovisit: cache is a dict of results by node, not {type(cache).__name__}")
  for u in self.toposort(lambda u: u not in cache):
    if u not in cache: cache[u] = visitor(u)
  return cache[self]
_min_max = property(lambda self: (self.vmin, self.vmax))
_device = property(lambda self: self.device)

def _methods_that_make(UOp):
  """Methods that construct nodes."""
  def f(self, op, **fields): return UOp(op, fields.pop("dtype", self.dtype), (self,), **fields)
  def contract(self, *rngs):
    from tinygrad.uop.ops import AxisType
    assert all(r.arg[-1] == AxisType.UPCAST for r in rngs), "all contract ranges must be upcast"
    lengths = [(r.arg[0], r.vmax + 1) for r in rngs]
    return UOp(Ops.CONTRACT, self.dtype.vec(prod(n for _, n in lengths)), (self,), tuple(lengths))
  def allreduce(self, op, device):
    assert isinstance(self.device, tuple), f"allreduce must be on tuple {self.device} isn't"
    return UOp(Ops.ALLREDUCE, self.dtype, (self, device if isinstance(device, UOp) else UOp(Ops.DEVICE, arg=device)), op)
  def multi(self, axis):
    assert isinstance(self.device, tuple), f"multi device must be tuple, {self.device} isn't"
    assert axis is not None, "multi None is no longer supported"
    return UOp(Ops.MULTI, self.dtype, self.src if self.op is Ops.MULTI else (self,), axis)
  def mselect(self, arg): return UOp(Ops.MSELECT, self.dtype, (self,), arg)
  def contiguous_backward(self): return UOp(Ops.CONTIGUOUS_BACKWARD, self.dtype, (self,))
  def unique_const(dtype, b, device, unique=True):
    made = UOp.const(dtype, b, device)
    return made.replace(src=(*made.src, UOp.unique() if unique is True else UOp(Ops.UNIQUE, arg=unique)))
  def custom_kernel(*srcs, fxn, grad_fxn=None):
    from tinygrad.tensor import Tensor
    return [t.uop for t in Tensor.custom_kernel(*map(Tensor, srcs), fxn=fxn, grad_fxn=grad_fxn)]
  made = dict(f=f, contract=contract, allreduce=allreduce, multi=multi, mselect=mselect, contiguous_backward=contiguous_backward)
  return made | dict(unique_const=staticmethod(unique_const), custom_kernel=staticmethod(custom_kernel))

_PROPERTIES = {"backward_slice_with_self", "marg", "ptrdtype", "realized", "bounds", "ended_ranges", "tuplize"}
def attach(UOp):
  UOp.__iter__ = None  # u[i] is an INDEX for any i: without this a loop over a node would not end
  own = {name: value for name, value in globals().items() if getattr(value, "__module__", None) == __name__ or isinstance(value, property)}
  for name, value in (own | _methods_that_make(UOp)).items():
    if name in ("attach", "_methods_that_make"): continue
    text = docstring("UOp", name) or getattr(value, "__doc__", None)
    if name not in _PROPERTIES and callable(value): value.__doc__ = text
    setattr(UOp, name, property(value, doc=text) if name in _PROPERTIES else value)
