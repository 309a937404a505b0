# Gradients against central differences, and training steps.
import numpy as np
from tinygrad import GlobalCounters, Tensor, dtypes, nn
from check import close, raises, run
rng = np.random.default_rng(2)

def check(f, *arrays, eps=1e-4, tol=2e-3):
  """The gradient of f(tensors).sum() by backward() and by differences, in float64."""
  arrays = [a.astype(np.float64) for a in arrays]
  ts = [Tensor(a, requires_grad=True) for a in arrays]
  out = f(*ts).sum()
  out.backward()
  for k, a in enumerate(arrays):
    want = np.zeros_like(a)
    for at in np.ndindex(a.shape):
      values = []
      for step in (eps, -eps):
        moved = [b.copy() for b in arrays]
        moved[k][at] += step
        values.append(f(*[Tensor(b) for b in moved]).sum().item())
      want[at] = (values[0] - values[1]) / (2 * eps)
    close(ts[k].grad, want, rtol=tol, atol=tol)
x = rng.uniform(0.3, 1.5, (2, 3)); y = rng.uniform(0.4, 1.2, (3,)); s = rng.uniform(-1, 1, (2, 3))

def test_elementwise():
  for f in (lambda a: a.exp(), lambda a: a.log(), lambda a: a.sqrt(), lambda a: a.sin(), lambda a: a.cos(), lambda a: a.reciprocal(), lambda a: a.tanh(), lambda a: a.sigmoid(), lambda a: a.gelu(), lambda a: a.pow(3), lambda a: a**2.5, lambda a: a.log2() * a.exp2(), lambda a: 2 ** a): check(f, x)
  for f in (lambda a: a.relu() * 2, lambda a: a.abs() * a, lambda a: (a > 0).where(a * 3, a), lambda a: a.clamp(-0.5, 0.5) * a, lambda a: a.maximum(0.1) * a): check(f, s)

def test_binary_with_broadcast():
  for f in (lambda a, b: a + b, lambda a, b: a - b * 2, lambda a, b: a * b, lambda a, b: a / b, lambda a, b: a.pow(b), lambda a, b: a.maximum(b), lambda a, b: a.minimum(b) * a): check(f, x, y)

def test_movement():
  w = rng.uniform(0.5, 1.5, 24)
  def weigh(t): return t.flatten() * Tensor(np.resize(w, int(np.prod(t.shape))))
  for f in (lambda a: a.permute(1, 0), lambda a: a.reshape(3, 2), lambda a: a.flip(1), lambda a: a.pad(((1, 1), (0, 2))), lambda a: a[:, 1:], lambda a: a[::-1, ::2], lambda a: a.expand(2, 3), lambda a: a.unsqueeze(0).expand(3, 2, 3), lambda a: Tensor.cat(a, a * 2, dim=1), lambda a: a.repeat(2, 2)): check(lambda a: weigh(f(a)), x)
  check(lambda a: a[Tensor([1, 0, 1])] * 2, x)

def test_reductions():
  for f in (lambda a: a.sum(0) ** 2, lambda a: a.max(1) ** 2, lambda a: a.min() * 3, lambda a: a.mean(1) ** 2, lambda a: a.prod(1), lambda a: a.var(1), lambda a: a.std(), lambda a: a.softmax() ** 2, lambda a: a.log_softmax() ** 2, lambda a: a.logsumexp(1), lambda a: a.layernorm() ** 3, lambda a: a.cumsum(1) ** 2): check(f, x)

def test_products():
  check(lambda a, b: (a @ b) ** 2, x, rng.uniform(-1, 1, (3, 2)))
  check(lambda a, b: a.conv2d(b, padding=1) ** 2, rng.uniform(-1, 1, (1, 2, 3, 3)), rng.uniform(-1, 1, (2, 2, 2, 2)))
  check(lambda a, b: a.conv2d(b, stride=2, groups=2), rng.uniform(-1, 1, (1, 2, 5, 5)), rng.uniform(-1, 1, (2, 1, 3, 3)))
  check(lambda a: a.max_pool2d(2) ** 2, rng.permutation(16).reshape(1, 1, 4, 4) * 0.1), check(lambda a: a.avg_pool2d(2) ** 2, rng.uniform(-1, 1, (1, 1, 4, 4)))
  check(lambda a: a.cross_entropy(Tensor([0, 2])), x)

