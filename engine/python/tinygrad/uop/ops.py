# UOp, patterns and rewriting. Patterns are data that C++ matches; this file defines their constructors.
import functools, inspect, linecache, math, operator, sys
import _uopscope
from _uopscope import (UOp, Ops, AxisType, KernelInfo, BufferizeOpts, Matcher as _Matcher, graph_rewrite as _graph_rewrite,
                       graph_rewrite_map as _graph_rewrite_map)
from tinygrad.dtype import dtypes, AddrSpace, Invalid
from tinygrad.helpers import Context, Metadata, TRACK_MATCH_STATS, TracingKey
from uopscope.absent import lacking
from uopscope.functions import from_parts, to_parts
from uopscope.tracked import (RewriteTrace, TrackedGraphRewrite, _name_cnt, active_rewrites, profile_matches, start as _start_tracking, track_rewrites,
                              tracked_ctxs, tracked_keys, uop_fields)
from tinygrad.uop import GroupOp

Variable = UOp
sint = int | UOp
class BottomUpGate(Exception):
  """Raised by a rule: do not rewrite this node, and do not descend into it."""

def resolve(x, default=True):
  if isinstance(x, bool): return x
  x = x.simplify()
  return bool(x.vmin) if x.vmin == x.vmax else default
def smax(*lst): return _extreme(max, UOp.maximum, lst)
def smin(*lst): return _extreme(min, UOp.minimum, lst)
def _extreme(plain, symbolic, lst):
  lst = lst[0] if len(lst) == 1 and isinstance(lst[0], (tuple, list)) else lst
  if all(isinstance(x, int) for x in lst): return plain(lst)
  return functools.reduce(lambda a, b: symbolic(a, b) if isinstance(a, UOp) else symbolic(b, a) if isinstance(b, UOp) else plain(a, b), lst).ssimplify()
def ssimplify(x): return x.ssimplify() if isinstance(x, UOp) else x
def sym_infer(x, var_vals): return x.sym_infer({(k if isinstance(k, str) else k.expr): v for k, v in var_vals.items()}) if isinstance(x, UOp) else x
def identity_element(op, dt): return dtypes.as_const({Ops.ADD: 0, Ops.MUL: 1, Ops.MAX: dt.min}[op], dt)

def _caller():
  f = sys._getframe(1)
  while _uopscope.is_own_source(f.f_code.co_filename): f = f.f_back
  return f.f_code.co_filename, f.f_lineno

