# UOps, patterns, rewriting, settings and error types from Python.
import numpy as np
from tinygrad import Tensor, UOp, Variable, dtypes, Device, Context, GlobalCounters, getenv, TinyJit
from tinygrad.uop.ops import Ops, UPat, PatternMatcher, graph_rewrite, graph_rewrite_map, KernelInfo, AxisType, GroupOp, BottomUpGate, resolve
from tinygrad.helpers import DEBUG, prod
from check import close, raises, run

def test_one_object_per_node():
  a, b = UOp.const(dtypes.int, 3), UOp.const(dtypes.int, 3)
  assert a is b and a == b and UOp(Ops.CONST, dtypes.int, (), 3) is a and (a + 4) is (b + 4) and (a + 4).src[0] is a
  assert len({a, b}) == 1 and a.replace(arg=4) is UOp.const(dtypes.int, 4) and a.replace(arg=4) is not a

def test_fields_and_printing():
  r = UOp.range(16, 2, AxisType.REDUCE)
  assert r.op is Ops.RANGE and r.arg == (2, AxisType.REDUCE) and r.dtype is dtypes.index and r.src[0].arg == 16 and (r.vmin, r.vmax) == (0, 15)
  assert "Ops.RANGE" in str(r) and str(Ops.ADD) == "Ops.ADD" and Ops.ADD in GroupOp.ALU and str(dtypes.float32) == "dtypes.float" and repr(dtypes.float.vec(4)) == "dtypes.float.vec(4)"
  e = r * 4 + 2
  assert e.render() and list(e.toposort())[-1] is e and r in e.backward_slice and e.get_consumer_map()[r]
  seen = {}
  assert e.topovisit(lambda u: u.op, seen) is e.op and len(seen) == len(e.toposort())
  for visitor in (None, 3, "name", e): raises(TypeError, lambda: e.topovisit(visitor, {}), "visitor", "cannot be called")
  for cache in (None, [], 3, e): raises(TypeError, lambda: e.topovisit(lambda u: u, cache), "cache", "dict")
  raises(ZeroDivisionError, lambda: e.topovisit(lambda u: 1 / 0, {}))
  assert (e.vmin, e.vmax) == (2, 62) and e.substitute({r: r.const_like(3)}).ssimplify() == 14 and list(e.ranges) == [r]

