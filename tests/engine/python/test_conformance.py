# Expectations of programs written for the reference: values that need no kernel, results and errors of single operations,
# sharded tensors, private names. Each test stands for a class of differences that the reference's own tests found.
import importlib.util, os, tempfile
import numpy as np
from tinygrad import Context, Device, GlobalCounters, Tensor, TinyJit, UOp, Variable, dtypes
from tinygrad.codegen.opt import Opt, OptOps
from tinygrad.uop import Ops
from tinygrad.device import Allocator, Compiled, CompileError
from tinygrad.engine.realize import get_program
from tinygrad.helpers import CPU_LLVM, VERSION
from tinygrad.mixin import MathMixin
from tinygrad.runtime.ops_disk import DiskDevice
from tinygrad.runtime.support.compiler_cpu import ClangJITCompiler, CPULLVMCompiler
from tinygrad.uop.ops import AxisType, KernelInfo, _substitute, graph_rewrite_map, python_alu
from tinygrad.uop.divandmod import div_and_mod_symbolic, fold_divmod_general
from check import close, raises, run

def kernels(t): return sum(item.ast.op is Ops.SINK for item in t.schedule())

# Values that need no kernel
def test_a_value_that_changes_nothing_is_no_kernel():
  x = Tensor([1.0, 2.0, 3.0, 4.0]).realize()
  for same in (x + 0, 0 + x, x * 1, x / 1, x - Tensor.zeros(4), x ** 1, -(-x), x + Tensor.zeros(2).pad(((1, 1),)), x.reshape(2, 2) * 1):
    assert kernels(same) == 0
    close(same.flatten(), [1, 2, 3, 4])
  y = Tensor.full((4,), 2.0).contiguous().realize()
  assert kernels((x * y) / y) == 0 and kernels(x + 1) == 1 and kernels(x * Tensor.ones(2).pad(((1, 1),))) == 1
def test_a_value_that_is_a_constant_is_no_kernel():
  x = Tensor([1.0, 2.0, 3.0]).realize()
  cases = [(x * 0, [0, 0, 0]), (x / x, [1, 1, 1]), (Tensor.ones(3) + Tensor.ones(3), [2, 2, 2]), (Tensor.full((2,), -1).cast(dtypes.uint16), [65535, 65535]),
           (Tensor.ones(4, 5).sum(), 20), (Tensor.ones(4, 5).sum(0), [4] * 5), (Tensor.full((3,), 2.0).prod(), 8), (Tensor.full((3,), 2).max(), 2),
           (Tensor.ones(4).pad(((1, 1),)).sum(), 4), (x * x.pad(((0, 3),))[3:], [0, 0, 0])]
  for value, want in cases:
    assert kernels(value) == 0, want
    close(value, want)
  assert kernels(Tensor.ones(4).pad(((1, 1),)).exp().sum()) == 1
def test_a_part_of_a_concatenation_does_not_compute_the_rest():
  a, b = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize(), Tensor([[5.0, 6.0]]).realize()
  for make, kernels_, want in ((lambda: Tensor.stack(a, a + 1)[0], 0, [[1, 2], [3, 4]]), (lambda: a.cat(b * 2, dim=0)[:2], 0, [[1, 2], [3, 4]]), (lambda: a.cat(b, dim=0)[2:], 0, [[5, 6]]),
                               (lambda: b.cat(a, b, dim=0)[1:3].cat(b)[1], 1, [3, 4]), (lambda: a.cat(b, dim=0)[1:], 1, [[3, 4], [5, 6]])):
    assert kernels(make()) == kernels_, want
    close(make(), want)
  part = Tensor.stack(a, a * 3)[0].realize()
  part += 1
  close(part, [[2, 3], [4, 5]]), close(a, [[1, 2], [3, 4]])
  whole = a.cat(b, dim=0)
  row = whole[2]
  row.realize()
  whole.assign(whole * 2)
  close(row, [10, 12]), close(whole, [[2, 4], [6, 8], [10, 12]]), close(b, [[5, 6]])
  deep = Tensor(1.0)
  for _ in range(24): deep = Tensor.stack(deep, deep)[0]
  assert kernels(deep) == 0 and deep.item() == 1