def scattered(g, w, shape, stride, padding, dilation, groups):
  """The gradient of a convolution for its input as it is defined: each product added to the element that was read."""
  n, size, taps, out = len(stride), shape[2:], w.shape[2:], g.shape[2:]
  room = [max(s + 2 * p, (o - 1) * st + d * (k - 1) + 1) for s, p, o, st, d, k in zip(size, padding, out, stride, dilation, taps)]
  dx, per = np.zeros((*shape[:2], *room)), w.shape[0] // groups
  for group in range(groups):
    rows, channels = slice(group * per, (group + 1) * per), slice(group * w.shape[1], (group + 1) * w.shape[1])
    for tap in np.ndindex(*taps):
      at = tuple(slice(d * t, d * t + st * (o - 1) + 1, st) for d, t, st, o in zip(dilation, tap, stride, out))
      dx[(slice(None), channels, *at)] += np.einsum("no...,oc->nc...", g[:, rows], w[(rows, slice(None), *tap)])
  return dx[(slice(None), slice(None), *(slice(p, p + s) for p, s in zip(padding, size)))]

CONVOLUTIONS = [ # input, filters, stride, padding, dilation, groups
  ((2, 3, 9, 8), (4, 3, 3, 3), 1, 1, 1, 1), ((2, 3, 9, 8), (4, 3, 3, 3), 1, 0, 1, 1), ((1, 2, 9, 8), (3, 2, 3, 1), 1, 2, 1, 1), ((2, 4, 9, 8), (6, 2, 3, 3), 1, 1, 1, 2),
  ((2, 4, 9, 9), (4, 1, 3, 3), 1, 1, 1, 4), ((2, 3, 11, 12), (4, 3, 3, 3), 1, 2, 2, 1), ((2, 3, 21), (4, 3, 5), 1, 2, 1, 1), ((1, 2, 6, 7, 8), (3, 2, 3, 3, 3), 1, 1, 1, 1),
  ((2, 3, 16, 17), (4, 3, 6, 6), 2, 1, 1, 1), ((1, 3, 23, 21), (2, 3, 9, 8), 3, 2, 1, 1), ((2, 4, 15, 16), (4, 2, 5, 5), 2, 2, 1, 2), ((2, 3, 16, 17), (4, 3, 4, 4), 2, 1, 1, 1), ((2, 3, 9, 8), (4, 3, 3, 3), 2, 1, 1, 1), ((2, 3, 30), (4, 3, 13), 2, 0, 1, 1), # phases; a rest behind the last window
  ((2, 3, 11, 12), (4, 3, 3, 3), 2, 2, 2, 1), ((2, 3, 7, 7), (4, 3, 7, 7), 1, 0, 1, 1), ((2, 3, 9, 9), (4, 3, 2, 2), 2, 0, 1, 1), ((2, 3, 9, 9), (4, 3, 1, 1), 2, 0, 1, 1), ((1, 2, 1, 5), (2, 2, 3, 3), 1, 1, 1, 1)]

def test_convolutions():
  for shape, filters, stride, padding, dilation, groups in CONVOLUTIONS:
    n = len(shape) - 2
    x, w = rng.integers(-4, 5, shape).astype(np.float64), rng.integers(-4, 5, filters).astype(np.float64)
    tx, tw = Tensor(x).realize(), Tensor(w).realize()
    y = tx.conv2d(tw, stride=stride, padding=padding, dilation=dilation, groups=groups)
    g, u = rng.integers(-4, 5, y.shape).astype(np.float64), rng.integers(-4, 5, shape).astype(np.float64)
    tg, tu = Tensor(g).realize(), Tensor(u).realize()
    dx, dw = y.gradient(tx, tw, gradient=tg)
    want = scattered(g, w, shape, (stride,) * n, (padding,) * n, (dilation,) * n, groups)
    close(dx, want, rtol=0, atol=0)
    # sum(dw * w) and sum(g * conv(u, w)) are the same sums by other ways, and so are second derivatives
    y_u = tu.conv2d(tw, stride=stride, padding=padding, dilation=dilation, groups=groups)
    assert (dw * tw).sum().item() == (tg * y).sum().item()
    by_w, by_g = (dx * tu).sum().gradient(tw, tg)
    close(by_g, y_u.numpy(), rtol=0, atol=0), close(by_w, (y_u * tg).sum().gradient(tw)[0].numpy(), rtol=0, atol=0)