class UPat:
  """A pattern: operation(s), dtype(s), arg, sources (tuple: exact, list: any order, one UPat: all alike), name."""
  __slots__ = ("op", "dtype", "src", "arg", "name", "allow_any_len", "is_any", "location")
  def __init__(self, op=None, dtype=None, src=None, arg=None, name=None, allow_any_len=False, custom_early_reject=None, location=None, is_any=False):
    self.op = (op,) if isinstance(op, Ops) else tuple(op) if op is not None else None
    self.dtype = dtype if dtype is None or isinstance(dtype, _uopscope.DType) else tuple(dtype)
    self.src, self.arg, self.name, self.allow_any_len, self.is_any = src, arg, name, allow_any_len, is_any
    self.location = location or _caller()
  def named(self, name): return UPat(self.op, self.dtype, self.src, self.arg, name, self.allow_any_len, location=self.location, is_any=self.is_any)
  @staticmethod
  def any(*src): return UPat(src=src, is_any=True)
  def or_casted(self, name=None): return UPat.any(self if name is None else self.named(name), UPat(Ops.CAST, name=name, src=(self,)))
  def or_after(self, name=None): return UPat.any(self if name is None else self.named(name), UPat(Ops.AFTER, name=name, src=(self,), allow_any_len=True))
  @staticmethod
  def var(name=None, dtype=None): return UPat(dtype=dtype, name=name)
  @staticmethod
  def cvar(name=None, dtype=None, vec=True, arg=None): return UPat((Ops.CONST, Ops.VCONST) if vec else Ops.CONST, dtype, name=name, arg=arg)
  @staticmethod
  def const(dtype, b): return UPat(Ops.CONST, dtype=dtype, arg=b)
  def f(self, op, **kw): return UPat(op, src=(self,), **kw)
  def sink(self, *srcs, **kw): return UPat(Ops.SINK, dtypes.void, (self,) + srcs, **kw)
  def index(self, idx, valid=None, **kw): return UPat(Ops.INDEX, self.dtype, (self, idx) if valid is None else (self, idx, valid), **kw)
  def cast(self, dtype=None, **kw): return UPat(Ops.CAST, dtype, (self,), **kw)
  def bitcast(self, dtype=None, **kw): return UPat(Ops.BITCAST, dtype, (self,), **kw)
  def gep(self, i=None, **kw): return UPat(Ops.GEP, None, (self,), (i,) if i is not None else None, **kw)
  def load(self, *src, **kw): return UPat(Ops.LOAD, src=(self,) + src, **kw)
  def store(self, *src, **kw): return UPat(Ops.STORE, None, (self,) + src, **kw)
  def assign(self, x, **kw): return UPat(Ops.ASSIGN, self.dtype, (self, x), **kw)
  def reduce(self, *src, **kw): return UPat(Ops.REDUCE, self.dtype, (self,) + src, **kw)
  def broadcast(self, **kw): return UPat(Ops.VECTORIZE, self.dtype, self, **kw)
  def contiguous(self, *args, **kw): return UPat(Ops.CONTIGUOUS, self.dtype, (self,) + args, **kw)
  def after(self, *src, **kw): return UPat(Ops.AFTER, self.dtype, (self,) + src, **kw)
  def end(self, *src, **kw): return UPat(Ops.END, None, (self,) + src, **kw)
  def detach(self, **kw): return UPat(Ops.DETACH, self.dtype, (self,), **kw)
  def const_like(self, b): return UPat.const(self.dtype, b)
  def ufix(self, x): return x if isinstance(x, UPat) else self.const_like(x)
  def alu(self, op, *src):
    both = (self, *(self.ufix(s) for s in src))
    dtype = dtypes.bool if op in GroupOp.Comparison else both[-1].dtype
    return UPat(op, dtype, list(both) if op in GroupOp.Commutative else both)
  def _binary(self, op, x, reverse=False): return self.ufix(x).alu(op, self) if reverse else self.alu(op, x)
  def where(self, a, b): return UPat(Ops.WHERE, (a if isinstance(a, UPat) else b).dtype, (self, a if isinstance(a, UPat) else b.const_like(a), b if isinstance(b, UPat) else a.const_like(b)))
  def logical_not(self): return self.alu(Ops.CMPNE, UPat.const(None, True))
  def neg(self): return self * -1
  def __neg__(self): return self.neg()
  def __sub__(self, x): return self + (-x)
  def __rsub__(self, x): return self.ufix(x) + (-self)
  def __truediv__(self, x): return self * self.ufix(x).alu(Ops.RECIPROCAL)
  def __lt__(self, x): return self._binary(Ops.CMPLT, x)
  def __gt__(self, x): return self._binary(Ops.CMPLT, x, True)
  def __ge__(self, x): return (self < x).logical_not()
  def __le__(self, x): return (self > x).logical_not()
  def __ne__(self, x): return self._binary(Ops.CMPNE, x)
  def ne(self, x): return self._binary(Ops.CMPNE, x)
  def eq(self, x): return self.ne(x).logical_not()
  def __hash__(self): return id(self)
  def printable(self): return _source_text(*self.location)
  def match(self, uop, store):
    """All matches on the node: dictionaries of named nodes that extend `store`."""
    return [{**store, **found} for found in _uopscope.match_pattern(self, uop) if all(store.get(name, u) is u for name, u in found.items())]
  def __repr__(self):
    parts = [f"{k}={getattr(self, k)!r}" for k in ("op", "dtype", "src", "arg", "name") if getattr(self, k) is not None]
    return f"UPat{'.any' if self.is_any else ''}({', '.join(parts)})"
