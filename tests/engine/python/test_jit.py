# TinyJit: capture and replay with new inputs and variables, lasting state, random streams, nesting, pruning, errors, speed.
import time
import numpy as np
from tinygrad import Device, Tensor, TinyJit, Variable, dtypes, GlobalCounters, Context
from tinygrad.engine.jit import GraphRunner, JitError
from tinygrad.helpers import to_mv
from check import close, raises, run

def batches(n, *shape): return [Tensor(np.random.default_rng(i).standard_normal(shape).astype(np.float32)) for i in range(n)]

def test_replays_on_new_inputs():
  calls = []
  @TinyJit
  def f(a, b):
    calls.append(1)
    return (a @ b).relu().realize()
  for x, y in zip(batches(5, 6, 7), batches(5, 7, 4)): close(f(x, y), np.maximum(x.numpy() @ y.numpy(), 0), rtol=1e-4, atol=1e-5)
  assert len(calls) == 2, "from the third call on the function is not called"
  assert len(f.jit_cache) == 1 and sorted(f.input_replace.values()) == [0, 1]

def test_keyword_arguments_and_containers():
  @TinyJit
  def f(a, pair, scale=None): return a + pair["x"] * scale
  for i, (x, y) in enumerate(zip(batches(4, 3), batches(4, 3))):
    close(f(x, {"x": y.clone()}, scale=Tensor([float(i)]).contiguous()), x.numpy() + y.numpy() * i)

def test_methods_share_nothing_but_the_class():
  class Net:
    def __init__(self): self.w = Tensor.full((3,), 2.0).contiguous().realize()
    @TinyJit
    def __call__(self, x): return x * self.w
  net = Net()
  for x in batches(4, 3): close(net(x), x.numpy() * 2)

def test_several_returns_and_none():
  seen = Tensor.zeros(3).contiguous().realize()
  @TinyJit
  def f(x): return [x + 1, {"double": x * 2}]
  @TinyJit
  def store(x): seen.assign(seen + x).realize()
  total = np.zeros(3)
  for x in batches(5, 3):
    more, d = f(x)
    close(more, x.numpy() + 1)
    close(d["double"], x.numpy() * 2)
    assert store(x) is None
    total += x.numpy()
    close(seen, total, rtol=1e-4)

def test_assign_to_an_input_writes_the_input_of_the_call():
  @TinyJit
  def f(x): return x.assign(x + 1).realize()
  for i in range(4):
    x = Tensor([float(i)]).contiguous().realize()
    f(x)
    close(x, [i + 1])

def test_a_returned_input_is_that_of_the_call():
  @TinyJit
  def f(x): return x + 1, x.reshape(3, 2)
  for x in batches(4, 2, 3):
    _, same = f(x)
    close(same, x.numpy().reshape(3, 2))

def test_bound_variables():
  v = Variable("i", 1, 10)
  cache = Tensor.arange(10).contiguous().realize()
  @TinyJit
  def f(x, i): return x * cache.shrink(((i, i + 1),)).float()
  for i in range(1, 8): close(f(Tensor([2.0]).contiguous(), v.bind(i)), [2.0 * i])

def test_symbolic_inputs():
  @TinyJit
  def f(a): return (a + 1).sum()
  whole = Tensor.arange(10).float().contiguous().realize()
  for i in range(1, 8):
    n = Variable("n", 1, 10).bind(i)
    close(f(whole.shrink(((0, n),))), sum(range(i)) + i)

def test_random_numbers_go_on_as_without_the_jit():
  def draw(): return Tensor.rand(5).realize()
  Tensor.manual_seed(7)
  want = [draw().numpy() for _ in range(6)]
  Tensor.manual_seed(7)
  f = TinyJit(draw)
  for w in want: close(f(), w)

def test_nested():
  @TinyJit
  def inner(x): return (x * 2).realize()
  @TinyJit
  def outer(x): return (inner(x.contiguous()) + 1).realize()
  for x in batches(6, 4): close(outer(x), x.numpy() * 2 + 1)

def test_prune_runs_what_does_not_depend_on_inputs_once():
  def f(x):
    table = Tensor.arange(16).float().sin().contiguous().realize()
    return (x + table).realize()
  pruned, full = TinyJit(f, prune=True), TinyJit(f)
  for x in batches(4, 16):
    want = x.numpy() + np.sin(np.arange(16))
    close(pruned(x), want, rtol=1e-4, atol=1e-4)
    close(full(x), want, rtol=1e-4, atol=1e-4)
  assert len(pruned.captured.jit_cache) == 1 and len(full.captured.jit_cache) == 2

