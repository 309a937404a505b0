# The reference's inner modules in use: a script's own settings, buffers, runners, schedulers, rule sets, and names without
# a meaning here.
import gc, io, os, pickle, contextlib, tempfile
from tinygrad import Tensor, Device, dtypes, UOp
from tinygrad.helpers import ContextVar, Context, DEBUG, argfix, get_contraction, round_up, round_down, cdiv, cmod, word_wrap, strip_parens, merge_dicts, diskcache_get, diskcache_put, tqdm
from tinygrad.device import Buffer, LRUAllocator
from tinygrad.engine.realize import CompiledRunner, BufferCopy, get_program, get_runner, run_schedule
from tinygrad.engine.schedule import ExecItem
from tinygrad.codegen.opt import Opt, OptOps, KernelOptError
from tinygrad.codegen.opt.postrange import Scheduler
from tinygrad.codegen.opt.search import get_kernel_actions
from tinygrad.uop.ops import Ops, UPat, PatternMatcher, KernelInfo, exec_alu, graph_rewrite
from tinygrad.uop.symbolic import symbolic, commutative
from check import raises, run

def test_the_collector_lists_what_is_alive():
  def alive(kind): return sum(isinstance(x, kind) for x in (gc.collect(), gc.get_objects())[1])
  Tensor.manual_seed(0)
  tensors = alive(Tensor)
  a, b = Tensor.rand(4, 4, requires_grad=True), Tensor.ones(4, 4, requires_grad=True)
  assert alive(Tensor) == tensors + 4, "two tensors, the key and the counter of the random numbers"
  (a * b).sum().backward()
  assert alive(Tensor) == tensors + 6 and any(x is a for x in gc.get_objects())
  del a, b
  assert alive(Tensor) == tensors + 2
  buffers, x = alive(Buffer), Tensor.empty(10).realize()
  held = x.uop.buffer
  assert alive(Buffer) == buffers + 1 and held.uop_refcount == 1
  del x.uop
  assert held.uop_refcount == 0 and alive(Buffer) == buffers + 1
  for use in (lambda: x.tolist(), lambda: x + 1, lambda: x.shape): raises(Exception, use)
  del held
  assert alive(Buffer) == buffers and gc.get_objects(generation=0) is not None

OWN = ContextVar("SURFACE_TEST", 3)
def test_settings_of_a_script():
  assert OWN == 3 and OWN.value == 3
  with Context(SURFACE_TEST=5, DEBUG=0): assert OWN.value == 5
  @Context(SURFACE_TEST=7)
  def inside(): return OWN.value
  assert inside() == 7 and OWN.value == 3
  raises(RuntimeError, lambda: ContextVar("SURFACE_TEST", 1), "SURFACE_TEST")
  raises(KeyError, lambda: Context(NO_SUCH_SETTING=1).__enter__(), "NO_SUCH_SETTING")
  said = io.StringIO()
  with contextlib.redirect_stderr(said):
    for _ in range(2):
      with Context(IMAGE=1): pass
  assert said.getvalue().count("IMAGE=1 changes nothing here") == 1, said.getvalue()

def test_small_functions():
  assert argfix([1, 2]) == (1, 2) and argfix(1, 2) == (1, 2) and (round_up(5, 4), round_down(-5, 4)) == (8, -8)
  assert (cdiv(-7, 2), cmod(-7, 2), cdiv(7, -2)) == (-3, -1, -3)
  assert get_contraction((2, 3, 4), (6, 4)) == [[0, 1], [2]] and get_contraction((2, 3, 4), (8, 3)) is None and get_contraction((1, 2, 1), (2,)) == [[0, 1, 2]]
  assert strip_parens("(a+(b))") == "a+(b)" and strip_parens("(a)+(b)") == "(a)+(b)" and word_wrap("abcdef", 4) == "abcd\nef"
  raises(RuntimeError, lambda: merge_dicts([{"a": 1}, {"a": 2}]), "a")
  with contextlib.redirect_stderr(io.StringIO()) as shown: assert list(tqdm(range(3), desc="x")) == [0, 1, 2]
  assert "100%" in shown.getvalue() and "3/3" in shown.getvalue()