def test_what_shares_memory_is_a_value_of_its_own():
  x = Tensor([1.0, 2.0]).contiguous().realize()
  y = (x + 0).realize()
  x += 5
  close(y, [1, 2]), close(x, [6, 7])
  z = (x * 1).realize()
  z += 1
  close(x.realize(), [6, 7]), close(z, [7, 8])
  a, b = (x * 0).realize(), (x * 0).realize()
  a += 1
  close(a, [1, 1]), close(b, [0, 0])

# Operations
def test_cumulative_extremes_tell_where_they_are():
  x = np.array([[3, 1, 3, 5], [0, 2, 2, -1]], dtype=np.float32)
  values, where = Tensor(x).cummax(1)
  close(values, np.maximum.accumulate(x, 1)), close(where, [[0, 0, 0, 3], [0, 1, 1, 1]])
  values, where = Tensor(x).cummin(0)
  close(values, np.minimum.accumulate(x, 0)), close(where, [[0, 0, 0, 0], [1, 0, 1, 1]])
  assert where.dtype == dtypes.int32 and Tensor(2.0).cummax()[1].item() == 0 and Tensor.empty(0, 3).cummax(1)[1].shape == (0, 3)
def test_diagonals():
  x = np.arange(2 * 4 * 5).reshape(2, 4, 5)
  for offset in (-5, -2, 0, 1, 4, 7):
    for first, second in ((0, 1), (1, 2), (-1, 0)): close(Tensor(x).diagonal(offset, first, second), np.diagonal(x, offset, first, second))
  raises(RuntimeError, lambda: Tensor(x).diagonal(dim1=1, dim2=1))
def test_joining_numbers_and_lists():
  raises(IndexError, lambda: Tensor(1.0).cat(Tensor(2.0)))
  raises(ValueError, lambda: Tensor.stack((Tensor([1]), Tensor([2])), Tensor([3])))
def test_rearrange_dots_and_names():
  x = Tensor(np.arange(24).reshape(2, 3, 4))
  assert x.rearrange("... -> (...)").shape == (24,) and x.rearrange("a \u2026 -> \u2026 a").shape == (3, 4, 2) and x.rearrange("a ... -> (... a)").shape == (24,)
  raises(AssertionError, lambda: x.rearrange("(a b) c d -> a b c d", a=1, e=2), "e=2", "no axis of that name")
  for wrong in ("(...) -> (...)", "a b* c -> a b* c", "2b b c -> c b 2b", "_a b c -> c b _a", "a_ b c -> c b a_"): raises(AssertionError, lambda: x.rearrange(wrong))
def test_a_row_of_bytes_is_a_row_of_numbers():
  close(Tensor([b"abc", b"def"], dtype=dtypes.uint8), [[97, 98, 99], [100, 101, 102]])
def test_equal_numbers_have_gradients_of_their_own():
  a, b = Tensor(3.5), Tensor(3.5)
  a.requires_grad = b.requires_grad = True
  (a + b).backward()
  assert a.grad.item() == 1 and b.grad.item() == 1
def test_a_gradient_of_one_element():
  x = Tensor([2.0])
  close((x * x).sum().gradient(x, gradient=Tensor([3.0]))[0], [12])
def test_padding_by_a_variable():
  n = Variable("n", 1, 8).bind(3)
  x = Tensor(np.arange(8, dtype=np.float32)).realize()
  close(x[:n].pad(((0, 8 - n),)).reshape(8), [0, 1, 2, 0, 0, 0, 0, 0])

def test_a_ratio_of_exponentials_that_leave_the_range():
  x = Tensor([300.0, -300.0, 0.0, 2.0, -2.0])
  ratio = x.exp() / (1 + x.exp())
  want = 1 / (1 + np.exp(-x.numpy().astype(np.float64)))
  close(ratio, want), close(ratio.gradient(x, gradient=Tensor.ones(5))[0], want * (1 - want), rtol=1e-4)
