# PCONTIG: values that one kernel alone reads are stored inside it.
import numpy as np
from tinygrad import Tensor
from tinygrad.codegen.opt import Opt, OptOps
from tinygrad.helpers import Context
from check import close, run
from test_one_value import levels
rng = np.random.default_rng(5)
def draw(*shape): return rng.standard_normal(shape).astype(np.float32)

def kernels(f, *arrays):
  """How many kernels it takes with PCONTIG=0, 1 and 2; the results agree."""
  counts, results = [], []
  for level in (0, 1, 2):
    with Context(PCONTIG=level):
      out = f(*map(Tensor, arrays))
      items = out.schedule()
      counts.append(len(items))
      for item in items: item.run()
      results.append(out.numpy())
  close(results[1], results[0], rtol=1e-4, atol=1e-5), close(results[2], results[0], rtol=1e-4, atol=1e-5)
  return counts

def test_products_become_one_kernel():
  a, b, c, d = draw(12, 16), draw(16, 20), draw(20, 8), draw(8, 6)
  assert kernels(lambda a, b, c: a @ b @ c, a, b, c) == [2, 2, 1]
  assert kernels(lambda a, b, c, d: a @ b @ c @ d, a, b, c, d) == [3, 3, 1]
  close(Tensor(a) @ Tensor(b) @ Tensor(c), a @ b @ c, rtol=1e-4, atol=1e-4)

def test_every_loop_takes_opts():
  a, b, c = draw(16, 16), draw(16, 16), draw(16, 16)
  for opts in ([("UPCAST", 0, 4)], [("UPCAST", 1, 4)], [("UPCAST", 2, 4)], [("UPCAST", 0, 2), ("UPCAST", 2, 8)], [("UNROLL", 0, 4), ("UNROLL", 1, 4)],
               [("UPCAST", 2, 4), ("UNROLL", 0, 4), ("UNROLL", 1, 2)], [("UPCAST", 0, 4), ("UPCAST", 1, 4), ("UPCAST", 2, 2), ("UNROLL", 0, 2)]):
    with Context(PCONTIG=2): out = (Tensor(a) @ Tensor(b) @ Tensor(c)).contiguous(arg=tuple(Opt(getattr(OptOps, name), axis, n) for name, axis, n in opts)).realize()
    close(out, a @ b @ c, rtol=1e-4, atol=1e-4)

def test_attention_and_softmax():
  q, k, v = draw(2, 3, 16, 8), draw(2, 3, 16, 8), draw(2, 3, 16, 8)
  counts = kernels(lambda q, k, v: q.scaled_dot_product_attention(k, v), q, k, v); assert counts[2] == 1 < counts[0], counts
  counts = kernels(lambda q, k, v: q.scaled_dot_product_attention(k, v, is_causal=True), q, k, v); assert counts[2] == 1 < counts[0], counts
  assert kernels(lambda x: x.softmax(), draw(24, 40))[2] == 1
  for f in (lambda x: x.layernorm(), lambda x: x.log_softmax(), lambda x: x.std(1), lambda x: (x - x.mean(1, keepdim=True)).softmax(0), lambda x: x.pad(((1, 1), (0, 2))).cumsum(1).softmax()): kernels(f, draw(24, 40))

def test_what_several_kernels_read_has_memory():
  def gradients(x, w):
    x.requires_grad = w.requires_grad = True
    return Tensor.cat(*((x @ w).relu().softmax() @ w.T).square().mean().gradient(x, w), dim=0)
  kernels(gradients, draw(12, 10), draw(10, 10))
  def losses(x, y):
    x.requires_grad = True
    return (x.cross_entropy(y.softmax(1)) + 1).square().gradient(x)[0]
  kernels(losses, draw(32, 4, 4, 4), draw(32, 4, 4, 4))

def test_large_rows_have_memory():
  assert kernels(lambda x: x.softmax(), draw(2, 20000))[2] > 1 # more than a stack takes

def rows(f, *arrays, tolerance=1e-5):
  """How many kernels it takes with rows kept and without; the results agree."""
  counts, results = [], []
  for level in (0, -1):
    with Context(PCONTIG=level):
      out = f(*map(Tensor, arrays)); items = out.schedule(); counts.append(len(items))
      for item in items: item.run()
      results.append(out.numpy())
  close(results[0], results[1], rtol=1e-4, atol=tolerance)
  return counts

def test_rows_are_read_from_memory_once():
  x, w = draw(256, 768), draw(256, 768); x[3, 5] = np.inf; x[4, 6] = -np.inf; x[5, 7] = np.nan
  for f in (lambda x: x.softmax(), lambda x: x.log_softmax(), lambda x: x.argmax(1), lambda x: x.argmin(1), lambda x: x.logsumexp(1)):
    assert rows(f, x)[0] == 1 < rows(f, x)[1]
  y = draw(4, 96, 512)
  for f in (lambda x: x.layernorm(), lambda x: x.std(-1), lambda x: x.half().softmax(), lambda x: x.double().softmax(), lambda x: x.softmax(1)): rows(f, y, tolerance=1e-3)

def test_gradients_of_rows():
  def gradient(f):
    def of(x, w):
      x.requires_grad = True
      return (f(x) * w).sum().gradient(x)[0]
    return of
  x, w = draw(256, 768), draw(256, 768)
  for f in (lambda x: x.softmax(), lambda x: x.log_softmax(), lambda x: x.layernorm()): assert rows(gradient(f), x, w)[0] == 1

def test_products_beside_rows():
  x, w = draw(512, 256), draw(256, 512)
  for f in (lambda x, w: (x @ w).softmax(), lambda x, w: x.softmax() @ w, lambda x, w: ((x @ w) * (x @ w).sigmoid()) * x.sum(1, keepdim=True), lambda x, w: (x @ w).layernorm() @ w.T):
    assert rows(f, x, w, tolerance=1e-3)[0] <= rows(f, x, w, tolerance=1e-3)[1]

def test_one_answer_for_rows_whatever_the_lanes():
  x = draw(256, 512)
  for level in levels():
    with Context(CPU_TARGET=level): close(Tensor(x).softmax(), np.exp(x - x.max(1, keepdims=True)) / np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True), rtol=1e-4, atol=1e-6); assert np.array_equal(Tensor(x).argmax(1).numpy(), x.argmax(1))

if __name__ == "__main__": run(globals())
