# Integer nodes as formulas of Z3, for proofs about them. Needs the package z3-solver.
#
#   solver = z3.Solver(); a, b = uops_to_z3(solver, old, new); solver.check(a != b) == z3.unsat       # they are equal
import z3
from tinygrad.dtype import Invalid, dtypes
from tinygrad.uop.ops import GroupOp, Ops, UOp
from uopscope.absent import lacking
__getattr__ = lacking(__name__)

_WHOLE = (*dtypes.ints, dtypes.index)

def z3_cdiv(a, b):
  """Division that rounds towards zero; Z3's own division rounds so that the remainder is never negative."""
  return z3.If(a >= 0, a / b, -((-a) / b))
def _mod(a, b): return a - z3_cdiv(a, b) * b
def _and(a, b):
  """AND of booleans, and of numbers with a mask of the lowest bits."""
  return z3.And(a, b) if z3.is_bool(a) else a % (b + 1)
_FORMULAS = {
  Ops.ADD: lambda a, b: z3.Or(a, b) if z3.is_bool(a) else a + b, Ops.SUB: lambda a, b: a - b, Ops.MUL: lambda a, b: z3.And(a, b) if z3.is_bool(a) else a * b, Ops.NEG: lambda a: -a,
  Ops.IDIV: z3_cdiv, Ops.MOD: _mod, Ops.MAX: lambda a, b: z3.If(a < b, b, a), Ops.CMPLT: lambda a, b: z3.And(z3.Not(a), b) if z3.is_bool(a) else a < b, Ops.CMPNE: lambda a, b: a != b, Ops.CMPEQ: lambda a, b: a == b,
  Ops.AND: _and, Ops.OR: lambda a, b: z3.Or(a, b), Ops.XOR: lambda a, b: z3.Xor(a, b), Ops.WHERE: z3.If, Ops.MULACC: lambda a, b, c: a * b + c,
  Ops.SHL: lambda a, b: a * 2 ** b.as_long(), Ops.SHR: lambda a, b: a / 2 ** b.as_long()}

def _unknown(solver, name, least, most):
  """A number within bounds."""
  x = z3.Int(name, ctx=solver.ctx)
  solver.add(least <= x, x <= most)
  return x

def _formula(solver, u, known):
  src = [known[s] for s in u.src if s in known]
  scalar, ctx = u.dtype.scalar(), solver.ctx
  if u.op is Ops.CONST:
    if u.arg is Invalid: return z3.Int("Invalid", ctx=ctx)
    return z3.BoolVal(u.arg, ctx=ctx) if scalar == dtypes.bool else z3.IntVal(u.arg, ctx=ctx)
  if u.op is Ops.DEFINE_VAR: return _unknown(solver, *u.arg)
  if u.op is Ops.SPECIAL: return _unknown(solver, u.arg, 0, src[0] - 1)
  if u.op is Ops.RANGE: return _unknown(solver, u.render(simplify=False), 0, src[0] - 1)
  if u.op is Ops.BIND: return src[0]
  if u.op is Ops.WHERE and u.src[2].op is Ops.CONST and u.src[2].arg is Invalid:
    solver.add(src[0])
    return src[1]
  of_floats = any(s.dtype.scalar().is_float for s in u.src)
  if u.op is Ops.CAST and not of_floats:
    if scalar == dtypes.bool: return src[0] if z3.is_bool(src[0]) else src[0] != 0
    return z3.If(src[0], z3.IntVal(1, ctx=ctx), z3.IntVal(0, ctx=ctx)) if z3.is_bool(src[0]) else src[0]
  if u.op in GroupOp.ALU and not of_floats: return _FORMULAS[u.op](*src)
  name = f"{u.op.name.lower()}{len(known)}"  # loads, and values computed from floats, may have any value of the type
  return z3.Bool(name, ctx=ctx) if scalar == dtypes.bool else _unknown(solver, name, u.dtype.min, u.dtype.max)

def uops_to_z3(solver, *uops):
  """A formula for each node. The bounds of variables and the gates of indices are added to the solver."""
  known = {}
  of_numbers = lambda u: u.op is Ops.SINK or u.dtype.scalar() in _WHOLE or u.dtype.scalar() == dtypes.bool
  for u in UOp.sink(*uops).toposort(of_numbers):
    if u.op is not Ops.SINK: known[u] = _formula(solver, u, known)
  return [known[u] for u in uops]
