# What a valid graph looks like, as rules: each answers True (valid), False (not valid) or None (ask the next).
#
#   type_verify(tensor.uop, tensor_spec)      raises RuntimeError naming the first node that is not valid
from tinygrad.uop.ops import UOp, UPat, Ops, GroupOp, PatternMatcher
from tinygrad.dtype import dtypes, Invalid

def _same(*dtypes_): return all(d == dtypes_[0] for d in dtypes_)
def _const(x): return x.arg is Invalid or isinstance(x.arg, bool if x.dtype.scalar() == dtypes.bool else float if x.dtype.scalar().is_float else int)

shared_spec = PatternMatcher([
  (UPat(Ops.SINK, dtypes.void), lambda: True),
  (UPat(Ops.CONST, name="x"), _const),
  (UPat(Ops.DEFINE_VAR, name="x"), lambda x: len(x.arg) == 3 and x.arg[1] <= x.arg[2]),
  (UPat(Ops.WHERE, name="w", src=(UPat.var("c"), UPat.var("x"), UPat.var("y"))), lambda w, c, x, y: c.dtype.scalar() == dtypes.bool and (x.arg is Invalid or y.arg is Invalid or _same(w.dtype, x.dtype, y.dtype))),
  (UPat((Ops.CMPLT, Ops.CMPNE, Ops.CMPEQ), name="c", src=(UPat.var("x"), UPat.var("y"))), lambda c, x, y: c.dtype.scalar() == dtypes.bool and _same(x.dtype.base, y.dtype.base)),
  (UPat((Ops.SHL, Ops.SHR), name="a", src=(UPat.var("x"), UPat.var("y"))), lambda a, x, y: a.dtype == x.dtype and y.dtype in (x.dtype, dtypes.uint32)),
  (UPat((Ops.IDIV, Ops.MOD), name="x"), lambda x: None if x.dtype.scalar().is_int or x.dtype.scalar() == dtypes.index else False),
  (UPat(GroupOp.ALU, name="x"), lambda x: _same(x.dtype.base, *(s.dtype.base for s in x.src))),
  (UPat((Ops.CAST, Ops.BITCAST), name="x"), lambda x: len(x.src) >= 1),
  (UPat(Ops.RANGE, name="x"), lambda x: len(x.src) >= 1 and x.dtype == x.src[0].dtype),
  (UPat(Ops.END, name="x"), lambda x: all(r.op is Ops.RANGE for r in x.src[1:])),
  (UPat(Ops.AFTER, name="x"), lambda x: x.dtype == x.src[0].dtype),
  (UPat((Ops.NOOP, Ops.GROUP, Ops.REWRITE_ERROR)), lambda: True),
])

def _movement(x):
  x.shape  # raises where source and argument do not fit
  return x.dtype == x.src[0].dtype
tensor_spec = PatternMatcher([
  (UPat(Ops.DEVICE, dtypes.void, src=(), name="d"), lambda d: isinstance(d.arg, str)),
  (UPat((Ops.UNIQUE, Ops.LUNIQUE), dtypes.void, src=()), lambda: True),
  (UPat(Ops.BUFFER, name="b"), lambda b: len(b.src) == 2 and b.src[0].op in (Ops.UNIQUE, Ops.LUNIQUE) and b.src[1].op is Ops.DEVICE and b.arg >= 0),
  (UPat(Ops.BUFFER_VIEW, name="b"), lambda b: len(b.arg) == 2 and b.src[0].op is Ops.BUFFER),
  (UPat(Ops.BIND, name="b", src=(UPat(Ops.DEFINE_VAR, name="v"), UPat(Ops.CONST, name="c"))), lambda b, v, c: v.arg[1] <= c.arg <= v.arg[2]),
  (UPat(GroupOp.Movement, name="x"), _movement),
  (UPat(Ops.REDUCE_AXIS, name="x"), lambda x: x.arg[0] in (Ops.ADD, Ops.MUL, Ops.MAX) and all(0 <= a < len(x.src[0].shape) for a in x.arg[1])),
  (UPat((Ops.CONTIGUOUS, Ops.CONTIGUOUS_BACKWARD, Ops.DETACH), name="x"), lambda x: x.dtype == x.src[0].dtype),
  (UPat(Ops.COPY, name="x"), lambda x: x.dtype == x.src[0].dtype and x.src[1].op is Ops.DEVICE),
  (UPat(Ops.ASSIGN, name="x"), lambda x: x.dtype == x.src[0].dtype == x.src[1].dtype and x.src[0].shape == x.src[1].shape),
  (UPat((Ops.MULTI, Ops.MSTACK, Ops.MSELECT), name="x"), lambda x: all(s.dtype == x.dtype for s in x.src if s.op is not Ops.DEVICE)),
  (UPat((Ops.CUSTOM_KERNEL, Ops.KERNEL, Ops.VECTORIZE)), lambda: True),
]) + shared_spec

def _pointer(x): return getattr(x.dtype, "is_ptr", False)
_memory = [
  (UPat((Ops.DEFINE_GLOBAL, Ops.DEFINE_LOCAL, Ops.DEFINE_REG), name="x"), lambda x: _pointer(x)),
  (UPat(Ops.SPECIAL, name="x"), lambda x: isinstance(x.arg, str) and len(x.src) == 1),
  (UPat(Ops.VECTORIZE, name="x"), lambda x: x.dtype.count == len(x.src) and all(s.dtype == x.dtype.scalar() for s in x.src) or _pointer(x)),
  (UPat(Ops.GEP, name="x"), lambda x: x.dtype.scalar() == x.src[0].dtype.scalar() and all(0 <= i < max(x.src[0].dtype.count, 1) or _pointer(x.src[0]) for i in x.arg)),
  (UPat(Ops.INDEX, name="x"), lambda x: len(x.src) >= 2),
  (UPat(Ops.LOAD, name="x"), lambda x: len(x.src) >= 1),
  (UPat(Ops.STORE, dtypes.void, name="x"), lambda x: len(x.src) >= 2),
  (UPat((Ops.BARRIER, Ops.WMMA, Ops.CUSTOM, Ops.CUSTOMI, Ops.VCONST, Ops.PTRCAT, Ops.CAT)), lambda: True),
]
kernel_spec = PatternMatcher(_memory + [
  (UPat((Ops.REDUCE, Ops.UNROLL, Ops.CONTRACT, Ops.BUFFERIZE, Ops.CONTIGUOUS)), lambda: True),
  (UPat(GroupOp.Movement), lambda: True),
]) + shared_spec
program_spec = PatternMatcher([
  (UPat(GroupOp.All, dtype=dtypes.index), lambda: False),
  (UPat(Ops.IF, name="x"), lambda x: x.src[0].dtype == dtypes.bool),
  (UPat(Ops.ENDIF, name="x"), lambda x: x.src[0].op is Ops.IF),
  (UPat((Ops.REDUCE, Ops.UNROLL, Ops.CONTRACT, Ops.BUFFERIZE)), lambda: False),
] + _memory) + shared_spec
full_spec = tensor_spec + kernel_spec + program_spec

def type_verify(ast, check_spec=full_spec):
  """Raises RuntimeError naming the first node that no rule of the spec finds valid."""
  nodes = list(ast.toposort()) if isinstance(ast, UOp) else list(ast)
  for i, u in enumerate(nodes):
    if check_spec.rewrite(u) is not True:
      raise RuntimeError(f"UOp verification failed at {i} on {u.op} {u.dtype} {len(u.src)} {[(x.op, x.dtype, x.arg) for x in u.src]} {u.arg}")
