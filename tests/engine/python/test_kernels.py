# Handmade kernels and rules: gradients of custom kernels, patterns of any width, specs, gradients of graphs, memory of nodes.
import numpy as np
from tinygrad import Tensor, UOp, dtypes, Device
from tinygrad.uop import Ops
from tinygrad.uop.ops import UPat, PatternMatcher, KernelInfo, AxisType, graph_rewrite
from tinygrad.dtype import AddrSpace
from tinygrad.uop.spec import type_verify, tensor_spec, kernel_spec, program_spec
from tinygrad.gradient import compute_gradient
from tinygrad.codegen import get_program
from tinygrad.codegen.opt import Opt, OptOps
from check import close, raises, run

def square_kernel(out, x):
  i = UOp.range(out.size, 0)
  return out[i].store(x[i] * x[i]).end(i).sink(arg=KernelInfo(name="square"))

def test_a_stored_value_is_converted_to_the_type_of_its_memory():
  for dtype in (dtypes.float, dtypes.half, dtypes.int64, dtypes.uint8, dtypes.bool):
    def places(out):
      i = UOp.range(4, 0)
      return out[i].store(i).end(i).sink(arg=KernelInfo(name="places"))
    assert Tensor.empty(4, dtype=dtype).custom_kernel(fxn=places)[0].cast(dtypes.int).tolist() == ([0, 1, 1, 1] if dtype == dtypes.bool else [0, 1, 2, 3])