def test_arithmetic_simplifies():
  n = Variable("n", 1, 10)
  assert ((n * 4 + 8) // 4).simplify() is (n + 2).simplify() and (n - n).ssimplify() == 0 and resolve(n < 11) is True and resolve(n > 10) is False
  assert (n * 6).divides(3) is not None and (n * 6).const_factor() == 6 and n.bind(3).unbind() == (n, 3)
  raises((AssertionError, ValueError), lambda: n.bind(11)), raises(ValueError, lambda: int(n + 1))

def test_constants_of_vector_types():
  c = UOp.const(dtypes.float.vec(4), 2)
  assert c.op is Ops.CONST and c.dtype == dtypes.float.vec(4) and c.arg == 2.0 and c.src == () and (c.vmin, c.vmax) == (2.0, 2.0) and c is UOp.const(dtypes.float.vec(4), 2.0)
  v = UOp(Ops.LOAD, dtypes.float.vec(4), (UOp(Ops.DEFINE_GLOBAL, dtypes.float.ptr(4), arg=0).index(UOp.const(dtypes.int, 0)),))
  assert v.const_like(0) is UOp.const(dtypes.float.vec(4), 0) and (v + v.const_like(0)).simplify() is v and (v * v.const_like(1)).simplify() is v
  assert (c + c.const_like(3)).simplify() is UOp.const(dtypes.float.vec(4), 5) and c.gep(1).simplify() is UOp.const(dtypes.float, 2)
  assert UOp.const(dtypes.float.vec(4), (2, 2.0, 2, 2)) is c and UOp.const(dtypes.int.vec(2), (1, 2)).op is Ops.VCONST
  both = UOp.const(dtypes.int.vec(3), (0, 1, 2)) + UOp.const(dtypes.int.vec(3), (2, 1, 0))
  assert both.simplify() is UOp.const(dtypes.int.vec(3), 2) and UOp.invalid().op is Ops.CONST

def test_patterns():
  x = UOp.variable("x", 0, 9); y = UOp.variable("y", 0, 9)
  def once(pat, node, fn=lambda **k: sorted(k)): return PatternMatcher([(pat, fn)]).rewrite(node)
  assert PatternMatcher([(UPat.var("a") + UPat.cvar("c"), lambda a, c: a)]).rewrite(x + 3) is x
  assert PatternMatcher([(UPat.var("a") + UPat.var("a"), lambda a: a * 2)]).rewrite(x + x) is x * 2 and PatternMatcher([(UPat.var("a") + UPat.var("a"), lambda a: a)]).rewrite(x + y) is None
  assert PatternMatcher([(UPat((Ops.ADD, Ops.MUL), src=(UPat.var("a"), UPat.var("b"))), lambda a, b: b)]).rewrite(x * y) is y
  assert PatternMatcher([(UPat(Ops.ADD, src=[UPat(Ops.CONST), UPat.var("v")]), lambda v: v)]).rewrite(x + 7) is x, "any order"
  assert PatternMatcher([(UPat(Ops.SINK, src=UPat(Ops.DEFINE_VAR), name="s"), lambda s: s.src[0])]).rewrite(UOp.sink(x, y)) is x, "one pattern for all sources"
  assert PatternMatcher([(UPat(Ops.SINK, src=(UPat.var("f"),), allow_any_len=True), lambda f: f)]).rewrite(UOp.sink(y, x)) is y and PatternMatcher([(UPat(Ops.SINK, src=(UPat.var("f"),)), lambda f: f)]).rewrite(UOp.sink(y, x)) is None
  assert PatternMatcher([(UPat(Ops.CONST, arg=3, name="c"), lambda c: x)]).rewrite(UOp.const(dtypes.int, 3)) is x and PatternMatcher([(UPat(Ops.CONST, dtype=dtypes.float, name="c"), lambda c: x)]).rewrite(UOp.const(dtypes.int, 3)) is None
  p = PatternMatcher([(UPat(Ops.MUL, src=(UPat.var("a").or_casted(), UPat.cvar("c"))), lambda a, c: a)])
  assert p.rewrite(x * 2) is x
  two = PatternMatcher([(UPat.var("a") * 1, lambda a: a)]) + PatternMatcher([(UPat.var("a") + 0, lambda a: a)])
  assert two.rewrite(x * 1) is x and two.rewrite(x + 0) is x and len(two) == 2
  assert PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), lambda ctx, v: ctx.append(v.expr))]).rewrite(x, ctx=(seen := [])) is None and seen == ["x"]
  assert PatternMatcher([(UPat(Ops.DEFINE_VAR, name="v"), lambda v: f"<{v.expr}>")]).rewrite(x) == "<x>", "an answer that is no node"
  rule = p.rules[0]
  assert rule.location[0].endswith("test_uop.py") and "or_casted" in rule.text

def test_graph_rewrite():
  x = UOp.variable("x", 0, 9)
  pm = PatternMatcher([(UPat.var("a") + UPat(Ops.CONST, arg=0), lambda a: a), (UPat.var("a") * UPat(Ops.CONST, arg=1), lambda a: a)])
  assert graph_rewrite((x * 1 + 0) * 1, pm, name="identities") is x and graph_rewrite((x * 1 + 0) * 1, pm, bottom_up=True) is x
  assert graph_rewrite_map(x * 1 + 5, pm)[x * 1] is x
  count = PatternMatcher([(UPat(Ops.CONST, name="c"), lambda ctx, c: ctx.update(n=ctx.get("n", 0) + 1))]); graph_rewrite(x * 3 + 5, count, ctx=(d := {})); assert d["n"] == 2
  class Mine(Exception): pass
  def fails(a): raise Mine("from the rule")
  raises(Mine, lambda: graph_rewrite(x * 7, PatternMatcher([(UPat(Ops.MUL, name="a"), fails)])), "from the rule")
  raises(RuntimeError, lambda: graph_rewrite(x * 7, PatternMatcher([(UPat(Ops.MUL, src=(UPat.var("a"), UPat.cvar("c"))), lambda a, c: a * (c.arg + 1))])), "infinite loop")
  raises(TypeError, lambda: graph_rewrite(x * 7, PatternMatcher([(UPat(Ops.MUL, name="a"), lambda a: 5)])), "UOp or None")
  def gate(a): raise BottomUpGate()
  assert graph_rewrite((x * 1) * 9, PatternMatcher([(UPat(Ops.MUL, src=(UPat(), UPat(Ops.CONST, arg=9)), name="a"), gate), (UPat.var("a") * UPat(Ops.CONST, arg=1), lambda a: a)]), bottom_up=True) is (x * 1) * 9