for _name, _reflected, _word, _op in (("__add__", "__radd__", "add", Ops.ADD), ("__mul__", "__rmul__", "mul", Ops.MUL), ("__floordiv__", "__rfloordiv__", "idiv", Ops.IDIV),
                                      ("__mod__", "__rmod__", "mod", Ops.MOD), ("__and__", "__rand__", "bitwise_and", Ops.AND), ("__or__", "__ror__", "bitwise_or", Ops.OR),
                                      ("__xor__", "__rxor__", "bitwise_xor", Ops.XOR), ("__lshift__", "__rlshift__", "lshift", Ops.SHL), ("__rshift__", "__rrshift__", "rshift", Ops.SHR),
                                      ("__pow__", "__rpow__", "pow", Ops.POW), ("maximum", None, None, Ops.MAX), ("threefry", None, None, Ops.THREEFRY)):
  setattr(UPat, _name, (lambda op: lambda self, x: self._binary(op, x))(_op))
  if _word: setattr(UPat, _word, getattr(UPat, _name))
  if _reflected: setattr(UPat, _reflected, (lambda op: lambda self, x: self._binary(op, x, True))(_op))
for _word, _op in (("exp2", Ops.EXP2), ("log2", Ops.LOG2), ("sin", Ops.SIN), ("sqrt", Ops.SQRT), ("reciprocal", Ops.RECIPROCAL), ("trunc", Ops.TRUNC)):
  setattr(UPat, _word, (lambda op: lambda self: self.alu(op))(_op))

def _source_text(file, line):
  """The source text of the rule: the lines from its pattern to the closing brackets."""
  text, depth = "", 0
  for number in range(line, line + 12):
    part = linecache.getline(file, number)
    if not part: break
    text += part
    depth += sum(part.count(c) for c in "([{") - sum(part.count(c) for c in ")]}")
    if depth <= 0: break
  return " ".join(text.split()).rstrip(",")

def _rule(pat, fn):
  """A rule made of a pattern and a function; a rule of the engine is returned as it is."""
  if isinstance(pat, _uopscope.Rule): return pat
  file, line = pat.location
  names = inspect.signature(fn).parameters
  text = _source_text(file, line)
  name = fn.__name__ if getattr(fn, "__name__", "<lambda>") != "<lambda>" else text if len(text) <= 60 else text[:57] + "..."
  return _uopscope.make_rule(pat, fn, "ctx" in names, name or f"{file}:{line}", file, line, text, BottomUpGate)

def _joined(a, b):
  if not isinstance(a, PatternMatcher) and not isinstance(b, PatternMatcher): return a.joined(b)
  both = PatternMatcher.__new__(PatternMatcher)
  both.patterns = list(a.patterns) + list(b.patterns)
  _Matcher.__init__(both, list(a.rules) + list(b.rules))
  return both

class PatternMatcher(_Matcher):
  """Rules in order: [(UPat, function of the named nodes)]. A function returns the new node, or None to decline."""
  patterns = None  # the patterns of this matcher, in place of the engine's
  def __init__(self, patterns, compiled=True):
    self.patterns = list(patterns)
    super().__init__([_rule(p, fn) for p, fn in self.patterns])
  def __add__(self, more): return _joined(self, more)
  def __radd__(self, first): return _joined(first, self)
  def __reduce__(self): return _matcher_again, ([(pat, to_parts(fn)) for pat, fn in self.patterns],)

def engine_rules(name):
  """A rule set of the engine by its name."""
  return _uopscope.builtin_matcher(name)
def _matcher_again(patterns): return PatternMatcher([(pat, from_parts(fn)) for pat, fn in patterns])

# Every matcher is recorded, so the reference's class for recorded matchers adds nothing.
TrackedPatternMatcher = PatternMatcher

def graph_rewrite(sink, pm, ctx=None, bottom_up=False, name=None, bpm=None): return _graph_rewrite(sink, pm, ctx, bottom_up, name, bpm)
def graph_rewrite_map(sink, pm, ctx=None, bottom_up=False, name=None, bpm=None, input_map=None): return _graph_rewrite_map(sink, pm, ctx, bottom_up, name, bpm, input_map)

from uopscope.node_methods import attach as _attach
_attach(UOp)
def _repr_html_(self):
  from uopscope.notebook import graph_html
  return graph_html(self)
