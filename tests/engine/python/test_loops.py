# Loops over tensor operations: a range that indexes tensors and that a single node closes.
import numpy as np
from tinygrad import Tensor, UOp
from tinygrad.uop.ops import AxisType, Ops
from check import close, raises, run
rng = np.random.default_rng(0)
def array(*shape): return rng.normal(size=shape).astype(np.float32)

def test_a_sum_over_a_loop():
  x, mats = array(1, 4), array(3, 4, 4)
  for kind in (AxisType.LOOP, AxisType.OUTER, AxisType.REDUCE):
    i = UOp.range(3, -1, kind)
    out = Tensor((Tensor(x) @ Tensor(mats)[i]).uop.reduce(i, arg=Ops.ADD))
    assert out.shape == (1, 4)
    close(out * 2, 2 * sum(x @ m for m in mats), rtol=1e-4)
  i = UOp.range(4, -1)
  close(Tensor(Tensor(mats).permute(1, 0, 2)[i].uop.reduce(i, arg=Ops.MAX)), mats.max(1))

def test_gradients_are_summed_over_the_turns():
  x, mats = Tensor(array(1, 4), requires_grad=True), Tensor(array(3, 4, 4), requires_grad=True)
  i = UOp.range(3, -1)
  Tensor((x @ mats[i]).uop.reduce(i, arg=Ops.ADD)).square().sum().backward()
  total = x.numpy() @ mats.numpy().sum(0)
  close(x.grad, 2 * total @ mats.numpy().sum(0).T, rtol=1e-4)
  close(mats.grad, np.stack([2 * x.numpy().T @ total] * 3), rtol=1e-4)

def test_turns_side_by_side():
  t = array(5, 3)
  i = UOp.range(5, -1)
  close((Tensor(t)[i] + 1).reshape(1, 3).expand(i, 3).contiguous().realize(), t + 1)
  close((Tensor(t)[4 - i]).reshape(3, 1).expand(3, i).contiguous().realize(), t[::-1].T)

def test_stores_in_a_loop():
  a, acc = array(6, 2), Tensor.zeros(2).contiguous().realize()
  i = UOp.range(6, -100, AxisType.OUTER)
  now = acc.uop.after(i)
  at = UOp.variable("at", 0, 5).bind(i)
  out = Tensor(acc.uop.after(now.store((Tensor(now) * 0.5 + Tensor(a)[at]).uop).end(i)))
  want = np.zeros(2, np.float32)
  for row in a: want = want * 0.5 + row
  close(out, want, rtol=1e-4)

def test_a_loop_of_an_unknown_number_of_turns_is_refused():
  i = UOp.range(UOp.variable("n", 1, 5), -1)
  raises(RuntimeError, lambda: Tensor(Tensor(array(5, 2))[i].uop.reduce(i, arg=Ops.ADD)).tolist(), "number of turns")

if __name__ == "__main__": run(globals())