def test_results_are_kept_on_disk():
  with tempfile.TemporaryDirectory() as folder:
    os.environ["CACHEDB"] = os.path.join(folder, "c.db")
    diskcache_put("t", {"a": 1, "b": "x"}, [1, 2])
    assert diskcache_get("t", {"a": 1, "b": "x"}) == [1, 2] and diskcache_get("t", {"a": 2, "b": "x"}) is None and diskcache_get("u", "k") is None
    del os.environ["CACHEDB"]

def test_buffers():
  b = Buffer("CPU", 4, dtypes.int32)
  assert not b.is_allocated()
  b.allocate().copyin(memoryview(bytearray(range(16))))
  out = bytearray(16)
  b.copyout(memoryview(out))
  assert out == bytearray(range(16)) and b.view(2, dtypes.uint8, 3).as_buffer().tolist() == [3, 4] and b.numpy().shape == (4,)
  b.as_buffer(allow_zero_copy=True)[0] = 9
  assert b.as_buffer()[0] == 9
  raises(Exception, lambda: b.view(1, dtypes.uint8, 99), "offset")
  raises(Exception, lambda: Buffer("CPU", 4, dtypes.int32).as_buffer(), "no memory")
  # A view follows its base, and may be given back alone. A view of memory that is not there yet has to be allocated itself.
  whole = Buffer("CPU", 8, dtypes.uint8)
  early = whole.view(4, dtypes.uint8, 2)
  whole.allocate().copyin(memoryview(bytearray(range(8))))
  late = whole.view(4, dtypes.uint8, 2)
  assert early.is_allocated() and not early.is_initialized() and late.is_initialized()
  raises(AssertionError, lambda: early.as_buffer(), "no memory")
  assert early.ensure_allocated().as_buffer().tolist() == late.as_buffer().tolist() == [2, 3, 4, 5]
  early.deallocate()
  raises(AssertionError, early.deallocate, "give back"), raises(AssertionError, lambda: early.copyin(memoryview(bytearray(4))), "no memory")
  assert whole.is_initialized() and late.as_buffer().tolist() == [2, 3, 4, 5]
  whole.deallocate()
  assert not late.is_allocated() and not late.is_initialized()
  raises(AssertionError, late.as_buffer, "no memory"), raises(AssertionError, whole.deallocate, "give back")
  late.deallocate()
  raises(AssertionError, late.deallocate, "give back")
  assert late.ensure_allocated().is_initialized() and whole.is_allocated()
  allocator = LRUAllocator(Device["CPU"])
  first = allocator.alloc(64)
  allocator.free(first, 64)
  assert allocator.alloc(64) == first

def test_kernels_by_hand():
  a, b = Tensor([1., 2., 3., 4.]).realize(), Tensor([10., 20., 30., 40.]).realize()
  c = a + b
  items = c.schedule()
  item = items[-1].lower()
  assert isinstance(item.prg, CompiledRunner) and item.prg.p.outs == [0] and sorted(item.prg.p.ins) == [1, 2] and "data0" in item.prg.p.src
  assert item.run(wait=True) >= 0 and c.tolist() == [11, 22, 33, 44]
  out = Buffer(Device.DEFAULT, 4, dtypes.float32).allocate()
  get_runner(Device.DEFAULT, item.ast)([out, *item.bufs[1:]], {}, wait=True)
  assert out.as_buffer().cast("f").tolist() == [11, 22, 33, 44]
  copied = Buffer(Device.DEFAULT, 4, dtypes.float32)
  ExecItem(item.ast, [copied.ensure_allocated(), out], prg=BufferCopy(16, Device.DEFAULT, Device.DEFAULT)).run()
  assert copied.as_buffer() == out.as_buffer()
  d = a * 3
  run_schedule(d.schedule())
  assert d.tolist() == [3, 6, 9, 12]

def test_optimising_by_hand():
  ast = (Tensor.empty(64, 64) + Tensor.empty(64, 64)).schedule()[-1].ast
  k = Scheduler(ast, Device["CPU"].renderer)
  before = k.full_shape
  other = k.copy()
  other.apply_opt(Opt(OptOps.UPCAST, 0, 4))
  assert k.full_shape == before and other.upcast_size() == 4 and other.applied_opts == [Opt(OptOps.UPCAST, 0, 4)]
  raises(KernelOptError, lambda: k.apply_opt(Opt(OptOps.UPCAST, 0, 999)))
  assert len(get_kernel_actions(k)) > 3
  assert get_program(ast, Device["CPU"].renderer, opts=[Opt(OptOps.UPCAST, 0, 2)]).applied_opts == (Opt(OptOps.UPCAST, 0, 2),)