def test_reset_captures_anew():
  f = TinyJit(lambda x: x + 1)
  for x in batches(3, 4): f(x)
  f.reset()
  for x in batches(4, 5): close(f(x), x.numpy() + 1)

def test_off_by_context():
  calls = []
  f = TinyJit(lambda x: (calls.append(1), x + 1)[1])
  with Context(JIT=0):
    for x in batches(4, 4): close(f(x), x.numpy() + 1)
  assert len(calls) == 4

def test_errors():
  def captured(f, *args):
    j = TinyJit(f)
    j(*args)
    j(*args)
    return j
  x = Tensor([1.0, 2.0, 3.0]).contiguous().realize()
  j = captured(lambda a: a + 1, x)
  raises(JitError, lambda: j(Tensor([1.0, 2.0]).contiguous()), "args mismatch", "(3,)", "(2,)", "test_jit.py")
  raises(JitError, lambda: j(Tensor([1, 2, 3]).contiguous()), "args mismatch")
  raises(JitError, lambda: j(), "args mismatch")
  raises(JitError, lambda: j(x, x=x.clone()), "args mismatch")
  wide = Tensor.arange(12).float().contiguous().realize()
  k = captured(lambda a: a + 1, wide.reshape(3, 4))
  raises(JitError, lambda: k(wide.reshape(4, 3).permute(1, 0)), "view")
  raises(JitError, lambda: captured(lambda a: a + 1, Tensor(1.0)), "const")
  raises(JitError, lambda: captured(lambda a, b: a + b, x, x), "duplicate")
  raises(JitError, lambda: captured(lambda a: None, x), "didn't JIT anything")
  raises(JitError, lambda: captured(lambda a: (a + 1).sum().item(), x), "float")
  def fails(a): raise ValueError("mine")
  f = TinyJit(fails)
  raises(ValueError, lambda: f(x), "mine")

def test_an_error_in_capture_leaves_the_function_usable():
  state = {"bad": True}
  @TinyJit
  def f(a):
    if state["bad"] and state.get("n", 0) == 1: raise ValueError("once")
    state["n"] = state.get("n", 0) + 1
    return a * 3
  x = batches(1, 3)[0]
  f(x)
  raises(ValueError, lambda: f(x), "once")
  state["bad"] = False
  for x in batches(3, 3): close(f(x), x.numpy() * 3)

def test_training_step():
  from tinygrad.nn.optim import SGD
  def train(jit):
    Tensor.manual_seed(3)
    w = Tensor.uniform(4, 1, requires_grad=True).realize()
    opt, x = SGD([w], lr=0.1), Tensor.uniform(16, 4).realize()
    y = x.sum(axis=1, keepdim=True).realize()
    def step():
      with Tensor.train():
        opt.zero_grad()
        loss = (x @ w - y).square().mean().backward()
        return loss.realize(*opt.schedule_step())
    f = TinyJit(step) if jit else step
    return [f().item() for _ in range(8)]
  close(np.array(train(True)), np.array(train(False)), rtol=1e-4)

def test_counters_and_memory_stay():
  @TinyJit
  def f(x): return (x.exp() + 1).sum().realize()
  for x in batches(3, 64): f(x)
  x = batches(1, 64)[0].realize()
  GlobalCounters.reset()
  f(x)
  assert GlobalCounters.kernel_count == len(f.captured.jit_cache)
  before = GlobalCounters.mem_used
  for _ in range(200): f(x)
  assert GlobalCounters.mem_used == before

def test_a_step_of_ten_kernels_replays_in_microseconds():
  @TinyJit
  def f(x):
    for _ in range(10): x = (x + 1).contiguous().realize()
    return x
  x = Tensor([1.0]).contiguous().realize()
  for _ in range(20): f(x)
  assert len(f.captured.jit_cache) == 10
  best = min(_timed(f, x) for _ in range(20))
  assert best < 200e-6, f"a replay takes {best * 1e6:.1f} us"