UOp._repr_html_ = _repr_html_

def sint_to_uop(x, dtype=dtypes.index): return UOp.const(dtype, x) if isinstance(x, int) else x.cast(dtype)
def srender(x): return x.render() if isinstance(x, UOp) else str(x)

# Arithmetic on numbers with the semantics of kernels.
def _apply(op, *operands):
  """Arithmetic with the semantics of kernels on numbers, and with Python's operators on tensors and nodes."""
  if not all(isinstance(x, (bool, int, float)) for x in operands): return _exact(op, operands)
  return _uopscope.eval_alu(op, dtypes.from_py(operands[-1]), list(operands))
python_alu = {op: functools.partial(_apply, op) for op in GroupOp.ALU if op is not Ops.THREEFRY}
def exec_alu(op, dtype, operands, truncate_output=True):
  """The operation on numbers, or on tuples of them lane by lane."""
  if dtype.count > 1: return tuple(exec_alu(op, dtype.scalar(), [x[lane] if isinstance(x, tuple) else x for x in operands]) for lane in range(dtype.count))
  if not truncate_output and dtype.is_int: return _exact(op, operands)
  return _uopscope.eval_alu(op, dtype, list(operands))
def _exact(op, operands):
  """Arithmetic on integers of any size."""
  from tinygrad.helpers import cdiv, cmod
  table = {Ops.ADD: operator.add, Ops.SUB: operator.sub, Ops.MUL: operator.mul, Ops.IDIV: cdiv, Ops.MOD: cmod, Ops.NEG: operator.neg, Ops.MAX: max, Ops.POW: pow,
           Ops.AND: operator.and_, Ops.OR: operator.or_, Ops.XOR: operator.xor, Ops.SHL: operator.lshift, Ops.SHR: operator.rshift, Ops.CMPLT: operator.lt,
           Ops.CMPNE: operator.ne, Ops.CMPEQ: operator.eq, Ops.WHERE: lambda c, a, b: a if c else b, Ops.MULACC: lambda a, b, c: a * b + c}
  return table[op](*operands)

def print_uops(uops):
  """One line per instruction: number, operation, type, numbers of its sources (constants by value), argument."""
  uops = list(uops)
  number = {u: i for i, u in enumerate(uops)}
  for i, u in enumerate(uops):
    sources = [number[s] if s in number and s.op is not Ops.CONST else str(s.arg) if s.op is Ops.CONST else "--" for s in u.src]
    print(f"{i:4d} {u.op.name:20s}: {str(u.dtype):40s} {str(sources):32s} {u.arg}")
def pyrender(ast): return ast.pyrender()

def range_str(u, color=False):
  text = "_".join(str(x).replace("-", "m") for x in u.arg[:-1])
  return text if not color else _coloured(text, u.arg[-1])
def multirange_str(rngs, color=False, pad=None):
  text = ",".join(range_str(r, color) for r in sorted(rngs, key=lambda r: r.arg))
  from tinygrad.helpers import ansilen
  return text if pad is None else text + " " * (pad - ansilen(text))
axis_letters = {AxisType.GLOBAL: "g", AxisType.THREAD: "t", AxisType.LOCAL: "l", AxisType.WARP: "w", AxisType.LOOP: "L", AxisType.UPCAST: "u", AxisType.GROUP_REDUCE: "G", AxisType.REDUCE: "R", AxisType.UNROLL: "r"}
axis_colors = {AxisType.GLOBAL: "blue", AxisType.THREAD: "BLUE", AxisType.LOCAL: "cyan", AxisType.WARP: "CYAN", AxisType.LOOP: "WHITE", AxisType.UPCAST: "yellow", AxisType.GROUP_REDUCE: "RED", AxisType.REDUCE: "red", AxisType.UNROLL: "magenta"}
def _coloured(text, axis):
  from tinygrad.helpers import colored
  return colored(text, axis_colors.get(axis))

_substitute = PatternMatcher([(UPat(tuple(Ops), name="x"), lambda ctx, x: ctx.get(x))])
__getattr__ = lacking(__name__)
_start_tracking()