def test_custom_kernel():
  def add(c, a, b):
    i, j = UOp.range(c.shape[0], 0), UOp.range(c.shape[1], 1)
    return c[i, j].store(a[i, j] + b[i, j]).end(i, j).sink(arg=KernelInfo(name="add2d"))
  a, b = Tensor(np.arange(12, dtype=np.float32).reshape(3, 4)), Tensor(np.ones((3, 4), np.float32))
  out = Tensor.empty(3, 4).custom_kernel(a, b, fxn=add)[0]
  close(out, np.arange(12).reshape(3, 4) + 1), close(out + 1, np.arange(12).reshape(3, 4) + 2)
  def unclosed(c): return c[UOp.range(3, 0)].store(1.0).sink(arg=KernelInfo(name="open"))
  raises(Exception, lambda: Tensor.empty(3).custom_kernel(fxn=unclosed)[0].realize(), "range")

def test_settings_and_counters():
  before = DEBUG.value
  with Context(DEBUG=0, NOOPT=1): close(Tensor([1.0, 2.0]) + 1, [2, 3])
  assert DEBUG.value == before and getenv("SURELY_NOT_SET", 5) == 5 and prod((2, 3)) == 6
  raises(KeyError, lambda: Context(NO_SUCH_SETTING=1).__enter__())
  GlobalCounters.reset(); (Tensor([1.0, 2.0]) * 3).realize(); assert GlobalCounters.kernel_count == 1
  assert Device.canonicalize("cpu:0") == "CPU" and Device.DEFAULT in Device.canonicalize(None)
  with Context(SPEC=1): close(Tensor.ones(3, 3).sum(0), [3, 3, 3])

def test_devices():
  close(Tensor([1.0, 2.0], device="REF") * 2, [2, 4])
  close(Tensor([1.0, 2.0]).to("REF").add(1).to("CPU"), [2, 3])
  e = raises((RuntimeError, ValueError, KeyError), lambda: Tensor([1.0], device="NOSUCH").realize()); assert "NOSUCH" in str(e)
  raises(RuntimeError, lambda: (Tensor([1.0]) + Tensor([1.0], device="REF")).realize(), "device")

def test_variables_and_schedules():
  v = Variable("v", 1, 10).bind(3)
  close(Tensor([1.0, 2.0]) * v, [3, 6])
  a = Tensor(np.arange(10, dtype=np.float32)).realize(); close(a[Variable("w", 0, 9).bind(3)].reshape(1), [3]), close(a.shrink(((0, v),)).sum(), 3)
  s = (a + 1).schedule(); assert len(s) == 1 and s[0].ast.op is Ops.SINK; s[0].run()
  @TinyJit
  def f(x): return (x * 2).realize()
  for i in range(4): close(f(Tensor([float(i)])), [2.0 * i])

def test_tensor_identity_and_state():
  t = Tensor([1.0], requires_grad=True); (t * t).sum().backward()
  assert t.grad is t.grad and {t: 1}[t] == 1 and t.requires_grad is True and Tensor([1]).requires_grad is None
  raises(TypeError, lambda: bool(t)), raises(TypeError, lambda: len(Tensor(1))), raises(TypeError, lambda: t + "x")
  assert "Tensor" in repr(t)