def test_several_launches_as_one():
  a, b = Tensor([1.0, 2.0]).realize(), Tensor([3.0, 5.0]).realize()
  y = (a + b).contiguous(); z = (y.sum() * a).contiguous()
  items = [item.lower() for item in Tensor.schedule(y, z)]
  for item in items: item.run()
  given = b.uop.buffer
  graph = Device["CPU"].graph(items, [given], {}); assert isinstance(graph, GraphRunner) and graph.estimates.ops == sum(i.prg.estimates.ops for i in items)
  other = Tensor([10.0, 20.0]).realize()
  graph([other.uop.buffer], {}); close(y, [11, 22]), close(z, [33, 66])
  assert graph([given], {}, wait=True) > 0; close(z, [11, 22])

def test_launches_of_a_captured_function_are_shown_in_batches():
  @TinyJit
  def f(x, y):
    for _ in range(11): x = (x + y).contiguous().realize()
    return x
  x, y = Tensor([1.0, 2.0]).realize(), Tensor([10.0, 20.0]).realize()
  for _ in range(3): out = f(x, y)
  with Context(JIT_BATCH_SIZE=3):
    assert [len(item.prg.jit_cache) for item in f.jit_cache] == [3, 6, 2] and f.jit_cache[0] is f.jit_cache[0]
    assert f.jit_cache[0].inputs == [(0, 0), (1, 1)] and f.input_replace == {(0, 0): 0, (0, 1): 1, (1, 1): 1, (2, 1): 1}
    assert all(isinstance(item.prg, GraphRunner) for item in f.jit_cache) and f.jit_cache[0].prg.estimates.ops == 3 * 2
    for item in f.jit_cache: item.bufs[:] = [Tensor([5.0, 6.0]).realize().uop.buffer, y.uop.buffer]
    for item in f.jit_cache: item.run()
  close(out, [115, 226])
  with Context(JIT=2): assert len(f.jit_cache) == len(f.captured.jit_cache) == 11
  g = TinyJit(f.fxn)
  with Context(JIT=2):
    for _ in range(2): g(x, y)
  assert len(g.jit_cache) == 11  # as it was captured, whatever the setting is afterwards
  with Context(JIT_BATCH_SIZE=5): assert [getattr(item.prg, "jit_cache", None) and len(item.prg.jit_cache) for item in f.jit_cache] == [5, 6]
  with Context(JIT_BATCH_SIZE=10): assert [item.name for item in f.jit_cache] == ["batched 10", "E_2"]
  assert [item.name for item in f.jit_cache] == ["batched 11"]
  close(f(x, y), [111, 222])

def _timed(f, x):
  start = time.perf_counter()
  for _ in range(100): f(x)
  return (time.perf_counter() - start) / 100

def test_a_script_may_change_the_buffers_of_a_launch():
  @TinyJit
  def f(a, b): return ((a + b).contiguous() * 2).realize()
  a, b = Tensor([1.0, 2.0, 3.0]).realize(), Tensor([10.0, 20.0, 30.0]).realize()
  for _ in range(2): out = f(a, b)
  assert f.jit_cache[0] is f.jit_cache[0] and f.jit_cache[0].bufs is f.jit_cache[0].bufs
  given = [Tensor([5.0, 6.0, 7.0]).realize(), Tensor([1.0, 1.0, 1.0]).realize()]
  for (j, i), number in f.input_replace.items():
    assert f.jit_cache[j].bufs[i] is None
    f.jit_cache[j].bufs[i] = given[number].uop.buffer
  for item in f.jit_cache: item.run()
  close(out, [12, 14, 16])
  close(f(a, b), [22, 44, 66])                                    # a replay takes the inputs of its call
  close(f(b, a), [22, 44, 66])
def test_a_script_may_change_the_buffers_of_an_item():
  a, b = Tensor([1.0, 2.0]).realize(), Tensor([5.0, 6.0]).realize()
  out = a + 1
  item = out.schedule()[-1]
  item.bufs[[x is a.uop.buffer for x in item.bufs].index(True)] = b.uop.buffer
  item.run()
  close(out, [6, 7])
  again = a + 2
  for item in again.schedule():
    assert item.bufs is item.bufs
    item.run()
  close(again, [3, 4])
def test_the_address_of_a_buffer():
  buffer = Tensor([1.0, 2.0], device="CPU").realize().uop.buffer
  at = buffer._buf
  assert isinstance(at, int) and at.va_addr == at and at.size == 8 and bytes(to_mv(at.va_addr, at.size)) == np.float32([1, 2]).tobytes()

if __name__ == "__main__": run(globals())