def test_opts_for_one_kernel():
  opts = (Opt(OptOps.UPCAST, 0, 4),)
  a, b = Tensor(np.arange(16, dtype=np.float32)).realize(), Tensor.ones(16).contiguous().realize()
  for n, ask in enumerate((lambda t: t.contiguous(arg=opts), lambda t: t.contiguous(*opts), lambda t: t.contiguous(opts))):
    asked = ask(a + (b + n))
    item = asked.schedule()[-1]
    assert item.ast.arg.opts_to_apply == opts
    item.run()
    close(asked, np.arange(16) + 1 + n)
  other = a * b
  assert [i.ast.arg.opts_to_apply for i in Tensor.schedule((a + b).contiguous(arg=opts), other)].count(opts) == 1
  assert (a + b).contiguous(arg=()).schedule()[-1].ast.arg.opts_to_apply == ()
  assert (a + b).contiguous().schedule()[-1].ast.arg.opts_to_apply is None
  raises(TypeError, lambda: a.contiguous(arg=(1,)))

# Schedules and their cost
def test_a_value_is_not_stored_by_a_kernel_that_is_not_there():
  counter = Tensor.rand(32)
  Tensor._device_rng_counters[counter.device].realize()
  assert kernels(counter) == 1  # both halves of the few random bits are computed at their use
  large = Tensor.rand(1 << 16)
  Tensor._device_rng_counters[large.device].realize()
  assert kernels(large) == 2
def costs(t):
  e = t.schedule()[-1].lower().prg.estimates
  return e.ops, e.mem
def test_costs_of_a_kernel():
  a = Tensor.empty(64, 64, dtype=dtypes.uint8).realize()
  assert costs(a.assign(a + a))[1] == 2 * 64 * 64  # read once, written once
  for size in (256, 2560): assert costs(Tensor.arange(size).contiguous())[0] == 0
  assert costs((Tensor.empty(64).realize() + 1).contiguous())[0] == 64

# Sharded tensors
TWO = ("CPU:0", "CPU:1")
def test_all_reduce_of_shards():
  t = Tensor(np.arange(8, dtype=np.float32)).shard(TWO, 0).realize()
  close(Tensor(UOp.allreduce(t.uop, Ops.ADD, t.device)), [4, 6, 8, 10, 4, 6, 8, 10])
def test_draws_of_a_sharded_tensor_are_sharded():
  t = Tensor.empty(8, 4).shard(TWO, axis=0)
  for like in (t.rand_like(), t.randn_like(), (t + t).rand_like()):
    assert like.uop.axis == 0 and like.device == t.device and len(set(like.numpy()[:, 0])) == 8
  raises(RuntimeError, lambda: t.rand_like(device=TWO))
def test_shards_that_a_schedule_computes_are_kept():
  t = Tensor.ones(4).contiguous().realize().shard(TWO, 0)
  close((t + t).realize(), [2] * 4)
  assert t.uop.is_realized
def test_the_sources_of_a_sharded_tensor_are_its_parts():
  t = Tensor.ones(8, 2).contiguous().realize().shard(TWO, 0)
  assert [s.shape for s in t.uop.src] == [(4, 2)] and [p.device for p in t.uop.src[0].src] == ["CPU", "CPU:1"] and t.device == t.uop.src[0].device == ("CPU", "CPU:1")
  for _ in range(3): Tensor([1.0]).realize(), GlobalCounters.mem_used  # memory of what nothing reaches is given back
  assert t.uop.src[0].device == ("CPU", "CPU:1") and (t + t).device == t.device
  close(t + t, np.full((8, 2), 2.0)), close(t.clone() + 1, np.full((8, 2), 2.0))
def test_a_tensor_of_a_node_is_on_the_default_device():
  t = Tensor([1, 2]).shard(TWO, 0)
  assert Tensor(t.uop).device == Device.DEFAULT
  close(Tensor(t.uop), [1, 2])

