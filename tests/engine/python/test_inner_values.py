# PCONTIG: values that one kernel alone reads are stored inside it.
import numpy as np
from tinygrad import Tensor
from tinygrad.codegen.opt import Opt, OptOps
from tinygrad.helpers import Context
from check import close, run
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

if __name__ == "__main__": run(globals())
