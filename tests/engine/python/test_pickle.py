# Pickles and deep copies: values, sharing, unrealized graphs, and captured functions, in this process and in a new one.
import copy, pickle, subprocess, sys, tempfile, os
import numpy as np
from tinygrad import Tensor, TinyJit, Variable, dtypes, nn
from tinygrad.codegen.opt import Opt, OptOps
from tinygrad.uop.ops import Ops, KernelInfo, AxisType
from check import close, raises, run

def again(x): return pickle.loads(pickle.dumps(x))

def elsewhere(x, code):
  """Runs `code` in a new process, with `x` unpickled there; returns its output."""
  with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(folder, "x"), "wb") as f: pickle.dump(x, f)
    script = os.path.join(folder, "script.py")
    with open(script, "w") as f: f.write(f"import pickle, numpy as np\nfrom tinygrad import Tensor, Variable\nx = pickle.load(open({os.path.join(folder, 'x')!r}, 'rb'))\n{code}\n")
    program = os.readlink("/proc/self/exe")
    done = subprocess.run([program] + ([] if "python3" in os.path.basename(program) else ["run"]) + [script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()

def test_tensors_of_every_kind():
  for shape in ((), (3,), (0,), (2, 3)):
    for dtype in (dtypes.float, dtypes.half, dtypes.bfloat16, dtypes.fp8e4m3, dtypes.int8, dtypes.uint64, dtypes.bool):
      t = Tensor(np.arange(np.prod(shape, dtype=int)).reshape(shape)).cast(dtype).realize()
      u = again(t)
      assert (u.shape, u.dtype, u.device) == (t.shape, t.dtype, t.device)
      close(u.float(), t.float())
  lazy = Tensor([1.0, 2.0]) * 2 + Tensor.ones(2)
  close(again(lazy), [3, 5])
  v = Tensor.arange(6).reshape(2, 3).contiguous().realize()
  close(again(v[1:, ::2]), [[3, 5]])
  assert again(Tensor([1.0], device="CPU:1").realize()).device == "CPU:1"
  s = Tensor.arange(4).float().shard(("CPU:0", "CPU:1"), 0).realize()
  assert again(s).device == s.device and again(s).uop.axis == 0
  close(again(s), [0, 1, 2, 3])

def test_gradients_and_flags_go_along():
  x = Tensor([1.0, 2.0], requires_grad=True)
  (x * x).sum().backward()
  y = again(x)
  assert y.requires_grad is True
  close(y.grad, [2, 4])
  assert again(Tensor([1.0])).requires_grad is None and again(Tensor([1.0])).grad is None

def test_what_is_shared_stays_shared_and_copies_are_apart():
  t = Tensor([1.0, 2.0]).realize()
  a, b, c = again((t, t, t + 1))
  assert a is b
  a.assign(a * 10).realize()
  close(b, [10, 20])
  close(t, [1, 2])
  d = copy.deepcopy(t)
  d.assign(d + 5).realize()
  close(t, [1, 2]), close(d, [6, 7])
  net = nn.Linear(3, 2)
  other = copy.deepcopy(net)
  other.weight.assign(other.weight * 0).realize()
  assert net.weight.abs().sum().item() > 0

def test_types_nodes_and_options():
  for d in (dtypes.float, dtypes.half.vec(4), dtypes.int.ptr(16), dtypes.index): assert again(d) is d and copy.deepcopy(d) is d
  v = Variable("i", 0, 10)
  for u in (v, v * 2 + 1, v.bind(3), (v < 3).where(v, 7), v.cast(dtypes.float).sqrt()): assert again(u) is u and copy.deepcopy(u) is u
  deep = v
  for i in range(5000): deep = (deep + v) * 2 if i % 2 else deep + 1
  assert again(deep) is deep
  ast = (Tensor.ones(4, 4).contiguous().realize().sum(0) * 2).schedule()[-1].ast
  assert again(ast) is ast
  for x in (Opt(OptOps.UPCAST, 0, 4), Opt(OptOps.TC, 0, (-1, 0, 1)), KernelInfo("k", (AxisType.LOOP,), opts_to_apply=(Opt(OptOps.UNROLL, 0, 2),)), Ops.ADD, AxisType.REDUCE): assert again(x) == x

def test_a_captured_function_replays_in_another_process():
  w = Tensor([[1.0, 2.0], [3.0, 4.0]]).realize()
  n = Variable("n", 1, 4)
  @TinyJit
  def f(x, k): return {"y": ((x @ w).contiguous() * 2 + k).realize(), "z": [x[:, 0].sum().realize()]}
  raises(AssertionError, lambda: pickle.dumps(f), "captured")
  for i in range(1, 4): out = f(Tensor([[float(i), 1.0]]).realize(), n.bind(i))
  x = [[5.0, -1.0]]
  want = np.array(x) @ w.numpy() * 2 + 2
  g = again(f)
  assert g.fxn is None and len(g.jit_cache) == len(f.jit_cache) == len(g.captured.jit_cache)
  got = g(Tensor(x).realize(), n.bind(2))
  close(got["y"], want), close(got["z"][0], 5)
  close(out["y"], np.array([[3.0, 1.0]]) @ w.numpy() * 2 + 3)  # the first result has memory of its own
  printed = elsewhere(f, f"""n = Variable("n", 1, 4)
print(*x(Tensor({x}).realize(), n.bind(2))["y"].numpy().reshape(-1))
print(*x(Tensor({x}).realize(), n.bind(4))["y"].numpy().reshape(-1))""")
  close(np.array([float(p) for p in printed]), np.concatenate([want[0], want[0] + 2]))

def test_a_model_goes_to_another_process():
  Tensor.manual_seed(3)
  net = nn.Linear(4, 3)
  printed = elsewhere(net, "print(*x(Tensor.ones(1, 4)).numpy().reshape(-1))")
  close(np.array([float(p) for p in printed]), net(Tensor.ones(1, 4)).numpy()[0], rtol=1e-4)

def test_random_numbers_of_a_pickled_capture_go_on_in_the_stream_of_where_it_is():
  Tensor.manual_seed(5)
  f = TinyJit(lambda x: (x + Tensor.rand(3)).realize())
  zero = Tensor([0.0, 0, 0]).realize()
  for _ in range(2): f(zero)
  g = again(f)
  third = g(zero).numpy()
  Tensor.manual_seed(5)
  assert np.array_equal([Tensor.rand(3).numpy() for _ in range(3)][2], third)

def test_memory_of_a_capture_comes_back_when_it_is_needed():
  f = TinyJit(lambda x: ((x + 1).contiguous() * 2).realize())
  for k in range(3): f(Tensor([float(k)]).realize())
  f.captured.free_intermediates()
  close(f(Tensor([5.0]).realize()), [12])
  close(f(Tensor([6.0]).realize()), [14])
  state = Tensor([1.0]).realize()
  @TinyJit
  def step(x): return state.assign(state + x).realize()
  for k in range(4): step(Tensor([1.0]).realize())
  step.captured.free_intermediates()
  close(step(Tensor([1.0]).realize()), [6])  # the state carried from call to call is kept

if __name__ == "__main__": run(globals())