def test_a_kernel_by_hand_of_shards():
  def add(out, a, b):
    i, j = UOp.range(out.shape[0], 0), UOp.range(out.shape[1], 1)
    return out[i, j].store(a[i, j] + b[i, j]).end(i, j).sink()
  a, b = Tensor.ones(4, 2).contiguous().shard(TWO, 0), Tensor.full((4, 2), 2.0).contiguous().shard(TWO, 0)
  out = Tensor(Tensor.empty(2, 2, device=TWO).uop.multi(0), device=TWO)
  assert out.shape == (4, 2)
  close(Tensor.custom_kernel(out, a, b, fxn=add)[0], np.full((4, 2), 3.0))
def test_a_kernel_by_hand_that_makes_lanes_of_a_range():
  def swap(out, x):
    row, column = UOp.range(x.shape[0], 0), UOp.range(2, 1, AxisType.UPCAST)
    pair = x[row, column].contract(column)
    return UOp.group(out[row, 0].store(pair.gep(1)), out[row, 1].store(pair.gep(0))).end(row).sink(arg=KernelInfo(name="swap", opts_to_apply=()))
  x = np.arange(10, dtype=np.float32).reshape(5, 2)
  close(Tensor.empty(5, 2).custom_kernel(Tensor(x).contiguous(), fxn=swap)[0], x[:, ::-1])
  # What reads the result in the same schedule is in no loop over the lanes.
  made = Tensor.empty(5, 2).custom_kernel(Tensor(x).contiguous(), fxn=swap)[0]
  assert (Tensor(x).flip(1) == made).all().item() and made.sum().item() == x.sum()

# Names and numbers
def test_streams_of_random_numbers():
  Tensor.manual_seed(3)
  assert not Tensor._device_seeds and not Tensor._device_rng_counters
  Tensor.rand(4).realize()
  assert Tensor._device_rng_counters[Device.DEFAULT].tolist() == [4] and Tensor._device_seeds[Device.DEFAULT].tolist()[1] == 3
  key, low, high = Tensor._device_seeds[Device.DEFAULT], Tensor([0, 1], dtype=dtypes.uint32), Tensor([2, 3], dtype=dtypes.uint32)
  words = Tensor._threefry_random_bits(key, low, high).numpy()
  Tensor.manual_seed(3)
  close(Tensor.rand(4), (words >> 9) / 2.0 ** 23)
def test_accumulation_before_each_element():
  close(Tensor([1, 2, 3])._cumalu(0, Ops.ADD, _include_initial=True), [0, 1, 3]), close(Tensor([1, 2, 3])._cumalu(0, Ops.MUL), [1, 2, 6])
def test_memory_in_use_is_told_exactly():
  before = GlobalCounters.mem_used
  t = Tensor.zeros(100, 100).contiguous().realize()
  assert GlobalCounters.mem_used - before == 40000
  del t
  assert GlobalCounters.mem_used == before
def test_operations_of_python_take_tensors():
  close(python_alu[Ops.ADD](Tensor([1]), Tensor([2])), [3])
  assert python_alu[Ops.MUL](3, 4) == 12

def test_what_runs_while_nothing_is_captured_is_not_replayed():
  @TinyJit
  def f(x):
    with Context(CAPTURING=0): Tensor.zeros(3).contiguous().realize()
    return (x + 1).realize()
  for i in range(4):
    close(f(Tensor([float(i)]).realize()), [i + 1])
  assert len(f.jit_cache) == 1

# Nodes
def test_vectors_of_constants():
  a, b = UOp.const(dtypes.int.vec(3), (0, 1, 2)), UOp.const(dtypes.int.vec(3), (5, 6, 7))
  assert (a + b).simplify().arg == (5, 7, 9) and a.gep((2, 1)).simplify().arg == (2, 1)
  vector = UOp(Ops.VECTORIZE, dtypes.int.vec(3), tuple(UOp.const(dtypes.int, i) for i in range(3)))
  assert vector.render(simplify=False) == "{0,1,2}" and vector.render() == "(0, 1, 2)" and vector.src[1].broadcast(3).render() == "1"
