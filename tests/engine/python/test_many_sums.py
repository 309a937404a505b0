# Sums to a single number that many kernels read, such as the norm that clips all gradients: computed once, each of its parts in lanes.
# Values against NumPy in float64.
import os
import numpy as np
from tinygrad import Device, GlobalCounters, Tensor
from tinygrad.codegen import get_program
from tinygrad.codegen.opt import OptOps
from tinygrad.uop import Ops
from check import run
rng = np.random.default_rng(5)

def clipped(shapes):
  """All tensors divided by their common norm: results, wanted results, operations, launches."""
  arrays = [rng.standard_normal(s).astype(np.float32) for s in shapes]
  tensors = [Tensor(a).realize() for a in arrays]
  GlobalCounters.reset()
  norm = sum((t * t).sum() for t in tensors).sqrt()
  out = [t / (norm + 1) for t in tensors]
  Tensor.realize(*out)
  wide = np.sqrt(sum((a.astype(np.float64) ** 2).sum() for a in arrays))
  return out, [a / (wide + 1) for a in arrays], GlobalCounters.global_ops, GlobalCounters.kernel_count

def test_values():
  for shapes in ([(128, 128)] * 3, [(3, 5), (200, 100), (7,), (64, 64), (1,)], [(30,)] * 4, [(300, 300), (128,)], [(0, 4), (5, 5), (100, 90)]):
    for got, want in zip(*clipped(shapes)[:2]): np.testing.assert_allclose(got.numpy(), want, rtol=2e-6, atol=1e-7)

def test_the_norm_is_computed_once():
  _, _, ops, launches = clipped([(128, 128)] * 30)
  assert ops < 6 * 30 * 128 * 128, ops  # a square and a sum, and one division for each element
  assert launches <= 32, launches

def test_operations_of_all_loops_are_counted():
  """A loop that comes after another one is not part of that one's addresses."""
  x, y, z = (Tensor(rng.standard_normal((128, 128)).astype(np.float32)).realize() for _ in range(3))
  programs = {2: lambda: x.square().sum(), 4: lambda: x.square().sum() + y.square().sum(), 6: lambda: x.square().sum() + y.square().sum() + z.square().sum()}
  for each, f in programs.items():
    GlobalCounters.reset()
    f().realize()
    assert each <= GlobalCounters.global_ops / 128 ** 2 < each + 0.1, (each, GlobalCounters.global_ops / 128 ** 2)
  GlobalCounters.reset()
  (x / y.square().sum()).realize()
  assert GlobalCounters.global_ops >= 3 * 128 ** 2

def test_a_single_reader_computes_it():
  x = Tensor(rng.standard_normal((100, 100)).astype(np.float32)).realize()
  GlobalCounters.reset()
  (x / x.square().sum()).realize()
  assert GlobalCounters.kernel_count == 1

def test_kernels_of_many_loops_run_on_threads():
  """The extents of loops side by side, multiplied, leave 64 bits: the work of a kernel is no such number."""
  def opts(t): return [o.op for item in t.schedule() for o in get_program(item.ast, Device[Device.DEFAULT].renderer).applied_opts or ()]
  x, y = (Tensor(rng.standard_normal((1024, 1024)).astype(np.float32)).realize() for _ in range(2))
  for f in (lambda x: x.softmax(), lambda x: x.layernorm()):
    z = x.detach().requires_grad_()
    found = opts((f(z) * y).sum().gradient(z)[0])
    assert os.cpu_count() == 1 or OptOps.THREAD in found, found
  assert OptOps.THREAD not in opts(Tensor(rng.standard_normal((16, 16)).astype(np.float32)).realize().softmax())

def test_every_sum_has_lanes():
  """Also sums of a row that follow each other in one kernel, and sums that stand side by side."""
  def unrolled(t):
    kernels = [get_program(e.ast, Device["CPU"].renderer) for e in t.schedule() if e.ast.op is Ops.SINK]
    return [[o.op.name for o in k.applied_opts].count("UNROLL") for k in kernels]
  assert unrolled(Tensor.empty(256, 4096).std(1)) == [2]
  assert unrolled(Tensor.empty(512, 1000).log_softmax(-1)) == [2]
  assert unrolled(sum(Tensor.empty(128, 128).square().sum() for _ in range(3))) == [3]

def test_special_values():
  for bad in (np.inf, -np.inf, np.nan):
    a, b = np.ones((200, 100), np.float32), np.full((200, 100), 2, np.float32)
    a[3, 4] = bad
    x, y = Tensor(a).realize(), Tensor(b).realize()
    total = x.sum() + y.max() + x.max()
    out = [t * total for t in (x, y)]
    Tensor.realize(*out)
    with np.errstate(invalid="ignore"): want = a.sum(dtype=np.float64) + b.max() + a.max()
    for got, source in zip(out, (a, b)):
      with np.errstate(invalid="ignore"): np.testing.assert_array_equal(got.numpy(), (source * want).astype(np.float32))

if __name__ == "__main__": run(globals())