def test_steps_that_share_memory_keep_their_order():
  # a running sum, a product of rows in memory, and a loop that copies its memory along: no Opt may change a value
  def running(out, x, opts, kind):
    i = UOp.range(63, 0, kind)
    now = out.after(out[0].store(x[0]), i)
    return now[i + 1].store(now[i] + x[i + 1]).end(i).sink(arg=KernelInfo(name="running", opts_to_apply=opts))
  def rows(out, x, opts, kind):
    i, j = UOp.range(8, 0), UOp.range(7, 1, kind)
    one = out.after(out[i].store(1.0))
    return one.after(one[i].store(one.after(j)[i] * x[i * 7 + j]).end(j)).end(i).sink(arg=KernelInfo(name="rows", opts_to_apply=opts))
  def along(out, x, opts, kind):
    i = UOp.range(63, 0, kind)
    now = out.after(out[i].store(x[i]), i)
    return now[i + 1].store(x[i] * 2).end(i).sink(arg=KernelInfo(name="along", opts_to_apply=opts))
  def zeroed(out): return out.after(out[(z := UOp.range(32, 1))].store(0.0).end(z))
  def pairs(out, x, opts, kind):
    i, now = UOp.range(64, 0, kind), zeroed(out)
    now = now.after(i)
    return now[i // 2].store(now[i // 2] + x[i]).end(i).sink(arg=KernelInfo(name="pairs", opts_to_apply=opts))
  def scattered(out, x, opts, kind):
    i, now = UOp.range(64, 0, kind), zeroed(out)
    now, at = now.after(i), (x[i] * 8).cast(dtypes.index)
    return now[at].store(now[at] + x[i]).end(i).sink(arg=KernelInfo(name="scattered", opts_to_apply=opts))
  x = np.linspace(0.5, 1.5, 64, dtype=np.float32)
  wants = {running: np.cumsum(x), rows: x[:56].reshape(8, 7).prod(1), along: np.append(x[:63], x[62] * 2),
           pairs: x.reshape(32, 2).sum(1), scattered: np.bincount((x * 8).astype(int), x, 32)}
  tried = refused = 0
  for kernel, want in wants.items():
    for kind in (AxisType.LOOP, AxisType.REDUCE):
      for opts in [None, ()] + [(Opt(op, axis, arg),) for op in OptOps if op is not OptOps.TC for axis in (0, 1) for arg in (0, 2, 3, 7, 8)]:
        tried += 1
        try: out = Tensor.empty(len(want)).custom_kernel(Tensor(x), fxn=lambda out, x: kernel(out, x, opts, kind))[0].numpy()
        except RuntimeError as e:
          assert "does not fit" in str(e), e
          refused += 1
        else: assert np.allclose(out, want, rtol=1e-5), (kernel.__name__, kind, opts, out, want)
  assert refused < tried

def test_no_opt_changes_a_value():
  x = (np.arange(6 * 12) * 7 % 32 / 4 - 4).astype(np.float32).reshape(6, 12)
  programs = {"cumsum(0)": (lambda t: t.cumsum(0), x.cumsum(0)), "cumsum(1)": (lambda t: t.cumsum(1), x.cumsum(1)), "cummax(0)": (lambda t: t.cummax(0)[0], np.maximum.accumulate(x, 0)),
              "product": (lambda t: t @ t.T, x @ x.T), "max": (lambda t: t.max(1), x.max(1)), "sum of a sum": (lambda t: (t.sum(0) + t).sum(1), (x.sum(0) + x).sum(1)),
              "flip": (lambda t: t.flip(0).T + 1, np.flip(x, 0).T + 1), "prod": (lambda t: (t.clip(1, 2)).prod(0), x.clip(1, 2).prod(0))}
  singles = [Opt(OptOps.SWAP, a, b) for a in (0, 1) for b in (1, 2)] + [Opt(op, a, n) for op, amounts in ((OptOps.PADTO, (8,)), (OptOps.UPCAST, (0, 2, 3, 4)), (OptOps.UNROLL, (0, 2, 3)), (OptOps.THREAD, (2,))) for a in (0, 1, 2) for n in amounts]
  applied = 0
  for name, (f, want) in programs.items():
    for first in singles:
      for opts in ((first,), (first, singles[(len(name) * 7 + first.axis + applied) % len(singles)])):
        try: got = f(Tensor(x)).contiguous(arg=opts).numpy()
        except RuntimeError as e: assert "does not fit" in str(e), e
        else:
          applied += 1
          assert np.allclose(got, want, rtol=1e-5), (name, opts)
  assert applied > 60, applied

def test_gradient_of_a_custom_kernel():
  seen = []
  def backward(grad, kernel):
    seen.append(len(kernel.src))
    _, x = kernel.src
    return None, (Tensor(grad) * Tensor(x) * 2).uop
  x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
  out = Tensor.empty(3).custom_kernel(x, fxn=square_kernel, grad_fxn=backward)[0]
  (out * Tensor([1.0, 10.0, 100.0])).sum().backward()
  close(x.grad, [2, 40, 600])
  close(out, [1, 4, 9])
  assert seen == [2]

def test_a_custom_kernel_without_gradient_says_so():
  x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
  out = Tensor.empty(3).custom_kernel(x, fxn=square_kernel)[0]
  raises(RuntimeError, lambda: out.sum().gradient(x))
  def short(grad, kernel): return (None,)
  out = Tensor.empty(3).custom_kernel(x, fxn=square_kernel, grad_fxn=short)[0]
  raises(ValueError, lambda: out.sum().backward(), "grad_fxn", "2 buffers")

def product_kernel(C, A, B):
  i, j, k = UOp.range(C.shape[0], 0), UOp.range(C.shape[1], 1), UOp.range(A.shape[1], 2, axis_type=AxisType.REDUCE)
  C = C[i, j].set(0.0)
  C = C[i, j].set(C.after(k)[i, j] + A[i, k] * B[k, j], end=k)
  return C.end(i, j).sink(arg=KernelInfo(name="product", opts_to_apply=()))

def test_a_custom_kernel_may_end_in_memory():
  a, b = Tensor.arange(12).float().reshape(3, 4).contiguous(), Tensor.arange(20).float().reshape(4, 5)
  close(Tensor.custom_kernel(Tensor.empty(3, 5), a, b, fxn=product_kernel)[0], a.numpy() @ b.numpy())

def test_a_kernel_has_memory_of_its_own():
  assert Device[Device.DEFAULT].renderer.has_shared
  def doubled(out, x):
    tile, first = UOp(Ops.DEFINE_LOCAL, dtypes.float32.ptr(size=16, addrspace=AddrSpace.LOCAL), (), 0), UOp.const(dtypes.index, 0)
    filled = UOp(Ops.BARRIER, dtypes.void, (tile.index(first).store(x[0] * 2),))
    return out[0].store(tile.after(filled).index(first)).sink(arg=KernelInfo(name="doubled", opts_to_apply=()))
  close(Tensor.empty(1).custom_kernel(Tensor([21.0]).contiguous(), fxn=doubled)[0], [42])

def test_patterns_of_any_width():
  values = [UOp.variable(f"v{i}", 0, 9) for i in range(8)]
  wide = UOp(Ops.VECTORIZE, dtypes.index.vec(8), tuple(values))
  pm = PatternMatcher([(UPat(Ops.VECTORIZE, src=tuple(UPat.var(f"x{i}") for i in range(8)), name="v"), lambda v, x0, x7, **_: x0 + x7)])
  assert pm.rewrite(wide) is values[0] + values[7]
  assert graph_rewrite(wide.sink(), pm).src[0] is values[0] + values[7]
  seven = PatternMatcher([(UPat(Ops.VECTORIZE, src=tuple(UPat.var() for _ in range(7))), lambda: values[0])])
  assert seven.rewrite(wide) is None
  found = UPat(Ops.ADD, src=[UPat.var("a"), UPat(Ops.CONST, name="c")]).match(UOp.const(dtypes.index, 3) + values[0], {})
  assert len(found) == 1 and found[0]["a"] is values[0]

def test_matches_are_the_matchers():
  x, y = UOp.variable("x", 0, 9), UOp.variable("y", 0, 9)
  pair = UPat(src=[UPat.var("a"), UPat.var("b")])             # any operation, its sources in any order
  assert [(f["a"], f["b"]) for f in pair.match(x * y, {})] == [((x * y).src[0], (x * y).src[1]), ((x * y).src[1], (x * y).src[0])]
  assert pair.match(x * y, {"a": x, "more": 1}) == [{"a": x, "b": y, "more": 1}]
  assert UPat.var("twice", dtypes.float32).match(x, {}) == []
  assert [f["n"] for f in UPat.any(UPat(Ops.ADD, name="n"), UPat(Ops.MUL, name="n")).match(x * y, {})] == [x * y]
  named = PatternMatcher([(UPat(Ops.MUL, src=(UPat.var("a_name_of_many_letters"), UPat.var("a_name_of_many_other"))), lambda a_name_of_many_letters, a_name_of_many_other: a_name_of_many_other)])
  assert named.rewrite(x * y) is (x * y).src[1]

def test_specs():
  t = (Tensor([1.0, 2.0]) + 1).sum()
  type_verify(t.uop, tensor_spec)
  kernel = t.schedule()[-1].ast
  type_verify(kernel, kernel_spec)
  type_verify(get_program(kernel).uops, program_spec)
  bad = UOp(Ops.ADD, dtypes.float32, (UOp.const(dtypes.float32, 1.0), UOp.const(dtypes.int32, 1)))
  raises(RuntimeError, lambda: type_verify(bad, tensor_spec), "verification failed", "ADD")
  raises(RuntimeError, lambda: type_verify(UOp(Ops.IDIV, dtypes.float32, (UOp.const(dtypes.float32, 1.0),) * 2), kernel_spec), "IDIV")

def test_gradients_of_graphs():
  x, y = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 4.0]).realize()
  root = (x * y).sum()
  grads = compute_gradient(root.uop, Tensor(1.0).uop, {x.uop, y.uop})
  close(Tensor(grads[x.uop]), [3, 4])
  close(Tensor(grads[y.uop]), [1, 2])