def test_simplest_forms():
  a, b, x = UOp.variable("a", 0, 100), UOp.variable("b", 0, 3), UOp.variable("x", -10, 10, dtypes.int)
  assert ((a * -1 + 103) // 4).simplify().render() == (a // 4 * -1 + 25).simplify().render()
  assert x.cast(dtypes.int8).cast(dtypes.float).simplify() is x.cast(dtypes.float)
  assert (a < 6).where((a < 3).where(b, a), b).simplify() is ((a < 6) & (a < 3).logical_not()).where(a, b).simplify()
def test_z3_of_another_version_than_that_of_llvm():
  if not importlib.util.find_spec("z3"): return
  import z3
  x = z3.Int("x")
  solver = z3.Solver()
  solver.add(x > 2, x < 4)
  assert solver.check() == z3.sat and str(solver.model()) == "[x = 3]"

def test_tinyfs_makes_graphs():
  name = Tensor.zeros(10_000_000).fs_store()                     # 39 chunks: their names fill a chunk, which has one
  assert name.shape == (16,) and name.dtype == dtypes.uint8
  for size in (0, 1, 1024, 1 << 20, (1 << 20) + 1, 1 << 37): assert Tensor(bytes(16)).fs_load(size).shape == (size,)
  raises(RuntimeError, lambda: Tensor([1]).fs_store().tolist(), "TINYFS:STORE")
  raises(ValueError, lambda: Tensor([1, 2]).fs_load(3), "16 bytes")

def test_buffer_of_a_view():
  t = Tensor.empty(2, 6)
  assert t.reshape(3, 4).uop.buffer is t.uop.buffer
  for view in (t.permute(1, 0), t[1:], t.flip(0), t.reshape(4, 3).permute(1, 0).reshape(12)):
    raises(AssertionError, lambda: view.uop.buffer, "can only be RESHAPE")
    assert view.uop.base.buffer is t.uop.buffer

def test_a_file_is_a_device_with_a_descriptor():
  with tempfile.NamedTemporaryFile() as f:
    f.write(bytes(range(64))), f.flush()
    device = Device[f"disk:{f.name}"]
    assert isinstance(device, DiskDevice) and device.count == 0 and device.size == 64 and device.fd == device.fd and os.pread(device.fd, 2, 3) == b"\3\4"
    whole, part = (Tensor.empty(n, device=f"disk:{f.name}", dtype=dtypes.uint8).realize() for n in (64, 16))
    assert device.count == 2 and Device[whole.device] is device and bytes(device.mem[:4]) == bytes(whole[:4].to("CPU").tolist()) == bytes(range(4))
    del part
    assert device.count == 1
  assert device.size is None
def test_an_operator_is_named_like_its_method():
  a, b = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 4.0]).realize()
  for name, t in (("__add__", a + b), ("__rsub__", 2 - a), ("__mul__", a * b), ("__truediv__", a / b), ("__neg__", -b), ("__matmul__", a @ b), ("mul", a.mul(3)), ("__lt__", a < b)):
    assert t.uop.metadata[0].name == name, (name, t.uop.metadata)

# Rewriting, compilers
def test_a_map_of_a_rewrite_has_every_node():
  a, b, c, d, e, f = (UOp.variable(name, 0, 10) for name in "abcdef")
  sub = {a + b: e, (a + b) * c: f}                                # a + b lies below a node that is replaced first
  found = graph_rewrite_map((a + b) * c + d, _substitute, sub, bottom_up=True)
  assert found[a + b] is e and found[(a + b) * c] is f and found[(a + b) * c + d] is f + d and found[a] is a
def test_compilers_of_kernels():
  source = get_program((Tensor([1.0, 2.0]) + 1).schedule()[-1].ast, Device["CPU"].renderer).src
  for settings, kind in (({"CPU_LLVM": 1}, CPULLVMCompiler), ({"CPU_LLVM": 0}, ClangJITCompiler), ({"CPU_CC": "LLVM"}, CPULLVMCompiler), ({"CPU_CC": "CLANGJIT"}, ClangJITCompiler)):
    with Context(**settings):
      compiler = Device["CPU"].compiler
      assert type(compiler) is kind and compiler is Device["CPU"].compiler and len(compiler.compile(source)) > 16
  ir = "define i32 @three() {\n  ret i32 3\n}\n"
  assert len(CPULLVMCompiler().compile(ir)) > 4
  raises(CompileError, lambda: ClangJITCompiler().compile(ir), "clang does not compile it")
  before = CPU_LLVM.value
  with Context(CPU_CC="CLANGJIT"): assert CPU_LLVM.value == 0
  assert CPU_LLVM.value == before
  def choose():
    with Context(CPU_CC="GCC"): pass
  raises(ValueError, choose, "CPU_CC=GCC: no such compiler")

