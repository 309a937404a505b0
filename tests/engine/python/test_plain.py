# PLAIN=1: kernels as the reference cuts them, with the same numbers as by default.
import numpy as np
from tinygrad import Tensor, TinyJit, dtypes, nn
from tinygrad.engine.realize import get_program
from tinygrad.helpers import Context
from tinygrad.uop.ops import Ops
from check import close, run
rng = np.random.default_rng(4)
def draw(*shape): return rng.standard_normal(shape).astype(np.float32)

def kernels(f, *arrays):
  """How many kernels a function takes by default, and with PLAIN=1; the results agree."""
  counts, results = [], []
  for plain in (0, 1):
    with Context(PLAIN=plain):
      out = f(*map(Tensor, arrays))
      outs = out if isinstance(out, tuple) else (out,)
      items = outs[0].schedule(*outs[1:])
      counts.append(len([i for i in items if i.ast.op is Ops.SINK]))
      for item in items: item.run()
      results.append([o.numpy() for o in outs])
  for a, b in zip(*results): close(b, a, rtol=1e-4, atol=1e-4)
  return tuple(counts)

def test_one_value_for_each_kernel():
  a, b = draw(64, 64), draw(64, 64)
  assert kernels(lambda a, b: (a + b, a - b), a, b) == (1, 2)
  large = draw(512, 1024)
  assert kernels(lambda x: x.softmax(-1), large) == (1, 3)
  assert kernels(lambda x: (x - x.mean()) / x.std(), large)[1] >= 3
  q = draw(2, 4, 32, 16)
  assert kernels(lambda q: q.scaled_dot_product_attention(q, q), q)[1] == 4

def test_values_that_several_read():
  # What sums memory is stored; the rest is computed again, unless it reads more than three buffers.
  a, b, c, d = (draw(32, 32) for _ in range(4))
  assert kernels(lambda a, b: (lambda s: s @ s)(a * 2 + b), a, b)[1] == 1
  assert kernels(lambda a, b: (lambda s: s @ s)((a @ b).exp()), a, b)[1] == 2
  assert kernels(lambda a, b, c, d: (lambda s: s @ s)(a * b + c * d), a, b, c, d)[1] == 2
  assert kernels(lambda a: a / a.sum(keepdim=True), a)[1] == 2

def test_vectors_of_four():
  with Context(PLAIN=1):
    for f in (lambda a, b: a + b, lambda a, b: a @ b, lambda a, b: a.sum(1) + b.max(0), lambda a, b: a.half() + b.half(), lambda a, b: a[1:, 1:] * b[1:, 1:]):
      for item in f(Tensor(draw(64, 64)).realize(), Tensor(draw(64, 64)).realize()).schedule():
        if item.ast.op is not Ops.SINK: continue
        lanes = {u.dtype.count for u in get_program(item.ast).uops if u.op is Ops.LOAD} | {u.src[1].dtype.count for u in get_program(item.ast).uops if u.op is Ops.STORE}
        assert lanes <= {1, 2, 4, 8} and (8 not in lanes or any(u.dtype.scalar() == dtypes.half for u in get_program(item.ast).uops)), lanes

def test_training_and_jit():
  class Net:
    def __init__(self): self.conv, self.norm, self.linear = nn.Conv2d(3, 8, 3), nn.BatchNorm(8), nn.Linear(8 * 36, 10)
    def __call__(self, x): return self.linear(self.norm(self.conv(x)).relu().flatten(1))
  def losses(plain):
    with Context(PLAIN=plain), Tensor.train():
      Tensor.manual_seed(1)
      net = Net()
      optimizer = nn.optim.Adam(nn.state.get_parameters(net))
      x, y = Tensor.randn(8, 3, 8, 8).realize(), Tensor.randint(8, high=10).realize()
      @TinyJit
      def step():
        optimizer.zero_grad()
        loss = net(x).sparse_categorical_crossentropy(y).backward()
        return loss.realize(*optimizer.schedule_step())
      return [step().item() for _ in range(6)]
  close(np.array(losses(1)), np.array(losses(0)), rtol=1e-4, atol=1e-4)

def test_settings_do_not_mix():
  # The caches of schedules and of kernels tell both ways apart.
  x = draw(256, 1024)
  for plain in (0, 1, 0, 1):
    with Context(PLAIN=plain): assert len(Tensor(x).softmax(-1).schedule()) == (3 if plain else 1)

run(globals())