def test_expressions_stand_in_parentheses_and_name_their_variables():
  a, b = Variable("a", 0, 10), Variable("b", 1, 5)
  for text, u in {"(a*2+1)": a * 2 + 1, "(a<5)": a < 5, "max(a, b)": a.maximum(b), "(a*(b+1))": a * (b + 1), "(a if (a<5) else b)": (a < 5).where(a, b),
                  "((a<b)&(b<3))": (a < b) & (b < 3), "(float)(a)": a.cast(dtypes.float), "a": a.bind(3), "7": UOp.const(dtypes.int, 7)}.items():
    assert u.render() == text, (text, u.render())
  assert (a * b + a).vars() == {a, b} and (a.bind(2) + b).vars() == {a.bind(2), b} and UOp.const(dtypes.int, 1).vars() == set()
  assert a.ufix(b) is b and a.ufix(3) is a.const_like(3)

def test_an_opt_that_does_not_fit_has_an_error_of_its_own():
  from tinygrad.codegen import get_program
  from tinygrad.codegen.opt import Opt, OptOps, KernelOptError
  ast = Tensor.ones(8, 8).contiguous().realize().sum(1).schedule()[-1].ast
  raises(KernelOptError, lambda: get_program(ast, "CPU", [Opt(OptOps.UPCAST, 9, 2)]))
  assert get_program(ast, "CPU", [Opt(OptOps.UNROLL, 0, 4)]).applied_opts == (Opt(OptOps.UNROLL, 0, 4),)

def test_division_by_a_product_and_a_shift_stays_within_its_type():
  from tinygrad.uop.decompositions import fast_idiv
  made = 0
  for dtype in (dtypes.int8, dtypes.uint8, dtypes.int16):
    for d in (3, 7, 10, 23, 46, 100):
      x = UOp.variable("x", max(dtype.min, -104), min(dtype.max, 140), dtype)
      quotient = fast_idiv(None, x, d)
      if quotient is None: continue
      made += 1
      for value in range(x.vmin, x.vmax + 1):
        got = quotient.substitute({x: x.const_like(value)}).simplify()
        assert got.op is Ops.CONST and got.arg == int(value / d), (dtype, d, value, got)
  assert made > 10, made

def test_objects_of_a_script_are_arguments():
  from dataclasses import dataclass
  @dataclass(frozen=True)
  class Setting:
    name: str
    size: int
  u = UOp(Ops.CUSTOM, dtypes.void, arg=Setting("a", 3))
  assert u.arg == Setting("a", 3) and u.arg.size == 3 and u is UOp(Ops.CUSTOM, dtypes.void, arg=Setting("a", 3)) and u is not UOp(Ops.CUSTOM, dtypes.void, arg=Setting("a", 4))
  assert "Setting(name='a', size=3)" in str(u) and u.replace(dtype=dtypes.int).arg == Setting("a", 3)
  class Unequal:
    def __repr__(self): return "unequal"
  UOp(Ops.CUSTOM, dtypes.void, arg=Unequal())
  raises(TypeError, lambda: UOp(Ops.CUSTOM, dtypes.void, arg=Unequal()), "another object")
  raises(TypeError, lambda: UOp(Ops.CUSTOM, dtypes.void, arg={1, 2}), "no hash")
  raises(Exception, lambda: UOp(Ops.CONST, dtypes.int, arg=Setting("a", 3)))

def test_constants_are_shown_as_they_are_written():
  for dtype in (dtypes.float32, dtypes.float64):
    u = UOp.const(dtype, 0.1)
    assert u.arg == 0.1 and u.vmin == u.vmax == 0.1 and "arg=0.1," in str(u) and UOp.const(dtype, u.arg) is u, (dtype, u.arg)
  assert UOp.const(dtypes.float32.vec(2), (1.5, -3.2)).arg == (1.5, -3.2) and UOp.const(dtypes.float32.vec(2), (1.5, -3.2)).vmin == -3.2
  assert UOp.const(dtypes.float32, 1 / 3).arg == 0.3333333432674408 and UOp.const(dtypes.half, 0.1).arg == 0.0999755859375  # what was computed, or is narrow, is told exactly
  assert Tensor(0.1).item() == 0.10000000149011612  # a value that was computed is told exactly

if __name__ == "__main__": run(globals())