def test_convolutions_of_other_kinds():
  x, w, g = (rng.integers(-3, 4, s).astype(np.float64) for s in ((2, 4, 5, 6), (4, 3, 3, 3), (2, 3, 5, 6)))
  tx, tw = Tensor(x).realize(), Tensor(w).realize()
  # transposed: its gradient for the input is a convolution
  for options in (dict(padding=1), dict(stride=2, padding=1, output_padding=1), dict(padding=1, dilation=2)):
    y = tx.conv_transpose2d(tw, **options)
    seed = Tensor(rng.integers(-3, 4, y.shape).astype(np.float64)).realize()
    options.pop("output_padding", None)
    close(y.gradient(tx, gradient=seed)[0], seed.conv2d(tw, **options).numpy(), rtol=0, atol=0)
  # two convolutions of one input, and one that reads its result again
  f, h = Tensor(w[:3, :2].transpose(1, 0, 2, 3).copy()).realize(), Tensor(w[:2, :3, :, :].copy()).realize()
  a = Tensor(rng.integers(-3, 4, (2, 3, 6, 6)).astype(np.float64)).realize()
  one, both = lambda k: a.conv2d(k, padding=1).sum().gradient(a)[0].numpy(), (a.conv2d(f, padding=1) + a.conv2d(h, padding=1) * 3).sum()
  close(both.gradient(a)[0], one(f) + 3 * one(h), rtol=0, atol=0)
  # filters that differ from place to place, along an axis that windows of another read with a stride
  apart = Tensor(rng.integers(-3, 4, (1, 1, 6, 7)).astype(np.float64)).realize()
  each = Tensor(rng.integers(-3, 4, (3, 5, 3)).astype(np.float64)).realize()
  products = apart[0, 0].pad(((0, 0), (0, 0))).shrink(((0, 6), (0, 7)))._pool((1, 3), (2, 1))[:, :, 0] * each
  want = np.zeros((6, 7))
  for y, p, k in np.ndindex(3, 5, 3): want[2 * y, p + k] += each.numpy()[y, p, k]
  close(products.sum().gradient(apart)[0][0, 0], want, rtol=0, atol=0)
  # halves add up in float32, and sharded pictures have their parts
  small = Tensor(x.astype(np.float16)).realize()
  dx = small.conv2d(Tensor(np.full((300, 4, 3, 3), 0.01, np.float16)), padding=1).gradient(small, gradient=Tensor.ones(2, 300, 5, 6, dtype=dtypes.float16))[0]
  assert dx.dtype == dtypes.float16; close(dx[:, :, 2, 2], np.full((2, 4), 2700 * np.float16(0.01)), rtol=1e-3)
  parts = Tensor(x).shard(("CPU:0", "CPU:1"), axis=0).realize()
  k, s = Tensor(np.ones((2, 4, 3, 3))).shard(("CPU:0", "CPU:1")), Tensor(g[:, :2].copy())
  whole = Tensor(x).realize()
  close(parts.conv2d(k, padding=1).gradient(parts, gradient=s.shard(("CPU:0", "CPU:1"), axis=0))[0], whole.conv2d(Tensor(np.ones((2, 4, 3, 3))), padding=1).gradient(whole, gradient=s)[0].numpy(), rtol=0, atol=0)

def test_the_gradient_of_a_convolution_is_one_kernel():
  def kernels(shape, filters, run=False, **options):
    x, w = Tensor.ones(*shape).contiguous().realize(), Tensor.ones(*filters).contiguous().realize()
    y = x.conv2d(w, **options)
    g = Tensor.ones(*y.shape).contiguous().realize()
    dx = y.gradient(x, gradient=g)[0]
    if run:
      GlobalCounters.reset()
      return dx.realize()
    return len([item for item in dx.schedule() if item.ast.op.name == "SINK"])
  assert kernels((2, 8, 16, 16), (16, 8, 3, 3), padding=1) == 1
  # with a stride: filters by phases, and one sum, which is read as if the phases lay between one another
  def products(*args, **options):
    GlobalCounters.reset(); kernels(*args, run=True, **options)
    return GlobalCounters.global_ops
  assert kernels((2, 8, 16, 16), (16, 8, 7, 7), padding=3, stride=2) == 2
  assert kernels((2, 8, 16, 16), (16, 8, 4, 4), padding=1, stride=2) == 2
  assert kernels((2, 8, 16, 16), (8, 1, 3, 3), padding=1, stride=2, groups=8) == 2 # few products: more of them are no loss
  assert products((2, 8, 16, 16), (16, 8, 4, 4), padding=1, stride=2) < 1.3 * 2 * 2 * 8 * 16 * 16 * 16 * 4 # four products with each filter
  assert kernels((2, 8, 16, 16), (16, 8, 3, 3), padding=1, stride=2) == 2 # 1.8 times the products: stored, then added
  assert kernels((2, 8, 7, 7), (16, 8, 7, 7)) == 2 # one window: most taps of a convolution would meet its margin