def test_memory_and_shape_of_nodes():
  t = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
  b = t.uop.buffer
  assert b.size == 4 and b.nbytes == 16 and b.device == Device.DEFAULT and b.is_allocated() and b.as_buffer().cast("f").tolist() == [1, 2, 3, 4]
  b.copyin(memoryview(np.array([5, 6, 7, 8], dtype=np.float32)))
  close(t, [[5, 6], [7, 8]])
  raises(RuntimeError, lambda: (t + 1).uop.buffer, "realize")
  assert t.uop.flatten().shape == (4,) and Tensor.empty(2, 3, 4).uop.flatten(1).shape == (2, 12)
  assert t.uop.axis is None

def test_programs_for_a_renderer():
  kernel = (Tensor([1.0, 2.0]) + 1).schedule()[-1].ast
  p = get_program(kernel, Device["CPU"].renderer)
  assert p.name and p.src and p.uops

def test_a_kernel_runs_once_for_all_its_results():
  def two(a, x, b):
    i = UOp.range(3, 0)
    return UOp.sink(a[i].store(a[i] + x[i]).end(i), b[i].store(b[i] + x[i] * x[i]).end(i), arg=KernelInfo(name="two"))
  def made(): return Tensor([10., 10, 10]).realize().custom_kernel(Tensor([1., 2, 3]).realize(), Tensor([100., 100, 100]).realize(), fxn=two)
  a, _, b = made()
  y, z, total = a * 2, b * 3, (b + 1).sum()
  assert y.tolist() == [22, 24, 26] and z.tolist() == [303, 312, 327]
  assert (a.tolist(), b.tolist(), total.item()) == ([11, 12, 13], [101, 104, 109], 317)
  a, _, b = made()                                                # the results are assigned to, in one realize
  c, s = a.clone(), a + b
  c[0] = 1
  Tensor.realize(s, c)
  assert (s.tolist(), c.tolist(), b.tolist()) == ([112, 116, 122], [1, 12, 13], [101, 104, 109])

