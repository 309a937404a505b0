# Values that repeat along an axis are stored once; assignments to parts of them behave as if they were stored whole.
import numpy as np
from tinygrad import Tensor, TinyJit
from tinygrad.helpers import GlobalCounters
from check import close, run

COLUMN = np.arange(1, 5, dtype=np.float32).reshape(4, 1)
def spread(): return Tensor(COLUMN).realize().expand(4, 4) * 2
def whole(): return np.tile(COLUMN * 2, (1, 4))

def test_memory_and_values():
  a, b = Tensor.empty(1024, 1).realize().expand(1024, 1024), Tensor.empty(1024, 1).realize().expand(1024, 1024)
  GlobalCounters.reset()
  y = (a + b).realize()
  assert GlobalCounters.global_mem == 3 * 4096 and y.uop.base.buffer.size == 1024 and y.shape == (1024, 1024)
  y = spread().realize()
  close(y, whole()), close(y.sum(1), whole().sum(1)), close(y.T.contiguous(), whole().T), close(y + y.T, whole() + whole().T)
  for f in (lambda x: x.permute(1, 0), lambda x: x.reshape(16), lambda x: x[1:3], lambda x: x.reshape(2, 2, 4).exp()):
    y = f(spread()); y.realize()
    close(y, f(Tensor(whole())).numpy(), rtol=1e-5)

def test_what_differs_is_stored_whole():
  for y in ((spread() + Tensor(np.arange(4, dtype=np.float32)).realize()), spread().contiguous(), spread().pad(((0, 0), (1, 0))) + 1):
    assert y.realize().uop.base.buffer.size >= 16

def test_parts_are_assigned():
  y, want = spread().realize(), whole()
  y[0, 1] = want[0, 1] = 7
  close(y, want)
  y, want = spread(), whole()  # not computed before
  y[0, 1] = want[0, 1] = 7
  close(y, want)
  y, want = spread(), whole()
  row = y[1]
  y.realize()
  y[1, 2] = want[1, 2] = 9
  close(y, want), close(row, want[1])
  y, want = spread().realize(), whole()
  row = y[1]
  row.assign(Tensor([1.0, 2, 3, 4]))
  want[1] = [1, 2, 3, 4]
  close(row, want[1]), close(y, want)
  y = spread().realize()
  turned = y.T
  turned.assign(Tensor.zeros(4, 4))
  close(y, np.zeros((4, 4)))

def test_whole_assignments():
  y = spread().realize()
  y += 1
  close(y, whole() + 1)
  y[2] = 0
  want = whole() + 1
  want[2] = 0
  close(y, want)
  y = spread().realize()
  y.assign(Tensor.ones(4, 4))
  close(y, np.ones((4, 4)))

def test_copies_and_equal_values():
  y = spread().realize()
  copy, again = y.clone().realize(), spread().realize()
  y[0, 0] = 5
  close(copy, whole()), close(again, whole())
  a = Tensor(COLUMN).realize()
  x, z = a.expand(4, 4) * 3, a.expand(4, 4) * 3  # the same node
  Tensor.realize(x, z)
  x[0] = 0
  close(z, np.tile(COLUMN * 3, (1, 4)))

def test_jit():
  step = TinyJit(lambda a: (a.expand(4, 4) * 2).realize())
  for i in range(5): close(step(Tensor(COLUMN * i).realize()), whole() * i)

def test_two_equal_results_are_one_kernel():
  a, b = Tensor(COLUMN).realize(), Tensor(COLUMN).realize()
  x, y = a + b, a + b
  assert len(x.schedule(y)) == 1
  x, y = a + b, a + b
  Tensor.realize(x, y)
  x[0] = 0
  close(y, COLUMN * 2)

run(globals())
