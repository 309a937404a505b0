# Several devices: data- and tensor-parallel training equals training on one device; shards, copies, the JIT and optimizers over them.
import numpy as np
from tinygrad import Tensor, TinyJit, Device, nn, dtypes
from tinygrad.nn.state import get_parameters
from check import close, raises, run

GPUS = tuple(f"CPU:{i}" for i in range(4))
TWO = GPUS[:2]

def test_names_and_devices():
  t = Tensor.ones(4, 4).shard(TWO, axis=0)
  assert t.device == ("CPU", "CPU:1") and t.shape == (4, 4)
  assert t.uop.axis == 0 and Tensor.ones(4).shard(TWO).uop.axis is None
  assert Device.canonicalize(("cpu:0", "cpu:1")) == ("CPU", "CPU:1")
  x = Tensor.ones(4, 4)
  x.shard_(TWO, axis=1)
  assert x.device == ("CPU", "CPU:1")
  close(x, np.ones((4, 4)))
  assert Tensor.ones(4, 4).shard_like(x).device == x.device
  assert x.to("CPU:1").device == "CPU:1"
  close(x.to("CPU:1"), np.ones((4, 4)))

def test_creation_on_several_devices():
  close(Tensor.full((3, 2), 7.0, device=TWO) + Tensor.arange(6, device=TWO).reshape(3, 2), np.arange(6).reshape(3, 2) + 7)
  close(Tensor([1.0, 2.0], device=TWO) * 2, [2, 4])
  assert Tensor.rand(5, device=TWO).numpy().shape == (5,)
  z = Tensor.zeros(4, device=TWO).contiguous().realize()
  z.assign(z + 1).realize()
  close(z, np.ones(4))

class Net:
  def __init__(self):
    rng = np.random.default_rng(0)
    self.l1, self.l2 = nn.Linear(8, 16), nn.Linear(16, 4)
    for l in (self.l1, self.l2):
      l.weight.assign(Tensor(rng.uniform(-0.4, 0.4, l.weight.shape).astype(np.float32))).realize()
      l.bias.assign(Tensor(rng.uniform(-0.4, 0.4, l.bias.shape).astype(np.float32))).realize()
  def __call__(self, x): return self.l2(self.l1(x).relu())

def train(place, place_data, optimizer, jit, steps=5):
  net = Net()
  place(net)
  opt = optimizer(get_parameters(net))
  rng = np.random.default_rng(1)
  xs = [Tensor(rng.standard_normal((12, 8)).astype(np.float32)) for _ in range(steps)]
  ys = [Tensor(rng.integers(0, 4, 12).astype(np.int32)) for _ in range(steps)]
  def step(x, y):
    with Tensor.train():
      opt.zero_grad()
      loss = net(x).sparse_categorical_crossentropy(y).backward().realize()  # before the step writes the weights it reads
      opt.step()
      return loss
  f = TinyJit(step) if jit else step
  losses = [f(place_data(x).realize(), place_data(y).realize()).item() for x, y in zip(xs, ys)]
  return np.array(losses + [p.numpy().astype(np.float64).sum() for p in get_parameters(net)])

class SGD:
  """The momentum lies whole on each device, whatever the shards of the parameter."""
  def __init__(self, params, lr, momentum=0.0):
    self.params, self.lr, self.momentum = params, lr, momentum
    for p in params: p.requires_grad_(True)
    self.b = [Tensor.zeros(*p.shape, device=p.device).contiguous().realize() for p in params]
  def zero_grad(self):
    for p in self.params: p.grad = None
  def step(self):
    for p, b in zip(self.params, self.b):
      b.assign(self.momentum * b + p.grad)
      p.assign(p.detach() - self.lr * b)
    Tensor.realize(*self.params, *self.b)

def one(optimizer): return train(lambda net: None, lambda t: t, optimizer, False)
def sgd(p): return SGD(p, lr=0.1, momentum=0.9)
def plain(p): return SGD(p, lr=0.2)