def test_graph_of_gradients():
  a = Tensor([1.0, 2.0, 3.0], requires_grad=True)
  (a * a).sum().backward(); close(a.grad, [2, 4, 6])
  (a * 3).sum().backward(); close(a.grad, [5, 7, 9])
  g, = (a ** 3).sum().gradient(a); close(g, [3, 12, 27]); h, = g.sum().gradient(a); close(h, [6, 12, 18])
  close((a.detach() * a).sum().gradient(a)[0], [1, 2, 3])
  b, c = Tensor.ones(2, requires_grad=True), Tensor.ones(2, requires_grad=True)
  (b * 2 + c * 5).sum().backward(); close(b.grad, [2, 2]), close(c.grad, [5, 5])
  raises(RuntimeError, lambda: a.sum().gradient(Tensor([1.0])), "not found"), raises(RuntimeError, lambda: Tensor([1]).sum().gradient(Tensor([1]))), raises((AssertionError, RuntimeError), lambda: a.backward(), "scalar")
  half = Tensor([1.0, 2.0], dtype=dtypes.float16, requires_grad=True); (half * half).sum().backward(); assert half.grad.dtype == dtypes.float16; close(half.grad, [2, 4])

def test_steps_have_gradient_zero():
  values = [-np.inf, -2.5, -1.0, -0.0, 0.0, 0.5, 3.0, np.inf, np.nan]
  a, b = Tensor(values, requires_grad=True), Tensor([1.0, -1.0, 0.0, -0.0, np.nan, 2.0, -np.inf, np.inf, -3.0])
  for f in (lambda t: t.sign(), lambda t: t.floor(), lambda t: t.ceil(), lambda t: t.round(), lambda t: t.trunc(), lambda t: (t < 1).where(2.0, 3.0), lambda t: b.copysign(t)):
    close(f(a).sum().gradient(a)[0], np.zeros(9)), close((f(a) * 2).sum().gradient(a, b, materialize_grads=True)[0], np.zeros(9))
  close(a.sign(), [-1, -1, -1, 0, 0, 1, 1, 1, np.nan]), close(a.copysign(b)[:4], [np.inf, -2.5, 1.0, -0.0])
  close(b.copysign(a)[1:4].sum().gradient(b)[0][1:4], [1, 0, 0])
  raises(RuntimeError, lambda: a.detach().sum().gradient(a), "not found")

def test_acosh_has_the_slope_of_its_formula():
  points = np.array([-1e10, -300.0, -9.5, -1.5, 1.5, 9.5, 300.0, 1e10], np.float32)
  slope = 1 / np.sqrt(points.astype(np.float64) ** 2 - 1)
  for dtype in (dtypes.float32, dtypes.float64):
    t = Tensor(points, dtype=dtype); assert t.acosh().dtype == dtype; close(t.acosh()[4:], np.arccosh(points[4:]), rtol=1e-5), close(t.acosh().sum().gradient(t)[0], slope, rtol=1e-4)
  assert np.isnan(Tensor(points).acosh().numpy()[:4]).all() and np.isnan(Tensor([0.5, -0.5, 0.0, np.nan]).acosh().numpy()).all() and Tensor([2.0], dtype=dtypes.half).acosh().dtype == dtypes.half

def test_training_goes_down():
  for make in (lambda p: nn.optim.SGD(p, lr=0.1), lambda p: nn.optim.SGD(p, lr=0.05, momentum=0.9), lambda p: nn.optim.Adam(p, lr=0.05), lambda p: nn.optim.AdamW(p, lr=0.05)):
    Tensor.manual_seed(1)
    net = [nn.Linear(4, 8), Tensor.relu, nn.Linear(8, 1)]
    data, want = Tensor.rand(16, 4).realize(), Tensor.rand(16, 1).realize()
    opt, losses = make(nn.state.get_parameters(net)), []
    with Tensor.train():
      for _ in range(12):
        opt.zero_grad()
        loss = ((data.sequential(net) - want) ** 2).mean()
        loss.backward()
        opt.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] * 0.9 and all(np.isfinite(losses)), losses

def test_sgd_is_exact():
  w = Tensor([1.0, -2.0], requires_grad=True)
  opt = nn.optim.SGD([w], lr=0.5)
  with Tensor.train():
    (w * w).sum().backward()
    opt.step()
  close(w, [0, 0])

if __name__ == "__main__": run(globals())