class Tile(MathMixin):
  """A tensor with the two methods that the mixin asks for, and with none of Tensor's own."""
  def __init__(self, t): self.t = t
  dtype = property(lambda self: self.t.dtype)
  def alu(self, op, *src): return Tile(Tensor(self.t.uop.alu(op, *(s.t.uop for s in src))))
  def const_like(self, number): return Tile(Tensor(self.t.uop.const_like(number)))
def test_functions_of_a_class_with_alu():
  numbers = [-7.0, -2.5, -0.5, 0.0, 0.25, 1.0, 3.5, 6.5]
  x, y = Tensor(numbers).realize(), Tensor([2.0, -1.0, 0.5, 3.0, -4.0, 1.0, 8.0, 0.25]).realize()
  for name in ("neg", "square", "relu", "relu6", "sigmoid", "tanh", "silu", "swish", "quick_gelu", "gelu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "ceil", "floor", "trunc",
               "isnan", "isinf", "isfinite", "exp2", "reciprocal", "sin"):
    close(getattr(Tile(x), name)().t, getattr(x, name)().numpy())
  for f in (lambda a, b: a + b * 2 - 3, lambda a, b: 3 - a / b, lambda a, b: 2 / b + 1 * a, lambda a, b: a.maximum(b).minimum(2), lambda a, b: (a < b).where(a, 1),
            lambda a, b: (a >= b).where(0, b), lambda a, b: (a > 1) | (b <= 1), lambda a, b: a.eq(b) ^ a.ne(1), lambda a, b: a.clamp(-1, 2), lambda a, b: -a, lambda a, b: b.clip(max_=1)):
    close(f(Tile(x), Tile(y)).t, f(x, y).numpy())
  whole = Tile(Tensor([1, 2, 3, 200]).realize())
  close(((whole << 2) | 1).t, [5, 9, 13, 801])
  close((1 ^ whole & 6).t, [1, 3, 3, 1])
  assert not (whole == Tile(whole.t)) and whole == whole and len({whole, whole}) == 1
  raises(RuntimeError, lambda: Tile(x) & 1, "AND takes whole numbers and bool")
  raises(RuntimeError, lambda: Tile(x).where(1, 2), "one of them has to be a value")
  raises(NotImplementedError, lambda: MathMixin() + 1, "const_like")
def test_names_of_programs():
  x = UOp.variable("x", 0, 9)
  assert fold_divmod_general(x % 16) is x and fold_divmod_general(x + 1) is None and len(div_and_mod_symbolic) > 0
  assert isinstance(VERSION, int) and dtypes.float.ptr(4)._base is not None and dtypes.float.ptr(4)._base == dtypes.float
  class OfMyDevice(Allocator[Compiled]): pass
  assert issubclass(OfMyDevice, Allocator)

# Large sizes
def test_an_index_beyond_32_bits():
  size = 2**31 + 3
  close(Tensor([1]).expand(size)[Tensor([0, size - 1])], [1, 1])
  numbers = Tensor.arange(-5, 2**33, 3, dtype=dtypes.int64)
  close(numbers[2**31 + 7:2**31 + 9], [3 * (2**31 + 7) - 5, 3 * (2**31 + 8) - 5])
  assert numbers.shape == ((2**33 + 5 + 2) // 3,)

def test_the_constant_factor_of_deep_sums_and_of_shared_ones():
  x = UOp.variable("x", 0, 10)
  deep = shared = x * 6
  for k in range(100000): deep = deep + UOp.variable(f"y{k}", 0, 10) * 4
  for _ in range(200): shared = shared + shared
  assert deep.const_factor() == 2 and shared.const_factor() == 6

if __name__ == "__main__": run(globals())
