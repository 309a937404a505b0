# Wrongly made nodes raise an exception that names the operation, the field and the permitted values; no random node
# ends the process. UOPSCOPE_FUZZ=200000 UOPSCOPE_SEED=2 for a long run.
import os, random
from tinygrad import Tensor, UOp, dtypes
from tinygrad.uop.ops import Ops, KernelInfo, AxisType, graph_rewrite, PatternMatcher, UPat
from check import raises, run

def test_the_examples_of_the_review():
  t = Tensor.ones(4)
  e = raises(RuntimeError, lambda: UOp(Ops.REDUCE_AXIS, dtypes.float, (t.uop,)), "REDUCE_AXIS", "(operation, axes)")
  raises(RuntimeError, lambda: UOp(Ops.ADD, dtypes.float, (t.uop,)), "ADD", "2 sources", "1 was given")
  raises(RuntimeError, lambda: UOp(Ops.LOAD, dtypes.float, ()), "LOAD", "1 source or more")
  raises(RuntimeError, lambda: t.uop.replace(op=Ops.WHERE), "WHERE", "3 sources")
  raises(TypeError, lambda: dtypes.float.vec(4096), "4096 lanes")
  raises(RuntimeError, lambda: UOp(Ops.BITCAST, dtypes.void, (t.uop,)).shape, "BITCAST", "no values")

def questions(u):
  """Asks a node everything that a script can ask."""
  for ask in (lambda: u.shape, lambda: u.vmin, lambda: u.vmax, lambda: u.device, lambda: u.ranges, lambda: u.render(simplify=False), lambda: str(u), lambda: u.key, lambda: u.val,
              lambda: u.axis_type, lambda: u.base, lambda: u.size, lambda: u.toposort(), lambda: u.sink(arg=KernelInfo()), lambda: u + 1, lambda: u.cast(dtypes.int)): ask_one(ask)
def ask_one(ask):
  try: ask()
  except Exception: pass  # a refusal is an answer, a crash is not

def random_argument(rng):
  return rng.choice([None, 0, -1, 7, 2**70, 1.5, float("nan"), True, "name", "", (), (0,), (1, 0), (0, 1, 2, 3), ("CPU",), ("CPU", "CPU:1"), Ops.ADD, Ops.MAX, (Ops.ADD, (0,)), (Ops.MAX, (5,)), ("x", 0, 9), KernelInfo(), (0, AxisType.REDUCE),
                     AxisType.LOOP, object(), [1], {}, b"bytes"])

def test_two_ranges_of_one_number():
  def sums(out):
    i, j = UOp.range(4, 0, AxisType.UPCAST), UOp.range(8, 0, AxisType.UPCAST)
    return out[i].store((i + j).cast(out.dtype.base)).end(i).end(j).sink(arg=KernelInfo(name="sums"))
  e = raises(RuntimeError, lambda: Tensor.empty(4).custom_kernel(fxn=sums)[0].realize())
  assert "two ranges of number 0" in str(e) and "4" in str(e) and "8" in str(e), e

def test_random_nodes():
  count = int(os.environ.get("UOPSCOPE_FUZZ", 3000)); rng = random.Random(int(os.environ.get("UOPSCOPE_SEED", 1))); operations = list(Ops); types = [dtypes.float, dtypes.int, dtypes.bool, dtypes.index, dtypes.void, dtypes.half, dtypes.float.vec(4), dtypes.float.ptr(16), dtypes.uint8]
  start = [Tensor.ones(4).contiguous().uop, Tensor.arange(6).reshape(2, 3).uop, UOp.const(dtypes.index, 3), UOp.range(4, 0), UOp.variable("i", 0, 9)]
  good, made = 0, list(start)
  for k in range(count):
    if k % 600 == 0: made = list(start)  # the text of a node grows with its tree: graphs stay those of 600 tries
    op, src = rng.choice(operations), tuple(rng.choice(made) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4])))
    try: u = UOp(op, rng.choice(types), src, random_argument(rng))
    except Exception: continue
    good += 1; questions(u)
    made.append(u)
    if len(made) > 60: made.pop(rng.randrange(5, 60))
    if k % 10 == 0:
      try: graph_rewrite(u, PatternMatcher([(UPat(Ops.ADD, name="x"), lambda x: None)]))
      except Exception: pass
  assert good > count // 20, f"{good} of {count} were nodes"

def random_kernel(rng, out, x):
  """The SINK of a kernel as a script might write it: right, or wrong in one of many ways."""
  axes = [UOp.range(rng.choice([1, 2, 3, 4, 5]), rng.choice([k, k, k, 0, -1]), rng.choice([AxisType.LOOP] * 4 + list(AxisType))) for k in range(rng.randrange(4))]
  pick = lambda values: rng.choice(values) if values else UOp.const(dtypes.index, rng.choice([0, 1, 3, 7, -1]))
  index = lambda: sum((a * rng.choice([1, 2, 3]) for a in axes), UOp.const(dtypes.index, rng.choice([0, 0, 0, 1, 5]))) if rng.random() < 0.6 else pick(axes) % rng.choice([2, 4, 9])
  values = [UOp.const(x.dtype.base if rng.random() < 0.8 else dtypes.int, 2)] + axes
  def read(): return rng.choice([x, x, out]).flatten()[index()]
  for _ in range(rng.randrange(1, 6)):
    a, b = (read() if rng.random() < 0.5 else pick(values) for _ in range(2))
    values.append(rng.choice([lambda: a + b, lambda: a * b, lambda: a.maximum(b), lambda: (a < b).where(a, b), lambda: a.cast(rng.choice([dtypes.float, dtypes.half, dtypes.int, dtypes.bool])),
                              lambda: a.reduce(*axes[:rng.randrange(3)], arg=rng.choice([Ops.ADD, Ops.MUL, Ops.MAX])), lambda: a / b, lambda: -a])())
  effect = rng.choice([out, out, out, x]).flatten()[index()].store(values[-1] if rng.random() < 0.9 else pick(values))
  for _ in range(rng.choice([0, 0, 1])): effect = rng.choice([lambda: effect.barrier(), lambda: out.after(effect).flatten()[index()].store(pick(values)), lambda: UOp.group(effect, effect)])()
  closed = [a for a in axes if rng.random() < 0.95]
  if rng.random() < 0.1: rng.shuffle(closed)
  if closed: effect = effect.end(*closed)
  return effect.sink(arg=rng.choice([KernelInfo(name="random"), KernelInfo(name="random"), KernelInfo(name="", opts_to_apply=()), None]))

def test_random_kernels():
  """REF checks every access of a kernel; NULL compiles for a processor and runs nothing."""
  count, rng, good = int(os.environ.get("UOPSCOPE_FUZZ", 3000)) // 20, random.Random(int(os.environ.get("UOPSCOPE_SEED", 1))), 0
  for k in range(count):
    device = rng.choice(["REF", "NULL"])
    x = Tensor.empty(rng.choice([(4,), (2, 3), (12,)]), dtype=rng.choice([dtypes.float, dtypes.half, dtypes.int, dtypes.uint8]), device=device)
    try:
      Tensor.empty(*x.shape, dtype=x.dtype, device=device).custom_kernel(x, fxn=lambda out, x: random_kernel(rng, out, x))[0].realize()
      good += 1
    except (RuntimeError, ValueError, TypeError, AttributeError, IndexError, NotImplementedError, AssertionError, KeyError, ZeroDivisionError): pass
  assert count // 100 < good < count, f"{good} of {count} were kernels"

if __name__ == "__main__": run(globals())
