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

if __name__ == "__main__": run(globals())