def test_data_parallel_training():
  def replicate(net):
    for p in get_parameters(net): p.shard_(GPUS).realize()
  for optimizer in (sgd, plain):
    for jit in (False, True): close(train(replicate, lambda t: t.shard(GPUS, axis=0), optimizer, jit), one(optimizer), rtol=1e-4, atol=1e-5)

def test_tensor_parallel_training():
  def split(net):
    net.l1.weight.shard_(TWO, axis=0).realize()
    net.l1.bias.shard_(TWO, axis=0).realize()
    net.l2.weight.shard_(TWO, axis=1).realize()
    net.l2.bias.shard_(TWO).realize()
  for jit in (False, True): close(train(split, lambda t: t.shard(TWO), sgd, jit), one(sgd), rtol=1e-4, atol=1e-5)

def test_optimizers_over_shards():
  def replicate(net):
    for p in get_parameters(net): p.shard_(TWO)
  def split(net):
    for p, axis in ((net.l1.weight, 0), (net.l1.bias, 0), (net.l2.weight, 1), (net.l2.bias, None)): p.shard_(TWO, axis=axis)
  for make in (lambda p: nn.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: nn.optim.Adam(p, lr=0.01)):
    want = train(lambda net: None, lambda t: t, make, False)
    for jit in (False, True):
      close(train(replicate, lambda t: t.shard(TWO, axis=0), make, jit), want, rtol=1e-4, atol=1e-5)
      close(train(split, lambda t: t.shard(TWO), make, jit), want, rtol=1e-4, atol=1e-5)
  like = Tensor.ones(4, 6).shard(TWO, axis=1).zeros_like()
  assert like.uop.axis == 1
  close(like, np.zeros((4, 6)))
  close(Tensor.arange(24).reshape(4, 6).shard(TWO, axis=0).shard_like(like), np.arange(24).reshape(4, 6))

def test_convolution_and_batchnorm_over_a_split_batch():
  rng = np.random.default_rng(2)
  x, w = Tensor(rng.standard_normal((4, 3, 8, 8)).astype(np.float32)), Tensor(rng.standard_normal((5, 3, 3, 3)).astype(np.float32))
  close(x.shard(TWO, axis=0).conv2d(w.shard(TWO)).relu().max_pool2d(), x.conv2d(w).relu().max_pool2d(), rtol=1e-4, atol=1e-4)
  close(x.shard(TWO, axis=0).mean(axis=(0, 2, 3)), x.mean(axis=(0, 2, 3)), rtol=1e-4, atol=1e-5)

def test_dropout_random_and_indexing():
  t = Tensor.arange(24).reshape(4, 6).shard(TWO, axis=0)
  close(t[1:3, ::2], np.arange(24).reshape(4, 6)[1:3, ::2])
  close(t[2], np.arange(24).reshape(4, 6)[2])
  close(t.cat(t, dim=1), np.concatenate([np.arange(24).reshape(4, 6)] * 2, 1))

def test_errors():
  raises(RuntimeError, lambda: Tensor.ones(4).shard(TWO, 0).shard(TWO, 0), "multi-device")
  raises(RuntimeError, lambda: Tensor.ones(3).shard(TWO, 0), "split")
  raises(RuntimeError, lambda: (Tensor.ones(4).contiguous().shard(TWO, 0) + Tensor.ones(4).contiguous().realize()).realize(), "same device")

def test_the_axis_of_what_is_not_computed_yet():
  a, c = Tensor.arange(24).reshape(4, 6).float().shard(TWO, 0), Tensor.ones(4, 6).shard(TWO)
  for axis, t in [(0, a + 1), (None, a.sum()), (None, a.sum(0)), (0, a.sum(1)), (1, a.T), (0, a.reshape(2, 2, 6)), (1, a.unsqueeze(0)), (0, a.reshape(24)),
                  (0, a @ c.T), (None, c.T @ a), (0, a[:, 1:3]), (0, a.cast(dtypes.int)), (0, (a > 3).where(a, 0)), (1, Tensor.stack(a, a)), (None, c * 2), (None, a.to("CPU"))]:
    assert t.uop.axis == axis, (axis, t.uop.axis, t.shape)
  assert "('CPU', 'CPU:1')" in repr(a)

if __name__ == "__main__": run(globals())
