# No call crashes the process: methods of UOp and Tensor with arguments of every kind answer, or raise an exception of Python.
#   UOPSCOPE_FUZZ=100000 UOPSCOPE_SEED=3 uopscope run tests/engine/python/test_wrong_calls.py        # more of them, under the sanitizers
import inspect, os, random
from check import raises, run
from tinygrad import Tensor, UOp, dtypes
from tinygrad.uop import Ops

# Calls that compute, wait, write or read files, or take memory by a number: others test them.
LEFT_OUT = {"realize", "schedule", "schedule_with_vars", "custom_kernel", "backward", "kernelize", "from_url", "from_blob", "load", "save", "training",
            "manual_seed", "item", "tolist", "numpy", "data", "render", "viz", "fs_load", "fs_store", "decode_hevc_frame", "call_tracked"}

def test_axes_of_nodes():
  u = Tensor([1, 2, 3]).realize().uop
  for axis in (1, -2, 7, 2**40, -2**40):
    raises(IndexError, lambda: u.flip(axis), "flip", "out of range")
    raises(IndexError, lambda: u.r(Ops.ADD, (axis,)), "reduce", "out of range")
  assert u.flip(-1) is u.flip(0) and u.r(Ops.ADD, (-1,)) is u.r(Ops.ADD, (0,))

def test_numbers_have_no_axis():
  t, i = Tensor(2.0), Tensor(0)
  for call in (lambda: t.repeat_interleave(2, 0), lambda: t.roll(1, 0), lambda: t.gather(0, i), lambda: t.scatter(0, i, t), lambda: t.topk(1), lambda: t.split(1),
               lambda: t.chunk(1), lambda: t.unfold(0, 1, 1), lambda: t.unflatten(0, (1,))): raises(IndexError, call, "without axes")
  assert t.sum(0).item() == t.cumsum(0).item() == t.sort(0)[0].item() == 2.0  # these take a number for its only value
  assert i.one_hot(3).tolist() == [1, 0, 0]

def arguments(rng, values):
  pick = lambda: rng.choice([None, 0, 1, -1, 3, 9, -7, 2.5, True, "CPU", "name", "", (), (0,), (1, 0), (0, 0), (-1, 5), (2, 3), [1], ((0, 1),), ((1, -1), (0, 2)), ((0, 9), (0, 9)),
                              dtypes.float, dtypes.int, dtypes.bool, dtypes.half, Ops.ADD, Ops.MAX, Ops.NOOP, slice(None), object(), *values])
  return [pick() for _ in range(rng.choice([0, 1, 1, 2, 2, 3]))]

def named(rng, call, values):
  """Some of the keywords that a method takes, each with any value."""
  try: names = [p.name for p in inspect.signature(call).parameters.values() if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]
  except (TypeError, ValueError): names = []
  chosen = rng.sample(names, min(len(names), rng.choice([0, 0, 1, 1, 2, 3])))
  return {name: (arguments(rng, values) or [None])[0] for name in chosen}

def test_random_calls():
  count, rng = int(os.environ.get("UOPSCOPE_FUZZ", 4000)), random.Random(int(os.environ.get("UOPSCOPE_SEED", 7)))
  tensors = [Tensor([1.0, 2.0, 3.0]), Tensor([[1, 2], [3, 4]]), Tensor(2.0), Tensor.ones(2, 3, 4), Tensor([]), Tensor([True, False]), Tensor([1, 2], dtype=dtypes.uint8)]
  nodes = [t.uop for t in tensors] + [UOp.variable("v", 0, 9), UOp.const(dtypes.float, 1.5), UOp.const(dtypes.index, 3), UOp.range(4, 0), UOp.sink()]
  ways = [(c, name) for c in (Tensor, UOp) for name in dir(c) if not (name.startswith("_") and not name.startswith("__")) and name not in LEFT_OUT
          and name not in ("__class__", "__init__", "__new__", "__del__", "__reduce__", "__reduce_ex__", "__init_subclass__", "__subclasshook__", "__getattribute__", "__setattr__", "__delattr__", "__dir__")]
  raised = 0
  for _ in range(count):
    c, name = rng.choice(ways)
    values = rng.sample(tensors, 2) + rng.sample(nodes, 2)
    on = rng.choice(tensors if c is Tensor else nodes)
    try:
      made = getattr(on, name)
      if callable(made): made = made(*arguments(rng, values), **named(rng, made, values))
      if isinstance(made, (Tensor, UOp)): made.shape, made.dtype
    except Exception: raised += 1
  assert 0 < raised < count

if __name__ == "__main__": run(globals())