def test_a_kernel_that_no_value_needs_runs_for_the_next():
  x = Tensor([1.5, 2.5]).realize().custom_kernel(fxn=lambda o: o[(i := UOp.range(2, 0))].store(o[i] * 2).end(i).sink(arg=KernelInfo(name="twice")))[0]
  assert (x < x).clone().realize().tolist() == [False, False]
  assert x.tolist() == [3, 5] and x.tolist() == [3, 5]

def test_threads_of_a_running_sum():
  kernel = Tensor.arange(264).reshape(33, 8).float().contiguous().realize().cumsum(0).schedule()[-1].ast
  assert "core_id" in get_program(kernel, Device["CPU"].renderer, opts=[Opt(OptOps.THREAD, 0, 2)]).src

def test_one_index_counts_the_elements_of_an_argument():
  def double(out, x):
    i = UOp.range(x.size, 0)
    return out.index(i, ptr=True).store(x.index(i) * 2).end(i).sink(arg=KernelInfo(name="double"))
  x = Tensor.arange(24, dtype=dtypes.float).reshape(2, 3, 4).contiguous().realize()
  close(Tensor.empty(2, 3, 4).custom_kernel(x, fxn=double)[0], x.numpy() * 2)
  def product(out, x, w):                                         # (2, 3, 4) with (5, 4), every index by hand
    b, s, o, k = UOp.range(2, 1), UOp.range(3, 2), UOp.range(5, 3), UOp.range(4, 0, AxisType.REDUCE)
    value = (x.index(b * 12 + s * 4 + k) * w.index(o * 4 + k)).reduce(k, arg=Ops.ADD)
    return out.index(b * 15 + s * 5 + o, ptr=True).store(value).end(b, s, o).sink(arg=KernelInfo(name="product"))
  w = Tensor.arange(20, dtype=dtypes.float).reshape(5, 4).contiguous().realize()
  close(Tensor.empty(2, 3, 5).custom_kernel(x, w, fxn=product)[0], x.numpy() @ w.numpy().T)

if __name__ == "__main__": run(globals())