def test_a_renderers_rules_are_asked():
  seen, renderer = [], Device[Device.DEFAULT].renderer
  renderer.pre_matcher = PatternMatcher([(UPat(Ops.ADD, name="x"), lambda x: seen.append(x))])
  try:
    x = Tensor.arange(11).contiguous().realize()
    seen.clear()
    assert (x + 5).tolist()[:2] == [5, 6] and seen
  finally: renderer.pre_matcher = None
  seen.clear()
  assert (Tensor.arange(13).contiguous().realize() + 5).tolist()[0] == 5 and not seen

def test_rules_and_arithmetic():
  x = UOp.variable("x", 0, 8)
  i, j = UOp.range(4, 0, dtype=dtypes.int), UOp.range(4, 1, dtype=dtypes.int)
  assert graph_rewrite(3 + j * 2 + i, commutative) is graph_rewrite(i + 3 + j * 2, commutative) is i + j * 2 + 3
  assert graph_rewrite(x * 2 + x, symbolic) is graph_rewrite(x * 3, commutative) and len(symbolic.patterns) > 50 and symbolic.patterns[0][0].location[1] > 0
  assert exec_alu(Ops.ADD, dtypes.uint8, [250, 10]) == 4 and exec_alu(Ops.MUL, dtypes.int, [1 << 40, 2], truncate_output=False) == 1 << 41
  assert (symbolic + PatternMatcher([])).rewrite(x + 0) is x
  assert UOp.variable("f", -float("inf"), float("inf"), dtypes.float).arg == ("f", -float("inf"), float("inf"))
  assert pickle.loads(pickle.dumps((Tensor([1.]) + 1).schedule()[-1].lower().prg)).p.name

def test_names_that_have_no_meaning_here():
  from tinygrad.runtime.ops_amd import AMDDevice
  from tinygrad.renderer.ptx import PTXRenderer
  raises(NotImplementedError, lambda: AMDDevice("AMD"), "tinygrad.runtime.ops_amd.AMDDevice is not in uopscope", "AMD")
  assert not isinstance(Device["CPU"].renderer, PTXRenderer)
  def missing():
    from tinygrad.helpers import no_such_helper
  raises(ImportError, missing, "uopscope has no tinygrad.helpers.no_such_helper")
  import tinygrad.helpers
  assert not hasattr(tinygrad.helpers, "no_such_helper")

def test_symbolic_ranges_and_files():
  n = UOp.variable("n", 3, 20).bind(6)
  assert Tensor.arange(2, n).sum().item() == 14 and Tensor.full((3,), n).tolist() == [6, 6, 6]
  with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "x")
    t = Tensor([1, 2, 3, 4]).to(f"disk:{path}")
    t[1:3] = [8, 9]
    assert open(path, "rb").read() == b"".join(i.to_bytes(4, "little") for i in (1, 8, 9, 4))

def test_scripts_keep_notes_on_tensors():
  import gc, weakref
  t = Tensor([1.0, 2.0])
  t.name, t.views = "head", {1}
  assert t.name == "head" and t.views == {1} and Tensor([1.0]).__dict__ == {}
  t.itself, gone = t, weakref.ref(t)
  del t
  gc.collect()
  assert gone() is None
  assert sorted(Tensor.randperm(5, generator=None).tolist()) == [0, 1, 2, 3, 4]

def test_arguments_of_movements():
  t = Tensor.empty(4, 6)
  for made, want in ((t.reshape(24), (24,)), (t.reshape(2, 12), (2, 12)), (t.reshape(4, 1, 6).expand(4, 3, 6), (4, 3, 6)), (t.permute(1, 0), (1, 0)), (t.flip(1), (False, True)),
                     (t.shrink(((1, 3), (0, 5))), ((1, 3), (0, 5))), (t.pad(((1, 0), (0, 2))), ((1, 0), (0, 2)))): assert made.uop.marg == want, (made.uop.marg, want)
  raises(RuntimeError, lambda: (t + 1).uop.marg)

if __name__ == "__main__": run(globals())
